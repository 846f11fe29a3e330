"""Part geometry kept on disk, so that a library is meshed once and not by every process.

An entry is found by the content of the part's own file and by everything else that decides its geometry but the files
it refers to: the code of this package, the colour table. Those files are listed in the entry with their digests; an
entry whose files have changed is not used. Nothing is ever wrong because of the cache, at most absent:

- entries are written to a temporary file and renamed, so that processes can share the folder;
- a checksum at the head tells a damaged entry from a whole one;
- the folder is cut back to a limit, the entries unused for the longest going first.

The folder is ``jarvis/parts`` in $XDG_CACHE_HOME (default ~/.cache); JARVIS_PART_CACHE=off does without it.
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from jarvis_core.files import decode_hook, encode_hook
from jarvis_core.objects import Box
from jarvis_core.pose import Pose

from jarvis_bricks.geometry import Connectors, Mesh, PartGeometry

#: The folder grows no larger than this.
MAX_BYTES = 512 * 2**20
#: So often the size is looked at: at the first entry written and after each so many.
_PRUNE_EVERY = 200
_CHECKSUM_BYTES = 16
_TOUCH_AFTER_S = 86_400.0

#: The digest of a referenced file by its name; None: there is no such file.
Digest = Callable[[str], str | None]

_log = logging.getLogger(__name__)


class PartCache:
    """A folder of entries.

    Args:
        folder: made when the first entry is written.
        max_bytes: of all entries together.
    """

    def __init__(self, folder: Path, max_bytes: int = MAX_BYTES) -> None:
        self.folder = folder
        self.max_bytes = max_bytes
        self._written = 0
        self._broken = False

    @classmethod
    def default(cls) -> PartCache | None:
        """The user's cache; None if switched off."""
        if os.environ.get("JARVIS_PART_CACHE", "").lower() == "off":
            return None
        named = os.environ.get("XDG_CACHE_HOME")
        return cls((Path(named) if named else Path.home() / ".cache") / "jarvis" / "parts")

    def load(self, key: str, digest: Digest) -> PartGeometry | None:
        """An entry whose files are still the same, else None."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            # Absent, or taken away by another process: the same to us.
            return None
        payload = data[_CHECKSUM_BYTES:]
        if _checksum(payload) != data[:_CHECKSUM_BYTES]:
            _log.warning("a damaged entry of the part cache is made anew: %s", path)
            return None
        entry = msgspec.msgpack.decode(payload, type=_Entry, dec_hook=decode_hook)
        if any(digest(name) != known for name, known in entry.files.items()):
            return None
        self._touch(path)
        return entry.geometry()

    def store(self, key: str, geometry: PartGeometry, files: Mapping[str, str | None]) -> None:
        """Keep an entry. A folder that can't be written is told once, and does without."""
        if self._broken:
            return
        payload = msgspec.msgpack.encode(_Entry.of(geometry, dict(files)), enc_hook=encode_hook)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, temporary = tempfile.mkstemp(dir=self.folder, suffix=".tmp")
            with os.fdopen(handle, "wb") as file:
                file.write(_checksum(payload) + payload)
            os.replace(temporary, self._path(key))
        except OSError as error:
            self._broken = True
            _log.warning(
                "the part cache %s can't be written (%s): parts are not kept", self.folder, error.strerror
            )
            return
        if self._written % _PRUNE_EVERY == 0:
            self.prune(self.max_bytes)
        self._written += 1

    def prune(self, max_bytes: int) -> int:
        """Remove the entries unused for the longest until the rest fits; returns the bytes that are left."""
        found = []
        for path in self.folder.glob("*.*"):
            try:
                status = path.stat()
            except FileNotFoundError:
                continue
            found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        for _, size, path in sorted(found):
            if total <= max_bytes:
                break
            path.unlink(missing_ok=True)
            total -= size
        return total

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.part"

    def _touch(self, path: Path) -> None:
        """Mark as used, once a day."""
        try:
            if time.time() - path.stat().st_mtime > _TOUCH_AFTER_S:
                os.utime(path)
        except OSError as error:
            _log.debug("%s: %s", path, error)


#: Stands for ``PartCache.default()`` where that is asked for when a catalogue is made.
DEFAULT_CACHE = PartCache(Path())


def make_key(*parts: str) -> str:
    """The name of an entry, from everything that decides it but the files it lists."""
    return hashlib.blake2b("\0".join((_code_digest(), *parts)).encode(), digest_size=20).hexdigest()


@cache
def _code_digest() -> str:
    """Of this package's own source: other code may find other geometry."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    return hashlib.blake2b(b"\0".join(path.read_bytes() for path in sources), digest_size=16).hexdigest()


def _checksum(payload: bytes) -> bytes:
    return hashlib.blake2b(payload, digest_size=_CHECKSUM_BYTES).digest()


class _Array(msgspec.Struct, array_like=True):
    """A numpy array: kind, shape and bytes."""

    kind: str
    shape: tuple[int, ...]
    data: bytes

    @classmethod
    def of(cls, array: np.ndarray[Any, Any]) -> _Array:
        return cls(array.dtype.str, array.shape, np.ascontiguousarray(array).tobytes())

    def array(self) -> Any:
        return np.frombuffer(self.data, dtype=self.kind).reshape(self.shape)


class _Entry(msgspec.Struct, array_like=True):
    """A PartGeometry in types that msgpack knows, with the digests of the files it was made of."""

    files: dict[str, str | None]
    words: tuple[str, str, str, str]
    physical: bool
    mesh: tuple[_Array, ...]
    low_poly: tuple[_Array, ...]
    connectors: tuple[_Array, ...]
    bounds: _Array
    boxes: tuple[tuple[Pose, tuple[float, float, float]], ...]
    symmetries: tuple[tuple[float, float, float, float], ...]
    symmetry_centre: tuple[float, float, float]
    volume_m3: float
    mass_kg: float

    @classmethod
    def of(cls, g: PartGeometry, files: dict[str, str | None]) -> _Entry:
        return cls(
            files,
            (g.part, g.description, g.source, g.not_physical_reason),
            g.physical,
            _mesh_arrays(g.mesh),
            _mesh_arrays(g.low_poly),
            tuple(_Array.of(a) for c in (g.studs, g.antistuds, g.bores) for a in (c.positions, c.axes)),
            _Array.of(g.bounds),
            tuple((box.pose, box.size_m) for box in g.boxes),
            g.symmetries,
            g.symmetry_centre,
            g.volume_m3,
            g.mass_kg,
        )

    def geometry(self) -> PartGeometry:
        arrays = [a.array() for a in self.connectors]
        studs, antistuds, bores = (Connectors(*arrays[i : i + 2]) for i in (0, 2, 4))
        part, description, source, reason = self.words
        return PartGeometry(
            part=part,
            description=description,
            source=source,
            mesh=Mesh(*(a.array() for a in self.mesh)),
            low_poly=Mesh(*(a.array() for a in self.low_poly)),
            bounds=self.bounds.array(),
            boxes=tuple(Box(pose, size) for pose, size in self.boxes),
            studs=studs,
            antistuds=antistuds,
            symmetries=self.symmetries,
            symmetry_centre=self.symmetry_centre,
            volume_m3=self.volume_m3,
            mass_kg=self.mass_kg,
            physical=self.physical,
            not_physical_reason=reason,
            bores=bores,
        )


def _mesh_arrays(mesh: Mesh) -> tuple[_Array, ...]:
    names = ("vertices", "triangles", "colours", "edges", "edge_colours", "conditional")
    return tuple(_Array.of(getattr(mesh, name)) for name in names)
