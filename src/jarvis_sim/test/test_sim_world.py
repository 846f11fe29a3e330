"""The cell of a task as a whole."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_sim.bricks import BrickItem, Bricks
from jarvis_sim.config import SimConfig
from jarvis_sim.engine import Engine
from jarvis_sim.robot import SimCamera, SimRobot, SimSceneSource
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

from jarvis_core import ports

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]


def some(place: Place) -> list[PlacedBrick]:
    return [place(f"t{i}", part, 4 * i - 6, 6) for i, part in enumerate(("3001", "3003", "3020"))]


def test_task_and_seed_alone_decide_the_initial_state(make_world: MakeWorld, place: Place) -> None:
    first = make_world(some(place), seed=3)
    second = make_world(some(place), seed=4)
    assert first.state() != second.state()
    initial = first.snapshot()
    first.advance(0.5)
    second.advance(0.1)
    second.reset(3)
    assert second.snapshot() == initial
    first.reset(3)
    assert first.snapshot() == initial
    assert first.time_s == 0.0


def test_the_same_commands_lead_to_the_same_state(
    make_world: MakeWorld, place: Place, mover: type[Any]
) -> None:
    finals = []
    for _ in range(2):
        arm = mover(make_world(some(place)))
        arm.ready()
        arm.go(arm.above("t0", 0.0104), 0.6)
        arm.robot.grip(0.0, 40.0)
        arm.lift(0.05, 0.5)
        finals.append(arm.world.snapshot())
    assert finals[0] == finals[1]


def test_idle_nothing_moves(make_world: MakeWorld, place: Place) -> None:
    world = make_world(some(place), [place("s", "3001")])
    before = {o.id: o.pose for o in world.state().objects}
    world.advance(5.0)
    for thing in world.state().objects:
        assert thing.pose.distance_to(before[thing.id]) < 1e-4
        assert thing.pose.angle_to(before[thing.id]) < 1e-3
    assert world.events() == ()


def test_a_snapshot_in_mid_motion_goes_on_identically(
    make_world: MakeWorld, place: Place, mover: type[Any]
) -> None:
    arm = mover(make_world(some(place)))
    arm.ready()
    arm.robot.start_follow(arm.line(arm.above("t1", 0.05), 1.0))
    arm.robot.start_grip(0.02, 30.0)
    arm.world.advance(0.4)
    saved = arm.world.snapshot()
    arm.world.advance(1.5)
    finished = (arm.world.snapshot(), arm.robot.follow_outcome(), arm.robot.grip_outcome())
    fresh = make_world(some(place), seed=9)
    fresh.restore(saved)
    assert fresh.snapshot() == saved
    fresh.advance(1.5)
    robot = SimRobot(fresh)
    assert (fresh.snapshot(), robot.follow_outcome(), robot.grip_outcome()) == finished
    assert finished[1] is not None
    assert finished[1].status is Status.SUCCEEDED


def test_a_snapshot_of_another_task_is_refused(make_world: MakeWorld, place: Place) -> None:
    saved = make_world(some(place)).snapshot()
    with pytest.raises(BadInputError, match="another world"):
        make_world(some(place)[:2]).restore(saved)


def test_the_structure_stands_where_the_task_says(
    make_world: MakeWorld, place: Place, cell: CellConfig
) -> None:
    scene = [
        place("s1", "3001", 2, -3),
        msgspec.structs.replace(place("s2", "3003", 2, -3, layer=1), support="s1"),
    ]
    scene[1] = msgspec.structs.replace(scene[1], connections=("s1",))
    world = make_world(some(place), scene)
    state = world.state()
    assert [o.id for o in state.objects] == ["s1", "s2", "t0", "t1", "t2"]
    for brick, thing in zip(scene, state.objects[:2], strict=True):
        assert thing.pose.is_close(cell.plate.pose @ brick.pose, 1e-12, 1e-9)
    assert state.connections == (("s1", "plate"), ("s2", "s1"))
    objects = world.objects()
    assert [o.fixed for o in objects] == [True, True, False, False, False]
    assert objects[0].kind == "3001"
    assert objects[0].boxes[0].size_m == pytest.approx((0.032, 0.016, 0.0096))
    scene_seen = SimSceneSource(world).scene()
    assert scene_seen.source == "true"
    assert scene_seen.objects == objects


def test_loose_bricks_lie_on_the_table_in_the_supply_area(
    make_world: MakeWorld, place: Place, cell: CellConfig
) -> None:
    world = make_world(some(place))
    for thing in world.objects():
        x, y, _ = thing.pose.position
        assert cell.supply.region.contains(x, y)
        low = min(box.pose.position[2] - box.size_m[2] / 2 for box in thing.world_boxes())
        assert low == pytest.approx(0.0, abs=1e-9)


def test_a_full_table_is_refused(make_world: MakeWorld, place: Place) -> None:
    with pytest.raises(RefusedError, match="60 loose bricks"):
        make_world([place(f"t{i}", "3001", i % 4, i // 4) for i in range(60)])


def test_an_unknown_part_is_named(make_world: MakeWorld, place: Place) -> None:
    with pytest.raises(BadInputError, match="nosuchpart"):
        make_world([msgspec.structs.replace(place("a", "3001"), part="nosuchpart")])


def test_a_sticker_in_the_structure_is_seen_but_not_felt(
    make_world: MakeWorld, place: Place, sim: SimConfig
) -> None:
    geometry = PartCatalogue().geometry("3023")
    flat = Box(geometry.boxes[0].pose, (0.016, 0.008, 0.0))
    sticker = BrickItem("s", dataclasses.replace(geometry, boxes=(flat,)), 4, Pose())
    engine = Engine([Bricks([sticker], [], sim.bricks, lambda code: (1.0, 0.0, 0.0, 1.0))], sim.engine)
    assert engine.model.ngeom == 1


def test_the_ports_are_answered(make_world: MakeWorld, place: Place) -> None:
    world = make_world(some(place))
    a_world: ports.World = world
    a_robot: ports.Robot = SimRobot(world)
    a_camera: ports.Camera = SimCamera(world)
    a_source: ports.SceneSource = SimSceneSource(world)
    assert a_world.time_s == a_robot.time_s == 0.0
    assert a_robot.state().time_s == a_source.scene().time_s
    assert callable(a_camera.capture)


def test_an_engaged_brick_is_not_moved_by_hand(make_world: MakeWorld, place: Place) -> None:
    world = make_world([place("a", "3001")])
    world.move("a", world.cell.plate.pose @ place("a", "3001").pose)
    world.engine.data.xfrc_applied[world.engine.body("a"), 2] = -30.0
    world.advance(0.2)
    with pytest.raises(RefusedError, match="connected"):
        world.move("a", Pose((0.4, -0.2, 0.0096)))


@pytest.mark.parametrize("part", ["3001", "3023"])
def test_the_panda_picks_a_brick_and_places_it_on_the_plate(
    make_world: MakeWorld, place: Place, mover: type[Any], part: str
) -> None:
    target = place("a", part, 3, -4.5 if part == "3023" else -4, yaw=np.pi / 2 if part == "3001" else 0.0)
    arm = mover(make_world([target]))
    world = arm.world
    goal = world.cell.plate.pose @ target.pose
    arm.ready()
    arm.pick("a")
    held = arm.model.tool(world.arm.joints).inverse() @ world.state().objects[0].pose
    tool = goal @ held.inverse()
    assert arm.go(tool.translated((0, 0, 0.06)), 2.0).status is Status.SUCCEEDED
    # What moved in the hand while it was carried is measured again.
    held = arm.model.tool(world.arm.joints).inverse() @ world.state().objects[0].pose
    tool = goal @ held.inverse()
    assert arm.go(tool.translated((0, 0, 0.003))).status is Status.SUCCEEDED
    arm.go(tool.translated((0, 0, -0.001)))
    arm.robot.wait(0.1)
    (event,) = world.events()
    assert (event.kind, event.upper, event.lower) == ("engaged", "a", "plate")
    assert event.error_xy_m < 0.001
    assert arm.robot.grip(0.03, 40.0).status is Status.SUCCEEDED
    arm.lift(0.08)
    state = world.state()
    assert state.objects[0].pose.is_close(goal, 2e-5, 1e-3)
    assert not state.objects[0].held
    assert state.connections == (("a", "plate"),)
    assert len(world.events()) == 1


def test_distractors_are_loose_bricks_that_the_task_alone_decides(
    make_world: MakeWorld, place: Place, sim: SimConfig
) -> None:
    more = msgspec.structs.replace(sim, layout=msgspec.structs.replace(sim.layout, distractors=3))
    worlds = [make_world(some(place), config=more, seed=seed) for seed in (1, 2)]
    kinds = [[(o.id, o.kind, o.colour) for o in world.objects()] for world in worlds]
    assert kinds[0] == kinds[1]
    assert [name for name, _, _ in kinds[0]] == ["t0", "t1", "t2", "x001", "x002", "x003"]
    assert {kind for _, kind, _ in kinds[0][3:]} <= {"3001", "3003", "3020"}
    assert worlds[0].pose("x001") != worlds[1].pose("x001")
