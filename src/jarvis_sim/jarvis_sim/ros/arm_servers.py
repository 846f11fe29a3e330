"""The arm and gripper actions, as ros2_control and franka_gripper serve them on a real Panda."""

from __future__ import annotations

import math
from collections.abc import Callable

from control_msgs.action import FollowJointTrajectory, GripperCommand
from jarvis_core.errors import RefusedError
from jarvis_core.motion import GripperOutcome, JointTrajectory, MotionOutcome
from jarvis_core.ros.conversions import trajectory_from_ros
from jarvis_core.status import Status
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.task import Future

from jarvis_sim.robot import SimRobot
from jarvis_sim.ros.world_loop import WorldLoop

ARM_ACTION = "/panda_arm_controller/follow_joint_trajectory"
GRIPPER_ACTION = "/panda_gripper/gripper_cmd"


class ArmServers:
    """Serves both actions. ``poll`` belongs to the world's thread and answers goals that have ended."""

    def __init__(
        self, node: Node, executor: Executor, loop: WorldLoop, robot: Callable[[], SimRobot]
    ) -> None:
        self._executor = executor
        self._loop = loop
        self._robot = robot
        self._following: Future | None = None
        self._gripping: Future | None = None
        group = ReentrantCallbackGroup()
        self._arm = ActionServer(
            node,
            FollowJointTrajectory,
            ARM_ACTION,
            self._follow,
            goal_callback=self._judge_trajectory,
            cancel_callback=lambda handle: self._cancel(lambda: self._robot().cancel_follow()),
            callback_group=group,
        )
        self._gripper = ActionServer(
            node,
            GripperCommand,
            GRIPPER_ACTION,
            self._grip,
            goal_callback=judge_grip,
            cancel_callback=lambda handle: self._cancel(lambda: self._robot().cancel_grip()),
            callback_group=group,
        )

    def poll(self) -> None:
        """Answer what has ended (in the world's thread)."""
        if self._following is not None and (moved := self._robot().follow_outcome()) is not None:
            self._following.set_result(moved)
            self._following = None
        if self._gripping is not None and (gripped := self._robot().grip_outcome()) is not None:
            self._gripping.set_result(gripped)
            self._gripping = None

    def abandon(self, reason: str) -> None:
        """The world is replaced or broken: end what is under way (in the world's thread)."""
        if self._following is not None:
            self._following.set_result(MotionOutcome(Status.EXECUTION_FAILED, reason))
            self._following = None
        if self._gripping is not None:
            self._gripping.set_result(GripperOutcome(Status.EXECUTION_FAILED, reason, 0.0, False))
            self._gripping = None

    def _judge_trajectory(self, request: FollowJointTrajectory.Goal) -> GoalResponse:
        try:
            trajectory_from_ros(request.trajectory)
        except ValueError:
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _cancel(self, request: Callable[[], None]) -> CancelResponse:
        # Answered at once; the goal ends, as canceled, when everything stands still.
        self._loop.submit(request)
        return CancelResponse.ACCEPT

    async def _follow(self, handle: ServerGoalHandle) -> FollowJointTrajectory.Result:
        trajectory = trajectory_from_ros(handle.request.trajectory)
        tolerance = max((t.position for t in handle.request.goal_tolerance), default=0.0) or None
        try:
            ended = await self._loop.submit(lambda: self._start_follow(trajectory, tolerance))
            outcome: MotionOutcome = await ended
        except RefusedError as error:
            outcome = MotionOutcome(Status.EXECUTION_FAILED, error.line())
        code = FollowJointTrajectory.Result.SUCCESSFUL
        if outcome.status is Status.EXECUTION_FAILED:
            code = FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED
        conclude(handle, outcome.status)
        return FollowJointTrajectory.Result(error_code=code, error_string=outcome.message)

    async def _grip(self, handle: ServerGoalHandle) -> GripperCommand.Result:
        command = handle.request.command
        try:
            ended = await self._loop.submit(
                lambda: self._start_grip(2 * command.position, command.max_effort)
            )
            outcome: GripperOutcome = await ended
        except RefusedError as error:
            outcome = GripperOutcome(Status.EXECUTION_FAILED, error.line(), 0.0, False)
        conclude(handle, outcome.status)
        return GripperCommand.Result(
            position=outcome.width_m / 2,
            effort=command.max_effort if outcome.stalled else 0.0,
            stalled=outcome.stalled,
            reached_goal=outcome.status.ok and not outcome.stalled,
        )

    def _start_follow(self, trajectory: JointTrajectory, tolerance_rad: float | None) -> Future:
        if self._following is not None:
            raise RefusedError("the arm follows another trajectory", fix="cancel it or wait for its end")
        self._robot().start_follow(trajectory, tolerance_rad)
        self._following = Future(executor=self._executor)
        return self._following

    def _start_grip(self, width_m: float, force_n: float) -> Future:
        if self._gripping is not None:
            raise RefusedError("the gripper is moving", fix="cancel it or wait for its end")
        self._robot().start_grip(width_m, force_n)
        self._gripping = Future(executor=self._executor)
        return self._gripping

    @property
    def busy(self) -> bool:
        return self._following is not None or self._gripping is not None


def judge_grip(request: GripperCommand.Goal) -> GoalResponse:
    """Only widths and forces that are numbers and not negative reach the drive."""
    values = (request.command.position, request.command.max_effort)
    sound = all(math.isfinite(value) and value >= 0.0 for value in values)
    return GoalResponse.ACCEPT if sound else GoalResponse.REJECT


def conclude(handle: ServerGoalHandle, status: Status) -> None:
    """End a goal the way its status says."""
    if status is Status.CANCELED and handle.is_cancel_requested:
        handle.canceled()
    elif status.ok:
        handle.succeed()
    else:
        handle.abort()
