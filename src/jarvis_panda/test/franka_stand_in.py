"""The embedded simulator behind franka_ros2's names: run as a program, with sim_node's parameters.

Arm: /franka/panda_arm_controller/follow_joint_trajectory. Gripper: /franka/panda_gripper/gripper_action and /stop,
whose answers are those of franka_gripper with a wide epsilon: a grasp that ends on something has reached its goal,
``stalled`` is never set, and a width out of range is aborted
(https://github.com/frankaemika/franka_ros2/blob/v0.1.15/franka_gripper/src/gripper_action_server.cpp).
"""

from __future__ import annotations

from typing import Any

from control_msgs.action import GripperCommand
from jarvis_sim.ros import arm_servers
from jarvis_sim.ros.arm_servers import ArmServers
from rclpy.action.server import ServerGoalHandle
from std_srvs.srv import Trigger

MAX_WIDTH_M = 0.08


class FrankaServers(ArmServers):
    """The simulator's servers with Franka's answers."""

    def __init__(self, node: Any, *rest: Any) -> None:
        super().__init__(node, *rest)
        node.create_service(Trigger, "/franka/panda_gripper/stop", self._on_stop)

    def _on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        self._loop.submit(lambda: self._robot().cancel_grip())
        response.success = True
        return response

    async def _grip(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        if not 0.0 <= 2 * handle.request.command.position <= MAX_WIDTH_M:
            handle.abort()
            return GripperCommand.Result()
        result = await super()._grip(handle)
        result.reached_goal = result.reached_goal or result.stalled
        result.stalled, result.effort = False, 0.0
        return result


if __name__ == "__main__":
    arm_servers.ARM_ACTION = "/franka/panda_arm_controller/follow_joint_trajectory"
    arm_servers.GRIPPER_ACTION = "/franka/panda_gripper/gripper_action"
    arm_servers.ArmServers = FrankaServers  # type: ignore[misc]
    from jarvis_sim.ros.sim_node import main

    main()
