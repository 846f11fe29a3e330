"""Why a tool pose can't be reached, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from scipy.spatial.transform import Rotation

_ITERATIONS = 40
_DAMPING = 1e-2
#: A radian off counts as much as this many metres when the closest position is looked for.
_METRES_PER_RADIAN = 0.2


def explain_unreachable(robot: RobotModel, tool: Pose, seeds: Sequence[FloatArray]) -> str:
    """A sentence on the closest that the tool gets to a pose that inverse kinematics did not reach.

    ``out of reach: ...`` when the position itself can't be reached, ``joint limit: ...`` when joints stop at
    their limits before the orientation is right.
    """
    position = ", ".join(f"{v:.3f}" for v in tool.position)
    tried = [_closest(robot, tool, np.asarray(seed)) for seed in seeds]
    joints, gap_m, gap_rad = min(tried, key=lambda t: t[1] + _METRES_PER_RADIAN * t[2])
    limits = robot.limits
    at_limit = [
        name
        for name, q, low, high in zip(
            robot.config.arm_joints, joints, limits.lower, limits.upper, strict=True
        )
        if q < low + 1e-3 or q > high - 1e-3
    ]
    short = f"the tool stays {gap_m * 1000:.0f} mm and {np.degrees(gap_rad):.0f} deg from ({position})"
    if at_limit:
        return f"joint limit: with {' and '.join(at_limit)} at the end of the range {short}"
    return f"out of reach: {short}"


def _closest(robot: RobotModel, tool: Pose, joints: FloatArray) -> tuple[FloatArray, float, float]:
    """Damped least squares with clamping (Buss, Introduction to Inverse Kinematics, 2004, section 6)."""
    best = (joints, np.inf, np.inf)
    target = Rotation.from_quat(tool.quaternion)
    for _ in range(_ITERATIONS):
        # One row per joint moved a little: a numerical Jacobian from a single batch of forward kinematics.
        delta = 1e-6
        batch = robot.tool_matrices(np.vstack([joints, joints + delta * np.eye(len(joints))]))
        turns = Rotation.from_matrix(batch[:, :3, :3])
        error = np.concatenate([tool.position - batch[0, :3, 3], (target * turns[0].inv()).as_rotvec()])
        gap_m, gap_rad = float(np.linalg.norm(error[:3])), float(np.linalg.norm(error[3:]))
        if gap_m + _METRES_PER_RADIAN * gap_rad < best[1] + _METRES_PER_RADIAN * best[2]:
            best = (joints, gap_m, gap_rad)
        linear = (batch[1:, :3, 3] - batch[0, :3, 3]) / delta
        angular = (turns[1:] * turns[0].inv()).as_rotvec() / delta
        jacobian = np.hstack([linear, angular]).T
        square = jacobian @ jacobian.T + _DAMPING * np.eye(6)
        step = jacobian.T @ np.linalg.solve(square, error)
        joints = np.clip(joints + np.clip(step, -0.3, 0.3), robot.limits.lower, robot.limits.upper)
    return best
