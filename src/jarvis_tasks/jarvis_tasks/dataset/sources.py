"""Source models: the files of a collection, a name for each, and what tells a changed one."""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_bricks.ldraw.document import normalise
from jarvis_core.errors import BadInputError

from jarvis_tasks.dataset.layout import Copy, FailedModel

SUFFIXES = (".ldr", ".mpd", ".txt")
_REFERENCE = re.compile(rb"^[ \t]*1(?:[ \t]+[^ \t\r\n]+){13}[ \t]+([^\r\n]+)", re.MULTILINE)
_BRICK_LINE = re.compile(rb"\s*\d+\s*x\s*\d+\s*\(")
_HEAD_BYTES = 4096


@dataclass(frozen=True, slots=True)
class Source:
    """A model file, its name in the dataset, and a hash of it and of the model files beside it that it refers to."""

    name: str
    path: Path
    digest: str


@dataclass(slots=True)
class Collection:
    """What was found: models to build, sorted by name; files that are the same as another one; texts in folders
    that are no models; files that can't be read."""

    sources: list[Source] = field(default_factory=list)
    copies: list[Copy] = field(default_factory=list)
    other_texts: list[Path] = field(default_factory=list)
    failed: list[FailedModel] = field(default_factory=list)


def collect(paths: Sequence[Path]) -> Collection:
    """All models of files and folders (with their subfolders).

    A model is named after its file. Where several files have one name, a piece of their hash is added.

    Raises:
        BadInputError: a path that is not there, a folder that can't be read or without models, a file of another
            kind.
    """
    found = Collection()
    first: dict[str, Path] = {}
    digests: list[tuple[Path, str]] = []
    folders = _Folders()
    for path in _files(paths, found):
        try:
            digest = _digest(path, folders)
        except OSError as error:
            line = f"{path}: can't be read ({error.strerror})"
            found.failed.append(FailedModel(path.name, "can't be read", line))
            continue
        if digest in first:
            found.copies.append(Copy(str(path), first[digest].name))
        else:
            first[digest] = path
            digests.append((path, digest))
    found.sources = _named(digests)
    return found


def _named(digests: Sequence[tuple[Path, str]]) -> list[Source]:
    stems = [(_safe(path.stem), path, digest) for path, digest in digests]
    # Some file systems don't tell upper and lower case apart.
    taken = Counter(stem.lower() for stem, _, _ in stems)
    named = [
        Source(stem if taken[stem.lower()] == 1 else f"{stem}-{digest[:8]}", path, digest)
        for stem, path, digest in stems
    ]
    return sorted(named, key=lambda source: source.name)


def _safe(stem: str) -> str:
    """A name for files on every system: letters, digits, dot, dash, underscore, not beginning with a dot."""
    return re.sub(r"[^\w.-]+", "_", stem).lstrip(".-") or "model"


def _files(paths: Sequence[Path], found: Collection) -> Iterator[Path]:
    """Each file once; texts in folders that hold no bricks are noted and left out."""
    seen: set[Path] = set()
    for named in paths:
        inside = named.is_dir()
        files = _walk(named) if inside else [_model_file(named)]
        for path in files:
            real = path.resolve()
            if real in seen:
                continue
            seen.add(real)
            if inside and path.suffix.lower() == ".txt" and not _holds_bricks(path):
                found.other_texts.append(path)
            else:
                yield path


def _model_file(path: Path) -> Path:
    if not path.is_file():
        raise BadInputError("no such model", where=str(path), fix="name .ldr, .mpd or .txt files, or folders")
    if path.suffix.lower() not in SUFFIXES:
        raise BadInputError(
            "is no model file", where=str(path), fix="name .ldr, .mpd or .txt files, or folders"
        )
    return path


def _walk(folder: Path) -> list[Path]:
    unreadable: list[OSError] = []
    files = [
        Path(place) / name
        for place, _, names in os.walk(folder, onerror=unreadable.append)
        for name in names
        if Path(name).suffix.lower() in SUFFIXES
    ]
    if unreadable:
        raise BadInputError(
            f"can't be read ({unreadable[0].strerror})",
            where=str(unreadable[0].filename),
            fix="check its rights",
        )
    if not files:
        raise BadInputError(f"no {', '.join(SUFFIXES)} files", where=str(folder))
    return sorted(files)


def _holds_bricks(path: Path) -> bool:
    """Whether a text begins with a line like ``2x4 (10,8,0)``. One that can't be read is looked at later."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
    except OSError:
        return True
    return _BRICK_LINE.match(head) is not None


class _Folders:
    """Model files by folder and normalised name, each folder listed once."""

    def __init__(self) -> None:
        self._known: dict[Path, Mapping[str, Path]] = {}

    def models(self, folder: Path) -> Mapping[str, Path]:
        if folder not in self._known:
            self._known[folder] = {
                path.name.lower(): path
                for path in folder.iterdir()
                if path.suffix.lower() in (".ldr", ".mpd") and path.is_file()
            }
        return self._known[folder]


def _digest(path: Path, folders: _Folders) -> str:
    """Of a file and, one after the other, all model files beside it that it refers to."""
    digest = hashlib.sha256()
    waiting, seen = [path], {path.name.lower()}
    while waiting:
        data = waiting.pop().read_bytes()
        digest.update(len(data).to_bytes(8, "big") + data)
        beside = folders.models(path.parent)
        for name in _references(data):
            if name in beside and name not in seen:
                seen.add(name)
                waiting.append(beside[name])
    return digest.hexdigest()


def _references(data: bytes) -> Iterable[str]:
    names = {normalise(name.decode(errors="replace")) for name in _REFERENCE.findall(data)}
    return sorted(name for name in names if name.endswith((".ldr", ".mpd")))
