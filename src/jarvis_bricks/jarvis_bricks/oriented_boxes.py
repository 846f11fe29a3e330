"""Many oriented boxes at once: separation by the separating axis theorem, in numpy.

S. Gottschalk, M. Lin, D. Manocha, "OBBTree", SIGGRAPH 1996: two boxes are apart if and only if their projections
are apart on one of 15 axes, the face normals of both and the cross products of their edges.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray
from scipy.spatial.transform import Rotation

IndexArray = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class OrientedBoxes:
    """n boxes in one frame, metres.

    Attributes:
        centres: (n, 3).
        axes: (n, 3, 3) rotation matrices: columns are the boxes' edge directions.
        halves: (n, 3) half edge lengths.
    """

    centres: FloatArray
    axes: FloatArray
    halves: FloatArray

    @classmethod
    def of(cls, boxes: Iterable[Box]) -> OrientedBoxes:
        found = list(boxes)
        if not found:
            return cls(np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3)))
        turns = Rotation.from_quat(np.array([box.pose.quaternion for box in found]))
        return cls(
            np.array([box.pose.position for box in found]),
            turns.as_matrix(),
            np.array([box.size_m for box in found]) / 2,
        )

    def __len__(self) -> int:
        return len(self.centres)

    def __getitem__(self, index: IndexArray | npt.NDArray[np.bool_]) -> OrientedBoxes:
        return OrientedBoxes(self.centres[index], self.axes[index], self.halves[index])

    def extents(self) -> FloatArray:
        """(n, 2, 3) corners of the axis-aligned boxes around them."""
        reach = np.einsum("nij,nj->ni", np.abs(self.axes), self.halves)
        return np.stack([self.centres - reach, self.centres + reach], axis=1)

    def corners(self) -> FloatArray:
        """(n, 8, 3)."""
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
        spread: FloatArray = self.centres[:, None] + np.einsum(
            "nij,nkj->nki", self.axes, signs * self.halves[:, None]
        )
        return spread


def penetration(first: OrientedBoxes, second: OrientedBoxes) -> FloatArray:
    """How deep box i of ``first`` is in box i of ``second``: (n,) metres; 0 is touching, negative is apart.

    The depth is the smallest overlap over the 15 axes, that is the shortest way out along one of them.
    """
    # Written out: np.cross takes several times as long for a few boxes.
    (ax, ay, az), (bx, by, bz) = (
        np.moveaxis(first.axes, 1, 0)[..., None],
        np.moveaxis(second.axes, 1, 0)[:, :, None],
    )
    across = np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)
    candidates = np.concatenate([first.axes, second.axes, across.reshape(len(first), 3, 9)], axis=2)
    length = np.linalg.norm(candidates, axis=1)
    usable = length > 1e-6
    directions = candidates / np.where(usable, length, 1.0)[:, None]
    reach_first = _reach(first, directions)
    reach_second = _reach(second, directions)
    apart = np.abs(np.einsum("nik,ni->nk", directions, second.centres - first.centres))
    depth = np.where(usable, reach_first + reach_second - apart, np.inf)
    smallest: FloatArray = depth.min(axis=1)
    return smallest


def _reach(boxes: OrientedBoxes, directions: FloatArray) -> FloatArray:
    """(n, k) half lengths of the boxes' projections onto (n, 3, k) unit directions."""
    cosines = np.einsum("nij,nik->njk", boxes.axes, directions)
    reach: FloatArray = np.einsum("njk,nj->nk", np.abs(cosines), boxes.halves)
    return reach


def meeting_pairs(
    first: OrientedBoxes, second: OrientedBoxes, tolerance_m: float
) -> tuple[IndexArray, IndexArray]:
    """Indices (i, j) of all pairs that overlap by more than ``tolerance_m``. For small sets: tests all pairs."""
    a, b = first.extents(), second.extents()
    near = (a[:, None, 0] < b[None, :, 1] - tolerance_m) & (b[None, :, 0] < a[:, None, 1] - tolerance_m)
    i, j = np.nonzero(near.all(axis=2))
    if len(i) == 0:
        return i, j
    deep = penetration(first[i], second[j]) > tolerance_m
    return i[deep], j[deep]


def sweep_pairs(boxes: OrientedBoxes) -> Iterator[tuple[IndexArray, IndexArray]]:
    """All pairs (i, j) with overlapping axis-aligned extents, found by a sweep along x, in chunks."""
    extents = boxes.extents()
    order = np.argsort(extents[:, 0, 0], kind="stable")
    starts = extents[order, 0, 0]
    last = np.searchsorted(starts, extents[order, 1, 0], side="left")
    for rank, index in enumerate(order):
        others = order[rank + 1 : last[rank]]
        if len(others) == 0:
            continue
        hit = (extents[others, 0, 1:] < extents[index, 1, 1:]).all(axis=1) & (
            extents[others, 1, 1:] > extents[index, 0, 1:]
        ).all(axis=1)
        if hit.any():
            yield np.full(int(hit.sum()), index), others[hit]
