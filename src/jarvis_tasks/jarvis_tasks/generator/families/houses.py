"""Houses: from a hut to a town house with a balcony."""

from __future__ import annotations

from jarvis_tasks.generator import greenery, roofs
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.masonry import Box, Facade, walls
from jarvis_tasks.generator.palettes import (
    BLOSSOMS,
    BUILDINGS,
    DARK_GREY,
    DARK_TAN,
    GLASS,
    GREEN,
    LEAVES,
    TAN,
    WHITE,
    Masonry,
)
from jarvis_tasks.generator.runs import lay


def house(grid: Grid, size: str) -> str:
    """A house in one of several styles."""
    look = grid.dice.pick(BUILDINGS)
    if size == "small":
        return _small_house(grid, look)
    return _family_house(grid, look, storeys=1 if size == "medium" else 2)


def _small_house(grid: Grid, look: Masonry) -> str:
    dice = grid.dice
    width = dice.pick((3, 4, 4))
    hut(grid, 0, 0, look, width=width, courses=dice.between(2, 3))
    if dice.chance(0.6):
        grid.stage("Garden")
        leaves, blossom = dice.pick(LEAVES[:3]), dice.pick(BLOSSOMS)
        greenery.bush(grid, width + 2, dice.between(0, 2), 0, colour=leaves, blossom=blossom)
        return f"{look.name} Hut with a Bush"
    return f"{look.name} Hut"


def hut(grid: Grid, x: int, y: int, look: Masonry, *, width: int, courses: int) -> None:
    """A house of three or four by four studs, solid: the rows of a course lie behind each other."""
    grid.stage("Walls")
    for course in range(courses):
        z, colour = BRICK * course, look.base if course == 0 else look.wall
        if course == 2:
            lay(grid, "x", x, y, z, [colour] * width, depth=4)
            continue
        if width == 3:
            lay(grid, "x", x, y, z, [look.door, *[GLASS if course else colour] * 2])
        else:
            lay(grid, "x", x, y, z, [colour, look.door, look.door, colour])
            lay(grid, "x", x, y + 1, z, [colour] * width)
        depth = width - 1 if width == 3 else 2
        lay(grid, "x", x, y + 4 - depth, z, [colour] * width, depth=depth)
        if width == 3:
            lay(grid, "x", x, y + 1, z, [colour] * width)
    z = BRICK * courses
    grid.stage("Roof")
    lay(grid, "x", x, y, z, [look.trim] * width, depth=4, kind="plate")
    z = roofs.gable(grid, Box(x, y, width, 4), z + 1, look.roof, look.wall)
    grid.stage("Chimney")
    grid.brick(1, 1, x + width - 1, y + 2, z, look.base)
    grid.round(x + width - 1, y + 2, z + BRICK, DARK_GREY)


def _family_house(grid: Grid, look: Masonry, storeys: int) -> str:
    dice = grid.dice
    roof = dice.pick(("gable", "stepped", "flat", "hip"))
    depth = dice.pick((6, 8)) if roof != "hip" else 6
    width = dice.pick((7, 9, 11)) if roof == "gable" else dice.between(8, 12)
    box = Box(0, 0, width, depth)
    high = dice.between(4, 5) if storeys == 1 else 4
    balcony = storeys == 2 and dice.chance(0.7)
    facade = Facade(
        box, look, quoins=dice.chance(0.4), bands=frozenset({high - 1}) if dice.chance(0.4) else frozenset()
    )
    door = _openings(facade, dice.between(1, 2), high, storeys)
    z = 0
    for storey in range(storeys):
        grid.stage("Walls" if storey == 0 else "Upper walls")
        z = walls(grid, box, z, range(high * storey, high * (storey + 1)), facade)
        if storey + 1 < storeys:
            grid.stage("Balcony" if balcony else "Ceiling")
            z = _ceiling(grid, box, z, look, door if balcony else None)
    grid.stage("Roof")
    top = _roof(grid, roof, box, z, look)
    grid.stage("Chimney")
    _chimney(grid, roof, box, top, look)
    grid.stage("Garden")
    named = _garden(grid, box, door)
    kind = {"gable": "House", "stepped": "Farmhouse", "flat": "Town House", "hip": "Villa"}[roof]
    return f"{look.name} {kind} with a {'Balcony' if balcony else named}"


