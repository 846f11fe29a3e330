# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""The embedded simulator's node in this process: entities, cameras for somebody, clients in each other's way."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import pose_to_ros
from jarvis_core.ros.main import Stop
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import wait_for
from jarvis_sim.ros.arm_servers import ARM_ACTION
from jarvis_sim.ros.sim_node import SimNode
from rclpy.action import ActionClient
from rclpy.experimental import EventsExecutor
from sensor_msgs.msg import CameraInfo, Image
from simulation_interfaces.msg import Result, SimulatorFeatures
from simulation_interfaces.srv import (
    DeleteEntity,
    GetEntities,
    GetEntityState,
    GetSimulatorFeatures,
    ResetSimulation,
    SpawnEntity,
)
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

TIMEOUT_S = 60.0


class Cell:
    """A running node of an empty cell, and clients of it."""

    def __init__(self) -> None:
        rclpy.init()
        self.stop = Stop()
        self._executor, self._client_executor = EventsExecutor(), BackgroundExecutor()
        self.node = SimNode(self._executor)
        self._executor.add_node(self.node)
        self._clients = [self.new_client()]
        work = (self._executor.spin, self._simulate)
        self._threads = [threading.Thread(target=each, daemon=True) for each in work]
        for thread in self._threads:
            thread.start()
        self.home = np.array(self.node._model.config.home_rad)

    def _simulate(self) -> None:
        """One thread has the world and its GL context from beginning to end."""
        self.node.run(self.stop)
        self.node.close()

    def new_client(self) -> Any:
        client = rclpy.create_node(f"client_{time.monotonic_ns()}")
        self._client_executor.add_node(client)
        return client

    def ask(self, kind: type, name: str, request: object | None = None) -> Any:
        service = self._clients[0].create_client(kind, name)
        assert service.wait_for_service(timeout_sec=TIMEOUT_S), name
        return wait_for(service.call_async(request or kind.Request()), TIMEOUT_S, name)

    def send(self, client: Any, offset_rad: float, seconds: int) -> Any:
        """Ask for joint 1 to be moved from where the arm stands; gives the goal's handle."""
        names, joints = self.node._model.config.arm_joints, self.node.world.arm.controller.desired
        ends = joints.copy()
        ends[0] = self.home[0] + offset_rad
        path = JointTrajectory(joint_names=list(names))
        for at, positions in ((0, joints), (seconds, ends)):
            point = JointTrajectoryPoint(positions=positions.tolist(), velocities=[0.0] * len(names))
            point.time_from_start = Duration(sec=at)
            path.points.append(point)
        server = ActionClient(client, FollowJointTrajectory, ARM_ACTION)
        assert server.wait_for_server(timeout_sec=TIMEOUT_S)
        goal = FollowJointTrajectory.Goal(trajectory=path)
        return wait_for(server.send_goal_async(goal), TIMEOUT_S, ARM_ACTION)

    def ended(self, handle: Any) -> Any:
        return wait_for(handle.get_result_async(), TIMEOUT_S, ARM_ACTION)

    def close(self) -> None:
        self.stop.set()
        self._threads[1].join(TIMEOUT_S)
        self._executor.shutdown()
        self._client_executor.close()
        for thread in self._threads:
            thread.join(TIMEOUT_S)
            assert not thread.is_alive()
        self.node.destroy_node()
        rclpy.shutdown()


@pytest.fixture(scope="module")
def running() -> Iterator[Cell]:
    cell = Cell()
    yield cell
    cell.close()


@pytest.fixture
def cell(running: Cell) -> Cell:
    """Reset: no test depends on what another left."""
    answer = running.ask(ResetSimulation, "/sim/reset_simulation")
    assert answer.result.result == Result.RESULT_OK
    return running


def spawn(cell: Cell, name: str, uri: str, *, rename: bool = False, frame: str = "world") -> Any:
    request = SpawnEntity.Request(name=name, uri=uri, allow_renaming=rename)
    request.initial_pose.header.frame_id = frame
    request.initial_pose.pose = pose_to_ros(Pose((0.40, -0.45, 0.0097)))
    return cell.ask(SpawnEntity, "/sim/spawn_entity", request)


def test_entities_appear_are_listed_and_vanish(cell: Cell) -> None:
    features = cell.ask(GetSimulatorFeatures, "/sim/get_simulator_features").features.features
    assert {SimulatorFeatures.SPAWNING, SimulatorFeatures.DELETING} <= set(features)
    made = spawn(cell, "extra", "ldraw:3001?colour=4")
    assert (made.result.result, made.entity_name) == (Result.RESULT_OK, "extra"), made.result.error_message
    assert cell.ask(GetEntities, "/sim/get_entities").entities == ["extra"]
    state = cell.ask(GetEntityState, "/sim/get_entity_state", GetEntityState.Request(entity="extra"))
    assert state.state.pose.position.x == pytest.approx(0.40, abs=1e-3)
    for expected in (Result.RESULT_OK, Result.RESULT_NOT_FOUND):
        gone = cell.ask(DeleteEntity, "/sim/delete_entity", DeleteEntity.Request(entity="extra"))
        assert gone.result.result == expected
        assert cell.ask(GetEntities, "/sim/get_entities").entities == []


