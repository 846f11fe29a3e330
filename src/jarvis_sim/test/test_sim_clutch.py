"""The stud clutch by scripted forces on bricks (the robot stands aside)."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from jarvis_core.pose import Pose
from jarvis_sim.config import SimConfig
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]


def target(world: SimWorld, brick: str) -> Pose:
    found = next(b for b in world.task.targets if b.id == brick)
    return world.cell.plate.pose @ found.pose


def put(world: SimWorld, brick: str, dx: float = 0.0, dy: float = 0.0, yaw: float = 0.0) -> None:
    """Lay a brick at its target, a little off, and let it come to rest."""
    ideal = target(world, brick)
    world.move(brick, ideal @ Pose.from_yaw((dx, dy, 0.0003), yaw))
    world.advance(0.1)


def force(world: SimWorld, brick: str, newton: float) -> None:
    """Apply a vertical force at a brick's centre of mass from now on."""
    world.engine.data.xfrc_applied[world.engine.body(brick), 2] = newton


def ramp(world: SimWorld, brick: str, sign: float, most: float, rate: float = 15.0) -> float:
    """Raise a force until the next event; gives its size then. Fails the test at ``most`` newton."""
    events, newton = len(world.events()), 0.0
    while len(world.events()) == events:
        newton += rate * world.timestep_s
        assert newton < most, f"nothing happened up to {most} N"
        force(world, brick, sign * newton)
        world.step()
    force(world, brick, 0.0)
    return newton


def press(world: SimWorld, brick: str, newton: float, seconds: float = 0.2) -> None:
    force(world, brick, -newton)
    world.advance(seconds)
    force(world, brick, 0.0)
    world.advance(0.15)


def error_mm(world: SimWorld, brick: str) -> float:
    state = next(o for o in world.state().objects if o.id == brick)
    return state.pose.distance_to(target(world, brick)) * 1000


@pytest.mark.parametrize(
    ("part", "x", "y", "studs"), [("3001", 0, 0, 8), ("3023", 0, 0.5, 2), ("3005", 0.5, 0.5, 1)]
)
def test_forces_of_engaging_and_releasing_are_the_declared_ones(
    make_world: MakeWorld, place: Place, part: str, x: float, y: float, studs: int
) -> None:
    world = make_world([place("a", part, x, y)])
    put(world, "a", 0.0007, -0.0005, 0.04)
    assert ramp(world, "a", -1, 40) == pytest.approx(2.0 * studs, rel=0.2)
    world.advance(0.2)
    assert error_mm(world, "a") < 0.01
    assert world.state().connections == (("a", "plate"),)
    assert ramp(world, "a", +1, 40) == pytest.approx(3.0 * studs, rel=0.2)
    assert world.state().connections == ()
    engaged, released = world.events()
    assert (engaged.kind, engaged.upper, engaged.lower, engaged.studs) == ("engaged", "a", "plate", studs)
    assert engaged.error_xy_m == pytest.approx(math.hypot(0.0007, 0.0005), abs=1e-4)
    assert engaged.error_yaw_rad == pytest.approx(0.04, abs=0.005)
    assert engaged.force_n == pytest.approx(2.0 * studs, rel=0.25)
    assert (released.kind, released.studs) == ("released", studs)
    assert released.force_n == pytest.approx(3.0 * studs, rel=0.2)