def _openings(facade: Facade, style: int, high: int, storeys: int) -> int:
    """Door and windows; returns where the door begins."""
    box = facade.box
    glass = (GLASS, None)[style - 1]
    door = (box.width - 2) // 2
    facade.open("front", door, 2, range(3), facade.look.door)
    for storey in range(storeys):
        rows = range(high * storey + 1, high * storey + 3)
        for start in (1, box.width - 3):
            if storey > 0 or abs(start - door) > 2:
                facade.open("front", start, 2, rows, glass)
            facade.open("back", start, 2, rows, glass)
        if storey > 0 and box.width >= 8:
            facade.open("front", door, 2, range(high * storey, high * storey + 3), GLASS)
        for side in ("left", "right"):
            facade.open(side, (box.depth - 2) // 2, 2, rows, glass)
    return door


def _ceiling(grid: Grid, box: Box, z: int, look: Masonry, balcony: int | None) -> int:
    """A band of plates on the walls; with a balcony of four studs that reaches out by two."""
    front: list[int | None] = [look.trim] * box.width
    if balcony is not None:
        start = box.x + balcony - 1
        front[start - box.x : start - box.x + 4] = [None] * 4
        grid.plate(4, 4, start, box.y - 2, z, look.trim)
        grid.brick(4, 1, start, box.y - 2, z + 1, WHITE)
    lay(grid, "x", box.x, box.y, z, front, kind="plate")
    lay(grid, "x", box.x, box.back, z, [look.trim] * box.width, kind="plate")
    for x in (box.x, box.right):
        lay(grid, "y", x, box.y + 1, z, [look.trim] * (box.depth - 2), kind="plate")
    return z + 1


def _roof(grid: Grid, kind: str, box: Box, z: int, look: Masonry) -> int:
    if kind == "gable":
        return roofs.gable(grid, box, z, look.roof, look.wall)
    if kind == "flat":
        return roofs.flat(grid, box, z, look.base, look.roof)
    if kind == "hip":
        return roofs.stepped(grid, Box(box.x - 1, box.y - 1, box.width + 2, 8), z, look.roof, hip=True)
    return roofs.stepped(grid, box, z, look.roof, hip=False, kind="brick", high=BRICK)


def _chimney(grid: Grid, roof: str, box: Box, z: int, look: Masonry) -> None:
    x, y = box.x + (1 if roof != "hip" else 3), box.y + box.depth // 2 - 1
    if roof == "flat":
        x, y = box.right - 3, box.back - 3
    for level in range(2):
        grid.brick(1, 2, x, y, z + BRICK * level, look.base if roof == "flat" else look.wall)
    grid.tile(1, 2, x, y, z + 2 * BRICK, DARK_GREY)


def _garden(grid: Grid, box: Box, door: int) -> str:
    dice = grid.dice
    for step in range(2):
        grid.tile(2, 2, box.x + door, box.y - 2 - 2 * step, 0, dice.pick((DARK_TAN, TAN)))
    kind = dice.pick(("Fir", "Tree", "Flower Bed", "Fence"))
    if kind == "Fir":
        greenery.conifer(grid, box.right + 4, box.y, 0)
    elif kind == "Tree":
        greenery.broadleaf(grid, box.right + 4, box.y + 1, 0)
    elif kind == "Flower Bed":
        grid.plate(2, 6, box.right + 4, box.y, 0, GREEN)
        for i, blossom in enumerate(dice.some(BLOSSOMS, 2)):
            greenery.flower(grid, box.right + 4, box.y + 1 + 3 * i, 1, blossom)
    else:
        greenery.fence(grid, box.x + door + 4, box.y - 5, 0, 7)
    return kind
