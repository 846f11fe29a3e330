"""Building on the stud grid: parts are put at cells, and two never into the same one.

x runs to the right, y to the back, both in studs; z is the height in plates. The model's front looks to -y.
A part is named by the cell of its lowest corner, left, front, underneath.
"""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_core.errors import JarvisError

from jarvis_tasks.generator.dice import Dice
from jarvis_tasks.generator.shapes import TOWARDS, Cell, Shape, part_of, shape

BRICK, PLATE = 3, 1

SLOPES = {(2, 1): "3040b", (2, 2): "3039", (2, 3): "3038", (2, 4): "3037"}
LONG_SLOPES = {(3, 1): "4286", (3, 2): "3298", (3, 4): "3297"}
STEEP_SLOPES = {(2, 1): "60481"}
SPIRE_SLOPES = {(2, 1): "4460a", (2, 2): "3684a"}
CHEESES = {(1, 1): "54200", (1, 2): "85984"}
INVERTED_SLOPES = {(2, 1): "3665a", (2, 2): "3660a"}
_SLOPES = {
    "slope": SLOPES,
    "long": LONG_SLOPES,
    "steep": STEEP_SLOPES,
    "spire": SPIRE_SLOPES,
    "cheese": CHEESES,
    "inverted": INVERTED_SLOPES,
}


class GridError(JarvisError):
    """A design that can't be: two parts in one cell, a part on nothing, a size that no part has."""


@dataclass(frozen=True, slots=True)
class Part:
    """A part at its place: ``turn`` quarter turns counter-clockwise, lowest corner at cell ``at``."""

    part: str
    colour: int
    turn: int
    at: Cell
    stage: int

    @property
    def shape(self) -> Shape:
        return shape(self.part, self.turn)

    @property
    def cells(self) -> list[Cell]:
        x, y, z = self.at
        return [(x + i, y + j, z + k) for i, j, k in self.shape.cells]

    @property
    def studs(self) -> list[Cell]:
        x, y, z = self.at
        return [(x + i, y + j, z + k) for i, j, k in self.shape.studs]

    @property
    def openings(self) -> list[Cell]:
        x, y, z = self.at
        return [(x + i, y + j, z + k) for i, j, k in self.shape.openings]


class Grid:
    """What has been built so far.

    Attributes:
        dice: the model's random choices.
        parts: in the order in which they were put.
        stages: names of the groups of parts that are built together, by number.
    """

    def __init__(self, dice: Dice) -> None:
        self.dice = dice
        self.parts: list[Part] = []
        self.stages: list[str] = []
        self._filled: dict[Cell, int] = {}
        self._studs: dict[Cell, int] = {}

    def stage(self, name: str) -> None:
        """What is put from now on belongs together and is built in steps of its own, called ``name``."""
        self.stages.append(name)

    def put(self, part: str, x: int, y: int, z: int, colour: int, turn: int = 0) -> int:
        """Put a part; returns its number. Raises GridError: one of its cells is filled."""
        placed = Part(part, colour, turn % 4, (x, y, z), max(len(self.stages) - 1, 0))
        number = len(self.parts)
        for cell in placed.cells:
            if cell in self._filled:
                other = self.parts[self._filled[cell]]
                raise GridError(
                    f"{part} at {placed.at} and {other.part} at {other.at} share cell {cell}",
                    where=self.stages[-1] if self.stages else "",
                )
        self._filled.update(dict.fromkeys(placed.cells, number))
        self._studs.update(dict.fromkeys(placed.studs, number))
        self.parts.append(placed)
        return number

    def filled(self, x: int, y: int, z: int) -> bool:
        """Whether a cell is taken."""
        return (x, y, z) in self._filled

    def stud_under(self, x: int, y: int, z: int) -> int | None:
        """The part whose stud reaches into a cell from below: -1 for the build plate, None for no stud."""
        return -1 if z == 0 else self._studs.get((x, y, z))

    def top(self, x: int, y: int) -> int:
        """Height of a column's highest filled cell plus one; 0 for bare plate."""
        return max((cell[2] + 1 for cell in self._filled if cell[:2] == (x, y)), default=0)

    def block(self, kind: str, width: int, depth: int, x: int, y: int, z: int, colour: int) -> int:
        """A ``brick``, ``plate``, ``tile`` or ``tall`` brick of so many studs along x and y.

        Raises:
            GridError: no such part is built in.
        """
        part = part_of(kind, width, depth)
        if part is None:
            raise GridError(f"no {kind} of {width} x {depth} studs is built in")
        return self.put(part, x, y, z, colour, 0 if width >= depth else 1)

    def brick(self, width: int, depth: int, x: int, y: int, z: int, colour: int) -> int:
        return self.block("brick", width, depth, x, y, z, colour)

    def plate(self, width: int, depth: int, x: int, y: int, z: int, colour: int) -> int:
        return self.block("plate", width, depth, x, y, z, colour)

    def tile(self, width: int, depth: int, x: int, y: int, z: int, colour: int) -> int:
        return self.block("tile", width, depth, x, y, z, colour)

    def slope(
        self, towards: str, width: int, x: int, y: int, z: int, colour: int, *, kind: str = "slope"
    ) -> int:
        """A slope that falls (inverted: whose underside rises) to a side; ``width`` studs across the fall.

        Args:
            kind: ``slope`` (45 degrees), ``long`` (33), ``steep`` (65, two bricks high), ``spire`` (75, three
                high), ``cheese`` or ``inverted``.
        """
        parts = {across: part for (_, across), part in _SLOPES[kind].items()}
        if width not in parts:
            raise GridError(f"no {kind} slope of width {width} is built in")
        return self.put(parts[width], x, y, z, colour, TOWARDS[towards])

    def round(self, x: int, y: int, z: int, colour: int, *, high: int = PLATE, wide: int = 1) -> int:
        """A round brick or plate of one or two studs."""
        part = {(1, 1): "6141", (1, 3): "3062b", (2, 1): "4032a", (2, 3): "3941"}[(wide, high)]
        return self.put(part, x, y, z, colour)

    def cap(self, x: int, y: int, z: int, colour: int) -> int:
        """A round tile of two by two studs."""
        return self.put("4150", x, y, z, colour)
