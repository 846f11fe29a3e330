"""jarvis tasks build, export and verify."""

from __future__ import annotations

from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_tasks.dataset.reader import TaskDataset

BAD = "1 4 0 0 0 1 0 0 0 1 0 0 0 1 nosuch.dat\n"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cli") / "dataset"
    assert main(["tasks", "build", "duck", "--limit", "6", "--bricks", "1-3", "--out", str(out)]) == 0
    return out


def test_a_bad_model_is_one_line_and_the_others_go_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.ldr").write_text(BAD)
    out = tmp_path / "dataset"
    assert main(["tasks", "build", "duck", str(tmp_path), "--jobs", "1", "--out", str(out)]) == 1
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "2 models: 0 were there already, 2 to build"
    failures = [line for line in said if line.startswith("failed")]
    assert len(failures) == 1
    assert "missing part:" in failures[0]
    assert "bad.ldr:1" in failures[0]
    assert any(line.split(maxsplit=1) == ["45", "tasks"] for line in said)
    assert main(["tasks", "build", "duck", str(tmp_path), "--jobs", "1", "--out", str(out)]) == 1
    assert capsys.readouterr().out.startswith("2 models: 1 were there already, 1 to build")


def test_what_was_built_can_be_verified_and_exported(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tasks", "verify", str(dataset)]) == 0
    assert capsys.readouterr().out.startswith("6 tasks of 1 models")
    row = min(TaskDataset.open(dataset).rows(), key=lambda row: row.n_pages)
    out = tmp_path / "tasks"
    status = main(
        ["tasks", "export", row.id, "--from", str(dataset), "--style", "line_art", "--out", str(out)]
    )
    assert status == 0
    assert main(["tasks", "show", str(out / row.id)]) == 0
    assert f"{row.n_act} to place, {row.n_pages} pages" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("build nowhere --out {tmp}/d", "nowhere: no such model"),
        ("build duck", "required: --out"),
        ("build duck --out {tmp}/d --pictures --style crayon", "unknown style 'crayon'"),
        ("export duck-s01-s99 --from {dataset}", "no task 'duck-s01-s99'"),
        ("export duck-s01-s99 --from {tmp}", "is no dataset"),
        ("verify {tmp}", "is no dataset"),
    ],
)
def test_mistakes(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, words: str
) -> None:
    try:
        status = main(["tasks", *line.format(tmp=tmp_path, dataset=dataset).split()])
    except SystemExit as ended:
        status = int(ended.code or 0)
    told = capsys.readouterr().err
    assert status == 2
    assert words in told
    assert told.count("\n") == 1
    assert not (tmp_path / "d").exists()
