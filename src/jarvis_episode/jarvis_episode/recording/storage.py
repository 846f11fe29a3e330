"""Raw messages of rosbag2 recordings as they come: MCAP or sqlite3, split, compressed, without index, cut off.

An ordinary reader needs the index at the end of a file, which a killed recorder never wrote. Here a file is read from
its start for as long as it makes sense; what stopped the reading is told in ``damage``.
"""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
import struct
import tempfile
import zlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import lz4.frame  # type: ignore[import-untyped]
import yaml
from backports import zstd
from jarvis_core.errors import BadInputError

METADATA = "metadata.yaml"
_SUFFIXES = (".mcap", ".db3", ".mcap.zstd", ".db3.zstd")
_MCAP_MAGIC = b"\x89MCAP0\r\n"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK, _FOOTER = 0x03, 0x04, 0x05, 0x06, 0x02
#: opcode, length of what follows
_RECORD_HEAD = struct.Struct("<BQ")
#: channel, sequence, log time, publish time
_MESSAGE_HEAD = struct.Struct("<HIQQ")
#: start, end, uncompressed size, checksum (0: none), length of the compression's name
_CHUNK_HEAD = struct.Struct("<QQQII")


@dataclass(frozen=True, slots=True)
class RawMessage:
    """A serialised message (CDR), with its type and the definition that the bag holds of it ("" where none)."""

    topic: str
    kind: str
    definition: str
    data: bytes


@dataclass(slots=True)
class Storage:
    """The files of a bag, in order. ``damage`` fills while messages are read."""

    path: Path
    files: tuple[Path, ...]
    damage: list[str] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path) -> Storage:
        """A bag's folder, or one of its files.

        Raises:
            BadInputError: nothing there, or no bag.
        """
        if not path.exists():
            raise BadInputError("no such file or folder", where=str(path), fix="check the path")
        files = (path,) if path.is_file() else _files_of(path)
        if not files or not all(_is_storage(file) for file in files):
            raise BadInputError("is no rosbag2 bag (.mcap or .db3)", where=str(path))
        return cls(path, files)

    def messages(self, topics: Collection[str]) -> Iterator[RawMessage]:
        """Messages of these topics, from the start of the first file; never raises for a file that is cut off."""
        for file in self.files:
            if not file.is_file():
                self.damage.append(f"{file.name} is missing")
                continue
            with tempfile.TemporaryDirectory() as folder:
                readable = self._readable(file, Path(folder))
                if _is_mcap(file):
                    yield from self._mcap(readable, topics)
                else:
                    yield from self._sqlite(readable, topics)

    def _readable(self, file: Path, folder: Path) -> Path:
        """The file, or a copy: decompressed, or with the log that a killed database left beside it."""
        if file.suffix == ".zstd":
            plain = folder / file.stem
            try:
                with zstd.open(file, "rb") as source, plain.open("wb") as target:
                    shutil.copyfileobj(source, target)
            except (zstd.ZstdError, EOFError) as error:
                self.damage.append(f"{file.name}: the compressed file is cut off ({error})")
            return plain
        log = file.with_name(file.name + "-wal")
        if log.is_file():
            shutil.copy(log, folder)
            return Path(shutil.copy(file, folder))
        return file

    def _mcap(self, path: Path, topics: Collection[str]) -> Iterator[RawMessage]:
        with path.open("rb") as file:
            if file.read(len(_MCAP_MAGIC)) != _MCAP_MAGIC:
                self.damage.append(f"{path.name} does not begin like an MCAP file")
                return
            parser = _McapParser(topics)
            yield from parser.records(file)
        if parser.damage:
            self.damage.append(f"{path.name} {parser.damage}")

    def _sqlite(self, path: Path, topics: Collection[str]) -> Iterator[RawMessage]:
        wal = path.with_name(path.name + "-wal").is_file()
        uri = f"{path.absolute().as_uri()}?mode={'rw' if wal else 'ro'}" + ("" if wal else "&immutable=1")
        try:
            connection = sqlite3.connect(uri, uri=True)
            try:
                yield from _sqlite_messages(connection, topics)
            finally:
                connection.close()
        except sqlite3.Error as error:
            self.damage.append(f"{path.name}: the database ends early ({error})")


