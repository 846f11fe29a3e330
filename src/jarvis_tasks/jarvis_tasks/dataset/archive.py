"""Zip archives whose bytes depend on nothing but what is in them."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from jarvis_core.errors import BadInputError
from jarvis_core.files import atomic_path

#: The earliest date that a zip archive knows.
_DATE = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16
_UNIX = 3
_LEVEL = 6


def write_archive(path: Path, members: Iterable[tuple[str, bytes]]) -> None:
    """Write an archive whole or not at all. Pictures are stored, everything else is deflated."""
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, data in members:
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = _UNIX
            entry.external_attr = _MODE
            stored = name.endswith(".png")
            entry.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(entry, data, compresslevel=None if stored else _LEVEL)


def read_members(path: Path, names: Iterable[str]) -> dict[str, bytes]:
    """Members by name; those that are not there are left out.

    Raises:
        BadInputError: absent, no zip archive, or a damaged one.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            present = set(archive.namelist())
            return {name: archive.read(name) for name in names if name in present}
    except FileNotFoundError as error:
        raise BadInputError("no such archive", where=str(path), fix="build the dataset again") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
        raise BadInputError(
            f"a damaged archive ({error})", where=str(path), fix="build the dataset again"
        ) from error


def member_names(path: Path) -> list[str]:
    """All members' names; errors as read_members."""
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.namelist()
    except FileNotFoundError as error:
        raise BadInputError("no such archive", where=str(path), fix="build the dataset again") from error
    except (zipfile.BadZipFile, OSError) as error:
        raise BadInputError(
            f"a damaged archive ({error})", where=str(path), fix="build the dataset again"
        ) from error
