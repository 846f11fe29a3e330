"""Pools of tasks as a person names them: a dataset, a suite, or one task of either."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_bench.task_page import Standing
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual
from jarvis_render.config import ManualConfig
from jarvis_tasks.dataset.layout import INFO, SPLITS
from jarvis_tasks.dataset.reader import TaskDataset
from jarvis_tasks.manual import make_manual
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.store import TASK_FILE, load_manual, load_task
from jarvis_tasks.suite import SUITE_FILE, Suite, load_suite, shipped_suites
from jarvis_tasks.task import Task

_FIX = "name a dataset's or a suite's folder, or one of the shipped suites"
ALL = "all"


def is_suite(name: str) -> bool:
    """A shipped suite's name, or the folder of one."""
    return name in shipped_suites() or (Path(name) / SUITE_FILE).is_file()


def read_pool(name: str, split: str, library: LDrawLibrary | None) -> Sequence[TaskRow]:
    """The rows of a suite, or of a split (or ``all``) of a dataset; errors as their readers'."""
    if is_suite(name):
        return load_suite(name, library).rows()
    if not (Path(name) / INFO).is_file() and not Path(name).is_dir():
        known = ", ".join(shipped_suites()) or "none here"
        raise BadInputError("no such pool of tasks", where=name, fix=f"{_FIX} ({known})")
    return read_split(Path(name), split)


def read_split(dataset: Path, split: str) -> Sequence[TaskRow]:
    """The rows of a split (or ``all``) of a dataset; an empty one is an error."""
    rows = list(TaskDataset.open(dataset).rows(None if split == ALL else split))
    if not rows:
        raise BadInputError(
            f"split {split} holds no tasks", where=str(dataset), fix=f"--split {ALL}, {', '.join(SPLITS)}"
        )
    return rows


@dataclass(frozen=True, slots=True)
class NamedTask:
    """A task, what knows its parts, and its place in a suite.

    Attributes:
        manual: its pages; None: they were not drawn yet.
        catalogue: makes what knows the parts.
    """

    task: Task
    manual: Manual | None
    catalogue: Callable[[], PartCatalogue]
    standing: Standing | None = None

    def drawn(self) -> Manual:
        """The manual, drawn now if it is not there."""
        if self.manual is not None:
            return self.manual
        return draw_manual(self.task, self.catalogue())


def draw_manual(task: Task, catalogue: PartCatalogue, style: str | None = None) -> Manual:
    """Of a task, on the configured plate; errors as make_manual."""
    config = load_default("manual", ManualConfig)
    plate = load_default("cell", CellConfig).plate
    return make_manual(task, plate, catalogue, config if style is None else config.styled(style))


def read_named_task(name: str, library: LDrawLibrary | None) -> NamedTask:
    """A task folder, or ``POOL:ID`` with a suite or a dataset.

    Raises:
        BadInputError: none of these, or something in it can't be used.
    """
    if (Path(name) / TASK_FILE).is_file() or Path(name).is_file():
        path = Path(name)
        return NamedTask(load_task(path), load_manual(path), lambda: PartCatalogue(library))
    pool, colon, task = name.rpartition(":")
    if not colon:
        raise BadInputError(
            "is no task folder", where=name, fix="make one with `jarvis tasks cut`, or give SUITE:ID"
        )
    if is_suite(pool):
        suite = load_suite(pool, library, only=[task])
        return NamedTask(
            suite.task(task), None, lambda: suite.catalogue(task, library), standing_of(suite, task)
        )
    dataset = TaskDataset.open(Path(pool))
    return NamedTask(dataset.task(task), dataset.manual(task), lambda: dataset.catalogue(task, library))


def standing_of(suite: Suite, task: str) -> Standing:
    """How hard a task is within its suite; raises BadInputError for an unknown one."""
    suite.task(task)
    entry = next(entry for entry in suite.index.tasks if entry.id == task)
    index = suite.index
    return Standing(index.name, entry.stratum, entry.difficulty, index.scale, index.strata)
