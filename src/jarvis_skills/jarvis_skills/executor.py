"""Runs one skill at a time and turns whatever happens into a SkillResult."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from jarvis_core.motion import Cancellation
from jarvis_core.skills import Fact, SkillGoal, SkillResult
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.holding import check_hand
from jarvis_skills.registry import skill_of

logger = logging.getLogger(__name__)

_Outcome = tuple[Status, str, dict[str, Fact]]


class SkillExecutor:
    """The only way skills are run. One arm, one executor; a second goal meanwhile is refused, not queued.

    Attributes:
        last_bug: the exception behind the last result, where that is an INTERNAL_ERROR.
    """

    def __init__(self, context: SkillContext) -> None:
        self._context = context
        self._busy = threading.Lock()
        self.last_bug: Exception | None = None

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
            self.last_bug = None
            self._context.on_phase = on_phase
            self._context.cancel = cancel or Cancellation()
            return self._run(goal)
        finally:
            self._busy.release()

    @contextmanager
    def between_skills(self) -> Iterator[bool]:
        """Keeps skills out meanwhile, for questions that move nothing; False where one is running."""
        idle = self._busy.acquire(blocking=False)
        try:
            if idle:
                # What the last skill left there ended with it.
                self._context.on_phase = lambda phase: None
                self._context.cancel = Cancellation()
            yield idle
        finally:
            if idle:
                self._busy.release()

    def _run(self, goal: SkillGoal) -> SkillResult:
        try:
            start_s = self._context.robot.time_s
            status, message, facts = self._outcome(goal)
            facts["duration_s"] = self._context.robot.time_s - start_s
        except Exception as error:
            logger.exception("the robot does not answer")
            status, message, facts = self._bug(error)
        facts.setdefault("held", self._context.held is not None)
        return SkillResult(status, message, facts)

    def _outcome(self, goal: SkillGoal) -> _Outcome:
        try:
            skill = skill_of(goal)
            return Status.SUCCEEDED, f"{skill.name} succeeded", skill.run(self._context, goal)
        except StepFailed as failure:
            # What a failed skill leaves in the hand is measured, not concluded.
            check_hand(self._context)
            return failure.status, failure.message, dict(failure.facts)
        except Exception as error:
            logger.exception("goal %r met a bug", goal)
            return self._bug(error)

    def _bug(self, error: Exception) -> _Outcome:
        self.last_bug = error
        return Status.INTERNAL_ERROR, f"{type(error).__name__}: {error}", {}
