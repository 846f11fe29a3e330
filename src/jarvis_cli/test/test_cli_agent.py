"""``jarvis agent`` without an episode: what it prints, writes and refuses. Episodes are tested with the doors."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_core.errors import MissingCapabilityError

from jarvis_cli import agent

GOOD = "print(task().steps)\nhome()\n"


def test_docs_are_those_of_the_layer(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["agent", "docs"]) == 0
    primitives = capsys.readouterr().out
    assert main(["agent", "docs", "--layer", "generic"]) == 0
    generic = capsys.readouterr().out
    assert "### pick_and_place\n" in primitives
    assert "### move_straight\n" in generic
    assert "pick" not in generic


def test_faults_are_told_by_program_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.py").write_text(GOOD)
    (tmp_path / "b.py").write_text("import os\nhome = 1\n")
    assert main(["agent", "check", str(tmp_path)]) == 2
    told = capsys.readouterr()
    assert told.out == "1 of 2 programs have no fault that can be seen beforehand\n"
    assert told.err.startswith("error: b: line 1: os can't be imported")
    assert "line 2: home is a call of the API" in told.err
    assert main(["agent", "check", str(tmp_path / "a.py")]) == 0


def test_a_program_from_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("x = ("))
    assert main(["agent", "check", "-"]) == 2
    assert "stdin:1: not a Python program" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["check", "absent.py"], "absent.py: no such file"),
        (["check", "."], "the folder holds no programs"),
        (["new", "My-Agent"], "is no name for a policy"),
        (["run", "absent", "--program", "p.py", "--uncaged"], "absent: is no task folder"),
        (["play", "absent"], "absent: is no task folder"),
    ],
)
def test_mistakes_are_told_in_one_line(
    words: list[str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if words[0] == "run":
        (tmp_path / "p.py").write_text(GOOD)
    assert main(["agent", *words]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.startswith("error: ")
    assert told.count("\n") == 1
    assert {path.name for path in tmp_path.iterdir()} <= {"p.py"}


def test_without_isolation_nothing_is_run_unless_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def none() -> None:
        raise MissingCapabilityError(
            "no isolation works here", fix="install bubblewrap; --uncaged runs without"
        )

    monkeypatch.setattr(agent, "find_isolation", none)
    (tmp_path / "p.py").write_text(GOOD)
    assert main(["agent", "run", "absent", "--program", str(tmp_path / "p.py")]) == 2
    assert capsys.readouterr().err == (
        "error: no isolation works here - install bubblewrap; --uncaged runs without\n"
    )


def test_a_template_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["agent", "new", "my_agent"]) == 0
    assert "jarvis run TASK --agent my_agent" in capsys.readouterr().out
    assert {path.name for path in (tmp_path / "my_agent").iterdir()} == {
        "README.md",
        "my_agent.py",
        "pyproject.toml",
    }
    assert main(["agent", "new", "my_agent"]) == 2
    assert "is there already" in capsys.readouterr().err
