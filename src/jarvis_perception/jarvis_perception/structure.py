"""What stands on the build plate, cell by cell of its stud grid, and what changed between two looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M
from jarvis_core.cell import CellConfig
from jarvis_core.objects import Box, RigidObject
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seen import UNSEEN, CellChange, PlacedAnswer, SeenStructure

from jarvis_perception.colours import Palette
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.view import Mask, View

#: Pixels nearer to the edge of a cell than this share of it may show a neighbour's side.
_RIM = 0.08
#: Seen from above, this share of a cell's pixels is lower than its flat top at most: the quantile taken for it.
_FLAT = 0.45
#: Radius of a stud's top that surely belongs to it, and beyond which a pixel surely does not, as shares of a pitch.
_ON_STUD, _OFF_STUD = 0.22, 0.36
_LEAST_PX = 3
#: Structures are not higher.
_TALLEST_M = 0.3
BARE = -1

IntArray = npt.NDArray[np.int_]


@dataclass(frozen=True, slots=True)
class Grid:
    """The plate's cells in a view.

    Attributes:
        cells: (m,) cell number i * ny + j of each pixel used. rgb: (m, 3). above_m: (m,) over the plate's surface.
        from_stud: (m,) distance from the middle of the cell, as a share of a pitch.
        full: pixels of a cell that is seen whole, level with the plate.
    """

    shape: tuple[int, int]
    cells: IntArray
    rgb: npt.NDArray[np.uint8]
    above_m: FloatArray
    from_stud: FloatArray
    full: float

    @classmethod
    def of(cls, view: View, cell: CellConfig, hidden: Mask) -> Grid:
        """Args: hidden: pixels of the robot, which tell nothing about the plate."""
        pose, studs = cell.plate.pose, cell.plate.studs
        at = _around_plate(view, cell)
        chosen = view.valid[at] & ~hidden[at]
        turn = pose.rotation[:2, :2]
        dx, dy = view.x[at][chosen] - pose.position[0], view.y[at][chosen] - pose.position[1]
        x = (dx * turn[0, 0] + dy * turn[1, 0]) / STUD_PITCH_M + studs[0] / 2
        y = (dx * turn[0, 1] + dy * turn[1, 1]) / STUD_PITCH_M + studs[1] / 2
        i, j = np.floor(x).astype(int), np.floor(y).astype(int)
        fx, fy = np.abs(x - i - 0.5), np.abs(y - j - 0.5)
        inside = (i >= 0) & (i < studs[0]) & (j >= 0) & (j < studs[1]) & (np.maximum(fx, fy) < 0.5 - _RIM)
        return cls(
            studs,
            (i * studs[1] + j)[inside],
            view.rgb[at][chosen][inside],
            (view.z[at][chosen][inside] - pose.position[2]).astype(np.float64),
            np.hypot(fx, fy)[inside],
            ((1 - 2 * _RIM) * STUD_PITCH_M / view.pixel_m) ** 2,
        )

    def quantile(self, values: FloatArray, chosen: Mask, share: float) -> tuple[FloatArray, IntArray]:
        """Per cell: the quantile of the chosen pixels' values (nan without any), and their number."""
        cells, values = self.cells[chosen], values[chosen]
        order = np.lexsort((values, cells))
        count = np.bincount(cells, minlength=self.shape[0] * self.shape[1])
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        found = np.full(len(count), np.nan)
        some = count > 0
        found[some] = values[order][(first + np.floor(share * (count - 1)).astype(int))[some]]
        return found, count


def _around_plate(view: View, cell: CellConfig) -> tuple[slice, slice]:
    """Rows and columns that hold all of the plate, and what stands on it as far as it is seen over the plate."""
    nx, ny = cell.plate.studs
    half = np.array([[sx * nx, sy * ny, 0.0] for sx in (-1, 1) for sy in (-1, 1)]) * STUD_PITCH_M / 2
    low = cell.plate.pose @ half
    pixels = view.project(np.vstack([low, low + [0.0, 0.0, _TALLEST_M]]))
    (u0, v0), (u1, v1) = np.floor(pixels.min(axis=0)).astype(int), np.ceil(pixels.max(axis=0)).astype(int) + 1
    return slice(max(0, v0), max(0, v1)), slice(max(0, u0), max(0, u1))


