"""What skills were asked for, went through and came to, and what the agent asked: all of it is in the bag."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from jarvis_core.episode import ToolCall
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import decode
from jarvis_core.manual import Manual, TaskBrief
from jarvis_core.objects import Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import HomeGoal, SkillGoal, SkillResult
from jarvis_core.status import Status
from jarvis_episode.recording.bag import AGENT_CALLS, SKILL_CALLS, SKILL_FEEDBACK, SKILL_GOALS
from jarvis_episode.recording.replay import decoded
from jarvis_episode.recording.storage import Storage
from jarvis_episode.runner import EpisodeResult
from jarvis_episode.tool_calls import as_text
from jarvis_episode.tools import EpisodeOverError, Ledger, OracleTools, run_policy


def messages(bag: Path, topic: str) -> list[Any]:
    found = [decoded(raw) for raw in Storage.open(bag).messages((topic,))]
    assert [m.sequence for m in found] == list(range(len(found)))
    return found


def test_goals_feedback_and_results_are_in_the_bag(built: EpisodeResult) -> None:
    bag, record = built.folder / "bag", built.record
    goals, calls = messages(bag, SKILL_GOALS), messages(bag, SKILL_CALLS)
    read: list[SkillGoal] = [decode(g.goal.encode(), SkillGoal, where="bag") for g in goals]  # type: ignore[arg-type]
    assert read == [call.goal for call in record.calls]
    for number, (message, call) in enumerate(zip(calls, record.calls, strict=True)):
        assert (message.call, message.goal) == (number, goals[number].goal)
        assert (message.start_s, message.end_s) == (call.start_s, call.end_s)
        assert json.loads(message.result.facts) == call.result.facts
        assert message.result.status.value == call.result.status
    phases: dict[int, list[str]] = {number: [] for number in range(len(calls))}
    for message in messages(bag, SKILL_FEEDBACK):
        phases[message.call].append(message.phase)
        stamp = message.header.stamp
        at_s = stamp.sec + stamp.nanosec * 1e-9
        assert calls[message.call].start_s - 1e-6 <= at_s <= calls[message.call].end_s + 1e-6
    for number in (0, 1):
        assert len(set(phases[number])) > 3


def test_the_agents_calls_are_in_the_bag(built: EpisodeResult) -> None:
    """Also those that move nothing, and each once."""
    calls = messages(built.folder / "bag", AGENT_CALLS)
    assert [c.tool for c in calls] == ["targets", "pick_and_place", "pick_and_place", "home"]
    targets = json.loads(calls[0].answer)
    assert [t["object"]["id"] for t in targets] == [t.object.id for t in built.record.targets]
    assert json.loads(calls[1].arguments)["object_id"] == built.record.targets[0].object.id
    assert json.loads(calls[1].answer)["message"] == built.record.calls[0].result.message
    assert not any(c.refused for c in calls)


class Told:
    """A ledger's tools whose calls are kept; ``observe`` fails as it is told."""

    def __init__(self, on_tool: Callable[[ToolCall], None] | None = None) -> None:
        self.calls: list[ToolCall] = []
        self.ledger = Ledger(
            lambda goal: SkillResult(Status.SUCCEEDED, "done", {}),
            lambda: 7.0,
            limit_s=100.0,
            max_calls=2,
            on_tool=on_tool or self.calls.append,
        )
        brief = TaskBrief("task", Manual((), (), ""), 1, 10.0)
        scene = Scene(7.0, "true", ())
        self.tools = OracleTools(self.ledger, brief, self.observe, lambda: scene, ())

    def observe(self) -> Any:
        raise RuntimeError("no picture")


def test_what_was_refused_is_noted_with_the_reason() -> None:
    told = Told()
    with pytest.raises(BadInputError):
        told.tools.push("b", "far")  # type: ignore[arg-type]
    with pytest.raises(RefusedError):
        told.tools.reach(Pose())
    told.tools.scene()
    told.tools.home()
    told.tools.move_to(Pose(), speed=0.5)
    told.tools.time_s()
    with pytest.raises(EpisodeOverError):
        told.tools.grip(0.02)
    noted = [(c.tool, c.refused) for c in told.calls]
    assert noted == [
        ("push", True),
        ("reach", True),
        ("scene", False),
        ("home", False),
        ("move_to", False),
        ("grip", True),
    ]
    assert [c.index for c in told.calls] == list(range(6))
    assert json.loads(told.calls[0].arguments) == {"object_id": "b", "offset_m": "far"}
    assert "tool push" in told.calls[0].answer
    assert json.loads(told.calls[4].arguments)["speed"] == 0.5
    assert "limit of 2 calls" in told.calls[5].answer
    assert told.ledger.tool_calls == 6


def test_a_recorder_that_fails_is_the_cells_fault() -> None:
    def breaks(call: ToolCall) -> None:
        raise ValueError("a bug of the recorder")

    class Policy:
        name, privileged = "one", False

        def run(self, tools: Any) -> None:
            tools.home()

    told = Told(breaks)
    assert run_policy(Policy(), told.tools) == ("cell_error", "ValueError: a bug of the recorder")
    assert [call.goal for call in told.ledger.calls] == [HomeGoal()]


def test_whatever_a_program_passes_becomes_one_line() -> None:
    around: list[Any] = []
    around.append(around)
    for value, text in (
        ({"a": object(), "b": 1}, '{"a":"<object>","b":"<int>"}'),
        ({"a": around}, '{"a":"<list>"}'),
        (object(), '"<object>"'),
        ({"a": float("nan"), "b": np.zeros(2)}, '{"a":null,"b":[0.0,0.0]}'),
        ({"a": "two\nlines"}, '{"a":"two\\nlines"}'),
        ({"a": "\ud800"}, '{"a":"<str>"}'),
    ):
        assert as_text(value) == text
