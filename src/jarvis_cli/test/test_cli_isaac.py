"""``jarvis isaac scene`` as a person types it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = read_model("bridge", None)
    return write_task(one_task(model, 1, 1), model, tmp_path_factory.mktemp("tasks"))


def test_a_scene_is_written(task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pxr", reason="no usd-core here")
    out = tmp_path / "cell.usda"
    assert main(["isaac", "scene", str(task), "--seed", "3", "--out", str(out)]) == 0
    assert "seed 3" in capsys.readouterr().out
    assert out.read_text().startswith("#usda 1.0")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["isaac", "scene", "nothing-there"], "is no task folder"),
        (["isaac", "scene", "TASK", "--out", "scene.stl"], "ends in .usda"),
    ],
)
def test_a_mistake_is_one_line(
    task: Path, arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pxr", reason="no usd-core here")
    assert main([str(task) if word == "TASK" else word for word in arguments]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert reason in said[0]


def test_without_usd_it_says_how_to_get_it(
    task: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in [
        name for name in sys.modules if name == "pxr" or name.startswith(("pxr.", "jarvis_sim.isaac"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pxr", None)
    assert main(["isaac", "scene", str(task)]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert "pip install usd-core" in said[0]
