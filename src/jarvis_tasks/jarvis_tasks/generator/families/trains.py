"""Trains on a track along x, the engine at the right."""

from __future__ import annotations

from jarvis_tasks.generator.families.vehicles import DEPTH
from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import (
    BLACK,
    BROWN,
    CLEAR,
    DARK_GREY,
    DARK_TAN,
    GLASS,
    GOLD,
    GREY,
    LIVERIES,
    RED,
    TAN,
    WHITE,
    YELLOW,
    Livery,
)
from jarvis_tasks.generator.runs import lay


def train(grid: Grid, size: str) -> str:
    """A steam or electric engine; larger ones pull wagons past a platform."""
    dice = grid.dice
    livery = dice.pick(LIVERIES)
    steam = dice.chance(0.6)
    engine = _steam_engine if steam else _railcar
    kind = "Steam Engine" if steam else "Railcar"
    if size == "small":
        engine(grid, 0, 0, livery)
        return f"{livery.name} {kind}"
    wagons = 1 if size == "medium" else 2
    length = 10 + 8 * wagons
    _track(grid, -8 * wagons, length)
    engine(grid, 0, 1, livery)
    for wagon in range(wagons):
        dice.pick((_coach, _tanker, _open_wagon))(grid, -8 * (wagon + 1), 1, livery)
    if size == "large":
        _platform(grid, -8 * wagons, livery)
        return f"{livery.name} {kind} at a Platform"
    return f"{livery.name} {kind} with a Wagon"


def _track(grid: Grid, x: int, length: int) -> None:
    grid.stage("Track")
    lay(grid, "x", x, -1, 0, [DARK_TAN] * length, depth=6, kind="plate")


def _bogies(grid: Grid, spots: tuple[int, ...], z: int) -> int:
    grid.stage("Wheels")
    for x in spots:
        grid.put("11211", x, 0, z, BLACK, 0)
        grid.put("11211", x, DEPTH - 1, z, BLACK, 2)
    return z + BRICK


def _axles(grid: Grid, spots: tuple[int, ...], z: int) -> int:
    """Closer together than hubs could be: one brick across."""
    grid.stage("Axles")
    for x in spots:
        grid.brick(2, DEPTH, x, 0, z, BLACK)
    return z + BRICK


def _row(grid: Grid, x: int, z: int, colours: list[int], *, kind: str = "brick") -> None:
    lay(grid, "x", x, 0, z, colours, depth=DEPTH, kind=kind)


def _steam_engine(grid: Grid, x: int, z: int, livery: Livery) -> None:
    """Ten studs: a cab, a boiler with dome and funnel."""
    z = _bogies(grid, (x + 1, x + 6), z)
    grid.stage("Frame")
    _row(grid, x, z, [livery.chassis] * 10, kind="plate")
    grid.stage("Cab")
    _row(grid, x, z + 1, [livery.body] * 3)
    _row(grid, x, z + 4, [GLASS, livery.body, livery.body])
    _row(grid, x, z + 7, [livery.stripe] * 4, kind="plate")
    grid.stage("Boiler")
    lay(grid, "x", x + 3, 1, z + 1, [livery.body] * 6, depth=2)
    grid.stage("Buffer")
    grid.brick(1, 4, x + 9, 0, z + 1, RED)
    lay(grid, "x", x + 4, 1, z + 4, [livery.body] * 2 + [livery.stripe] * 3, depth=2, kind="plate")
    grid.stage("Dome and funnel")
    grid.round(x + 4, 1, z + 5, GOLD, wide=2)
    grid.cap(x + 4, 1, z + 6, GOLD)
    for level in range(2):
        grid.round(x + 7, 1, z + 5 + BRICK * level, BLACK, high=BRICK, wide=2)
    grid.round(x + 7, 1, z + 11, livery.stripe, wide=2)


def _railcar(grid: Grid, x: int, z: int, livery: Livery) -> None:
    """Ten studs with slanted ends and a pantograph."""
    z = _bogies(grid, (x + 1, x + 7), z)
    grid.stage("Frame")
    _row(grid, x, z, [livery.chassis] * 10, kind="plate")
    grid.stage("Body")
    _row(grid, x, z + 1, [CLEAR, *[livery.body] * 8, CLEAR])
    _row(grid, x, z + 4, [livery.stripe] * 10, kind="plate")
    grid.stage("Windows")
    grid.slope("left", 4, x, 0, z + 5, GLASS)
    _row(grid, x + 2, z + 5, [livery.body, GLASS, GLASS, GLASS, GLASS, livery.body])
    grid.slope("right", 4, x + 8, 0, z + 5, GLASS)
    grid.stage("Roof")
    _row(grid, x + 1, z + 8, [livery.roof] * 8, kind="plate")
    grid.stage("Pantograph")
    grid.brick(2, 2, x + 4, 1, z + 9, GREY)
    grid.plate(1, 4, x + 4, 0, z + 12, DARK_GREY)


def _coach(grid: Grid, x: int, z: int, livery: Livery) -> None:
    z = _axles(grid, (x, x + 5), z)
    grid.stage("Coach")
    _row(grid, x, z, [livery.chassis] * 7, kind="plate")
    _row(grid, x, z + 1, [livery.body] * 7)
    _row(grid, x, z + 4, [livery.body, GLASS, GLASS, livery.body, GLASS, GLASS, livery.body])
    _row(grid, x, z + 7, [livery.roof] * 7, kind="plate")


def _tanker(grid: Grid, x: int, z: int, livery: Livery) -> None:
    z = _axles(grid, (x, x + 5), z)
    grid.stage("Tanker")
    _row(grid, x, z, [livery.chassis] * 7, kind="plate")
    lay(grid, "x", x, 1, z + 1, [GREY, *[WHITE] * 5, GREY], depth=2)
    lay(grid, "x", x, 1, z + 4, [GREY, *[WHITE] * 5, GREY], depth=2)
    grid.round(x + 3, 1, z + 7, DARK_GREY, wide=2)


def _open_wagon(grid: Grid, x: int, z: int, livery: Livery) -> None:
    z = _axles(grid, (x, x + 5), z)
    load = grid.dice.pick((BROWN, TAN, BLACK))
    grid.stage("Wagon")
    _row(grid, x, z, [livery.chassis] * 7, kind="plate")
    _row(grid, x, z + 1, [livery.stripe, *[livery.body] * 5, livery.stripe])
    lay(grid, "x", x + 1, 1, z + 4, [load] * 5, depth=2)
    lay(grid, "x", x + 2, 1, z + 7, [load] * 3, depth=2, kind="plate")


def _platform(grid: Grid, x: int, livery: Livery) -> None:
    """Behind the train, with a roof on posts."""
    y = 9
    grid.stage("Platform")
    lay(grid, "x", x + 2, y, 0, [GREY] * 16, depth=4)
    grid.stage("Posts")
    for i in (4, 15):
        for level in range(3):
            grid.brick(1, 2, x + i, y + 1, BRICK * (level + 1), livery.body)
    grid.stage("Roof")
    for layer, colour in enumerate((livery.stripe, DARK_GREY)):
        lay(grid, "x", x + 3, y, 4 * BRICK + layer, [colour] * 14, depth=4, kind="plate")
    grid.stage("Clock")
    grid.round(x + 9, y + 1, 4 * BRICK + 2, WHITE, wide=2)
    grid.cap(x + 9, y + 1, 4 * BRICK + 3, YELLOW)
