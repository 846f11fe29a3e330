"""What parts look like from straight above, on each of their sides: height fields and outlines at several heights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import PartGeometry
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seen import SideUp

from jarvis_perception.config import TemplateConfig

Float32 = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]

_S = float(np.sqrt(0.5))
#: Turns (x, y, z, w) that bring each side up.
TURNS: dict[SideUp, tuple[float, float, float, float]] = {
    SideUp.STUDS: (0.0, 0.0, 0.0, 1.0),
    SideUp.UNDERSIDE: (1.0, 0.0, 0.0, 0.0),
    SideUp.X: (0.0, -_S, 0.0, _S),
    SideUp.MINUS_X: (0.0, _S, 0.0, _S),
    SideUp.Y: (_S, 0.0, 0.0, _S),
    SideUp.MINUS_Y: (-_S, 0.0, 0.0, _S),
}
#: Outlines are taken this far below and above the plane that most of the top lies in.
_BESIDE_TOP_M = 0.0008
#: Smallest share of the footprint that an outline has to enclose.
_LEAST_SHARE = 0.04
_SAME_M = 3e-4
#: What is higher than this above the table hangs over it; a round footprint, turned, differs by less than this share.
_OVERHANG_M, _ROUND_SHARE = 0.0016, 0.06
#: Directions of what is round all over, told apart by nothing, are counted in these steps (rad).
_ROUND_PERIOD = np.pi / 8


@dataclass(frozen=True, slots=True)
class Template:
    """A part lying on one side. Its lying frame: z up, z = 0 the table, x and y the middle of its footprint.

    Attributes:
        part_in_lying: pose of the part frame in the lying frame.
        size_m: (x, y, z) of the box around it, studs included.
        body_m: (x, y, z) of the box around its body, without studs on its top.
        top_m: height of the plane that most of the top lies in.
        heights: (ny, nx) float32 top of each cell, 0 where nothing is.
        under: (ny, nx) float32 lowest height of each cell that can be seen from beside, 0 where that is the table;
            None: nothing hangs over.
        levels: heights of the outlines, rising.
        fields: for each level (ny, nx, 3) float32: signed distance to the outline (positive inside) and its gradient.
        cell_m: edge of a cell; cell (j, i) has its middle at ((i, j) - ((nx, ny) - 1) / 2) * cell_m.
        turns: quarter turns about z, 0 to 3, that look different, each by its smallest number.
        round: the footprint tells no direction.
        period: smallest turn (rad) about z that leaves it looking the same.
        outline: (long, short, angle) of the smallest rectangle around the footprint, metres; radians of
            its long side.
        high_m: height that a twentieth of the footprint reaches above.
        studs: number of studs that point up.
    """

    part: str
    side: SideUp
    part_in_lying: Pose
    size_m: tuple[float, float, float]
    body_m: tuple[float, float, float]
    top_m: float
    heights: Float32
    under: Float32 | None
    levels: tuple[float, ...]
    fields: tuple[Float32, ...]
    cell_m: float
    turns: tuple[int, ...]
    round: bool
    period: float
    outline: tuple[float, float, float]
    high_m: float
    studs: int

    def cells(self, x: Float32, y: Float32) -> tuple[Float32, Float32]:
        """Fractional column and row of places in the lying frame."""
        rows, columns = self.heights.shape
        return x * (1 / self.cell_m) + (columns - 1) / 2, y * (1 / self.cell_m) + (rows - 1) / 2


class Templates:
    """Templates of parts, made when first asked for.

    Args:
        geometry: of a part by its number; raises BadInputError for an unknown one.
    """

    def __init__(self, geometry: Callable[[str], PartGeometry], config: TemplateConfig) -> None:
        self._geometry = geometry
        self._config = config
        self._made: dict[tuple[str, SideUp], Template] = {}
        self._sizes: dict[tuple[str, SideUp], tuple[float, float, float]] = {}
        self._distinct: dict[str, tuple[SideUp, ...]] = {}

    def geometry(self, part: str) -> PartGeometry:
        return self._geometry(part)

    def get(self, part: str, side: SideUp) -> Template:
        key = (part, side)
        if key not in self._made:
            self._made[key] = make_template(self._geometry(part), side, self._config)
        return self._made[key]

    def size(self, part: str, side: SideUp) -> tuple[float, float, float]:
        """(x, y, z) of the part's box on that side, studs included, without making the template."""
        key = (part, side)
        if key not in self._sizes:
            geometry = self._geometry(part)
            points = geometry.low_poly.vertices.astype(np.float64)
            low, high = (points.min(axis=0), points.max(axis=0)) if len(points) else geometry.bounds
            x, y, z = np.abs(Pose(quaternion=TURNS[side]).rotation @ (high - low)).tolist()
            self._sizes[key] = (x, y, z)
        return self._sizes[key]

    def sides(self, part: str) -> tuple[SideUp, ...]:
        """The sides that look different from above."""
        if part not in self._distinct:
            kept: list[SideUp] = []
            for side in SideUp:
                if not any(_alike(self.get(part, side), self.get(part, other)) for other in kept):
                    kept.append(side)
            self._distinct[part] = tuple(kept)
        return self._distinct[part]


