"""Checks of trajectories in plain numpy, the same for every motion backend.

A trajectory is judged as it is executed: as the cubic Hermite through its points (``JointTrajectory.sample``),
not by the velocities and accelerations that a library wrote beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray
from jarvis_robot.model import JointLimits


@dataclass(frozen=True, slots=True)
class Peaks:
    """Largest magnitudes along a trajectory and when they occur.

    Attributes:
        velocity, acceleration, jerk: (n,) rad/s, rad/s^2 and rad/s^3.
        velocity_s, acceleration_s, jerk_s: (n,) start of the segment in which each occurs, seconds.
    """

    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray
    velocity_s: FloatArray
    acceleration_s: FloatArray
    jerk_s: FloatArray


def peaks(trajectory: JointTrajectory) -> Peaks:
    """Exact peaks of velocity and acceleration of the cubic Hermite through the points, and of its jerk.

    Acceleration is linear between points and jumps a little at them. Jerk is its slope, and a jump counts as if
    it took as long as the mean of the neighbouring segments; from and to rest, as the first and last segment.
    """
    if len(trajectory.times_s) < 2:
        zeros = np.zeros(len(trajectory.joint_names))
        return Peaks(np.abs(trajectory.velocities[0]), zeros, zeros, zeros, zeros, zeros)
    times, h = trajectory.times_s, np.diff(trajectory.times_s)[:, None]
    velocity, a0, a1 = _segments(trajectory)
    still = np.zeros((1, a0.shape[1]))
    jumps = np.abs(np.vstack([a0, still]) - np.vstack([still, a1]))
    around = np.vstack([h[:1], (h[:-1] + h[1:]) / 2, h[-1:]])
    jerk = np.maximum(np.abs(a1 - a0) / h, (jumps / around)[:-1])
    jerk[-1] = np.maximum(jerk[-1], (jumps / around)[-1])
    found = (velocity, np.maximum(np.abs(a0), np.abs(a1)), jerk)
    return Peaks(*(x.max(axis=0) for x in found), *(times[x.argmax(axis=0)] for x in found))


def _segments(trajectory: JointTrajectory) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(k - 1, n) largest speed in each segment, and acceleration at its start and end.

    Speed peaks at an end or where acceleration is 0.
    """
    h = np.diff(trajectory.times_s)[:, None]
    slope = np.diff(trajectory.positions, axis=0) / h
    v0, v1 = trajectory.velocities[:-1], trajectory.velocities[1:]
    a0 = (6 * slope - 4 * v0 - 2 * v1) / h
    a1 = (-6 * slope + 2 * v0 + 4 * v1) / h
    change = a1 - a0
    u = np.clip(np.divide(-a0, change, out=np.zeros_like(a0), where=np.abs(change) > 1e-12), 0.0, 1.0)
    inner = v0 + h * (a0 * u + change * u**2 / 2)
    return np.maximum.reduce([np.abs(v0), np.abs(v1), np.abs(inner)]), a0, a1


def stretch_needed(trajectory: JointTrajectory, limits: JointLimits) -> float:
    """Factor >= 1 on time after which a trajectory keeps limits of velocity, acceleration and jerk."""
    found = peaks(trajectory)
    by_velocity = float((found.velocity / limits.velocity).max())
    by_acceleration = float(np.sqrt((found.acceleration / limits.acceleration).max()))
    by_jerk = float(np.cbrt((found.jerk / limits.jerk).max()))
    return max(1.0, by_velocity, by_acceleration, by_jerk)


def stretched(trajectory: JointTrajectory, factor: float) -> JointTrajectory:
    """The same path in ``factor`` times the time."""
    return JointTrajectory(
        trajectory.joint_names,
        trajectory.times_s * factor,
        trajectory.positions,
        trajectory.velocities / factor,
        trajectory.accelerations / factor**2,
    )


