"""What backends share whose library only searches: kinematics by Pinocchio, ways tidied and timed here."""

from __future__ import annotations

import numpy as np
import pinocchio
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seeds import generator

from jarvis_motion.planner import ArmPlanner
from jarvis_motion.waypoints import between, evenly, rounded, shortcut

#: Accuracy of inverse kinematics: ten times better than promised.
_IK_POSITION_M = 1e-6
_IK_ANGLE_RAD = 1e-5
_IK_ITERATIONS = 60
#: Damping relative to the error: strong far away, where it avoids jumps, and nothing at the goal.
_IK_DAMPING = 1e-2
_IK_LARGEST_STEP_RAD = 0.4
#: The distance of the points through which a way is timed.
POINT_RAD = 0.05
#: Distances of points and numbers of neighbours with which corners are rounded: the first that is free counts.
_ROUNDINGS = (
    (POINT_RAD, 8),
    (POINT_RAD, 4),
    (POINT_RAD, 2),
    (POINT_RAD, 1),
    (POINT_RAD / 4, 2),
    (POINT_RAD / 4, 1),
)


class WayPlanner(ArmPlanner):
    """A MotionBackend but for ``name`` and ``_search``; ``_prepare`` may be extended."""

    def _prepare(self) -> None:
        full = pinocchio.buildModelFromXML(self._robot.urdf)
        moving = set(self._names)
        locked = [full.getJointId(name) for name in full.names[1:] if name not in moving]
        self._model = pinocchio.buildReducedModel(full, locked, pinocchio.neutral(full))
        self._data = self._model.createData()
        self._frame = self._model.getFrameId(self._robot.config.tool_link)
        self._base = self._model.frames[self._model.getFrameId(self._robot.config.base_link)].placement

    def close(self) -> None:
        """Nothing to give back: the library lives in this process."""

    def _solve(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        """Levenberg-Marquardt steps clamped to the joint ranges (Sugihara, IEEE T-RO 27(5), 2011)."""
        limits = self._robot.limits
        goal = self._base * pinocchio.SE3(tool.rotation, tool.position)
        q = np.clip(np.asarray(seed, dtype=np.float64), limits.lower, limits.upper)
        for _ in range(_IK_ITERATIONS):
            pinocchio.forwardKinematics(self._model, self._data, q)
            pinocchio.updateFramePlacement(self._model, self._data, self._frame)
            error = pinocchio.log6(self._data.oMf[self._frame].actInv(goal)).vector
            if np.linalg.norm(error[:3]) < _IK_POSITION_M and np.linalg.norm(error[3:]) < _IK_ANGLE_RAD:
                return q
            jacobian = pinocchio.computeFrameJacobian(
                self._model, self._data, q, self._frame, pinocchio.LOCAL
            )
            square = jacobian @ jacobian.T + _IK_DAMPING * float(error @ error) * np.eye(6)
            step = jacobian.T @ np.linalg.solve(square + 1e-12 * np.eye(6), error)
            largest = float(np.abs(step).max())
            q = np.clip(q + step * min(1.0, _IK_LARGEST_STEP_RAD / largest), limits.lower, limits.upper)
        return None

    def _around(self, corners: FloatArray, speed: float) -> JointTrajectory:
        """The smooth way through evenly spaced points, timed with smooth ramps."""
        return self._smooth(corners, speed)

    def _tidied(
        self, start: FloatArray, way: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray:
        """A library's (k, n) way, tied to its exact ends: shortened, rounded, evenly spaced."""
        config, world = self._config.rrt, self._world
        step = config.step_rad / 2**attempt
        corners = np.vstack([start, way, goal])
        rng = generator(self._config.seed + attempt, "motion", "shortcuts")
        short = shortcut(
            corners, lambda a, b: world.way_is_free(a, b, close, step), config.shortcut_iterations, rng
        )
        ways = [
            rounded(evenly(w, spacing), window) for w in (short, corners) for spacing, window in _ROUNDINGS
        ]
        return next((w for w in ways if world.first_contact(between(w, step)) is None), ways[-1])
