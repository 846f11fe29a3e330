"""Furniture, alone or in a room with two walls."""

from __future__ import annotations

from jarvis_tasks.generator import greenery
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    BLACK,
    BLOSSOMS,
    BLUE,
    BRIGHT,
    BROWN,
    CORAL,
    DARK_BROWN,
    DARK_GREEN,
    DARK_GREY,
    DARK_RED,
    GLASS,
    GOLD,
    GREY,
    LIGHT_YELLOW,
    MEDIUM_AZURE,
    NOUGAT,
    PALE_GREY,
    RED,
    SAND_BLUE,
    SAND_GREEN,
    SKY,
    TAN,
    TRANS_YELLOW,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay

_WOODS = (BROWN, NOUGAT, DARK_BROWN, TAN)
_CLOTHS = (RED, BLUE, DARK_GREEN, CORAL, MEDIUM_AZURE, YELLOW, DARK_RED)
_WALLPAPERS = (LIGHT_YELLOW, SKY, SAND_GREEN, SAND_BLUE, PALE_GREY, WHITE)


def furniture(grid: Grid, size: str) -> str:
    """A piece of furniture, a table for two, or a room."""
    dice = grid.dice
    if size == "small":
        return dice.pick((_table, _armchair, _bed, _lamp))(grid, 0, 0)
    if size == "medium":
        return dice.pick((_table_and_chairs, _shelf, _piano, _sofa_corner))(grid, 0, 0)
    return _room(grid)


def _table(grid: Grid, x: int, y: int) -> str:
    wood = grid.dice.pick(_WOODS)
    grid.stage("Legs of the table")
    for i in (0, 5):
        for j in (0, 3):
            for level in range(2):
                grid.round(x + i, y + j, BRICK * level, wood, high=BRICK)
    grid.stage("Table top")
    grid.plate(6, 4, x, y, 2 * BRICK, wood)
    grid.stage("Vase")
    grid.round(x + 2, y + 1, 2 * BRICK + 1, grid.dice.pick((SKY, WHITE)), high=BRICK)
    grid.round(x + 2, y + 1, 3 * BRICK + 1, grid.dice.pick(BLOSSOMS))
    return "Table with a Vase"


def _armchair(grid: Grid, x: int, y: int) -> str:
    cloth = grid.dice.pick(_CLOTHS)
    grid.stage("Feet")
    for i in (0, 5):
        for j in (0, 5):
            grid.round(x + i, y + j, 0, DARK_BROWN)
    grid.stage("Seat")
    lay(grid, "x", x, y, 1, [cloth] * 6, depth=6, kind="plate")
    lay(grid, "x", x, y, 2, [cloth] * 6, depth=4)
    grid.stage("Back")
    for level in range(3):
        lay(grid, "x", x, y + 4, 2 + BRICK * level, [cloth] * 6, depth=2)
    grid.stage("Arms")
    for i in (0, 5):
        lay(grid, "y", x + i, y, 5, [cloth] * 4)
    return "Armchair"


def _bed(grid: Grid, x: int, y: int) -> str:
    wood, cloth = grid.dice.pick(_WOODS), grid.dice.pick(_CLOTHS)
    grid.stage("Frame")
    grid.brick(1, 6, x, y, 0, wood)
    grid.brick(1, 6, x + 9, y, 0, wood)
    lay(grid, "x", x, y, BRICK, [wood] * 10, depth=6, kind="plate")
    grid.stage("Headboard")
    for level in range(2):
        grid.brick(1, 6, x, y, BRICK + 1 + BRICK * level, wood)
    grid.stage("Mattress")
    lay(grid, "x", x + 1, y, BRICK + 1, [WHITE] * 9, depth=6, kind="plate")
    grid.stage("Blanket and pillow")
    lay(grid, "x", x + 4, y, BRICK + 2, [cloth] * 6, depth=6, kind="plate")
    grid.tile(2, 4, x + 1, y + 1, BRICK + 2, SKY)
    return "Bed"


def _lamp(grid: Grid, x: int, y: int) -> str:
    shade = grid.dice.pick((WHITE, LIGHT_YELLOW, RED, MEDIUM_AZURE))
    grid.stage("Foot")
    grid.plate(4, 4, x, y, 0, DARK_GREY)
    grid.stage("Pole")
    for level in range(grid.dice.between(3, 5)):
        grid.round(x + 1, y + 1, 1 + BRICK * level, GREY, high=BRICK)
        z = 1 + BRICK * (level + 1)
    grid.stage("Shade")
    grid.plate(4, 4, x, y, z, shade)
    grid.brick(2, 4, x, y, z + 1, shade)
    grid.brick(2, 4, x + 2, y, z + 1, shade)
    grid.plate(2, 2, x + 1, y + 1, z + 4, TRANS_YELLOW)
    return "Standard Lamp"


def _chair(grid: Grid, x: int, y: int, colour: int, *, back: str) -> None:
    """Two studs wide; its back is at the left or right."""
    grid.stage("Chair")
    grid.brick(2, 2, x, y, 0, colour)
    grid.plate(2, 2, x, y, BRICK, colour)
    for level in range(2):
        grid.brick(1, 2, x if back == "left" else x + 1, y, BRICK + 1 + BRICK * level, colour)


def _table_and_chairs(grid: Grid, x: int, y: int) -> str:
    dice = grid.dice
    _table(grid, x + 5, y)
    colour = dice.pick(_WOODS)
    _chair(grid, x, y + 1, colour, back="left")
    _chair(grid, x + 14, y + 1, colour, back="right")
    grid.stage("Plates")
    for i in (5, 10):
        grid.tile(1, 2, x + i, y + 1, 2 * BRICK + 1, WHITE)
    return "Table for Two"


