"""Things that lie still stay where they are; things that are disturbed fall, slide and topple, and come to rest."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_core.seeds import generator
from jarvis_sim.config import SimConfig
from jarvis_sim.engine import WorldError
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]


def sleepless(sim: SimConfig, **layout: object) -> SimConfig:
    return msgspec.structs.replace(
        sim,
        engine=msgspec.structs.replace(sim.engine, sleep_tolerance=0.0),
        layout=msgspec.structs.replace(sim.layout, **layout),
    )


def poses(world: SimWorld) -> dict[str, Pose]:
    return {o.id: o.pose for o in world.state().objects}


def farthest_mm(before: dict[str, Pose], after: dict[str, Pose]) -> float:
    return max(pose.distance_to(before[name]) * 1000 for name, pose in after.items())


@pytest.mark.parametrize("kind", ["random", "hard"])
def test_nothing_creeps_even_awake(make_world: MakeWorld, place: Place, sim: SimConfig, kind: str) -> None:
    """20 s without sleep; what the second half moved, times 60, is less than a tenth of a millimetre in 10 minutes."""
    parts = ("3001", "3003", "3020", "3023", "3005")
    world = make_world(
        [place(f"t{i}", part) for i, part in enumerate(parts)], config=sleepless(sim, kind=kind)
    )
    world.advance(10.0)
    settled = poses(world)
    world.advance(10.0)
    assert 60 * farthest_mm(settled, poses(world)) < 0.1
    assert world.events() == ()


def test_sleepers_do_not_move_at_all(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001"), place("b", "3023")])
    world.advance(1.0)
    settled = poses(world)
    world.advance(20.0)
    assert poses(world) == settled


def test_a_dropped_brick_comes_to_rest_on_the_table(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    world.move("a", Pose((0.45, -0.15, 0.10), (0.3, 0.5, 0.1, 0.8)))
    world.advance(2.0)
    assert not world.engine.sleep.is_awake(world.engine.body("a"))
    assert world.bottom_m("a") == pytest.approx(0.0, abs=2e-4)
    turned = np.abs(world.pose("a").rotation)
    assert turned.max(axis=0) == pytest.approx([1, 1, 1], abs=0.3)  # it lies on one of its faces


def test_a_pushed_brick_slides_and_stops(make_world: MakeWorld, place: Place) -> None:
    """From v it slides v^2 / (2 mu g) far."""
    world = make_world([place("a", "3020")])
    world.advance(0.5)
    before = world.pose("a")
    world.throw("a", (0.6, 0.0, 0.0))
    world.advance(1.0)
    way = world.pose("a").distance_to(before)
    assert way == pytest.approx(0.6**2 / (2 * 0.5 * 9.81), rel=0.15)
    assert world.bottom_m("a") == pytest.approx(0.0, abs=2e-4)


def test_a_brick_on_the_edge_topples(make_world: MakeWorld, place: Place, cell: CellConfig) -> None:
    world = make_world([place("a", "3001", 2.5, 0, layer=1)], [place("s", "3001")])
    world.put("a", cell.plate.pose @ world.task.targets[0].pose.translated((0.0, 0.0, 0.0002)))
    world.advance(1.0)
    assert world.pose("a").rotation[2, 2] < 0.99
    assert world.pose("a").position[2] < 0.0032 + 0.0192


def test_a_released_brick_falls_though_it_hung_still(make_world: MakeWorld, place: Place) -> None:
    """What does not move may sleep; what nothing holds any more may not."""
    world = make_world([place("a", "3001")])
    weight = world.engine.data.xfrc_applied[world.engine.body("a")]
    world.move("a", Pose((0.45, -0.15, 0.2)))
    weight[2] = 9.81 * world.engine.model.body("a").mass[0]
    world.advance(0.5)
    assert world.pose("a").position[2] == pytest.approx(0.2, abs=1e-6)
    weight[2] = 0.0
    world.advance(0.5)
    assert world.pose("a").position[2] < 0.05


def test_a_broken_state_is_an_error_and_a_reset_mends_it(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    initial = world.snapshot()
    world.engine.data.qpos[0] = np.nan
    with pytest.raises(WorldError, match="unstable"):
        world.advance(0.1)
    world.restore(initial)
    world.advance(0.1)
    world.engine.data.qvel[:] = np.inf
    with pytest.raises(WorldError, match="unstable"):
        world.advance(0.1)
    world.reset(1)
    assert world.snapshot() == initial


@pytest.mark.skipif("LDRAWDIR" not in os.environ, reason="LDRAWDIR names no LDraw library")
def test_parts_of_a_library_settle(cell: CellConfig, sim: SimConfig) -> None:
    """30 random parts dropped on the table from 4 cm."""
    library = LDrawLibrary.find(None)
    catalogue, rng = PartCatalogue(library), generator(4, "parts")
    names = sorted(p.stem for p in (Path(os.environ["LDRAWDIR"]) / "parts").glob("3*.dat"))
    targets: list[PlacedBrick] = []
    for name in (names[int(i)] for i in rng.permutation(len(names))):
        geometry = catalogue.geometry(name)
        if geometry.physical and np.ptp(geometry.bounds, axis=0).max() < 0.08:
            targets.append(PlacedBrick(f"p{len(targets)}", name, 4, Pose(), 1, "plate", ()))
        if len(targets) == 30:
            break
    region = msgspec.structs.replace(cell.supply.region, x=(0.0, 0.95), y=(-0.55, -0.03))
    wide = msgspec.structs.replace(
        cell, supply=msgspec.structs.replace(cell.supply, region=region, target_distance_m=0.0)
    )
    task = Task(TASK_SCHEMA, "parts", "parts", "", "", "", (1, 1), (), tuple(targets))
    world = SimWorld(task, wide, sim, catalogue, 0)
    for brick in targets:
        world.put(brick.id, world.pose(brick.id).translated((0.0, 0.0, 0.04)))
    world.advance(2.0)
    settled = poses(world)
    world.advance(0.5)
    assert np.abs(world.engine.data.qvel).max() < 0.02
    assert farthest_mm(settled, poses(world)) < 0.5
    for thing in world.objects():
        for box in thing.world_boxes():
            reach = np.abs(box.pose.rotation[2]) @ np.array(box.size_m) / 2
            assert box.pose.position[2] - reach > -0.001, thing.kind
        assert thing.pose.position[2] < 0.08


@pytest.mark.parametrize("speed", [2.0, 4.0, 8.0, 15.0])
@pytest.mark.parametrize("over", ["table", "plate"])
def test_a_brick_thrown_down_stays_above_what_it_hits(
    make_world: MakeWorld, place: Place, cell: CellConfig, speed: float, over: str
) -> None:
    world = make_world([place("a", "3001")])
    x, y, _ = (0.45, -0.2, 0.0) if over == "table" else cell.plate.pose.position
    ground = 0.0 if over == "table" else cell.plate.thickness_m
    world.put("a", Pose((x, y, 0.3)))
    world.throw("a", (0.0, 0.0, -speed))
    world.advance(1.5)
    assert world.bottom_m("a") == pytest.approx(ground, abs=3e-4)
    assert not world.engine.sleep.is_awake(world.engine.body("a"))


@given(st.tuples(*[st.floats(-6.0, 6.0)] * 3))
@settings(deadline=None, max_examples=8)
def test_a_brick_thrown_anywhere_ends_on_table_or_floor(velocity: tuple[float, float, float]) -> None:
    world = one_brick()
    world.reset(1)
    world.put("a", Pose((0.45, -0.2, 0.3), (0.3, 0.5, 0.1, 0.8)))
    world.throw("a", velocity)
    lowest = 0.0
    for _ in range(40):
        world.advance(0.1)
        lowest = min(lowest, world.bottom_m("a"))
        if not world.engine.sleep.is_awake(world.engine.body("a")):
            break
    assert lowest > -0.80
    x, y, _ = world.pose("a").position
    if world.cell.table.contains(x, y, 0.02) and world.bottom_m("a") > -0.5:
        assert world.bottom_m("a") > -3e-4


@lru_cache
def one_brick() -> SimWorld:
    brick = PlacedBrick("a", "3001", 4, Pose((0.0, 0.0, 0.0096)), 1, "plate", ("plate",))
    task = Task(TASK_SCHEMA, "one", "one", "", "", "", (1, 1), (), (brick,))
    return SimWorld(
        task, load_default("cell", CellConfig), load_default("sim", SimConfig), PartCatalogue(), 1
    )