def test_an_engaged_brick_holds_below_its_release_force(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    put(world, "a")
    press(world, "a", 18)
    force(world, "a", 22)
    world.advance(1.0)
    assert world.pull_n("a") == pytest.approx(22, abs=0.3)
    assert error_mm(world, "a") < 0.1
    assert world.state().connections == (("a", "plate"),)


@pytest.mark.parametrize(
    ("dx", "dy", "yaw"),
    [
        (0.0016, 0.0, 0.0),
        (0.0, -0.0016, 0.0),
        (0.0012, 0.0012, 0.0),
        (0.004, 0.0, 0.0),
        (0.004, 0.004, 0.0),
        (0.0, 0.0, math.radians(6)),
        (0.0, 0.0, math.radians(45)),
    ],
)
def test_outside_the_tolerance_it_never_snaps(
    make_world: MakeWorld, place: Place, dx: float, dy: float, yaw: float
) -> None:
    world = make_world([place("a", "3001")])
    put(world, "a", dx, dy, yaw)
    before = error_mm(world, "a")
    press(world, "a", 60, 0.5)
    assert world.events() == ()
    assert error_mm(world, "a") == pytest.approx(before, abs=0.05)


def test_too_light_or_too_short_a_press_does_not_snap(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    put(world, "a", 0.0005)
    press(world, "a", 14, 0.5)
    press(world, "a", 40, 0.016)
    assert world.events() == ()


def test_on_the_table_nothing_snaps(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    press(world, "a", 50)
    assert world.events() == ()


def test_an_overhang_counts_the_coincident_studs(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001", 1, 0, layer=1)], [place("s", "3001")])
    put(world, "a")
    assert ramp(world, "a", -1, 20) == pytest.approx(12.0, rel=0.2)
    assert world.events()[0].studs == 6
    assert world.state().connections == (("s", "plate"), ("a", "s"))


def test_a_brick_across_baked_and_loose_ones_is_connected_to_all(make_world: MakeWorld, place: Place) -> None:
    loose = [place("left", "3001", -2, 0), place("top", "3001", 0, 0, layer=1)]
    world = make_world(loose, [place("right", "3001", 2, 0)])
    put(world, "left", 0.0004)
    press(world, "left", 20)
    put(world, "top", 0.0004, 0.0003, 0.02)
    press(world, "top", 20)
    assert set(world.state().connections) == {
        ("left", "plate"),
        ("right", "plate"),
        ("top", "left"),
        ("top", "right"),
    }
    events = [e for e in world.events() if e.upper == "top"]
    assert sorted((e.lower, e.studs) for e in events) == [("left", 4), ("right", 4)]
    assert sum(e.force_n for e in events) == pytest.approx(20, rel=0.1)
    assert error_mm(world, "top") < 0.02


def test_a_pulled_stack_comes_apart_at_its_top(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001"), place("b", "3001", layer=1)])
    for brick in ("a", "b"):
        put(world, brick)
        press(world, brick, 20)
    assert world.state().connections == (("a", "plate"), ("b", "a"))
    assert ramp(world, "b", +1, 40, rate=200) == pytest.approx(24, rel=0.3)
    world.advance(0.1)
    assert world.state().connections == (("a", "plate"),)


def test_a_weaker_connection_below_gives_first(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001", layer=1), place("b", "3001", layer=2)], [place("s", "3003")])
    for brick in ("a", "b"):
        put(world, brick)
        press(world, brick, 20)
    assert [e.studs for e in world.events()] == [4, 8]
    assert ramp(world, "b", +1, 20) == pytest.approx(12, rel=0.2)
    assert world.state().connections == (("s", "plate"), ("b", "a"))


def test_a_release_is_armed_only_when_the_gripper_has_let_go(
    make_world: MakeWorld, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = make_world([place("a", "3001")])
    held = True
    monkeypatch.setattr(world.arm, "holds", lambda body: held)
    put(world, "a")
    press(world, "a", 20)
    force(world, "a", 40)
    world.advance(0.2)
    assert world.state().connections == (("a", "plate"),)
    force(world, "a", 0)
    held = False
    world.advance(0.1)
    held = True
    force(world, "a", 40)
    world.advance(0.1)
    assert world.state().connections == ()


def test_switched_off_there_is_plain_contact(make_world: MakeWorld, place: Place, sim: SimConfig) -> None:
    off = msgspec.structs.replace(sim, clutch=msgspec.structs.replace(sim.clutch, enabled=False))
    world = make_world([place("a", "3001")], config=off)
    put(world, "a")
    press(world, "a", 40)
    force(world, "a", 2)
    world.advance(0.1)
    assert world.events() == ()
    assert error_mm(world, "a") > 10


def test_a_connection_survives_a_snapshot_taken_while_it_is_drawn_in(
    make_world: MakeWorld, place: Place
) -> None:
    world = make_world([place("a", "3001")])
    put(world, "a", 0.001, 0.0005, 0.05)
    ramp(world, "a", -1, 40)
    world.advance(0.03)
    saved = world.snapshot()
    world.advance(0.5)
    after = world.state()
    world.reset(2)
    assert world.state().connections == ()
    world.restore(saved)
    assert world.snapshot() == saved
    world.advance(0.5)
    assert world.state() == after
    assert len(world.events()) == 1


def test_room_for_connections_is_a_configured_number(
    make_world: MakeWorld, place: Place, sim: SimConfig
) -> None:
    few = msgspec.structs.replace(sim, clutch=msgspec.structs.replace(sim.clutch, welds_per_brick=1))
    world = make_world([place("a", "3001"), place("b", "3001", 8)], config=few)
    for brick in ("a", "b"):
        put(world, brick)
        press(world, brick, 20)
    assert len(world.state().connections) == 2
    assert np.isfinite(world.engine.data.qpos).all()
