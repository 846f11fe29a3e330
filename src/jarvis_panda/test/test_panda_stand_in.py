# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""A real Panda's graph over DDS, the simulator standing in for franka_ros2: it, adapter, skills, a client here."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import scene_from_ros
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import call, wait_for
from jarvis_core.skills import HomeGoal, MoveToGoal, PickAndPlaceGoal
from jarvis_core.status import Status
from jarvis_skills.ros.skill_client import SkillClient
from jarvis_tasks.store import load_task
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from jarvis_interfaces.srv import GetScene

HERE = Path(__file__).resolve().parent
TIMEOUT_S = 60.0
START_S = 120.0


def node(program: list[str], *parameters: str, remaps: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
    options = [word for p in parameters for word in ("-p", p)] + [word for r in remaps for word in ("-r", r)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    return subprocess.Popen([sys.executable, *program, "--ros-args", *options], env=environment)


def main_of(module: str) -> list[str]:
    return ["-c", f"from {module} import main; main()"]


class Cell:
    """The three processes, and a client of this test's own."""

    def __init__(self, task: Path) -> None:
        self.task = task
        # What can fail comes first: nobody would end the processes.
        rclpy.init()
        self.node = rclpy.create_node("test_client")
        self.executor = BackgroundExecutor(self.node)
        self.processes = [
            node(
                [str(HERE / "franka_stand_in.py")],
                f"task:={task}",
                "seed:=2",
                "advance:=on_demand",
                "real_time_factor:=0.0",
                remaps=("/joint_states:=/franka/joint_states",),
            ),
            node(main_of("jarvis_panda.ros.adapter"), "gripper_door:=gripper_action"),
            node(main_of("jarvis_skills.ros.skill_server"), "scene_service:=/sim/get_scene"),
        ]
        self.estop = self.node.create_publisher(Bool, "/estop", 10)
        self.heard = threading.Event()
        self.node.create_subscription(JointState, "/joint_states", lambda _: self.heard.set(), 10)
        self.skills = SkillClient(self.node)

    def await_start(self) -> None:
        """Until every process speaks; each of them has to live."""
        deadline = time.monotonic() + START_S
        while not self.heard.wait(0.2):
            assert all(process.poll() is None for process in self.processes), "a process of the cell ended"
            assert time.monotonic() < deadline, "nothing on /joint_states"
        self.skills.connect()

    def trigger(self, name: str) -> str:
        return str(call(self.node.create_client(Trigger, name), Trigger.Request(), TIMEOUT_S).message)

    def position(self, name: str):
        client = self.node.create_client(GetScene, "/sim/get_scene")
        assert client.wait_for_service(timeout_sec=TIMEOUT_S)
        scene = scene_from_ros(wait_for(client.call_async(GetScene.Request()), TIMEOUT_S, "scene").scene)
        (found,) = (o for o in scene.objects if o.id == name)
        return found.pose

    def press(self) -> None:
        """The emergency stop, once it is heard."""
        deadline = time.monotonic() + TIMEOUT_S
        while not self.estop.get_subscription_count():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        self.estop.publish(Bool(data=True))

    def close(self) -> None:
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(TIMEOUT_S)
        self.executor.close()
        self.node.destroy_node()
        rclpy.shutdown()


@pytest.fixture
def cell(tmp_path: Path) -> Iterator[Cell]:
    model = read_model("bridge", None)
    made = Cell(write_task(one_task(model, 1, 1), model, tmp_path))
    try:
        made.await_start()
        yield made
    finally:
        made.close()


def test_from_confirmation_to_a_placed_brick_and_an_emergency_stop(cell: Cell) -> None:
    """One test, for the graph takes long to start: refused, confirmed, built, stopped, reset."""
    refused = cell.skills.run(HomeGoal())
    assert refused.status is Status.EXECUTION_FAILED
    assert "nobody has confirmed" in refused.message

    assert cell.trigger("/panda/confirm") == "the arm may move"
    task = load_task(cell.task)
    brick = task.targets[0]
    target = load_default("cell", CellConfig).plate.pose @ brick.pose
    done = cell.skills.run(PickAndPlaceGoal(brick.id, target))
    assert done.ok, done.message
    assert cell.position(brick.id).distance_to(target) < 1e-3

    moving = threading.Event()
    ended: list[object] = []
    away = MoveToGoal(Pose((0.45, -0.15, 0.3), (1.0, 0.0, 0.0, 0.0)), False, 0.02)
    runner = threading.Thread(target=lambda: ended.append(cell.skills.run(away, lambda _: moving.set())))
    runner.start()
    assert moving.wait(TIMEOUT_S)
    cell.press()
    runner.join(TIMEOUT_S)
    assert ended[0].status is Status.EXECUTION_FAILED, ended[0]
    assert "emergency stop" in ended[0].message
    assert "emergency stop" in cell.skills.run(HomeGoal()).message  # latched

    assert "nobody has confirmed" in cell.trigger("/panda/reset")
    cell.trigger("/panda/confirm")
    assert cell.skills.run(HomeGoal()).ok
