"""Joint positions for a tool pose: where to start looking, and which of several to prefer."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seeds import generator
from jarvis_robot.model import RobotModel

from jarvis_motion.config import MotionConfig

Solver = Callable[[Pose, FloatArray], FloatArray | None]
#: Turns of the tool for which seeds of inverse kinematics are prepared, and random starts for each.
_TURNS = 8
_TRIES = 8


class GoalSeeds:
    """Seeds for inverse kinematics: the named positions, and the ready one with the tool turned about its axis.

    Of several joint positions for one turn the one farthest from joint limits is kept.
    """

    def __init__(self, robot: RobotModel, config: MotionConfig, solve: Solver) -> None:
        self._robot = robot
        self._config = config
        self._solve = solve
        self._seeds = [(seed, robot.tool(seed)) for seed in self._spread()]

    def near(self, tool: Pose) -> list[FloatArray]:
        """The seeds, those with a similar orientation of the tool first."""
        return [seed for seed, _ in sorted(self._seeds, key=lambda s: s[1].angle_to(tool))]

    def goals(self, start: FloatArray, tool: Pose) -> list[FloatArray]:
        """Different joint positions for a tool pose, best first: near the start, far from joint limits."""
        found: list[FloatArray] = []
        for seed in (start, *self.near(tool)):
            q = self._solve(tool, seed)
            if q is not None and all(np.abs(q - other).max() > 0.05 for other in found):
                found.append(q)
            if len(found) == self._config.ik_candidates:
                break
        return sorted(found, key=lambda q: self._cost_s(start, q))

    def _cost_s(self, start: FloatArray, goal: FloatArray) -> float:
        penalty = self._config.limit_penalty_s if self._room(goal) < self._config.limit_margin_rad else 0.0
        return float((np.abs(goal - start) / self._robot.limits.velocity).max()) + penalty

    def _room(self, joints: FloatArray) -> float:
        """Distance of the joint closest to a limit from it, rad."""
        limits = self._robot.limits
        return float(np.minimum(joints - limits.lower, limits.upper - joints).min())

    def _spread(self) -> list[FloatArray]:
        limits, config = self._robot.limits, self._robot.config
        rng = generator(self._config.seed, "motion", "ik-seeds")
        ready, tool = np.array(config.ready_rad), self._robot.tool(np.array(config.ready_rad))
        seeds = [ready, np.array(config.home_rad)]
        for turn in np.arange(1, _TURNS) * 2 * np.pi / _TURNS:
            goal = tool @ Pose.from_yaw((0.0, 0.0, 0.0), float(turn))
            starts = [ready, *(ready + rng.normal(0.0, 0.7, (_TRIES, len(ready))))]
            found = [self._solve(goal, np.clip(s, limits.lower, limits.upper)) for s in starts]
            seeds += sorted((q for q in found if q is not None), key=self._room)[-1:]
        return seeds
