"""Road vehicles along x, their front to the right. Wheels are bricks with studs on the side for hubs."""

from __future__ import annotations

from collections.abc import Sequence

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    AMBER,
    BLACK,
    BROWN,
    CLEAR,
    GLASS,
    GREY,
    LIVERIES,
    PINK,
    RED,
    TRANS_RED,
    WHITE,
    YELLOW,
    Livery,
)
from jarvis_tasks.generator.runs import lay

#: All vehicles are so many studs deep: parts that span them can be held from front and back.
DEPTH = 4
_WHEEL = "11211"


def vehicle(grid: Grid, size: str) -> str:
    """One of several kinds of vehicles."""
    livery = grid.dice.pick(LIVERIES)
    kinds = {
        "small": (_car, _van),
        "medium": (_car_on_road, _bus, _lorry, _fire_engine),
        "large": (_convoy, _bus_stop),
    }[size]
    return grid.dice.pick(kinds)(grid, livery)


def wheels(grid: Grid, starts: Sequence[int], y: int, z: int, *, tyre: int = BLACK) -> int:
    """Pairs of wheels, two studs wide, under both long sides; returns the height above."""
    grid.stage("Wheels")
    for x in starts:
        grid.put(_WHEEL, x, y, z, tyre, 0)
        grid.put(_WHEEL, x, y + DEPTH - 1, z, tyre, 2)
    return z + BRICK


def _row(grid: Grid, x: int, y: int, z: int, colours: Sequence[int | None], *, kind: str = "brick") -> None:
    lay(grid, "x", x, y, z, colours, depth=DEPTH, kind=kind)


def car(grid: Grid, x: int, y: int, z: int, livery: Livery, length: int, *, taxi: bool = False) -> None:
    """A saloon, 9 to 11 studs long."""
    z = wheels(grid, (x + 1, x + length - 3), y, z)
    grid.stage("Chassis")
    _row(grid, x, y, z, [livery.chassis] * length, kind="plate")
    grid.stage("Body")
    _row(grid, x, y, z + 1, [TRANS_RED, *[livery.body] * (length - 2), CLEAR])
    z += 1 + BRICK
    grid.stage("Bonnet")
    grid.slope("right", 4, x + length - 2, y, z, livery.body)
    grid.stage("Cabin")
    cabin = length - 3
    grid.slope("left", 4, x, y, z, GLASS)
    _row(grid, x + 2, y, z, [GLASS, *[livery.body] * (cabin - 6), GLASS])
    grid.slope("right", 4, x + cabin - 2, y, z, GLASS)
    grid.stage("Roof")
    _row(grid, x + 1, y, z + BRICK, [livery.roof] * (cabin - 2), kind="plate")
    if taxi:
        grid.brick(1, 2, x + 3, y + 1, z + BRICK + 1, YELLOW)


def _car(grid: Grid, livery: Livery) -> str:
    taxi = grid.dice.chance(0.3)
    car(grid, 0, 0, 0, livery, grid.dice.between(9, 11), taxi=taxi)
    return f"{livery.name} {'Taxi' if taxi else 'Car'}"


def _van(grid: Grid, livery: Livery) -> str:
    """A van, with an ice cream on the roof or without."""
    dice = grid.dice
    length = dice.between(9, 11)
    z = wheels(grid, (1, length - 3), 0, 0)
    grid.stage("Chassis")
    _row(grid, 0, 0, z, [livery.chassis] * length, kind="plate")
    grid.stage("Body")
    _row(grid, 0, 0, z + 1, [TRANS_RED, *[livery.body] * (length - 2), CLEAR])
    _row(grid, 0, 0, z + 4, [livery.stripe] * (length - 2))
    grid.stage("Windscreen")
    _row(grid, 0, 0, z + 7, [livery.body] * (length - 5))
    grid.slope("right", 4, length - 4, 0, z + 7, GLASS)
    _row(grid, length - 5, 0, z + 7, [GLASS])
    grid.stage("Roof")
    _row(grid, 0, 0, z + 10, [livery.roof] * (length - 3), kind="plate")
    if dice.chance(0.5):
        grid.stage("Ice cream")
        x = (length - 3) // 2 - 1
        for level, colour in enumerate((BROWN, dice.pick((PINK, WHITE)))):
            grid.round(x, 1, z + 11 + BRICK * level, colour, high=BRICK, wide=2)
        grid.cap(x, 1, z + 17, RED)
        return f"{livery.name} Ice Cream Van"
    return f"{livery.name} Van"


def _road(grid: Grid, length: int, y: int = -1) -> int:
    """Tarmac six studs deep with kerbs; returns its height."""
    grid.stage("Road")
    lay(grid, "x", -2, y, 0, [GREY] * (length + 4), depth=6, kind="plate")
    return 1


def _car_on_road(grid: Grid, livery: Livery) -> str:
    length = grid.dice.between(9, 11)
    z = _road(grid, length + 8)
    car(grid, 0, 0, z, livery, length)
    grid.stage("Traffic light")
    x = length + 6
    for level in range(2):
        grid.round(x, 1, z + BRICK * level, BLACK, high=BRICK)
    for level, colour in enumerate((2, YELLOW, RED)):
        grid.round(x, 1, z + 6 + level, colour)
    return f"{livery.name} Car at a Traffic Light"


