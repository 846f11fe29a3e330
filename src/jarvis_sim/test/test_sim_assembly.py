"""Bricks that hang together: sub-assemblies, and loads that are not straight pulls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_sim.config import SimConfig
from jarvis_sim.loads import Load, opening_share
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]

grids = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=10)


def points(grid: set[tuple[int, int]]) -> np.ndarray:
    return np.array([(0.008 * x, 0.008 * y, -0.0096) for x, y in sorted(grid)])


@settings(deadline=None)
@given(grids, st.floats(0.1, 50.0))
def test_a_straight_pull_shares_among_all_studs(grid: set[tuple[int, int]], newton: float) -> None:
    load = Load(np.array([0.0, 0.0, newton]), np.zeros(3))
    share = opening_share(load, points(grid), 3.0, 12.0, peel=True)
    assert share == pytest.approx(newton / (3.0 * len(grid)))
    assert opening_share(load, points(grid), 3.0, 12.0, peel=False) == pytest.approx(share)


@settings(deadline=None)
@given(grids, st.tuples(*[st.floats(-0.05, 0.05)] * 3), st.floats(0.0, 20.0))
def test_a_moment_never_strengthens_and_a_press_never_opens(
    grid: set[tuple[int, int]], torque: tuple[float, float, float], newton: float
) -> None:
    moment, none = np.array(torque), np.zeros(3)
    pulled = opening_share(Load(np.array([0, 0, newton]), none), points(grid), 3.0, 12.0, peel=True)
    both = opening_share(Load(np.array([0, 0, newton]), moment), points(grid), 3.0, 12.0, peel=True)
    assert both >= pulled - 1e-9
    assert opening_share(Load(np.array([0, 0, -newton]), none), points(grid), 3.0, 12.0, peel=True) <= 0.0


def test_twisting_and_shearing_open_too() -> None:
    square = points({(0, 0), (1, 0), (0, 1), (1, 1)})
    sheared = Load(np.array([30.0, 0.0, 0.0]), np.zeros(3))
    assert opening_share(sheared, square, 3.0, 12.0, peel=True) == pytest.approx(30 / 48)
    twisted = Load(np.zeros(3), np.array([0.0, 0.0, 0.1]))
    assert opening_share(twisted, square, 3.0, 12.0, peel=True) == pytest.approx(
        0.1 / (4 * 12.0 * 0.004 * math.sqrt(2))
    )


def engage(world: SimWorld, brick: str, pose: Pose, newton: float = 24.0, x_m: float = 0.0) -> None:
    """Lay a brick down and press it on, ``x_m`` from its middle."""
    world.put(brick, pose.translated((0.0003, 0.0002, 0.0002)))
    world.advance(0.1)
    force = world.engine.data.xfrc_applied[world.engine.body(brick)]
    force[2], force[4] = -newton, newton * x_m
    world.advance(0.1)
    force[:] = 0.0
    world.advance(0.15)


def ramp(world: SimWorld, brick: str, direction: tuple[float, float, float], most: float) -> float:
    """Raise a force at the middle of a brick until the next event; gives its size then."""
    events, newton = len(world.events()), 0.0
    force = world.engine.data.xfrc_applied[world.engine.body(brick)]
    while len(world.events()) == events:
        newton += 15.0 * world.timestep_s
        assert newton < most, f"nothing happened up to {most} N"
        force[:3] = newton * np.array(direction)
        world.step()
    force[:] = 0.0
    return newton


def goal(world: SimWorld, brick: str) -> Pose:
    pose: Pose = world.cell.plate.pose @ next(b for b in world.task.targets if b.id == brick).pose
    return pose


@pytest.fixture
def peeling(sim: SimConfig) -> SimConfig:
    return msgspec.structs.replace(sim, clutch=msgspec.structs.replace(sim.clutch, peel=True))


def test_an_overhanging_brick_peels_at_half_the_pull(
    make_world: MakeWorld, place: Place, peeling: SimConfig
) -> None:
    """Two rows of studs 4 and 12 mm from the edge it peels about, the pull 16 mm from it: 96 Nmm / 16 mm."""
    world = make_world([place("a", "3001", 2, 0, layer=1)], [place("s", "3001")], config=peeling)
    engage(world, "a", goal(world, "a"), x_m=-0.008)
    assert world.events()[0].studs == 4
    assert ramp(world, "a", (0, 0, 1), 20) == pytest.approx(6.0, rel=0.2)
    released = world.events()[-1]
    assert released.force_n == pytest.approx(12.0, rel=0.2)  # the straight pull that would have done the same


def test_without_peeling_a_pull_alone_counts(make_world: MakeWorld, place: Place, sim: SimConfig) -> None:
    straight = msgspec.structs.replace(sim, clutch=msgspec.structs.replace(sim.clutch, peel=False))
    world = make_world([place("a", "3001", 2, 0, layer=1)], [place("s", "3001")], config=straight)
    engage(world, "a", goal(world, "a"), x_m=-0.008)
    assert ramp(world, "a", (0, 0, 1), 20) == pytest.approx(12.0, rel=0.2)


def test_a_brick_pushed_from_the_side_tips_off(
    make_world: MakeWorld, place: Place, peeling: SimConfig
) -> None:
    """One stud 4 mm from the edge against a push at half the height: 12 Nmm / 4.8 mm."""
    world = make_world([place("a", "3005", 0.5, 0.5)], config=peeling)
    engage(world, "a", goal(world, "a"))
    assert ramp(world, "a", (1, 0, 0), 12) == pytest.approx(12 / 4.8, rel=0.25)


def test_bricks_joined_on_the_table_are_carried_and_built_on_as_one(
    make_world: MakeWorld, place: Place, mover: type[Any]
) -> None:
    world = make_world([place("a", "3001", 3, -4), place("b", "3001", 3, -4, layer=1)])
    arm = mover(world)
    # Lengthwise across the arm, where the fingers reach both on the table and on the plate.
    below = Pose.from_yaw((0.45, -0.15, 0.0096), 0.0)
    world.put("a", below)
    world.advance(0.1)
    engage(world, "b", below.translated((0, 0, 0.0096)))
    assert world.state().connections == (("b", "a"),)
    arm.ready()
    arm.pick("b", 0.02)
    assert {o.id: o.pose.position[2] > 0.05 for o in world.state().objects} == {"a": True, "b": True}
    held = arm.model.tool(world.arm.joints).inverse() @ world.pose("b")
    tool = goal(world, "b") @ held.inverse()
    assert arm.go(tool.translated((0, 0, 0.05)), 2.0).status is Status.SUCCEEDED
    arm.go(tool.translated((0, 0, 0.002)))
    arm.go(tool.translated((0, 0, -0.0015)))
    arm.robot.wait(0.2)
    assert arm.robot.grip(0.03, 40.0).status is Status.SUCCEEDED
    arm.lift(0.08)
    assert world.state().connections == (("a", "plate"), ("b", "a"))
    for brick in ("a", "b"):
        assert world.pose(brick).distance_to(goal(world, brick)) < 1e-4
    assert [(e.kind, e.upper, e.lower) for e in world.events()] == [
        ("engaged", "b", "a"), ("engaged", "a", "plate"),
    ]  # fmt: skip


def test_a_joined_brick_engages_what_else_it_comes_to_lie_on(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001"), place("b", "3001", 1, layer=1)], [place("d", "3001", 4)])
    lower, upper = goal(world, "a"), goal(world, "b")
    away = Pose((0.42, -0.15, 0.0096))
    world.put("a", away)
    world.advance(0.1)
    engage(world, "b", away @ (lower.inverse() @ upper), 18.0)
    assert ("b", "a") in world.state().connections
    for brick, pose in (("a", lower), ("b", upper)):  # carried over, as it were
        world.put(brick, pose.translated((0.0, 0.0, 0.0003)))
    world.advance(0.1)
    force = world.engine.data.xfrc_applied
    for brick, newton in (("a", 20.0), ("b", 20.0)):
        force[world.engine.body(brick), 2] = -newton
    world.advance(0.2)
    force[:] = 0.0
    world.advance(0.2)
    assert set(world.state().connections) == {("a", "plate"), ("b", "a"), ("b", "d"), ("d", "plate")}
    assert world.pose("b").distance_to(upper) < 2e-5