def see_structure(
    view: View, cell: CellConfig, hidden: Mask, light: FloatArray, palette: Palette, config: PerceptionConfig
) -> SeenStructure:
    """Heights, colours and free studs of all cells."""
    grid = Grid.of(view, cell, hidden)
    every = np.ones(len(grid.cells), bool)
    flat, count = grid.quantile(grid.above_m, every, _FLAT)
    seen = count >= config.structure.min_share * grid.full
    heights = np.where(seen, np.maximum(np.round(np.nan_to_num(flat) / PLATE_HEIGHT_M), 0), UNSEEN).astype(
        int
    )
    stud, on = grid.quantile(grid.above_m, grid.from_stud < _ON_STUD, 0.5)
    ring, off = grid.quantile(grid.above_m, grid.from_stud > _OFF_STUD, 0.5)
    has_stud = (
        seen & (on >= _LEAST_PX) & (off >= _LEAST_PX) & (np.nan_to_num(stud - ring) > config.structure.stud_m)
    )
    colours = _colours(grid, heights, light, palette, config)
    nx, ny = grid.shape
    free = [(k // ny, k % ny, int(heights[k])) for k in np.flatnonzero(has_stud & (heights > 0)).tolist()]
    rows = heights.reshape(nx, ny)
    return SeenStructure(_rows(rows), _rows(colours.reshape(nx, ny)), tuple(free))


def _colours(
    grid: Grid, heights: IntArray, light: FloatArray, palette: Palette, config: PerceptionConfig
) -> IntArray:
    colours = np.full(len(heights), BARE)
    built = heights[grid.cells] > 0
    channels = [grid.quantile(grid.rgb[:, c].astype(np.float64), built, 0.5)[0] for c in range(3)]
    for k in np.flatnonzero(heights > 0).tolist():
        rgb = np.array([channel[k] for channel in channels]) / 255 / light
        colours[k] = palette.guess(rgb, config.colour.sigma).code
    return colours


def _rows(values: IntArray) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row) for row in values.tolist())


def remembered(now: SeenStructure, before: SeenStructure | None) -> SeenStructure:
    """Cells that are hidden now as they were seen last."""
    if before is None:
        return now
    heights, colours = np.array(now.heights_plates), np.array(now.colours)
    hidden = heights == UNSEEN
    heights[hidden], colours[hidden] = (
        np.array(before.heights_plates)[hidden],
        np.array(before.colours)[hidden],
    )
    studs = [*now.free_studs, *(s for s in before.free_studs if hidden[s[0], s[1]])]
    return SeenStructure(_rows(heights), _rows(colours), tuple(sorted(studs)))


def structure_boxes(
    structure: SeenStructure, cell: CellConfig, skip: npt.NDArray[np.int_] | None = None
) -> tuple[RigidObject, ...]:
    """Solid boxes from the plate up, one for each rectangle of cells of one height: what a planner has to avoid.

    Args:
        skip: (nx, ny) tops, in plates, that replace higher ones: what lies above is a brick of its own.
    """
    heights, colours = np.array(structure.heights_plates), np.array(structure.colours)
    if skip is not None:
        heights = np.minimum(heights, skip)
    found = []
    for height in np.unique(heights[heights > 0]).tolist():
        for number, (i0, i1, j0, j1) in enumerate(_rectangles(heights == height)):
            size = ((i1 - i0) * STUD_PITCH_M, (j1 - j0) * STUD_PITCH_M, height * PLATE_HEIGHT_M)
            corner = np.array(
                [(i0 + i1 - cell.plate.studs[0]) / 2, (j0 + j1 - cell.plate.studs[1]) / 2, 0.0]
            ) * STUD_PITCH_M  # fmt: skip
            pose = cell.plate.pose @ Pose((corner[0], corner[1], size[2]))
            box = Box(Pose((0.0, 0.0, -size[2] / 2)), size)
            name = f"structure-{height}-{number + 1}"
            found.append(RigidObject(name, "structure", int(colours[i0, j0]), pose, (box,), fixed=True))
    return tuple(found)


