"""The manual of a task from pages of a book instead of drawn ones."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import PlateConfig
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual, ManualPage
from jarvis_render.config import ManualConfig
from jarvis_render.pages import encode_png

from jarvis_tasks.manual import make_manual
from jarvis_tasks.placement import PlacedModel
from jarvis_tasks.printed.pages import MappedPage, open_page
from jarvis_tasks.task import Task

_AXES = (
    "These pages come from elsewhere (a printed book or another program): their view, scale and light are not known "
    "and may change from page to page, and the build plate is not drawn. Page 0 shows the initial structure, page n "
    "the construction after step n. The model stands on the plate as its parts show: frame 'plate' has its origin "
    "in the middle of the plate's top surface, which has {x} x {y} studs along x and y; z points up; 1 stud = 8 mm, "
    "1 brick height = 9.6 mm = 3 plate heights."
)


def printed_manual(
    task: Task,
    model: PlacedModel,
    folder: Path,
    pages: Sequence[MappedPage],
    plate: PlateConfig,
    catalogue: PartCatalogue,
    config: ManualConfig,
) -> Manual:
    """The pages of a book that show a task's steps, as PNGs, with the parts list of the task.

    Where the task begins with nothing, page 0 is a drawn one of the empty plate.

    Args:
        model: that the task was cut from.
        folder: where the page images lie. pages: which shows which build step of the whole model.

    Raises:
        BadInputError: steps without a page, naming them, or a page that can't be read.
    """
    drawn = make_manual(task, plate, catalogue, config)
    steps = shown_steps(model, *task.steps)
    by_step = {page.step: page for page in pages if page.step is not None}
    missing = [step for step in steps if step is not None and step not in by_step]
    if missing:
        raise BadInputError(
            f"no page shows step {', '.join(map(str, missing))}",
            where=str(folder),
            fix="add it to the map, or choose other steps",
        )
    images = [drawn.pages[0].png if step is None else _png(folder, by_step[step]) for step in steps]
    axes = _AXES.format(x=plate.studs[0], y=plate.studs[1])
    return Manual(tuple(ManualPage(n, png) for n, png in enumerate(images)), drawn.parts, axes)


def shown_steps(model: PlacedModel, first: int, last: int) -> list[int | None]:
    """The build step that each page of a task shows finished, without steps that have no brick; None: a bare plate."""
    steps = sorted({brick.step for brick in model.bricks})
    before = [step for step in steps if step < first]
    return [before[-1] if before else None, *(step for step in steps if first <= step <= last)]


def _png(folder: Path, page: MappedPage) -> bytes:
    return encode_png(open_page(folder / page.file, page.area))
