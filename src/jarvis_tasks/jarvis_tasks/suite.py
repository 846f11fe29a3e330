"""Frozen evaluation sets: chosen tasks that stay what they are::

SUITE/
  suite.json        which steps of which model each task is, and hashes of everything; written last
  models/           the models, byte for byte: LDraw files, or a dataset's archives of ground truth (.zip)

Tasks are not stored: they are cut from the models anew and must come out with the frozen hash. So a suite is small,
and whatever would change its tasks (a model, a hash, the code that cuts) is found when it is loaded.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from pathlib import Path

import msgspec
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.files import content_hash, decode, read_bytes

from jarvis_tasks.dataset.truth import catalogue_of, read_truth
from jarvis_tasks.difficulty import DifficultyScale
from jarvis_tasks.layers import in_layers
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.segment import TaskMaker
from jarvis_tasks.selection import Stratum
from jarvis_tasks.store import task_hash
from jarvis_tasks.task import Task

SUITE_SCHEMA = 1
SUITE_FILE = "suite.json"
MODELS_FOLDER = "models"
#: The split that rows of a suite name.
SUITE_SPLIT = "test"


class SuiteModel(msgspec.Struct, frozen=True):
    """A model file of a suite; ``sha256`` is of its bytes."""

    file: str
    sha256: str
    title: str
    author: str
    licence: str


class SuiteTask(msgspec.Struct, frozen=True):
    """A task of a suite.

    Attributes:
        model: name of its file in ``models/``.
        first, last: global build steps, both included.
        difficulty: D within the pool it was chosen from.
        hash: of the whole task (jarvis_tasks.store.task_hash).
    """

    id: str
    model: str
    first: int
    last: int
    stratum: str
    difficulty: float
    n_scene: int
    n_act: int
    hash: str


class SuiteIndex(msgspec.Struct, frozen=True):
    """suite.json.

    Attributes:
        plate_studs: of the build plate that the tasks were cut for.
        scale, strata: the pool's ranges, difficulties at the strata's limits, sizes.
        pool: where the pool came from, in words; ``relaxations`` what the selection could not keep to.
        hash: of all of the above and below.
    """

    schema: int
    name: str
    description: str
    pool: str
    plate_studs: tuple[int, int]
    scale: DifficultyScale
    strata: tuple[Stratum, ...]
    relaxations: tuple[str, ...]
    models: tuple[SuiteModel, ...]
    tasks: tuple[SuiteTask, ...]
    hash: str = ""

    def sealed(self) -> SuiteIndex:
        """With the hash that belongs to it."""
        return msgspec.structs.replace(self, hash=content_hash(msgspec.structs.replace(self, hash="")))


class Composition(msgspec.Struct, frozen=True):
    """A stratum of a suite, or all of it (``pool`` are then the tasks of the whole pool).

    Attributes:
        tasks, models: in the suite.
        pool, low, high: tasks of the pool in the stratum, and the range of their difficulty.
        act, scene: mean, median and largest number of bricks of the suite's tasks.
    """

    name: str
    tasks: int
    models: int
    pool: int
    low: float
    high: float
    act: tuple[float, float, int]
    scene: tuple[float, float, int]


def composition(index: SuiteIndex) -> tuple[Composition, ...]:
    """What a suite is made of, by stratum and in all; strata that gave no task are left out."""
    found = []
    for stratum in index.strata:
        tasks = [task for task in index.tasks if task.stratum == stratum.name]
        if tasks:
            found.append(_composition(stratum.name, tasks, [stratum]))
    return (*found, _composition("all", index.tasks, index.strata))


def _composition(name: str, tasks: Sequence[SuiteTask], strata: Sequence[Stratum]) -> Composition:
    return Composition(
        name=name,
        tasks=len(tasks),
        models=len({task.model for task in tasks}),
        pool=sum(stratum.pool for stratum in strata),
        low=min(stratum.low for stratum in strata),
        high=max(stratum.high for stratum in strata),
        act=_figures([task.n_act for task in tasks]),
        scene=_figures([task.n_scene for task in tasks]),
    )


def _figures(counts: Sequence[int]) -> tuple[float, float, int]:
    return statistics.fmean(counts), statistics.median(counts), max(counts)


class _Head(msgspec.Struct, frozen=True):
    schema: int


def task_maker(model: Path, plate_studs: tuple[int, int], library: LDrawLibrary | None) -> TaskMaker:
    """Cuts a model of a suite into tasks.

    Args:
        model: an LDraw file, or a model's archive of ground truth from a dataset (``.zip``), which also knows bricks
            that were left out and needs no parts library.
        plate_studs: of the build plate.

    Raises:
        BadInputError: the file can't be read, or the archive was made for another plate.
    """
    if model.suffix == ".zip":
        placed = read_truth(model).placed()
        if placed.plate_studs != plate_studs:
            raise BadInputError(f"was made for a plate of {placed.plate_studs} studs", where=str(model))
        return TaskMaker(placed)
    catalogue = PartCatalogue.for_model(model, library)
    assembly = in_layers(read_assembly(model, library=library), catalogue)
    return TaskMaker(place_on_plate(assembly, catalogue, plate_studs))


@dataclass(frozen=True, slots=True)
class Suite:
    """A loaded suite; every hash was checked.

    Attributes:
        folder: it was read from.
        tasks: those that were asked for by id, in the order of the index.
    """

    index: SuiteIndex
    folder: Path
    tasks: Mapping[str, Task]

    def task(self, name: str) -> Task:
        """Raises BadInputError for an unknown id."""
        if name not in self.tasks:
            raise _no_task(self.index.name, name)
        return self.tasks[name]

    def model_file(self, name: str) -> Path:
        """The model that a task is cut from; errors as ``task``."""
        self.task(name)
        file = next(entry.model for entry in self.index.tasks if entry.id == name)
        return self.folder / MODELS_FOLDER / file

    def catalogue(self, name: str, library: LDrawLibrary | None = None) -> PartCatalogue:
        """Knows the parts of a task, those that are neither built in nor in its model only from the library."""
        file = self.model_file(name)
        return (
            catalogue_of(file, library) if file.suffix == ".zip" else PartCatalogue.for_model(file, library)
        )

    def rows(self) -> tuple[TaskRow, ...]:
        """The tasks as rows of a task index."""
        return tuple(
            TaskRow(
                id=entry.id,
                model=task.model,
                title=task.title,
                author=task.author,
                licence=task.licence,
                split=SUITE_SPLIT,
                first=entry.first,
                last=entry.last,
                n_scene=entry.n_scene,
                n_act=entry.n_act,
                n_pages=1 + max(brick.step for brick in task.targets),
                left_out=task.left_out,
                hash=entry.hash,
            )
            for entry in self.index.tasks
            if (task := self.tasks.get(entry.id)) is not None
        )


def shipped_suites() -> dict[str, Path]:
    """Suites that come with the project, by name."""
    folder = Path(str(resources.files("jarvis_tasks"))) / "suites"
    return {path.parent.name: path.parent for path in sorted(folder.glob(f"*/{SUITE_FILE}"))}


def load_suite(name: str, library: LDrawLibrary | None = None, only: Collection[str] | None = None) -> Suite:
    """Read a suite and check all of it: the index, the models' bytes, and every task as it is cut from them.

    Args:
        name: of a shipped suite, or a folder.
        library: for parts that are not built in.
        only: ids of the tasks that are wanted; the others are not cut, and so only the index and the models of
            those are checked.

    Raises:
        BadInputError: no such suite, an unknown id, or something in it is not what was frozen; the first fault in
            one line.
    """
    folder = shipped_suites().get(name, Path(name))
    index = _read_index(folder)
    for model in index.models:
        _check_model(folder, model)
    wanted = [task for task in index.tasks if only is None or task.id in only]
    unknown = set(only or ()) - {task.id for task in wanted}
    if unknown:
        raise _no_task(index.name, min(unknown))
    tasks: dict[str, Task] = {}
    for file, entries in groupby(sorted(wanted, key=lambda t: t.model), key=lambda t: t.model):
        maker = task_maker(folder / MODELS_FOLDER / file, index.plate_studs, library)
        for entry in entries:
            tasks[entry.id] = _checked_task(maker, entry, folder)
    return Suite(index, folder, {entry.id: tasks[entry.id] for entry in wanted})


def _no_task(suite: str, task: str) -> BadInputError:
    return BadInputError(
        f"holds no task {task}", where=suite, fix="see `jarvis tasks suite NAME --list` for its tasks"
    )


def _read_index(folder: Path) -> SuiteIndex:
    file = folder / SUITE_FILE
    if not file.is_file():
        known = ", ".join(shipped_suites()) or "none"
        raise BadInputError(
            "is no suite", where=str(folder), fix=f"name a folder with a {SUITE_FILE}, or one of: {known}"
        )
    data = read_bytes(file)
    head = decode(data, _Head, where=str(file))
    if head.schema != SUITE_SCHEMA:
        raise BadInputError(f"suite layout {head.schema}, this version reads {SUITE_SCHEMA}", where=str(file))
    index = decode(data, SuiteIndex, where=str(file))
    if index.sealed().hash != index.hash:
        raise BadInputError("was changed after it was frozen", where=str(file), fix="get it anew")
    known_files = {model.file for model in index.models}
    strange = [n for n in (*known_files, *(t.model for t in index.tasks)) if n != Path(n).name]
    if strange or not {task.model for task in index.tasks} <= known_files:
        raise BadInputError("names a model that is not in its models folder", where=str(file))
    return index


def _check_model(folder: Path, model: SuiteModel) -> None:
    path = folder / MODELS_FOLDER / model.file
    if hashlib.sha256(read_bytes(path)).hexdigest() != model.sha256:
        raise BadInputError("is not the model that was frozen", where=str(path), fix="get it anew")


def _checked_task(maker: TaskMaker, entry: SuiteTask, folder: Path) -> Task:
    task = maker.task(entry.first, entry.last)
    found = (task.id, len(task.scene), len(task.targets), task_hash(task))
    if found != (entry.id, entry.n_scene, entry.n_act, entry.hash):
        raise BadInputError(
            f"task {entry.id} comes out of {entry.model} otherwise than it was frozen",
            where=str(folder),
            fix="this version cuts tasks differently; use the version that froze the suite or freeze it anew",
        )
    return task
