"""``jarvis plan``: the true plan is perfect; what is missing or wrong is told and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    model = read_model("house", None)
    for steps in ((1, 1), (2, 3)):
        write_task(one_task(model, *steps), model, tmp_path / "tasks")
    return tmp_path / "tasks"


def test_the_truth_scores_full_and_a_missing_plan_counts(
    tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", "truth", str(tasks / "house-s01-s01")]) == 0
    plan = tmp_path / "plan.json"
    plan.write_text(capsys.readouterr().out)
    assert (
        main(["plan", "score", str(plan), "--tasks", str(tasks / "house-s01-s01"), "--format", "json"]) == 0
    )
    (score,) = json.loads(capsys.readouterr().out)
    assert (score["coverage"], score["exact_share"], score["extra"]) == (1.0, 1.0, 0)
    rows = tmp_path / "rows.jsonl"
    assert main(["plan", "score", str(plan), "--tasks", str(tasks), "--expect", "--rows", str(rows)]) == 0
    said = capsys.readouterr()
    assert "1 plans are missing" in said.err
    assert "50.00 [0.00, 100.00] (2)" in said.out
    assert main(["tables", str(rows)]) == 0
    assert "50.00 [0.00, 100.00] (2)" in capsys.readouterr().out


def test_plans_that_can_not_be_used_are_one_line_each(
    tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, broken = tmp_path / "other.json", tmp_path / "broken.json"
    other.write_text('{"task": "moon", "agent": "a", "steps": []}')
    broken.write_text("{")
    assert main(["plan", "score", str(other), str(broken), "--tasks", str(tasks)]) == 2
    error = capsys.readouterr().err
    assert "is a plan of 'moon'" in error
    assert error.count("\n") == 2


def test_the_schema_names_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert {"part", "colour", "x_studs", "level_plates"} <= set(schema["$defs"]["PlanStep"]["properties"])
