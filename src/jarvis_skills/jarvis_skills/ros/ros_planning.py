"""Questions about grasps and reach as services of the skill node, and who asks them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jarvis_core.errors import BadInputError
from jarvis_core.planning import GraspPlan, PlannedGrasp, Planning, ReachAnswer
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import (
    pose_from_ros,
    pose_to_ros,
    world_pose_from_ros,
    world_pose_to_ros,
)
from jarvis_core.ros.waiting import in_thread, require_server, wait_for
from jarvis_core.status import Status
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import Executor
from rclpy.node import Node

from jarvis_interfaces.msg import SkillStatus
from jarvis_interfaces.srv import PlanPick, PlanReach
from jarvis_skills.executor import SkillExecutor
from jarvis_skills.planning import SkillPlanning

PLAN_PICK, PLAN_REACH = "/skills/plan_pick", "/skills/plan_reach"
ANSWER_TIMEOUT_S = 60.0


class PlanningServer:
    """Serves both questions, each in a worker thread. While a skill runs they are refused, as a second skill is."""

    def __init__(self, node: Node, executor: Executor, skills: SkillExecutor) -> None:
        self._node = node
        self._executor = executor
        self._skills = skills
        self._planning = SkillPlanning(skills.context)
        group = ReentrantCallbackGroup()
        node.create_service(PlanPick, PLAN_PICK, self._on_pick, callback_group=group)
        node.create_service(PlanReach, PLAN_REACH, self._on_reach, callback_group=group)

    async def _on_pick(self, request: PlanPick.Request, response: PlanPick.Response) -> Any:
        def plan() -> GraspPlan:
            pose = world_pose_from_ros(request.place_pose, "place_pose") if request.has_place_pose else None
            return self._planning.grasps(request.object_id, pose)

        answer = await in_thread(self._executor, lambda: self._asked(plan, GraspPlan), "plan pick")
        response.status, response.message = SkillStatus(value=int(answer.status)), answer.message
        response.tools = [pose_to_ros(grasp.tool) for grasp in answer.grasps]
        response.widths_m = [grasp.width_m for grasp in answer.grasps]
        return response

    async def _on_reach(self, request: PlanReach.Request, response: PlanReach.Response) -> Any:
        def plan() -> ReachAnswer:
            return self._planning.reach(world_pose_from_ros(request.pose, "pose"))

        answer = await in_thread(self._executor, lambda: self._asked(plan, ReachAnswer), "plan reach")
        response.status, response.message = SkillStatus(value=int(answer.status)), answer.message
        response.joints_rad = list(answer.joints_rad)
        return response

    def _asked[A](self, plan: Callable[[], A], refusal: Callable[[Status, str], A]) -> A:
        """A question's answer. Nothing is raised: it would end the node, not the question."""
        try:
            with self._skills.between_skills() as idle:
                return plan() if idle else refusal(Status.PRECONDITION_FAILED, "the arm is busy with a skill")
        except BadInputError as error:
            return refusal(Status.PRECONDITION_FAILED, error.line())
        except TimeoutError as error:
            return refusal(Status.TIMED_OUT, f"the cell is silent: {error}")
        except Exception as error:  # noqa: BLE001 - told to whoever asked, and here
            self._node.get_logger().error(f"a question met a bug: {error!r}")
            return refusal(Status.INTERNAL_ERROR, f"{type(error).__name__}: {error}")


class RosPlanning(Planning):
    """Asks the skill node. Blocks: never use it in a callback."""

    def __init__(self, node: Node) -> None:
        self._pick = node.create_client(PlanPick, PLAN_PICK)
        self._reach = node.create_client(PlanReach, PLAN_REACH)

    def connect(self) -> None:
        """Wait for both services; raises MissingCapabilityError."""
        require_server(self._pick, PLAN_PICK)
        require_server(self._reach, PLAN_REACH)

    def grasps(self, object_id: str, place_pose: Pose | None = None) -> GraspPlan:
        request = PlanPick.Request(object_id=object_id, has_place_pose=place_pose is not None)
        if place_pose is not None:
            request.place_pose = world_pose_to_ros(place_pose)
        answer = wait_for(self._pick.call_async(request), ANSWER_TIMEOUT_S, PLAN_PICK)
        found = zip(answer.tools, answer.widths_m, strict=True)
        grasps = tuple(PlannedGrasp(pose_from_ros(tool), width) for tool, width in found)
        return GraspPlan(Status(answer.status.value), answer.message, grasps)

    def reach(self, pose: Pose) -> ReachAnswer:
        request = PlanReach.Request(pose=world_pose_to_ros(pose))
        answer = wait_for(self._reach.call_async(request), ANSWER_TIMEOUT_S, PLAN_REACH)
        return ReachAnswer(Status(answer.status.value), answer.message, tuple(answer.joints_rad))
