"""``jarvis bench`` over a real suite: played, taken up again, reported, compared."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jarvis_bench.suite_run.attempts import read_attempts
from jarvis_cli.__main__ import main
from jarvis_cli.bench_report import run_rows
from jarvis_episode.recording.folder import finished

TASK = "duck-s02-s02"


def bench(run: Path, *more: str, agent: str = "noop") -> int:
    options = ["--suite", "open-50", "--agent", agent, "--task", TASK, "--out", str(run), *more]
    return main(["bench", "run", *options])


def test_a_run_from_suite_to_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "run"
    assert bench(run) == 0
    (episode,) = finished(run / "episodes")
    assert episode.name == f"{TASK}-noop-0"
    _, (row,) = run_rows(run)
    assert (row.stratum, row.style, row.n_scene, row.n_act, row.score) == ("Easy", "classic", 1, 1, 0.0)
    assert row.complete
    assert f"episodes/{episode.name}/report.html" in (run / "index.html").read_text()
    # The same command again plays nothing.
    capsys.readouterr()
    assert bench(run) == 0
    assert "goes on: 1 of 1 episodes are there" in capsys.readouterr().out
    assert len(read_attempts(run)[0]) == 1
    # Against itself nothing changed.
    assert main(["bench", "compare", str(run), str(run), "--format", "json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert compared[0]["rows"] == [["noop", "noop", {"mean": 0.0, "low": 0.0, "high": 0.0, "n": 1}, 0, 1, 0]]
    assert compared[1]["rows"] == []


@pytest.mark.parametrize(
    ("more", "agent", "message"),
    [
        ((), "nobody", "nobody"),
        (("--style", "cubist"), "noop", "cubist"),
        (("--seeds", "3-1"), "noop", "are no seeds"),
    ],
)
def test_mistakes_are_told_before_anything_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], agent: str, message: str
) -> None:
    assert bench(tmp_path / "run", *more, agent=agent) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "run").exists()
