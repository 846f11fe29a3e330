"""Controllers of arm and gripper: fed once per step, asked for their outcome. No physics in here.

The blocking robot (robot.py) and a server that steps the world continuously use the same objects::

    controller.command(...)         # now busy: outcome is None
    setpoint = controller.update(...)   # every step
    controller.outcome              # set when the motion has ended
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from jarvis_core.errors import RefusedError
from jarvis_core.files import decode_hook, encode_hook
from jarvis_core.motion import GripperOutcome, JointTrajectory, MotionOutcome
from jarvis_core.pose import FloatArray
from jarvis_core.status import Status
from jarvis_robot.model import JointLimits

from jarvis_sim.config import ArmConfig, GripperDriveConfig

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
        self._config = config
        self._dt = timestep_s
        self._trajectory: JointTrajectory | None = None
        self._state = _ArmState("idle", [0.0] * len(names))

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
        return np.array(self._state.hold)

    def hold(self, joints: FloatArray) -> None:
        """Forget any motion and stand at ``joints``."""
        self._trajectory = None
        self._state = _ArmState("idle", joints.tolist())

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
        hold = self._state.hold
        if trajectory.joint_names != self._names:
            self._end(
                Status.EXECUTION_FAILED, f"the trajectory names other joints than {', '.join(self._names)}"
            )
            return
        offset = np.array(hold) - trajectory.positions[0]
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
        self._trajectory = trajectory
        path = [
            trajectory.times_s[:, None],
            trajectory.positions,
            trajectory.velocities,
            trajectory.accelerations,
        ]
        tolerance = self._config.settle_tolerance_rad if goal_tolerance_rad is None else goal_tolerance_rad
        path_lists = [array.tolist() for array in path]
        self._state = _ArmState("running", hold, path_lists, offset=offset.tolist(), tolerance=tolerance)

    def cancel(self) -> None:
        """Brake to a standstill on the path; the outcome follows when the arm stands still."""
        if self._state.phase == "running":
            self._state.phase, self._state.phase_s = "braking", 0.0
            self._state.speed = self._path_speed(self._state.path_s).tolist()
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
        before = np.array(state.hold)
        if state.phase == "idle":
            return Setpoint(before, np.zeros_like(before), np.zeros_like(before))
        if state.phase in ("running", "braking"):
            desired = self._along_path()
        elif state.phase == "stopping":
            desired = self._off_path()
        else:
            desired = before
        state.phase_s += self._dt
        state.hold = desired.tolist()
        if state.phase in ("running", "braking"):
            self._watch_path(joints, speeds, desired)
        elif state.phase == "settling":
            self._watch_settling(joints, speeds, desired)
        # The state may be a new one by now: a motion that ended stands still.
        moving = np.array(state.velocity or np.zeros_like(before))
        velocity = (np.array(self._state.hold) - before) / self._dt
        self._state.velocity = velocity.tolist()
        limit = _FEED_FORWARD * self._acceleration
        return Setpoint(before, moving, np.clip((velocity - moving) / self._dt, -limit, limit))

    def save(self) -> Any:
        return msgspec.to_builtins(self._state, enc_hook=encode_hook)

    def load(self, saved: Any) -> None:
        self._state = msgspec.convert(saved, _ArmState, dec_hook=decode_hook)
        self._trajectory = None
        if self._state.path:
            times, *rest = (np.array(part) for part in self._state.path)
            self._trajectory = JointTrajectory(self._names, times[:, 0], *rest)

    def _path(self) -> JointTrajectory:
        if self._trajectory is None:
            raise AssertionError("a moving arm has a trajectory")
        return self._trajectory

    def _path_speed(self, path_s: float) -> FloatArray:
        ahead = self._path().sample(path_s + self._dt)
        speed: FloatArray = (ahead - self._path().sample(path_s)) / self._dt
        return speed

    def _along_path(self) -> FloatArray:
        """The next point of the path; braking slows the way along it down to nothing."""
        state = self._state
        if state.phase == "braking":
            needed = np.abs(np.array(state.speed)) / (_STOP_SHARE * self._acceleration)
            duration = max(self._config.stop_s, float(needed.max()))
            state.rate = max(0.0, 1.0 - state.phase_s / duration)
        state.path_s += state.rate * self._dt
        desired = self._path().sample(state.path_s)
        fade = max(0.0, 1.0 - state.path_s / _BLEND_S)
        if fade > 0.0:
            desired = desired + fade * np.array(state.offset)
        if state.path_s >= self._path().duration_s and state.path_s >= _BLEND_S:
            self._settle(state.ending if state.phase == "braking" else (int(Status.SUCCEEDED), "at the goal"))
        elif state.phase == "braking" and state.rate <= 0.0:
            self._settle(state.ending)
        return desired

    def _off_path(self) -> FloatArray:
        """Each joint decelerates by itself."""
        state = self._state
        speed, hold = np.array(state.speed), np.array(state.hold)
        slower = np.sign(speed) * np.maximum(np.abs(speed) - self._acceleration * self._dt, 0.0)
        state.speed = slower.tolist()
        if not slower.any():
            self._settle(state.ending)
        desired: FloatArray = hold + slower * self._dt
        return desired

    def _watch_path(self, joints: FloatArray, speeds: FloatArray, desired: FloatArray) -> None:
        error = np.abs(joints - desired)
        worst = int(np.argmax(error))
        if error[worst] > self._config.path_tolerance_rad:
            state = self._state
            state.hold, state.speed = joints.tolist(), speeds.tolist()
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
        self._trajectory = None
        self._state = _ArmState("idle", self._state.hold, outcome=(int(status), message))


class _GripperState(msgspec.Struct):
    phase: str  # holding (a width), moving, squeezing (with a force)
    target: float
    desired: float
    force: float
    phase_s: float = 0.0
    still_s: float = 0.0
    outcome: tuple[int, str, float, bool] | None = None


class GripperController:
    """Moves the fingers to a width, or until they stop on something, which they then squeeze.

    Args:
        max_width_m: opening of the gripper.
        force_n: of each finger, at most; the force the fingers hold a width with after a reset.
        finger_speed_m_s: no finger moves faster.
    """

    def __init__(
        self,
        max_width_m: float,
        force_n: float,
        finger_speed_m_s: float,
        config: GripperDriveConfig,
        timestep_s: float,
    ) -> None:
        self._max_width = max_width_m
        self._max_force = force_n
        self._rate = 2.0 * finger_speed_m_s
        self._config = config
        self._dt = timestep_s
        self._state = _GripperState("holding", 0.0, 0.0, force_n)

    @property
    def busy(self) -> bool:
        return self._state.phase == "moving"

    @property
    def outcome(self) -> GripperOutcome | None:
        """How the last command ended; None while it runs, or if there was none."""
        ended = self._state.outcome
        return GripperOutcome(Status(ended[0]), ended[1], ended[2], ended[3]) if ended is not None else None

    def hold(self, width_m: float) -> None:
        """Forget any command and stand at a width."""
        self._state = _GripperState("holding", width_m, width_m, self._max_force)

    def command(self, width_m: float, force_n: float, measured_m: float) -> None:
        """Start towards a width (limited to what the gripper can do), with at most ``force_n`` per finger.

        Raises:
            RefusedError: another command is running.
        """
        if self.busy:
            raise RefusedError("the gripper is moving", fix="cancel the command or wait for its end")
        width = min(max(width_m, 0.0), self._max_width)
        self._state = _GripperState("moving", width, measured_m, min(max(force_n, 0.0), self._max_force))

    def cancel(self, measured_m: float) -> None:
        """Stop where the fingers are."""
        if self.busy:
            self._end(Status.CANCELED, "canceled; the fingers stand still", measured_m, False, "holding")
            self._state.target = self._state.desired = measured_m

    def update(self, width_m: float, speed_m_s: float) -> float:
        """Advance one step with the measured width and its rate; gives the drive's setpoint in metres."""
        state, config = self._state, self._config
        reach = state.force / config.kp  # a drive this far from its setpoint pushes with the allowed force
        if state.phase == "squeezing":
            return width_m - reach
        lead = 0.0
        if state.phase == "moving":
            step = float(np.clip(state.target - state.desired, -self._rate * self._dt, self._rate * self._dt))
            state.desired += step
            lead = config.kv / config.kp * step / self._dt
            self._watch(width_m, speed_m_s)
        return float(np.clip(state.desired + lead, width_m - reach, width_m + reach))

    def save(self) -> Any:
        return msgspec.to_builtins(self._state)

    def load(self, saved: Any) -> None:
        self._state = msgspec.convert(saved, _GripperState)

    def _watch(self, width: float, speed: float) -> None:
        state, config = self._state, self._config
        state.phase_s += self._dt
        state.still_s = state.still_s + self._dt if abs(speed) < config.stall_speed_m_s else 0.0
        closing = state.desired < width
        near = abs(width - state.target) <= config.reach_tolerance_m
        if near and state.still_s > 0.0 and state.desired == state.target:
            self._end(Status.SUCCEEDED, f"opening is {width * 1000:.1f} mm", width, False, "holding")
        elif state.still_s >= config.stall_s and abs(state.desired - width) > config.reach_tolerance_m:
            if closing:
                message = f"stopped on something {width * 1000:.1f} mm wide"
                self._end(Status.SUCCEEDED, message, width, True, "squeezing")
            else:
                message = f"something keeps the fingers from opening beyond {width * 1000:.1f} mm"
                self._end(Status.EXECUTION_FAILED, message, width, True, "holding")
        elif state.phase_s > config.timeout_s:
            message = f"the fingers did not come to rest within {config.timeout_s:g} s"
            self._end(Status.TIMED_OUT, message, width, False, "holding")

    def _end(self, status: Status, message: str, width: float, stalled: bool, phase: str) -> None:
        self._state.phase = phase
        self._state.outcome = (int(status), message, width, stalled)
