"""Which turns map a part onto itself."""

from __future__ import annotations

from functools import cache
from itertools import permutations, product

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray
from scipy.spatial import cKDTree
from scipy.spatial.transform import Rotation

Quaternion = tuple[float, float, float, float]

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)

#: Round parts are drawn with so many sides; others have triangles, pentagons, hexagons, octagons.
_ORDERS = (16, 12, 10)
#: Enough for a sphere with 16 sides in any plane; a group beyond is cut to what was tested.
_MOST = 64
#: So many points are looked at before all are.
_SAMPLE = 48


@cache
def _right_angle_turns() -> FloatArray:
    """(24, 3, 3) rotations of the cube, identity first."""
    found = []
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            matrix = np.zeros((3, 3))
            matrix[range(3), order] = signs
            if np.linalg.det(matrix) > 0:
                found.append(matrix)
    return np.array(sorted(found, key=lambda m: -float(np.trace(m))))


@cache
def _fine_turns() -> tuple[FloatArray, ...]:
    """For the axes x, y, z: (n, 3, 3) turns by fractions of a right angle and thirds and fifths of a full one."""
    angles = sorted({k * 360.0 / n for n in _ORDERS for k in range(1, n)} - {90.0, 180.0, 270.0})
    return tuple(Rotation.from_rotvec(np.outer(angles, axis), degrees=True).as_matrix() for axis in np.eye(3))


def symmetries(
    points: FloatArray, labels: FloatArray, centre: FloatArray, tolerance_m: float = 5e-5
) -> tuple[Quaternion, ...]:
    """The rotations about ``centre`` that map a labelled point set onto itself, identity first.

    Tried are the rotations of a cube, turns by 1/16, 1/12 and 1/10 about each axis, and all products of what is found.

    Args:
        points: (n, 3) metres. ``labels``: (n,) numbers that must agree too (colour, kind of point).
        centre: (3,) metres.
    """
    cloud = _Cloud(points - centre, labels, tolerance_m)
    found = [turn for turn in _right_angle_turns() if cloud.maps(turn)]
    for axis, turns in enumerate(_fine_turns()):
        if cloud.round_about(axis):
            found += [turn for turn in turns if cloud.maps(turn)]
    group = Rotation.from_matrix(np.array(_closed(found, cloud)))
    quaternions = np.round(np.asarray(group.as_quat(canonical=True)), 12) + 0.0
    listed = [(float(x), float(y), float(z), float(w)) for x, y, z, w in quaternions]
    return tuple(sorted(listed, key=lambda q: (q != IDENTITY, -q[3], q)))


class _Cloud:
    """A labelled point set about its centre."""

    def __init__(self, points: FloatArray, labels: FloatArray, tolerance_m: float) -> None:
        both = np.unique(np.round(np.hstack([points, labels[:, None]]), 7), axis=0)
        self._points, self._labels = both[:, :3], both[:, 3:]
        self._tolerance = tolerance_m
        self._tree = cKDTree(both)
        self._low, self._high = self._points.min(axis=0), self._points.max(axis=0)
        farthest = np.argsort(-np.linalg.norm(self._points, axis=1), kind="stable")
        self._sample = farthest[:: max(1, len(farthest) // _SAMPLE)]
        self._middle = self._points.mean(axis=0)
        self._spread = self._points.T @ self._points / len(self._points)

    def round_about(self, axis: int) -> bool:
        """Whether both other directions are alike, as they are in all shapes with a turn that is no right angle."""
        a, b = (k for k in range(3) if k != axis)
        alike = abs(self._spread[a, a] - self._spread[b, b]) + abs(self._spread[a, b])
        return bool(alike < 4 * self._tolerance * np.sqrt(max(self._spread[a, a], self._spread[b, b])))

    def maps(self, turn: FloatArray) -> bool:
        """Whether every turned point lies on a point with the same label."""
        allowed = 4 * self._tolerance
        if np.abs(turn @ self._middle - self._middle).max() > allowed:
            return False
        scale = np.sqrt(np.trace(self._spread))
        if np.abs(turn @ self._spread @ turn.T - self._spread).max() > allowed * scale:
            return False
        return self._hits(turn, self._sample) and self._hits(turn, slice(None))

    def _hits(self, turn: FloatArray, which: slice | npt.NDArray[np.intp]) -> bool:
        turned = np.hstack([self._points[which] @ turn.T, self._labels[which]])
        distance, _ = self._tree.query(turned, distance_upper_bound=self._tolerance * 2)
        return bool(np.all(distance <= self._tolerance))


def _closed(found: list[FloatArray], cloud: _Cloud) -> list[FloatArray]:
    """All products of the turns that are symmetries too."""
    known = {_key(turn): turn for turn in found}
    queue = list(known.values())
    while queue and len(known) < _MOST:
        turn = queue.pop()
        for other in list(known.values()):
            product_ = turn @ other
            if _key(product_) not in known and len(known) < _MOST and cloud.maps(product_):
                known[_key(product_)] = product_
                queue.append(product_)
    return list(known.values())


def _key(turn: FloatArray) -> tuple[float, ...]:
    return tuple((np.round(turn, 6) + 0.0).ravel().tolist())
