"""Meshes put together from prisms and cylinders, in LDU, z up; turned to metres at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

from jarvis_bricks.geometry import LDU_M, Mesh
from jarvis_bricks.ldraw.document import EDGE_COLOUR, MAIN_COLOUR, IntArray


@dataclass(frozen=True, slots=True)
class Prism:
    """An outline swept along an axis, LDU.

    Attributes:
        outline: counter-clockwise corners, all visible from the first: (x, y) for axis ``z``, (y, z) for axis ``x``.
        axis: ``x`` or ``z``.
        low, high: where the sweep starts and ends.
    """

    outline: tuple[tuple[float, float], ...]
    axis: str
    low: float
    high: float

    def ring(self, level: float) -> FloatArray:
        """(k, 3) corners at one level of the axis."""
        flat = np.array(self.outline, dtype=np.float64)
        column = np.full((len(flat), 1), level)
        return np.hstack([flat, column]) if self.axis == "z" else np.hstack([column, flat])

    @property
    def corners(self) -> FloatArray:
        return np.vstack([self.ring(self.low), self.ring(self.high)])

    @property
    def volume(self) -> float:
        return _ring_area(self.outline) * (self.high - self.low)


@dataclass(frozen=True, slots=True)
class Cylinder:
    """An upright cylinder, LDU: ``centre`` (x, y), from ``low`` to ``high``."""

    centre: tuple[float, float]
    radius: float
    low: float
    high: float

    def ring(self, level: float, segments: int) -> FloatArray:
        """(segments, 3) points, counter-clockwise from above, the first in direction x."""
        angle = np.arange(segments) * (2 * np.pi / segments)
        flat = np.array(self.centre) + self.radius * np.column_stack([np.cos(angle), np.sin(angle)])
        return np.hstack([flat, np.full((segments, 1), level)])

    @property
    def corners(self) -> FloatArray:
        return np.vstack([self.ring(self.low, 16), self.ring(self.high, 16)])

    @property
    def volume(self) -> float:
        return float(np.pi * self.radius**2 * (self.high - self.low))


def rectangle(x0: float, x1: float, y0: float, y1: float) -> tuple[tuple[float, float], ...]:
    """Counter-clockwise outline."""
    return ((x0, y0), (x1, y0), (x1, y1), (x0, y1))


def _ring_area(outline: Sequence[tuple[float, float]]) -> float:
    x, y = np.array(outline).T
    return float(abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2)


@dataclass(slots=True)
class MeshBuilder:
    """Collects faces and lines."""

    faces: list[FloatArray] = field(default_factory=list)
    edges: list[FloatArray] = field(default_factory=list)
    conditional: list[FloatArray] = field(default_factory=list)

    def polygon(self, ring: FloatArray, *, flip: bool = False) -> None:
        """A flat face, (k, 3) counter-clockwise from outside, all corners visible from the first."""
        corners = ring[::-1] if flip else ring
        first = np.roll(corners, 1, axis=0) if flip else corners
        fan = [np.stack([first[0], first[i], first[i + 1]]) for i in range(1, len(first) - 1)]
        self.faces.append(np.array(fan))

    def lines(self, starts: FloatArray, ends: FloatArray) -> None:
        self.edges.append(np.stack([starts, ends], axis=1))

    def wall(self, low: FloatArray, high: FloatArray, *, flip: bool = False) -> None:
        """The faces between two rings of equal length, outside to the right of the ring's direction."""
        next_low, next_high = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
        first = np.stack([low, next_low, next_high], axis=1)
        second = np.stack([low, next_high, high], axis=1)
        both = np.concatenate([first, second])
        self.faces.append(both[:, ::-1] if flip else both)

    def prism(self, solid: Prism, *, low_cap: bool = True) -> None:
        low, high = solid.ring(solid.low), solid.ring(solid.high)
        self.wall(low, high)
        self.polygon(high)
        if low_cap:
            self.polygon(low, flip=True)
        for ring in (low, high):
            self.lines(ring, np.roll(ring, -1, axis=0))
        self.lines(low, high)

    def cylinder(
        self,
        solid: Cylinder,
        segments: int,
        *,
        low_cap: bool = False,
        high_cap: bool = True,
        inside: bool = False,
    ) -> None:
        """``inside``: seen from within, like the bore of a tube."""
        low, high = solid.ring(solid.low, segments), solid.ring(solid.high, segments)
        self.wall(low, high, flip=inside)
        if high_cap:
            self.polygon(high)
        if low_cap:
            self.polygon(low, flip=True)
        for ring in (low, high):
            self.lines(ring, np.roll(ring, -1, axis=0))
        before, after = np.roll(low, 1, axis=0), np.roll(low, -1, axis=0)
        self.conditional.append(np.stack([low, high, before, after], axis=1))

    def add(self, other: MeshBuilder, turn: FloatArray, offset: FloatArray) -> None:
        """Everything of another builder, turned by a (3, 3) rotation, then moved."""
        self.faces += [faces @ turn.T + offset for faces in other.faces]
        self.edges += [edges @ turn.T + offset for edges in other.edges]
        self.conditional += [lines @ turn.T + offset for lines in other.conditional]

    def washer(self, outer: FloatArray, inner: FloatArray) -> None:
        """A flat ring facing down, between two rings of equal length."""
        self.wall(outer, inner, flip=True)

    def build(self) -> Mesh:
        """In metres; equal corners share a vertex."""
        triangles = np.concatenate(self.faces) if self.faces else np.zeros((0, 3, 3))
        return make_mesh(
            triangles * LDU_M,
            np.full(len(triangles), MAIN_COLOUR, dtype=np.int32),
            np.concatenate([*self.edges, np.zeros((0, 2, 3))]) * LDU_M,
            None,
            np.concatenate([*self.conditional, np.zeros((0, 4, 3))]) * LDU_M,
        )


def make_mesh(
    triangles: FloatArray,
    colours: IntArray,
    edges: FloatArray,
    edge_colours: IntArray | None,
    conditional: FloatArray,
) -> Mesh:
    """Index loose triangles (m, 3, 3) in metres; degenerate ones are dropped, equal corners (to 0.1 um) merged."""
    keys = np.round(triangles.reshape(-1, 3) * 1e7).astype(np.int64)
    if len(keys):
        first, index = _distinct_rows(keys)
        faces = index.reshape(-1, 3).astype(np.int32)
        vertices = triangles.reshape(-1, 3)[first].astype(np.float32)
        area = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        distinct = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
        keep = distinct & (np.linalg.norm(area, axis=1) > 1e-14)
        faces, colours = faces[keep], colours[keep]
    else:
        faces, vertices = np.zeros((0, 3), np.int32), np.zeros((0, 3), np.float32)
    if edge_colours is None:
        edge_colours = np.full(len(edges), EDGE_COLOUR, dtype=np.int32)
    return Mesh(
        vertices, faces, colours, edges.astype(np.float32), edge_colours, conditional.astype(np.float32)
    )


def _distinct_rows(rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """For (n, 3) rows: an index of each distinct one, and for each row the number of the one it equals.

    What np.unique does along an axis, but for its sort of whole rows, which takes five times as long.
    """
    order = np.lexsort(rows.T)
    ordered = rows[order]
    starts = np.concatenate([[True], (ordered[1:] != ordered[:-1]).any(axis=1)])
    number = np.empty(len(rows), dtype=np.intp)
    number[order] = np.cumsum(starts) - 1
    return order[starts], number
