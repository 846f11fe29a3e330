"""Structures that can come apart: free bodies held by the clutch, on demand or from the start."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_core.errors import RefusedError
from jarvis_core.pose import Pose
from jarvis_sim.config import SimConfig
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]


def baked(sim: SimConfig, how: str) -> SimConfig:
    return msgspec.structs.replace(sim, bricks=msgspec.structs.replace(sim.bricks, baked=how))


@pytest.fixture
def tower(place: Place) -> list[PlacedBrick]:
    """Three 2x4 on each other, and one beside them."""
    scene = [place(f"s{i}", "3001", 0, 0, layer=i) for i in range(3)]
    below = ["plate", "s0", "s1"]
    return [msgspec.structs.replace(b, connections=(below[i],)) for i, b in enumerate(scene)] + [
        place("alone", "3001", 8, 0)
    ]


def poses(world: SimWorld) -> dict[str, Pose]:
    return {o.id: o.pose for o in world.state().objects}


def moved_mm(world: SimWorld, before: dict[str, Pose]) -> dict[str, float]:
    return {name: pose.distance_to(before[name]) * 1000 for name, pose in poses(world).items()}


def test_a_structure_of_free_bodies_stands_as_a_baked_one(
    make_world: MakeWorld, place: Place, tower: list[PlacedBrick], sim: SimConfig
) -> None:
    free = make_world([place("a", "3001", -8)], tower, config=baked(sim, "never"))
    fixed = make_world([place("a", "3001", -8)], tower, config=baked(sim, "always"))
    assert free.state() == fixed.state()
    assert [o.fixed for o in free.objects()] == [False] * 5
    before = poses(free)
    free.advance(2.0)
    assert max(moved_mm(free, before).values()) < 0.1
    assert free.events() == ()
    assert free.engine.data.ntree_awake == 1  # only the arm


def test_free_structures_survive_reset_and_snapshot(
    make_world: MakeWorld, place: Place, tower: list[PlacedBrick], sim: SimConfig
) -> None:
    world = make_world([place("a", "3001", -8)], tower, config=baked(sim, "never"))
    initial = world.snapshot()
    world.perturb.knock_off("s1")
    world.advance(0.5)
    later = world.snapshot()
    world.reset(1)
    assert world.snapshot() == initial
    world.restore(later)
    assert world.snapshot() == later
    world.advance(0.3)
    after = world.snapshot()
    other = make_world([place("a", "3001", -8)], tower, config=baked(sim, "never"), seed=5)
    other.restore(later)
    other.advance(0.3)
    assert other.snapshot() == after


def test_a_free_structure_comes_off_at_the_declared_force(
    make_world: MakeWorld, place: Place, tower: list[PlacedBrick], sim: SimConfig
) -> None:
    world = make_world([place("a", "3001", -8)], tower, config=baked(sim, "never"))
    pull = world.engine.data.xfrc_applied[world.engine.body("s2")]
    while not world.events():
        pull[2] += 40 * world.timestep_s
        assert pull[2] < 40
        world.step()
    assert pull[2] == pytest.approx(24, rel=0.2)


def test_knocking_off_frees_what_rests_on_a_brick_and_nothing_else(
    make_world: MakeWorld, place: Place, tower: list[PlacedBrick]
) -> None:
    world = make_world([place("a", "3001", -8)], tower)
    ticks: list[float] = []
    world.add_observer(0.1, lambda: ticks.append(world.time_s))
    world.advance(0.25)
    before = poses(world)
    world.perturb.knock_off("s1", np.pi / 2, 0.8)
    assert {o.id: o.fixed for o in world.objects()} == {
        "s0": True, "s1": False, "s2": False, "alone": True, "a": False,
    }  # fmt: skip
    assert [(e.kind, e.upper, e.lower, e.force_n) for e in world.events()] == [
        ("released", "s1", "s0", 0.0), ("released", "s2", "s1", 0.0),
    ]  # fmt: skip
    assert world.time_s == 0.25
    world.advance(1.5)
    moved = moved_mm(world, before)
    assert moved["s1"] > 20
    assert moved["s0"] == moved["alone"] == 0.0
    assert moved["a"] < 0.1
    assert world.state().connections == (("alone", "plate"), ("s0", "plate"))
    assert len(ticks) == 17  # observers go on


def test_a_snapshot_from_before_a_perturbation_takes_it_back(
    make_world: MakeWorld, place: Place, tower: list[PlacedBrick]
) -> None:
    world = make_world([place("a", "3001", -8)], tower)
    world.advance(0.1)
    saved, state = world.snapshot(), world.state()
    world.perturb.knock_off("s2")
    world.advance(0.2)
    knocked = world.snapshot()
    world.restore(saved)
    assert world.state() == state
    assert world.snapshot() == saved
    world.restore(knocked)
    assert world.snapshot() == knocked
    world.reset(1)
    assert all(o.fixed for o in world.objects() if o.id != "a")


def test_shifted_removed_and_swapped(make_world: MakeWorld, place: Place, tower: list[PlacedBrick]) -> None:
    world = make_world([place("a", "3001", -8), place("b", "3020", -8)], tower)
    before = poses(world)
    world.perturb.shift("s2", (0.0, 0.0, 0.001), 0.1)
    world.advance(0.3)
    assert poses(world)["s2"].angle_to(before["s2"]) == pytest.approx(0.1, abs=0.01)
    assert world.state().connections == (("alone", "plate"), ("s0", "plate"), ("s1", "s0"))
    world.perturb.swap("a", "b")
    world.advance(0.2)
    after = poses(world)
    assert after["a"].position[:2] == pytest.approx(before["b"].position[:2], abs=1e-3)
    assert world.bottom_m("a") == pytest.approx(0.0, abs=1e-4)
    assert world.bottom_m("b") == pytest.approx(0.0, abs=1e-4)
    world.perturb.remove("alone")
    world.perturb.remove("a")
    world.advance(0.5)
    assert {o.id for o in world.objects()} == {"s0", "s1", "s2", "b"}
    away = [poses(world)[name].position for name in ("alone", "a")]
    assert away[0][0] - away[1][0] == pytest.approx(0.1)
    assert world.state().connections == (("s0", "plate"), ("s1", "s0"))


def test_what_can_not_be_is_refused(
    make_world: MakeWorld, place: Place, tower: list[PlacedBrick], sim: SimConfig
) -> None:
    world = make_world([place("a", "3001", -8)], tower)
    with pytest.raises(RefusedError, match="'zz'"):
        world.perturb.knock_off("zz")
    with pytest.raises(RefusedError, match="deep in something"):
        world.perturb.shift(
            "a", tuple((poses(world)["alone"].position - poses(world)["a"].position).tolist())
        )
    fixed = make_world([place("a", "3001", -8)], tower, config=baked(sim, "always"))
    with pytest.raises(RefusedError, match="baked into the world"):
        fixed.perturb.remove("s2")


def test_the_gripper_takes_a_brick_off_the_structure(
    make_world: MakeWorld, place: Place, mover: type[Any]
) -> None:
    """A 1x2 plate holds with 6 N, which the fingers can pull."""
    world = make_world([place("a", "3001", -8)], [place("top", "3023", 6, -4.5)])
    arm = mover(world)
    arm.ready()
    target = world.pose("top")
    assert next(o.fixed for o in world.objects() if o.id == "top")
    above = Pose.from_rotation(
        (target.position[0], target.position[1], 0.0136), np.array([[1, 0, 0], [0, -1, 0], [0, 0, -1]])
    )
    arm.go(above.translated((0, 0, 0.05)), 2.0)
    arm.go(above, 1.0)
    assert arm.robot.grip(0.002, 40.0).stalled
    arm.robot.wait(0.1)
    assert not next(o.fixed for o in world.objects() if o.id == "top")
    assert world.is_held("top")
    assert world.state().connections == (("top", "plate"),)
    arm.robot.grip(0.03, 40.0)
    arm.robot.wait(0.1)
    arm.robot.grip(0.002, 40.0)
    arm.lift(0.05)
    assert [e.kind for e in world.events()] == ["released"]
    assert world.is_held("top")
