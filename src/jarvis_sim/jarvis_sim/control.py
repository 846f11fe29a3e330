"""Controller of the arm: fed once per step, asked for its outcome. No physics in here.

The blocking robot (robot.py) and a server that steps the world continuously use the same objects::

    controller.command(...)         # now busy: outcome is None
    setpoint = controller.update(...)   # every step
    controller.outcome              # set when the motion has ended
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from jarvis_core.errors import RefusedError
from jarvis_core.files import decode_hook, encode_hook
from jarvis_core.motion import JointTrajectory, MotionOutcome
from jarvis_core.pose import FloatArray
from jarvis_core.status import Status
from jarvis_robot.model import JointLimits

from jarvis_sim.config import ArmConfig

#: A trajectory's start need not be exactly where the arm stands: the difference fades out in this time.
_BLEND_S = 0.1
#: Planners come as near to a limit as their arithmetic allows.
_LIMIT_SLACK_RAD = 1e-4
#: Share of the acceleration limits used for stopping along the path (the path's own curvature needs some too).
_STOP_SHARE = 0.5
#: Jumps of the path's acceleration are fed forward up to this share of the limits.
_FEED_FORWARD = 1.5


@dataclass(frozen=True, slots=True)
class Setpoint:
    """What the drives are told for one step: (n,) position, velocity and acceleration, rad and seconds."""

    position: FloatArray
    velocity: FloatArray
    acceleration: FloatArray


class _TimedPath:
    """A trajectory as the drives follow it: from where the arm stands, sampled once for every step of time.

    Attributes:
        steps: number of steps to its end.
        positions, velocities: (steps + 1, n) at the end of each step; the first row is the start, at rest.
        accelerations: (steps + 1, n) wanted in each step, limited.
    """

    def __init__(
        self, trajectory: JointTrajectory, offset: FloatArray, limit: FloatArray, timestep_s: float
    ) -> None:
        self._trajectory = trajectory
        self._offset = offset
        self.steps = math.ceil(max(trajectory.duration_s, _BLEND_S) / timestep_s - 1e-9)
        self.positions = self.at(np.arange(self.steps + 1, dtype=np.float64) * timestep_s)
        self.velocities = np.diff(self.positions, axis=0, prepend=self.positions[:1]) / timestep_s
        jumps = np.diff(self.velocities, axis=0, prepend=self.velocities[:1]) / timestep_s
        self.accelerations = np.clip(jumps, -limit, limit)

    def at(self, times_s: FloatArray) -> FloatArray:
        """(k, n) positions at k times: the cubic Hermite, less what is left of the distance from its start."""
        path = self._trajectory
        times = np.clip(times_s, path.times_s[0], path.times_s[-1])
        if len(path.times_s) > 1:
            i = np.clip(np.searchsorted(path.times_s, times, side="right") - 1, 0, len(path.times_s) - 2)
            h = path.times_s[i + 1] - path.times_s[i]
            u = ((times - path.times_s[i]) / h)[:, None]
            rise, h = u * u * (3 - 2 * u), h[:, None]
            ends = (1 - rise) * path.positions[i] + rise * path.positions[i + 1]
            slopes = (1 - u) * path.velocities[i] - u * path.velocities[i + 1]
            positions = ends + h * u * (1 - u) * slopes
        else:
            positions = np.repeat(path.positions, len(times), axis=0)
        fade = np.maximum(0.0, 1.0 - times_s / _BLEND_S)
        positions += fade[:, None] * self._offset
        return positions


class _ArmState(msgspec.Struct):
    phase: str  # idle, running, braking (along the path), stopping (off the path), settling
    hold: list[float]
    path: list[list[list[float]]] = []
    path_s: float = 0.0
    rate: float = 1.0
    offset: list[float] = []
    phase_s: float = 0.0
    speed: list[float] = []
    velocity: list[float] = []
    tolerance: float = 0.0
    ending: tuple[int, str] = (0, "")
    outcome: tuple[int, str] | None = None


class ArmController:
    """Runs one joint trajectory at a time.

    Args:
        names: of the n joints.
        limits: of the n joints; those of acceleration are used for stopping.
    """

    def __init__(
        self, names: tuple[str, ...], limits: JointLimits, config: ArmConfig, timestep_s: float
    ) -> None:
        self._names = names
        self._limits = limits
        self._acceleration = limits.acceleration
        self._jump = _FEED_FORWARD * limits.acceleration
        self._config = config
        self._dt = timestep_s
        self._path: _TimedPath | None = None
        self._hold: FloatArray
        self._velocity: FloatArray
        self._still: Setpoint
        self._enter(_ArmState("idle", [0.0] * len(names)))

    @property
    def busy(self) -> bool:
        return self._state.phase != "idle"

    @property
    def outcome(self) -> MotionOutcome | None:
        """How the last commanded motion ended; None while it runs, or if there was none."""
        ended = self._state.outcome
        return MotionOutcome(Status(ended[0]), ended[1]) if ended is not None else None

    @property
    def desired(self) -> FloatArray:
        """(n,) where the arm should be now."""
        return self._hold.copy()

    def hold(self, joints: FloatArray) -> None:
        """Forget any motion and stand at ``joints``."""
        self._path = None
        self._enter(_ArmState("idle", joints.tolist()))

    def command(self, trajectory: JointTrajectory, goal_tolerance_rad: float | None = None) -> None:
        """Start a trajectory. One that can't be started ends at once, with an outcome that says why.

        Args:
            goal_tolerance_rad: how far from the goal a joint may come to rest, where not the configured
                distance (a motion that is meant to press on something ends before its goal).

        Raises:
            RefusedError: another one is running.
        """
        if self.busy:
            raise RefusedError("the arm is moving", fix="cancel the motion or wait for its end")
        hold = self._hold
        if trajectory.joint_names != self._names:
            self._end(
                Status.EXECUTION_FAILED, f"the trajectory names other joints than {', '.join(self._names)}"
            )
            return
        offset = hold - trajectory.positions[0]
        worst = int(np.argmax(np.abs(offset)))
        if abs(offset[worst]) > self._config.start_tolerance_rad:
            self._end(
                Status.EXECUTION_FAILED,
                f"the trajectory starts {abs(offset[worst]):.3f} rad from where {self._names[worst]} stands",
            )
            return
        beyond = np.maximum(
            trajectory.positions - self._limits.upper, self._limits.lower - trajectory.positions
        ).max(axis=0)
        worst = int(np.argmax(beyond))
        if beyond[worst] > _LIMIT_SLACK_RAD:
            self._end(
                Status.EXECUTION_FAILED,
                f"the trajectory takes {self._names[worst]} {beyond[worst]:.3f} rad beyond its limits",
            )
            return
        path = [
            trajectory.times_s[:, None],
            trajectory.positions,
            trajectory.velocities,
            trajectory.accelerations,
        ]
        tolerance = self._config.settle_tolerance_rad if goal_tolerance_rad is None else goal_tolerance_rad
        path_lists = [array.tolist() for array in path]
        self._path = _TimedPath(trajectory, offset, self._jump, self._dt)
        self._enter(
            _ArmState("running", hold.tolist(), path_lists, offset=offset.tolist(), tolerance=tolerance)
        )

    def cancel(self) -> None:
        """Brake to a standstill on the path; the outcome follows when the arm stands still."""
        if self._state.phase == "running":
            self._state.phase, self._state.phase_s = "braking", 0.0
            here = self._state.path_s
            first, second = self._running_path().at(np.array([here, here + self._dt]))
            self._state.speed = ((second - first) / self._dt).tolist()
            self._state.ending = (int(Status.CANCELED), "canceled; the arm stands still")
        elif self._state.phase == "settling":
            self._state.ending = (int(Status.CANCELED), "canceled; the arm stands still")

    def update(self, joints: FloatArray, speeds: FloatArray) -> Setpoint:
        """Advance one step.

        Args:
            joints, speeds: (n,) measured, rad and rad/s.

        Returns:
            Where the arm should be as the step begins, how fast, and how it should accelerate.
        """
        state = self._state
        if state.phase == "idle":
            return self._still
        if state.phase == "running":
            return self._run(joints, speeds)
        before, moving = self._hold, self._velocity
        if state.phase == "braking":
            desired = self._brake()
        elif state.phase == "stopping":
            desired = self._off_path()
        else:
            desired = before
        state.phase_s += self._dt
        self._hold = desired
        if state.phase == "braking":
            self._watch_path(joints, speeds, desired)
        elif state.phase == "settling":
            self._watch_settling(joints, speeds, desired)
        # A motion that ended, or was stopped where the arm is, has another place to hold by now.
        velocity = (self._hold - before) / self._dt
        self._velocity = velocity
        return Setpoint(before, moving, np.clip((velocity - moving) / self._dt, -self._jump, self._jump))

    def save(self) -> Any:
        self._state.hold, self._state.velocity = self._hold.tolist(), self._velocity.tolist()
        return msgspec.to_builtins(self._state, enc_hook=encode_hook)

    def load(self, saved: Any) -> None:
        state = msgspec.convert(saved, _ArmState, dec_hook=decode_hook)
        self._path = None
        if state.path:
            times, *rest = (np.array(part) for part in state.path)
            trajectory = JointTrajectory(self._names, times[:, 0], *rest)
            self._path = _TimedPath(trajectory, np.array(state.offset), self._jump, self._dt)
        self._enter(state)

    def _enter(self, state: _ArmState) -> None:
        self._state = state
        self._hold = np.array(state.hold)
        zero = np.zeros_like(self._hold)
        self._velocity = np.array(state.velocity) if state.velocity else zero
        self._still = Setpoint(self._hold, zero, zero)

    def _running_path(self) -> _TimedPath:
        if self._path is None:
            raise AssertionError("a moving arm has a path")
        return self._path

    def _run(self, joints: FloatArray, speeds: FloatArray) -> Setpoint:
        """The next step along the path; nothing is computed that does not depend on what was measured."""
        state, path = self._state, self._running_path()
        k = round(state.path_s / self._dt) + 1
        setpoint = Setpoint(path.positions[k - 1], self._velocity, path.accelerations[k])
        state.path_s = k * self._dt
        state.phase_s += self._dt
        self._hold, self._velocity = path.positions[k], path.velocities[k]
        if k >= path.steps:
            self._settle((int(Status.SUCCEEDED), "at the goal"))
        else:
            self._watch_path(joints, speeds, self._hold)
        return setpoint

    def _brake(self) -> FloatArray:
        """The next point of the path; the way along it slows down to nothing."""
        state = self._state
        needed = np.abs(np.array(state.speed)) / (_STOP_SHARE * self._acceleration)
        duration = max(self._config.stop_s, float(needed.max()))
        state.rate = max(0.0, 1.0 - state.phase_s / duration)
        state.path_s += state.rate * self._dt
        path = self._running_path()
        if state.rate <= 0.0 or state.path_s >= path.steps * self._dt:
            self._settle(state.ending)
        desired: FloatArray = path.at(np.array([state.path_s]))[0]
        return desired

    def _off_path(self) -> FloatArray:
        """Each joint decelerates by itself."""
        state = self._state
        speed, hold = np.array(state.speed), self._hold
        slower = np.sign(speed) * np.maximum(np.abs(speed) - self._acceleration * self._dt, 0.0)
        state.speed = slower.tolist()
        if not slower.any():
            self._settle(state.ending)
        desired: FloatArray = hold + slower * self._dt
        return desired

    def _watch_path(self, joints: FloatArray, speeds: FloatArray, desired: FloatArray) -> None:
        off, most = joints - desired, self._config.path_tolerance_rad
        if off.dot(off) <= most * most:
            return
        error = np.abs(off)
        worst = int(np.argmax(error))
        if error[worst] > most:
            state = self._state
            self._hold, state.speed = joints.copy(), speeds.tolist()
            state.phase, state.phase_s = "stopping", 0.0
            reason = f"{self._names[worst]} is {error[worst]:.3f} rad off its path: something blocks the arm"
            state.ending = (int(Status.EXECUTION_FAILED), f"{reason}; stopped")

    def _settle(self, ending: tuple[int, str]) -> None:
        self._state.phase, self._state.phase_s, self._state.ending = "settling", 0.0, ending

    def _watch_settling(self, joints: FloatArray, speeds: FloatArray, desired: FloatArray) -> None:
        error, config = np.abs(joints - desired), self._config
        still = float(np.abs(speeds).max()) <= config.settle_speed_rad_s
        status, message = self._state.ending
        if still and (status != Status.SUCCEEDED or float(error.max()) <= self._state.tolerance):
            self._end(Status(status), message)
        elif self._state.phase_s > config.settle_timeout_s:
            worst = int(np.argmax(error))
            self._end(
                Status.EXECUTION_FAILED,
                f"{self._names[worst]} came to rest {error[worst]:.4f} rad from the goal: something blocks the arm",
            )

    def _end(self, status: Status, message: str) -> None:
        self._path = None
        self._enter(_ArmState("idle", self._hold.tolist(), outcome=(int(status), message)))
