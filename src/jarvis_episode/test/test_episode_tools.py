"""The ledger and the tools by themselves, with a cell made of two functions."""

from __future__ import annotations

import math
import time
from itertools import chain
from typing import Any
from unittest.mock import Mock, create_autospec

import numpy as np
import pytest
from episode_bench import Scripted, manual
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import decode, encode
from jarvis_core.manual import TaskBrief
from jarvis_core.objects import Scene
from jarvis_core.ports import PrivilegedTools, Tools
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
from jarvis_core.status import Status
from jarvis_episode.tools import EpisodeOverError, EpisodeTools, Ledger, OracleTools, checked_goal, run_policy

DONE = SkillResult(Status.SUCCEEDED, "done", {})
POSE = Pose((0.5, 0.1, 0.02), (0.1, 0.2, 0.3, 0.9))
BRIEF = TaskBrief("task", manual(), 2, 150.0)


class Cell:
    """Each call takes two seconds of its clock."""

    def __init__(self, *, limit_s: float = 100.0, max_calls: int = 10) -> None:
        self.now_s = 5.0
        self.goals: list[SkillGoal] = []
        self.observe = Mock(return_value="an observation")
        self.ledger = Ledger(self.run, lambda: self.now_s, limit_s=limit_s, max_calls=max_calls)
        self.tools = EpisodeTools(self.ledger, BRIEF, self.observe)

    def run(self, goal: SkillGoal) -> SkillResult:
        self.goals.append(goal)
        self.now_s += 2.0
        return DONE


def test_tools_become_goals() -> None:
    cell = Cell()
    tools = cell.tools
    assert tools.brief() is BRIEF
    assert tools.observe() == "an observation"
    assert tools.pick("a") == DONE
    tools.pick("a", POSE)
    tools.place(POSE)
    tools.pick_and_place("a", POSE)
    tools.move_to(POSE, straight=True, speed=0.5)
    tools.push("a", (0.01, -0.02))
    tools.home()
    assert cell.goals == [
        PickGoal("a"),
        PickGoal("a", POSE),
        PlaceGoal(POSE),
        PickAndPlaceGoal("a", POSE),
        MoveToGoal(POSE, True, 0.5),
        PushGoal("a", (0.01, -0.02)),
        HomeGoal(),
    ]
    calls = cell.ledger.calls
    assert [c.goal for c in calls] == cell.goals
    assert [c.index for c in calls] == list(range(7))
    assert [(c.start_s, c.end_s) for c in calls[:2]] == [(5.0, 7.0), (7.0, 9.0)]
    assert cell.ledger.time_s == 14.0


def test_both_kinds_of_tools_fulfil_the_ports() -> None:
    cell = Cell()
    truth = create_autospec(Scene, instance=True)
    oracle = OracleTools(cell.ledger, BRIEF, cell.observe, lambda: truth, ())
    assert isinstance(cell.tools, Tools)
    assert not isinstance(cell.tools, PrivilegedTools)
    assert isinstance(oracle, PrivilegedTools)
    assert oracle.true_scene() is truth
    assert oracle.targets() == ()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda t: t.pick(5),
            "tool pick: not a valid PickGoal (Expected `str`, got `int` - at `$.object_id`)",
        ),
        (lambda t: t.pick("a", "over there"), "tool pick"),
        (lambda t: t.place([0.5, 0.1, 0.02]), "a pose takes 7 numbers"),
        (lambda t: t.place(None), "tool place"),
        (lambda t: t.place(object()), "object has no JSON form"),
        (lambda t: t.pick_and_place("a", None), "tool pick_and_place"),
        (lambda t: t.move_to(POSE, speed=math.nan), "tool move_to"),
        (lambda t: t.move_to(POSE, speed=math.inf), "tool move_to"),
        (lambda t: t.move_to(POSE, speed="fast"), "tool move_to"),
        (lambda t: t.push("a", (math.nan, 0.0)), "tool push"),
        (lambda t: t.push("a", (0.01, 0.0, 0.0)), "tool push"),
        (lambda t: t.push("a", 0.01), "tool push"),
    ],
)
def test_arguments_that_no_record_could_hold_are_the_programs_mistake(call: Any, words: str) -> None:
    cell = Cell()
    with pytest.raises(BadInputError) as refused:
        call(cell.tools)
    assert words in refused.value.line()
    assert cell.goals == []
    assert cell.ledger.calls == []
    assert cell.tools.home() == DONE


def test_numpy_arguments_and_whole_numbers_are_taken() -> None:
    cell = Cell()
    cell.tools.push("a", np.array([0.01, 0.02]))  # type: ignore[arg-type]
    cell.tools.push("a", (np.float32(0.5), 0))  # type: ignore[arg-type]
    cell.tools.move_to(POSE, speed=1)
    cell.tools.place([*POSE.to_list()])  # type: ignore[arg-type]
    assert cell.goals == [
        PushGoal("a", (0.01, 0.02)),
        PushGoal("a", (0.5, 0.0)),
        MoveToGoal(POSE),
        PlaceGoal(POSE),
    ]
    for call in cell.ledger.calls:
        assert decode(encode(call), type(call), where="") == call


