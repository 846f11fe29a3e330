"""Questions to the cell that move nothing: how something could be gripped, whether a pose can be reached."""

from __future__ import annotations

from typing import Protocol

import msgspec

from jarvis_core.pose import Pose
from jarvis_core.status import Status


class PlannedGrasp(msgspec.Struct, frozen=True):
    """One grasp: pose of the tool (world) when the fingers close, and the distance of the pads that then hold."""

    tool: Pose
    width_m: float


class GraspPlan(msgspec.Struct, frozen=True):
    """Grasps in reach, best first, or the reason why there is none."""

    status: Status
    message: str
    grasps: tuple[PlannedGrasp, ...] = ()


class ReachAnswer(msgspec.Struct, frozen=True):
    """Joint positions (rad) at which the tool is at a pose, free of collisions, or the reason why there are none."""

    status: Status
    message: str
    joints_rad: tuple[float, ...] = ()


class Planning(Protocol):
    """Who answers. Neither call raises for a question without a good answer."""

    def grasps(self, object_id: str, place_pose: Pose | None = None) -> GraspPlan:
        """Ways to grip an object where it lies and, where ``place_pose`` (world) is given, there too."""

    def reach(self, pose: Pose) -> ReachAnswer:
        """Can the tool be brought to a pose (world) from where it is?"""
