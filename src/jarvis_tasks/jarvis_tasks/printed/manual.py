"""The manual of a task from pages of a book instead of drawn ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_core.cell import PlateConfig
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual, ManualPage
from jarvis_render.pages import encode_png

from jarvis_tasks.printed.pages import MappedPage, open_page
from jarvis_tasks.task import Task

_AXES = (
    "These pages come from elsewhere (a printed book or another program): their view, scale and light are not known "
    "and may change from page to page, and the build plate is not drawn. Page 0 shows the initial structure, page n "
    "the construction after step n. Frame 'plate': origin in the middle of the plate's top surface, which has "
    "{x} x {y} studs along x and y; z points up; 1 stud = 8 mm, 1 brick height = 9.6 mm = 3 plate heights."
)


@dataclass(frozen=True, slots=True)
class Book:
    """Mapped pages of a whole model.

    Attributes:
        folder: where the images lie.
        pages: which shows which build step.
        steps: all build steps that have bricks, in order.
    """

    folder: Path
    pages: tuple[MappedPage, ...]
    steps: tuple[int, ...]

    def shown(self, tasks: Sequence[Task]) -> list[Task]:
        """The tasks that the book has all pages of.

        Raises:
            BadInputError: none, naming the steps that lack a page for the first one.
        """
        whole = [task for task in tasks if not self._missing(task)]
        if not whole and tasks:
            missing = ", ".join(map(str, self._missing(tasks[0])))
            raise BadInputError(
                f"no page shows step {missing}",
                where=str(self.folder),
                fix="add it to the map, or choose other steps",
            )
        return whole

    def manual(self, task: Task, drawn: Manual, plate: PlateConfig) -> Manual:
        """The book's pages with the parts list of ``drawn``, whose page 0 stays where the task begins with nothing.

        Raises:
            BadInputError: a page that can't be read.
        """
        by_step = {page.step: page for page in self.pages}
        images = [
            drawn.pages[0].png if step is None else self._png(by_step[step])
            for step in self.shown_steps(task)
        ]
        axes = _AXES.format(x=plate.studs[0], y=plate.studs[1])
        return Manual(tuple(ManualPage(n, png) for n, png in enumerate(images)), drawn.parts, axes)

    def shown_steps(self, task: Task) -> list[int | None]:
        """The build step that each page shows finished, without steps that have no brick; None: a bare plate."""
        first, last = task.steps
        before = [step for step in self.steps if step < first]
        start = before[-1] if before and task.scene else None
        return [start, *(step for step in self.steps if first <= step <= last)]

    def _missing(self, task: Task) -> list[int]:
        have = {page.step for page in self.pages}
        return [step for step in self.shown_steps(task) if step is not None and step not in have]

    def _png(self, page: MappedPage) -> bytes:
        return encode_png(open_page(self.folder / page.file, page.area))
