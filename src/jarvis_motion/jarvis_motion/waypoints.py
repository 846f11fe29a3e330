"""Ways in joint space given by their corners: shortened, rounded and evenly spaced."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jarvis_core.pose import FloatArray
from scipy.interpolate import CubicSpline, make_interp_spline

#: Whether the straight way between two (n,) joint positions is free.
WayCheck = Callable[[FloatArray, FloatArray], bool]


def evenly(corners: FloatArray, spacing_rad: float) -> FloatArray:
    """(m, n) points at even distances of at most about ``spacing_rad`` on the way with (k, n) corners."""
    lengths = np.linalg.norm(np.diff(corners, axis=0), axis=1)
    corners = corners[np.concatenate([[True], lengths > 1e-9])]
    along = np.concatenate([[0.0], np.cumsum(lengths[lengths > 1e-9])])
    count = max(int(np.ceil(along[-1] / spacing_rad)), 2)
    even: FloatArray = make_interp_spline(along, corners, k=1)(np.linspace(0.0, along[-1], count + 1))
    return even


def shortcut(corners: FloatArray, free: WayCheck, iterations: int, rng: np.random.Generator) -> FloatArray:
    """A shorter way with the same ends: random pieces replaced by straight ones where these are free.

    Geraerts, Overmars, Creating High-quality Paths for Motion Planning, IJRR 26(8), 2007, section 4.
    """
    way = corners
    for _ in range(iterations):
        if len(way) < 3:
            break
        lengths = np.linalg.norm(np.diff(way, axis=0), axis=1)
        along = np.concatenate([[0.0], np.cumsum(lengths)])
        a, b = np.sort(rng.uniform(0.0, along[-1], 2))
        first, last = (np.searchsorted(along, s, side="right") for s in (a, b))
        if first == last:
            continue  # both on one straight piece
        begin, end = (np.array([np.interp(s, along, q) for q in way.T]) for s in (a, b))
        if free(begin, end):
            way = np.vstack([way[:first], begin, end, way[last:]])
    return way


def rounded(points: FloatArray, window: int) -> FloatArray:
    """Evenly spaced (m, n) points, each the mean of those up to ``window`` away; fewer near the fixed ends."""
    count = len(points)
    sums = np.vstack([np.zeros((1, points.shape[1])), np.cumsum(points, axis=0)])
    index = np.arange(count)
    half = np.minimum(np.minimum(index, count - 1 - index), window)
    smooth: FloatArray = (sums[index + half + 1] - sums[index - half]) / (2 * half + 1)[:, None]
    return smooth


def between(points: FloatArray, step_rad: float) -> FloatArray:
    """Dense points of the curve on which evenly spaced (m, n) points are timed (see ``timing.timed``)."""
    parts = int(np.ceil(np.abs(np.diff(points, axis=0)).max() / step_rad))
    s = np.linspace(0.0, 1.0, len(points))
    dense: FloatArray = CubicSpline(s, points, bc_type="natural")(
        np.linspace(0.0, 1.0, parts * (len(points) - 1) + 1)
    )
    return dense
