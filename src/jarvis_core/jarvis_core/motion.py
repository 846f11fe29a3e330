"""Joint trajectories and what became of them."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from jarvis_core.observation import Wrench
from jarvis_core.pose import FloatArray
from jarvis_core.status import Status


@dataclass(frozen=True, slots=True)
class JointTrajectory:
    """A timed path of the arm's joints.

    Attributes:
        joint_names: n names.
        times_s: (k,) strictly increasing, starting at 0.
        positions: (k, n) rad.
        velocities: (k, n) rad/s.
        accelerations: (k, n) rad/s^2.

    Raises:
        ValueError: shapes disagree, a value is not finite or time does not increase.
    """

    joint_names: tuple[str, ...]
    times_s: FloatArray
    positions: FloatArray
    velocities: FloatArray
    accelerations: FloatArray

    def __post_init__(self) -> None:
        shape = (len(self.times_s), len(self.joint_names))
        for name in ("positions", "velocities", "accelerations"):
            array = getattr(self, name)
            if array.shape != shape:
                raise ValueError(f"{name} has shape {array.shape}, expected {shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} holds a value that is not finite")
        if shape[0] == 0 or not np.isfinite(self.times_s).all():
            raise ValueError("a trajectory needs at least one point and finite times")
        if self.times_s[0] < 0 or (np.diff(self.times_s) <= 0).any():
            raise ValueError("trajectory times must be >= 0 and increase strictly")

    @property
    def duration_s(self) -> float:
        return float(self.times_s[-1])

    def sample(self, time_s: float) -> FloatArray:
        """(n,) joint positions at a time, by the cubic Hermite through positions and velocities."""
        t = min(max(time_s, float(self.times_s[0])), float(self.times_s[-1]))
        i = int(np.searchsorted(self.times_s, t, side="right")) - 1
        if i >= len(self.times_s) - 1:
            return np.array(self.positions[-1])
        h = float(self.times_s[i + 1] - self.times_s[i])
        u = (t - float(self.times_s[i])) / h
        p0, p1 = self.positions[i], self.positions[i + 1]
        v0, v1 = self.velocities[i] * h, self.velocities[i + 1] * h
        a, b = 2 * u**3 - 3 * u**2 + 1, u**3 - 2 * u**2 + u
        c, d = -2 * u**3 + 3 * u**2, u**3 - u**2
        position: FloatArray = a * p0 + b * v0 + c * p1 + d * v1
        return position


class Cancellation:
    """A request to stop, set from one thread and watched by another."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        self._event.set()

    @property
    def requested(self) -> bool:
        return self._event.is_set()


@dataclass(frozen=True, slots=True)
class ForceLimit:
    """Where a guarded motion ends: at this force of the surroundings along a direction.

    Attributes:
        direction: unit vector in ``world``: (0, 0, 1) when pressing down, (0, 0, -1) when pulling up.
        newton: the force, more than 0.
    """

    direction: tuple[float, float, float]
    newton: float

    def along(self, wrench: Wrench) -> float:
        """The wrench's force along the direction, newton."""
        return sum(d * f for d, f in zip(self.direction, wrench.force_n, strict=True))

    def reached(self, wrench: Wrench) -> bool:
        return self.along(wrench) >= self.newton


@dataclass(frozen=True, slots=True)
class MotionOutcome:
    """How a trajectory ended: SUCCEEDED, EXECUTION_FAILED, CANCELED (standing still) or TIMED_OUT.

    Attributes:
        guarded: it was stopped by its force limit, which is a success.
    """

    status: Status
    message: str
    guarded: bool = False


def no_wrench() -> MotionOutcome:
    """Of a guarded motion on a robot without a wrench: it does not begin."""
    return MotionOutcome(Status.EXECUTION_FAILED, "the robot tells no wrench, so no force can be limited")


def stopped_by_force(outcome: MotionOutcome, guarded: bool, cancel: Cancellation | None) -> MotionOutcome:
    """How a guarded motion ended: braking at the limit looks like a cancel to a controller, which it is not."""
    asked = cancel is not None and cancel.requested
    if guarded and not asked and outcome.status in (Status.CANCELED, Status.SUCCEEDED):
        return MotionOutcome(Status.SUCCEEDED, "stopped at the force limit", guarded=True)
    return outcome


@dataclass(frozen=True, slots=True)
class GripperOutcome:
    """How a gripper command ended.

    Attributes:
        width_m: distance between the pads, measured.
        stalled: the fingers stopped on something before the commanded width.
    """

    status: Status
    message: str
    width_m: float
    stalled: bool
