"""An arm behind FollowJointTrajectory and GripperCommand: a simulator's or a real one's, no difference."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory, GripperCommand
from control_msgs.msg import JointTolerance
from geometry_msgs.msg import WrenchStamped
from jarvis_core.motion import (
    Cancellation,
    ForceLimit,
    GripperOutcome,
    JointTrajectory,
    MotionOutcome,
    no_wrench,
    stopped_by_force,
)
from jarvis_core.observation import RobotState, Wrench
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.ros.conversions import time_from_ros, trajectory_to_ros
from jarvis_core.ros.waiting import require_server, wait_for
from jarvis_core.status import Status
from jarvis_robot.config import RobotConfig
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

#: Wall-clock limits: a controller that is silent for so long is given up.
ACCEPT_TIMEOUT_S = 10.0
MOTION_TIMEOUT_S = 120.0
FRESH_TIMEOUT_S = 5.0
#: How often a running motion is checked for a cancel request.
POLL_S = 0.005

ARM_ACTION = "/panda_arm_controller/follow_joint_trajectory"
GRIPPER_ACTION = "/panda_gripper/gripper_cmd"
#: As franka_ros2's broadcaster calls it: at the stiffness frame, along the axes of the base.
WRENCH_TOPIC = "/franka_robot_state_broadcaster/external_wrench_in_base_frame"
#: A wrench that is this much older than the joint state tells nothing.
WRENCH_AGE_S = 0.5


class Guard:
    """Watches one motion's force limit.

    Attributes:
        reached: the limit was reached; silent: the wrench is no longer told. Either ends the motion.
    """

    def __init__(self, wrench: Callable[[], Wrench | None], limit: ForceLimit | None) -> None:
        self._wrench = wrench
        self._limit = limit
        self.reached = self.silent = False

    def check(self) -> bool:
        """Whether the motion must end."""
        if self._limit is not None and not (self.reached or self.silent):
            wrench = self._wrench()
            self.silent = wrench is None
            self.reached = wrench is not None and self._limit.reached(wrench)
        return self.reached or self.silent


class RosRobot:
    """Implements jarvis_core.ports.Robot. Its calls block: use it from a worker thread, never in a callback.

    Args:
        node: spun by an executor in some other thread.
        forward: tool pose (world) of arm joint positions.
    """

    def __init__(self, node: Node, config: RobotConfig, forward: Callable[[FloatArray], Pose]) -> None:
        self._config = config
        self._forward = forward
        self._arm: ActionClient = ActionClient(node, FollowJointTrajectory, ARM_ACTION)
        self._gripper: ActionClient = ActionClient(node, GripperCommand, GRIPPER_ACTION)
        self._joint_state: JointState | None = None
        self._count = 0
        self._news = threading.Condition()
        quality = QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE)
        node.create_subscription(JointState, "/joint_states", self._on_joint_state, quality)
        self._wrench: WrenchStamped | None = None
        node.create_subscription(WrenchStamped, WRENCH_TOPIC, self._on_wrench, quality)

    def connect(self) -> None:
        """Wait until both controllers are there; raises MissingCapabilityError naming the absent one."""
        require_server(self._arm, ARM_ACTION)
        require_server(self._gripper, GRIPPER_ACTION)

    @property
    def time_s(self) -> float:
        return time_from_ros(self._latest().header.stamp)

    def state(self) -> RobotState:
        message = self._latest()
        position = dict(zip(message.name, message.position, strict=True))
        arm = tuple(position[name] for name in self._config.arm_joints)
        width = sum(position[name] for name in self._config.finger_joints)
        tool = self._forward(np.array(arm))
        return RobotState(time_from_ros(message.header.stamp), arm, width, tool)

    def wrench(self) -> Wrench | None:
        message = self._wrench
        if message is None:
            return None
        time_s = time_from_ros(message.header.stamp)
        if abs(self.time_s - time_s) > WRENCH_AGE_S:
            return None
        force, torque = message.wrench.force, message.wrench.torque
        return Wrench(time_s, (force.x, force.y, force.z), (torque.x, torque.y, torque.z))

    def follow(
        self,
        trajectory: JointTrajectory,
        cancel: Cancellation | None = None,
        *,
        goal_tolerance_rad: float | None = None,
        force_limit: ForceLimit | None = None,
    ) -> MotionOutcome:
        if force_limit is not None and self.wrench() is None:
            return no_wrench()
        goal = FollowJointTrajectory.Goal(trajectory=trajectory_to_ros(trajectory))
        if goal_tolerance_rad is not None:
            names = trajectory.joint_names
            goal.goal_tolerance = [JointTolerance(name=n, position=goal_tolerance_rad) for n in names]
        handle = self._send(self._arm, goal, ARM_ACTION)
        if not handle.accepted:
            return MotionOutcome(Status.EXECUTION_FAILED, "the arm controller rejected the trajectory")
        guard = Guard(self.wrench, force_limit)
        answer = self._finish(handle, cancel, ARM_ACTION, guard)
        self._await_news()
        if guard.silent:
            return MotionOutcome(Status.EXECUTION_FAILED, f"{WRENCH_TOPIC} fell silent; the arm stands still")
        return stopped_by_force(self._outcome(answer), guard.reached, cancel)

    def _outcome(self, answer: Any) -> MotionOutcome:
        if answer.status == GoalStatus.STATUS_CANCELED:
            return MotionOutcome(Status.CANCELED, "canceled; the arm stands still")
        if answer.status != GoalStatus.STATUS_SUCCEEDED:
            reason = answer.result.error_string or f"controller error {answer.result.error_code}"
            return MotionOutcome(Status.EXECUTION_FAILED, reason)
        return MotionOutcome(Status.SUCCEEDED, "arrived")

    def grip(self, width_m: float, force_n: float, cancel: Cancellation | None = None) -> GripperOutcome:
        goal = GripperCommand.Goal()
        # GripperCommand counts one finger's way from the middle.
        goal.command.position = width_m / 2
        goal.command.max_effort = force_n
        handle = self._send(self._gripper, goal, GRIPPER_ACTION)
        if not handle.accepted:
            return GripperOutcome(Status.EXECUTION_FAILED, "the gripper rejected the command", 0.0, False)
        answer = self._finish(handle, cancel, GRIPPER_ACTION)
        self._await_news()
        width = 2 * float(answer.result.position)
        if answer.status == GoalStatus.STATUS_CANCELED:
            return GripperOutcome(Status.CANCELED, "canceled", width, False)
        # Drivers disagree on whether a stall is a success: reached or stalled both end the command well here,
        # the skill judges by the width.
        done = answer.result.reached_goal or answer.result.stalled
        status = Status.SUCCEEDED if done else Status.EXECUTION_FAILED
        return GripperOutcome(
            status, "done" if done else "the fingers did not arrive", width, answer.result.stalled
        )

    def wait(self, seconds: float) -> None:
        """Hold the present joint positions for a time, as a trajectory: the same on every robot."""
        here = np.array(self.state().joints_rad)
        zeros = np.zeros((2, len(here)))
        names = self._config.arm_joints
        hold = JointTrajectory(names, np.array([0.0, seconds]), np.stack([here, here]), zeros, zeros)
        self.follow(hold)

    def _send(self, client: ActionClient, goal: object, name: str) -> ClientGoalHandle:
        require_server(client, name)
        return wait_for(client.send_goal_async(goal), ACCEPT_TIMEOUT_S, name)

    def _finish(
        self, handle: ClientGoalHandle, cancel: Cancellation | None, name: str, guard: Guard | None = None
    ) -> Any:
        """The result; passes a cancel on and still waits for the answer, which comes at standstill."""
        future = handle.get_result_async()
        deadline = time.monotonic() + MOTION_TIMEOUT_S
        asked = False
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        while not done.wait(POLL_S):
            wanted = cancel is not None and cancel.requested
            if (wanted or (guard is not None and guard.check())) and not asked:
                handle.cancel_goal_async()
                asked = True
            if time.monotonic() > deadline:
                handle.cancel_goal_async()
                raise TimeoutError(f"no result from {name} within {MOTION_TIMEOUT_S:.0f} s")
        return future.result()

    def _await_news(self) -> None:
        """A result may overtake the joint state of the motion's end: wait for the next message."""
        with self._news:
            seen = self._count
            if not self._news.wait_for(lambda: self._count > seen, FRESH_TIMEOUT_S):
                raise TimeoutError(f"nothing new on /joint_states within {FRESH_TIMEOUT_S:.0f} s")

    def _on_wrench(self, message: WrenchStamped) -> None:
        self._wrench = message

    def _on_joint_state(self, message: JointState) -> None:
        with self._news:
            self._joint_state = message
            self._count += 1
            self._news.notify_all()

    def _latest(self) -> JointState:
        with self._news:
            self._news.wait_for(lambda: self._joint_state is not None, FRESH_TIMEOUT_S)
            if self._joint_state is None:
                raise TimeoutError(f"nothing on /joint_states within {FRESH_TIMEOUT_S:.0f} s")
            return self._joint_state
