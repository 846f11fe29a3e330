"""Which segments become tasks: read from config/tasks.yaml."""

from __future__ import annotations

from typing import Annotated

from jarvis_core.config import Config
from msgspec import Meta

Count = Annotated[int, Meta(ge=1)]


class TasksConfig(Config, frozen=True):
    """Limits of a task, whatever the robot.

    Attributes:
        min_bricks, max_bricks: to place in one task.
        supply_packing: share of the supply area that loose bricks with their clearance may take.
        upright_deg: how far a brick may lean or be turned away from the plate's axes.
        overlap_m: deepest allowed overlap of two bricks' bodies.
        overhang_studs: how far a brick may reach over the plate's edge.
        leave_out: take bricks that the cell can't build with (wheels, hinges, tilted ones) away from a model, and
            what then stands on nothing, instead of refusing every segment that holds one.
    """

    min_bricks: Count
    max_bricks: Count
    supply_packing: Annotated[float, Meta(gt=0, le=1)]
    upright_deg: Annotated[float, Meta(gt=0, lt=45)]
    overlap_m: Annotated[float, Meta(ge=0)]
    overhang_studs: Annotated[int, Meta(ge=0)]
    leave_out: bool