def _rectangles(mask: npt.NDArray[np.bool_]) -> list[tuple[int, int, int, int]]:
    """Disjoint rectangles (i0, i1, j0, j1) that make up a mask, each grown along j, then along i."""
    left, found = mask.copy(), []
    while left.any():
        i, j = (int(k) for k in np.argwhere(left)[0])
        j1 = j + 1
        while j1 < left.shape[1] and left[i, j1]:
            j1 += 1
        i1 = i + 1
        while i1 < left.shape[0] and left[i1, j:j1].all():
            i1 += 1
        left[i:i1, j:j1] = False
        found.append((i, i1, j, j1))
    return found


def cells_under(boxes: Sequence[Box], cell: CellConfig) -> IntArray:
    """(n, 2) cells whose middles lie under any of the upright boxes (``world``)."""
    nx, ny = cell.plate.studs
    i, j = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    local = np.stack([(i - (nx - 1) / 2), (j - (ny - 1) / 2), np.zeros(i.shape)], axis=-1) * STUD_PITCH_M
    places = cell.plate.pose @ local.reshape(-1, 3)
    inside = np.zeros(len(places), bool)
    for box in boxes:
        own = box.pose.inverse() @ np.column_stack(
            [places[:, :2], np.full(len(places), box.pose.position[2])]
        )
        reach = np.abs(box.pose.rotation.T @ np.array([0.0, 0.0, 1.0]))
        half = np.array(box.size_m) / 2 * (1 + 1e-6)
        inside |= (np.abs(own) <= half)[:, reach < 0.7].all(axis=1)
    found: IntArray = np.argwhere(inside.reshape(nx, ny))
    return found


def changed_cells(before: SeenStructure, after: SeenStructure) -> tuple[CellChange, ...]:
    """Cells seen both times whose top has another height."""
    was, now, colours = (
        np.array(before.heights_plates),
        np.array(after.heights_plates),
        np.array(after.colours),
    )
    changed = np.argwhere((was != now) & (was != UNSEEN) & (now != UNSEEN))
    return tuple(
        CellChange(i, j, int(was[i, j]), int(now[i, j]), int(colours[i, j])) for i, j in changed.tolist()
    )


def did_place(
    before: SeenStructure, after: SeenStructure, expected: Sequence[Box], cell: CellConfig
) -> PlacedAnswer:
    """Whether a brick came to lie where it should.

    Args:
        expected: its boxes at the expected pose, ``world``.
    """
    cells = cells_under(expected, cell)
    if not len(cells):
        return PlacedAnswer(False, "the expected place is not on the build plate", 0, 0)
    top = max(_top_of(box) for box in expected) - float(cell.plate.pose.position[2])
    plates = round(top / PLATE_HEIGHT_M)
    was, now = np.array(before.heights_plates), np.array(after.heights_plates)
    tops, earlier = now[cells[:, 0], cells[:, 1]], was[cells[:, 0], cells[:, 1]]
    rose = int(((tops == plates) & (earlier < plates)).sum())
    hidden = int((tops == UNSEEN).sum())
    n = len(cells)
    if rose == n:
        return PlacedAnswer(True, f"all {n} cells rose to {plates} plates", rose, n)
    if hidden:
        return PlacedAnswer(False, f"{hidden} of {n} cells are hidden; look again with the arm away", rose, n)
    others = len(changed_cells(before, after)) - rose
    where = f", {others} other cells changed" if others > 0 else ""
    return PlacedAnswer(False, f"{rose} of {n} cells rose to {plates} plates{where}", rose, n)


def _top_of(box: Box) -> float:
    return float(box.pose.position[2] + np.abs(box.pose.rotation[2]) @ np.array(box.size_m) / 2)
