"""The tools of one episode: every call is counted, timed and recorded, and the limits are kept."""

from __future__ import annotations

import inspect
import logging
import math
import threading
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate

import msgspec
from jarvis_core.episode import CallRecord, ToolCall
from jarvis_core.errors import BadInputError, JarvisError, PerceptionRefusedError, RefusedError
from jarvis_core.files import decode, encode
from jarvis_core.manual import TaskBrief
from jarvis_core.objects import Scene, TargetObject
from jarvis_core.observation import Observation
from jarvis_core.planning import GraspPlan, Planning, ReachAnswer
from jarvis_core.ports import Policy, SceneSource
from jarvis_core.pose import Pose
from jarvis_core.skills import (
    GripGoal,
    HomeGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    PressGoal,
    PushGoal,
    RemoveGoal,
    SkillGoal,
    SkillResult,
    skill_name,
)
from jarvis_core.status import Status

from jarvis_episode.tool_calls import as_text

logger = logging.getLogger(__name__)

#: How an episode ended: ``finished``, ``stopped``, ``crashed`` or ``cell_error``, and a sentence.
Ending = tuple[str, str]


class EpisodeOverError(BaseException):
    """A limit was reached, or the cell failed. No ``except Exception`` of a policy may swallow it."""


class Ledger:
    """What was called, how much of the limits is used, and how the episode ended if not by the policy.

    Args:
        run: performs a skill goal (in-process executor or ROS action client); raises when the cell has failed.
        clock: the cell's time in seconds.
        limit_s: simulated seconds after which the episode is over.
        max_calls: calls after which it is over.
        max_wall_s: seconds of the wall clock after which it is over (noticed at the next call or look).
        on_tool: told every call of the agent's tools, once it is answered.

    Attributes:
        ending: ``stopped`` or ``cell_error`` with the reason, as soon as one of them is certain.
        tool_calls: number of calls of the agent's tools so far.
    """

    def __init__(
        self,
        run: Callable[[SkillGoal], SkillResult],
        clock: Callable[[], float],
        *,
        limit_s: float,
        max_calls: int,
        max_wall_s: float = math.inf,
        on_tool: Callable[[ToolCall], None] = lambda call: None,
    ) -> None:
        self._run = run
        self._clock = clock
        self._start_s = clock()
        self._limit_s = limit_s
        self._max_calls = max_calls
        self._max_wall_s = max_wall_s
        self._wall_start = time.monotonic()
        self._on_tool = on_tool
        self._last_s = self._start_s
        self._noting = threading.Lock()
        self.tool_calls = 0
        self.calls: list[CallRecord] = []
        self.ending: Ending | None = None

    @property
    def time_s(self) -> float:
        """Simulated seconds used so far."""
        return self._clock() - self._start_s

    def call(self, goal: SkillGoal) -> SkillResult:
        """Perform a goal and write it down.

        Raises:
            EpisodeOverError: a limit is reached, or the cell failed.
            BadInputError: a value of the goal is of the wrong kind or no number; it is not performed.
        """
        goal = checked_goal(goal)
        start_s, wall_start = self.read(self._clock), time.monotonic()
        self._check_limits(start_s - self._start_s)
        failure: Exception | None = None
        try:
            result, end_s = self._run(goal), self._clock()
        except Exception as error:
            logger.exception("the cell failed")
            failure, result, end_s = error, SkillResult(Status.INTERNAL_ERROR, _words(error), {}), start_s
        wall_s = time.monotonic() - wall_start
        self.calls.append(CallRecord(len(self.calls), goal, result, start_s, end_s, wall_s))
        if failure is not None:
            raise self._over("cell_error", _words(failure)) from failure
        return result

    def read[T](self, source: Callable[[], T]) -> T:
        """What the cell tells. Raises EpisodeOverError when it does not: that is not the policy's fault."""
        self._check_ended()
        try:
            return source()
        except PerceptionRefusedError:
            raise  # a picture that tells nothing is no failure of the cell: something stands in the way
        except Exception as error:
            logger.exception("the cell failed")
            raise self._over("cell_error", _words(error)) from error

    def noted[T](self, tool: str, arguments: dict[str, Any], work: Callable[[], T]) -> T:
        """Have a tool's answer made, and tell ``on_tool`` of it or of why there is none."""
        start_s, began = self._now(), time.monotonic()
        refused, said = True, ""
        try:
            answer = work()
            refused, said = False, as_text(answer)
        except BaseException as error:
            said = as_text(_words(error))
            raise
        finally:
            wall_s = time.monotonic() - began
            self._note(ToolCall(0, tool, as_text(arguments), said, refused, start_s, self._now(), wall_s))
        return answer

    def _note(self, call: ToolCall) -> None:
        # An agent may ask several things at once; their numbers and their order in the record agree.
        with self._noting:
            try:
                self._on_tool(msgspec.structs.replace(call, index=self.tool_calls))
            except Exception as error:
                logger.exception("a call could not be recorded")
                raise self._over("cell_error", _words(error)) from error
            self.tool_calls += 1

    def _now(self) -> float:
        """The cell's clock; of a cell that is silent, or an episode that is over, what it said last."""
        if self.ending is None:
            try:
                self._last_s = self._clock()
            except Exception:
                logger.debug("the cell's clock is silent", exc_info=True)
        return self._last_s

    def _check_limits(self, time_s: float) -> None:
        if time_s >= self._limit_s:
            raise self._over("stopped", f"the hard limit of {self._limit_s:.0f} simulated seconds is reached")
        if len(self.calls) >= self._max_calls:
            raise self._over("stopped", f"the limit of {self._max_calls} calls is reached")

    def _check_ended(self) -> None:
        if self.ending is not None:
            raise EpisodeOverError(self.ending[1])
        if time.monotonic() - self._wall_start >= self._max_wall_s:
            raise self._over("stopped", f"the limit of {self._max_wall_s:.0f} s on the wall clock is reached")

    def _over(self, outcome: str, message: str) -> EpisodeOverError:
        self.ending = (outcome, message)
        return EpisodeOverError(message)


