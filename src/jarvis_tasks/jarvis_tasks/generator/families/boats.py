"""Boats along x, the bow to the right."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    AZURE,
    BLACK,
    BLUE,
    BROWN,
    DARK_BLUE,
    DARK_GREEN,
    DARK_GREY,
    GLASS,
    GREY,
    MEDIUM_AZURE,
    ORANGE,
    RED,
    TAN,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay

_HULLS = (
    (RED, WHITE),
    (DARK_BLUE, WHITE),
    (BROWN, TAN),
    (DARK_GREEN, YELLOW),
    (BLACK, RED),
    (WHITE, AZURE),
    (ORANGE, WHITE),
)
_SAILS = ((WHITE, RED), (WHITE, BLUE), (TAN, BROWN), (YELLOW, ORANGE), (WHITE, MEDIUM_AZURE))


def boat(grid: Grid, size: str) -> str:
    """A rowing boat, a sailing boat, a tug, a steamer or a ferry."""
    kinds = {
        "small": (_dinghy, _raft),
        "medium": (_sailing_boat, _tug),
        "large": (_steamer, _two_master),
    }[size]
    return grid.dice.pick(kinds)(grid)


def _hull(grid: Grid, length: int, colours: tuple[int, int], *, courses: int = 1) -> int:
    """Four studs deep, wider above, with a pointed bow; returns the height of the deck."""
    hull, deck = colours
    grid.stage("Keel")
    lay(grid, "x", 1, 1, 0, [hull] * (length - 4), depth=2, kind="plate")
    lay(grid, "x", 0, 0, 1, [hull] * (length - 2), depth=4, kind="plate")
    z = 2
    bow = length - 3
    for course in range(courses):
        grid.stage("Hull")
        lay(grid, "x", 0, 0, z, [deck if course == 1 else hull] * bow, depth=4)
        grid.brick(3, 2, bow, 1, z, deck if course == 1 else hull)
        z += BRICK
    grid.stage("Deck")
    lay(grid, "x", -1, 0, z, [deck] * (bow + 1), depth=4, kind="plate")
    grid.plate(4, 2, bow, 1, z, hull)
    return z + 1


def _sail(grid: Grid, x: int, y: int, z: int, high: int, colours: tuple[int, int], *, widest: int) -> None:
    """A triangle of courses that get shorter, on a boom."""
    grid.stage("Sail")
    grid.plate(widest, 1, x, y, z, BROWN)
    z += 1
    for course in range(high):
        length = max(1, round(widest * (high - course) / high))
        lay(grid, "x", x, y, z, [colours[course % 3 == 1]] * length)
        z += BRICK
    grid.round(x, y, z, colours[1])


def _dinghy(grid: Grid) -> str:
    dice = grid.dice
    colours = dice.pick(_HULLS)
    z = _hull(grid, dice.between(8, 9), colours, courses=0)
    grid.stage("Mast")
    grid.brick(1, 1, 2, 1, z, BROWN)
    _sail(grid, 2, 1, z + BRICK, dice.between(3, 4), dice.pick(_SAILS), widest=4)
    return "Dinghy with a Sail"


def _raft(grid: Grid) -> str:
    dice = grid.dice
    grid.stage("Logs")
    for y in (0, 3):
        lay(grid, "x", 0, y, 0, [BROWN] * 8)
    grid.stage("Deck")
    lay(grid, "x", 0, 0, BRICK, [TAN] * 8, depth=4, kind="plate")
    grid.stage("Mast")
    for level in range(2):
        grid.brick(1, 1, 2, 2, BRICK + 1 + BRICK * level, BROWN)
    sail = dice.pick(_SAILS)
    grid.stage("Sail")
    for course in range(dice.between(2, 3)):
        lay(grid, "x", 0, 2, 1 + BRICK * (3 + course), [sail[course % 2]] * 6)
    return "Raft with a Square Sail"


def _sailing_boat(grid: Grid) -> str:
    dice = grid.dice
    colours, sail = dice.pick(_HULLS), dice.pick(_SAILS)
    length = dice.between(13, 16)
    z = _hull(grid, length, colours)
    grid.stage("Cabin")
    lay(grid, "x", 0, 1, z, [GLASS, WHITE, WHITE], depth=2)
    lay(grid, "x", 0, 1, z + BRICK, [colours[0]] * 3, depth=2, kind="plate")
    grid.stage("Mast")
    x = 5
    for level in range(2):
        grid.brick(1, 1, x, 1, z + BRICK * level, BROWN)
    _sail(grid, x, 1, z + 2 * BRICK, dice.between(5, 7), sail, widest=dice.pick((6, 8)))
    return "Sailing Boat with a Cabin"


def _tug(grid: Grid) -> str:
    dice = grid.dice
    colours = dice.pick(_HULLS)
    length = dice.between(12, 14)
    z = _hull(grid, length, colours, courses=2)
    grid.stage("Wheelhouse")
    lay(grid, "x", 4, 0, z, [WHITE] * 5, depth=4)
    lay(grid, "x", 4, 0, z + BRICK, [WHITE, GLASS, GLASS, GLASS, GLASS], depth=4)
    lay(grid, "x", 3, 0, z + 2 * BRICK, [colours[0]] * 7, depth=4, kind="plate")
    grid.stage("Funnel")
    for level, colour in enumerate((BLACK, colours[1], BLACK)):
        grid.round(5, 1, z + 2 * BRICK + 1 + BRICK * level, colour, high=BRICK, wide=2)
    grid.stage("Bollards")
    for x in (0, length - 1):
        grid.round(x, 1, z, DARK_GREY, high=BRICK, wide=2)
    return "Tug with a Striped Funnel"


def _steamer(grid: Grid) -> str:
    dice = grid.dice
    colours = dice.pick(_HULLS)
    length = dice.between(20, 24)
    z = _hull(grid, length, colours, courses=3)
    start, stop = 3, length - 5
    for deck in range(2):
        grid.stage(f"Deck {deck + 1}")
        cells = [WHITE if i % 3 == 0 else GLASS for i in range(stop - start)]
        cells[-1] = WHITE
        lay(grid, "x", start, 0, z, cells, depth=4)
        lay(grid, "x", start - 1, 0, z + BRICK, [WHITE] * (stop - start + 2), depth=4, kind="plate")
        z += BRICK + 1
        start, stop = start + 2, stop - 2
    grid.stage("Funnels")
    for x in (start + 1, start + 6) if stop - start > 8 else (start + 2,):
        for colour in (colours[0], colours[0], colours[1], BLACK):
            grid.round(x, 1, z, colour, high=BRICK, wide=2)
            z += BRICK
        z -= 4 * BRICK
    grid.stage("Masts")
    for x in (0, length - 1):
        top = grid.top(x, 1)
        for level in range(3):
            grid.round(x, 1, top + BRICK * level, GREY, high=BRICK)
    return f"Steamer with {'Two Funnels' if stop - start > 8 else 'a Funnel'}"


def _two_master(grid: Grid) -> str:
    dice = grid.dice
    colours, sail = dice.pick(_HULLS), dice.pick(_SAILS)
    length = dice.between(21, 24)
    z = _hull(grid, length, colours, courses=2)
    grid.stage("Cabin")
    lay(grid, "x", 0, 0, z, [colours[0], GLASS, colours[0], colours[0]], depth=4)
    lay(grid, "x", -1, 0, z + BRICK, [colours[1]] * 5, depth=4, kind="plate")
    for number, (x, high) in enumerate(((6, dice.between(6, 7)), (14, dice.between(5, 6)))):
        grid.stage(f"Mast {number + 1}")
        for level in range(2):
            grid.brick(1, 2, x, 1, z + BRICK * level, BROWN)
        _sail(grid, x, 1, z + 2 * BRICK, high, sail, widest=6)
    return "Two-Master under Sail"
