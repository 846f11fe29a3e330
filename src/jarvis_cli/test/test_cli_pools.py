"""From models to a dataset, its figures, a suite and task folders, by the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_tasks.store import load_manual, load_task, task_hash
from jarvis_tasks.suite import load_suite

MODELS = ("bridge", "duck", "house")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("pools") / "dataset"
    assert main(["tasks", "build", *MODELS, "--jobs", "1", "--out", str(out)]) == 0
    return out


@pytest.fixture(scope="module")
def suite(dataset: Path) -> Path:
    out = dataset.parent / "suite"
    arguments = ["--split", "all", "--counts", "2,2,2", "--name", "toys", "--out", str(out)]
    assert main(["tasks", "select", str(dataset), *arguments]) == 0
    return out


def test_figures_as_table_csv_json_and_picture(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tasks", "stats", str(dataset), "--plot", str(tmp_path / "pool.png")]) == 0
    out = capsys.readouterr().out
    assert "published validation" in out
    assert "other tasks" in out
    assert (tmp_path / "pool.png").stat().st_size > 10_000
    assert main(["tasks", "stats", str(dataset), "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["ours"]["tasks"] == sum(map(sum, told["ours"]["joint"])) > 100
    assert told["published"]["sets"][1]["models"] == 48
    file = tmp_path / "pool.csv"
    assert main(["tasks", "stats", str(dataset), "--format", "csv", "--out", str(file)]) == 0
    lines = list(csv.DictReader(file.open(encoding="utf-8")))
    assert lines[0]["ours"] == f"{told['ours']['tasks']:,}"


def test_a_suite_is_chosen_shown_and_written_out(
    suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    loaded = load_suite(str(suite))
    name = next(iter(loaded.tasks))
    capsys.readouterr()
    assert main(["tasks", "suite", str(suite)]) == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("toys", "Easy", "Medium", "Hard", "difficulty 0.3 x scene"))
    assert main(["tasks", "suite", str(suite), "--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(loaded.tasks)
    arguments = ["--export", str(tmp_path), "--task", name, "--style", "faded"]
    assert main(["tasks", "suite", str(suite), *arguments]) == 0
    assert task_hash(load_task(tmp_path / name)) == task_hash(loaded.task(name))
    assert load_manual(tmp_path / name).pages


def test_the_page_of_a_suites_task(suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = list(load_suite(str(suite)).tasks)[-1]
    page = tmp_path / "page.html"
    assert main(["tasks", "show", f"{suite}:{name}", "--page", str(page)]) == 0
    out = capsys.readouterr().out
    assert f"page: {page}" in out
    assert "Hard in toys: difficulty" in out
    assert name in page.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("select {dataset} --split all --counts 99,9,9 --name x --out {new}", "stratum Easy holds 67"),
        ("select {dataset} --name x --out {new}", "split test holds no tasks"),
        (
            "select {dataset} --split all --counts 1,2 --name x --out {new}",
            "is not a number for each of Easy",
        ),
        ("select {dataset} --split all --counts 1,1,1 --name x --out {suite}", "exists already"),
        ("select {dataset} --split all --like mine --name x --out {new}", "no published set 'mine'"),
        ("select {dataset} --split all --counts 1,1,1 --models duck --name x --out {new}", "is not given"),
        ("select {suite} --split all --counts 9,9,9 --name x --out {new}", "is no dataset"),
        ("stats /nowhere", "no such pool of tasks"),
        ("suite /nowhere", "is no suite"),
        ("suite {suite} --export {new} --style none", "none"),
        ("show {suite}:nothing", "holds no task nothing"),
        ("show {dataset}:house-s99-s99", "no task 'house-s99-s99'"),
    ],
)
def test_mistakes_are_one_line(
    command: str, words: str, dataset: Path, suite: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = command.format(dataset=dataset, suite=suite, new=tmp_path / "new")
    assert main(["tasks", *line.split()]) == 2
    told = capsys.readouterr()
    assert told.err.count("\n") == 1
    assert words in told.err
    assert not (tmp_path / "new").exists()