def checked_goal[G: SkillGoal](goal: G) -> G:
    """The goal as a record will hold it: a program may pass anything, and a record must be readable.

    Raises:
        BadInputError: a value of the wrong kind, or not a finite number.
    """
    where = f"tool {skill_name(goal)}"
    try:
        data = encode(goal)
    except (NotImplementedError, TypeError) as error:
        raise BadInputError(str(error), where=where) from error
    return decode(data, type(goal), where=where)


def _words(error: BaseException) -> str:
    return error.line() if isinstance(error, JarvisError) else f"{type(error).__name__}: {error}"


def _logged[T: EpisodeTools, **P, R](
    method: Callable[Concatenate[T, P], R],
) -> Callable[Concatenate[T, P], R]:
    """A tool whose calls are noted under its own name."""
    names = list(inspect.signature(method).parameters)[1:]

    @wraps(method)
    def call(self: T, /, *args: P.args, **kwargs: P.kwargs) -> R:
        arguments = dict(zip(names, args, strict=False)) | kwargs
        return self._ledger.noted(method.__name__, arguments, lambda: method(self, *args, **kwargs))

    return call


class EpisodeTools:
    """Tools as any agent gets them: no ground truth behind any attribute it could reach by the protocol.

    Every call is noted but ``time_s``, which asks nothing of the cell.

    Arguments of the wrong kind are a program's mistake, not a failed action: they raise BadInputError.

    Args:
        eyes: what ``scene`` shows; None where there is no perception.
        planning: answers what could be done; None where nobody does.
    """

    def __init__(
        self,
        ledger: Ledger,
        brief: TaskBrief,
        observe: Callable[[], Observation],
        eyes: SceneSource | None = None,
        planning: Planning | None = None,
    ) -> None:
        self._ledger = ledger
        self._brief = brief
        self._observe = observe
        self._eyes = eyes
        self._planning = planning

    @property
    def ending(self) -> Ending | None:
        """How the episode ended, if not by the policy."""
        return self._ledger.ending

    @_logged
    def brief(self) -> TaskBrief:
        return self._brief

    def time_s(self) -> float:
        return self._ledger.read(lambda: self._ledger.time_s)

    @_logged
    def observe(self) -> Observation:
        return self._ledger.read(self._observe)

    @_logged
    def scene(self) -> Scene:
        if self._eyes is None:
            raise RefusedError(
                "this cell has no perception", fix="work from the pictures, or ask for another"
            )
        return self._ledger.read(self._eyes.scene)

    @_logged
    def plan_grasp(self, object_id: str, place_pose: Pose | None = None) -> GraspPlan:
        goal = checked_goal(PickGoal(object_id, place_pose))
        planning = self._planner()
        return self._ledger.read(lambda: planning.grasps(goal.object_id, goal.place_pose))

    @_logged
    def reach(self, pose: Pose) -> ReachAnswer:
        goal, planning = checked_goal(MoveToGoal(pose)), self._planner()
        return self._ledger.read(lambda: planning.reach(goal.pose))

    def _planner(self) -> Planning:
        if self._planning is None:
            raise RefusedError("this cell answers no questions about grasps and reach", fix="try the action")
        return self._planning

    @_logged
    def pick(self, object_id: str, place_pose: Pose | None = None) -> SkillResult:
        return self._ledger.call(PickGoal(object_id, place_pose))

    @_logged
    def place(self, pose: Pose) -> SkillResult:
        return self._ledger.call(PlaceGoal(pose))

    @_logged
    def pick_and_place(self, object_id: str, pose: Pose) -> SkillResult:
        return self._ledger.call(PickAndPlaceGoal(object_id, pose))

    @_logged
    def move_to(self, pose: Pose, *, straight: bool = False, speed: float = 1.0) -> SkillResult:
        return self._ledger.call(MoveToGoal(pose, straight, speed))

    @_logged
    def push(self, object_id: str, offset_m: tuple[float, float]) -> SkillResult:
        return self._ledger.call(PushGoal(object_id, offset_m))

    @_logged
    def home(self) -> SkillResult:
        return self._ledger.call(HomeGoal())

    @_logged
    def grip(self, width_m: float) -> SkillResult:
        return self._ledger.call(GripGoal(width_m))

    @_logged
    def remove(self, object_id: str) -> SkillResult:
        return self._ledger.call(RemoveGoal(object_id))

    @_logged
    def press(self, object_id: str) -> SkillResult:
        return self._ledger.call(PressGoal(object_id))


