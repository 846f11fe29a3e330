"""Trees, flowers, fences and the like: small things that stand on their own."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.palettes import BROWN, DARK_BROWN, DARK_GREEN, GREEN, LEAVES, WHITE, YELLOW


def conifer(grid: Grid, x: int, y: int, z: int, *, tiers: int = 3, colour: int = DARK_GREEN) -> None:
    """A fir on four by four studs: plates that get smaller, on a round trunk."""
    grid.round(x + 1, y + 1, z, BROWN, high=BRICK, wide=2)
    z += BRICK
    for tier in range(tiers):
        if tier < tiers - 1 or tiers == 1:
            grid.plate(4, 4, x, y, z, colour)
        else:
            grid.plate(2, 4, x + 1, y, z, colour)
        grid.brick(2, 2, x + 1, y + 1, z + 1, colour)
        z += 4
    grid.round(x + 1, y + 1, z, colour, high=BRICK, wide=2)
    grid.cap(x + 1, y + 1, z + BRICK, colour)


def broadleaf(grid: Grid, x: int, y: int, z: int, *, trunk: int = 2, colour: int = GREEN) -> None:
    """A round tree on four by four studs."""
    for _ in range(trunk):
        grid.round(x + 1, y + 1, z, BROWN, high=BRICK, wide=2)
        z += BRICK
    grid.plate(4, 4, x, y, z, colour)
    grid.brick(2, 4, x, y, z + 1, colour)
    grid.brick(2, 4, x + 2, y, z + 1, colour)
    grid.plate(4, 4, x, y, z + 4, colour)
    grid.brick(2, 2, x + 1, y + 1, z + 5, colour)


def poplar(grid: Grid, x: int, y: int, z: int, *, high: int = 3, colour: int = GREEN) -> None:
    """A slim tree on two by two studs."""
    grid.round(x, y, z, DARK_BROWN, high=BRICK)
    z += BRICK
    grid.plate(2, 2, x, y, z, colour)
    for level in range(high):
        grid.round(x, y, z + 1 + BRICK * level, colour, high=BRICK, wide=2)
    grid.cap(x, y, z + 1 + BRICK * high, colour)


def bush(grid: Grid, x: int, y: int, z: int, *, colour: int = GREEN, blossom: int | None = None) -> None:
    """On two by two studs."""
    grid.round(x, y, z, colour, high=BRICK, wide=2)
    grid.round(x + grid.dice.between(0, 1), y + grid.dice.between(0, 1), z + BRICK, blossom or colour)


def flower(grid: Grid, x: int, y: int, z: int, blossom: int, *, high: int = 1) -> None:
    """A stem of one stud with a blossom."""
    for level in range(high):
        grid.round(x, y, z + BRICK * level, grid.dice.pick(LEAVES[:3]), high=BRICK)
    grid.round(x, y, z + BRICK * high, blossom)


def sunflower(grid: Grid, x: int, y: int, z: int, *, high: int = 3) -> None:
    """A tall flower: stem on one stud, a blossom over the three by three studs around it."""
    for level in range(high):
        grid.round(x, y, z + BRICK * level, GREEN, high=BRICK)
    z += BRICK * high
    grid.plate(3, 3, x - 1, y - 1, z, YELLOW)
    grid.round(x, y, z + 1, BROWN)


def fence(grid: Grid, x: int, y: int, z: int, length: int, *, along: str = "x", colour: int = WHITE) -> None:
    """Posts every three studs with rails over them; ``length`` is 4, 7, 10, …"""
    for i in range(0, length, 3):
        px, py = (x + i, y) if along == "x" else (x, y + i)
        grid.round(px, py, z, colour, high=BRICK)
    start = 0
    while start < length - 1:
        px, py = (x + start, y) if along == "x" else (x, y + start)
        piece = length - start if length - start <= 4 else 3
        if along == "x":
            grid.plate(piece, 1, px, py, z + BRICK, colour)
        else:
            grid.plate(1, piece, px, py, z + BRICK, colour)
        start += piece
