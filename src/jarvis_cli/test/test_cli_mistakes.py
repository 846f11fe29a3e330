"""Every mistake: one line on stderr, exit status 2, nothing left behind."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jarvis_cli.__main__ import main
from jarvis_cli.demo import emptied
from jarvis_core.config import config_folder

BRICK = "1 4 0 {y} 0 1 0 0 0 1 0 0 0 1 3001.dat\n"


@pytest.fixture(scope="session")
def two_bricks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("tasks")
    assert main(["tasks", "cut", "house", "--steps", "1", "--out", str(out)]) == 0
    return out / "house-s01-s01"


@pytest.fixture
def told(capfd: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """told(arguments...): the one line that a command in error writes."""

    def run(*arguments: object) -> str:
        capfd.readouterr()
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as ended:
            status = int(ended.code or 0)
        out, err = capfd.readouterr()
        assert status == 2, (out, err)
        assert err.count("\n") == 1, err
        assert err.startswith("error: ")
        assert "Traceback" not in out
        return err

    return run


Told = Callable[..., str]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "arguments are required: COMMAND - see jarvis --help"),
        ("biuld", "invalid choice: 'biuld'"),
        ("tasks", "required: ACTION - see jarvis tasks --help"),
        ("run", "required: task - see jarvis run --help"),
        ("run x --seed three", "argument --seed: invalid int value: 'three'"),
        ("tasks cut house --limit 0", "argument --limit: 0 is not a number from 1"),
        ("tasks list house --bricks few", "--bricks: 'few' is no range - write it like 3-5 or 4"),
        ("tasks list house --bricks 0-3", "begins at 0"),
        ("tasks cut house --steps 4-2", "runs backwards"),
        ("tasks cut house --steps 9-99", "steps 9 to 99 are not in the build, which has steps 1 to 11"),
        ("tasks cut house --steps 99", "are not in the build"),
        (
            "tasks list hose",
            "hose: no such model - give a .ldr or .mpd file, or one of bakery, bridge, bus, castle, ",
        ),
        ("tasks list house --ldraw-library /nowhere", "/nowhere: no LDraw library"),
        ("tasks show /nowhere", "/nowhere: is no task folder - make one with `jarvis tasks cut`"),
        ("run /nowhere", "/nowhere: is no task folder"),
        (
            "run /nowhere --agent gpt",
            "unknown agent 'gpt' - choose one of manual_reader, noop, nudge, oracle",
        ),
    ],
)
def test_mistakes_on_the_command_line(told: Told, line: str, words: str) -> None:
    assert words in told(*line.split())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (BRICK.format(y=0) + "1 4 0 0 0 1 0 0 0 1 0 0 0 1 nosuch.dat\n", "model.ldr:2: part nosuch.dat"),
        ("0 A model\n1 4 0 0 zero 1 0 0 0 1 0 0 0 1 3001.dat\n", "model.ldr:2: a broken line"),
        ("1 4 0 0 0 1 0 0 0 1 0 0 0 1\n", "model.ldr:1: a broken line"),
        ("0 Nothing in it\n", "a model without bricks"),
        ("", "a model without bricks"),
        ("\0\1\2\3", "is no LDraw text"),
    ],
)
def test_models_that_can_not_be_read(told: Told, tmp_path: Path, text: str, words: str) -> None:
    model = tmp_path / "model.ldr"
    model.write_text(text)
    assert words in told("tasks", "list", model)


def test_a_segment_that_the_cell_can_not_build(told: Told, tmp_path: Path) -> None:
    model = tmp_path / "model.ldr"
    model.write_text(BRICK.format(y=0) + "0 STEP\n" + BRICK.format(y=-100))
    line = told("tasks", "cut", model, "--steps", "2", "--out", tmp_path / "out")
    assert "steps 2-2 can't be a task" in line
    assert "b002" in line
    assert "jarvis tasks list" in line
    assert not (tmp_path / "out").exists()


def test_no_segment_at_all(told: Told, tmp_path: Path) -> None:
    model = tmp_path / "model.ldr"
    model.write_text(BRICK.format(y=0))
    assert "no segment of this build can be a task" in told("tasks", "cut", model, "--bricks", "2-3")


def test_broken_task_folders(told: Told, two_bricks: Path, tmp_path: Path) -> None:
    def copy(name: str) -> Path:
        return Path(shutil.copytree(two_bricks, tmp_path / name))

    cut = copy("cut")
    (cut / "task.json").write_bytes((two_bricks / "task.json").read_bytes()[:100])
    assert "task.json: not a valid" in told("run", cut)
    other = copy("other")
    (other / "task.json").write_text(
        (two_bricks / "task.json").read_text().replace('"schema": 1', '"schema": 99')
    )
    assert "task layout 99" in told("run", other)
    pageless = copy("pageless")
    (pageless / "manual" / "page-01.png").unlink()
    assert "page-01.png: no such file" in told("run", pageless)
    bare = copy("bare")
    shutil.rmtree(bare / "manual")
    assert "manual.json: no such file" in told("tasks", "show", bare)
    edited = copy("edited")
    (edited / "task.json").write_text(
        (two_bricks / "task.json").read_text().replace("House with", "Hut with")
    )
    assert "drawn for another task" in told("run", edited)


def test_results_that_can_not_be_written(told: Told, two_bricks: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    assert str(file) in told("run", two_bricks, "--agent", "noop", "--out", file)
    assert str(file) in told("tasks", "cut", "house", "--steps", "1", "--out", file)
    assert "/proc/results" in told("run", two_bricks, "--agent", "noop", "--out", "/proc/results")


def test_an_episode_that_is_there_already(told: Told, two_bricks: Path, tmp_path: Path) -> None:
    assert main(["run", str(two_bricks), "--agent", "noop", "--out", str(tmp_path)]) == 0
    line = told("run", two_bricks, "--agent", "noop", "--out", tmp_path)
    assert "recorded before - choose another output folder" in line


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("skills.yaml", "lost_m:", "lots_m:", "skills.yaml: Object"),
        ("skills.yaml", "lost_m: 0.010", "lost_m: far", "`$.lost_m`"),
        ("cell.yaml", "robot: panda", "robot: pandora", "pandora"),
        (
            "motion.yaml",
            "backend: roboplan",
            "backend: abacus",
            "no motion backend named 'abacus' - one of ",
        ),
        ("episode.yaml", "max_calls: 400", "max_calls: [", "episode.yaml: is no YAML"),
    ],
)
def test_broken_configuration(
    told: Told,
    two_bricks: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    old: str,
    new: str,
    words: str,
) -> None:
    folder = Path(shutil.copytree(config_folder(), tmp_path / "config"))
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new))
    monkeypatch.setenv("JARVIS_CONFIG", str(folder))
    assert words in told("run", two_bricks, "--agent", "noop", "--out", tmp_path / "out")
    assert not list((tmp_path / "out").glob("*"))
    assert not list((tmp_path / "out").glob(".*"))


def test_a_table_without_free_space(
    told: Told, two_bricks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(shutil.copytree(config_folder(), tmp_path / "config"))
    cell = folder / "cell.yaml"
    cell.write_text(
        cell.read_text().replace(
            "{x: [0.34, 0.64], y: [-0.33, -0.03]}", "{x: [0.34, 0.38], y: [-0.33, -0.29]}"
        )
    )
    monkeypatch.setenv("JARVIS_CONFIG", str(folder))
    line = told("run", two_bricks, "--agent", "noop", "--out", tmp_path / "out")
    assert "no room for 2 loose bricks" in line
    assert not finished_or_partial(tmp_path / "out")


def finished_or_partial(results: Path) -> list[str]:
    return [p.name for p in results.iterdir()]


def test_a_demo_empties_no_folder_but_its_own(told: Told, tmp_path: Path) -> None:
    mine = tmp_path / "tasks" / "mine"
    mine.mkdir(parents=True)
    assert "not a demo's, and not empty" in told("demo", "--no-ros", "--out", tmp_path)
    assert mine.is_dir()


@pytest.mark.parametrize(
    "command", ["tasks cut house --steps 1 --out {out}", "run {task} --agent noop --out {out}"]
)
def test_a_machine_without_opengl(command: str, two_bricks: Path, tmp_path: Path) -> None:
    """No vendor's EGL, no OSMesa: the line names what to install."""
    if ctypes.util.find_library("OSMesa"):
        pytest.skip("OSMesa is installed here: OpenGL can't be taken away by the environment alone")
    out = tmp_path / "out"
    nothing = tmp_path / "nothing.json"
    nothing.write_text("{}")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(sys.path),
        "__EGL_VENDOR_LIBRARY_FILENAMES": str(nothing),
    }
    environment.pop("MUJOCO_GL", None)
    arguments = command.format(out=out, task=two_bricks).split()
    ended = subprocess.run(
        [sys.executable, "-m", "jarvis_cli", *arguments], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 2, ended
    assert ended.stderr.count("\n") == 1, ended.stderr
    assert "libegl" in ended.stderr
    assert not out.exists() or not list(out.iterdir())


def test_verbose_shows_where_it_happened(capfd: pytest.CaptureFixture[str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "jarvis_cli", "-v", "tasks", "list", "hose"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert "Traceback" in ended.stderr
    assert "no such model" in ended.stderr


def test_two_demos_do_not_share_a_folder(told: Told, tmp_path: Path) -> None:
    with emptied(tmp_path / "demo"):
        assert "another demo is running" in told("demo", "--no-ros", "--out", tmp_path / "demo")
    with emptied(tmp_path / "demo"):
        pass
