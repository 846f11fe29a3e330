"""Files that are whole or absent, and the JSON encoding of the shared types."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from jarvis_core.errors import BadInputError
from jarvis_core.pose import Pose

T = TypeVar("T")


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it over ``path`` when the block ends without an error.

    The temporary name keeps the suffix, for writers that look at it. A killed process leaves at most a file
    named ``.NAME.PID.tmp.SUFFIX``, never a half-written ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.tmp{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes) -> None:
    """Write ``path`` whole or not at all."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: Path, text: str) -> None:
    """Write ``path`` whole or not at all, as UTF-8."""
    write_bytes(path, text.encode())


def encode(value: Any) -> bytes:
    """Readable JSON: two spaces of indentation, poses as [x, y, z, qx, qy, qz, qw]."""
    return msgspec.json.format(msgspec.json.encode(value, enc_hook=encode_hook), indent=2) + b"\n"


def encode_line(value: Any) -> str:
    """The same on one line, as it goes into messages."""
    return msgspec.json.encode(value, enc_hook=encode_hook).decode()


def decode[T](data: bytes, kind: type[T], *, where: str) -> T:
    """Read JSON into ``kind``; raises BadInputError naming ``where`` and the place in the document."""
    try:
        return msgspec.json.decode(data, type=kind, dec_hook=decode_hook)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        name = getattr(kind, "__name__", str(kind))
        raise BadInputError(f"not a valid {name} ({error})", where=where) from error


def write_json(path: Path, value: Any) -> None:
    """Write a value as JSON, whole or not at all."""
    write_bytes(path, encode(value))


def read_json[T](path: Path, kind: type[T]) -> T:
    """Read a JSON file into ``kind``; raises BadInputError naming the file and what is wrong with it."""
    return decode(read_bytes(path), kind, where=str(path))


def read_bytes(path: Path) -> bytes:
    """Read a file; raises BadInputError when it is absent or unreadable."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise BadInputError("no such file", where=str(path), fix="check the path") from error
    except OSError as error:
        raise BadInputError(f"can't be read ({error.strerror})", where=str(path)) from error


def file_hash(path: Path) -> str:
    """sha256 of a file's bytes, as hexadecimal digits; raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_hash(value: Any) -> str:
    """sha256 of a value's canonical JSON, as hexadecimal digits."""
    data = msgspec.json.encode(value, enc_hook=encode_hook, order="deterministic")
    return hashlib.sha256(data).hexdigest()


def encode_hook(value: Any) -> Any:
    """How msgspec writes the types it doesn't know."""
    if isinstance(value, Pose):
        return value.to_list()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(f"{type(value).__name__} has no JSON form")


def decode_hook(kind: type, value: Any) -> Any:
    """How msgspec reads the types it doesn't know."""
    if kind is Pose:
        return Pose.from_list(value)
    if kind is Path:
        return Path(value)
    raise NotImplementedError(f"{kind.__name__} has no JSON form")
