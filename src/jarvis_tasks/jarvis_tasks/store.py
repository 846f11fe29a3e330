"""Task folders::

FOLDER/
  task.json            the task with its ground truth; written last: a folder without it is unfinished
  manual/
    page-00.png ...    page-00 is the initial structure
    axes.txt           how the pages relate to the build plate
    manual.json        parts list, number of pages, the task they belong to, where the model comes from
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from jarvis_core.errors import BadInputError
from jarvis_core.files import content_hash, read_bytes, read_json, write_bytes, write_json, write_text
from jarvis_core.files import decode as decode_json
from jarvis_core.manual import Manual, ManualPage, PartCount
from jarvis_core.objects import GROUND

from jarvis_tasks.task import TASK_SCHEMA, Task

TASK_FILE = "task.json"
MANUAL_FOLDER = "manual"
_REBUILD = "make the task again (jarvis tasks cut)"


class _Head(msgspec.Struct, frozen=True):
    """What every version of a task file has."""

    schema: int


class _ManualIndex(msgspec.Struct, frozen=True):
    """manual.json."""

    task_id: str
    task_hash: str
    title: str
    author: str
    licence: str
    pages: int
    parts: tuple[PartCount, ...]


def task_hash(task: Task) -> str:
    """Changes with anything in the task; goes into every record."""
    return content_hash(task)


def save_task(folder: Path, task: Task, manual: Manual) -> Path:
    """Write a task folder; files that are there already are replaced. Returns the path of task.json."""
    pages = folder / MANUAL_FOLDER
    for page in manual.pages:
        write_bytes(_page_path(folder, page.step), page.png)
    write_text(pages / "axes.txt", manual.axes + "\n")
    index = _ManualIndex(
        task.id, task_hash(task), task.title, task.author, task.licence, len(manual.pages), manual.parts
    )
    write_json(pages / "manual.json", index)
    write_json(folder / TASK_FILE, task)
    return folder / TASK_FILE


def load_task(path: Path) -> Task:
    """Read a task folder or its task.json.

    Raises:
        BadInputError: absent, another layout, or a task that contradicts itself.
    """
    file = path / TASK_FILE if path.is_dir() else path
    data = read_bytes(file)
    head = decode_json(data, _Head, where=str(file))
    if head.schema != TASK_SCHEMA:
        raise BadInputError(
            f"task layout {head.schema}, this version reads {TASK_SCHEMA}", where=str(file), fix=_REBUILD
        )
    task = decode_json(data, Task, where=str(file))
    check_task(task, where=str(file))
    return task


def load_manual(path: Path) -> Manual:
    """Read the manual of a task folder (or of the folder that holds a task.json).

    Raises:
        BadInputError: something is absent, or the manual was drawn for another task.
    """
    folder = path if path.is_dir() else path.parent
    index = read_json(folder / MANUAL_FOLDER / "manual.json", _ManualIndex)
    if index.task_hash != task_hash(load_task(folder)):
        raise BadInputError("the manual was drawn for another task", where=str(folder), fix=_REBUILD)
    pages = tuple(ManualPage(n, read_bytes(_page_path(folder, n))) for n in range(index.pages))
    axes = read_bytes(folder / MANUAL_FOLDER / "axes.txt").decode().rstrip("\n")
    return Manual(pages, index.parts, axes)


def check_task(task: Task, *, where: str) -> None:
    """Raises BadInputError when a task contradicts itself: ids twice, unknown supports, steps out of order."""
    fault = _fault(task)
    if fault:
        raise BadInputError(fault, where=where, fix=_REBUILD)


def _fault(task: Task) -> str:
    if not task.targets:
        return "no brick to place"
    known = {GROUND}
    for brick in (*task.scene, *task.targets):
        if brick.id in known:
            return f"two bricks with the id {brick.id}"
        known.add(brick.id)
    for brick in (*task.scene, *task.targets):
        strangers = {brick.support, *brick.connections} - known
        if strangers:
            return f"{brick.id} is joined to {sorted(strangers)[0]}, which is not in the task"
    if any(brick.step != 0 for brick in task.scene):
        return "a brick of the initial structure has a step"
    steps = [brick.step for brick in task.targets]
    if steps != sorted(steps) or set(steps) != set(range(1, max(steps) + 1)):
        return "the steps are not numbered 1, 2, 3 ... in order"
    return ""


def _page_path(folder: Path, number: int) -> Path:
    return folder / MANUAL_FOLDER / f"page-{number:02d}.png"
