"""``jarvis score``: what it prints, what it writes, how it ends."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task
from jarvis_core.cell import CellConfig
from jarvis_core.config import config_folder, load_default
from jarvis_core.episode import EpisodeRecord, PolicyInfo
from jarvis_core.files import encode, write_json
from jarvis_core.objects import GROUND, Box, ObjectState, RigidObject, TargetObject, WorldState
from jarvis_core.pose import Pose
from jarvis_episode.recording.bag import BagWriter
from jarvis_scoring.evidence import Evidence
from jarvis_scoring.inputs import read_record

SHAPE = (Box(Pose((0, 0, -0.0048)), (0.016, 0.016, 0.0096)),)
PLACE, START = Pose((0.5, 0.1, 0.0128)), Pose((0.4, -0.2, 0.0096))


def record(root: Path, episode_id: str, *, end: Pose = PLACE, outcome: str = "finished") -> Path:
    """An episode of one brick."""
    cell = load_default("cell", CellConfig)
    found = EpisodeRecord(
        episode_id=episode_id,
        task_id="one",
        task_hash="0",
        seed=0,
        policy=PolicyInfo("oracle", True, False),
        transport="in-process",
        scene_source="true",
        outcome=outcome,
        outcome_message="the cell broke" if outcome == "cell_error" else "done",
        started_at="",
        wall_s=1.0,
        time_s=20.0,
        budget_s=105.0,
        initial=WorldState(0.0, (ObjectState("b1", START),), ()),
        final=WorldState(20.0, (ObjectState("b1", end),), (("b1", GROUND),)),
        objects=(RigidObject("b1", "3003", 4, START, SHAPE),),
        targets=(
            TargetObject(RigidObject("b1", "3003", 4, PLACE, SHAPE), GROUND, (GROUND,), ((0, 0, 0, 1),), 1),
        ),
        calls=(),
        events=(),
        config={"cell": {"table": {"x": list(cell.table.x), "y": list(cell.table.y)}}},
        versions={},
    )
    write_json(root / episode_id / "record.json", found)
    return root / episode_id


def test_one_episode_in_full(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", str(record(tmp_path, "one-oracle-0"))]) == 0
    output = capsys.readouterr().out
    assert "brick-score-1  100.00 of 100" in output
    assert "not comparable with published results" in output


def test_a_folder_names_what_counts_zero_and_what_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(tmp_path, "one-oracle-0")
    record(tmp_path, "one-oracle-1", end=START)
    record(tmp_path, "one-oracle-2", outcome="cell_error")
    (tmp_path / "one-oracle-3").mkdir()
    (tmp_path / "one-oracle-3" / "record.json").write_text("{")
    assert main(["score", str(tmp_path), "--out", str(tmp_path / "scores.json")]) == 2
    said = capsys.readouterr()
    assert "3 episodes, mean 33.33; 1 incomplete (counted 0), 1 could not be used" in said.out
    assert "INCOMPLETE (counts 0): the cell broke" in said.out
    assert said.err.count("\n") == 1
    assert "one-oracle-3" in said.err
    rows = json.loads((tmp_path / "scores.json").read_text())
    assert [row["status"] for row in rows] == ["complete", "complete", "incomplete", "unusable"]
    assert [row.get("counted") for row in rows] == [100.0, 0.0, 0.0, None]
    assert rows[0]["constants"]["max_time_penalty"] == 0.2


def test_exit_status_of_an_incomplete_one(tmp_path: Path) -> None:
    assert main(["score", str(record(tmp_path, "one-oracle-2", outcome="cell_error"))]) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["absent"], "absent: no such file or folder"),
        (["empty"], "holds neither an episode nor a bag"),
        ([], "nothing to score"),
        (["one-oracle-0", "--protocol", "nobody"], "use one of brick-score-1, brick-score-1-world"),
    ],
)
def test_mistakes_are_one_line_and_status_2(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    said: str,
) -> None:
    record(tmp_path, "one-oracle-0")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path)
    assert main(["score", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_recordings_of_another_task_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = read_model("bridge", None)
    task = write_task(one_task(model, 1, 1), model, tmp_path / "tasks")
    episode = record(tmp_path / "results", "one-oracle-0")
    assert main(["score", str(episode), "--task", str(task)]) == 2
    error = capsys.readouterr().err
    assert f"{episode}: was recorded on a task with hash 0, {task} has" in error
    # A task that was put beside the record afterwards is no better.
    shutil.copy(task / "task.json", episode)
    assert main(["score", str(episode)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_an_episode_whose_clock_went_back_is_one_line_and_counts_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = read_record(record(tmp_path / "results", "one-oracle-0") / "record.json")
    evidence = Evidence.of_record(found)
    for name in ("a", "b"):
        with BagWriter(tmp_path / name) as bag:
            bag.write_episode(0.0, encode(evidence.opening()).decode())
            for time_s in (0.0, 0.5, 0.4):
                bag.write_world_state(WorldState(time_s, found.initial.objects, ()))
    assert main(["score", str(tmp_path / "a")]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert "the clock went back from 0.500 s to 0.400 s" in said.err
    assert main(["tables", str(tmp_path / "a"), str(tmp_path / "b")]) == 2
    assert "0.00 [0.00, 0.00] (1)" in capsys.readouterr().out


def test_protocols_show_every_constant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["score", "--protocols"]) == 0
    output = capsys.readouterr().out
    for word in ("brick-score-1-world", "weight of anchor", "sigma_theta_deg", "max_time_penalty"):
        assert word in output


def test_tables_of_a_folder_count_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = tmp_path / "results"
    record(results, "one-oracle-0")
    (results / "one-oracle-1").mkdir()
    (results / "one-oracle-1" / "record.json").write_text("{")
    (tmp_path / "expected.txt").write_text("one-oracle-0\none-oracle-1\none-oracle-2\n")
    write_json(results / "one-oracle-0" / "labels.json", {"style": "sketch"})
    out = tmp_path / "out"
    arguments = ["--expected", str(tmp_path / "expected.txt"), "--out", str(out), "--strips"]
    assert main(["tables", str(results), *arguments]) == 2
    said = capsys.readouterr()
    assert "one-oracle-1" in said.err
    assert "1 expected episodes left no result" in said.err
    text = (out / "tables.txt").read_text()
    assert "33.33 [0.00, 100.00] (3)" in text
    assert "2 of 3 episodes count 0" in text
    assert "sketch" in text
    assert {p.name for p in out.iterdir()} == {"tables.txt", "rows.jsonl", "results.png", "strips"}
    assert [p.name for p in (out / "strips").iterdir()] == ["one-oracle-0.png"]
    # The rows alone give the same tables again.
    assert main(["tables", str(out / "rows.jsonl")]) == 0
    assert capsys.readouterr().out == text


def test_a_stage_named_by_hand_counts_instead_of_the_rule(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = record(tmp_path, "one-oracle-0", end=START)
    assert main(["label", str(tmp_path)]) == 0
    assert "1 episodes labelled, 0 not" in capsys.readouterr().out
    labels = json.loads((folder / "labels.auto.json").read_text())
    assert labels == {"origin": "auto", "mode": "none", "failures": {"b1": "not attempted"}}
    assert main(["tables", str(tmp_path)]) == 0
    assert "0 of 1 were named by hand" in capsys.readouterr().out
    write_json(folder / "labels.json", {"failures": {"b1": "grounding"}})
    assert main(["tables", str(tmp_path), "--format", "json"]) == 0
    tables = {t["name"]: t for t in json.loads(capsys.readouterr().out)}
    stages = dict(zip(tables["table7-stages"]["columns"], tables["table7-stages"]["rows"][0], strict=True))
    assert (stages["grounding"], stages["not attempted"]) == (1, 0)
    assert "1 of 1 were named by hand" in tables["table7-stages"]["notes"][0]
    write_json(folder / "labels.json", {"failures": {"b7": "grounding"}})
    assert main(["tables", str(tmp_path)]) == 2
    assert "b7 did not fail" in capsys.readouterr().err


def test_constants_of_tables_may_be_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record(tmp_path / "results", "one-oracle-0")
    mine = tmp_path / "mine.yaml"
    mine.write_text((config_folder() / "tables.yaml").read_text().replace("[[1, 2], [3, 5],", "[[1, 5],"))
    assert main(["tables", str(tmp_path / "results"), "--config", str(mine)]) == 0
    assert "\n  1-5 " in capsys.readouterr().out
    mine.write_text("resamples: 3\n")
    assert main(["tables", str(tmp_path / "results"), "--config", str(mine)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
