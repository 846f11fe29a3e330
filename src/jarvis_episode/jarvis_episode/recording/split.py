"""A bag in several files: where one is full, the next begins, as with ``ros2 bag record``.

::

    bag/
      bag_0.mcap  bag_1.mcap  ...  each with all its types, readable alone
      metadata.yaml                written anew whenever a file is closed: a kill costs none of the closed ones
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import yaml
from backports import zstd
from jarvis_core.files import write_text
from rosbags.interfaces import Connection, ConnectionExtRosbag2
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
from rosbags.rosbag2.storage_mcap import McapWriter

_NANOSECONDS = 1_000_000_000
_ROOT = "rosbag2_bagfile_information"


class SplitLimits(msgspec.Struct, frozen=True):
    """When the next file begins.

    Attributes:
        size: bytes; looked at whenever a chunk (1 MiB before compression) has been written, so a file may be so much
            larger.
        duration_s: of the cell's clock.
    """

    size: int
    duration_s: float


class _NumberedFile(McapWriter):
    """``bag/bag_K.mcap``, K counted from 0."""

    def __init__(self, path: Path, compression: CompressionMode) -> None:
        number = sum(1 for _ in path.glob("*.mcap"))
        super().__init__(path, compression)
        self.path = self.path.rename(path / f"{path.name}_{number}.mcap")
        self.compressor = _compressed


def _compressed(data: bytes) -> bytes:
    """With a checksum, so that a flipped bit is noticed: the writer leaves out that of MCAP itself."""
    return zstd.compress(data, options={zstd.CompressionParameter.checksum_flag: 1})


class SplitWriter(Writer):
    """Writes MCAP files one after another; to be used like rosbags' own writer.

    Chunks are compressed, not files: what a killed process leaves can still be read chunk by chunk.

    Args:
        limits: None for a single file.
    """

    STORAGE_PLUGINS = {StoragePlugin.MCAP: _NumberedFile}  # noqa: RUF012 - as rosbags declares it

    def __init__(self, path: Path, limits: SplitLimits | None = None) -> None:
        super().__init__(path, version=Writer.VERSION_LATEST, storage_plugin=StoragePlugin.MCAP)
        self.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._limits = limits
        self._closed: list[dict[str, Any]] = []

    def write(self, connection: Connection, timestamp: int, data: bytes | memoryview) -> None:
        """As rosbags' own; ``timestamp`` in nanoseconds."""
        if self._limits is not None and self._is_full(self._limits, timestamp):
            self._begin_file()
        super().write(connection, timestamp, data)

    def close(self) -> None:
        """Write the index of the file, and the metadata of all."""
        super().close()
        self._closed.append(yaml.safe_load(self.metapath.read_text(encoding="utf-8"))[_ROOT])
        if len(self._closed) > 1:
            merged = yaml.safe_dump({_ROOT: _merged(self._closed)}, sort_keys=False)
            write_text(self.metapath, merged)

    def _is_full(self, limits: SplitLimits, timestamp: int) -> bool:
        if not any(self.counts.values()):
            return False
        if timestamp - self.min_timestamp >= limits.duration_s * _NANOSECONDS:
            return True
        return self.storage is not None and self.storage.path.stat().st_size >= limits.size

    def _begin_file(self) -> None:
        self.close()
        known, self.connections = self.connections, []
        self.counts, self.added_types = {}, set()
        self.min_timestamp, self.max_timestamp = 2**63 - 1, 0
        self.storage = self.STORAGE_PLUGINS[self.storage_plugin](self.path, self.compression_mode)
        for connection in known:
            assert isinstance(connection.ext, ConnectionExtRosbag2)
            # In the same order and so under the same numbers: whoever holds one may go on writing to it.
            self.add_connection(
                connection.topic,
                connection.msgtype,
                msgdef=connection.msgdef.data,
                rihs01=connection.digest,
                offered_qos_profiles=connection.ext.offered_qos_profiles,
            )


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Metadata of all files from that of each."""
    starts = [part["starting_time"]["nanoseconds_since_epoch"] for part in parts if part["message_count"]]
    ends = [
        part["starting_time"]["nanoseconds_since_epoch"] + part["duration"]["nanoseconds"]
        for part in parts
        if part["message_count"]
    ]
    counts: dict[str, int] = {}
    for part in parts:
        for topic in part["topics_with_message_count"]:
            name = topic["topic_metadata"]["name"]
            counts[name] = counts.get(name, 0) + topic["message_count"]
    # A topic may appear late, never go: the last file knows all.
    topics = [
        topic | {"message_count": counts[topic["topic_metadata"]["name"]]}
        for topic in parts[-1]["topics_with_message_count"]
    ]
    return parts[-1] | {
        "relative_file_paths": [name for part in parts for name in part["relative_file_paths"]],
        "duration": {"nanoseconds": max(ends) - min(starts)},
        "starting_time": {"nanoseconds_since_epoch": min(starts)},
        "message_count": sum(part["message_count"] for part in parts),
        "topics_with_message_count": topics,
        "files": [file for part in parts for file in part["files"]],
    }
