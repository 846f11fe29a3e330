"""Whole episodes in this process, on two bricks."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import episode_bench
import jarvis_episode.runner
import numpy as np
import pytest
import yaml
from episode_bench import QUICK, Scripted, build, house, initial_state, play, settings
from jarvis_core.config import config_folder
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, encode
from jarvis_core.ports import PrivilegedTools, Tools
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.recording.bag import read_episode, read_world_states
from jarvis_episode.recording.folder import finished, read_score
from jarvis_episode.recording.recorder import EpisodeRecorder
from jarvis_episode.runner import EpisodeResult
from jarvis_episode.versions import versions
from jarvis_scoring.brick_score import score
from jarvis_scoring.inputs import ScoreInput, read_record
from jarvis_sim.engine import WorldError

DOWN = (1.0, 0.0, 0.0, 0.0)


def test_a_build_is_recorded_whole_and_scored(built: EpisodeResult) -> None:
    record = built.record
    assert record.outcome == "finished"
    assert built.score.s_exact == 1.0
    assert built.score.score > 95.0
    assert record.episode_id == built.folder.name == "house-s01-s01-scripted-0"
    assert (record.policy.privileged, record.policy.caged) == (True, False)
    assert (record.transport, record.scene_source) == ("in-process", "true")
    assert [call.result.status for call in record.calls] == [Status.SUCCEEDED] * 3
    assert [call.index for call in record.calls] == [0, 1, 2]
    assert 0 < record.time_s < record.final.time_s <= record.time_s + 1.0
    assert sum(c.end_s - c.start_s for c in record.calls) == pytest.approx(record.time_s)
    assert {event.kind for event in record.events} == {"engaged"}
    assert {p.name for p in built.folder.iterdir()} == {
        *("after.png", "before.png", "bag", "manual", "record.json", "score.json", "task.json", "video.mp4"),
    }


def test_the_record_and_the_bag_alone_give_the_same_score(built: EpisodeResult) -> None:
    record = read_record(built.folder / "record.json")
    assert record == built.record
    assert encode(record) == (built.folder / "record.json").read_bytes()
    config = settings().score
    assert score(record, config) == built.score == read_score(built.folder)
    bag = decode(read_episode(built.folder / "bag").encode(), ScoreInput, where="bag")
    assert score(bag, config) == built.score
    states = read_world_states(built.folder / "bag")
    assert states[0].objects == record.initial.objects
    assert states[-1].objects == record.final.objects


def test_every_configured_value_is_in_the_record(built: EpisodeResult) -> None:
    files = {
        name: config_folder() / f"{name}.yaml"
        for name in ("cell", "sim", "motion", "perception", "skills", "episode", "score")
    }
    files["robot"] = config_folder() / "robots" / "panda.yaml"
    assert set(built.record.config) == set(files)
    for name, path in files.items():
        written = yaml.safe_load(path.read_text())
        if name == "episode":
            written |= QUICK
        assert_within(written, built.record.config[name], name)


def assert_within(written: Any, kept: Any, where: str) -> None:
    if isinstance(written, dict):
        for key, value in written.items():
            assert_within(value, kept[key], f"{where}.{key}")
    else:
        assert kept == written, where


def test_versions_are_named(built: EpisodeResult) -> None:
    assert built.record.versions == versions()
    for name in ("python", "mujoco", "roboplan", "numpy", "jarvis"):
        assert built.record.versions[name][0].isdigit()


def test_task_and_seed_alone_decide_the_initial_state(built: EpisodeResult) -> None:
    """Bit for bit, in processes of their own with other hash seeds."""
    script = Path(episode_bench.__file__)
    running = [
        subprocess.Popen(
            [sys.executable, str(script), seed],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONHASHSEED": salt},
        )
        for seed, salt in (("7", "1"), ("7", "2"))
    ]
    first, second = (process.communicate(timeout=120)[0] for process in running)
    assert all(process.returncode == 0 for process in running)
    assert first == second
    assert len(first) == 65
    assert initial_state(0).startswith(encode(built.record.initial))


def test_the_same_policy_gives_the_same_episode(built: EpisodeResult, tmp_path: Path) -> None:
    """Other rates of recording change nothing in the world."""
    again = play(Scripted(build, privileged=True), tmp_path, state_rate_hz=50.0, video_speed=4.0)
    assert encode(again.record.final) == encode(built.record.final)
    assert again.record.events == built.record.events
    assert again.record.time_s == built.record.time_s
    assert again.score == built.score
    assert [c.result for c in again.record.calls] == [c.result for c in built.record.calls]


def test_another_seed_gives_another_episode(built: EpisodeResult, tmp_path: Path) -> None:
    other = play(Scripted(lambda tools: None), tmp_path, seed=1)
    assert other.record.initial != built.record.initial
    assert other.record.task_hash == built.record.task_hash
    assert other.score.score == 0.0


# -- policies that misbehave


def crash(tools: Tools) -> None:
    tools.home()
    raise RuntimeError("my plan was bad")


def leave(tools: Tools) -> None:
    tools.home()
    sys.exit(3)


@pytest.mark.parametrize(
    ("act", "words"), [(crash, "RuntimeError: my plan was bad"), (leave, "SystemExit: 3")]
)
def test_a_crash_is_an_outcome_with_a_whole_record(act: Any, words: str, tmp_path: Path) -> None:
    result = play(Scripted(act), tmp_path)
    assert (result.record.outcome, result.record.outcome_message) == ("crashed", words)
    assert len(result.record.calls) == 1
    assert result.score.score == 0.0
    assert finished(tmp_path) == (result.folder,)
    assert read_record(result.folder / "record.json") == result.record
    assert (result.folder / "after.png").is_file()


def stubborn(tools: Tools) -> None:
    """Swallows whatever an ``except Exception`` can swallow."""
    while True:
        try:
            tools.move_to(Pose((0.4, 0.0, 0.3), DOWN))
            tools.home()
        except Exception:  # noqa: BLE001, S112
            continue


@pytest.mark.parametrize(
    ("limits", "words", "calls"),
    [
        ({"max_calls": 3}, "the limit of 3 calls", 3),
        ({"hard_stop_factor": 0.02}, "the hard limit of 3 simulated seconds", None),
    ],
)
def test_limits_end_an_episode(limits: dict[str, Any], words: str, calls: int | None, tmp_path: Path) -> None:
    result = play(Scripted(stubborn), tmp_path, **limits)
    record = result.record
    assert record.outcome == "stopped"
    assert words in record.outcome_message
    if calls is not None:
        assert len(record.calls) == calls
    else:
        # The call that passed the limit was ended, the next one not begun.
        assert record.calls[-1].start_s < 3.0 <= record.calls[-1].end_s == record.time_s
    assert read_record(result.folder / "record.json") == record


def test_an_existing_episode_is_refused(built: EpisodeResult) -> None:
    before = {p: p.stat().st_mtime_ns for p in built.folder.rglob("*")}
    with pytest.raises(BadInputError, match="recorded before") as refused:
        play(Scripted(build, privileged=True), built.folder.parent)
    assert "\n" not in refused.value.line()
    assert str(built.folder) in refused.value.line()
    assert {p: p.stat().st_mtime_ns for p in built.folder.rglob("*")} == before
    assert [p.name for p in built.folder.parent.iterdir()] == [built.folder.name]


# -- cells that fail: not the policy's fault, still a row in every table


@pytest.fixture
def cells(monkeypatch: pytest.MonkeyPatch) -> list[EmbeddedCell]:
    """Every cell that is built meanwhile."""
    made: list[EmbeddedCell] = []
    build_cell = EmbeddedCell.build

    def building(*args: Any) -> EmbeddedCell:
        made.append(build_cell(*args))
        return made[-1]

    monkeypatch.setattr(EmbeddedCell, "build", building)
    return made


def test_an_unstable_world_ends_the_episode_but_not_its_record(
    cells: list[EmbeddedCell], tmp_path: Path
) -> None:
    def explode(tools: Tools) -> None:
        tools.home()
        cells[0].world.engine.data.qvel[0] = np.nan
        tools.home()
        raise AssertionError("no policy goes on in a broken world")

    result = play(Scripted(explode), tmp_path)
    assert result.record.outcome == "cell_error"
    assert "unstable" in result.record.outcome_message
    assert [c.result.status for c in result.record.calls] == [Status.SUCCEEDED, Status.INTERNAL_ERROR]
    # The last sound state counts.
    assert all(np.isfinite(o.pose.position).all() for o in result.record.final.objects)
    assert result.record.final.time_s > 0
    assert read_record(result.folder / "record.json") == result.record
    assert result.score.score == 0.0


def test_a_world_that_breaks_after_the_policy_ended(
    cells: list[EmbeddedCell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def last_act(tools: Tools) -> None:
        tools.home()
        monkeypatch.setattr(cells[0].world, "advance", breaks)

    def breaks(seconds: float) -> None:
        raise WorldError("no weld is left")

    result = play(Scripted(last_act), tmp_path)
    assert (result.record.outcome, result.record.outcome_message) == ("cell_error", "no weld is left")
    assert result.record.time_s > 0


def test_a_recorder_that_fails_is_not_a_skills_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: EpisodeRecorder, *args: Any) -> None:
        raise OSError(28, "No space left on device")

    def go(tools: Tools) -> None:
        monkeypatch.setattr(EpisodeRecorder, "joints", full)
        try:
            stubborn(tools)
        finally:
            monkeypatch.undo()

    result = play(Scripted(go), tmp_path)
    assert result.record.outcome == "cell_error"
    assert "No space left" in result.record.outcome_message
    assert len(result.record.calls) == 1


def test_a_camera_that_fails_is_not_a_crash_of_the_policy(
    cells: list[EmbeddedCell], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def looks(tools: Tools) -> None:
        camera = type(cells[0].camera)
        with monkeypatch.context() as patch:
            patch.setattr(camera, "capture", lambda self: 1 / 0)
            tools.observe()

    result = play(Scripted(looks), tmp_path)
    assert result.record.outcome == "cell_error"
    assert "ZeroDivisionError" in result.record.outcome_message


def test_events_just_before_the_end_are_recorded(built: EpisodeResult, tmp_path: Path) -> None:
    """The recorder looks at the world now and then only: never after the last event, here."""
    result = play(Scripted(build, privileged=True), tmp_path, state_rate_hz=0.001)
    assert result.record.events == built.record.events != ()


def test_a_fault_in_scoring_does_not_lose_the_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(jarvis_episode.runner, "score_record", broken)
    with pytest.raises(ZeroDivisionError):
        play(Scripted(lambda tools: None), tmp_path)
    (folder,) = finished(tmp_path)
    assert read_record(folder / "record.json").outcome == "finished"


def test_a_fault_before_the_record_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(tools: Tools) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(Scripted(interrupted), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_killed_run_leaves_no_record_and_the_next_one_works(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from episode_bench import Scripted, play

        def act(tools):
            tools.home()
            print("running", flush=True)
            time.sleep(60)

        play(Scripted(act), Path(sys.argv[1]))
        """
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    with pytest.raises(BadInputError, match="another process"):
        play(Scripted(lambda tools: None), tmp_path)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert finished(tmp_path) == ()
    assert [p.name for p in tmp_path.iterdir()] == [f".{house().id}-scripted-0.partial"]
    result = play(Scripted(lambda tools: None), tmp_path)
    assert result.record.outcome == "finished"
    assert [p.name for p in tmp_path.iterdir()] == [result.folder.name]


