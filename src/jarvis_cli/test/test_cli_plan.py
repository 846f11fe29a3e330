"""``jarvis plan``: the true plan is perfect; what is missing or wrong is told and counted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jarvis_agent.manual_reader.plan import ReadBrick, ReadPlace, ReadPlan, ReadStep
from jarvis_agent.manual_reader.planfile import write_plan_file
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_cli.__main__ import main
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task
from jarvis_tasks.store import load_task


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Only read by the tests."""
    folder = tmp_path_factory.mktemp("plans")
    model = read_model("house", None)
    for steps in ((1, 1), (2, 3)):
        write_task(one_task(model, *steps), model, folder / "tasks")
    return folder / "tasks"


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


def test_what_the_manual_reader_writes_is_such_a_plan(
    tasks: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Targets read without a fault: its file of them is exact in every brick."""
    folder = tasks / "house-s02-s03"
    task = load_task(folder)
    bricks = [(b.step, ReadBrick(ReadPlace(b.part, b.colour, b.pose, 1.0), 1.0)) for b in task.targets]
    numbers = sorted({step for step, _ in bricks})
    steps = tuple(ReadStep(n, tuple(b for step, b in bricks if step == n), 1.0, True) for n in numbers)
    file = tmp_path / "plan.json"
    write_plan_file(ReadPlan(task.id, steps), PartCatalogue(None, cache=None), "manual_reader", file)
    assert main(["plan", "score", str(file), "--tasks", str(folder), "--format", "json"]) == 0
    (score,) = json.loads(capsys.readouterr().out)
    assert (score["agent"], score["coverage"], score["exact_share"]) == ("manual_reader", 1.0, 1.0)
    assert score["extra"] == 0


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
