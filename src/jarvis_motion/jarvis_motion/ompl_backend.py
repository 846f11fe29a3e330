"""OMPL's RRT-Connect with this project's collision checks; inverse kinematics by damped least squares on Pinocchio.

The fallback beside roboplan: it shares no planner, kinematics or timing library with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray, Pose
from ompl import base, geometric
from ompl import util as ompl_util
from scipy.interpolate import make_interp_spline

from jarvis_motion.boxes import BoxArray
from jarvis_motion.planner import ArmPlanner
from jarvis_motion.world import straight_way

_IK_POSITION_M = 1e-6
_IK_ANGLE_RAD = 1e-5
_IK_ITERATIONS = 60
#: Damping relative to the error: strong far away, where it avoids jumps, and nothing at the goal.
_IK_DAMPING = 1e-2
_IK_LARGEST_STEP_RAD = 0.4
#: Passes of the path smoother, and the distance of points at which its result is timed.
_SMOOTHING = 2
_POINT_RAD = 0.05


class OmplBackend(ArmPlanner):
    """The MotionBackend of OMPL."""

    @property
    def name(self) -> str:
        return "ompl"

    def _prepare(self) -> None:
        # Each search sets the seed anew, which the library takes for a mistake and prints.
        ompl_util.setLogLevel(ompl_util.LOG_NONE)
        full = pinocchio.buildModelFromXML(self._robot.urdf)
        moving = set(self._names)
        locked = [full.getJointId(name) for name in full.names[1:] if name not in moving]
        self._model = pinocchio.buildReducedModel(full, locked, pinocchio.neutral(full))
        self._data = self._model.createData()
        self._frame = self._model.getFrameId(self._robot.config.tool_link)
        self._base = self._model.frames[self._model.getFrameId(self._robot.config.base_link)].placement

    def close(self) -> None:
        """Nothing to give back: the library lives in this process."""

    # -- inverse kinematics

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

    # -- search

    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        config = self._config.rrt
        ompl_util.RNG.setSeed(self._config.seed + attempt + 1)  # 0 would mean a seed of the library's choice
        space = self._space()
        info = base.SpaceInformation(space)
        check = _MotionCheck(info, self, self._world.padded(close), config.step_rad / 2**attempt)
        info.setMotionValidator(check)
        info.setStateValidityChecker(check.valid)
        info.setup()
        problem = base.ProblemDefinition(info)
        problem.setStartAndGoalStates(_state(space, start), _state(space, goal))
        planner = geometric.RRTConnect(info)
        planner.setRange(config.connect_rad)
        planner.setProblemDefinition(problem)
        planner.setup()
        planner.solve(base.PlannerTerminationCondition(lambda: check.count > config.max_nodes))
        if not problem.hasExactSolution():
            return None
        path = problem.getSolutionPath()
        simplifier = geometric.PathSimplifier(info)
        simplifier.partialShortcutPath(path, config.shortcut_iterations, config.shortcut_iterations // 3)
        simplifier.smoothBSpline(path, _SMOOTHING)
        count = len(self._names)
        return np.array([[state[i] for i in range(count)] for state in path.getStates()])

    def _space(self) -> Any:
        limits = self._robot.limits
        space = base.RealVectorStateSpace(len(self._names))
        bounds = base.RealVectorBounds(len(self._names))
        for i, (low, high) in enumerate(zip(limits.lower, limits.upper, strict=True)):
            bounds.setLow(i, float(low))
            bounds.setHigh(i, float(high))
        space.setBounds(bounds)
        return space

    def _around(self, corners: FloatArray, speed: float) -> JointTrajectory:
        """The smoothed way through evenly spaced points, timed with smooth ramps."""
        lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
        corners = corners[np.concatenate([[True], lengths > 1e-9])]
        along = np.concatenate([[0.0], np.cumsum(lengths[lengths > 1e-9])])
        count = max(int(np.ceil(along[-1] / _POINT_RAD)), 2)
        even = make_interp_spline(along, corners, k=1)(np.linspace(0.0, along[-1], count + 1))
        return self._smooth(even, speed)


class _MotionCheck(base.MotionValidator):  # type: ignore[misc]
    """Whether straight ways in joint space are free; all points of a way in one question."""

    def __init__(self, info: Any, planner: OmplBackend, obstacles: BoxArray, step_rad: float) -> None:
        super().__init__(info)
        self._planner = planner
        self._obstacles = obstacles
        self._step_rad = step_rad
        self.count = 0

    def checkMotion(self, first: Any, second: Any, *_: Any) -> bool:  # noqa: N802 - OMPL's name
        """OMPL asks this for every edge."""
        ends = [np.array([state[i] for i in range(len(self._planner._names))]) for state in (first, second)]
        return self._free(straight_way(ends[0], ends[1], self._step_rad))

    def valid(self, state: Any) -> bool:
        """OMPL asks this for single states: start, goal and what smoothing makes."""
        return self._free(np.array([[state[i] for i in range(len(self._planner._names))]]))

    def _free(self, positions: FloatArray) -> bool:
        self.count += 1
        world = self._planner._world
        return world.checker.first_collision(positions, world.width_m, self._obstacles, world.held) is None


def _state(space: Any, joints: FloatArray) -> Any:
    state = space.allocState()
    for i, value in enumerate(joints):
        state[i] = float(value)
    return state