def bus(grid: Grid, x: int, z: int, livery: Livery, length: int, decks: int) -> None:
    """Windows between pillars, on one or two decks."""
    z = wheels(grid, (x + 2, x + length - 4), 0, z)
    grid.stage("Chassis")
    _row(grid, x, 0, z, [livery.chassis] * length, kind="plate")
    grid.stage("Body")
    _row(grid, x, 0, z + 1, [TRANS_RED, *[livery.body] * (length - 2), CLEAR])
    z += 1 + BRICK
    windows = [livery.body if i % 3 == 0 else GLASS for i in range(length - 2)] + [GLASS] * 2
    for deck in range(decks):
        grid.stage(f"Windows of deck {deck + 1}" if decks > 1 else "Windows")
        _row(grid, x, 0, z, windows)
        grid.stage("Stripe")
        _row(grid, x, 0, z + BRICK, [livery.stripe] * length, kind="plate")
        z += BRICK + 1
        if deck + 1 < decks:
            _row(grid, x, 0, z, [livery.body] * length)
            z += BRICK
    grid.stage("Roof")
    _row(grid, x, 0, z, [livery.roof] * length, kind="plate")
    grid.tile(2, 2, x + 2, 1, z + 1, GREY)


def _bus(grid: Grid, livery: Livery) -> str:
    decks = grid.dice.between(1, 2)
    bus(grid, 0, 0, livery, grid.dice.pick((12, 14, 16)), decks)
    return f"{livery.name} {'Double-Decker' if decks == 2 else 'Bus'}"


def _bus_stop(grid: Grid, livery: Livery) -> str:
    dice = grid.dice
    length = dice.pick((14, 16))
    z = _road(grid, length)
    bus(grid, 0, z, livery, length, 2)
    grid.stage("Bus stop")
    lay(grid, "x", 2, -8, 0, [WHITE] * 10, depth=4, kind="plate")
    for level in range(3):
        grid.round(2, -6, 1 + BRICK * level, BLACK, high=BRICK)
    grid.plate(1, 2, 2, -7, 10, YELLOW)
    grid.stage("Bench")
    for x in (5, 10):
        grid.brick(1, 2, x, -7, 1, GREY)
    grid.plate(6, 2, 5, -7, 4, BROWN)
    return f"{livery.name} Double-Decker at a Bus Stop"


def lorry(grid: Grid, x: int, z: int, livery: Livery, load: int, *, levels: int, stripes: bool) -> None:
    """A cab of four studs and a box body of ``load`` studs behind it."""
    length = load + 5
    z = wheels(grid, (x, x + 5, x + length - 3) if load > 7 else (x + 1, x + length - 3), 0, z)
    grid.stage("Chassis")
    _row(grid, x, 0, z, [livery.chassis] * length, kind="plate")
    grid.stage("Cab")
    cab = x + length - 4
    _row(grid, cab, 0, z + 1, [livery.body] * 3 + [CLEAR])
    _row(grid, cab, 0, z + 4, [livery.body] * 2)
    grid.slope("right", 4, cab + 2, 0, z + 4, GLASS)
    _row(grid, cab, 0, z + 7, [livery.body] * 3, kind="plate")
    grid.stage("Box")
    for level in range(levels):
        colour = livery.stripe if stripes and level == 1 else livery.roof
        _row(grid, x, 0, z + 1 + BRICK * level, [colour] * load)
    _row(grid, x, 0, z + 1 + BRICK * levels, [livery.stripe] * load, kind="plate")


def _lorry(grid: Grid, livery: Livery) -> str:
    dice = grid.dice
    lorry(grid, 0, 0, livery, dice.between(7, 11), levels=dice.between(2, 4), stripes=dice.chance(0.7))
    return f"{livery.name} Lorry"


def _fire_engine(grid: Grid, livery: Livery) -> str:
    length = grid.dice.pick((14, 16))
    z = wheels(grid, (1, length - 4), 0, 0)
    grid.stage("Chassis")
    _row(grid, 0, 0, z, [GREY] * length, kind="plate")
    grid.stage("Body")
    _row(grid, 0, 0, z + 1, [TRANS_RED, *[RED] * (length - 2), CLEAR])
    _row(grid, 0, 0, z + 4, [WHITE] * length, kind="plate")
    _row(grid, 0, 0, z + 5, [RED] * (length - 5))
    grid.stage("Cab")
    _row(grid, length - 5, 0, z + 5, [RED, GLASS, RED])
    grid.slope("right", 4, length - 2, 0, z + 5, GLASS)
    _row(grid, length - 5, 0, z + 8, [RED] * 4, kind="plate")
    grid.stage("Blue light")
    grid.brick(1, 2, length - 3, 1, z + 9, 33)
    grid.stage("Ladder")
    for x in (0, length - 7):
        grid.brick(1, 2, x, 1, z + 8, GREY)
    for layer in range(2):
        lay(grid, "x", 0, 1, z + 11 + layer, [GREY] * (length - 6), depth=2, kind="plate")
    return "Fire Engine with a Ladder"


def _convoy(grid: Grid, livery: Livery) -> str:
    dice = grid.dice
    load = dice.between(9, 10)
    z = _road(grid, 26)
    lorry(grid, 0, z, livery, load, levels=dice.between(3, 4), stripes=True)
    other = dice.pick([other for other in LIVERIES if other != livery])
    car(grid, load + 5 + 3, 0, z, other, 9)
    grid.stage("Cones")
    for x in (0, 6, 12):
        grid.brick(1, 1, x, -4, 0, AMBER)
        grid.round(x, -4, BRICK, WHITE)
    return f"{livery.name} Lorry behind a {other.name} Car"