def test_what_can_not_be_spawned_is_told_apart(cell: Cell) -> None:
    codes = SpawnEntity.Response
    assert spawn(cell, "extra", "ldraw:3001").result.result == Result.RESULT_OK
    for name, uri, frame, code in (
        ("extra", "ldraw:3001", "world", codes.NAME_NOT_UNIQUE),
        ("b", "", "world", codes.NO_RESOURCE),
        ("b", "model.sdf", "world", codes.UNSUPPORTED_FORMAT),
        ("b", "ldraw:none", "world", codes.RESOURCE_PARSE_ERROR),
        ("", "ldraw:3001", "world", codes.NAME_INVALID),
        ("b", "ldraw:3001", "panda_hand", codes.INVALID_POSE),
        ("b", "ldraw:3001", "world", Result.RESULT_OPERATION_FAILED),  # where the first one lies
    ):
        answer = spawn(cell, name, uri, frame=frame)
        assert answer.result.result == code, (name, uri, answer.result.error_message)
        assert answer.result.error_message
    assert cell.ask(GetEntities, "/sim/get_entities").entities == ["extra"]


def test_the_gripper_camera_takes_pictures_while_somebody_listens(cell: Cell) -> None:
    (stream,) = (s for s in cell.node._cameras if s._for_somebody)
    assert not stream.due(1e6, False)
    got, infos = threading.Event(), []
    client = cell.new_client()
    client.create_subscription(CameraInfo, "/gripper_camera/color/camera_info", infos.append, 10)
    images: list[Image] = []

    def keep(message: Image) -> None:
        images.append(message)
        got.set()

    client.create_subscription(Image, "/gripper_camera/depth/image_rect", keep, 10)
    assert got.wait(TIMEOUT_S)
    assert images[0].header.frame_id == "gripper_camera_optical_frame"
    assert (images[0].height, images[0].width, images[0].encoding) == (480, 640, "32FC1")
    camera = cell.node._cell.gripper_camera.intrinsics()
    deadline = time.monotonic() + TIMEOUT_S
    while not infos and time.monotonic() < deadline:
        time.sleep(0.05)
    np.testing.assert_allclose(infos[0].k, camera.matrix().ravel())


def test_of_two_clients_the_second_is_told_and_the_first_goes_on(cell: Cell) -> None:
    first = cell.send(cell.new_client(), 0.5, 1000)
    second = cell.ended(cell.send(cell.new_client(), -0.2, 1))
    assert second.status == GoalStatus.STATUS_ABORTED
    assert "another trajectory" in second.result.error_string
    wait_for(first.cancel_goal_async(), TIMEOUT_S, "cancel")
    assert cell.ended(first).status == GoalStatus.STATUS_CANCELED
    assert np.abs(cell.node.world.arm.joints - cell.node.world.arm.controller.desired).max() < 0.01


def test_a_client_that_vanishes_leaves_an_arm_that_others_can_use(cell: Cell) -> None:
    client = cell.new_client()
    cell.send(client, 0.1, 5)
    client.destroy_node()
    deadline = time.monotonic() + TIMEOUT_S
    while time.monotonic() < deadline:
        ended = cell.ended(cell.send(cell.new_client(), 0.1, 1))
        if ended.status == GoalStatus.STATUS_SUCCEEDED:
            break
        assert "another trajectory" in ended.result.error_string or "starts" in ended.result.error_string
        time.sleep(0.2)
    assert cell.node.world.arm.joints[0] == pytest.approx(cell.home[0] + 0.1, abs=2e-3)


def test_a_broken_state_ends_the_motion_with_words_and_a_reset_mends_it(cell: Cell) -> None:
    handle = cell.send(cell.new_client(), 0.5, 1000)

    def spoil() -> None:
        cell.node.world.engine.data.qpos[0] = np.nan

    wait_for(cell.node._loop.submit(spoil), TIMEOUT_S, "spoil")
    ended = cell.ended(handle)
    assert ended.status == GoalStatus.STATUS_ABORTED
    assert "unstable" in ended.result.error_string
    again = cell.ask(ResetSimulation, "/sim/reset_simulation")
    assert again.result.result == Result.RESULT_OK
    assert cell.ended(cell.send(cell.new_client(), 0.05, 1)).status == GoalStatus.STATUS_SUCCEEDED
