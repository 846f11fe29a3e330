"""The gripper behind franka_msgs, which is not here: stand-ins that know the published names and no others.

Names: franka_msgs/action/Move.action and Grasp.action, franka_msgs/msg/GraspEpsilon.msg, and what
franka_gripper/src/gripper_action_server.cpp reads of them, https://github.com/frankaemika/franka_ros2.
"""

from __future__ import annotations

import asyncio
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_panda.config import RealRobotConfig
from jarvis_panda.ros import doors
from jarvis_robot.config import load_robot_config

CONFIG = load_default("robot_real", RealRobotConfig)
GRIPPER = load_robot_config("panda").gripper


def message(name: str, **fields: Any) -> type:
    def init(self: Any, **values: float) -> None:
        assert set(values) <= set(fields), (name, values)
        for field, make in fields.items():
            setattr(self, field, values.get(field, make()))

    return type(name, (), {"__slots__": tuple(fields), "__init__": init})


Epsilon = message("GraspEpsilon", inner=float, outer=float)
Move = SimpleNamespace(Goal=message("Move_Goal", width=float, speed=float))
Grasp = SimpleNamespace(Goal=message("Grasp_Goal", width=float, epsilon=Epsilon, speed=float, force=float))


class FakeClient:
    """An action client; ``sent`` keeps what went where."""

    sent: list[tuple[str, Any]]
    ready = True

    def __init__(self, node: Any, action_type: Any, action_name: str) -> None:
        self.name = action_name

    def server_is_ready(self) -> bool:
        return self.ready

    async def send_goal_async(self, goal: Any) -> Any:
        self.sent.append((self.name, goal))

        async def result() -> Any:
            return SimpleNamespace(status=4, result=SimpleNamespace(success=True, error=""))

        return SimpleNamespace(accepted=True, get_result_async=result)


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> doors.GripperDoor:
    module = ModuleType("franka_msgs.action")
    vars(module).update(Move=Move, Grasp=Grasp)
    monkeypatch.setitem(sys.modules, "franka_msgs", ModuleType("franka_msgs"))
    monkeypatch.setitem(sys.modules, "franka_msgs.action", module)
    monkeypatch.setattr(doors, "ActionClient", FakeClient)
    monkeypatch.setattr(FakeClient, "sent", [], raising=False)
    return doors.make_door(None, CONFIG, GRIPPER)


def test_opening_moves_and_closing_grasps(door: doors.GripperDoor) -> None:
    async def both() -> None:
        opened = await door.send(0.08, 0.02, 40.0)
        closed = await door.send(0.0158, 0.08, 25.0)
        assert await door.worked(opened)
        assert await door.worked(closed)

    asyncio.run(both())
    (move, opening), (grasp, closing) = FakeClient.sent
    assert (move, grasp) == ("/franka/panda_gripper/move", "/franka/panda_gripper/grasp")
    assert (opening.width, opening.speed) == (0.08, GRIPPER.open_speed_m_s)
    assert (closing.width, closing.force) == (0.0158, 25.0)
    assert closing.epsilon.outer == GRIPPER.max_width_m


def test_nobody_at_the_door(door: doors.GripperDoor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeClient, "ready", False)
    assert asyncio.run(door.send(0.08, 0.02, 40.0)) is None


def test_absent_franka_msgs_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "franka_msgs", None)
    with pytest.raises(MissingCapabilityError, match="franka_msgs is not installed"):
        doors.make_door(None, CONFIG, GRIPPER)
