"""Four-legged animals by their measures, looking to the right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jarvis_tasks.generator import greenery
from jarvis_tasks.generator.families.creatures import EYES, crocodile, duck, flamingo, penguin, turtle
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    BLACK,
    BROWN,
    CORAL,
    DARK_BROWN,
    DARK_GREY,
    DARK_ORANGE,
    DARK_TAN,
    GREEN,
    GREY,
    LIGHT_ORANGE,
    LIME,
    MEDIUM_AZURE,
    NOUGAT,
    OLIVE,
    ORANGE,
    PALE_GREY,
    PINK,
    RED,
    TAN,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay


@dataclass(frozen=True, slots=True)
class Quadruped:
    """Measures in studs and bricks.

    Attributes:
        coats: (body, pattern, feet, muzzle) to choose from.
        pattern: every so many studs of the body has the pattern's colour; 0 for none.
        length, legs, height, neck: of the body, legs, trunk of the body and neck.
        ears: ``round``, ``pointed``, ``wide``, ``horns`` or ``none``.
        tail: ``up``, ``low`` or ``none``.
    """

    name: str
    coats: tuple[tuple[int, int, int, int], ...]
    length: int
    legs: int
    height: int
    neck: int
    ears: str
    tail: str
    pattern: int = 0
    humps: int = 0
    trunk: bool = False


_SMALL = (
    Quadruped(
        "Dog",
        ((NOUGAT, BROWN, NOUGAT, BLACK), (WHITE, BLACK, WHITE, BLACK), (DARK_ORANGE, TAN, TAN, BLACK)),
        *(7, 1, 1, 0, "round", "up"),
    ),
    Quadruped(
        "Cat",
        ((ORANGE, WHITE, WHITE, PINK), (BLACK, WHITE, WHITE, PINK), (GREY, WHITE, WHITE, PINK)),
        *(7, 1, 1, 0, "pointed", "up"),
        pattern=3,
    ),
    Quadruped("Pig", ((PINK, CORAL, PINK, CORAL), (CORAL, PINK, CORAL, PINK)), 7, 1, 2, 0, "pointed", "low"),
    Quadruped("Sheep", ((WHITE, WHITE, BLACK, BLACK), (TAN, TAN, BROWN, BROWN)), 7, 1, 2, 0, "round", "none"),
    Quadruped(
        "Fox",
        ((DARK_ORANGE, WHITE, BLACK, WHITE), (PALE_GREY, WHITE, GREY, BLACK)),
        *(7, 1, 1, 0, "pointed", "low"),
    ),
)
_MEDIUM = (
    Quadruped(
        "Cow",
        ((WHITE, BLACK, WHITE, PINK), (DARK_ORANGE, WHITE, WHITE, PINK)),
        *(10, 2, 2, 0, "horns", "low"),
        pattern=3,
    ),
    Quadruped("Zebra", ((WHITE, BLACK, WHITE, BLACK),), 9, 2, 2, 1, "round", "low", pattern=2),
    Quadruped(
        "Tiger",
        ((ORANGE, BLACK, WHITE, WHITE), (WHITE, BLACK, WHITE, PINK)),
        *(11, 1, 2, 0, "round", "up"),
        pattern=3,
    ),
    Quadruped(
        "Horse",
        ((BROWN, DARK_BROWN, BLACK, DARK_BROWN), (TAN, WHITE, BROWN, BROWN), (BLACK, BLACK, WHITE, GREY)),
        *(9, 2, 2, 2, "pointed", "low"),
    ),
    Quadruped(
        "Camel",
        ((TAN, DARK_TAN, DARK_TAN, DARK_TAN), (NOUGAT, BROWN, NOUGAT, BROWN)),
        *(10, 2, 2, 2, "round", "low"),
        humps=2,
    ),
    Quadruped(
        "Giraffe",
        ((LIGHT_ORANGE, BROWN, LIGHT_ORANGE, BROWN), (YELLOW, DARK_ORANGE, YELLOW, BROWN)),
        *(8, 3, 2, 5, "horns", "low"),
        pattern=2,
    ),
    Quadruped(
        "Elephant",
        ((GREY, GREY, DARK_GREY, PINK), (PALE_GREY, PALE_GREY, GREY, PINK), (DARK_GREY, GREY, BLACK, GREY)),
        *(10, 2, 3, 0, "wide", "low"),
        trunk=True,
    ),
    Quadruped(
        "Long-Necked Dinosaur",
        ((GREEN, LIME, GREEN, LIME), (OLIVE, TAN, OLIVE, TAN), (MEDIUM_AZURE, WHITE, MEDIUM_AZURE, WHITE)),
        *(11, 1, 3, 5, "none", "low"),
        pattern=4,
    ),
)


def animal(grid: Grid, size: str) -> str:
    """One animal, or a big one with its young and a tree."""
    dice = grid.dice
    if size == "small":
        if dice.chance(0.4):
            return dice.pick((duck, penguin, turtle))(grid)
        return _alone(grid, dice.pick(_SMALL))
    if size == "medium":
        if dice.chance(0.25):
            return dice.pick((crocodile, flamingo))(grid)
        return _alone(grid, dice.pick(_MEDIUM))
    return _family(grid)


def _alone(grid: Grid, kind: Quadruped) -> str:
    quadruped(grid, 0, 0, kind, grid.dice.pick(kind.coats))
    return kind.name


def _family(grid: Grid) -> str:
    """Two of a kind, and trees."""
    dice = grid.dice
    kind = dice.pick(_MEDIUM)
    coat = dice.pick(kind.coats)
    quadruped(grid, 0, 0, kind, coat)
    quadruped(grid, 1, 9, kind, dice.pick(kind.coats))
    grid.stage("Trees")
    for x in (-7, 20):
        trees: list[Callable[[Grid, int, int, int], None]] = [greenery.conifer, greenery.broadleaf]
        dice.pick(trees)(grid, x, dice.between(3, 7), 0)
    grid.stage("Grass")
    grid.plate(4, 4, -7, -2, 0, GREEN)
    greenery.flower(grid, -6, -1, 1, dice.pick((RED, YELLOW, WHITE)))
    return f"Two {kind.name}s between Trees"


def quadruped(grid: Grid, x: int, y: int, kind: Quadruped, coat: tuple[int, int, int, int]) -> None:
    """Four studs deep; the head reaches three studs beyond the body."""
    body, pattern, feet, _ = coat
    grid.stage("Legs")
    for level in range(kind.legs):
        colour = feet if level == 0 else body
        for leg_x in (x, x + kind.length - 2):
            for leg_y in (y, y + 3):
                grid.brick(2, 1, leg_x, leg_y, BRICK * level, colour)
    z = BRICK * kind.legs
    grid.stage("Belly")
    lay(grid, "x", x, y, z, [body] * kind.length, depth=4, kind="plate")
    z += 1
    for course in range(kind.height):
        grid.stage("Body")
        cells = [
            pattern if kind.pattern and (i + course) % kind.pattern == 1 else body for i in range(kind.length)
        ]
        lay(grid, "x", x, y, z, cells, depth=4)
        z += BRICK
    _tail(grid, x, y, z, kind, coat)
    for hump in range(kind.humps):
        grid.stage("Humps")
        at = x + 2 + 3 * hump
        grid.brick(2, 2, at, y + 1, z, body)
    _head(grid, x + kind.length - 2, y, z, kind, coat)


def _tail(grid: Grid, x: int, y: int, z: int, kind: Quadruped, coat: tuple[int, int, int, int]) -> None:
    body, pattern = coat[:2]
    if kind.tail == "none":
        return
    grid.stage("Tail")
    if kind.tail == "low":
        grid.plate(3, 2, x - 2, y + 1, z, body)
        return
    for level in range(2):
        grid.brick(1, 2, x, y + 1, z + BRICK * level, body)
    grid.plate(1, 2, x, y + 1, z + 2 * BRICK, pattern)


def _head(grid: Grid, x: int, y: int, z: int, kind: Quadruped, coat: tuple[int, int, int, int]) -> None:
    """From the last two studs of the body on."""
    body, pattern, _, muzzle = coat
    grid.stage("Neck" if kind.neck else "Head")
    for level in range(kind.neck):
        grid.brick(2, 2, x, y + 1, z, pattern if kind.pattern and level % 2 else body)
        z += BRICK
    grid.stage("Head")
    if kind.trunk:
        _trunk_and_head(grid, x, y, z, coat)
        return
    wide = kind.neck < 2
    if wide:
        lay(grid, "x", x, y, z, [body] * 4, depth=4, kind="plate")
        lay(grid, "x", x + 1, y + 1, z + 1, [body, body, muzzle, muzzle], depth=2)
        grid.put(EYES, x + 2, y + 1, z + 4, WHITE, 1)
        grid.brick(1, 2, x + 1, y + 1, z + 4, body)
        lay(grid, "x", x, y, z + 7, [body] * 3, depth=4, kind="plate")
        z += 8
        ears: tuple[tuple[int, int], ...] = ((x + 1, y), (x + 1, y + 3))
    else:
        grid.plate(4, 2, x, y + 1, z, body)
        grid.brick(2, 2, x, y + 1, z + 1, body)
        grid.plate(1, 2, x + 3, y + 1, z + 1, muzzle)
        grid.put(EYES, x + 2, y + 1, z + 1, WHITE, 1)
        grid.plate(3, 2, x, y + 1, z + 4, body)
        z += 5
        ears = ()
    _ears(grid, x, y, z, ears, kind, coat)


def _ears(
    grid: Grid,
    x: int,
    y: int,
    z: int,
    places: tuple[tuple[int, int], ...],
    kind: Quadruped,
    coat: tuple[int, int, int, int],
) -> None:
    grid.stage("Ears")
    colour = coat[1]
    if kind.ears == "none":
        return
    if not places:
        if kind.ears == "pointed":
            grid.slope("left", 2, x, y + 1, z, colour, kind="cheese")
        else:
            grid.brick(1, 2, x, y + 1, z, colour)
        return
    for (ear_x, ear_y), towards in zip(places, ("front", "back"), strict=True):
        if kind.ears == "pointed":
            grid.slope(towards, 1, ear_x, ear_y, z, colour, kind="cheese")
        elif kind.ears == "horns":
            grid.round(ear_x, ear_y, z, WHITE, high=BRICK)
        else:
            grid.round(ear_x, ear_y, z, colour)


def _trunk_and_head(grid: Grid, x: int, y: int, z: int, coat: tuple[int, int, int, int]) -> None:
    """A trunk that stands on the ground, and ears to both sides."""
    body, _, feet, _ = coat
    level = 0
    while level < z:
        high = BRICK if z - level >= BRICK else 1
        grid.round(x + 4, y + 1, level, body, high=high, wide=2)
        level += high
    lay(grid, "x", x, y, z, [body] * 6, depth=4, kind="plate")
    grid.brick(2, 6, x, y - 1, z + 1, feet)
    grid.brick(2, 4, x + 2, y, z + 1, body)
    grid.put(EYES, x + 4, y + 1, z + 1, WHITE, 1)
    lay(grid, "x", x + 1, y, z + 4, [body] * 4, depth=4, kind="plate")