class OracleTools(EpisodeTools):
    """Tools of a declared oracle."""

    def __init__(
        self,
        ledger: Ledger,
        brief: TaskBrief,
        observe: Callable[[], Observation],
        true_scene: Callable[[], Scene],
        targets: tuple[TargetObject, ...],
        planning: Planning | None = None,
    ) -> None:
        super().__init__(ledger, brief, observe, planning=planning)
        self._true_scene = true_scene
        self._targets = targets

    @_logged
    def true_scene(self) -> Scene:
        return self._ledger.read(self._true_scene)

    @_logged
    def scene(self) -> Scene:
        return self._ledger.read(self._true_scene)

    @_logged
    def targets(self) -> tuple[TargetObject, ...]:
        return self._targets


def run_policy(policy: Policy, tools: EpisodeTools) -> Ending:
    """Run a policy to its end; returns the record's outcome and a sentence. A crash is an outcome, not a loss."""
    try:
        policy.run(tools)
        ending = ("finished", "the policy ended")
    except EpisodeOverError as over:
        ending = ("stopped", str(over))
    except (Exception, SystemExit) as error:
        if tools.ending is None:
            logger.exception("policy %s crashed", policy.name)
        ending = ("crashed", f"{type(error).__name__}: {error}")
    # However a policy took it: an episode that was over before the policy ended was not ended by it.
    return tools.ending or ending
