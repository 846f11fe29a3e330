"""Calls skills over their actions, from a thread that may block."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_core.ros.conversions import result_from_ros
from jarvis_core.ros.waiting import require_server, wait_for
from jarvis_core.skills import SkillGoal, SkillResult, skill_name
from jarvis_core.status import Status
from rclpy.action import ActionClient
from rclpy.node import Node

from jarvis_skills.ros.goals import DOORS, action_name, door_of

ACCEPT_TIMEOUT_S = 10.0
SKILL_TIMEOUT_S = 300.0


class SkillClient:
    """All skills of the skill node. Not for use inside callbacks."""

    def __init__(self, node: Node) -> None:
        self._clients = {
            name: ActionClient(node, door.type, action_name(name)) for name, door in DOORS.items()
        }

    def connect(self) -> None:
        """Wait until every skill is served; raises MissingCapabilityError naming the absent one."""
        for name, client in self._clients.items():
            require_server(client, action_name(name))

    def run(self, goal: SkillGoal, on_phase: Callable[[str], None] = lambda phase: None) -> SkillResult:
        """Run a skill to its end. Never raises for a failed one; silence becomes TIMED_OUT."""
        name = action_name(skill_name(goal))
        client = self._clients[skill_name(goal)]
        try:
            sending = client.send_goal_async(
                door_of(goal).to_ros(goal), feedback_callback=lambda m: on_phase(m.feedback.phase)
            )
            handle = wait_for(sending, ACCEPT_TIMEOUT_S, name)
            if not handle.accepted:
                return SkillResult(Status.PRECONDITION_FAILED, f"{name} rejected the goal", {})
            answer = wait_for(handle.get_result_async(), SKILL_TIMEOUT_S, name)
        except TimeoutError as error:
            return SkillResult(Status.TIMED_OUT, str(error), {})
        return result_from_ros(answer.result.result)
