"""Freezing an evaluation set into a suite (see jarvis_tasks.suite)."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path

from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_bytes, write_json

from jarvis_tasks.segment import TaskMaker
from jarvis_tasks.selection import Chosen, Selection
from jarvis_tasks.store import task_hash
from jarvis_tasks.suite import (
    MODELS_FOLDER,
    SUITE_FILE,
    SUITE_SCHEMA,
    SuiteIndex,
    SuiteModel,
    SuiteTask,
    task_maker,
)


def freeze_suite(
    folder: Path,
    *,
    name: str,
    description: str,
    pool: str,
    selection: Selection,
    models: Mapping[str, tuple[str, bytes]],
    plate_studs: tuple[int, int],
    library: LDrawLibrary | None = None,
) -> SuiteIndex:
    """Write a suite's folder, whole or not at all; it must not be there yet.

    Args:
        pool: where the pool came from, in words.
        models: file name and bytes of each chosen task's model, by ``TaskRow.model``; an LDraw file's stem must be
            that name.

    Raises:
        BadInputError: the folder exists, a model is not given, or a task does not come out of its model with the
            hash in its row.
    """
    if folder.exists():
        raise BadInputError("exists already", where=str(folder), fix="name another folder or remove it first")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        entries = list(_frozen_models(fresh / MODELS_FOLDER, selection, models, plate_studs, library))
        tasks = {task.id: task for _, of_model in entries for task in of_model}
        index = SuiteIndex(
            schema=SUITE_SCHEMA,
            name=name,
            description=description,
            pool=pool,
            plate_studs=plate_studs,
            scale=selection.scale,
            strata=selection.strata,
            relaxations=selection.relaxations(),
            models=tuple(model for model, _ in entries),
            tasks=tuple(tasks[chosen.row.id] for chosen in selection.chosen),
        ).sealed()
        write_json(fresh / SUITE_FILE, index)
        fresh.chmod(0o755)
        os.rename(fresh, folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    return index


def _frozen_models(
    folder: Path,
    selection: Selection,
    models: Mapping[str, tuple[str, bytes]],
    plate_studs: tuple[int, int],
    library: LDrawLibrary | None,
) -> Iterator[tuple[SuiteModel, Sequence[SuiteTask]]]:
    """Write each model that a chosen task needs, and cut its tasks."""
    by_model = sorted(selection.chosen, key=lambda c: (c.row.model, c.row.id))
    for name, of_model in groupby(by_model, key=lambda c: c.row.model):
        if name not in models:
            raise BadInputError(f"the model {name} is not given", fix="the pool and its models do not match")
        file, data = models[name]
        write_bytes(folder / file, data)
        maker = task_maker(folder / file, plate_studs, library)
        tasks = [_frozen_task(maker, chosen, file) for chosen in of_model]
        source = maker.model.source
        digest = hashlib.sha256(data).hexdigest()
        yield SuiteModel(file, digest, source.title, source.author, source.licence), tasks


def _frozen_task(maker: TaskMaker, chosen: Chosen, file: str) -> SuiteTask:
    row = chosen.row
    task = maker.task(row.first, row.last)
    if (task.id, task_hash(task)) != (row.id, row.hash):
        raise BadInputError(
            f"task {row.id} does not come out of {file} as the pool says",
            fix="build the dataset again with this version",
        )
    return SuiteTask(
        id=row.id,
        model=file,
        first=row.first,
        last=row.last,
        stratum=chosen.stratum,
        difficulty=chosen.difficulty,
        n_scene=len(task.scene),
        n_act=len(task.targets),
        hash=row.hash,
    )
