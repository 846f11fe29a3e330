"""Two collision checkers that share no code must agree: coal pair by pair, and roboplan's scene."""

from __future__ import annotations

import numpy as np
import pytest
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_motion.box_world import BoxWorld
from jarvis_motion.contacts import HELD, Contact, ContactFinder
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")
READY = np.array(PANDA.config.ready_rad)
FINDER = ContactFinder(PANDA)


def random_boxes(rng: np.random.Generator, count: int) -> dict[str, tuple[Box, ...]]:
    sizes = [(0.1, 0.2, 0.05), (0.03, 0.03, 0.03), (0.3, 0.02, 0.2)]
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
        world.hold(held)
        world.set_gripper_width(width)
        for _ in range(40):
            joints = rng.uniform(PANDA.limits.lower, PANDA.limits.upper)
            contacts = FINDER.find(joints, width, obstacles, held)
            assert world.collides(joints) == bool(contacts), contacts
            hidden = {c.second for c in contacts if c.obstacle}
            with world.without(hidden):
                assert world.collides(joints) == any(not c.obstacle for c in contacts)
            assert world.collides(joints) == bool(contacts)
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
