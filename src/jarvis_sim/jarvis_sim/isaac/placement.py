"""Where everything stands at the start, decided by (task, seed) exactly as in the embedded simulator."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig, SupplyConfig
from jarvis_core.errors import RefusedError
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_core.seeds import generator
from jarvis_tasks.task import Task

from jarvis_sim.bricks import BrickItem
from jarvis_sim.config import LayoutConfig
from jarvis_sim.connections import StudBody
from jarvis_sim.layout import LooseItem, lay_out
from jarvis_sim.structure import stud_body
from jarvis_sim.tabletop import plate_studs


@dataclass(frozen=True, slots=True)
class Placement:
    """The initial state of one task.

    Attributes:
        fixed: bricks of the structure, at their poses.
        loose: bricks of the supply area; ``pose`` is the initial one.
    """

    fixed: tuple[BrickItem, ...]
    loose: tuple[BrickItem, ...]

    @property
    def items(self) -> tuple[BrickItem, ...]:
        """All bricks, those of the structure first."""
        return (*self.fixed, *self.loose)

    def stud_bodies(self, cell: CellConfig) -> list[StudBody]:
        """Plate and bricks as the stud clutch sees them."""
        plate = StudBody(GROUND, plate_studs(cell.plate), np.zeros((0, 3)), cell.plate.pose)
        fixed = [stud_body(item, item.pose) for item in self.fixed]
        return [plate, *fixed, *(stud_body(item, None) for item in self.loose)]


def place(
    task: Task, cell: CellConfig, layout: LayoutConfig, catalogue: PartCatalogue, seed: int
) -> Placement:
    """Where the bricks of a task stand.

    Raises:
        RefusedError: a part that can't be simulated loose, or no free table space.
        BadInputError: an unknown part.
    """
    fixed = [
        BrickItem(b.id, catalogue.geometry(b.part), b.colour, cell.plate.pose @ b.pose) for b in task.scene
    ]
    targets = [
        BrickItem(b.id, catalogue.geometry(b.part), b.colour, cell.plate.pose @ b.pose) for b in task.targets
    ]
    for item in targets:
        if not item.geometry.physical:
            raise RefusedError(
                f"part {item.geometry.part} can't be simulated loose: {item.geometry.not_physical_reason}",
                where=f"task {task.id}, brick {item.id}",
                fix="choose a task without it",
            )
    poses = _layout(task, targets, cell.supply, layout, seed)
    loose = [BrickItem(item.id, item.geometry, item.colour, poses[item.id]) for item in targets]
    return Placement(tuple(fixed), tuple(loose))


def _layout(
    task: Task, targets: list[BrickItem], supply: SupplyConfig, layout: LayoutConfig, seed: int
) -> Mapping[str, Pose]:
    items = [LooseItem(item.id, item.geometry.bounds) for item in targets]
    places = np.array([item.pose.position[:2] for item in targets]).reshape(-1, 2)
    return lay_out(items, places, supply, layout, generator(seed, task.id, "layout"))
