"""What the commands do when they are used as meant."""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jarvis_agent.registry import POLICIES
from jarvis_cli.__main__ import main, make_parser
from jarvis_core.ports import Tools
from jarvis_episode.recording.folder import finished, read_score
from jarvis_sim.engine import WorldError
from jarvis_sim.world import SimWorld
from jarvis_tasks.store import load_manual, load_task

MODELS = (
    *("bakery", "bridge", "bus", "castle", "dinosaur", "dog", "duck", "giraffe", "house"),
    *("lighthouse", "locomotive", "owl", "park", "piano", "robot", "rocket", "sailboat", "windmill"),
)


@pytest.fixture(scope="session")
def task_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The first step of the house: two bricks."""
    out = tmp_path_factory.mktemp("tasks")
    assert main(["tasks", "cut", "house", "--steps", "1", "--out", str(out)]) == 0
    return out / "house-s01-s01"


def commands(parser: argparse.ArgumentParser, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every command and subcommand."""
    yield path
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, sub in action.choices.items():
                yield from commands(sub, (*path, name))


@pytest.mark.parametrize("command", commands(make_parser()), ids="-".join)
def test_every_help_shows_examples_that_can_be_read(
    command: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*command, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr()
    assert told.err == ""
    assert " ".join(command) in told.out
    examples = re.findall(r"^  (jarvis .+?)(?:   .*)?$", told.out.partition("examples:")[2], re.MULTILINE)
    assert examples
    for example in examples:
        words = example.split()[1:]
        assert words[: len(command)] == list(command)
        make_parser().parse_args(words)


def test_the_command_runs_as_a_program() -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "jarvis_cli", "tasks", "models"], capture_output=True, text=True
    )
    assert ended.returncode == 0
    assert ended.stderr == ""
    lines = ended.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(MODELS)
    assert all(re.search(r"\d+ bricks +\d+ steps +\w", line) for line in lines)


def test_a_reader_that_has_enough_is_no_error() -> None:
    """``jarvis … | head -1``."""
    program = f"{sys.executable} -m jarvis_cli tasks list house | head -1; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(["bash", "-c", program], capture_output=True, text=True)
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == ["house: 16 bricks, 11 steps", "0"]


def test_list_tells_what_can_be_a_task_and_why_the_rest_can_not(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "list", "house", "--bricks", "2-3"]) == 0
    out = capsys.readouterr().out
    looked, possible = map(int, re.findall(r"(\d+) segments looked at, (\d+) can be tasks", out)[0])
    assert looked >= possible > 0
    sizes = [int(n) for n in re.findall(r"steps \d+-\d+: (\d+) bricks to place", out)]
    assert len(sizes) == possible
    assert set(sizes) == {2, 3}
    refused = sum(int(n) for n in re.findall(r"^ *(\d+) refused:", out, re.MULTILINE))
    assert refused == looked - possible


def test_build_writes_a_task_with_its_manual(task_folder: Path) -> None:
    task = load_task(task_folder)
    assert (task.id, task.steps, task.n_required) == ("house-s01-s01", (1, 1), 2)
    assert [page.step for page in load_manual(task_folder).pages] == [0, 1]


def test_build_writes_as_many_tasks_as_wanted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "cut", "duck", "--bricks", "1", "--limit", "2", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    folders = sorted(tmp_path.iterdir())
    assert len(folders) == 2
    assert lines[-2:] == [str(folder) for folder in folders]
    assert all(load_task(folder).n_required == 1 for folder in folders)


def test_show_prints_what_a_task_holds(task_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "show", str(task_folder)]) == 0
    out = capsys.readouterr().out
    assert "0 bricks stand, 2 to place, 2 pages" in out
    assert re.search(r"step 1: b001 part 3003 colour 19 at \(.+\) mm, 0 deg, on plate", out)


def test_run_leaves_a_record_a_score_and_a_page(
    task_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", str(task_folder), "--agent", "noop", "--seed", "3", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr()
    (folder,) = finished(tmp_path)
    assert folder.name == "house-s01-s01-noop-3"
    assert read_score(folder).score == 0.0
    assert f"record: {folder}" in told.out
    assert f"page:   {folder / 'report.html'}" in told.out
    assert "finished: the policy ended" in told.out
    assert "not comparable with published results" in told.out
    assert (folder / "report.html").stat().st_size > 10_000
    assert told.err == ""


class Quits:
    """Crashes, or breaks the cell, as the error says."""

    name = "quits"
    privileged = False

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def run(self, tools: Tools) -> None:
        raise self._error


@pytest.mark.parametrize(
    ("error", "line", "status"),
    [
        (RuntimeError("no idea"), "crashed: RuntimeError: no idea", 0),
        (WorldError("it blew up"), "cell_error: it blew up", 1),
    ],
)
def test_run_tells_how_an_episode_ended(
    error: Exception,
    line: str,
    status: int,
    task_folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(POLICIES, "quits", lambda: Quits(error))
    if status:
        monkeypatch.setattr(SimWorld, "advance", breaks(error))
        monkeypatch.setattr(Quits, "run", lambda self, tools: None)
    assert main(["run", str(task_folder), "--agent", "quits", "--out", str(tmp_path)]) == status
    assert line in capsys.readouterr().out.splitlines()


def breaks(error: Exception) -> Any:
    def advance(self: SimWorld, seconds: float) -> None:
        raise error

    return advance
