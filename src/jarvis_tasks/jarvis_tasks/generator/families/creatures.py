"""Birds and reptiles, looking to the right. Each function returns its title."""

from __future__ import annotations

from jarvis_tasks.generator import greenery
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    BLACK,
    BRIGHT_GREEN,
    BROWN,
    CORAL,
    DARK_BROWN,
    DARK_GREEN,
    DARK_GREY,
    DARK_TAN,
    GREEN,
    LIME,
    MEDIUM_AZURE,
    OLIVE,
    ORANGE,
    PINK,
    RED,
    SAND_GREEN,
    TAN,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay

#: A brick with two studs on its side: eyes.
EYES = "11211"


def duck(grid: Grid) -> str:
    body, bill = grid.dice.pick(((YELLOW, ORANGE), (WHITE, ORANGE), (BROWN, YELLOW)))
    head = grid.dice.pick((body, DARK_GREEN))
    grid.stage("Belly")
    grid.plate(4, 2, 1, 1, 0, bill)
    lay(grid, "x", 0, 0, 1, [body] * 6, depth=4)
    grid.stage("Tail")
    grid.plate(2, 2, -1, 1, 4, WHITE)
    grid.stage("Wings")
    grid.plate(4, 4, 1, 0, 4, body)
    grid.stage("Neck")
    grid.brick(2, 2, 4, 1, 5, head)
    grid.stage("Bill")
    grid.plate(4, 2, 4, 1, 8, bill)
    grid.stage("Head")
    grid.put(EYES, 5, 1, 9, WHITE, 1)
    grid.brick(1, 2, 4, 1, 9, head)
    grid.plate(2, 2, 4, 1, 12, head)
    return "Duck"


def penguin(grid: Grid) -> str:
    dice = grid.dice
    grid.stage("Feet")
    grid.plate(3, 2, 0, 1, 0, ORANGE)
    grid.stage("Body")
    high = dice.between(2, 3)
    for level in range(high):
        lay(grid, "x", 0, 0, 1 + BRICK * level, [BLACK, BLACK, WHITE], depth=4)
    z = 1 + BRICK * high
    grid.stage("Bill")
    grid.plate(4, 2, 0, 1, z, ORANGE)
    grid.stage("Head")
    grid.put(EYES, 2, 1, z + 1, WHITE, 1)
    grid.brick(2, 2, 0, 1, z + 1, BLACK)
    grid.plate(3, 2, 0, 1, z + 4, BLACK)
    if dice.chance(0.5):
        grid.stage("Hat")
        grid.brick(2, 2, 0, 1, z + 5, dice.pick((RED, MEDIUM_AZURE, GREEN)))
        grid.round(0, 1, z + 8, WHITE, wide=2)
        return "Penguin with a Hat"
    return "Penguin"


def turtle(grid: Grid) -> str:
    skin, shell = grid.dice.pick(((LIME, BROWN), (GREEN, DARK_TAN), (TAN, DARK_GREEN)))
    grid.stage("Feet")
    for x in (0, 5):
        for y in (0, 5):
            grid.plate(2, 1, x, y, 0, skin)
    grid.stage("Belly")
    lay(grid, "x", 0, 0, 1, [skin] * 7, depth=6, kind="plate")
    grid.stage("Shell")
    lay(grid, "x", 0, 1, 2, [shell] * 6, depth=4)
    grid.plate(4, 4, 1, 1, 5, shell)
    grid.plate(2, 2, 2, 2, 6, DARK_BROWN)
    grid.stage("Head")
    grid.plate(3, 2, 6, 2, 2, skin)
    grid.put(EYES, 8, 2, 3, WHITE, 1)
    grid.plate(2, 2, 7, 2, 6, skin)
    return "Turtle"


def crocodile(grid: Grid) -> str:
    dice = grid.dice
    skin, back = dice.pick(((GREEN, DARK_GREEN), (OLIVE, DARK_BROWN), (SAND_GREEN, DARK_GREY)))
    length = dice.between(10, 12)
    grid.stage("Legs")
    for x in (4, 2 + length):
        for y in (0, 5):
            grid.brick(2, 1, x, y, 0, skin)
    grid.stage("Belly")
    lay(grid, "x", 4, 0, BRICK, [skin] * length, depth=6, kind="plate")
    grid.stage("Tail")
    lay(grid, "x", -3, 2, BRICK + 1, [skin] * 9, depth=2, kind="plate")
    grid.stage("Body")
    lay(grid, "x", 6, 1, BRICK + 1, [skin] * (length - 2), depth=4)
    grid.stage("Jaw")
    lay(grid, "x", 2 + length, 1, BRICK + 4, [skin] * 6, depth=4, kind="plate")
    lay(grid, "x", 6 + length, 1, BRICK + 5, [WHITE], depth=4, kind="plate")
    lay(grid, "x", 3 + length, 1, BRICK + 5, [RED] * 2, depth=4, kind="plate")
    lay(grid, "x", 3 + length, 1, BRICK + 6, [skin] * 5, depth=4, kind="plate")
    grid.stage("Eyes")
    grid.put(EYES, 3 + length, 2, BRICK + 7, WHITE, 1)
    grid.plate(1, 2, 3 + length, 2, BRICK + 10, skin)
    grid.stage("Spikes")
    for x in range(0, length - 4, 4):
        grid.brick(1, 2, 6 + x, 2, BRICK + 4, back)
    return "Crocodile"


def flamingo(grid: Grid) -> str:
    dice = grid.dice
    colour = dice.pick((PINK, CORAL))
    grid.stage("Pond")
    lay(grid, "x", -2, -2, 0, [MEDIUM_AZURE] * 10, depth=8, kind="plate")
    grid.stage("Legs")
    for level in range(4):
        grid.round(1, 1, 1 + BRICK * level, colour, high=BRICK)
        grid.round(4, 2, 1 + BRICK * level, colour, high=BRICK)
    z = 1 + 4 * BRICK
    grid.stage("Body")
    lay(grid, "x", 0, 0, z, [colour] * 6, depth=4, kind="plate")
    lay(grid, "x", 0, 0, z + 1, [colour] * 5, depth=4)
    grid.plate(3, 2, -2, 1, z + 4, WHITE)
    grid.stage("Neck")
    grid.brick(2, 2, 3, 1, z + 4, colour)
    for level in range(dice.between(2, 3)):
        grid.round(4, 1, z + 7 + BRICK * level, colour, high=BRICK)
        top = z + 7 + BRICK * (level + 1)
    grid.stage("Head")
    grid.plate(3, 2, 4, 1, top, colour)
    grid.brick(2, 2, 4, 1, top + 1, colour)
    grid.plate(2, 2, 4, 1, top + 4, BLACK)
    grid.stage("Reeds")
    for x, y in ((-2, 4), (6, -2)):
        greenery.flower(grid, x, y, 1, BRIGHT_GREEN, high=2)
    return "Flamingo in a Pond"
