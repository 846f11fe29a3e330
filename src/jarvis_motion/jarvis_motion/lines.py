"""Straight lines of the tool: poses on them, joint positions for these, how well a trajectory keeps to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from scipy.spatial.transform import Rotation, Slerp

from jarvis_motion.checks import dense_positions

Solver = Callable[[Pose, FloatArray], FloatArray | None]


@dataclass(frozen=True, slots=True)
class LineFault:
    """Where a line can't be followed.

    Attributes:
        index: of the first pose that failed.
        last: (n,) joint positions of the last pose that worked.
        jump: index of the joint that would jump; None when the pose is out of reach.
    """

    index: int
    last: FloatArray
    jump: int | None


class ToolLine:
    """From one tool pose to another: straight in position, about one axis in orientation, both in step."""

    def __init__(self, start: Pose, end: Pose) -> None:
        self.start = start
        self.end = end
        self.length_m = start.distance_to(end)
        self.angle_rad = start.angle_to(end)
        turns = Rotation.from_quat(np.array([start.quaternion, end.quaternion]))
        self._slerp = Slerp([0.0, 1.0], turns)

    def poses(self, step_m: float, step_rad: float) -> list[Pose]:
        """Poses from start to end, both included, no further apart than the steps."""
        count = max(2, int(np.ceil(max(self.length_m / step_m, self.angle_rad / step_rad))))
        share = np.linspace(0.0, 1.0, count + 1)
        positions = self.start.position + share[:, None] * (self.end.position - self.start.position)
        turns = self._slerp(share).as_quat()
        return [Pose(p, q) for p, q in zip(positions, turns, strict=True)]

    def deviations(self, tools: FloatArray) -> tuple[float, float]:
        """Largest distance (m) and angle (rad) of (k, 4, 4) tool poses from the line's nearest pose."""
        along = self.end.position - self.start.position
        offset = tools[:, :3, 3] - self.start.position
        turns = Rotation.from_matrix(tools[:, :3, :3])
        if self.length_m > 1e-6:
            share = np.clip(offset @ along / self.length_m**2, 0.0, 1.0)
        else:
            turned = (Rotation.from_quat(self.start.quaternion).inv() * turns).magnitude()
            share = np.clip(turned / max(self.angle_rad, 1e-9), 0.0, 1.0)
        gap = np.linalg.norm(offset - share[:, None] * along, axis=1)
        angle = (self._slerp(share).inv() * turns).magnitude()
        return float(gap.max()), float(angle.max())


def follow_line(
    poses: Sequence[Pose], start: FloatArray, solve: Solver, max_joint_step_rad: float
) -> FloatArray | LineFault:
    """(k, n) joint positions for poses, each solved from the one before; the first is ``start`` itself."""
    path = [start]
    for index, pose in enumerate(poses[1:], start=1):
        q = solve(pose, path[-1])
        if q is None:
            return LineFault(index, path[-1], None)
        step = np.abs(q - path[-1])
        if step.max() > max_joint_step_rad:
            return LineFault(index, path[-1], int(step.argmax()))
        path.append(q)
    return np.array(path)


def tool_deviation(robot: RobotModel, trajectory: JointTrajectory, line: ToolLine) -> tuple[float, float]:
    """How far (m, rad) the tool leaves a line at the trajectory's points and half-way between them."""
    joints = dense_positions(trajectory, np.inf, parts=2)
    return line.deviations(robot.tool_matrices(joints))


def deviation_message(gap_m: float, gap_rad: float, tolerance_m: float, tolerance_rad: float) -> str:
    """A sentence on how far the tool leaves a line, in distance, angle or both; empty within the tolerances."""
    kinds = (
        (gap_m, tolerance_m, "{:.2f} mm", 1000.0),
        (gap_rad, tolerance_rad, "{:.2f} deg", 180.0 / np.pi),
    )
    gaps = [
        f"{words.format(gap * scale)} (tolerance {words.format(most * scale)})"
        for gap, most, words, scale in kinds
        if gap > most
    ]
    return f"the tool would leave the straight line by {' and '.join(gaps)}" if gaps else ""
