"""What stands on the build plate, column by column, and where a brick can be put down on it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M, PartGeometry
from jarvis_core.pose import FloatArray
from jarvis_core.seen import SeenStructure

IntArray = npt.NDArray[np.int64]
#: A column that a body covers by less is not its own, and heights nearer than this to a plate's are that plate's.
_SHARE = 0.25
_LEVEL = 0.3
#: Columns beyond the plate's rim: as many as the longest part has, and lower than anything.
_PAD, _OUTSIDE = 24, -99


@dataclass(frozen=True, slots=True)
class Footprint:
    """A part turned to one of four yaws, in cells and plates from its reference: the cell of its first opening.

    Attributes:
        yaw: quarter turns.
        shift_m: (2,) from the reference cell's middle to the part's origin.
        cells: (n, 2) columns that the body stands in; bottoms, tops: (n,) of the body there, plates above the origin.
        studded: (n,) whether its top carries a stud.
        openings: (m, 3) cell and height of the openings that take studs.
    """

    yaw: int
    shift_m: FloatArray
    cells: IntArray
    bottoms: IntArray
    tops: IntArray
    studded: npt.NDArray[np.bool_]
    openings: IntArray

    @property
    def height(self) -> int:
        """Plates from its lowest to its highest."""
        return int(self.tops.max() - self.bottoms.min())


@dataclass(frozen=True, slots=True)
class Place:
    """Where a footprint rests: its reference cell, and the height of the part's origin in plates."""

    cell: tuple[int, int]
    level: int


@dataclass(frozen=True, slots=True)
class Places:
    """Many of them: (n, 2) reference cells, (n,) levels, (n, 3) origins of the part in metres on the plate."""

    cells: IntArray
    levels: IntArray
    positions: FloatArray

    def raised(self, plates: int) -> Places:
        """The same, so many plates further up: on something that is not there yet."""
        up = np.array([0.0, 0.0, plates * PLATE_HEIGHT_M])
        return Places(self.cells, self.levels + plates, self.positions + up)


@dataclass(frozen=True, slots=True)
class Columns:
    """Height of every column of the plate in plates, and whether a free stud is on top. Never changed in place."""

    heights: IntArray
    studs: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, structure: SeenStructure) -> Columns:
        """From what perception saw from above; unseen columns count as bare plate without studs."""
        heights = np.array(structure.heights_plates, dtype=np.int64)
        studs = heights == 0
        for i, j, height in structure.free_studs:
            studs[i, j] |= height == heights[i, j]
        return cls(np.maximum(heights, 0), studs)

    def places(self, footprint: Footprint) -> Places:
        """All places where the part, let down from above, comes to rest on at least one stud."""
        rows, columns = self.heights.shape
        heights = np.pad(self.heights, _PAD, constant_values=_OUTSIDE)
        studs = np.pad(self.studs, _PAD, constant_values=False)

        def window(cell: IntArray) -> tuple[slice, slice]:
            i, j = _PAD + int(cell[0]), _PAD + int(cell[1])
            return slice(i, i + rows), slice(j, j + columns)

        over = np.stack([heights[window(cell)] for cell in footprint.cells])
        level = (over - footprint.bottoms[:, None, None]).max(axis=0)
        held = np.zeros(level.shape, dtype=bool)
        for opening in footprint.openings:
            area = window(opening)
            held |= (heights[area] == level + opening[2]) & studs[area]
        cells = np.argwhere((over > _OUTSIDE).all(axis=0) & held)
        levels = level[cells[:, 0], cells[:, 1]]
        half = np.array(self.heights.shape) / 2
        flat = (cells + 0.5 - half) * STUD_PITCH_M + footprint.shift_m
        return Places(cells, levels, np.column_stack([flat, levels * PLATE_HEIGHT_M]))

    def with_brick(self, footprint: Footprint, place: Place) -> Columns:
        """After the brick has been put down."""
        heights, studs = self.heights.copy(), self.studs.copy()
        i, j = (footprint.cells + place.cell).T
        tops = footprint.tops + place.level
        higher = tops >= heights[i, j]
        heights[i[higher], j[higher]] = tops[higher]
        studs[i[higher], j[higher]] = footprint.studded[higher]
        return Columns(heights, studs)


