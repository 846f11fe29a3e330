"""Reading a dataset: rows a piece at a time, tasks and manuals one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import msgspec
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, file_hash, read_bytes
from jarvis_core.manual import Manual, ManualPage, PartCount

from jarvis_tasks.dataset.archive import member_names, read_members
from jarvis_tasks.dataset.index import read_rows
from jarvis_tasks.dataset.layout import (
    DATASET_SCHEMA,
    INFO,
    KNOWN,
    MODELS,
    SPLITS,
    DatasetInfo,
    ModelRow,
    Unit,
    index_path,
    manuals_path,
    model_of,
    truth_path,
)
from jarvis_tasks.dataset.truth import catalogue_of, read_truth, read_unit
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.segment import TaskMaker
from jarvis_tasks.store import check_task
from jarvis_tasks.task import Task

_REBUILD = "build the dataset again (jarvis tasks build)"
#: Models held in memory at once: tasks are usually asked for model by model.
_MODELS_HELD = 16


class _Head(msgspec.Struct, frozen=True):
    schema: int


class TaskDataset:
    """A dataset on disk. Archives are checked against the hashes in dataset.json when they are first opened.

    Attributes:
        folder: where it lies.
        info: dataset.json.
    """

    def __init__(self, folder: Path, info: DatasetInfo) -> None:
        self.folder = folder
        self.info = info
        self._model = lru_cache(_MODELS_HELD)(self._open_model)
        self._checked: set[str] = set()

    @classmethod
    def open(cls, folder: Path) -> TaskDataset:
        """Raises BadInputError: no dataset, an unfinished one, or one of another schema."""
        if not (folder / INFO).is_file():
            unfinished = (folder / "truth").is_dir()
            what = "is an unfinished dataset" if unfinished else "is no dataset"
            fix = "the same `jarvis tasks build` goes on with it" if unfinished else "name a dataset's folder"
            raise BadInputError(what, where=str(folder), fix=fix)
        data, where = read_bytes(folder / INFO), str(folder / INFO)
        schema = decode(data, _Head, where=where).schema
        if schema != DATASET_SCHEMA:
            raise BadInputError(
                f"schema {schema}, this version reads {DATASET_SCHEMA}", where=where, fix=_REBUILD
            )
        return cls(folder, decode(data, DatasetInfo, where=where))

    def rows(self, split: str | None = None) -> Iterator[TaskRow]:
        """The index, model by model; of one split or of all. Errors as jarvis_tasks.dataset.index.read_rows."""
        for name in SPLITS if split is None else (split,):
            if name not in SPLITS:
                raise BadInputError(
                    f"no split {name!r}", where=str(self.folder), fix=f"one of {', '.join(SPLITS)}"
                )
            yield from read_rows(self.folder / index_path(name), TaskRow)

    def models(self) -> Iterator[ModelRow]:
        """One row per source model, by name."""
        return read_rows(self.folder / MODELS, ModelRow)

    def task(self, task: str) -> Task:
        """A task with its ground truth, by id.

        Raises:
            BadInputError: an unknown id, a damaged or tampered archive, a task whose hash is not the index's.
        """
        unit, maker = self._of(task)
        known = {f"{unit.name}-s{t.first:02d}-s{t.last:02d}": t for t in unit.tasks}
        row = known.get(task)
        if row is None:
            raise self._unknown(task)
        if maker.digest(row.first, row.last) != row.hash:
            raise BadInputError(
                "the task's hash is another one", where=f"{self.folder}: {task}", fix=_REBUILD
            )
        made = maker.task(row.first, row.last)
        check_task(made, where=f"{self.folder}: {task}")
        return made

    def manual(self, task: str) -> Manual | None:
        """The task's manual as it was drawn; None in a dataset without pictures. Errors as ``task``."""
        unit, _ = self._of(task)
        path = manuals_path(unit.name)
        if path not in self.info.files:
            return None
        archive = self._checked_file(path)
        names = [name for name in member_names(archive) if name.startswith(f"{task}/")]
        if not names:
            raise self._unknown(task)
        members = {name.removeprefix(f"{task}/"): data for name, data in read_members(archive, names).items()}
        pages = sorted(name for name in members if name.startswith("page-"))
        return Manual(
            tuple(ManualPage(number, members[name]) for number, name in enumerate(pages)),
            decode(members["parts.json"], tuple[PartCount, ...], where=f"{archive}:{task}/parts.json"),
            members["axes.txt"].decode().rstrip("\n"),
        )

    def catalogue(self, task: str, library: LDrawLibrary | None) -> PartCatalogue:
        """What draws a task: the library's parts, and those that the model's file held itself."""
        return catalogue_of(self._checked_file(truth_path(self._model_of(task))), library)

    def verify(self) -> list[str]:
        """All that is wrong, a line each: files that are missing, changed or not listed, rows that do not fit the
        archives. Empty for a sound dataset."""
        faults = list(self._file_faults())
        damaged = {fault.split(": ")[0] for fault in faults}
        try:
            faults += list(self._row_faults(damaged))
        except BadInputError as error:
            faults.append(error.line())
        return faults

    def _file_faults(self) -> Iterator[str]:
        listed = self.info.files
        for path, expected in listed.items():
            file = self.folder / path
            if not file.is_file():
                yield f"{path}: missing"
            elif file_hash(file) != expected:
                yield f"{path}: changed since it was written (sha256)"
        for folder in ("truth", "manuals", "index"):
            for file in sorted((self.folder / folder).glob("[!.]*")):
                if f"{folder}/{file.name}" not in listed:
                    yield f"{folder}/{file.name}: not listed in {INFO}"
        for file in sorted(self.folder.glob("[!.]*")):
            if file.name not in KNOWN:
                yield f"{file.name}: does not belong to the dataset"

    def _row_faults(self, damaged: set[str]) -> Iterator[str]:
        """Every row against its model's archive, where that is sound."""
        for split in SPLITS:
            if index_path(split) in damaged:
                continue
            expected: set[TaskRow] = set()
            current = None
            for row in self.rows(split):
                if truth_path(row.model) in damaged:
                    continue
                if row.model != current:
                    current = row.model
                    expected = set(read_unit(self.folder / truth_path(current)).rows(split))
                if row not in expected:
                    yield f"{index_path(split)}: {row.id} is not as in {truth_path(row.model)}"

    def _of(self, task: str) -> tuple[Unit, TaskMaker]:
        return self._model(self._model_of(task))

    def _model_of(self, task: str) -> str:
        model = model_of(task)
        if truth_path(model) not in self.info.files:
            raise self._unknown(task)
        return model

    def _open_model(self, model: str) -> tuple[Unit, TaskMaker]:
        archive = self._checked_file(truth_path(model))
        return read_unit(archive), TaskMaker(read_truth(archive).placed())

    def _checked_file(self, path: str) -> Path:
        """A listed file, its hash compared once."""
        file = self.folder / path
        if path not in self._checked:
            if not file.is_file():
                raise BadInputError("is missing", where=str(file), fix=_REBUILD)
            if file_hash(file) != self.info.files[path]:
                raise BadInputError(
                    "has been changed since it was written (sha256)", where=str(file), fix=_REBUILD
                )
            self._checked.add(path)
        return file

    def _unknown(self, task: str) -> BadInputError:
        return BadInputError(
            f"no task {task!r}", where=str(self.folder), fix="ids stand in the column id of index/*.parquet"
        )
