"""Built-in parts on the stud grid: which cells they fill, where their studs and openings are.

A cell is one stud wide and deep and one plate high. Cells of a shape count from its body's lowest corner.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from jarvis_bricks.parametric import PARTS, Point

STUD_LDU, PLATE_LDU = 20, 8

Cell = tuple[int, int, int]

#: Quarter turns, counter-clockwise seen from above, that make a slope fall to this side.
TOWARDS: Mapping[str, int] = MappingProxyType({"front": 0, "right": 1, "back": 2, "left": 3})

#: Parts by kind and size, (studs across, studs along): across is the shorter one.
_KINDS = {
    "brick": r"Brick +(\d+) x +(\d+)",
    "tall": r"Brick +(\d+) x +(\d+) x +3",
    "plate": r"Plate +(\d+) x +(\d+)",
    "tile": r"Tile +(\d+) x +(\d+)",
}


@dataclass(frozen=True, slots=True)
class Shape:
    """A part turned by quarter turns.

    Attributes:
        size: cells along x, y, z.
        origin: of the part, LDU from the lowest corner, z up.
        cells: filled, at least in part; studs on a part's sides reach into the cells beside it.
        studs, openings: the cell above each upright stud, and the cell above each opening.
    """

    size: Cell
    origin: Cell
    cells: frozenset[Cell]
    studs: frozenset[Cell]
    openings: frozenset[Cell]


@cache
def shape(part: str, turn: int = 0) -> Shape:
    """A built-in part, turned ``turn`` quarter turns counter-clockwise. Raises KeyError: not built in."""
    known = PARTS[part]
    boxes = [tuple(_turned(corner, turn) for corner in box) for box in known.boxes]
    corners = [_turned(tuple(corner), turn) for corner in known.corners.tolist()]
    low = tuple(min(c[axis] for c in corners) for axis in range(3))
    high = tuple(max(c[axis] for c in corners) for axis in range(3))
    cells = frozenset(cell for a, b in boxes for cell in _cells(_less(a, low), _less(b, low)))
    return Shape(
        size=_upper(_less(high, low)),
        origin=(round(-low[0]), round(-low[1]), round(-low[2])),
        cells=cells,
        studs=frozenset(_lower(_less(_turned(stud, turn), low)) for stud in known.studs),
        openings=frozenset(_lower(_less(_turned(hole, turn), low)) for hole in known.antistuds),
    )


@cache
def part_of(kind: str, across: int, along: int) -> str | None:
    """The ordinary ``brick``, ``tall`` brick (three high), ``plate`` or ``tile`` of a size, in any order."""
    size = (min(across, along), max(across, along))
    return _parts(kind).get(size)


@cache
def lengths(kind: str, depth: int) -> tuple[int, ...]:
    """Lengths, along a run, of the parts of a kind that are ``depth`` studs deep; the longest first."""
    sizes = _parts(kind)
    found = {b if a == depth else a for a, b in sizes if depth in (a, b)}
    return tuple(sorted(found, reverse=True))


@cache
def _parts(kind: str) -> dict[tuple[int, int], str]:
    matches = {part: re.fullmatch(_KINDS[kind], known.description) for part, known in PARTS.items()}
    return {(int(m[1]), int(m[2])): part for part, m in matches.items() if m is not None}


def _turned(point: Point | tuple[float, ...], turn: int) -> Point:
    x, y, z = point
    for _ in range(turn % 4):
        x, y = -y, x
    return x, y, z


def _less(point: tuple[float, ...], low: tuple[float, ...]) -> Point:
    x, y, z = (a - b for a, b in zip(point, low, strict=True))
    return x, y, z


def _lower(point: Point) -> Cell:
    """The cell that a point lies in; heights are at the lower face of a cell."""
    x, y, z = point
    return math.floor(x / STUD_LDU), math.floor(y / STUD_LDU), round(z / PLATE_LDU)


def _upper(point: Point) -> Cell:
    x, y, z = point
    return _ceil(x / STUD_LDU), _ceil(y / STUD_LDU), _ceil(z / PLATE_LDU)


def _ceil(value: float) -> int:
    return math.ceil(value - 1e-6)


def _cells(low: Point, high: Point) -> Iterable[Cell]:
    # Turned boxes have their corners swapped.
    spans = []
    for a, b, unit in zip(low, high, (STUD_LDU, STUD_LDU, PLATE_LDU), strict=True):
        first, last = min(a, b) / unit, max(a, b) / unit
        spans.append(range(math.floor(first + 1e-6), _ceil(last)))
    return ((i, j, k) for i in spans[0] for j in spans[1] for k in spans[2])