def limit_faults(trajectory: JointTrajectory, limits: JointLimits, *, share: float = 1e-3) -> list[str]:
    """Sentences naming joints beyond their limits (by more than ``share`` of them); none if all is well."""
    found = peaks(trajectory)
    kinds = (
        ("moves at {:.3f} rad/s", found.velocity, found.velocity_s, limits.velocity),
        ("accelerates by {:.2f} rad/s^2", found.acceleration, found.acceleration_s, limits.acceleration),
        ("jerks by {:.0f} rad/s^3", found.jerk, found.jerk_s, limits.jerk),
    )
    return _range_faults(trajectory, limits) + [
        f"{name} {words.format(peak[i])} at {when[i]:.2f} s, limit {most[i]:g}"
        for i, name in enumerate(trajectory.joint_names)
        for words, peak, when, most in kinds
        if peak[i] > most[i] * (1 + share)
    ]


def _range_faults(trajectory: JointTrajectory, limits: JointLimits) -> list[str]:
    swing = _largest_swing(trajectory)
    p, lower, upper = trajectory.positions, limits.lower - 1e-6, limits.upper + 1e-6
    if (p.min(axis=0) - swing >= lower).all() and (p.max(axis=0) + swing <= upper).all():
        return []
    low, high = extremes(trajectory)
    return [
        f"{name} leaves its range: {low[i]:.4f} to {high[i]:.4f} rad"
        for i, name in enumerate(trajectory.joint_names)
        if low[i] < lower[i] or high[i] > upper[i]
    ]


def _largest_swing(trajectory: JointTrajectory) -> FloatArray:
    """(n,) how far beyond its points a trajectory may go at most: a tenth of the work of ``extremes``."""
    h, speed = np.diff(trajectory.times_s)[:, None], np.abs(trajectory.velocities)
    # A cubic Hermite is a mean of both positions and (u - 2 u^2 + u^3) h v0 + (u^3 - u^2) h v1, which peak at 4/27.
    swing: FloatArray = (4.0 / 27.0 * h * (speed[:-1] + speed[1:])).max(axis=0, initial=0.0)
    return swing


def extremes(trajectory: JointTrajectory) -> tuple[FloatArray, FloatArray]:
    """(n,) smallest and largest positions of the cubic Hermite through the points, exactly."""
    p, v = trajectory.positions, trajectory.velocities
    if len(p) < 2:
        return p[0], p[0]
    h = np.diff(trajectory.times_s)[:, None]
    _, a0, a1 = _segments(trajectory)
    # Speed is v0 + h (a0 u + (a1 - a0) u^2 / 2) for u in [0, 1]; where it is 0 a position may be extreme. The roots
    # come by the form that loses no digits; a segment that has none gives nan, whose place its start may take.
    a, b, c = h * (a1 - a0) / 2, h * a0, v[:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        q = -(b + np.copysign(np.sqrt(b * b - 4 * a * c), b)) / 2
        turns = [np.clip(np.nan_to_num(u), 0.0, 1.0) for u in (q / a, c / q)]
    reached = np.concatenate([p, *(_hermite(p[:-1], p[1:], v[:-1] * h, v[1:] * h, u) for u in turns)])
    return reached.min(axis=0), reached.max(axis=0)


def _hermite(p0: FloatArray, p1: FloatArray, v0: FloatArray, v1: FloatArray, u: FloatArray) -> FloatArray:
    """Positions at shares ``u`` of segments from p0 to p1; v0 and v1 are the speeds per segment at their ends."""
    return (
        (2 * u**3 - 3 * u**2 + 1) * p0
        + (u**3 - 2 * u**2 + u) * v0
        + (-2 * u**3 + 3 * u**2) * p1
        + (u**3 - u**2) * v1
    )


def dense_positions(trajectory: JointTrajectory, step_rad: float, *, parts: int = 1) -> FloatArray:
    """(m, n) joint positions along the executed path, no joint moving more than ``step_rad`` between two.

    Every segment is split into ``parts`` at least.
    """
    p, t, v = trajectory.positions, trajectory.times_s, trajectory.velocities
    if len(t) < 2:
        return p.copy()
    h = np.diff(t)[:, None]
    # Steps are bounded by the fastest moment, not by the mean: a cubic is faster in its middle.
    reach = h * _segments(trajectory)[0]
    counts = np.maximum(parts, np.ceil(reach.max(axis=1) / step_rad)).astype(int)
    segment = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    u = ((np.arange(counts.sum()) - first[segment]) / counts[segment])[:, None]
    inner = _hermite(p[segment], p[segment + 1], v[segment] * h[segment], v[segment + 1] * h[segment], u)
    return np.vstack([inner, p[-1:]])
