"""Where a brick would snap: the legal grid position nearest to where it is.

::

      antistuds     o   o   o   o        upper brick, a little off and turned
                     \\   \\   \\   \\
      studs           o   o   o   o   o  lower brick
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.pose import FloatArray, Pose

#: Stud and anti-stud of an ideal position coincide this well; LDraw parts are drawn to 0.01 LDU.
COINCIDENT_M = 0.00025
_QUARTER = math.pi / 2


@dataclass(frozen=True, slots=True)
class Fit:
    """A legal position of an upper on a lower part.

    Attributes:
        snapped: pose of the upper part in the lower one's frame.
        studs: number of coincident pairs of stud and anti-stud.
        points: (studs, 3) the engaged anti-studs in the upper part's frame.
        error_xy_m: distance of that middle from its place, across the studs.
        error_z_m: along the studs, of the engaged anti-stud that is farthest off; positive above its stud.
        error_yaw_rad: angle about the studs.
    """

    snapped: Pose
    studs: int
    points: FloatArray
    error_xy_m: float
    error_z_m: float
    error_yaw_rad: float

    @property
    def centre(self) -> FloatArray:
        """(3,) middle of the engaged anti-studs in the upper part's frame."""
        middle: FloatArray = self.points.mean(axis=0)
        return middle

    @property
    def is_exact(self) -> bool:
        """Whether the studs coincide as well as drawn parts do."""
        return max(self.error_xy_m, abs(self.error_z_m)) <= 2 * COINCIDENT_M


def place_of(lower: str, fit: Fit) -> tuple[str, int, int, int]:
    """Names a grid position: lower body and place on it, in steps of half a millimetre and whole degrees."""
    x, y, _ = (fit.snapped.position / 0.0005).round().astype(int).tolist()
    return (lower, x, y, round(math.degrees(fit.snapped.yaw)))


def find_fit(relative: Pose, antistuds: FloatArray, studs: FloatArray, yaw_limit_rad: float) -> Fit | None:
    """The grid position nearest to ``relative`` (pose of the upper in the lower part's frame).

    Args:
        antistuds: (m, 3) in the upper part's frame, studs: (n, 3) in the lower one's, all with axis +z.
        yaw_limit_rad: no fit beyond this error about z, nor with a larger tilt of the z axes.

    Returns:
        None if turned or tilted too far, or if no pair would coincide. Position errors are for the caller to judge.
    """
    rotation = relative.rotation
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    turns = round(yaw / _QUARTER)
    error_yaw = yaw - turns * _QUARTER
    tilt = math.acos(min(1.0, max(-1.0, rotation[2, 2])))
    if abs(error_yaw) > yaw_limit_rad or tilt > yaw_limit_rad or not len(antistuds):
        return None
    actual = relative @ antistuds
    studs = _nearby(studs, actual)
    if not len(studs):
        return None
    straight = _straightened(actual, antistuds, studs, turns)
    pairs = _best_pairs(straight, studs)
    if pairs is None:
        return None
    upper, lower = pairs
    # Move the straightened part so that the engaged pairs coincide: its frame ends at the snapped pose.
    shift = (studs[lower] - straight[upper]).mean(axis=0)
    quarter = _quarter_turns(turns)
    origin = straight[upper[0]] - quarter.rotation @ antistuds[upper[0]] + shift
    off = actual[upper] - studs[lower]
    return Fit(
        snapped=Pose(origin, quarter.quaternion),
        studs=len(upper),
        points=antistuds[upper],
        error_xy_m=float(np.hypot(*off[:, :2].mean(axis=0))),
        error_z_m=float(off[np.argmax(np.abs(off[:, 2])), 2]),
        error_yaw_rad=error_yaw,
    )


def _nearby(studs: FloatArray, points: FloatArray) -> FloatArray:
    """Those studs that lie within half a pitch of the points' bounding box."""
    low, high = points.min(axis=0) - STUD_PITCH_M / 2, points.max(axis=0) + STUD_PITCH_M / 2
    nearby: FloatArray = studs[((studs >= low) & (studs <= high)).all(axis=1)]
    return nearby


def _straightened(actual: FloatArray, antistuds: FloatArray, studs: FloatArray, turns: int) -> FloatArray:
    """(m, 3) anti-studs turned onto the grid's axes, about the middle of those that lie above studs."""
    distance = np.linalg.norm(actual[:, None, :2] - studs[None, :, :2], axis=2)
    above = distance.min(axis=1) < STUD_PITCH_M * math.sqrt(0.5)
    if not above.any():
        above[:] = True
    turned = (antistuds - antistuds[above].mean(axis=0)) @ _quarter_turns(turns).rotation.T
    straight: FloatArray = turned + actual[above].mean(axis=0)
    return straight


def _best_pairs(straight: FloatArray, studs: FloatArray) -> tuple[np.ndarray, np.ndarray] | None:
    """Indices (anti-studs, studs) that coincide after the shift that joins most; the smallest of equal ones."""
    offsets = studs[None] - straight[:, None]
    within = (np.abs(offsets[:, :, :2]) <= STUD_PITCH_M / 2).all(axis=2)
    shifts = offsets[within]
    if not len(shifts):
        return None
    unique = np.unique(np.round(shifts / COINCIDENT_M).astype(np.int64), axis=0, return_index=True)[1]
    best: tuple[int, float] = (0, 0.0)
    pairs: tuple[np.ndarray, np.ndarray] | None = None
    for shift in shifts[unique]:
        upper, lower = np.nonzero((np.abs(offsets - shift) <= COINCIDENT_M).all(axis=2))
        rank = (len(upper), -float(np.linalg.norm(shift)))
        if pairs is None or rank > best:
            best, pairs = rank, (upper, lower)
    return pairs


def _quarter_turns(turns: int) -> Pose:
    """Exact rotation about z by a multiple of 90 degrees."""
    half = math.sqrt(0.5)
    z, w = ((0.0, 1.0), (half, half), (1.0, 0.0), (half, -half))[turns % 4]
    return Pose(quaternion=(0.0, 0.0, z, w))
