"""Where the arm is in a picture, from its joints."""

from __future__ import annotations

import numpy as np
from jarvis_core.objects import Box
from jarvis_core.observation import RobotState
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel


class ArmShape:
    """A box around what each link looks like."""

    def __init__(self, model: RobotModel) -> None:
        self._model = model
        self._boxes: dict[str, Box] = {}
        for link in model.links:
            points = [pose @ mesh.vertices.astype(np.float64) for pose, mesh in model.visual_meshes(link)]
            if points:
                self._boxes[link] = _around(np.vstack(points))

    def boxes(self, state: RobotState) -> tuple[Box, ...]:
        """One for each link, ``world``."""
        poses = self._model.forward(np.array(state.joints_rad), state.gripper_width_m)
        return tuple(Box(poses[link] @ box.pose, box.size_m) for link, box in self._boxes.items())


def _around(points: FloatArray) -> Box:
    low, high = points.min(axis=0), points.max(axis=0)
    x, y, z = (high - low).tolist()
    return Box(Pose((low + high) / 2), (x, y, z))
