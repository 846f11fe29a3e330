"""Towers: lighthouses, watchtowers, churches, high-rises."""

from __future__ import annotations

from dataclasses import replace

from jarvis_tasks.generator import greenery, roofs
from jarvis_tasks.generator.families.houses import hut
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.masonry import Box, Facade, battlements, solid, walls
from jarvis_tasks.generator.palettes import (
    BLACK,
    BLUE,
    BUILDINGS,
    DARK_GREEN,
    DARK_GREY,
    DARK_TAN,
    FORTRESSES,
    GLASS,
    GOLD,
    GREEN,
    GREY,
    ORANGE,
    RED,
    TRANS_YELLOW,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay


def tower(grid: Grid, size: str) -> str:
    """One of several kinds of towers."""
    kinds = {
        "small": (_light, _watch),
        "medium": (_lighthouse, _watchtower, _church),
        "large": (_lighthouse, _watchtower, _church, _high_rise),
    }[size]
    return grid.dice.pick(kinds)(grid, size)


def _light(grid: Grid, size: str) -> str:
    """A little lighthouse of round bricks."""
    dice = grid.dice
    colour = dice.pick((RED, BLUE, BLACK, GREEN, ORANGE))
    grid.stage("Rock")
    lay(grid, "x", 0, 0, 0, [DARK_GREY] * 4, depth=4, kind="plate")
    grid.stage("Tower")
    z = 1
    for level in range(dice.between(3, 6)):
        grid.round(1, 1, z, (colour, WHITE)[level % 2], high=BRICK, wide=2)
        z += BRICK
    grid.stage("Gallery")
    grid.plate(4, 4, 0, 0, z, DARK_GREY)
    grid.stage("Light")
    grid.round(1, 1, z + 1, TRANS_YELLOW, high=BRICK, wide=2)
    grid.round(1, 1, z + 4, colour, wide=2)
    grid.cap(1, 1, z + 5, colour)
    return "Little Lighthouse"


def _watch(grid: Grid, size: str) -> str:
    """A lookout on four posts."""
    look = grid.dice.pick(FORTRESSES)
    high = grid.dice.between(2, 3)
    grid.stage("Posts")
    for level in range(high):
        for x, y in ((0, 0), (4, 0), (0, 4), (4, 4)):
            grid.brick(1, 1, x, y, BRICK * level, look.base)
    z = high * BRICK
    grid.stage("Platform")
    grid.plate(6, 6, 0, 0, z, look.wall)
    grid.stage("Rail")
    for x, y in ((0, 0), (5, 0), (0, 5), (5, 5)):
        grid.brick(1, 1, x, y, z + 1, look.trim)
    grid.stage("Lookout")
    grid.brick(2, 2, 2, 2, z + 1, look.door)
    grid.plate(4, 4, 1, 1, z + 4, look.roof)
    grid.plate(2, 2, 2, 2, z + 5, look.roof)
    grid.cap(2, 2, z + 6, GOLD)
    return "Lookout on Stilts"


def _stripes(grid: Grid, colours: tuple[int, int], storeys: int, x: int, y: int, z: int, wide: int) -> int:
    for storey in range(storeys):
        box = Box(x, y, wide, wide)
        colour = colours[storey % 2]
        facade = Facade(box, BUILDINGS[0])

        def paint(cx: int, cy: int, course: int, colour: int = colour, facade: Facade = facade) -> int | None:
            return facade.holes.get((cx, cy, course), colour)

        middle = wide // 2 - 1
        if storey == 0:
            facade.open("front", middle, 2, range(2), None)
        else:
            facade.open(("left", "right")[storey % 2], middle, 2, (1,), GLASS)
        z = walls(grid, box, z, range(2 if storey else 3), paint)
    return z


def _lighthouse(grid: Grid, size: str) -> str:
    dice = grid.dice
    colours = (dice.pick((RED, BLUE, BLACK, GREEN)), WHITE)
    storeys = dice.between(3, 4) if size == "large" else 2
    grid.stage("Rock")
    lay(grid, "x", -1, -1, 0, [DARK_GREY] * 8, depth=8, kind="plate")
    grid.stage("Tower")
    z = _stripes(grid, colours, storeys, 0, 0, 1, 6)
    grid.stage("Gallery")
    lay(grid, "x", -1, -1, z, [GREY] * 8, depth=8, kind="plate")
    for x, y in ((-1, -1), (6, -1), (-1, 6), (6, 6)):
        grid.round(x, y, z + 1, colours[0], high=BRICK)
    grid.stage("Light")
    z = solid(grid, Box(1, 1, 4, 4), z + 1, [TRANS_YELLOW] * 2)
    grid.stage("Dome")
    grid.plate(6, 6, 0, 0, z, colours[0])
    z = solid(grid, Box(1, 1, 4, 4), z + 1, [colours[0]])
    grid.round(2, 2, z, colours[0], wide=2)
    grid.cap(2, 2, z + 1, GOLD)
    if size == "large":
        grid.stage("Keeper's hut")
        hut(grid, 10, 1, replace(BUILDINGS[0], door=colours[0], roof=colours[0]), width=4, courses=2)
    return "Lighthouse with a Gallery"


def _watchtower(grid: Grid, size: str) -> str:
    dice = grid.dice
    look = dice.pick(FORTRESSES)
    box = Box(0, 0, 6, 6)
    storeys = dice.between(2, 3) if size == "large" else 1
    high = 4
    facade = Facade(box, look, bands=frozenset(range(high - 1, high * storeys, high)))
    facade.open("front", 2, 2, range(3))
    for storey in range(storeys):
        for side in ("left", "right", "back", *(("front",) if storey else ())):
            facade.open(side, 2, 1 if side == "back" else 2, (high * storey + 2,))
    grid.stage("Walls")
    z = walls(grid, box, 0, range(high * storeys), facade)
    grid.stage("Platform")
    lay(grid, "x", -1, -1, z, [look.trim] * 8, depth=8, kind="plate")
    grid.stage("Battlements")
    top = box.grown(1)
    z += 1
    if dice.chance(0.5):
        walls(grid, top, z, range(1), lambda x, y, c: look.wall)
        battlements(grid, top, z + BRICK, look.base, every=3)
        grid.stage("Flag")
        for level in range(3):
            grid.round(2, 2, z + BRICK * level, DARK_GREY, high=BRICK)
        grid.plate(3, 1, 2, 2, z + 9, look.roof)
        grid.plate(3, 1, 2, 2, z + 10, look.roof)
        return f"{look.name} Watchtower with a Flag"
    battlements(grid, top, z, look.base, every=7)
    grid.stage("Roof")
    roofs.spire(grid, 0, 0, z, look.roof, GOLD)
    return f"{look.name} Watchtower with a Spire"


def _church(grid: Grid, size: str) -> str:
    dice = grid.dice
    look = dice.pick(BUILDINGS)
    large = size == "large"
    box = Box(0, 0, 6, 6)
    high = 6 if large else 4
    facade = Facade(box, look, bands=frozenset({high - 1}))
    facade.open("front", 2, 2, range(3))
    if large:
        facade.open("front", 2, 2, (high - 2,), TRANS_YELLOW)
    for side in ("right", "left"):
        facade.open(side, 2, 2, (high - 3,), TRANS_YELLOW)
    grid.stage("Tower")
    z = walls(grid, box, 0, range(high), facade)
    grid.stage("Spire")
    roofs.spire(grid, 0, 0, z, look.roof, GOLD)
    width = 9 if large else 4
    nave = Box(7, 0, width, 6)
    if large:
        nave_walls = Facade(nave, look)
        for start in (1, 4, 7):
            nave_walls.open("front", start, 1, range(1, 3), TRANS_YELLOW)
            nave_walls.open("back", start, 1, range(1, 3), TRANS_YELLOW)
        grid.stage("Nave")
        top = walls(grid, nave, 0, range(4), nave_walls)
        grid.stage("Roof of the nave")
        roofs.stepped(grid, nave, top, look.roof, hip=False, kind="brick", high=BRICK)
        return f"{look.name} Church"
    grid.stage("Yard")
    greenery.conifer(grid, 9, 1, 0, tiers=2, colour=DARK_GREEN)
    grid.tile(2, 2, 2, -2, 0, DARK_TAN)
    return f"{look.name} Chapel with a Fir"


def _high_rise(grid: Grid, size: str) -> str:
    dice = grid.dice
    look = dice.pick(BUILDINGS)
    wide = dice.pick((6, 8))
    box = Box(0, 0, wide, 6)
    facade = Facade(box, look)
    storeys = dice.between(3, 4)
    for storey in range(storeys):
        course = 3 * storey
        for side, length in (("front", wide), ("back", wide), ("left", 6), ("right", 6)):
            for start in range(1, length - 2, 3):
                facade.open(side, start, 2, range(course + 1, course + 3), GLASS)
            if length == 8:
                facade.open(side, 6, 1, range(course + 1, course + 3), GLASS)
    facade.open("front", wide // 2 - 1, 2, range(2), look.door)
    grid.stage("Forecourt")
    grid.tile(2, 2, wide // 2 - 1, -2, 0, DARK_TAN)
    z = 0
    for storey in range(storeys):
        grid.stage(f"Storey {storey + 1}")
        z = walls(grid, box, z, range(3 * storey, 3 * storey + 3), facade)
        lay(grid, "x", box.x, box.y, z, [look.trim] * wide, depth=6, kind="plate")
        z += 1
    grid.stage("Roof")
    grid.brick(2, 2, 1, 2, z, GREY)
    grid.tile(2, 2, 1, 2, z + BRICK, DARK_GREY)
    for level in range(3):
        grid.round(wide - 2, 3, z + BRICK * level, (RED, WHITE)[level % 2], high=BRICK)
    grid.round(wide - 2, 3, z + 9, YELLOW)
    return f"{look.name} High-Rise"
