"""The world in Isaac Sim on a stand-in of Isaac Sim: what it commands, measures and tells."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import create_autospec

import numpy as np
import numpy.typing as npt
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.motion import Cancellation, JointTrajectory
from jarvis_core.objects import GROUND
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_robot.model import RobotModel
from jarvis_sim.config import SimConfig
from jarvis_sim.engine import WorldError
from jarvis_sim.isaac.config import IsaacConfig
from jarvis_sim.isaac.ports import Handles, Touch
from jarvis_sim.isaac.views import (
    ArticulationLike,
    BrickView,
    CameraSensorLike,
    RigidPrimLike,
    RobotView,
    WarpArray,
    picture,
)
from jarvis_sim.robot import SimCamera, SimRobot
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

pytest.importorskip("pxr", reason="no usd-core here")

from jarvis_sim.isaac.world import IsaacWorld

ISAAC = load_default("isaac", IsaacConfig)
SIM = load_default("sim", SimConfig)
CELL = load_default("cell", CellConfig)
ROBOT = RobotModel.load("panda")
HEIGHTS = {"3001": 0.0096, "3023": 0.0032}


def placed(name: str, part: str, x: float, y: float) -> PlacedBrick:
    pose = Pose((0.008 * x, 0.008 * y, HEIGHTS[part]))
    return PlacedBrick(name, part, 4, pose, 1, "plate", ("plate",))


TASK = Task(
    TASK_SCHEMA, "toy", "toy", "", "", "", (1, 1), (placed("s1", "3001", 0, 0),),
    (placed("b1", "3001", 6, 6), placed("b2", "3023", 10, 6)),
)  # fmt: skip


class StandIn:
    """A simulator without physics: joints follow their targets, bricks lie on the table. Not Isaac Sim."""

    def __init__(self, gravity: float = 9.81) -> None:
        self.gravity = gravity
        self.opened: list[Handles] = []
        self.steps = 0
        self.joints = np.zeros(9)
        self.speeds = np.zeros(9)
        self.bricks: dict[str, Pose] = {}
        self.extra: list[Touch] = []
        self.blocked = False
        self.fastened: list[str] = []

    def robot_address(self) -> str:
        return ""

    def open(self, scene: Path, handles: Handles) -> None:
        assert scene.read_text().startswith("#usda")
        self.opened.append(handles)

    def step(self) -> None:
        self.steps += 1

    def render(self) -> None:
        raise AssertionError("nothing is drawn when headless")

    def dofs(self) -> tuple[FloatArray, FloatArray]:
        return self.joints.copy(), self.speeds.copy()

    def drive(self, positions: FloatArray, velocities: FloatArray) -> None:
        if not self.blocked:
            self.speeds = (positions - self.joints) / ISAAC.physics.timestep_s
            self.joints = positions

    def limit_grip(self, force_n: float) -> None:
        self.force = force_n

    def place_dofs(self, positions: FloatArray) -> None:
        self.joints, self.speeds = positions.copy(), np.zeros(9)

    def poses(self) -> dict[str, Pose]:
        return dict(self.bricks)

    def place(self, poses: dict[str, Pose]) -> None:
        self.bricks |= poses

    def touches(self) -> Sequence[Touch]:
        lying = [
            Touch(name, "/World/table", np.array([0.0, 0.0, SIM.bricks.mass_floor_kg * self.gravity]))
            for name in self.bricks
        ]
        return [*lying, *self.extra]

    def capture(self, camera: str) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float32]]:
        width, height = self.opened[-1].cameras[camera]
        return np.full((height, width, 3), 7, np.uint8), np.ones((height, width), np.float32)

    def is_running(self) -> bool:
        return True

    def fasten(self, upper: str, lower: str, relative: Pose, anchor: FloatArray) -> str:
        self.fastened.append(f"{upper} {lower}")
        return self.fastened[-1]

    def move(self, joint: str, relative: Pose, anchor: FloatArray) -> None:
        upper, lower = joint.split()
        self.bricks[upper] = (CELL.plate.pose if lower == GROUND else self.bricks[lower]) @ relative

    def strengthen(self, joint: str, force_n: float, torque_nm: float) -> None: ...

    def loosen(self, joint: str) -> None:
        self.fastened.remove(joint)


def make(simulator: StandIn, seed: int = 4) -> IsaacWorld:
    return IsaacWorld(TASK, CELL, SIM, ISAAC, PartCatalogue(), seed, simulator, robot=ROBOT)


def trajectory(end: FloatArray, seconds: float = 1.0) -> JointTrajectory:
    start = np.array(ROBOT.config.home_rad)
    times = np.linspace(0.0, seconds, 30)
    u = times / seconds
    share = (u**3 * (10 - 15 * u + 6 * u**2))[:, None]
    positions = start + share * (end - start)
    velocities = np.gradient(positions, times, axis=0)
    velocities[[0, -1]] = 0.0
    return JointTrajectory(
        ROBOT.config.arm_joints, times, positions, velocities, np.gradient(velocities, times, axis=0)
    )


def test_the_initial_state_is_that_of_the_embedded_simulator() -> None:
    ours = make(StandIn()).state()
    theirs = SimWorld(TASK, CELL, SIM, PartCatalogue(), 4, robot=ROBOT).state()
    assert ours.objects == theirs.objects
    assert ours.connections == theirs.connections
    assert ours.time_s == theirs.time_s == 0.0


def test_objects_are_those_of_the_embedded_simulator() -> None:
    theirs = SimWorld(TASK, CELL, SIM, PartCatalogue(), 4, robot=ROBOT).objects()
    assert make(StandIn()).objects() == theirs


def test_a_trajectory_is_followed_to_its_end() -> None:
    world = make(StandIn())
    end = np.array(ROBOT.config.ready_rad)
    outcome = SimRobot(world).follow(trajectory(end))  # type: ignore[arg-type]
    assert outcome.status is Status.SUCCEEDED
    np.testing.assert_allclose(world.arm.joints, end, atol=SIM.arm.settle_tolerance_rad)
    assert world.time_s == pytest.approx(1.0, abs=0.05)
    tool = SimRobot(world).state().tool  # type: ignore[arg-type]
    assert tool.is_close(ROBOT.tool(world.arm.joints))


def test_a_cancel_ends_at_standstill() -> None:
    world = make(StandIn())
    robot = SimRobot(world)  # type: ignore[arg-type]
    robot.start_follow(trajectory(np.array(ROBOT.config.ready_rad)))
    world.advance(0.5)
    cancel = Cancellation()
    robot.cancel_follow()
    assert robot.follow_outcome() is None
    while robot.follow_outcome() is None:
        world.step()
    assert robot.follow_outcome().status is Status.CANCELED
    before = world.arm.joints
    world.advance(0.1)
    np.testing.assert_allclose(world.arm.joints, before, atol=1e-6)
    assert not cancel.requested


def test_a_blocked_arm_fails_with_words() -> None:
    simulator = StandIn()
    world = make(simulator)
    simulator.blocked = True
    outcome = SimRobot(world).follow(trajectory(np.array(ROBOT.config.ready_rad)))  # type: ignore[arg-type]
    assert outcome.status is Status.EXECUTION_FAILED
    assert "blocks" in outcome.message


def test_the_gripper_reaches_a_width() -> None:
    world = make(StandIn())
    outcome = SimRobot(world).grip(0.03, 40.0)  # type: ignore[arg-type]
    assert outcome.status is Status.SUCCEEDED
    assert outcome.width_m == pytest.approx(0.03, abs=SIM.gripper.reach_tolerance_m)


def test_held_means_touched_by_both_fingers() -> None:
    simulator = StandIn()
    world = make(simulator)
    left, right = (f"/World/robot/{name}" for name in ("panda_leftfinger", "panda_rightfinger"))
    side = np.array([0.0, 20.0, 0.0])
    simulator.extra = [Touch("b1", left, side), Touch("b1", right, -side), Touch("b2", left, side)]
    world.advance(SIM.clutch.sample_s)
    assert {o.id for o in world.state().objects if o.held} == {"b1"}


def test_a_pressed_brick_is_fastened_and_freed_by_a_reset() -> None:
    simulator = StandIn()
    world = make(simulator)
    simulator.bricks["b1"] = CELL.plate.pose @ Pose((0.0, 0.08, 0.0096))
    simulator.extra = [Touch("b1", GROUND, np.array([0.0, 0.0, 20.0]))]
    world.advance(0.2)
    assert simulator.fastened == [f"b1 {GROUND}"]
    assert ("b1", GROUND) in world.state().connections
    (event,) = world.events()
    assert event.time_s == pytest.approx(SIM.clutch.samples * SIM.clutch.sample_s)
    simulator.extra = []
    world.reset(5)
    assert simulator.fastened == []
    assert world.events() == ()
    assert world.time_s == 0.0
    assert world.state().objects != make(StandIn(), 4).state().objects


def test_a_loose_brick_can_be_put_elsewhere_but_not_a_connected_one() -> None:
    simulator = StandIn()
    world = make(simulator)
    there = Pose((0.4, -0.2, 0.0096))
    world.move("b1", there)
    assert {o.id: o.pose for o in world.state().objects}["b1"] == there
    simulator.bricks["b1"] = CELL.plate.pose @ Pose((0.0, 0.08, 0.0096))
    simulator.extra = [Touch("b1", GROUND, np.array([0.0, 0.0, 20.0]))]
    world.advance(0.2)
    with pytest.raises(RefusedError, match="connected"):
        world.move("b1", there)


def test_contacts_that_do_not_carry_the_bricks_are_an_error() -> None:
    for wrong in (-9.81, 0.0, 9.81 * 0.002):
        with pytest.raises(WorldError, match="carry"):
            make(StandIn(wrong))


def test_pictures_carry_the_cells_intrinsics() -> None:
    frame = SimCamera(make(StandIn())).capture()  # type: ignore[arg-type]
    assert frame.intrinsics == CELL.top_camera.intrinsics()
    assert frame.pose == CELL.top_camera.pose()
    assert frame.rgb.shape == (480, 640, 3)


def warp(values: Any) -> WarpArray:
    """An array as Warp gives it."""
    array = create_autospec(WarpArray, instance=True)
    array.numpy.return_value = np.array(values)
    return array


class WarpIds:
    """Ids that are sliced before they are asked for."""

    def __init__(self, ids: list[int]) -> None:
        self.ids = ids

    def __getitem__(self, rows: slice) -> list[int]:
        return self.ids[rows]


class TestViews:
    """Tensors as Isaac Sim's classes give and take them; the fakes have their names and arguments."""

    def test_poses_change_the_order_of_quaternions(self) -> None:
        prim = create_autospec(RigidPrimLike, instance=True)
        prim.get_world_poses.return_value = (
            warp([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]),
            warp([[0.5, 0.5, -0.5, 0.5], [1.0, 0.0, 0.0, 0.0]]),
        )
        view = BrickView(prim, {"a": "/World/bricks/a", "b": "/World/bricks/b"}, {}, 0.002)
        poses = view.poses()
        assert poses == {"a": Pose((1.0, 2.0, 3.0), (0.5, -0.5, 0.5, 0.5)), "b": Pose()}
        view.place(poses)
        positions, orientations = prim.set_world_poses.call_args.args
        np.testing.assert_allclose(positions, [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]])
        np.testing.assert_allclose(np.abs(orientations[0]), 0.5)
        np.testing.assert_allclose(orientations[1], [1.0, 0.0, 0.0, 0.0])
        assert prim.set_world_poses.call_args.kwargs["indices"] == [0, 1]
        view.place({"b": Pose((0.1, 0.2, 0.3))})
        np.testing.assert_allclose(prim.set_world_poses.call_args.args[0], [[0.1, 0.2, 0.3]])
        assert prim.set_world_poses.call_args.kwargs["indices"] == [1]
        view.place(poses)
        linear, angular = prim.set_velocities.call_args.args
        assert not linear.any()
        assert not angular.any()

    def test_touches_name_bricks_plate_and_fingers(self) -> None:
        paths = ["/World/plate/slab", "/World/bricks/b/collision_0", "/World/robot/panda_leftfinger"]
        prim = create_autospec(RigidPrimLike, instance=True)
        prim.get_actor_paths_from_ids.side_effect = lambda ids: [paths[i] for i in ids]
        prim.get_raw_contact_data.return_value = (
            warp([[1.0], [2.0], [3.0], [0.0]]),
            warp(np.zeros((4, 3))),
            warp([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]]),
            warp(np.zeros((4, 1))),
            warp([2, 0, 1]),
            warp([0, 2, 2]),
            WarpIds([0, 1, 2, 0]),
        )
        bricks = {name: f"/World/bricks/{name}" for name in "abc"}
        view = BrickView(prim, bricks, {"/World/plate": GROUND}, 0.002)
        touches = view.touches()
        assert [(t.brick, t.other) for t in touches] == [("a", GROUND), ("a", "b"), ("c", paths[2])]
        np.testing.assert_allclose([t.force for t in touches], [[0, 0, 1], [0, 0, -2], [0, 3, 0]])
        prim.get_raw_contact_data.assert_called_once_with(dt=0.002)

    def test_joints_are_commanded_by_name(self) -> None:
        robot = create_autospec(ArticulationLike, instance=True)
        robot.get_dof_indices.return_value = warp([2, 0, 1])
        robot.get_dof_positions.return_value = warp([[0.3, 0.1, 0.2]])
        robot.get_dof_velocities.return_value = warp([[0.0, 0.0, 1.0]])
        view = RobotView(robot, ["j1", "f1", "f2"])
        robot.get_dof_indices.assert_called_once_with(["j1", "f1", "f2"])
        positions, velocities = view.measure()
        np.testing.assert_allclose(positions, [0.3, 0.1, 0.2])
        np.testing.assert_allclose(velocities, [0.0, 0.0, 1.0])
        view.drive(np.array([1.0, 2.0, 3.0]), np.zeros(3))
        call = robot.set_dof_position_targets.call_args
        np.testing.assert_allclose(call.args[0], [[1.0, 2.0, 3.0]])
        np.testing.assert_array_equal(call.kwargs["dof_indices"], [2, 0, 1])
        view.limit_grip(40.0)
        call = robot.set_dof_max_efforts.call_args
        np.testing.assert_allclose(call.args[0], [[40.0, 40.0]])
        np.testing.assert_array_equal(call.kwargs["dof_indices"], [0, 1])

    def test_nothing_in_sight_has_depth_zero(self) -> None:
        sensor = create_autospec(CameraSensorLike, instance=True)
        data = {"rgb": warp(np.full((2, 3, 4), 9, np.uint8)), "depth": warp([[[1.0]] * 3, [[np.inf]] * 3])}
        sensor.get_data.side_effect = lambda annotator: (data[annotator], {})
        colours, metres = picture(sensor, "rgb", "depth")
        assert colours.shape == (2, 3, 3)
        np.testing.assert_array_equal(metres, [[1.0] * 3, [0.0] * 3])
        assert metres.dtype == np.float32
        sensor.get_data.side_effect = lambda annotator: (None, {})
        assert picture(sensor, "rgb", "depth") is None
