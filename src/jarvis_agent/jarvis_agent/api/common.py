"""The calls that every layer has: the task, its manual, the budget, and the end."""

from __future__ import annotations

import cv2
import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.cell import CellConfig
from jarvis_core.errors import BadInputError
from jarvis_core.ports import Tools
from jarvis_core.skills import SkillResult

from jarvis_agent.api.answers import Action, Answer, Budget, Image, Page, PartLine, TaskInfo
from jarvis_agent.api.usage import Usage


class AgentFinished(Exception):  # noqa: N818 - no error: how finish() leaves whatever runs the agent
    """The agent said that it is done; its message."""


class Common:
    """What an agent knows before it looks.

    Args:
        tools: of the episode.
        cell: what is fixed in the cell, told to every agent.
        usage: counts the calls.
    """

    def __init__(self, tools: Tools, cell: CellConfig, usage: Usage) -> None:
        self._tools = tools
        self._cell = cell
        self._usage = usage
        self._brief = tools.brief()
        self._holding = ""

    def task(self) -> TaskInfo:
        """The task in words: steps, parts list, plate, budget, and how the manual's pages relate to the plate."""
        manual, plate = self._brief.manual, self._cell.plate
        parts = [
            PartLine(
                part=line.part,
                description=line.description,
                colour=line.colour,
                colour_name=line.colour_name,
                count=line.count,
            )
            for line in manual.parts
        ]
        return TaskInfo(
            steps=len(manual.pages) - 1,
            bricks=self._brief.n_required,
            parts=parts,
            axes=manual.axes,
            plate_pose=plate.pose,
            plate_studs=plate.studs,
            stud_m=STUD_PITCH_M,
            budget_s=self._brief.budget_s,
        )

    def manual_page(self, step: int) -> Page:
        """A page of the manual: 0 is what stands there at the start, n what stands after step n."""
        image = self._page(step)
        if image is None:
            pages = ", ".join(str(page.step) for page in self._brief.manual.pages)
            return Page(status="PRECONDITION_FAILED", reason=f"there is no page {step}; pages: {pages}")
        return Page(step=step, image=image)

    def budget(self) -> Budget:
        """What is used and what is left of calls, rounds and time."""
        used = self._usage
        return Budget(
            calls=used.calls,
            calls_left=used.max_calls - used.calls,
            failed=used.failed,
            rounds=used.rounds,
            time_s=self._tools.time_s(),
            budget_s=self._brief.budget_s,
        )

    def home(self) -> Action:
        """Bring the arm out of the top camera's view; opens an empty hand. Do so before you look."""
        return self._acted(self._tools.home(), self._holding)

    def finish(self, message: str = "") -> Answer:
        """End the episode: you are done, or see no way on. Nothing can be called afterwards."""
        raise AgentFinished(message)

    def _acted(self, result: SkillResult, brick_id: str) -> Action:
        """An action's answer; remembers that the hand now holds ``brick_id``, or nothing."""
        self._holding = brick_id if result.facts.get("held") else ""
        return Action.of(result)

    def _page(self, step: int) -> Image | None:
        found = next((page for page in self._brief.manual.pages if page.step == step), None)
        return None if found is None else decoded(found.png, f"page {step} of the manual")


def decoded(png: bytes, where: str) -> Image:
    """(height, width, 3) uint8 RGB of an encoded picture; raises BadInputError where it is none."""
    image = cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise BadInputError("not a picture", where=where)
    rgb: Image = cv2.cvtColor(image, cv2.COLOR_BGR2RGB).astype(np.uint8, copy=False)
    return rgb
