"""Walls around a rectangle, in bond, and what belongs to walls: openings, quoins, battlements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import Masonry
from jarvis_tasks.generator.runs import lay

#: The colour of the wall at a cell (x, y) of a course; None leaves it open.
Paint = Callable[[int, int, int], int | None]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on the ground: lowest corner and size, studs."""

    x: int
    y: int
    width: int
    depth: int

    @property
    def right(self) -> int:
        return self.x + self.width - 1

    @property
    def back(self) -> int:
        return self.y + self.depth - 1

    def grown(self, studs: int) -> Box:
        return Box(self.x - studs, self.y - studs, self.width + 2 * studs, self.depth + 2 * studs)


def walls(
    grid: Grid, box: Box, z: int, courses: range, paint: Paint, *, kind: str = "brick", high: int = BRICK
) -> int:
    """One-stud walls around a box, the corners in turn of the front and of the sides; returns the height above.

    Args:
        courses: numbers of the courses; they tell ``paint`` where it is, and which walls own the corners.
        kind, high: of the parts, and their height in plates.
    """
    for course in courses:
        long = course % 2
        for y in (box.y, box.back):
            cells = range(box.x + long, box.right + 1 - long)
            lay(grid, "x", box.x + long, y, z, [paint(x, y, course) for x in cells], kind=kind)
        for x in (box.x, box.right):
            cells = range(box.y + 1 - long, box.back + long)
            lay(grid, "y", x, box.y + 1 - long, z, [paint(x, y, course) for y in cells], kind=kind)
        z += high
    return z


@dataclass(frozen=True, slots=True)
class Facade:
    """Paints the walls of a box.

    Attributes:
        holes: colour (None: open) by cell (x, y, course).
        quoins: the corners have the trim's colour, in turn two studs wide to either side.
        bands: courses in the trim's colour.
    """

    box: Box
    look: Masonry
    quoins: bool = False
    bands: frozenset[int] = frozenset()
    holes: dict[tuple[int, int, int], int | None] = field(default_factory=dict)

    def open(
        self, side: str, start: int, width: int, courses: Iterable[int], fill: int | None = None
    ) -> None:
        """An opening; ``start`` counts from the left or front end of the side."""
        box = self.box
        for course in courses:
            for i in range(start, start + width):
                at = {
                    "front": (box.x + i, box.y),
                    "back": (box.x + i, box.back),
                    "left": (box.x, box.y + i),
                    "right": (box.right, box.y + i),
                }[side]
                self.holes[(*at, course)] = fill

    def __call__(self, x: int, y: int, course: int) -> int | None:
        if (x, y, course) in self.holes:
            return self.holes[(x, y, course)]
        if course in self.bands:
            return self.look.trim
        if self.quoins and self._is_quoin(x, y, course):
            return self.look.trim
        return self.look.base if course == 0 else self.look.wall

    def _is_quoin(self, x: int, y: int, course: int) -> bool:
        box = self.box
        at_x, at_y = x in (box.x, box.right), y in (box.y, box.back)
        if at_x and at_y:
            return True
        near_x, near_y = x in (box.x + 1, box.right - 1), y in (box.y + 1, box.back - 1)
        return (near_x and at_y) if course % 2 == 0 else (near_y and at_x)


def solid(
    grid: Grid, box: Box, z: int, colours: Sequence[int], *, kind: str = "brick", high: int = BRICK
) -> int:
    """A full block, a layer for each colour, laid in turn across and along; returns the height above.

    Parts span a layer, so that the fingers can hold each at its ends: width and depth are sizes of parts.
    """
    for layer, colour in enumerate(colours):
        if layer % 2 == 0:
            lay(grid, "x", box.x, box.y, z, [colour] * box.width, depth=box.depth, kind=kind)
        else:
            lay(grid, "y", box.x, box.y, z, [colour] * box.depth, depth=box.width, kind=kind)
        z += high
    return z


def battlements(grid: Grid, box: Box, z: int, colour: int, *, every: int = 3) -> None:
    """Merlons on a wall's top: one on each corner and, where the fingers find room, in between."""
    for x in _merlons(box.x, box.right, every):
        for y in (box.y, box.back):
            grid.brick(1, 1, x, y, z, colour)
    for y in _merlons(box.y, box.back, every)[1:-1]:
        for x in (box.x, box.right):
            grid.brick(1, 1, x, y, z, colour)


def _merlons(first: int, last: int, every: int) -> list[int]:
    """Places from first to last, evenly spaced, at least ``every`` studs apart."""
    count = max(1, (last - first) // every)
    return [first + round(i * (last - first) / count) for i in range(count + 1)]