class _McapParser:
    """Goes through the records of an MCAP file. Layout: https://mcap.dev/spec."""

    def __init__(self, topics: Collection[str]) -> None:
        self._topics = topics
        self._schemas: dict[int, tuple[str, str]] = {}
        self._channels: dict[int, tuple[str, str, str]] = {}
        self.damage = ""

    def records(self, file: BinaryIO) -> Iterator[RawMessage]:
        size = os.fstat(file.fileno()).st_size
        while True:
            head = file.read(_RECORD_HEAD.size)
            if len(head) < _RECORD_HEAD.size:
                self.damage = "has no end: its recorder was stopped hard"
                return
            opcode, length = _RECORD_HEAD.unpack(head)
            if opcode == _FOOTER:
                return
            start = file.tell()
            # Where a file is corrupted a length may be anything.
            there = min(length, size - start)
            content = file.read(there) if opcode in (_SCHEMA, _CHANNEL, _MESSAGE, _CHUNK) else b""
            file.seek(start + there)
            if there < length:
                self.damage = f"is cut off in the middle of a record, at byte {size}"
            if opcode == _CHUNK:
                yield from self._chunk(content)
            elif not self.damage:
                yield from self._record(opcode, content)
            if self.damage:
                return

    def _chunk(self, content: bytes) -> Iterator[RawMessage]:
        """Records of a chunk; of one that is cut off or corrupted those that can be read."""
        if len(content) < _CHUNK_HEAD.size:
            return
        _, _, size, checksum, named = _CHUNK_HEAD.unpack_from(content)
        at = _CHUNK_HEAD.size + named
        compression = content[_CHUNK_HEAD.size : at].decode(errors="replace")
        records = _decompressed(compression, content[at + 8 :])
        sound = len(records) == size and checksum in (0, zlib.crc32(records))
        if not sound and not self.damage:
            self.damage = "holds a chunk that is corrupted"
            if len(records) == size:
                return
        at = 0
        while at + _RECORD_HEAD.size <= len(records):
            opcode, length = _RECORD_HEAD.unpack_from(records, at)
            at += _RECORD_HEAD.size
            if at + length > len(records):
                return
            yield from self._record(opcode, records[at : at + length])
            at += length

    def _record(self, opcode: int, content: bytes) -> Iterator[RawMessage]:
        try:
            message = self._parsed(opcode, content)
        except struct.error:
            self.damage = self.damage or "holds a record that is corrupted"
            return
        if message is not None:
            yield message

    def _parsed(self, opcode: int, content: bytes) -> RawMessage | None:
        """A message of one of the topics; schemas and channels are remembered."""
        if opcode == _SCHEMA:
            (number,) = struct.unpack_from("<H", content)
            name, at = _string(content, 2)
            _, at = _string(content, at)
            self._schemas[number] = (name, _string(content, at)[0])
        elif opcode == _CHANNEL:
            number, schema = struct.unpack_from("<HH", content)
            self._channels[number] = (_string(content, 4)[0], *self._schemas.get(schema, ("", "")))
        elif opcode == _MESSAGE:
            topic, kind, definition = self._channels.get(_MESSAGE_HEAD.unpack_from(content)[0], ("", "", ""))
            if topic in self._topics:
                return RawMessage(topic, kind, definition, _plain(content[_MESSAGE_HEAD.size :]))
        return None


def _sqlite_messages(connection: sqlite3.Connection, topics: Collection[str]) -> Iterator[RawMessage]:
    # Without this a file shorter than its header says is refused as a whole.
    connection.execute("PRAGMA writable_schema=ON")
    definitions: dict[str, str] = {}
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'message_definitions'").fetchone():
        definitions.update(
            connection.execute("SELECT topic_type, encoded_message_definition FROM message_definitions")
        )
    wanted = {
        number: (topic, kind)
        for number, topic, kind in connection.execute("SELECT id, name, type FROM topics")
        if topic in topics
    }
    # In the order of writing; the index by time lies all over the file.
    for number, data in connection.execute("SELECT topic_id, data FROM messages ORDER BY id"):
        if not isinstance(data, bytes):
            raise sqlite3.DatabaseError("a message is empty")
        if number in wanted:
            topic, kind = wanted[number]
            yield RawMessage(topic, kind, definitions.get(kind, ""), _plain(data))


def _string(content: bytes, at: int) -> tuple[str, int]:
    """A string behind its length; returns it and where it ends."""
    (length,) = struct.unpack_from("<I", content, at)
    end = at + 4 + length
    return content[at + 4 : end].decode(errors="replace"), end


def _plain(data: bytes) -> bytes:
    """A message that was compressed by itself begins otherwise than one in CDR."""
    if not data.startswith(_ZSTD_MAGIC):
        return data
    try:
        return zstd.decompress(data)
    except zstd.ZstdError:
        # Whoever reads the message finds that it is none, and counts it.
        return b""


def _decompressed(compression: str, data: bytes) -> bytes:
    """As much of a chunk's records as can be had."""
    if not compression:
        return data
    try:
        if compression == "zstd":
            return zstd.ZstdDecompressor().decompress(data)
        if compression == "lz4":
            return bytes(lz4.frame.LZ4FrameDecompressor().decompress(data))
    except (zstd.ZstdError, RuntimeError):
        return b""
    return b""


def is_bag(path: Path) -> bool:
    """Whether a folder looks like a bag, or a file like a part of one."""
    if path.is_file():
        return _is_storage(path)
    return (path / METADATA).is_file() or any(_is_storage(p) for p in path.iterdir() if p.is_file())


def _is_storage(path: Path) -> bool:
    return path.name.endswith(_SUFFIXES)


def _is_mcap(path: Path) -> bool:
    return ".mcap" in path.suffixes[-2:]


def _files_of(folder: Path) -> tuple[Path, ...]:
    """Files in the order that the metadata tells, else (no metadata: killed) in that of their numbers."""
    found = sorted((p for p in folder.iterdir() if _is_storage(p)), key=_natural)
    named = _named_files(folder / METADATA)
    listed = [folder / Path(name).name for name in named]
    return (*listed, *(p for p in found if p not in listed))


def _named_files(metadata: Path) -> list[str]:
    if not metadata.is_file():
        return []
    try:
        document = yaml.safe_load(metadata.read_text(encoding="utf-8"))
        return [str(name) for name in document["rosbag2_bagfile_information"]["relative_file_paths"]]
    except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError):
        # Written last: a killed recorder leaves it half. The files speak for themselves.
        return []


def _natural(path: Path) -> list[tuple[int, str]]:
    """Sorts bag_2 before bag_10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", path.name)]
