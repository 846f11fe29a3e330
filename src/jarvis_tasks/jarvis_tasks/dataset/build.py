"""A build of a dataset: takes over finished units, builds the others, finishes. Safe at any kill.

A unit is finished when its archive of ground truth has its name: the archive is put in place whole, after the unit's
pictures. A unit is taken over when its key, a hash of all that it is made from, is still the same.
"""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError

from jarvis_tasks.dataset.finish import finish
from jarvis_tasks.dataset.layout import INFO, KNOWN, LOCK, DatasetInfo, archives, manuals_path, truth_path
from jarvis_tasks.dataset.pool import build_units
from jarvis_tasks.dataset.sources import Collection, Source
from jarvis_tasks.dataset.truth import read_unit
from jarvis_tasks.dataset.units import UnitSettings


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What a build did: models taken over from an earlier run, built, and removed because no longer named."""

    info: DatasetInfo
    there: int
    built: int
    removed: int


def build_dataset(
    collection: Collection,
    out: Path,
    settings: UnitSettings,
    library: LDrawLibrary | None,
    *,
    jobs: int,
    prune: bool = False,
    on_plan: Callable[[int, int], Callable[[int], None]] = lambda there, pending: lambda done: None,
) -> BuildReport:
    """Build all models of a collection into a dataset's folder, or go on with it.

    Args:
        jobs: processes.
        prune: remove models of an earlier run that the collection does not hold.
        on_plan: is told how many units are there and how many will be built; what it gives back is called with 1
            for each that is done.

    Raises:
        BadInputError: a folder that holds something else, another build at work in it, or a file that can't be
            written; what is finished stays, and the same build goes on from there.
        MissingCapabilityError: pictures without OpenGL.
    """
    try:
        with _locked(out):
            return _build(collection, out, settings, library, jobs, prune, on_plan)
    except OSError as error:
        raise BadInputError(
            f"can't be written ({error.strerror or error})",
            where=str(error.filename or out),
            fix="make room or name another folder; what is finished stays, the same command goes on",
        ) from error


def _build(
    collection: Collection,
    out: Path,
    settings: UnitSettings,
    library: LDrawLibrary | None,
    jobs: int,
    prune: bool,
    on_plan: Callable[[int, int], Callable[[int], None]],
) -> BuildReport:
    removed = _remove_strangers(collection, out, prune)
    pending = [source for source in collection.sources if not _is_there(source, out, settings)]
    there = len(collection.sources) - len(pending)
    (out / INFO).unlink(missing_ok=True)
    for source in pending:
        # An archive of another file or other settings must not be taken for this one's if its turn never comes.
        (out / truth_path(source.name)).unlink(missing_ok=True)
        (out / manuals_path(source.name)).unlink(missing_ok=True)
    advance = on_plan(there, len(pending))
    failed = list(collection.failed)
    root = library.root if library is not None else None
    workers = max(1, min(jobs, len(pending)))
    for outcome in build_units(pending, settings, out, root, workers):
        if outcome is not None:
            failed.append(outcome)
        advance(1)
    # Failed models have no archive.
    names = sorted(source.name for source in collection.sources if (out / truth_path(source.name)).is_file())
    info = finish(out, names, settings, collection, failed)
    return BuildReport(info, there, len(names) - there, removed)


def _is_there(source: Source, out: Path, settings: UnitSettings) -> bool:
    """Whether a unit is finished and still made from the same. A damaged one is built again."""
    path = out / truth_path(source.name)
    if not path.is_file():
        return False
    try:
        unit = read_unit(path)
    except BadInputError:
        return False
    if unit.key != settings.key(source):
        return False
    pictures = out / manuals_path(source.name)
    return not unit.pictures_bytes or (pictures.is_file() and pictures.stat().st_size == unit.pictures_bytes)


def _remove_strangers(collection: Collection, out: Path, prune: bool) -> int:
    """Archives of models that the collection does not hold; returns the number of models."""
    named = {source.name for source in collection.sources}
    strangers = sorted((set(archives(out, "truth")) | set(archives(out, "manuals"))) - named)
    if strangers and not prune:
        raise BadInputError(
            f"holds {len(strangers)} models that are not named now, first {strangers[0]}",
            where=str(out),
            fix="name them too, name another folder, or remove them with --prune",
        )
    for name in strangers:
        (out / INFO).unlink(missing_ok=True)
        (out / truth_path(name)).unlink(missing_ok=True)
        (out / manuals_path(name)).unlink(missing_ok=True)
    return len(strangers)


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """The folder for this build alone, without the leftovers of killed ones."""
    if out.is_dir():
        strange = sorted(p.name for p in out.iterdir() if p.name not in KNOWN and not p.name.startswith("."))
        if strange:
            raise BadInputError(
                f"is no dataset: it holds {strange[0]}", where=str(out), fix="name a new or an empty folder"
            )
    out.mkdir(parents=True, exist_ok=True)
    with (out / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BadInputError(
                "another build is at work here", where=str(out), fix="wait for it, or name another folder"
            ) from error
        for leftover in out.glob("**/.*.tmp*"):
            leftover.unlink(missing_ok=True)
        try:
            yield
        finally:
            (out / LOCK).unlink(missing_ok=True)
