"""Which turns about the vertical map a part onto itself."""

from __future__ import annotations

import math

import numpy as np
from jarvis_core.pose import FloatArray
from scipy.spatial import cKDTree

Quaternion = tuple[float, float, float, float]

#: The four turns by 90 degrees, as quaternions; identity first.
YAW_TURNS: tuple[Quaternion, ...] = (
    (0.0, 0.0, 0.0, 1.0),
    (0.0, 0.0, math.sqrt(0.5), math.sqrt(0.5)),
    (0.0, 0.0, 1.0, 0.0),
    (0.0, 0.0, -math.sqrt(0.5), math.sqrt(0.5)),
)

_TURNS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def yaw_symmetries(
    points: FloatArray, labels: FloatArray, centre: FloatArray, tolerance_m: float = 5e-5
) -> tuple[Quaternion, ...]:
    """The turns about a vertical axis through ``centre`` that map a labelled point set onto itself.

    Args:
        points: (n, 3) metres. ``labels``: (n,) numbers that must agree too (colour, kind of point).
        centre: (3,) metres.
    """
    spread = np.hstack([points - centre, labels[:, None] * 1.0])
    tree = cKDTree(spread)
    found = []
    for quaternion, (cosine, sine) in zip(YAW_TURNS, _TURNS, strict=True):
        turned = spread.copy()
        turned[:, 0] = cosine * spread[:, 0] - sine * spread[:, 1]
        turned[:, 1] = sine * spread[:, 0] + cosine * spread[:, 1]
        distance, _ = tree.query(turned, distance_upper_bound=tolerance_m * 2)
        if np.all(distance <= tolerance_m):
            found.append(quaternion)
    return tuple(found)
