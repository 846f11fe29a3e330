"""Castles: gates, walls, keeps."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.masonry import Box, Facade, battlements, solid, walls
from jarvis_tasks.generator.palettes import (
    DARK_BROWN,
    DARK_GREY,
    FORTRESSES,
    GOLD,
    GREEN,
    MEDIUM_AZURE,
    Masonry,
)
from jarvis_tasks.generator.runs import lay


def castle(grid: Grid, size: str) -> str:
    """A gate between two towers; larger ones have a curtain wall or a keep."""
    look = grid.dice.pick(FORTRESSES)
    if size == "small":
        return _turret(grid, look)
    if size == "medium":
        _gatehouse(grid, look, 0, 0, high=grid.dice.between(4, 5))
        return f"{look.name} Castle Gate"
    return _castle(grid, look)


def _turret(grid: Grid, look: Masonry) -> str:
    dice = grid.dice
    high = dice.between(2, 4)
    grid.stage("Turret")
    z = solid(grid, Box(0, 0, 4, 4), 0, [look.base, *[look.wall] * (high - 1)])
    grid.stage("Crown")
    grid.plate(6, 6, -1, -1, z, look.trim)
    battlements(grid, Box(-1, -1, 6, 6), z + 1, look.wall, every=5)
    grid.stage("Flag")
    _flag(grid, 1, 1, z + 1, look.roof, high=2)
    return f"{look.name} Turret"


def _flag(grid: Grid, x: int, y: int, z: int, colour: int, *, high: int = 3) -> None:
    for level in range(high):
        grid.round(x, y, z + BRICK * level, DARK_GREY, high=BRICK)
    z += BRICK * high
    grid.plate(3, 1, x, y, z, colour)
    grid.plate(2, 1, x, y, z + 1, colour)
    grid.round(x, y, z + 2, GOLD)


def _tower(
    grid: Grid, look: Masonry, x: int, y: int, high: int, *, pointed: bool, flag: bool = False
) -> None:
    """Four by four studs, crowned by six by six."""
    z = solid(grid, Box(x, y, 4, 4), 0, [look.base, *[look.wall] * (high - 2), look.trim])
    grid.plate(6, 6, x - 1, y - 1, z, look.trim)
    if not pointed:
        battlements(grid, Box(x - 1, y - 1, 6, 6), z + 1, look.wall, every=5)
        if flag:
            _flag(grid, x + 1, y + 1, z + 1, look.roof)
        return
    z += 1
    for inset, kind in ((0, 4), (1, 2)):
        for _ in range(2):
            grid.plate(kind, kind, x + inset, y + inset, z, look.roof)
            z += 1
    grid.round(x + 1, y + 1, z, look.roof, high=BRICK, wide=2)
    grid.round(x + 1, y + 1, z + BRICK, look.roof, wide=2)
    grid.cap(x + 1, y + 1, z + BRICK + 1, GOLD)


def _gatehouse(grid: Grid, look: Masonry, x: int, y: int, *, high: int) -> None:
    """Two towers eight studs apart with an arch of corbels between them."""
    pointed = grid.dice.chance(0.5)
    grid.stage("Gate")
    for course in range(high - 1):
        z = BRICK * course
        gap = 4 if course < 2 else 2 if course == 2 else 0
        side = (8 - gap) // 2
        row: list[int | None] = [look.wall] * 8
        row[side : side + gap] = [None] * gap
        if course == 0:
            row = [look.base if c is not None else None for c in row]
        lay(grid, "x", x + 4, y + 1, z, row, depth=2)
    z = BRICK * (high - 1)
    lay(grid, "x", x + 4, y + 1, z, [look.trim] * 8, depth=2, kind="plate")
    grid.stage("Battlements")
    for i in (1, 4, 7):
        if i < 7:
            grid.brick(1, 2, x + 4 + i, y + 1, z + 1, look.wall)
    for number, at in enumerate((x, x + 12)):
        grid.stage(f"Tower {number + 1}")
        _tower(grid, look, at, y, high + 2, pointed=pointed)
    grid.stage("Road")
    grid.tile(2, 2, x + 7, y - 2, 0, DARK_BROWN)


def _castle(grid: Grid, look: Masonry) -> str:
    dice = grid.dice
    _gatehouse(grid, look, 0, 0, high=4)
    if dice.chance(0.5):
        grid.stage("Keep")
        box = Box(5, 8, 6, 6)
        facade = Facade(box, look, bands=frozenset({4}))
        facade.open("front", 2, 2, range(2))
        for side in ("left", "right"):
            facade.open(side, 2, 2, (3,))
        z = walls(grid, box, 0, range(5), facade)
        grid.stage("Top of the keep")
        lay(grid, "x", 4, 7, z, [look.trim] * 8, depth=8, kind="plate")
        battlements(grid, Box(4, 7, 8, 8), z + 1, look.wall, every=3)
        grid.stage("Flag")
        _flag(grid, 7, 10, z + 1, look.roof)
        return f"{look.name} Castle with a Keep"
    for number, at in enumerate((1, 14)):
        grid.stage(f"Curtain wall {number + 1}")
        for course in range(3):
            lay(grid, "y", at, 5, BRICK * course, [look.wall if course else look.base] * 8)
        lay(grid, "y", at, 5, 3 * BRICK, [look.trim] * 8, kind="plate")
    for number, at in enumerate((0, 12)):
        grid.stage(f"Corner tower {number + 1}")
        _tower(grid, look, at, 14, 5, pointed=False, flag=True)
    grid.stage("Back wall")
    for course in range(3):
        lay(grid, "x", 4, 16, BRICK * course, [look.wall if course else look.base] * 8)
    grid.stage("Courtyard")
    grid.plate(4, 4, 6, 8, 0, GREEN)
    grid.round(7, 9, 1, look.base, high=BRICK, wide=2)
    grid.round(7, 9, 1 + BRICK, MEDIUM_AZURE, wide=2)
    return f"{look.name} Castle with a Courtyard"