def make_template(geometry: PartGeometry, side: SideUp, config: TemplateConfig) -> Template:
    """The height field of a part's low-poly mesh, lying on the side opposite to ``side``."""
    turn = Pose(quaternion=TURNS[side])
    points = turn @ geometry.low_poly.vertices.astype(np.float64)
    low, high = points.min(axis=0), points.max(axis=0)
    middle = np.array([*((low + high) / 2)[:2], low[2]])
    lying = points - middle
    size = high - low
    cells = (np.ceil((size[:2] / 2 + config.margin_m) / config.cell_m) * 2 + 1).astype(int)
    heights, lowest = _raster(lying[geometry.low_poly.triangles], cells, config.cell_m)
    # On any other side nearly every part hangs over, but its studs already tell which way it lies.
    under = _overhang(heights, lowest) if side is SideUp.STUDS else None
    top = _main_height(heights)
    body = turn @ np.array(np.meshgrid(*geometry.bounds.T)).reshape(3, -1).T
    edges = body.max(axis=0) - body.min(axis=0)
    levels = _levels(heights, top)
    turns = _distinct_turns(heights, under)
    round_below, round_above = _round(heights)
    return Template(
        part=geometry.part,
        side=side,
        part_in_lying=Pose(-middle, TURNS[side]),
        size_m=(float(size[0]), float(size[1]), float(size[2])),
        body_m=(float(edges[0]), float(edges[1]), float(edges[2])),
        top_m=top,
        heights=heights,
        under=under,
        levels=levels,
        fields=tuple(_outline(_reaches(heights, under, level), config.cell_m) for level in levels),
        cell_m=config.cell_m,
        turns=turns,
        round=round_below,
        period=_ROUND_PERIOD if round_above else len(turns) * np.pi / 2,
        outline=_rectangle(heights, config.cell_m),
        high_m=float(np.percentile(heights[heights > 0], 95)),
        studs=int((geometry.studs.axes @ turn.rotation.T)[:, 2].__gt__(0.99).sum())
        if len(geometry.studs)
        else 0,
    )


def _raster(triangles: FloatArray, cells: npt.NDArray[np.int_], cell_m: float) -> tuple[Float32, Float32]:
    """(ny, nx) greatest and (ny, nx) least height of any triangle (n, 3, 3) over each cell's middle; 0, inf: none."""
    columns, rows = int(cells[0]), int(cells[1])
    heights = np.zeros((rows, columns), np.float32)
    lowest = np.full((rows, columns), np.inf, np.float32)
    places = triangles.copy()
    places[..., 0] = triangles[..., 0] / cell_m + (columns - 1) / 2
    places[..., 1] = triangles[..., 1] / cell_m + (rows - 1) / 2
    normals = np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    for (a, b, c), normal in zip(places, normals, strict=True):
        if abs(normal[2]) < 1e-6:
            continue
        corners = np.array([a, b, c])
        x0, y0 = np.floor(corners[:, :2].min(axis=0)).astype(int)
        x1, y1 = np.ceil(corners[:, :2].max(axis=0)).astype(int) + 1
        y, x = np.mgrid[y0:y1, x0:x1]
        inside = np.ones(x.shape, bool)
        sign = np.sign(normal[2])
        for p, q in ((a, b), (b, c), (c, a)):
            inside &= sign * ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) >= -1e-6
        z = a[2] - (normal[0] * (x - a[0]) + normal[1] * (y - a[1])) / normal[2]
        window, below = heights[y0:y1, x0:x1], lowest[y0:y1, x0:x1]
        np.maximum(window, np.where(inside, z, 0.0).astype(np.float32), out=window)
        np.minimum(below, np.where(inside, z, np.inf).astype(np.float32), out=below)
    return heights, lowest


