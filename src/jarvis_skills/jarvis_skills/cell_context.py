"""What every skill works with: the arm, the planner, the scene, the settings and what is in the hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_bricks.grip import GripKey
from jarvis_core.cell import CellConfig
from jarvis_core.errors import PerceptionRefusedError
from jarvis_core.motion import Cancellation
from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.ports import Robot, SceneSource
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.skills import Fact
from jarvis_core.status import Status
from jarvis_motion.backend import MotionBackend, Obstacle
from jarvis_robot.config import RobotConfig

from jarvis_skills.config import SkillsConfig

#: Obstacle ids of the fixed parts of the cell.
TABLE = "table"
PLATE = "plate"
#: Thickness of the table's box in the collision world.
TABLE_THICKNESS_M = 0.05


class StepFailed(Exception):  # noqa: N818 - an outcome on its way to becoming a SkillResult, never seen outside
    """A step inside a skill failed; the executor turns it into the skill's result."""

    def __init__(self, status: Status, message: str, facts: dict[str, Fact] | None = None) -> None:
        self.status = status
        self.message = message
        self.facts = facts or {}
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Held:
    """The object in the hand.

    Attributes:
        object: its shape, and the pose it had when it was gripped.
        in_tool: its pose in the tool frame.
        width_m: distance of the pads that hold it.
        grip: which of its faces they hold.
    """

    object: RigidObject
    in_tool: Pose
    width_m: float
    grip: GripKey


@dataclass
class SkillContext:
    """Shared by all skills of one arm; owned by one executor, used by one thread at a time.

    Attributes:
        held: what the hand holds, as far as the skills know.
        on_phase: told the name of each phase as it begins.
        cancel: watched between and during motions.
    """

    robot: Robot
    backend: MotionBackend
    scenes: SceneSource
    cell: CellConfig
    robot_config: RobotConfig
    config: SkillsConfig
    held: Held | None = None
    on_phase: Callable[[str], None] = lambda phase: None
    cancel: Cancellation = field(default_factory=Cancellation)

    @property
    def ready(self) -> FloatArray:
        """(n,) joint positions with the tool pointing down over the middle of the work area."""
        return np.array(self.robot_config.ready_rad)

    def phase(self, name: str) -> None:
        """Announce a phase; stops here if a cancel was requested."""
        self.stop_if_canceled(name)
        self.on_phase(name)

    def stop_if_canceled(self, what: str) -> None:
        """Fails as canceled, before anything moves, if a cancel was requested."""
        if self.cancel.requested:
            raise StepFailed(Status.CANCELED, f"canceled before {what}; the arm stands still")

    def look(self) -> Scene:
        """The scene now; fails where nothing can be told from the picture."""
        try:
            return self.scenes.scene()
        except PerceptionRefusedError as error:
            raise StepFailed(Status.VERIFICATION_FAILED, error.line()) from error

    def find(self, scene: Scene, object_id: str) -> RigidObject:
        """The object of that id; fails as a precondition, naming what there is."""
        found = scene.find(object_id)
        if found is None:
            known = ", ".join(o.id for o in scene.objects if not o.fixed) or "none"
            raise StepFailed(
                Status.PRECONDITION_FAILED, f"there is no object {object_id!r}; movable objects: {known}"
            )
        return found

    def fixed_obstacles(self) -> list[Obstacle]:
        """Table and build plate."""
        table, plate = self.cell.table, self.cell.plate
        top = Pose(((table.x[0] + table.x[1]) / 2, (table.y[0] + table.y[1]) / 2, -TABLE_THICKNESS_M / 2))
        size = (table.x[1] - table.x[0], table.y[1] - table.y[0], TABLE_THICKNESS_M)
        plate_size = (plate.studs[0] * STUD_PITCH_M, plate.studs[1] * STUD_PITCH_M, plate.thickness_m)
        plate_pose = plate.pose @ Pose((0.0, 0.0, -plate.thickness_m / 2))
        return [Obstacle(TABLE, Box(top, size)), Obstacle(PLATE, Box(plate_pose, plate_size))]

    def obstacles(self, scene: Scene, leave_out: Sequence[str] = ()) -> list[Obstacle]:
        """Table, plate and all objects but the held one and those of ``leave_out``."""
        skip = {*leave_out, *([self.held.object.id] if self.held else [])}
        things = [thing for thing in scene.objects if thing.id not in skip]
        return self.fixed_obstacles() + [Obstacle(o.id, box) for o in things for box in o.world_boxes()]

    def update_world(self, scene: Scene, leave_out: Sequence[str] = ()) -> None:
        """Give the planner the scene, without the held object and without ``leave_out``."""
        self.backend.set_obstacles(self.obstacles(scene, leave_out))
