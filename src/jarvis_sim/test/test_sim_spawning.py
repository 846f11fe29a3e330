"""Bricks that appear and vanish while the world runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.pose import Pose
from jarvis_sim.spawning import NameTakenError, parse_part
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]

FREE = Pose.from_yaw((0.45, -0.28, 0.0097), 0.4)


def ids(world: SimWorld) -> list[str]:
    return [thing.id for thing in world.objects()]


@given(st.from_regex(r"[0-9]{1,6}[a-z]?", fullmatch=True), st.integers(0, 10**6))
@settings(deadline=None)
def test_an_address_is_a_part_and_a_colour(part: str, colour: int) -> None:
    assert parse_part(f"ldraw:{part}?colour={colour}") == (part, colour)
    assert parse_part(f"ldraw:{part}")[0] == part


@pytest.mark.parametrize(
    "uri",
    ["", "3001", "file:///tmp/a.sdf", "ldraw:", "ldraw:3001?color=4", "ldraw:3001?colour=red",
     "ldraw:3001?colour=4&colour=5", "ldraw:3001?colour=-1"],
)  # fmt: skip
def test_other_addresses_are_told_how_to_be_written(uri: str) -> None:
    with pytest.raises(BadInputError, match="ldraw:3001"):
        parse_part(uri)


def test_a_spawned_brick_lies_there_and_everything_else_goes_on(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")], [place("s", "3001", 4, -3)])
    world.move("a", Pose((0.40, -0.10, 0.15)))
    world.advance(0.1)  # it is falling
    before, time_s = world.pose("a"), world.time_s
    world.spawn("extra", "ldraw:3003?colour=1", FREE)
    assert ids(world) == ["s", "a", "extra"]
    assert (world.pose("a"), world.time_s) == (before, time_s)
    assert world.objects()[2].kind == "3003"
    assert world.objects()[2].colour == 1
    world.advance(1.0)
    assert world.pose("extra").distance_to(FREE) < 5e-4
    assert world.bottom_m("a") == pytest.approx(0.0, abs=3e-4)
    world.delete("extra")
    assert ids(world) == ["s", "a"]
    world.spawn("extra", "ldraw:3005", FREE)  # the name is free again
    assert world.objects()[2].kind == "3005"
    world.close()


def test_what_is_held_stays_in_the_hand(make_world: MakeWorld, place: Place, mover: type[Any]) -> None:
    arm = mover(make_world([place("a", "3001")]))
    arm.ready()
    arm.pick("a")
    held = arm.robot.state().tool.inverse() @ arm.world.pose("a")
    arm.world.spawn("extra", "ldraw:3001?colour=4", FREE)
    assert arm.world.is_held("a")
    assert not arm.world.is_held("extra")
    arm.world.advance(0.5)
    arm.world.delete("extra")
    arm.world.advance(0.5)
    assert arm.world.is_held("a")
    assert (arm.robot.state().tool.inverse() @ arm.world.pose("a")).distance_to(held) < 2e-4


def test_snapshots_and_resets_know_what_was_spawned(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    initial = world.snapshot()
    world.spawn("one", "ldraw:3003?colour=1", FREE)
    world.spawn("two", "ldraw:3001?colour=2", FREE.translated((-0.08, 0.0, 0.0)))
    both = world.snapshot()
    world.delete("one")
    world.advance(0.2)
    world.restore(both)
    world.delete("two")
    world.spawn("two", "ldraw:3005?colour=2", FREE.translated((-0.08, 0.0, 0.0)))
    world.restore(both)  # the same names, but another part
    assert ids(world) == ["a", "one", "two"]
    assert world.snapshot() == both
    world.restore(initial)
    assert ids(world) == ["a"]
    world.restore(both)
    world.reset(1)
    assert ids(world) == ["a"]
    assert world.snapshot() == initial


def test_what_can_not_appear_is_refused_and_leaves_nothing(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")], [place("s", "3001", 4, -3)])
    before = ids(world)
    for name in ("a", "s", "plate", "table", "panda_hand"):
        with pytest.raises(NameTakenError):
            world.spawn(name, "ldraw:3001", FREE)
    with pytest.raises(BadInputError):
        world.spawn("a brick", "ldraw:3001", FREE)
    with pytest.raises(BadInputError):
        world.spawn("b", "ldraw:no-such-part", FREE)
    with pytest.raises(RefusedError, match="deep"):
        world.spawn("b", "ldraw:3001", Pose((0.45, -0.28, 0.004)))
    with pytest.raises(RefusedError, match="no brick"):
        world.delete("b")
    assert ids(world) == before


def test_a_brick_of_the_task_goes_but_is_remembered(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")], [place("s", "3001", 4, -3)])
    world.delete("a")
    world.delete("s")
    assert ids(world) == []
    assert {o.id for o in world.state().objects} == {"a", "s"}
    world.reset(1)
    assert ids(world) == ["s", "a"]


def test_spawned_bricks_engage_like_any_other(make_world: MakeWorld, place: Place) -> None:
    world = make_world([], [place("s", "3001", 4, -3)])
    on_top = world.pose("s").translated((0.0, 0.0, 0.0098))
    world.spawn("top", "ldraw:3001?colour=14", on_top)
    world.advance(0.1)
    force = world.engine.data.xfrc_applied[world.engine.body("top")]
    force[2] = -24.0
    world.advance(0.1)
    force[2] = 0.0
    world.advance(0.2)
    assert ("top", "s") in world.state().connections
    assert world.pose("top").distance_to(world.pose("s").translated((0.0, 0.0, 0.0096))) < 1e-4
    world.delete("top")
    assert ("top", "s") not in world.state().connections
    assert [e.kind for e in world.events()] == ["engaged", "released"]
    assert np.isfinite(world.engine.data.qpos).all()
