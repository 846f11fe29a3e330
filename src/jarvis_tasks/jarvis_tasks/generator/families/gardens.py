"""Gardens and parks: trees, flower beds, benches, ponds, fences on lots side by side."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_tasks.generator import greenery
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.masonry import Box, walls
from jarvis_tasks.generator.palettes import (
    BLOSSOMS,
    BROWN,
    DARK_BROWN,
    DARK_GREEN,
    DARK_GREY,
    DARK_RED,
    GREEN,
    GREY,
    LEAVES,
    MEDIUM_AZURE,
    NOUGAT,
    ORANGE,
    RED,
    TAN,
    TRANS_YELLOW,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay

#: Draws something on a lot of eight by six studs; returns what it is.
Lot = Callable[[Grid, int, int], str]


def garden(grid: Grid, size: str) -> str:
    """One, three or six lots of different kinds with a path between."""
    dice = grid.dice
    if size == "small":
        return dice.pick((_fir, _tree, _flower_bed, _bench, _mushrooms, _sunflowers))(grid, 0, 0)
    count = 2 if size == "medium" else 6
    names = []
    for number, lot in enumerate(dice.some(_LOTS, count)):
        column, row = number % 3, number // 3
        names.append(lot(grid, 11 * column, 12 * row))
    grid.stage("Path")
    for step in range(2 if size == "medium" else 5):
        grid.tile(2, 2, 5 * step, 8 if size == "large" else -4, 0, TAN)
    if size == "large":
        grid.stage("Fence")
        greenery.fence(grid, 0, -5, 0, 13)
        greenery.fence(grid, 17, -5, 0, 10)
    first, second = names[:2]
    return f"{'Park' if size == 'large' else 'Garden'} with {_article(first)} and {_article(second)}"


def _article(name: str) -> str:
    return name if name.endswith("s") else f"a {name}"


def _lawn(grid: Grid, x: int, y: int, width: int = 8, depth: int = 6) -> None:
    grid.stage("Lawn")
    lay(grid, "x", x, y, 0, [GREEN] * width, depth=depth, kind="plate")


def _fir(grid: Grid, x: int, y: int) -> str:
    grid.stage("Fir")
    greenery.conifer(
        grid, x + 2, y + 1, 0, tiers=grid.dice.between(2, 4), colour=grid.dice.pick((DARK_GREEN, GREEN))
    )
    return "Fir"


def _tree(grid: Grid, x: int, y: int) -> str:
    grid.stage("Tree")
    colour = grid.dice.pick((*LEAVES, ORANGE, DARK_RED, YELLOW))
    greenery.broadleaf(grid, x + 2, y + 1, 0, trunk=grid.dice.between(1, 3), colour=colour)
    return "Tree" if colour in LEAVES else "Tree in Autumn"


def _flower_bed(grid: Grid, x: int, y: int) -> str:
    dice = grid.dice
    _lawn(grid, x, y, 8, 4)
    grid.stage("Flowers")
    colours = dice.some(BLOSSOMS, 2)
    for number, (i, j) in enumerate(((0, 0), (4, 1), (7, 0), (1, 3), (6, 3))):
        greenery.flower(grid, x + i, y + j, 1, colours[number % 2], high=dice.between(1, 2))
    return "Flower Bed"


def _sunflowers(grid: Grid, x: int, y: int) -> str:
    _lawn(grid, x, y, 8, 4)
    grid.stage("Sunflowers")
    for number, (i, j) in enumerate(((1, 1), (6, 2))):
        greenery.sunflower(grid, x + i, y + j, 1, high=grid.dice.between(2, 4) + number % 2)
    return "Two Sunflowers"


def _bench(grid: Grid, x: int, y: int) -> str:
    wood, iron = grid.dice.pick(((BROWN, DARK_GREY), (NOUGAT, GREY), (DARK_GREEN, DARK_GREY)))
    grid.stage("Bench")
    for i in (0, 5):
        grid.brick(1, 2, x + i, y + 2, 0, iron)
    lay(grid, "x", x, y + 1, BRICK, [wood] * 6, depth=3, kind="plate")
    lay(grid, "x", x, y + 3, BRICK + 1, [wood] * 6)
    grid.stage("Lamp")
    for level in range(3):
        grid.round(x - 3, y + 2, BRICK * level, DARK_GREY, high=BRICK)
    grid.round(x - 3, y + 2, 3 * BRICK, TRANS_YELLOW, high=BRICK)
    grid.round(x - 3, y + 2, 4 * BRICK, DARK_GREY)
    return "Bench under a Lamp"


def _pond(grid: Grid, x: int, y: int) -> str:
    grid.stage("Pond")
    lay(grid, "x", x, y, 0, [GREY, *[MEDIUM_AZURE] * 6, GREY], depth=6, kind="plate")
    grid.stage("Water lilies")
    for i, j in ((2, 1), (4, 3)):
        grid.round(x + i, y + j, 1, GREEN, wide=2)
        grid.round(x + i, y + j, 2, grid.dice.pick((WHITE, RED)))
    grid.stage("Stones")
    for i, j in ((0, 0), (7, 5), (0, 5)):
        grid.brick(1, 1, x + i, y + j, 1, DARK_GREY)
    return "Pond"


def _well(grid: Grid, x: int, y: int) -> str:
    stone, wood, roof = grid.dice.pick(((GREY, BROWN, DARK_RED), (TAN, DARK_BROWN, DARK_GREEN)))
    grid.stage("Well")
    box = Box(x + 1, y, 6, 6)
    z = walls(grid, box, 0, range(2), lambda cx, cy, course: stone)
    grid.stage("Posts")
    for i in (1, 6):
        for level in range(2):
            grid.brick(1, 2, x + i, y + 2, z + BRICK * level, wood)
    z += 2 * BRICK
    grid.stage("Roof of the well")
    lay(grid, "x", x, y, z, [roof] * 8, depth=6, kind="plate")
    lay(grid, "x", x, y + 1, z + 1, [roof] * 8, depth=4, kind="plate")
    lay(grid, "x", x, y + 2, z + 2, [roof] * 8, depth=2, kind="plate")
    return "Well"


def _hedge(grid: Grid, x: int, y: int) -> str:
    """An arch in a hedge, with blossoms on top."""
    colour = grid.dice.pick(LEAVES[:4])
    grid.stage("Hedge")
    for course in range(4):
        row: list[int | None] = [colour] * 8
        if course < 3:
            row[3:5] = [None, None]
        lay(grid, "x", x, y + 2, BRICK * course, row, depth=2)
    grid.stage("Blossoms")
    for i in (0, 4, 7):
        grid.round(x + i, y + 2, 4 * BRICK, grid.dice.pick(BLOSSOMS))
    return "Hedge with an Arch"


def _poplars(grid: Grid, x: int, y: int) -> str:
    colour = grid.dice.pick(LEAVES)
    for i in (0, 5):
        grid.stage("Poplar")
        greenery.poplar(grid, x + i, y + 2, 0, high=grid.dice.between(2, 4), colour=colour)
    return "Two Poplars"


def _mushrooms(grid: Grid, x: int, y: int) -> str:
    cap = grid.dice.pick((RED, BROWN, ORANGE))
    for i, j, high in ((0, 0, 2), (5, 2, 1)):
        grid.stage("Mushroom")
        for level in range(high):
            grid.round(x + i + 1, y + j + 1, BRICK * level, WHITE, high=BRICK, wide=2)
        z = BRICK * high
        grid.plate(4, 4, x + i, y + j, z, cap)
        grid.brick(2, 2, x + i + 1, y + j + 1, z + 1, cap)
        grid.round(x + i, y + j, z + 1, WHITE)
        grid.cap(x + i + 1, y + j + 1, z + 4, WHITE)
    return "Two Mushrooms"


def _bonfire(grid: Grid, x: int, y: int) -> str:
    grid.stage("Bonfire")
    for i, j in ((0, 0), (5, 0), (0, 5), (5, 5)):
        grid.brick(1, 1, x + i, y + j, 0, DARK_GREY)
    grid.brick(2, 2, x + 2, y + 2, 0, BROWN)
    for level, colour in enumerate((RED, ORANGE)):
        grid.round(x + 2, y + 2, BRICK * (level + 1), colour, high=BRICK, wide=2)
    grid.cap(x + 2, y + 2, 3 * BRICK, YELLOW)
    return "Bonfire"


_LOTS: tuple[Lot, ...] = (
    _fir,
    _tree,
    _flower_bed,
    _bench,
    _pond,
    _well,
    _hedge,
    _poplars,
    _sunflowers,
    _mushrooms,
    _bonfire,
)
