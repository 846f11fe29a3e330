"""Runs one skill at a time and turns whatever happens into a SkillResult."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from jarvis_core.motion import Cancellation
from jarvis_core.skills import SkillGoal, SkillResult
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.registry import skill_of

logger = logging.getLogger(__name__)


class SkillExecutor:
    """The only way skills are run. One arm, one executor; a second goal meanwhile is refused, not queued."""

    def __init__(self, context: SkillContext) -> None:
        self._context = context
        self._busy = threading.Lock()

    @property
    def context(self) -> SkillContext:
        return self._context

    def run(
        self,
        goal: SkillGoal,
        on_phase: Callable[[str], None] = lambda phase: None,
        cancel: Cancellation | None = None,
    ) -> SkillResult:
        """Run a skill to its end. Never raises for a failed skill; a bug becomes INTERNAL_ERROR, logged in full."""
        if not self._busy.acquire(blocking=False):
            return SkillResult(Status.PRECONDITION_FAILED, "the arm is busy with another skill", {})
        try:
            self._context.on_phase = on_phase
            self._context.cancel = cancel or Cancellation()
            return self._run(goal)
        finally:
            self._busy.release()

    def _run(self, goal: SkillGoal) -> SkillResult:
        skill = skill_of(goal)
        start_s = self._context.robot.time_s
        try:
            facts = skill.run(self._context, goal)
            status, message = Status.SUCCEEDED, f"{skill.name} succeeded"
        except StepFailed as failure:
            status, message, facts = failure.status, failure.message, dict(failure.facts)
        except Exception as error:
            logger.exception("skill %s failed with a bug", skill.name)
            status, message, facts = Status.INTERNAL_ERROR, f"{type(error).__name__}: {error}", {}
        facts["duration_s"] = self._context.robot.time_s - start_s
        facts.setdefault("held", self._context.held is not None)
        return SkillResult(status, message, facts)
