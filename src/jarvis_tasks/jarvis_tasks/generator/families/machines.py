"""Robots, rockets and other machines."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid
from jarvis_tasks.generator.masonry import Box, solid
from jarvis_tasks.generator.palettes import (
    AMBER,
    BLACK,
    BLUE,
    DARK_BLUE,
    DARK_GREY,
    GLASS,
    GOLD,
    GREY,
    LIME,
    MEDIUM_AZURE,
    ORANGE,
    PALE_GREY,
    RED,
    TAN,
    TRANS_RED,
    WHITE,
    YELLOW,
)
from jarvis_tasks.generator.runs import lay

#: (body, joints, accent)
_PAINTS = (
    (WHITE, DARK_GREY, BLUE),
    (YELLOW, BLACK, RED),
    (GREY, DARK_GREY, ORANGE),
    (MEDIUM_AZURE, WHITE, YELLOW),
    (RED, GREY, GOLD),
    (DARK_BLUE, PALE_GREY, LIME),
    (ORANGE, DARK_GREY, WHITE),
)


def robot(grid: Grid, size: str) -> str:
    """A robot with two legs, a broad body, arms and a head; a large one stands beside a charging post."""
    dice = grid.dice
    body, joint, accent = dice.pick(_PAINTS)
    if size == "small":
        return _little_robot(grid, body, joint, accent)
    large = size == "large"
    z = _robot_legs(grid, dice.between(2, 3) if large else dice.between(1, 2), body, joint)
    torso = dice.between(4, 5) if large else dice.between(3, 4)
    for level in range(torso):
        grid.stage("Body")
        cells = [body] * 7
        if level == torso - 2:
            cells[2:5] = [accent] * 3
        lay(grid, "x", 0, 0, z, cells, depth=4)
        z += BRICK
    grid.stage("Shoulders")
    lay(grid, "x", -2, 0, z, [joint] * 11, depth=4, kind="plate")
    z += 1
    raised = dice.chance(0.5)
    if raised:
        _raised_arms(grid, z, joint, accent)
    else:
        _stretched_arms(grid, z, joint, accent)
    _robot_head(grid, 2, z, body, joint, accent)
    if large:
        _charging_post(grid, 13, accent)
        return "Robot beside a Charging Post"
    return "Robot with Raised Arms" if raised else "Robot with Stretched-Out Arms"


def _robot_legs(grid: Grid, legs: int, body: int, joint: int) -> int:
    grid.stage("Feet")
    for x in (0, 5):
        grid.plate(2, 4, x, 0, 0, joint)
    grid.stage("Legs")
    for level in range(legs):
        for x in (0, 5):
            grid.brick(2, 2, x, 1, 1 + BRICK * level, joint if level % 2 else body)
    z = 1 + BRICK * legs
    grid.stage("Hips")
    lay(grid, "x", 0, 1, z, [joint] * 7, depth=2, kind="plate")
    lay(grid, "x", 0, 0, z + 1, [joint] * 7, depth=4, kind="plate")
    return z + 2


def _raised_arms(grid: Grid, z: int, joint: int, accent: int) -> None:
    grid.stage("Arms")
    for x in (-2, 7):
        for level in range(2):
            grid.brick(2, 2, x, 1, z + BRICK * level, joint)
        grid.round(x, 1, z + 2 * BRICK, accent, wide=2)


def _stretched_arms(grid: Grid, z: int, joint: int, accent: int) -> None:
    """To the front."""
    grid.stage("Arms")
    for x in (-2, 7):
        grid.plate(2, 6, x, -3, z, joint)
        grid.plate(2, 2, x, 1, z + 1, joint)
        grid.round(x, -3, z + 1, accent, high=BRICK, wide=2)


def _robot_head(grid: Grid, x: int, z: int, body: int, joint: int, accent: int) -> None:
    """Three studs wide; eyes to the right and front."""
    grid.stage("Neck")
    grid.plate(2, 2, x + 1, 1, z, joint)
    grid.stage("Head")
    grid.plate(3, 2, x, 1, z + 1, body)
    grid.put("11211", x + 2, 1, z + 2, WHITE, 1)
    grid.brick(2, 2, x, 1, z + 2, body)
    grid.plate(3, 2, x, 1, z + 5, body)
    grid.stage("Aerial")
    grid.round(x + 1, 1, z + 6, joint, high=BRICK)
    grid.round(x + 1, 1, z + 9, accent)


def _little_robot(grid: Grid, body: int, joint: int, accent: int) -> str:
    tracks = grid.dice.chance(0.5)
    if tracks:
        grid.stage("Tracks")
        for y in (0, 4):
            grid.brick(6, 1, 0, y, 0, BLACK)
        grid.plate(6, 6, 0, 0, BRICK, joint)
        z = BRICK + 1
    else:
        grid.stage("Foot")
        grid.plate(4, 4, 1, 1, 0, joint)
        grid.round(2, 2, 1, joint, high=BRICK, wide=2)
        grid.plate(4, 4, 1, 1, 1 + BRICK, joint)
        z = 2 + BRICK
    grid.stage("Body")
    z = solid(grid, Box(1, 1, 4, 4), z, [body, body][: grid.dice.between(1, 2)])
    grid.stage("Head")
    grid.plate(2, 2, 2, 2, z, joint)
    grid.plate(4, 2, 1, 2, z + 1, accent)
    grid.put("11211", 4, 2, z + 2, WHITE, 1)
    grid.brick(3, 2, 1, 2, z + 2, body)
    grid.plate(4, 2, 1, 2, z + 5, body)
    grid.stage("Aerial")
    grid.round(2, 2, z + 6, joint, high=BRICK)
    grid.round(2, 2, z + 9, accent)
    return "Little Robot on Tracks" if tracks else "Little Robot"


def _charging_post(grid: Grid, x: int, accent: int) -> None:
    grid.stage("Charging post")
    lay(grid, "x", x, 0, 0, [DARK_GREY] * 4, depth=4, kind="plate")
    for level in range(4):
        grid.brick(2, 2, x + 1, 1, 1 + BRICK * level, accent if level == 2 else GREY)
    grid.round(x + 1, 1, 1 + 4 * BRICK, AMBER, high=BRICK, wide=2)
    grid.cap(x + 1, 1, 1 + 5 * BRICK, DARK_GREY)
    grid.stage("Boxes")
    for i, high in ((0, 2), (5, 1)):
        for level in range(high):
            grid.brick(4, 2, x + i - 4, 8, BRICK * level, TAN)


def rocket(grid: Grid, size: str) -> str:
    """A rocket with fins; larger ones on a pad with a tower."""
    dice = grid.dice
    body, stripe, fin = dice.pick(
        (
            (WHITE, RED, RED),
            (PALE_GREY, DARK_BLUE, DARK_GREY),
            (RED, WHITE, GREY),
            (YELLOW, BLUE, DARK_BLUE),
            (WHITE, BLACK, ORANGE),
        )
    )
    if size == "small":
        return _little_rocket(grid, body, stripe, fin)
    levels = dice.between(5, 7) if size == "medium" else dice.between(8, 11)
    grid.stage("Pad")
    lay(grid, "x", -4, -2, 0, [DARK_GREY] * 12, depth=8, kind="plate")
    z = 1
    grid.stage("Engine")
    grid.brick(2, 2, 1, 1, z, BLACK)
    z += BRICK
    grid.plate(4, 4, 0, 0, z, GREY)
    z += 1
    grid.stage("Fins")
    for towards, x, y in (("front", 1, -2), ("back", 1, 4), ("left", -2, 1), ("right", 4, 1)):
        foot = z - BRICK - 1
        grid.brick(2, 2, x, y, foot, fin)
        grid.slope(towards, 2, x, y, foot + BRICK, fin, kind="spire")
    for level in range(levels):
        grid.stage("Lower stage" if level < levels // 2 else "Upper stage")
        colour = stripe if level in (levels // 2, levels - 1) else body
        z = _layer(grid, z, level, GLASS if level == levels - 2 else colour)
    grid.stage("Nose")
    grid.plate(4, 4, 0, 0, z, stripe)
    for towards, x, y in (("left", 0, 1), ("right", 2, 1)):
        grid.slope(towards, 2, x, y, z + 1, stripe, kind="spire")
    grid.plate(2, 2, 1, 1, z + 10, stripe)
    grid.round(1, 1, z + 11, GOLD, wide=2)
    if size == "large":
        _launch_tower(grid, 13, levels)
        return "Rocket beside its Tower"
    return "Rocket on its Pad"


def _layer(grid: Grid, z: int, level: int, colour: int) -> int:
    """Four by four studs, in turn across and along."""
    along = "x" if level % 2 == 0 else "y"
    lay(grid, along, 0, 0, z, [colour] * 4, depth=4)
    return z + BRICK


def _launch_tower(grid: Grid, x: int, levels: int) -> None:
    grid.stage("Launch tower")
    lay(grid, "x", x - 1, 0, 0, [GREY] * 4, depth=4, kind="plate")
    for level in range(levels + 2):
        grid.brick(2, 2, x, 1, 1 + BRICK * level, (RED, WHITE)[level % 2])
    z = 1 + BRICK * (levels + 2)
    grid.plate(4, 2, x - 2, 1, z, GREY)
    grid.round(x, 1, z + 1, TRANS_RED, wide=2)


def _little_rocket(grid: Grid, body: int, stripe: int, fin: int) -> str:
    grid.stage("Fins")
    grid.brick(2, 2, 2, 2, 0, BLACK)
    for towards, x, y in (("left", 0, 2), ("right", 4, 2)):
        grid.slope(towards, 2, x, y, 0, fin)
    grid.plate(4, 2, 1, 2, BRICK, DARK_GREY)
    z = BRICK + 1
    grid.stage("Body")
    for level in range(grid.dice.between(3, 5)):
        colour = stripe if level == 1 else GLASS if level == 2 else body
        grid.round(2, 2, z, colour, high=BRICK, wide=2)
        z += BRICK
    grid.stage("Nose")
    grid.plate(2, 2, 2, 2, z, stripe)
    grid.put("3043", 2, 2, z + 1, fin)
    return "Little Rocket"
