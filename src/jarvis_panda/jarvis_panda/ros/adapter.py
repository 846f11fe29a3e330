"""The node between this workspace and a real Panda: the simulated cell's names in front, franka_ros2's behind.

skills -> /panda_arm_controller/follow_joint_trajectory -> guard -> /franka/panda_arm_controller/...
skills -> /panda_gripper/gripper_cmd                    -> guard -> /franka/panda_gripper/{move,grasp}
/franka/joint_states, /franka/panda_gripper/joint_states         -> /joint_states
"""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from control_msgs.action import FollowJointTrajectory, GripperCommand
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.ros.conversions import trajectory_from_ros, trajectory_to_ros
from jarvis_core.ros.main import run_node
from jarvis_robot.model import RobotModel
from rclpy.action import ActionClient, ActionServer, CancelResponse
from rclpy.action.client import ClientGoalHandle
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from jarvis_panda.config import RealRobotConfig
from jarvis_panda.gripper import stalled
from jarvis_panda.guard import Guard
from jarvis_panda.ros.doors import SUCCEEDED, make_door
from jarvis_panda.ros.joint_states import MergedStates

ARM_ACTION = "/panda_arm_controller/follow_joint_trajectory"
GRIPPER_ACTION = "/panda_gripper/gripper_cmd"