def test_a_checked_goal_is_the_same_bit_for_bit() -> None:
    goal = PickGoal("a", Pose((0.1 + 0.2, 1 / 3, 1e-17), (0.1, 0.2, 0.3, 0.9)))
    assert checked_goal(goal) == goal


def test_the_limit_of_calls() -> None:
    cell = Cell(max_calls=2)
    cell.tools.home()
    cell.tools.home()
    with pytest.raises(EpisodeOverError, match="2 calls"):
        cell.tools.home()
    assert len(cell.goals) == 2
    # It is over for good, also for looking.
    with pytest.raises(EpisodeOverError, match="2 calls"):
        cell.tools.observe()


def test_the_hard_limit_of_time() -> None:
    cell = Cell(limit_s=3.0)
    cell.tools.home()
    cell.tools.home()
    with pytest.raises(EpisodeOverError, match="3 simulated seconds"):
        cell.tools.home()
    assert len(cell.goals) == 2


def test_the_limit_of_the_wall_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking costs no simulated time: a policy may do it for ever."""
    cell = Cell()
    now = [time.monotonic()]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    ledger = Ledger(cell.run, lambda: cell.now_s, limit_s=100.0, max_calls=10, max_wall_s=60.0)
    tools = EpisodeTools(ledger, BRIEF, cell.observe)
    tools.observe()
    now[0] += 59.0
    tools.home()
    now[0] += 1.5
    with pytest.raises(EpisodeOverError, match="60 s on the wall clock"):
        tools.observe()
    with pytest.raises(EpisodeOverError, match="60 s on the wall clock"):
        tools.home()
    assert ledger.ending == ("stopped", "the limit of 60 s on the wall clock is reached")


def test_a_clock_that_stops_is_not_the_policys_fault() -> None:
    cell = Cell()
    silence = (TimeoutError(text) for text in ("nothing on /joint_states", *("still nothing",) * 5))
    clock = Mock(side_effect=chain([5.0] * 3, silence))
    ledger = Ledger(cell.run, clock, limit_s=100.0, max_calls=10)
    tools = EpisodeTools(ledger, BRIEF, cell.observe)
    assert run_policy(Scripted(swallows_all), tools) == (
        "cell_error",
        "TimeoutError: nothing on /joint_states",
    )
    (call,) = ledger.calls
    assert (call.start_s, call.end_s) == (5.0, 5.0)


def raises(error: BaseException) -> Any:
    def act(tools: Tools) -> None:
        raise error

    return act


def swallows_all(tools: Tools) -> None:
    for _ in range(20):
        try:
            tools.home()
        except BaseException:  # noqa: BLE001, S112
            continue


def crashes_after_the_end(tools: Tools) -> None:
    swallows_all(tools)
    raise RuntimeError("surprised")


@pytest.mark.parametrize(
    ("act", "ending"),
    [
        (lambda tools: tools.home(), ("finished", "the policy ended")),
        (raises(RuntimeError("bad plan")), ("crashed", "RuntimeError: bad plan")),
        (raises(SystemExit("enough")), ("crashed", "SystemExit: enough")),
        (raises(RefusedError("no")), ("crashed", "RefusedError: no")),
        (swallows_all, ("stopped", "the limit of 10 calls is reached")),
        (crashes_after_the_end, ("stopped", "the limit of 10 calls is reached")),
    ],
)
def test_how_an_episode_ends(act: Any, ending: tuple[str, str]) -> None:
    assert run_policy(Scripted(act), Cell().tools) == ending


def test_an_interrupt_is_nobodys_outcome() -> None:
    with pytest.raises(KeyboardInterrupt):
        run_policy(Scripted(raises(KeyboardInterrupt())), Cell().tools)


def test_a_cell_that_raises_is_not_the_policys_fault() -> None:
    cell = Cell()
    cell.observe.side_effect = TimeoutError("no picture within 10 s")
    assert run_policy(Scripted(lambda tools: tools.observe()), cell.tools) == (
        "cell_error",
        "TimeoutError: no picture within 10 s",
    )


def test_a_call_that_broke_the_cell_is_written_down() -> None:
    cell = Cell()

    def breaks(goal: SkillGoal) -> SkillResult:
        raise RefusedError("the simulation became unstable", fix="reset")

    cell.ledger = Ledger(breaks, lambda: cell.now_s, limit_s=10.0, max_calls=10)
    ending = run_policy(Scripted(swallows_all), EpisodeTools(cell.ledger, BRIEF, cell.observe))
    assert ending == ("cell_error", "the simulation became unstable - reset")
    (call,) = cell.ledger.calls
    assert call.result.status is Status.INTERNAL_ERROR
    assert call.goal == HomeGoal()


def test_an_ending_is_one_line() -> None:
    """Fit for a table."""
    ending = run_policy(Scripted(raises(RefusedError("two\nlines", where="x"))), Cell().tools)
    assert "\n" not in ending[1]
