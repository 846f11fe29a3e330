"""OMPL's RRT-Connect with this project's collision checks; inverse kinematics by Pinocchio.

The fallback beside roboplan: it shares no planner, kinematics or timing library with it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jarvis_core.pose import FloatArray
from ompl import base, geometric
from ompl import util as ompl_util

from jarvis_motion.boxes import BoxArray
from jarvis_motion.way_planner import POINT_RAD, WayPlanner
from jarvis_motion.waypoints import evenly
from jarvis_motion.world import straight_way

#: Passes of the path smoother.
_SMOOTHING = 2


class OmplBackend(WayPlanner):
    """The MotionBackend of OMPL."""

    @property
    def name(self) -> str:
        return "ompl"

    def _prepare(self) -> None:
        super()._prepare()
        # Each search sets the seed anew, which the library takes for a mistake and prints.
        ompl_util.setLogLevel(ompl_util.LOG_NONE)

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
        corners = np.array([[state[i] for i in range(count)] for state in path.getStates()])
        return evenly(corners, POINT_RAD)

    def _space(self) -> Any:
        limits = self._robot.limits
        space = base.RealVectorStateSpace(len(self._names))
        bounds = base.RealVectorBounds(len(self._names))
        for i, (low, high) in enumerate(zip(limits.lower, limits.upper, strict=True)):
            bounds.setLow(i, float(low))
            bounds.setHigh(i, float(high))
        space.setBounds(bounds)
        return space


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