class PandaAdapter(Node):
    """Serves the cell's arm and gripper actions. Everything runs in the executor's one thread, nothing blocks it.

    Topics: /estop (std_msgs/Bool): true stops at once and stays so until /panda/reset; /panda/status (std_msgs/String,
    latched): what it waits for. Services (std_srvs/Trigger): /panda/confirm, /panda/reset.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("panda_adapter")
        self._config = load_default("robot_real", RealRobotConfig)
        door = self.declare_parameter("gripper_door", self._config.gripper_door).value
        self._config = msgspec.structs.replace(self._config, gripper_door=door)
        robot = RobotModel.load(load_default("cell", CellConfig).robot)
        self._guard = Guard(robot, self._config)
        self._group = ReentrantCallbackGroup()
        self._arm = ActionClient(
            self, FollowJointTrajectory, self._config.arm_action, callback_group=self._group
        )
        self._door = make_door(self, self._config, robot.config.gripper)
        self._stop_gripper = self.create_client(Trigger, f"{self._config.gripper}/stop")
        self._running: dict[str, ClientGoalHandle] = {}
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._status = self.create_publisher(String, "/panda/status", latched)
        self._states = MergedStates(self, self._config.joint_states, robot.config, self._config.state_rate_hz)
        self.create_subscription(Bool, "/estop", self._on_estop, 10)
        self.create_service(Trigger, "/panda/confirm", self._on_confirm)
        self.create_service(Trigger, "/panda/reset", self._on_reset)
        self._servers = [
            self._server(FollowJointTrajectory, ARM_ACTION, self._follow, "arm"),
            self._server(GripperCommand, GRIPPER_ACTION, self._grip, "gripper"),
        ]
        self._tell()

    def _server(self, kind: Any, name: str, execute: Any, part: str) -> ActionServer:
        def on_cancel(handle: ServerGoalHandle) -> CancelResponse:
            self._cancel(part)
            return CancelResponse.ACCEPT

        return ActionServer(self, kind, name, execute, cancel_callback=on_cancel, callback_group=self._group)

    # -- arm

    async def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        result = FollowJointTrajectory.Result()
        goal, fault = self._arm_goal(handle.request)
        if goal is None:
            handle.abort()
            result.error_code, result.error_string = FollowJointTrajectory.Result.INVALID_GOAL, fault
            self.get_logger().warning(f"trajectory refused: {fault}")
            return result
        answer = await self._carry_out("arm", handle, await self._arm.send_goal_async(goal))
        if answer is not None:
            result = answer.result
        result.error_string = self._guard.stopped or result.error_string
        self._end(handle, answer)
        return result

    def _arm_goal(self, request: FollowJointTrajectory.Goal) -> tuple[FollowJointTrajectory.Goal | None, str]:
        """What to send to the controller, or why nothing is sent."""
        if not self._arm.server_is_ready():
            return None, f"nobody serves {self._config.arm_action}"
        if not self._states.complete:
            return None, f"no joint states on {' and '.join(self._config.joint_states)}"
        if "arm" in self._running:
            return None, "the arm follows another trajectory"
        try:
            trajectory = trajectory_from_ros(request.trajectory)
        except ValueError as error:
            return None, str(error)
        faults = self._guard.judge(trajectory, self._states.arm)
        if faults:
            return None, "; ".join(faults)
        capped = self._guard.capped(trajectory)
        if capped is not trajectory:
            slower = f"{trajectory.duration_s:.2f} s to {capped.duration_s:.2f} s"
            self.get_logger().info(f"trajectory slowed from {slower} by the caps of config/robot_real.yaml")
        return FollowJointTrajectory.Goal(
            trajectory=trajectory_to_ros(capped), goal_tolerance=request.goal_tolerance
        ), ""

    # -- gripper

    async def _grip(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        wanted = 2 * handle.request.command.position
        refusal = self._guard.refusal() or ("" if self._states.complete else "no joint states yet")
        if refusal or "gripper" in self._running:
            self.get_logger().warning(f"gripper command refused: {refusal or 'it is moving'}")
            handle.abort()
            return GripperCommand.Result()
        force = self._guard.force(handle.request.command.max_effort)
        upstream = await self._door.send(wanted, self._states.width_m, force)
        if upstream is None or not upstream.accepted:
            self.get_logger().error(f"nobody takes commands on {self._config.gripper}")
            handle.abort()
            return GripperCommand.Result()
        self._running["gripper"] = upstream
        self._heed_what_came_meanwhile("gripper", handle)
        worked = await self._door.worked(upstream)
        del self._running["gripper"]
        width = await self._states.next_width()
        on_something = stalled(wanted, width, self._config)
        if handle.is_cancel_requested:
            handle.canceled()
        elif worked and not self._guard.stopped:
            handle.succeed()
        else:
            handle.abort()
        return GripperCommand.Result(
            position=width / 2,
            effort=force if on_something else 0.0,
            stalled=worked and on_something,
            reached_goal=worked and not on_something,
        )

    # -- both

    async def _carry_out(self, part: str, handle: ServerGoalHandle, upstream: ClientGoalHandle) -> Any:
        """The controller's answer; None when it did not accept the goal."""
        if not upstream.accepted:
            return None
        self._running[part] = upstream
        self._heed_what_came_meanwhile(part, handle)
        answer = await upstream.get_result_async()
        del self._running[part]
        return answer

    def _heed_what_came_meanwhile(self, part: str, handle: ServerGoalHandle) -> None:
        """A stop or cancel may have come while the goal was on its way to the controller."""
        if self._guard.stopped or handle.is_cancel_requested:
            self._cancel(part)

    def _end(self, handle: ServerGoalHandle, answer: Any) -> None:
        if answer is not None and answer.status == SUCCEEDED and not self._guard.stopped:
            handle.succeed()
        elif handle.is_cancel_requested and not self._guard.stopped:
            handle.canceled()
        else:
            handle.abort()

    def _cancel(self, part: str) -> None:
        if part in self._running:
            self._running[part].cancel_goal_async()

    # -- stop and go

    def _on_estop(self, message: Bool) -> None:
        if not message.data:
            return  # letting go of the button resets nothing
        self._guard.stop("emergency stop")
        for part in tuple(self._running):
            self._cancel(part)
        if self._stop_gripper.service_is_ready():
            self._stop_gripper.call_async(Trigger.Request())
        self.get_logger().error("emergency stop: everything is canceled, nothing moves until /panda/reset")
        self._tell()

    def _on_confirm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._guard.stopped:
            response.message = self._guard.refusal()
            return response
        self._guard.confirm()
        response.success, response.message = True, "the arm may move"
        self._tell()
        return response

    def _on_reset(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._guard.reset()
        response.success, response.message = True, self._guard.refusal() or "the arm may move"
        self._tell()
        return response

    def _tell(self) -> None:
        self._status.publish(String(data=self._guard.refusal() or "ready"))


def main() -> None:
    sys.exit(run_node(PandaAdapter))
