"""Directions that only small things tell: studs on something round, the undercut of an inverted slope."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from jarvis_core.objects import RigidObject
from jarvis_core.seen import SeenBrick, SeenScene
from jarvis_perception.describe import describe_brick
from jarvis_sim.robot import SimCamera
from perception_bench import brick_id, errors, make_world, nearest, part_list, perception

#: The camera hangs above (0.49, -0.02): the last brick shows it no side.
UNDER_CAMERA = ("3665a", 14, 0.490, -0.022, 0.4)
BRICKS = (
    *(("3941", 4, 0.36 + 0.06 * k, -0.10, math.radians(turn)) for k, turn in enumerate((7, 29, 48, 83))),
    *(("3665a", 1, 0.36 + 0.06 * k, -0.24, math.radians(turn)) for k, turn in enumerate((0, 95, 185, 270))),
    *(("3660a", 2, 0.36 + 0.06 * k, -0.29, math.radians(turn)) for k, turn in enumerate((4, 90, 178, 265))),
    UNDER_CAMERA,
)

Pair = tuple[SeenBrick, RigidObject]


@pytest.fixture(scope="module")
def scene() -> Iterator[tuple[SeenScene, list[RigidObject]]]:
    world = make_world(BRICKS, ())
    seen = perception().perceive(SimCamera(world).capture(), parts=part_list(BRICKS))
    truth = {o.id: o for o in world.objects()}
    yield seen, [truth[brick_id(k)] for k in range(len(BRICKS))]
    world.close()


def of(scene: tuple[SeenScene, list[RigidObject]], part: str) -> list[Pair]:
    seen, truth = scene
    return [(nearest(seen, true), true) for true in truth[:-1] if true.kind == part]


def yaw_sd_deg(brick: SeenBrick) -> float:
    return math.degrees(math.sqrt(np.array(brick.covariance).reshape(6, 6)[5, 5]))


@pytest.mark.parametrize("part", ["3941", "3665a", "3660a"])
def test_what_shows_its_direction_gets_it_from_any_start(
    scene: tuple[SeenScene, list[RigidObject]], part: str
) -> None:
    pairs = of(scene, part)
    assert len(pairs) == 4
    for brick, true in pairs:
        assert brick.part == part
        assert np.degrees(errors(brick, true)[1]) < 3.0, true
        assert yaw_sd_deg(brick) < (3.0 if part == "3941" else 30.0)


def test_a_settled_direction_is_told_without_a_deviation(
    scene: tuple[SeenScene, list[RigidObject]],
) -> None:
    assert all("yaw_sd_deg" not in describe_brick(brick) for brick, _ in of(scene, "3941"))


def test_an_undercut_that_no_ray_reaches_leaves_the_direction_open(
    scene: tuple[SeenScene, list[RigidObject]],
) -> None:
    seen, truth = scene
    brick = nearest(seen, truth[-1])
    assert brick.part == "3665a"
    assert yaw_sd_deg(brick) > 60.0
    assert describe_brick(brick)["yaw_sd_deg"] > 60
    # Either of the two directions, but no other.
    _, angle = errors(brick, truth[-1])
    assert min(angle, math.pi - angle) < math.radians(3.0)