def _main_height(heights: Float32) -> float:
    """The height that the largest part of the top has, among those in its upper half."""
    high = heights[heights > heights.max() / 2]
    steps = np.round(high / 2e-4).astype(int)
    return float(np.bincount(steps).argmax() * 2e-4)


def _levels(heights: Float32, top: float) -> tuple[float, ...]:
    """Half-way up, just below the main plane and just above it, where that encloses anything."""
    area = (heights > 0).sum()
    wanted = {top / 2, max(top - _BESIDE_TOP_M, top * 0.75), top + _BESIDE_TOP_M}
    return tuple(sorted(z for z in wanted if (heights >= z).sum() > _LEAST_SHARE * area))


def _overhang(heights: Float32, lowest: Float32) -> Float32 | None:
    """``Template.under``, by the lowest surface of each cell: hollows that walls enclose don't show from beside."""
    open_below = ((heights <= 0) | (lowest > _OVERHANG_M)).astype(np.uint8)
    _, labels = cv2.connectedComponents(open_below, connectivity=4)
    hangs = (labels == labels[0, 0]) & (heights > 0)
    if hangs.sum() < _LEAST_SHARE * (heights > 0).sum():
        return None
    return np.where(hangs, lowest, 0.0).astype(np.float32)


def _reaches(heights: Float32, under: Float32 | None, level: float) -> Mask:
    """(ny, nx) cells that are solid at a height."""
    solid: Mask = heights >= level if under is None else (heights >= level) & (under <= level)
    return solid


def _outline(solid: Mask, cell_m: float) -> Float32:
    """(ny, nx, 3) signed distance in metres to the edge of what is solid, and its gradient."""
    inside = solid.astype(np.uint8)
    within = cv2.distanceTransform(inside, cv2.DIST_L2, 5)
    beyond = cv2.distanceTransform(1 - inside, cv2.DIST_L2, 5)
    # Distances are to the nearest cell of the other kind: the edge lies half a cell before it.
    signed = (np.where(inside > 0, within - 0.5, 0.5 - beyond) * cell_m).astype(np.float32)
    smooth = cv2.GaussianBlur(signed, (3, 3), 0)
    gy, gx = np.gradient(smooth, cell_m)
    return np.ascontiguousarray(np.dstack([smooth, gx, gy]).astype(np.float32))


def _distinct_turns(heights: Float32, under: Float32 | None) -> tuple[int, ...]:
    shapes = [heights] if under is None else [heights, under]
    kept: list[int] = []
    for turn in range(4):
        if not any(all(_same(np.rot90(s, -turn), np.rot90(s, -other)) for s in shapes) for other in kept):
            kept.append(turn)
    return tuple(kept)


def _round(heights: Float32) -> tuple[bool, bool]:
    """Whether an eighth of a turn leaves the footprint as it is, and whether it leaves the heights so, too."""
    ny, nx = heights.shape
    turn = cv2.getRotationMatrix2D(((nx - 1) / 2, (ny - 1) / 2), 45.0, 1.0)
    turned = cv2.warpAffine(heights, turn, (nx, ny), flags=cv2.INTER_NEAREST)
    most = _ROUND_SHARE * int((heights > 0).sum())
    beside = int(((heights > 0) != (turned > 0)).sum())
    moved = int((np.abs(heights - turned) > _SAME_M).sum())
    return beside < most, moved < 2 * most


def smallest_rectangle(points: npt.NDArray[np.float32]) -> tuple[float, float, float, float, float]:
    """x, y of the middle, long side, short side and angle (rad) of the smallest rectangle around (n, 2) points."""
    (x, y), (width, height), degrees = cv2.minAreaRect(points)
    angle = float(np.radians(degrees))
    if width < height:
        width, height, angle = height, width, angle + np.pi / 2
    return float(x), float(y), float(width), float(height), angle


def _rectangle(heights: Float32, cell_m: float) -> tuple[float, float, float]:
    row, column = np.nonzero(heights > 0)
    _, _, width, height, angle = smallest_rectangle(np.column_stack([column, row]).astype(np.float32))
    return (width + 1) * cell_m, (height + 1) * cell_m, angle


def _same(a: Float32, b: Float32) -> bool:
    return a.shape == b.shape and float(np.abs(cv2.blur(a - b, (3, 3))).mean()) < _SAME_M / 10


def _alike(a: Template, b: Template) -> bool:
    return any(_same(a.heights, np.rot90(b.heights, turn)) for turn in range(4))
