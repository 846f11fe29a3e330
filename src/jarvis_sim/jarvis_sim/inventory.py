"""The bricks of a world, by id: what they are, wherever they may be."""

from __future__ import annotations

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import RefusedError
from jarvis_core.pose import Pose
from jarvis_tasks.task import PlacedBrick, Task

from jarvis_sim.bricks import BrickItem
from jarvis_sim.shapes import Rgba
from jarvis_sim.structure import distractors


class Inventory:
    """Bricks of the structure, loose ones that come with the task, and spawned ones.

    Args:
        plate: pose of the build plate in ``world``.
        n_distractors: number of loose bricks that no target needs.

    Raises:
        RefusedError: a part that can't be simulated loose.
        BadInputError: an unknown part or colour.

    Attributes:
        scene, loose, spawned: by id; the world changes the last.
    """

    def __init__(self, task: Task, plate: Pose, catalogue: PartCatalogue, n_distractors: int) -> None:
        self._where = f"task {task.id}"
        self._plate, self._catalogue = plate, catalogue
        self.scene = {brick.id: self._item(brick) for brick in task.scene}
        wanted = (*task.targets, *distractors(task, n_distractors))
        self.loose = {brick.id: self._loose_item(brick) for brick in wanted}
        self.spawned: dict[str, BrickItem] = {}

    def items(self) -> tuple[BrickItem, ...]:
        """All of them, those of the structure first."""
        return (*self.scene.values(), *self.loose.values(), *self.spawned.values())

    def known(self, brick: str) -> BrickItem:
        """The brick of that id; raises RefusedError if there is none."""
        item = self.scene.get(brick) or self.loose.get(brick) or self.spawned.get(brick)
        if item is None:
            raise RefusedError(f"there is no brick {brick!r}", where=self._where)
        return item

    def rgba(self, code: int) -> Rgba:
        """A colour, by LDraw's code."""
        colour = self._catalogue.colours.get(code)
        red, green, blue = (value / 255 for value in colour.rgb)
        return (red, green, blue, colour.alpha / 255)

    def _item(self, brick: PlacedBrick) -> BrickItem:
        geometry = self._catalogue.geometry(brick.part)
        return BrickItem(brick.id, geometry, brick.colour, self._plate @ brick.pose)

    def _loose_item(self, brick: PlacedBrick) -> BrickItem:
        item = self._item(brick)
        if not item.geometry.physical:
            raise RefusedError(
                f"part {brick.part} can't be simulated loose: {item.geometry.not_physical_reason}",
                where=f"{self._where}, brick {brick.id}",
                fix="choose a task without it",
            )
        return item
