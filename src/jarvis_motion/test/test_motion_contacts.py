"""Collision checkers must agree: coal pair by pair, roboplan's scene, and the one for many positions at once."""

from __future__ import annotations

import coal
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_motion.box_world import BoxWorld
from jarvis_motion.boxes import BoxArray, separated
from jarvis_motion.collision import CollisionChecker
from jarvis_motion.contacts import HELD, Contact, ContactFinder
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")
READY = np.array(PANDA.config.ready_rad)
FINDER = ContactFinder(PANDA)
CHECKER = CollisionChecker(PANDA, FINDER)


def random_boxes(rng: np.random.Generator, count: int) -> dict[str, tuple[Box, ...]]:
    # None so small that it fits inside a link: roboplan's meshes are hollow.
    sizes = [(0.1, 0.2, 0.05), (0.3, 0.03, 0.03), (0.3, 0.02, 0.2)]
    return {
        f"box{i}": (
            Box(
                Pose(rng.uniform([-0.2, -0.5, 0.0], [0.7, 0.5, 0.8]), rng.normal(size=4)),
                sizes[int(rng.integers(3))],
            ),
        )
        for i in range(count)
    }


@pytest.mark.parametrize("rebuild_above", [0, 1000])
def test_both_checkers_agree(rebuild_above: int) -> None:
    """Over growing, shrinking and moving worlds, held things and gripper widths; baked and pooled boxes."""
    rng = np.random.default_rng(11)
    world = BoxWorld(PANDA, FINDER.near_the_tool(), rebuild_above)
    seen = set()
    for count in (3, 12, 5, 20, 6, 6):
        obstacles = random_boxes(rng, count)
        held = tuple(
            Box(Pose((0.0, 0.0, rng.uniform(0.02, 0.1))), (0.05, rng.choice([0.1, 0.2]), 0.1))
            for _ in range(count % 3)
        )
        width = float(rng.uniform(0.0, 0.08))
        world.place(obstacles)
        boxes = BoxArray.of(obstacles)
        world.hold(held)
        world.set_gripper_width(width)
        for _ in range(40):
            joints = rng.uniform(PANDA.limits.lower, PANDA.limits.upper)
            contacts = FINDER.find(joints, width, obstacles, held)
            assert world.collides(joints) == bool(contacts), contacts
            assert CHECKER.collides(joints, width, boxes, held) == bool(contacts), contacts
            left = boxes.without({c.second for c in contacts if c.obstacle})
            assert CHECKER.collides(joints, width, left, held) == any(not c.obstacle for c in contacts)
            seen |= {(c.obstacle, c.first == HELD) for c in contacts}
    assert seen == {(True, True), (True, False), (False, True), (False, False)}


def test_contacts_are_named() -> None:
    tool = PANDA.tool(READY)
    at_tool = {"thing": (Box(tool, (0.01, 0.1, 0.01)),)}
    assert FINDER.find(READY, 0.08, at_tool, ()) == [
        Contact("panda_leftfinger", "thing", True),
        Contact("panda_rightfinger", "thing", True),
    ]
    assert FINDER.find(READY, 0.08, {}, ()) == []
    below = {"thing": (Box(tool @ Pose((0.0, 0.0, 0.05)), (0.02, 0.02, 0.02)),)}
    assert FINDER.find(READY, 0.08, below, ()) == []
    held = (Box(Pose((0.0, 0.0, 0.03)), (0.02, 0.02, 0.04)),)
    assert [str(c) for c in FINDER.find(READY, 0.08, below, held)] == ["the held object would touch thing"]


def test_the_first_collision_of_a_motion_is_that_of_its_points_one_by_one() -> None:
    rng = np.random.default_rng(5)
    outcomes = set()
    for count in (0, 2, 2, 4, 4, 4):
        boxes = BoxArray.of(random_boxes(rng, count))
        held = (Box(Pose((0.0, 0.0, 0.05)), (0.02, 0.2, 0.02)),) if count == 4 else ()
        for _ in range(6):
            ends = rng.uniform(PANDA.limits.lower, PANDA.limits.upper, (2, 7))
            middle = np.array(PANDA.config.ready_rad)
            way = np.linspace(middle, middle + 0.3 * (ends[0] - middle), 41)
            one_by_one = (i for i, q in enumerate(way) if CHECKER.collides(q, 0.08, boxes, held))
            first = next(one_by_one, None)
            assert CHECKER.first_collision(way, 0.08, boxes, held) == first
            outcomes.add(first is None)
    assert outcomes == {True, False}


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_cuboids_are_apart_where_coal_says_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, second = (
        Box(Pose(rng.uniform(-0.2, 0.2, 3), rng.normal(size=4)), tuple(rng.uniform(0.02, 0.3, 3)))
        for _ in range(2)
    )
    places, halves = (
        [np.array([b.pose.matrix]) for b in (first, second)],
        [np.array([b.size_m]) / 2 for b in (first, second)],
    )
    result = coal.CollisionResult()
    shapes = [coal.Box(*b.size_m) for b in (first, second)]
    at = [coal.Transform3s(b.pose.rotation, b.pose.position) for b in (first, second)]
    coal.collide(shapes[0], at[0], shapes[1], at[1], coal.CollisionRequest(), result)
    assert separated(places[0], halves[0], places[1], halves[1])[0] != result.isCollision()


def test_a_box_inside_a_link_touches_it() -> None:
    elbow = PANDA.forward(READY)["panda_link5"] @ Pose((0.0, 0.0, -0.2))
    inside = {"pea": (Box(elbow, (0.01, 0.01, 0.01)),)}
    assert [str(c) for c in FINDER.find(READY, 0.08, inside, ())] == ["panda_link5 would touch pea"]
    assert CHECKER.collides(READY, 0.08, BoxArray.of(inside))
