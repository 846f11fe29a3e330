"""Checks of trajectories in plain numpy, the same for every motion backend.

A trajectory is judged as it is executed: as the cubic Hermite through its points (``JointTrajectory.sample``),
not by the velocities and accelerations that a library wrote beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray


@dataclass(frozen=True, slots=True)
class Peaks:
    """Largest magnitudes along a trajectory, each (n,): rad/s and rad/s^2."""

    velocity: FloatArray
    acceleration: FloatArray


def peaks(trajectory: JointTrajectory) -> Peaks:
    """Exact peaks of the cubic Hermite through the points."""
    if len(trajectory.times_s) < 2:
        return Peaks(np.abs(trajectory.velocities[0]), np.zeros(len(trajectory.joint_names)))
    velocity, acceleration = _segment_peaks(trajectory)
    return Peaks(velocity.max(axis=0), acceleration.max(axis=0))


def _segment_peaks(trajectory: JointTrajectory) -> tuple[FloatArray, FloatArray]:
    """(k - 1, n) largest speed and acceleration within each segment.

    Acceleration is linear in a segment, so it peaks at an end; speed peaks at an end or where acceleration is 0.
    """
    h = np.diff(trajectory.times_s)[:, None]
    slope = np.diff(trajectory.positions, axis=0) / h
    v0, v1 = trajectory.velocities[:-1], trajectory.velocities[1:]
    a0 = (6 * slope - 4 * v0 - 2 * v1) / h
    a1 = (-6 * slope + 2 * v0 + 4 * v1) / h
    change = a1 - a0
    u = np.clip(np.divide(-a0, change, out=np.zeros_like(a0), where=np.abs(change) > 1e-12), 0.0, 1.0)
    inner = v0 + h * (a0 * u + change * u**2 / 2)
    velocity = np.maximum.reduce([np.abs(v0), np.abs(v1), np.abs(inner)])
    return velocity, np.maximum(np.abs(a0), np.abs(a1))


def stretch_needed(
    trajectory: JointTrajectory, max_velocity: FloatArray, max_acceleration: FloatArray
) -> float:
    """Factor >= 1 on time after which a trajectory keeps (n,) limits."""
    found = peaks(trajectory)
    by_velocity = float((found.velocity / max_velocity).max())
    by_acceleration = float(np.sqrt((found.acceleration / max_acceleration).max()))
    return max(1.0, by_velocity, by_acceleration)


def stretched(trajectory: JointTrajectory, factor: float) -> JointTrajectory:
    """The same path in ``factor`` times the time."""
    return JointTrajectory(
        trajectory.joint_names,
        trajectory.times_s * factor,
        trajectory.positions,
        trajectory.velocities / factor,
        trajectory.accelerations / factor**2,
    )


def limit_faults(
    trajectory: JointTrajectory,
    lower: FloatArray,
    upper: FloatArray,
    max_velocity: FloatArray,
    max_acceleration: FloatArray,
    *,
    share: float = 1e-3,
) -> list[str]:
    """Sentences naming joints beyond their limits (by more than ``share`` of them); none if all is well."""
    found = peaks(trajectory)
    faults = []
    for i, name in enumerate(trajectory.joint_names):
        low, high = float(trajectory.positions[:, i].min()), float(trajectory.positions[:, i].max())
        if low < lower[i] - 1e-6 or high > upper[i] + 1e-6:
            faults.append(f"{name} leaves its range: {low:.4f} to {high:.4f} rad")
        if found.velocity[i] > max_velocity[i] * (1 + share):
            faults.append(f"{name} moves at {found.velocity[i]:.3f} rad/s, limit {max_velocity[i]:.3f}")
        if found.acceleration[i] > max_acceleration[i] * (1 + share):
            faults.append(
                f"{name} accelerates by {found.acceleration[i]:.2f} rad/s^2, limit {max_acceleration[i]:.2f}"
            )
    return faults


def dense_positions(trajectory: JointTrajectory, step_rad: float, *, parts: int = 1) -> FloatArray:
    """(m, n) joint positions along the executed path, no joint moving more than ``step_rad`` between two.

    Every segment is split into ``parts`` at least.
    """
    p, t, v = trajectory.positions, trajectory.times_s, trajectory.velocities
    if len(t) < 2:
        return p.copy()
    h = np.diff(t)[:, None]
    # Steps are bounded by the fastest moment, not by the mean: a cubic is faster in its middle.
    reach = h * _segment_peaks(trajectory)[0]
    counts = np.maximum(parts, np.ceil(reach.max(axis=1) / step_rad)).astype(int)
    segment = np.repeat(np.arange(len(counts)), counts)
    first = np.cumsum(counts) - counts
    u = ((np.arange(counts.sum()) - first[segment]) / counts[segment])[:, None]
    p0, p1, v0, v1 = p[segment], p[segment + 1], v[segment] * h[segment], v[segment + 1] * h[segment]
    inner = (
        (2 * u**3 - 3 * u**2 + 1) * p0
        + (u**3 - 2 * u**2 + u) * v0
        + (-2 * u**3 + 3 * u**2) * p1
        + (u**3 - u**2) * v1
    )
    return np.vstack([inner, p[-1:]])
