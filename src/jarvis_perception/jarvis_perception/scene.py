"""What was seen, as the skills' scene: bricks to pick, boxes to keep off; and what changed between two looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jarvis_bricks.geometry import PLATE_HEIGHT_M
from jarvis_core.cell import CellConfig
from jarvis_core.manual import PartCount
from jarvis_core.objects import RigidObject, Scene
from jarvis_core.ports import Camera, Perception, Robot
from jarvis_core.seen import SeenBrick, SeenChange, SeenScene

from jarvis_perception.config import TrackConfig
from jarvis_perception.structure import cells_under, changed_cells, structure_boxes

PERCEIVED = "perceived"
_UNLIMITED = 10_000


def to_scene(seen: SeenScene, cell: CellConfig) -> Scene:
    """Bricks that lie somewhere, and the structure as solid boxes.

    What is in the hand is left out: who holds it knows. Of a brick followed onto the structure, the brick itself is an
    object and the boxes end below it.
    """
    bricks = tuple(brick for brick in seen.bricks if not brick.held)
    things = tuple(RigidObject(b.id, b.part, b.colour.code, b.pose, b.boxes) for b in bricks)
    below = np.full(cell.plate.studs, _UNLIMITED)
    for thing in things:
        cells = cells_under(thing.world_boxes(), cell)
        if len(cells):
            bottom = min(float(box.pose.position[2] - box.size_m[2] / 2) for box in thing.world_boxes())
            plates = round((bottom - float(cell.plate.pose.position[2])) / PLATE_HEIGHT_M)
            at = (cells[:, 0], cells[:, 1])
            below[at] = np.minimum(below[at], max(0, plates))
    return Scene(seen.time_s, PERCEIVED, things + structure_boxes(seen.structure, cell, below))


class PerceivedScene:
    """``jarvis_core.ports.SceneSource`` by camera and perception, in this process.

    Args:
        parts: what may lie there (the task's list).
        on_seen: told every scene, before it is turned into the skills' one.
    """

    def __init__(
        self,
        camera: Camera,
        robot: Robot,
        perception: Perception,
        cell: CellConfig,
        parts: Sequence[PartCount] = (),
        on_seen: Callable[[SeenScene], None] = lambda seen: None,
    ) -> None:
        self._camera = camera
        self._robot = robot
        self._perception = perception
        self._cell = cell
        self._parts = tuple(parts)
        self._on_seen = on_seen

    def look(self) -> SeenScene:
        """What is seen now; raises PerceptionRefusedError."""
        seen = self._perception.perceive(
            self._camera.capture(), parts=self._parts, robot=self._robot.state(), now_s=self._robot.time_s
        )
        self._on_seen(seen)
        return seen

    def scene(self) -> Scene:
        """The same, for skills."""
        return to_scene(self.look(), self._cell)


def difference(before: SeenScene, after: SeenScene, config: TrackConfig) -> SeenChange:
    """What appeared, vanished and moved between two looks of one perception (which keeps ids)."""
    was = {brick.id: brick for brick in before.bricks}
    now = {brick.id: brick for brick in after.bricks}
    moved = []
    for name in was.keys() & now.keys():
        distance, angle = _moved(was[name], now[name])
        if distance > config.moved_m or angle > np.radians(config.moved_deg):
            moved.append((name, distance, angle))
    return SeenChange(
        tuple(sorted(now.keys() - was.keys())),
        tuple(sorted(was.keys() - now.keys())),
        tuple(sorted(moved)),
        changed_cells(before.structure, after.structure),
    )


def _moved(before: SeenBrick, after: SeenBrick) -> tuple[float, float]:
    """Distance, and angle up to the half turn that many bricks do not show."""
    angle = before.pose.angle_to(after.pose)
    return before.pose.distance_to(after.pose), min(angle, abs(np.pi - angle))
