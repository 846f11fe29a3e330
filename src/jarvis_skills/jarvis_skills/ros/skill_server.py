"""The skill node: every skill of the registry as an action ``/skills/NAME``, and questions as services."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.episode import CallRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import encode_line
from jarvis_core.motion import Cancellation
from jarvis_core.ros.conversions import call_to_ros, header, result_to_ros
from jarvis_core.ros.main import run_node
from jarvis_core.ros.waiting import in_thread
from jarvis_core.skills import SkillGoal, SkillResult
from jarvis_core.status import Status
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import make_backend
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node

from jarvis_interfaces.msg import SkillCall, SkillFeedback
from jarvis_interfaces.msg import SkillGoal as SkillGoalMsg
from jarvis_skills.cell_context import SkillContext
from jarvis_skills.config import SkillsConfig
from jarvis_skills.executor import SkillExecutor
from jarvis_skills.registry import SKILLS
from jarvis_skills.ros.goals import DOORS, action_name
from jarvis_skills.ros.ros_planning import PlanningServer
from jarvis_skills.ros.ros_robot import RosRobot
from jarvis_skills.ros.ros_scene import RosSceneSource

#: Messages of a topic kept for a recorder that lags.
CALLS_DEPTH = 1000


class SkillServer(Node):
    """Serves the skills; runs each goal in a worker thread, so that no callback ever blocks.

    ROS parameters:
        scene_service: GetScene service that tells where objects are.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("skills")
        self._executor_of_node = executor
        scene_service = self.declare_parameter("scene_service", "/sim/get_scene").value
        cell = load_default("cell", CellConfig)
        robot_config = load_robot_config(cell.robot)
        backend = make_backend(RobotModel.load(robot_config), load_default("motion", MotionConfig))
        self._robot = RosRobot(self, robot_config, backend.forward)
        scenes = RosSceneSource(self, scene_service)
        config = load_default("skills", SkillsConfig)
        self._skills = SkillExecutor(SkillContext(self._robot, backend, scenes, cell, robot_config, config))
        self._goals = self.create_publisher(SkillGoalMsg, "/skills/goals", CALLS_DEPTH)
        self._feedback = self.create_publisher(SkillFeedback, "/skills/feedback", CALLS_DEPTH)
        self._calls = self.create_publisher(SkillCall, "/skills/calls", CALLS_DEPTH)
        #: Messages so far of each of these topics.
        self._begun = self._phases = self._ended = 0
        self._counting = threading.Lock()
        self._cancellations: dict[bytes, Cancellation] = {}
        group = ReentrantCallbackGroup()
        self._servers = [
            ActionServer(
                self,
                door.type,
                action_name(name),
                self._execute_callback(name),
                cancel_callback=self._on_cancel,
                callback_group=group,
            )
            for name, door in DOORS.items()
        ]
        self._planning = PlanningServer(self, executor, self._skills)
        self.get_logger().info(f"skills: {', '.join(SKILLS)}; scene from {scene_service}; {backend.name}")

    def _execute_callback(self, name: str) -> Any:
        door = DOORS[name]

        async def execute(handle: ServerGoalHandle) -> Any:
            try:
                goal = door.from_ros(handle.request)
            except BadInputError as error:
                return self._end(handle, door.type, SkillResult(Status.PRECONDITION_FAILED, error.line(), {}))
            key = bytes(handle.goal_id.uuid)
            cancel = self._cancellations.setdefault(key, Cancellation())
            try:
                result = await in_thread(
                    self._executor_of_node,
                    lambda: self._run(goal, handle, door.type, cancel),
                    f"skill {name}",
                )
            finally:
                del self._cancellations[key]
            return self._end(handle, door.type, result)

        return execute

    def _run(
        self, goal: SkillGoal, handle: ServerGoalHandle, action: Any, cancel: Cancellation
    ) -> SkillResult:
        """One goal in its worker thread. Nothing is raised: it would end the node, not the goal."""

        def on_phase(phase: str) -> None:
            handle.publish_feedback(action.Feedback(phase=phase))
            self._publish_phase(number, phase)

        wall = time.monotonic()
        try:
            start_s = self._robot.time_s
            number = self._publish_goal(goal, start_s)
            result = self._skills.run(goal, on_phase, cancel)
            end_s = self._robot.time_s
        except TimeoutError as error:
            return SkillResult(Status.TIMED_OUT, f"the robot is silent: {error}", {})
        with self._counting:
            call = CallRecord(self._ended, goal, result, start_s, end_s, time.monotonic() - wall)
            self._ended += 1
            self._calls.publish(call_to_ros(call, number))
        return result

    def _publish_goal(self, goal: SkillGoal, time_s: float) -> int:
        """Returns the number of the call."""
        with self._counting:
            number, text = self._begun, encode_line(goal)
            self._goals.publish(SkillGoalMsg(header=header(time_s), sequence=number, goal=text))
            self._begun += 1
        return number

    def _publish_phase(self, number: int, phase: str) -> None:
        time_s = self._robot.time_s
        with self._counting:
            self._feedback.publish(
                SkillFeedback(header=header(time_s), sequence=self._phases, call=number, phase=phase)
            )
            self._phases += 1

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        self._cancellations.setdefault(bytes(handle.goal_id.uuid), Cancellation()).cancel()
        return CancelResponse.ACCEPT

    @staticmethod
    def _end(handle: ServerGoalHandle, action: Any, result: SkillResult) -> Any:
        if result.status is Status.CANCELED and handle.is_cancel_requested:
            handle.canceled()
        elif result.ok:
            handle.succeed()
        else:
            handle.abort()
        return action.Result(result=result_to_ros(result))

    def close(self) -> None:
        self._skills.context.backend.close()


def main() -> None:
    sys.exit(run_node(SkillServer))
