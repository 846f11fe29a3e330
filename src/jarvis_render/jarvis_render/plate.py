"""The piece of the studded build plate that a page shows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M
from jarvis_core.pose import FloatArray

from jarvis_render.figures import Figure, line_rows, triangle_rows
from jarvis_render.paint import Rgb

_STUD_SIDES = 16


@dataclass(frozen=True, slots=True)
class PlateSpan:
    """A rectangle of whole studs: x0 <= x < x1 and y0 <= y < y1, counted from the plate's middle."""

    x0: int
    x1: int
    y0: int
    y1: int

    @classmethod
    def around(cls, points: npt.ArrayLike, margin: int, studs: tuple[int, int]) -> PlateSpan:
        """What lies within ``margin`` studs of (n, 2 or 3) points in metres, on a plate of so many studs."""
        cells = np.asarray(points, dtype=np.float64)[:, :2] / STUD_PITCH_M
        low = np.floor(cells.min(axis=0) + 0.1).astype(int) - margin
        high = np.ceil(cells.max(axis=0) - 0.1).astype(int) + margin
        half = np.array(studs) // 2
        low, high = np.clip(low, -half, half - 1), np.clip(high, -half + 1, half)
        return cls(int(low[0]), int(high[0]), int(low[1]), int(high[1]))

    def cells(self) -> FloatArray:
        """(n, 3) metres, middles of all studs on the top surface."""
        xs, ys = np.meshgrid(np.arange(self.x0, self.x1) + 0.5, np.arange(self.y0, self.y1) + 0.5)
        return np.stack([xs.ravel(), ys.ravel(), np.zeros(xs.size)], axis=1) * STUD_PITCH_M

    def corners(self) -> FloatArray:
        """(4, 3) metres, on the top surface."""
        xs, ys = (self.x0, self.x1), (self.y0, self.y1)
        return np.array([[x * STUD_PITCH_M, y * STUD_PITCH_M, 0.0] for x in xs for y in ys])


@dataclass(frozen=True, slots=True)
class PlateLook:
    """Colours of the plate and its lines.

    Attributes:
        edge: of the outlines of slab and studs; None: not drawn.
        grid_studs: every so many studs from the middle a line (0: none).
        axes: colours of the lines y = 0 (the x axis) and x = 0 (the y axis), which cross at the plate's origin;
            None: drawn like the grid's other lines.
    """

    face: Rgb
    edge: Rgb | None
    grid: Rgb
    grid_studs: int
    axes: tuple[Rgb, Rgb] | None = None


def plate_figure(span: PlateSpan, thickness_m: float, look: PlateLook, axes: FloatArray) -> Figure:
    """Slab, studs, their outlines as seen along a direction, and the grid.

    Args:
        axes: (3, 3) rows right, up, towards the camera.
    """
    lines = [line_rows(_grid_lines(span, look.grid_studs), (*look.grid, 0.0))]
    if look.edge is not None:
        edges = np.concatenate([_slab_lines(span, thickness_m), _stud_lines(span, axes)])
        lines.insert(0, line_rows(edges, (*look.edge, 0.0)))
    if look.axes is not None:
        lines += [line_rows(_axis_line(span, i), (*rgb, 0.0)) for i, rgb in enumerate(look.axes)]
    faces = np.concatenate([_slab_faces(span, thickness_m), _stud_faces(span)])
    return Figure(triangle_rows(faces, (*look.face, 0.0)), np.concatenate(lines))


def _slab_faces(span: PlateSpan, thickness_m: float) -> FloatArray:
    """(10, 3, 3) triangles: the top and four sides."""
    x0, x1, y0, y1 = (n * STUD_PITCH_M for n in (span.x0, span.x1, span.y0, span.y1))
    top = np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]])
    bottom = top - [0.0, 0.0, thickness_m]
    quads = [top, *(np.array([top[i], bottom[i], bottom[i - 1], top[i - 1]]) for i in range(4))]
    return np.array([quad[corners] for quad in quads for corners in ([0, 1, 2], [0, 2, 3])])