def _shelf(grid: Grid, x: int, y: int) -> str:
    """Boards with books between uprights."""
    dice = grid.dice
    wood = dice.pick(_WOODS)
    grid.stage("Bottom")
    lay(grid, "x", x, y, 0, [wood] * 8, depth=2, kind="plate")
    z = 1
    for board in range(dice.between(3, 4)):
        grid.stage(f"Books on board {board + 1}")
        first, second, third = dice.some(BRIGHT, 3)
        books: tuple[list[int | None], ...] = (
            [wood, first, first, second, second, third, third, wood],
            [wood, second, first, None, None, None, third, wood],
        )
        for row in books:
            lay(grid, "x", x, y, z, row, depth=2)
            z += BRICK
        lay(grid, "x", x, y, z, [wood] * 8, depth=2, kind="plate")
        z += 1
    grid.stage("Globe")
    grid.round(x + 5, y, z, BLUE, high=BRICK, wide=2)
    grid.cap(x + 5, y, z + BRICK, dice.pick((DARK_GREEN, GOLD)))
    return "Bookshelf with a Globe"


def _piano(grid: Grid, x: int, y: int) -> str:
    """An upright piano and its stool."""
    wood = grid.dice.pick((BLACK, BROWN, DARK_BROWN, WHITE))
    grid.stage("Case")
    for i in (0, 9):
        grid.brick(1, 4, x + i, y, 0, wood)
    for i in (0, 9):
        grid.brick(1, 4, x + i, y, BRICK, wood)
    lay(grid, "x", x, y, 2 * BRICK, [wood] * 10, depth=4, kind="plate")
    grid.stage("Keys")
    lay(grid, "x", x, y, 2 * BRICK + 1, [wood, *[WHITE] * 8, wood], depth=2, kind="plate")
    for i in (1, 5, 8):
        grid.tile(1, 1, x + i, y + 1, 2 * BRICK + 2, BLACK)
    grid.stage("Front")
    for level in range(3):
        lay(grid, "x", x, y + 2, 2 * BRICK + 1 + BRICK * level, [wood] * 10, depth=2)
    grid.stage("Lid")
    lay(grid, "x", x, y + 2, 5 * BRICK + 1, [wood] * 10, depth=2, kind="plate")
    grid.round(x + 7, y + 2, 5 * BRICK + 2, GOLD, wide=2)
    grid.stage("Stool")
    grid.round(x + 4, y - 5, 0, GREY, high=BRICK, wide=2)
    grid.plate(4, 2, x + 3, y - 5, BRICK, grid.dice.pick(_CLOTHS))
    return "Piano with a Stool"


def _sofa_corner(grid: Grid, x: int, y: int) -> str:
    cloth = grid.dice.pick(_CLOTHS)
    grid.stage("Sofa")
    lay(grid, "x", x, y, 0, [cloth] * 10, depth=4)
    for level in range(2):
        lay(grid, "x", x, y + 3, BRICK * (level + 1), [cloth] * 10)
    for i in (0, 9):
        lay(grid, "y", x + i, y, BRICK, [cloth] * 3)
    grid.stage("Cushions")
    for i in (2, 6):
        grid.plate(2, 2, x + i, y + 1, BRICK, WHITE)
    grid.stage("Low table")
    grid.brick(2, 2, x + 4, y - 7, 0, BROWN)
    grid.plate(6, 4, x + 2, y - 8, BRICK, NOUGAT)
    grid.round(x + 5, y - 7, BRICK + 1, RED)
    _lamp(grid, x + 14, y)
    return "Sofa with a Lamp"


def _room(grid: Grid) -> str:
    """A back wall with a window, a side wall, and three pieces of furniture."""
    dice = grid.dice
    paper, trim = dice.pick(_WALLPAPERS), dice.pick((WHITE, BROWN, DARK_GREY))
    width, depth, high = 20, 12, 6
    grid.stage("Walls")
    for course in range(high):
        colour = trim if course == 0 else paper
        own = course % 2
        row: list[int | None] = [colour] * (width - own)
        if 2 <= course <= 4:
            start = 8 - own
            row[start : start + 4] = [GLASS] * 4
        lay(grid, "x", own, depth, BRICK * course, row)
        lay(grid, "y", 0, 0, BRICK * course, [colour] * (depth + own))
    lay(grid, "x", 1, depth, BRICK * high, [trim] * (width - 1), kind="plate")
    lay(grid, "y", 0, 0, BRICK * high, [trim] * (depth + 1), kind="plate")
    first = dice.pick((_bed, _sofa_room))(grid, 5, 4)
    second = dice.pick((_lamp, _plant))(grid, 17, -4)
    dice.pick((_table, _shelf, _rug))(grid, 6, -5)
    return f"Room with a {first} and a {second}"


def _rug(grid: Grid, x: int, y: int) -> str:
    grid.stage("Rug")
    lay(grid, "x", x, y, 0, [grid.dice.pick(_CLOTHS)] * 8, depth=4, kind="plate")
    return "Rug"


def _sofa_room(grid: Grid, x: int, y: int) -> str:
    cloth = grid.dice.pick(_CLOTHS)
    grid.stage("Sofa")
    lay(grid, "x", x, y, 0, [cloth] * 10, depth=4)
    lay(grid, "x", x, y + 3, BRICK, [cloth] * 10)
    for i in (0, 9):
        lay(grid, "y", x + i, y, BRICK, [cloth] * 3)
    return "Sofa"


def _plant(grid: Grid, x: int, y: int) -> str:
    grid.stage("Plant")
    grid.brick(2, 2, x + 1, y + 1, 0, CORAL)
    greenery.poplar(grid, x + 1, y + 1, BRICK, high=2)
    return "Plant"
