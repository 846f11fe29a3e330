"""One line of a task index: what is needed to choose a task, and nothing of where its bricks go."""

from __future__ import annotations

import msgspec


class TaskRow(msgspec.Struct, frozen=True):
    """A task, told without its ground truth.

    Attributes:
        id: of the task; also the key into the archives of its model.
        model: name of the source model; unique in an index. Splits and diversity go by it.
        title, author, licence: of the source model; they travel with everything made from it.
        split: ``train``, ``validation`` or ``test``.
        first, last: global build steps of the segment, both included.
        n_scene: bricks that stand at the start.
        n_act: bricks to place (action bricks, the horizon).
        n_pages: of the manual, the initial structure's included.
        left_out: bricks of the model that are in neither, because the cell can't build with them.
        hash: of the task with its ground truth (see jarvis_tasks.store.task_hash).
    """

    id: str
    model: str
    title: str
    author: str
    licence: str
    split: str
    first: int
    last: int
    n_scene: int
    n_act: int
    n_pages: int
    left_out: int
    hash: str