def _slab_lines(span: PlateSpan, thickness_m: float) -> FloatArray:
    x0, x1, y0, y1 = (n * STUD_PITCH_M for n in (span.x0, span.x1, span.y0, span.y1))
    top = np.array([[x0, y0, 0.0], [x1, y0, 0.0], [x1, y1, 0.0], [x0, y1, 0.0]])
    bottom = top - [0.0, 0.0, thickness_m]
    rings = [np.stack([ring, np.roll(ring, -1, axis=0)], axis=1) for ring in (top, bottom)]
    return np.concatenate([*rings, np.stack([top, bottom], axis=1)])


def _grid_lines(span: PlateSpan, every: int) -> FloatArray:
    """(n, 2, 3): lines between studs, at multiples of ``every`` studs from the plate's middle."""
    if every <= 0:
        return np.zeros((0, 2, 3))
    lines = [[[x, span.y0, 0], [x, span.y1, 0]] for x in range(span.x0 + 1, span.x1) if x % every == 0] + [
        [[span.x0, y, 0], [span.x1, y, 0]] for y in range(span.y0 + 1, span.y1) if y % every == 0
    ]
    return np.array(lines, dtype=np.float64).reshape(-1, 2, 3) * STUD_PITCH_M


def _axis_line(span: PlateSpan, axis: int) -> FloatArray:
    """(0 or 1, 2, 3): the part of the plate's x (0) or y (1) axis within the span."""
    low, high = (span.x0, span.x1) if axis == 0 else (span.y0, span.y1)
    other_low, other_high = (span.y0, span.y1) if axis == 0 else (span.x0, span.x1)
    if not other_low < 0 < other_high:
        return np.zeros((0, 2, 3))
    line = np.zeros((1, 2, 3))
    line[0, :, axis] = low * STUD_PITCH_M, high * STUD_PITCH_M
    return line


def _circle(
    start: float = 0.0, stop: float = 2 * np.pi, sides: int = _STUD_SIDES, z: float = 0.0
) -> FloatArray:
    angles = np.linspace(start, stop, sides + 1)
    return np.stack(
        [STUD_RADIUS_M * np.cos(angles), STUD_RADIUS_M * np.sin(angles), np.full(sides + 1, z)], axis=1
    )


def _stud_faces(span: PlateSpan) -> FloatArray:
    foot, head = _circle(), _circle(z=STUD_HEIGHT_M)
    sides = [
        triangle
        for i in range(_STUD_SIDES)
        for triangle in ([foot[i], foot[i + 1], head[i + 1]], [foot[i], head[i + 1], head[i]])
    ]
    lid = [[head[0], head[i], head[i + 1]] for i in range(1, _STUD_SIDES - 1)]
    one = np.array(sides + lid)
    triangles: FloatArray = (span.cells()[:, None, None] + one[None]).reshape(-1, 3, 3)
    return triangles


def _stud_lines(span: PlateSpan, axes: FloatArray) -> FloatArray:
    """(n, 2, 3): of each stud its head, the front half of its foot and its two silhouette lines."""
    front = float(np.arctan2(axes[2, 1], axes[2, 0]))
    head = _circle(z=STUD_HEIGHT_M)
    foot = _circle(front - np.pi / 2, front + np.pi / 2, _STUD_SIDES // 2)
    rings = np.concatenate([np.stack([ring[:-1], ring[1:]], axis=1) for ring in (head, foot)])
    up = np.array([0.0, 0.0, STUD_HEIGHT_M])
    one = np.concatenate([rings, [[foot[0], foot[0] + up], [foot[-1], foot[-1] + up]]])
    lines: FloatArray = (span.cells()[:, None, None] + one[None]).reshape(-1, 2, 3)
    return lines
