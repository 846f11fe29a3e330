"""What stands between a plan and a real arm: caps, the workspace box, a person's confirmation, the emergency stop."""

from __future__ import annotations

import dataclasses

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray
from jarvis_motion.checks import dense_positions, limit_faults, stretch_needed, stretched
from jarvis_robot.model import RobotModel

from jarvis_panda.config import RealRobotConfig

#: The tool is looked at whenever a joint has moved by this much: 2 cm at an arm's length of 1 m.
_STEP_RAD = 0.02
_TOUCH_M = 1e-6


class Guard:
    """Judges trajectories and remembers whether anything may move at all. Not thread-safe: one owner.

    Attributes:
        confirmed: a person has said that the arm may move.
        stopped: why nothing may move until ``reset``; empty when it may. The first reason stays.
    """

    def __init__(self, robot: RobotModel, config: RealRobotConfig) -> None:
        self._robot = robot
        self._config = config
        self.confirmed = not config.confirm_first
        self.stopped = ""
        limits = robot.limits
        self._caps = dataclasses.replace(
            limits,
            velocity=limits.velocity * config.velocity_share,
            acceleration=limits.acceleration * config.acceleration_share,
            jerk=limits.jerk * config.jerk_share,
        )

    def confirm(self) -> None:
        """A person stands by and lets the arm move."""
        self.confirmed = True

    def stop(self, reason: str) -> None:
        """Nothing moves any more."""
        self.stopped = self.stopped or reason

    def reset(self) -> None:
        """The reason for the stop is gone; a person has to confirm anew where that is asked for."""
        self.stopped = ""
        self.confirmed = not self._config.confirm_first

    def refusal(self) -> str:
        """Why nothing may move now, in words; empty if it may."""
        if self.stopped:
            return f"stopped: {self.stopped} (call /panda/reset when it is safe)"
        if not self.confirmed:
            return "nobody has confirmed the first motion (call /panda/confirm, hand on the emergency stop)"
        return ""

    def judge(self, trajectory: JointTrajectory, measured: FloatArray) -> tuple[str, ...]:
        """Why a trajectory must not run, one sentence a fault; nothing if it may (slowed down, see ``capped``).

        Args:
            measured: (n,) where the joints are.
        """
        refusal = self.refusal()
        if refusal:
            return (refusal,)
        if trajectory.joint_names != tuple(self._robot.config.arm_joints):
            return (f"it moves {', '.join(trajectory.joint_names)}",)
        faults = limit_faults(self.capped(trajectory), self._robot.limits)
        away = np.abs(trajectory.positions[0] - measured)
        if away.max() > self._config.start_tolerance_rad:
            name = trajectory.joint_names[int(away.argmax())]
            faults.append(f"it starts {away.max():.3f} rad from where {name} is")
        return (*faults, *self._outside(trajectory))

    def capped(self, trajectory: JointTrajectory) -> JointTrajectory:
        """The same path, in more time where it was faster than the caps."""
        factor = stretch_needed(trajectory, self._caps)
        return stretched(trajectory, factor) if factor > 1.0 else trajectory

    def force(self, wanted_n: float) -> float:
        """The grip force, cut down to the cap."""
        return min(max(wanted_n, 0.0), self._config.max_force_n)

    def _outside(self, trajectory: JointTrajectory) -> list[str]:
        """Where the tool leaves the workspace box. A tool that starts outside may come in, not go further out."""
        box = self._config.workspace_m
        low, high = np.array([box.x, box.y, box.z]).T
        tools = self._robot.tool_matrices(dense_positions(trajectory, _STEP_RAD))[:, :3, 3]
        beyond = np.maximum(np.maximum(low - tools, tools - high), 0.0).max(axis=1)
        came_in = beyond[-1] <= _TOUCH_M
        if beyond.max() <= (beyond[0] if came_in else 0.0) + _TOUCH_M:
            return []
        where = ", ".join(f"{v:.3f}" for v in tools[int(beyond.argmax())])
        return [f"the tool would be {beyond.max() * 1000:.0f} mm outside the workspace at ({where})"]
