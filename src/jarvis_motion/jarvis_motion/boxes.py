"""Cuboids in arrays, and which pairs of them overlap."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from scipy.spatial.transform import Rotation

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class BoxArray:
    """B named cuboids in one frame.

    Attributes:
        names: B ids; several boxes may share one.
        centre: (B, 3) metres.
        rotation: (B, 3, 3).
        half: (B, 3) half of the edges, metres.
        low, high: (B, 3) corners of the boxes that hold them along the frame's axes.
    """

    names: tuple[str, ...]
    centre: FloatArray
    rotation: FloatArray
    half: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, things: Mapping[str, Sequence[Box]]) -> BoxArray:
        """Every box of every thing, in order."""
        flat = [(name, box) for name, boxes in things.items() for box in boxes]
        if not flat:
            return cls._made((), np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 3)))
        centre = np.array([box.pose.position for _, box in flat])
        rotation = Rotation.from_quat(np.array([box.pose.quaternion for _, box in flat])).as_matrix()
        half = np.array([box.size_m for _, box in flat]) / 2
        return cls._made(tuple(name for name, _ in flat), centre, rotation, half)

    @classmethod
    def _made(
        cls, names: tuple[str, ...], centre: FloatArray, rotation: FloatArray, half: FloatArray
    ) -> BoxArray:
        reach = extents(rotation, half)
        return cls(names, centre, rotation, half, centre - reach, centre + reach)

    def boxes(self) -> dict[str, tuple[Box, ...]]:
        """The boxes by id."""
        found: dict[str, tuple[Box, ...]] = {}
        for name, centre, rotation, half in zip(
            self.names, self.centre, self.rotation, self.half, strict=True
        ):
            found[name] = (*found.get(name, ()), Box(Pose.from_rotation(centre, rotation), tuple(2 * half)))
        return found

    def __len__(self) -> int:
        return len(self.names)

    def pick(self, indices: IntArray) -> BoxArray:
        """Some of the boxes."""
        names = tuple(self.names[i] for i in indices)
        arrays = (self.centre, self.rotation, self.half, self.low, self.high)
        return BoxArray(names, *(array[indices] for array in arrays))

    def without(self, names: Iterable[str]) -> BoxArray:
        """All but those of some names."""
        gone = frozenset(names)
        if not gone.intersection(self.names):
            return self
        return self.pick(np.array([i for i, name in enumerate(self.names) if name not in gone], dtype=int))

    def grown(self, margin_m: float, but: Iterable[str] = ()) -> BoxArray:
        """Larger by a margin on every side, except those of some names."""
        kept = frozenset(but)
        margin = np.array([0.0 if name in kept else margin_m for name in self.names]).reshape(-1, 1)
        return self._made(self.names, self.centre, self.rotation, self.half + margin)


def extents(rotation: FloatArray, half: FloatArray) -> FloatArray:
    """(..., 3) half sizes along the frame's axes of boxes with (..., 3, 3) rotations and (..., 3) half edges."""
    reach: FloatArray = (np.abs(rotation) * half[..., None, :]).sum(axis=-1)
    return reach


def separated(place_a: FloatArray, half_a: FloatArray, place_b: FloatArray, half_b: FloatArray) -> BoolArray:
    """(P,) whether P pairs of cuboids are apart, by the separating axis theorem.

    Places are (P, 4, 4), half edges (P, 3). Gottschalk, Lin, Manocha, OBBTree, SIGGRAPH 1996, section 5.
    """
    turned = np.swapaxes(place_a[:, :3, :3], 1, 2)
    r = turned @ place_b[:, :3, :3]
    t = np.einsum("pij,pj->pi", turned, place_b[:, :3, 3] - place_a[:, :3, 3])
    # Parallel edges give a cross product of nearly 0, which must not be taken for an axis.
    size = np.abs(r) + 1e-9
    apart: BoolArray = (np.abs(t) > half_a + np.einsum("pij,pj->pi", size, half_b)).any(axis=1)
    along_b = np.abs(np.einsum("pij,pi->pj", r, t))
    apart |= (along_b > half_b + np.einsum("pij,pi->pj", size, half_a)).any(axis=1)
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            reach = half_a[:, i1] * size[:, i2, j] + half_a[:, i2] * size[:, i1, j]
            reach = reach + half_b[:, j1] * size[:, i, j2] + half_b[:, j2] * size[:, i, j1]
            apart |= np.abs(t[:, i2] * r[:, i1, j] - t[:, i1] * r[:, i2, j]) > reach
    return apart
