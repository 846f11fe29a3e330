"""The gripper's actions behind two doors: franka_msgs, or its GripperCommand where franka_msgs is not installed."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Protocol

from control_msgs.action import GripperCommand
from jarvis_core.errors import MissingCapabilityError
from jarvis_robot.gripper import GripperConfig
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node

from jarvis_panda.config import RealRobotConfig
from jarvis_panda.gripper import Move, command

SUCCEEDED = 4  # action_msgs/msg/GoalStatus.STATUS_SUCCEEDED


class GripperDoor(Protocol):
    """Sends the gripper to a width. Both are coroutines for the executor that spins the node."""

    async def send(self, width_m: float, now_m: float, force_n: float) -> ClientGoalHandle | None:
        """The goal's handle; None when nobody serves the action."""

    async def worked(self, handle: ClientGoalHandle) -> bool:
        """Waits for the end; whether the gripper calls it a success."""


class FrankaDoor:
    """franka_msgs: ``GRIPPER/move`` and ``GRIPPER/grasp``.

    Raises:
        MissingCapabilityError: franka_msgs is not installed.
    """

    def __init__(self, node: Node, config: RealRobotConfig, gripper: GripperConfig) -> None:
        try:
            self._types: Any = import_module("franka_msgs.action")
        except ImportError as error:
            raise MissingCapabilityError(
                f"franka_msgs is not installed ({error})",
                fix="source franka_ros2, or set gripper_door: gripper_action in config/robot_real.yaml",
            ) from error
        self._config = config
        self._gripper = gripper
        self._move = ActionClient(node, self._types.Move, f"{config.gripper}/move")
        self._grasp = ActionClient(node, self._types.Grasp, f"{config.gripper}/grasp")

    async def send(self, width_m: float, now_m: float, force_n: float) -> ClientGoalHandle | None:
        """A Move or a Grasp."""
        wanted = command(width_m, now_m, force_n, self._gripper, self._config)
        if isinstance(wanted, Move):
            client, goal = self._move, self._types.Move.Goal(width=wanted.width, speed=wanted.speed)
        else:
            client = self._grasp
            goal = self._types.Grasp.Goal(width=wanted.width, speed=wanted.speed, force=wanted.force)
            goal.epsilon.inner, goal.epsilon.outer = wanted.inner, wanted.outer
        return await client.send_goal_async(goal) if client.server_is_ready() else None

    async def worked(self, handle: ClientGoalHandle) -> bool:
        """Its result says ``success``."""
        answer = await handle.get_result_async()
        return answer.status == SUCCEEDED and bool(answer.result.success)


class CommandDoor:
    """control_msgs/GripperCommand: ``GRIPPER/gripper_action``."""

    def __init__(self, node: Node, config: RealRobotConfig) -> None:
        self._client = ActionClient(node, GripperCommand, f"{config.gripper}/gripper_action")

    async def send(self, width_m: float, now_m: float, force_n: float) -> ClientGoalHandle | None:
        """One finger's way from the middle, as the action counts."""
        goal = GripperCommand.Goal()
        goal.command.position, goal.command.max_effort = width_m / 2, force_n
        return await self._client.send_goal_async(goal) if self._client.server_is_ready() else None

    async def worked(self, handle: ClientGoalHandle) -> bool:
        """Its result says ``reached_goal``, which a grasp within the node's epsilon is, too."""
        answer = await handle.get_result_async()
        return answer.status == SUCCEEDED and bool(answer.result.reached_goal)


def make_door(node: Node, config: RealRobotConfig, gripper: GripperConfig) -> GripperDoor:
    """The door that the configuration names."""
    if config.gripper_door == "franka_msgs":
        return FrankaDoor(node, config, gripper)
    return CommandDoor(node, config)
