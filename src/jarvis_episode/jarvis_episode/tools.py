"""The tools of one episode: every call is counted, timed and recorded, and the limits are kept."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from jarvis_core.episode import CallRecord
from jarvis_core.manual import TaskBrief
from jarvis_core.objects import Scene, TargetObject
from jarvis_core.observation import Observation
from jarvis_core.ports import Policy
from jarvis_core.pose import Pose
from jarvis_core.skills import (
    HomeGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    PushGoal,
    SkillGoal,
    SkillResult,
)

logger = logging.getLogger(__name__)


class EpisodeOverError(BaseException):
    """A limit was reached. No ``except Exception`` of a policy may swallow it."""


class Ledger:
    """What was called, and how much of the limits is used.

    Args:
        run: performs a skill goal (in-process executor or ROS action client).
        clock: the cell's time in seconds.
        limit_s: simulated seconds after which the episode is over.
        max_calls: calls after which it is over.
    """

    def __init__(
        self,
        run: Callable[[SkillGoal], SkillResult],
        clock: Callable[[], float],
        *,
        limit_s: float,
        max_calls: int,
    ) -> None:
        self._run = run
        self._clock = clock
        self._start_s = clock()
        self._limit_s = limit_s
        self._max_calls = max_calls
        self.calls: list[CallRecord] = []

    @property
    def time_s(self) -> float:
        """Simulated seconds used so far."""
        return self._clock() - self._start_s

    def call(self, goal: SkillGoal) -> SkillResult:
        """Perform a goal and write it down. Raises EpisodeOverError when a limit is reached."""
        if self.time_s >= self._limit_s:
            raise EpisodeOverError(f"the hard limit of {self._limit_s:.0f} simulated seconds is reached")
        if len(self.calls) >= self._max_calls:
            raise EpisodeOverError(f"the limit of {self._max_calls} calls is reached")
        start_s, wall_start = self._clock(), time.monotonic()
        result = self._run(goal)
        wall_s = time.monotonic() - wall_start
        self.calls.append(CallRecord(len(self.calls), goal, result, start_s, self._clock(), wall_s))
        return result


class EpisodeTools:
    """Tools as any agent gets them: no ground truth behind any attribute it could reach by the protocol."""

    def __init__(self, ledger: Ledger, brief: TaskBrief, observe: Callable[[], Observation]) -> None:
        self._ledger = ledger
        self._brief = brief
        self._observe = observe

    def brief(self) -> TaskBrief:
        return self._brief

    def observe(self) -> Observation:
        return self._observe()

    def pick(self, object_id: str, place_pose: Pose | None = None) -> SkillResult:
        return self._ledger.call(PickGoal(object_id, place_pose))

    def place(self, pose: Pose) -> SkillResult:
        return self._ledger.call(PlaceGoal(pose))

    def pick_and_place(self, object_id: str, pose: Pose) -> SkillResult:
        return self._ledger.call(PickAndPlaceGoal(object_id, pose))

    def move_to(self, pose: Pose, *, straight: bool = False, speed: float = 1.0) -> SkillResult:
        return self._ledger.call(MoveToGoal(pose, straight, speed))

    def push(self, object_id: str, offset_m: tuple[float, float]) -> SkillResult:
        return self._ledger.call(PushGoal(object_id, offset_m))

    def home(self) -> SkillResult:
        return self._ledger.call(HomeGoal())


class OracleTools(EpisodeTools):
    """Tools of a declared oracle."""

    def __init__(
        self,
        ledger: Ledger,
        brief: TaskBrief,
        observe: Callable[[], Observation],
        true_scene: Callable[[], Scene],
        targets: tuple[TargetObject, ...],
    ) -> None:
        super().__init__(ledger, brief, observe)
        self._true_scene = true_scene
        self._targets = targets

    def true_scene(self) -> Scene:
        return self._true_scene()

    def targets(self) -> tuple[TargetObject, ...]:
        return self._targets


def run_policy(policy: Policy, tools: EpisodeTools) -> tuple[str, str]:
    """Run a policy to its end; returns the record's outcome and a sentence. A crash is an outcome, not a loss."""
    try:
        policy.run(tools)
    except EpisodeOverError as over:
        return "stopped", str(over)
    except Exception as error:
        logger.exception("policy %s crashed", policy.name)
        return "crashed", f"{type(error).__name__}: {error}"
    return "finished", "the policy ended"
