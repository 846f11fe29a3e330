"""What every motion backend offers. Skills know this protocol and nothing of the library behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A cuboid in the collision world. ``box.pose`` is in ``world``."""

    id: str
    box: Box


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan or the reason why there is none.

    Attributes:
        status: SUCCEEDED or PLANNING_FAILED (or PRECONDITION_FAILED: the start is in collision or out of
            limits).
        message: for a failure, what stands in the way, naming links and obstacle ids.
        trajectory: timed, within all limits, checked densely for collisions; None on failure.
    """

    status: Status
    message: str
    trajectory: JointTrajectory | None = None


class MotionBackend(Protocol):
    """Planning for one arm. Not thread-safe: one owner."""

    @property
    def name(self) -> str: ...

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Replace the collision world (the static table and plate included, given by the caller)."""

    def attach(self, object_id: str, boxes: Sequence[Box]) -> None:
        """Carry boxes (in the tool frame) with the tool; obstacles of the same id vanish from the world."""

    def detach(self) -> None: ...

    def set_gripper_width(self, width_m: float) -> None:
        """Distance between the pads that later plans assume for the fingers' collision shapes."""

    def forward(self, joints: FloatArray) -> Pose:
        """Tool pose in ``world`` of (n,) joint positions."""

    def inverse(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        """(n,) joint positions within limits that reach ``tool`` to 1e-5 m and 1e-4 rad, close to ``seed``;
        None when there are none. Collisions are not considered."""

    def plan_to_joints(self, start: FloatArray, goal: FloatArray, *, speed: float = 1.0) -> Plan:
        """Collision-free motion to joint positions. ``speed`` in (0, 1] scales velocity limits."""

    def plan_to_pose(self, start: FloatArray, tool: Pose, *, speed: float = 1.0) -> Plan:
        """Collision-free motion to a tool pose."""

    def plan_line(
        self, start: FloatArray, tool: Pose, *, speed: float = 1.0, allow_contact: Sequence[str] = ()
    ) -> Plan:
        """Straight line of the tool, orientation interpolated. Collisions with the obstacle ids in
        ``allow_contact`` are accepted (the brick to grip, the brick to be pressed on)."""

    def validate(self, trajectory: JointTrajectory, *, allow_contact: Sequence[str] = ()) -> tuple[str, ...]:
        """Why a trajectory should not run in the present world, one sentence a fault; empty if it may.

        Joint ranges, velocity, acceleration and jerk against the robot's published limits (naming joint and
        time), collisions densely along the executed path (naming link, obstacle and time).
        """

    def close(self) -> None:
        """Give back what the library holds (a process, memory)."""
