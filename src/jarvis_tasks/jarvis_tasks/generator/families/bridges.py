"""Bridges: beams on piers, arches of corbels, bridges with towers."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.masonry import Box, solid
from jarvis_tasks.generator.palettes import (
    BROWN,
    DARK_BROWN,
    DARK_GREEN,
    DARK_GREY,
    FORTRESSES,
    GOLD,
    GREEN,
    GREY,
    RED,
    TAN,
    WHITE,
    YELLOW,
    Masonry,
)
from jarvis_tasks.generator.runs import lay


def bridge(grid: Grid, size: str) -> str:
    """One of several kinds of bridges."""
    kinds = {
        "small": (_footbridge, _plank_bridge),
        "medium": (_arch, _viaduct, _tower_bridge),
        "large": (_arch, _viaduct, _tower_bridge),
    }[size]
    return grid.dice.pick(kinds)(grid, size)


def _plank_bridge(grid: Grid, size: str) -> str:
    """Planks over two beams."""
    dice = grid.dice
    wood, rail = dice.pick(((BROWN, TAN), (DARK_BROWN, WHITE), (GREY, RED)))
    grid.stage("Banks")
    for x in (0, 8):
        grid.brick(2, 4, x, 0, 0, dice.pick((GREEN, DARK_GREEN)))
    grid.stage("Deck")
    lay(grid, "x", 0, 0, BRICK, [wood] * 10, depth=4, kind="plate")
    grid.stage("Rails")
    for y in (0, 3):
        for x in (0, 9):
            grid.round(x, y, BRICK + 1, rail, high=BRICK)
    if dice.chance(0.6):
        grid.stage("Steps")
        grid.plate(2, 4, -2, 0, 0, DARK_GREY)
        grid.plate(2, 4, 10, 0, 0, DARK_GREY)
        return "Plank Bridge with Steps"
    return "Plank Bridge"


def _footbridge(grid: Grid, size: str) -> str:
    """A hump: ramps up and down."""
    dice = grid.dice
    colour, rail = dice.pick(((RED, WHITE), (TAN, BROWN), (GREY, DARK_GREY), (WHITE, RED)))
    grid.stage("Ramps")
    for x, towards in ((-2, "left"), (0, None), (6, None), (8, "right")):
        if towards is None:
            grid.brick(2, 4, x, 0, 0, colour)
        else:
            grid.slope(towards, 4, x, 0, 0, colour)
    grid.stage("Deck")
    lay(grid, "x", 0, 0, BRICK, [colour] * 8, depth=4, kind="plate")
    grid.stage("Rails")
    for y in (0, 3):
        for x in (0, 7):
            grid.brick(1, 1, x, y, BRICK + 1, rail)
        grid.plate(8, 1, 0, y, 2 * BRICK + 1, rail)
    return "Footbridge with Ramps"


def _railing(grid: Grid, x: int, y: int, z: int, length: int, posts: int, rail: int) -> None:
    """Posts at even distances with a rail on top."""
    grid.stage("Railing")
    spots = range(x, x + length, 4) if length % 4 == 1 else (*range(x, x + length - 1, 4), x + length - 1)
    for post in spots:
        grid.brick(1, 1, post, y, z, posts)
    grid.stage("Handrail")
    lay(grid, "x", x, y, z + BRICK, [rail] * length, kind="plate")


def _deck(grid: Grid, x: int, y: int, z: int, length: int, depth: int, look: Masonry, road: int) -> int:
    """Two layers of plates in bond."""
    grid.stage("Deck")
    lay(grid, "x", x, y, z, [look.trim] * length, depth=depth, kind="plate")
    lay(grid, "x", x, y, z + 1, [road] * length, depth=depth, kind="plate")
    return z + 2


def _viaduct(grid: Grid, size: str) -> str:
    dice = grid.dice
    look = dice.pick(FORTRESSES)
    piers = dice.between(2, 3) if size == "medium" else 4
    every = dice.between(6, 8) if piers < 4 else 7
    high = dice.between(2, 3) if size == "medium" else dice.between(3, 5)
    for pier in range(piers):
        x = every * pier
        grid.stage(f"Pier {pier + 1}")
        z = solid(grid, Box(x, 1, 2, 4), 0, [look.base, *[look.wall] * (high - 1)])
        lay(grid, "x", x - 1, 1, z, [look.trim] * 4, depth=4, kind="plate")
    z += 1
    length = every * (piers - 1) + 4
    z = _deck(grid, -1, 0, z, length, 6, look, dice.pick((DARK_GREY, GREY, TAN)))
    for y in (0, 5):
        _railing(grid, -1, y, z, length, look.wall, look.roof)
    return f"{look.name} Viaduct on {('Two', 'Three', 'Four')[piers - 2]} Piers"


def _arch(grid: Grid, size: str) -> str:
    """Corbelled arches: each course reaches one stud further over the water."""
    dice = grid.dice
    look = dice.pick(FORTRESSES)
    arches = 1 if size == "medium" else dice.between(2, 3)
    span = dice.pick((6, 8)) if arches < 3 else 6
    courses = span // 2
    pier = 4
    length = arches * span + (arches + 1) * pier
    depth = 4
    grid.stage("Piers")
    for course in range(courses):
        reach = 0 if course == 0 else course
        row: list[int | None] = []
        for number in range(arches + 1):
            if number:
                row += [None] * (span - 2 * reach)
            sides = (number > 0) + (number < arches)
            row += [look.base if course == 0 else look.wall] * (pier + reach * sides)
        grid.stage("Piers" if course == 0 else f"Arch, course {course}")
        lay(grid, "x", 0, 1, BRICK * course, row, depth=depth)
    z = _deck(grid, 0, 0, BRICK * courses, length, 6, look, dice.pick((DARK_GREY, TAN, GREY)))
    grid.stage("Parapet")
    for y in (0, 5):
        lay(grid, "x", 0, y, z, [look.wall] * length)
    grid.stage("Lamps")
    for y in (0, 5):
        for x in (0, length - 1):
            grid.round(x, y, z + BRICK, DARK_GREY, high=BRICK)
            grid.round(x, y, z + 2 * BRICK, YELLOW)
    return f"{look.name} Bridge with {('an Arch', 'Two Arches', 'Three Arches')[arches - 1]}"


def _tower_bridge(grid: Grid, size: str) -> str:
    """Two gates with a road through and a walk between their tops."""
    dice = grid.dice
    look = dice.pick(FORTRESSES)
    large = size == "large"
    gap = dice.pick((6, 8))
    left = 4
    towers = (left, left + 2 + gap)
    length = 2 * left + 4 + gap
    grid.stage("Piers")
    for x in towers:
        grid.brick(2, 8, x, 0, 0, look.base)
    for x in (0, length - 2):
        grid.brick(2, 4, x, 2, 0, look.base)
    grid.stage("Road")
    lay(grid, "x", 0, 2, BRICK, [DARK_GREY] * length, depth=4, kind="plate")
    lay(grid, "x", 0, 2, BRICK + 1, [GREY] * length, depth=4, kind="plate")
    high = 6 if large else 4
    for number, x in enumerate(towers):
        grid.stage(f"Tower {number + 1}")
        for level in range(high):
            for y in (0, 6):
                grid.brick(2, 2, x, y, BRICK * (level + 1), look.wall)
    z = BRICK * (high + 1)
    grid.stage("Walk")
    for x in towers:
        lay(grid, "y", x, 0, z, [look.trim] * 8, depth=2, kind="plate")
    for y in (0, 6):
        lay(grid, "x", towers[0], y, z + 1, [look.trim] * (gap + 4), depth=2, kind="plate")
    z += 2
    grid.stage("Roofs")
    for x in towers:
        for y in (0, 6):
            grid.brick(2, 2, x, y, z, look.wall)
            grid.round(x, y, z + BRICK, look.roof, high=BRICK, wide=2)
            grid.round(x, y, z + 2 * BRICK, look.roof, wide=2)
            grid.cap(x, y, z + 2 * BRICK + 1, GOLD)
    return f"{look.name} Tower Bridge"
