"""Where studs fit into the underside of a part, found from its surface.

A stud sits in an opening when its rim touches something on enough sides and nothing stands inside it. The surface is
cut at two heights within the reach of a stud, and every place on the half-stud lattice of the part's origin is tried::

      wall  +-----------------+
            |  .-.   __   .-. |     cell: two walls and a tube, each 6 LDU from its middle
            | ( o ) /  \\ ( o )|
            |  '-'  \\__/  '-' |     the tube's own bore is as wide as a stud too: it takes one half a stud off
            +-----------------+

All lengths are LDU, z up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from jarvis_core.pose import FloatArray

_RADIUS = 6.0
#: What stands less than this from the middle is in the way; what stands no farther than that one touches.
_CLEAR, _TOUCH = 5.4, 6.8
#: Heights above the underside at which the surface is cut: a stud reaches 4 up. No file has corners at these.
_LEVELS = (1.037, 2.971)
#: Largest angle between neighbouring contacts: with less than half a turn free, a stud can't slip out sideways.
_LARGEST_GAP = np.radians(185.0)
_HALF_PITCH = 10.0


@dataclass(frozen=True, slots=True)
class Opening:
    """A place where a stud fits: (x, y) of its axis; ``ring``: it is touched all around, like the bore of a tube."""

    x: float
    y: float
    ring: bool


def find_openings(triangles: FloatArray, low: float, outline: FloatArray) -> list[Opening]:
    """Openings in the plane z = ``low``; no two of them overlap.

    Args:
        triangles: (n, 3, 3) of the body.
        outline: (2, 2) smallest and largest (x, y) of the body.
    """
    near = triangles[(triangles[..., 2].min(axis=1) < low + 4.0) & (triangles[..., 2].max(axis=1) > low)]
    cuts = [_Cut.of(near, low + level) for level in _LEVELS]
    if any(len(cut.segments) == 0 for cut in cuts):
        return []
    found = []
    for x in _lattice(outline[0, 0], outline[1, 0]):
        for y in _lattice(outline[0, 1], outline[1, 1]):
            ring = _fits(np.array([x, y]), cuts)
            if ring is not None:
                found.append(Opening(x, y, ring))
    return _apart(found, outline)


def _lattice(low: float, high: float) -> list[float]:
    """Every half stud from the origin; from the edge if that lies otherwise."""
    shift = (low + _HALF_PITCH / 2) % _HALF_PITCH - _HALF_PITCH / 2
    shift = shift if abs(shift) > 1.0 else 0.0
    first, last = np.ceil((low - shift + 9.4) / _HALF_PITCH), np.floor((high - shift - 9.4) / _HALF_PITCH)
    return [float(n) * _HALF_PITCH + shift + 0.0 for n in np.arange(first, last + 1)]


def _apart(found: list[Opening], outline: FloatArray) -> list[Opening]:
    """Drops what overlaps: a channel takes a stud anywhere, but the grid with the most places is the one meant."""

    def grid(opening: Opening) -> tuple[float, float]:
        return opening.x % (2 * _HALF_PITCH), opening.y % (2 * _HALF_PITCH)

    def off_edge(opening: Opening) -> float:
        half = np.array([opening.x, opening.y]) - outline[0] - _HALF_PITCH
        return float(np.abs((half + _HALF_PITCH) % (2 * _HALF_PITCH) - _HALF_PITCH).max())

    size = Counter(grid(opening) for opening in found if not opening.ring)
    kept: list[Opening] = []
    for opening in sorted(found, key=lambda o: (o.ring, -size[grid(o)], off_edge(o), o.x, o.y)):
        if all(np.hypot(opening.x - o.x, opening.y - o.y) > 2 * _RADIUS - 0.5 for o in kept):
            kept.append(opening)
    return sorted(kept, key=lambda o: (o.x, o.y))


@dataclass(frozen=True, slots=True)
class _Cut:
    """(k, 2, 2) segments in which a surface meets a level plane, and the corners of the boxes around them."""

    segments: FloatArray
    low: tuple[FloatArray, FloatArray]
    high: tuple[FloatArray, FloatArray]

    @classmethod
    def of(cls, triangles: FloatArray, level: float) -> _Cut:
        segments = _cut(triangles, level)
        low, high = segments.min(axis=1).T.copy(), segments.max(axis=1).T.copy()
        return cls(segments, (low[0], low[1]), (high[0], high[1]))

    def near(self, middle: FloatArray, reach: float) -> FloatArray:
        x, y = middle
        there = (self.low[0] < x + reach) & (self.high[0] > x - reach)
        there &= (self.low[1] < y + reach) & (self.high[1] > y - reach)
        close: FloatArray = self.segments[there]
        return close


def _cut(triangles: FloatArray, level: float) -> FloatArray:
    """(k, 2, 2) segments in which a surface meets a level plane."""
    height = triangles[..., 2] - level
    crossing = (height.min(axis=1) < 0) & (height.max(axis=1) > 0)
    corners, height = triangles[crossing], height[crossing]
    after, height_after = np.roll(corners, -1, axis=1), np.roll(height, -1, axis=1)
    crossed = height * height_after < 0
    usable = crossed.sum(axis=1) == 2
    share = np.where(crossed, height / np.where(crossed, height - height_after, 1.0), 0.0)
    points = corners[..., :2] + share[..., None] * (after - corners)[..., :2]
    segments: FloatArray = points[usable][crossed[usable]].reshape(-1, 2, 2)
    return segments


def _fits(middle: FloatArray, cuts: list[_Cut]) -> bool | None:
    """None: no stud fits here; else whether it is touched all around."""
    ring = True
    for cut in cuts:
        nearest = _nearest(middle, cut.near(middle, _TOUCH))
        distance = np.linalg.norm(nearest, axis=1)
        touching = nearest[distance < _TOUCH]
        if len(touching) == 0 or distance.min() < _CLEAR:
            return None
        angles = np.sort(np.arctan2(touching[:, 1], touching[:, 0]))
        gaps = np.diff(np.append(angles, angles[0] + 2 * np.pi))
        if gaps.max() > _LARGEST_GAP:
            return None
        ring &= bool(gaps.max() < np.radians(50.0))
    return ring


def _nearest(middle: FloatArray, segments: FloatArray) -> FloatArray:
    """(k, 2) from ``middle`` to the nearest point of each segment."""
    start = segments[:, 0] - middle
    along = segments[:, 1] - segments[:, 0]
    length2 = np.maximum((along**2).sum(axis=1), 1e-12)
    share = np.clip(-(start * along).sum(axis=1) / length2, 0.0, 1.0)
    nearest: FloatArray = start + share[:, None] * along
    return nearest
