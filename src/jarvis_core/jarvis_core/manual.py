"""The visual manual as an agent gets it."""

from __future__ import annotations

import msgspec


class ManualPage(msgspec.Struct, frozen=True):
    """The picture of the construction after one step.

    Attributes:
        step: number of the step within the task, from 1; 0 is the initial structure.
        png: the encoded image.
    """

    step: int
    png: bytes


class PartCount(msgspec.Struct, frozen=True):
    """One line of the parts list: so many bricks of one part and colour."""

    part: str
    description: str
    colour: int
    colour_name: str
    count: int


class Manual(msgspec.Struct, frozen=True):
    """Pages in order, and the words that tie them to the cell.

    Attributes:
        pages: I_0 (initial structure) to I_T.
        parts: the loose bricks of the task.
        axes: how the page's directions and scale relate to the build plate, in words an agent is given.
    """

    pages: tuple[ManualPage, ...]
    parts: tuple[PartCount, ...]
    axes: str


class TaskBrief(msgspec.Struct, frozen=True):
    """All that any agent is told about its task. Holds no target, no true pose and no brick's place.

    Attributes:
        n_required: number of bricks to place.
        budget_s: simulated seconds after which the score is reduced.
    """

    task_id: str
    manual: Manual
    n_required: int
    budget_s: float
