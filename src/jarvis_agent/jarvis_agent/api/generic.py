"""The generic layer: a robot arm with a camera, no word about bricks."""

from __future__ import annotations

import numpy as np
from jarvis_core.pose import Pose

from jarvis_agent.api.answers import Action, Cloud, Look, Reach, State
from jarvis_agent.api.common import Common

#: Depths that are no measurement.
_NO_DEPTH = 0.0


class Generic(Common):
    """Images and points in, poses out. Poses are checked for workspace, reach and collision before anything moves."""

    def image(self) -> Look:
        """The top camera's picture and the robot's state. The arm hides what is below it: go home first."""
        seen = self._tools.observe()
        return Look(
            image=seen.camera.rgb,
            tool=seen.robot.tool,
            gripper_width_m=seen.robot.gripper_width_m,
            time_s=seen.robot.time_s,
        )

    def cloud(self, every: int = 2) -> Cloud:
        """The points that the top camera sees, with their colours.

        Args:
            every: take each n-th pixel of a row and of a column.
        """
        if every < 1:
            return Cloud(status="PRECONDITION_FAILED", reason=f"every must be at least 1, got {every}")
        frame = self._tools.observe().camera
        depth = frame.depth_m[::every, ::every]
        v, u = np.nonzero(depth > _NO_DEPTH)
        z = depth[v, u].astype(np.float64)
        k = frame.intrinsics
        points = np.column_stack([(u * every - k.cx) / k.fx * z, (v * every - k.cy) / k.fy * z, z])
        world = frame.pose @ points
        return Cloud(points=world.astype(np.float32), colours=frame.rgb[::every, ::every][v, u])

    def state(self) -> State:
        """Joints, gripper and tool pose as measured."""
        robot = self._tools.observe().robot
        return State(
            tool=robot.tool,
            joints_rad=robot.joints_rad,
            gripper_width_m=robot.gripper_width_m,
            time_s=robot.time_s,
        )

    def inverse(self, pose: Pose) -> Reach:
        """Joints that bring the tool to a pose, in the workspace, in reach and free of collisions. Moves nothing."""
        answer = self._tools.reach(pose)
        return Reach(status=answer.status.name, reason=answer.message, joints_rad=answer.joints_rad)

    def move_to(self, pose: Pose, speed: float = 1.0) -> Action:
        """Bring the tool to a pose by a way around everything that is seen.

        Args:
            pose: of the point between the finger pads; z out of the hand, y along which the fingers close.
            speed: 0.01 to 1.
        """
        return Action.of(self._tools.move_to(pose, speed=speed))

    def move_straight(self, pose: Pose, speed: float = 0.3) -> Action:
        """Bring the tool to a pose on a straight line; refused where something is in the way. As ``move_to``."""
        return Action.of(self._tools.move_to(pose, straight=True, speed=speed))

    def open_gripper(self, width_m: float = 0.08) -> Action:
        """Open the fingers to a distance of the pads (at most what the gripper can)."""
        return Action.of(self._tools.grip(width_m))

    def close_gripper(self) -> Action:
        """Close the fingers until something stops them; facts tell their distance and whether something is held."""
        return Action.of(self._tools.grip(0.0))
