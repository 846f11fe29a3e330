"""Skills in this process, recorded as the skill node publishes them: goals, feedback and results."""

from __future__ import annotations

import time
from collections.abc import Callable

from jarvis_core.episode import CallRecord
from jarvis_core.ports import Clock
from jarvis_core.skills import SkillGoal, SkillResult
from jarvis_skills.executor import SkillExecutor

from jarvis_episode.recording.recorder import EpisodeRecorder


class RecordedSkills:
    """Runs skills; whatever they do stands in the bag, also what a harness does before an agent takes over."""

    def __init__(self, skills: SkillExecutor, clock: Clock, recorder: EpisodeRecorder) -> None:
        self._skills = skills
        self._clock = clock
        self._recorder = recorder
        self._begun = 0

    def run(self, goal: SkillGoal, on_phase: Callable[[str], None]) -> SkillResult:
        """As ``SkillExecutor.run``; also raises what kept the recorder from writing."""
        number, start_s, began = self._begun, self._clock.time_s, time.monotonic()
        self._begun += 1

        def record_phase(phase: str) -> None:
            self._recorder.feedback(self._clock.time_s, number, phase)
            on_phase(phase)

        self._recorder.goal(start_s, goal)
        result = self._skills.run(goal, record_phase)
        wall_s = time.monotonic() - began
        self._recorder.call(CallRecord(number, goal, result, start_s, self._clock.time_s, wall_s))
        return result
