"""Smooth timing of a joint path given by points: rest, one speed, rest, with cosine-shaped ramps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray
from scipy.interpolate import CubicSpline

#: So many samples describe a ramp, and so many even the shortest motion: fewer would bend ramps out of shape.
_RAMP_SAMPLES = 6
_FEWEST_SAMPLES = 20


@dataclass(frozen=True, slots=True)
class Profile:
    """Motion along s from 0 to 1: speed V (1/s) reached and left in ``ramp_s`` each.

    In a ramp the speed is V (1 - cos(pi t / T)) / 2: acceleration starts and ends at 0 and peaks at
    pi V / (2 T); jerk is finite throughout.
    """

    speed: float
    ramp_s: float

    @classmethod
    def fastest(cls, max_speed: float, max_acceleration: float) -> Profile:
        """The quickest profile within bounds on ds/dt (1/s) and d2s/dt2 (1/s^2)."""
        # Both ramps together cover V T = pi V^2 / (2 A); where that exceeds 1, top speed is never reached.
        speed = min(max_speed, float(np.sqrt(2 * max_acceleration / np.pi)))
        return cls(speed, np.pi * speed / (2 * max_acceleration))

    @property
    def duration_s(self) -> float:
        return 1.0 / self.speed + self.ramp_s

    def at(self, times_s: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """s, ds/dt and d2s/dt2 at times within [0, duration]."""
        end, ramp, top = self.duration_s, self.ramp_s, self.speed
        # The second half mirrors the first.
        late = times_s > end / 2
        t = np.where(late, end - times_s, times_s)
        w = np.pi / ramp
        ramping = t < ramp
        s = np.where(ramping, top * (t - np.sin(w * t) / w) / 2, top * (t - ramp / 2))
        v = np.where(ramping, top * (1 - np.cos(w * t)) / 2, top)
        a = np.where(ramping, top * w * np.sin(w * t) / 2, 0.0)
        return np.where(late, 1.0 - s, s), v, np.where(late, -a, a)


def timed(
    joint_names: tuple[str, ...],
    path: FloatArray,
    *,
    max_velocity: FloatArray,
    max_acceleration: FloatArray,
    sample_s: float,
    max_speed: float = np.inf,
    max_speed_change: float = np.inf,
) -> JointTrajectory:
    """Time (k, n) joint positions that are evenly spaced in the path's parameter s in [0, 1].

    The joints keep (n,) velocity and acceleration limits (a small excess between samples is for the caller to
    check), s keeps ``max_speed`` (1/s) and ``max_speed_change`` (1/s^2). Two points make a straight line
    in joint space, more a cubic spline through all of them.
    """
    s = np.linspace(0.0, 1.0, len(path))
    spline = CubicSpline(s, path, bc_type="natural")
    dense = np.linspace(0.0, 1.0, 4 * len(path) + 1)
    slope = np.abs(spline(dense, 1)) + 1e-12
    bend = np.abs(spline(dense, 2))
    speed = min(max_speed, float((max_velocity / slope).min()))
    # Half of the acceleration is left to the path's bends (q'' v^2), half to speeding up (q' a).
    if bend.max() > 1e-9:
        speed = min(speed, float(np.sqrt((0.5 * max_acceleration / (bend + 1e-12)).min())))
        share = 0.5
    else:
        share = 1.0
    change = min(
        max_speed_change,
        share * float((max_acceleration / slope).min()),
        np.pi * speed / (2 * _RAMP_SAMPLES * sample_s),
    )
    profile = Profile.fastest(speed, change)
    count = max(_FEWEST_SAMPLES, int(np.ceil(profile.duration_s / sample_s)))
    times = np.linspace(0.0, profile.duration_s, count + 1)
    along, v, a = profile.at(times)
    along = np.clip(along, 0.0, 1.0)
    first, second = spline(along, 1), spline(along, 2)
    positions = spline(along)
    positions[0], positions[-1] = path[0], path[-1]
    return JointTrajectory(
        joint_names,
        times,
        positions,
        first * v[:, None],
        first * a[:, None] + second * (v**2)[:, None],
    )