# -- the wall


def test_the_policy_gets_what_it_declares(tmp_path: Path) -> None:
    seen: list[Tools] = []
    play(Scripted(seen.append), tmp_path, seed=0)
    play(Scripted(seen.append, privileged=True), tmp_path, seed=1)
    assert not isinstance(seen[0], PrivilegedTools)
    assert isinstance(seen[1], PrivilegedTools)


def test_unprivileged_tools_tell_no_truth(tmp_path: Path) -> None:
    """Whatever hangs on the tools by public names, and whatever they return, holds no object, target or state."""

    def look(tools: Tools) -> None:
        told = [
            *(getattr(tools, name) for name in dir(tools) if not name.startswith("_")),
            tools.brief(),
            tools.observe(),
            tools.home(),
            tools.pick("nobody"),
            tools.push("b001", (0.0, 0.0)),
        ]
        found.update(kind for value in told for kind in kinds_within(value, set()))

    found: set[str] = set()
    play(Scripted(look), tmp_path)
    assert {"TaskBrief", "Observation", "RobotState", "SkillResult"} <= found
    assert not found & {
        "RigidObject",
        "TargetObject",
        "Scene",
        "WorldState",
        "ObjectState",
        "SimWorld",
        "Task",
        "PlacedBrick",
    }


def kinds_within(value: Any, seen: set[int]) -> set[str]:
    """Names of the types of everything that can be reached from a value by public names."""
    if id(value) in seen or isinstance(value, type | np.ndarray | str | bytes | int | float):
        return set()
    seen.add(id(value))
    found = {type(value).__name__}
    parts: list[Any] = []
    if isinstance(value, dict):
        parts += [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        parts += value
    else:
        values = [getattr(value, name) for name in dir(value) if not name.startswith("_")]
        parts += [v for v in values if not callable(v)]
    for part in parts:
        found |= kinds_within(part, seen)
    return found
