"""Programs that are looked after: continued, revised, corrected, ended."""

from __future__ import annotations

import base64
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_bench import best_isolation, config, fake_tools
from jarvis_agent.program import Program, ProgramCrashedError
from jarvis_agent.report import AgentReport
from jarvis_agent.steps import Candidates, Continue, Decision, Director, Feedback, LineDirector, StepPolicy
from jarvis_agent.toolbox import Layer
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_json
from jarvis_episode.tools import EpisodeOverError

POSE = "[0.5, 0.1, 0.02, 0, 0, 0, 1]"


def run(director: Director, folder: Path, tools: Any = None) -> AgentReport:
    policy = StepPolicy("steps", director, Layer.PRIMITIVES, best_isolation())
    policy.keep_in(folder)
    policy.run(fake_tools() if tools is None else tools)
    return read_json(folder / "report.json", AgentReport)


def notes(folder: Path, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (folder / "transcript.jsonl").read_text().splitlines()]
    return [line for line in lines if line.get("note") == kind]


def test_candidates_take_over_from_each_other(tmp_path: Path) -> None:
    candidates = [
        Program("wrong", f"pick_and_place('nobody', {POSE})\nraise SystemError('not reached')"),
        Program("refused", "import os"),
        Program("half", f"pick_and_place('red', {POSE})\nraise ValueError('lost')"),
        Program("rest", f"pick_and_place('blue', {POSE})\nhome()"),
    ]
    told = run(Candidates(candidates), tmp_path)
    assert [end.reason for end in told.programs] == ["stopped", "refused", "crashed", "finished"]
    assert told.programs[2].message == "line 2: ValueError: lost"
    decisions = [line["decision"] for line in notes(tmp_path, "decision")]
    assert decisions == ["revise", "revise", "continue", "revise", "continue", "continue"]
    assert told.usage.rounds == 1 + len(decisions)


def test_the_last_candidate_s_crash_is_the_episode_s(tmp_path: Path) -> None:
    with pytest.raises(ProgramCrashedError, match="line 1: ZeroDivisionError"):
        run(Candidates([Program("only", "1 / 0")]), tmp_path)
    assert read_json(tmp_path / "report.json", AgentReport).programs[0].reason == "crashed"


def test_decisions_by_lines_of_json(tmp_path: Path) -> None:
    lines = [
        {"program": f"pick_and_place('red', {POSE})\nhome()"},
        {"decision": "correct", "program": f"pick_and_place('blue', {POSE})"},
        {"decision": "end", "message": "looks right"},
    ]
    said = io.StringIO()
    tools = fake_tools()
    director = LineDirector(io.StringIO("".join(json.dumps(line) + "\n" for line in lines)), said)
    told = run(director, tmp_path, tools)
    assert told.message == "looks right"
    assert [call.args[0] for call in tools.pick_and_place.mock_calls] == ["red", "blue"]
    assert len(tools.home.mock_calls) == 1
    feedback = [json.loads(line) for line in said.getvalue().splitlines()]
    assert [f["call"] for f in feedback] == ["pick_and_place", ""]
    assert feedback[0]["answer"]["ok"]
    assert base64.b64decode(feedback[0]["look"]["image"]["png_base64"]).startswith(b"\x89PNG")
    assert feedback[1]["end"]["reason"] == "finished"


def test_the_end_of_the_lines_is_the_end(tmp_path: Path) -> None:
    line = json.dumps({"program": f"pick_and_place('red', {POSE})\nhome()"})
    told = run(LineDirector(io.StringIO(line), io.StringIO()), tmp_path)
    assert told.message == "no more decisions"
    assert told.programs[0].reason == "stopped"


@pytest.mark.parametrize("line", ["", "no JSON", '{"decision": "continue"}', '{"program": 3}'])
def test_a_first_line_that_is_no_program(line: str, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="the first line is not"):
        run(LineDirector(io.StringIO(line), io.StringIO()), tmp_path)


def test_a_line_that_is_no_decision(tmp_path: Path) -> None:
    lines = json.dumps({"program": f"pick_and_place('red', {POSE})"}) + "\n{}\n"
    with pytest.raises(BadInputError, match="not a decision"):
        run(LineDirector(io.StringIO(lines), io.StringIO()), tmp_path)


def test_rounds_are_limited(tmp_path: Path) -> None:
    class Patient:
        def first(self) -> Program:
            return Program("long", f"while True: pick_and_place('red', {POSE})")

        def decide(self, feedback: Feedback) -> Decision:
            assert feedback.round < config().max_rounds
            return Continue()

    with pytest.raises(EpisodeOverError, match="the limit of 60 rounds"):
        run(Patient(), tmp_path)