class FootprintBook:
    """Footprints of parts, each made once."""

    def __init__(self, catalogue: PartCatalogue) -> None:
        self._catalogue = catalogue
        self._known: dict[str, list[Footprint]] = {}

    def of(self, part: str) -> list[Footprint]:
        if part not in self._known:
            self._known[part] = footprints(self._catalogue.geometry(part))
        return self._known[part]


def footprints(geometry: PartGeometry) -> list[Footprint]:
    """The part at each yaw that looks different; empty if its openings do not lie on one lattice of studs."""
    upright = (
        np.abs(geometry.antistuds.axes[:, 2]) > 0.9 if len(geometry.antistuds) else np.zeros(0, dtype=bool)
    )
    if not upright.any():
        return []
    return [f for yaw in range(_n_yaws(geometry)) if (f := _footprint(geometry, yaw)) is not None]


def _n_yaws(geometry: PartGeometry) -> int:
    """1, 2 or 4: after so many quarter turns the part looks the same."""
    turns = {
        round(2 * np.degrees(np.arctan2(q[2], q[3]))) % 360
        for q in geometry.symmetries
        if abs(q[0]) + abs(q[1]) < 1e-6
    }
    return 1 if 90 in turns else 2 if 180 in turns else 4


def _footprint(geometry: PartGeometry, yaw: int) -> Footprint | None:
    c, s = round(np.cos(yaw * np.pi / 2)), round(np.sin(yaw * np.pi / 2))
    turn = np.array([[c, -s], [s, c]], dtype=np.float64)
    openings = geometry.antistuds.positions
    places = openings[:, :2] @ turn.T
    first = places[0]
    cells = (places - first) / STUD_PITCH_M
    if np.abs(cells - cells.round()).max() > 0.05:
        return None
    taken: dict[tuple[int, int], tuple[float, float]] = {}
    for box in geometry.body_boxes:
        middle = turn @ box.pose.position[:2] - first
        size = np.abs(box.pose.rotation) @ np.asarray(box.size_m)
        half = np.abs(turn) @ size[:2] / 2
        low_z, high_z = box.pose.position[2] - size[2] / 2, box.pose.position[2] + size[2] / 2
        low, high = (middle - half) / STUD_PITCH_M + 0.5, (middle + half) / STUD_PITCH_M + 0.5
        for i in range(int(np.floor(low[0])), int(np.ceil(high[0]))):
            for j in range(int(np.floor(low[1])), int(np.ceil(high[1]))):
                share = (min(high[0], i + 1) - max(low[0], i)) * (min(high[1], j + 1) - max(low[1], j))
                if share >= _SHARE:
                    old = taken.get((i, j), (low_z, high_z))
                    taken[i, j] = min(old[0], low_z), max(old[1], high_z)
    if not taken:
        return None
    bounds = np.array(list(taken.values())) / PLATE_HEIGHT_M
    stud_cells = np.round((geometry.studs.positions[:, :2] @ turn.T - first) / STUD_PITCH_M)
    topped = {
        (int(a), int(b))
        for (a, b), axis in zip(stud_cells, geometry.studs.axes, strict=True)
        if axis[2] > 0.9
    }
    levels = np.round(openings[:, 2] / PLATE_HEIGHT_M)
    return Footprint(
        yaw,
        -first,
        np.array(list(taken), dtype=np.int64),
        np.ceil(bounds[:, 0] - _LEVEL).astype(np.int64),
        np.ceil(bounds[:, 1] - _LEVEL).astype(np.int64),
        np.array([cell in topped for cell in taken]),
        np.column_stack([cells.round(), levels]).astype(np.int64),
    )
