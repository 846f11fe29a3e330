"""``ros2 launch`` as a person types it: an oracle's episode from start to page, and what bad input says."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from jarvis_cli.sources import read_model
from jarvis_cli.tasks import one_task, write_task
from jarvis_core.files import read_json
from jarvis_episode.recording.bag import AGENT_CALLS, SKILL_GOALS
from jarvis_episode.recording.storage import Storage
from jarvis_scoring.inputs import read_record
from jarvis_scoring.protocol import EpisodeScore

pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")
if shutil.which("ros2") is None:
    pytest.skip("no ros2 command here", allow_module_level=True)

LIMIT_S = 400.0


@pytest.fixture(scope="module")
def task(tmp_path_factory: pytest.TempPathFactory) -> Path:
    model = read_model("bridge", None)
    return write_task(one_task(model, 1, 1), model, tmp_path_factory.mktemp("tasks"))


def launch(*arguments: str) -> subprocess.Popen[str]:
    command = ["ros2", "launch", "jarvis_bringup", "episode.launch.py", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    """All output of a launch that has to end by itself."""
    try:
        return process.communicate(timeout=LIMIT_S)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def test_an_oracle_plays_an_episode_to_its_page(task: Path, tmp_path: Path) -> None:
    output = finish(launch(f"task:={task}", "agent:=oracle", "seed:=2", f"results:={tmp_path}"))
    folders = [p for p in tmp_path.iterdir() if p.is_dir()]
    assert len(folders) == 1, output
    record = read_record(folders[0] / "record.json")
    assert (record.outcome, record.transport, record.policy.privileged) == ("finished", "ros", True), output
    recorded = Storage.open(folders[0] / "bag").messages((AGENT_CALLS, SKILL_GOALS))
    heard = Counter(message.topic for message in recorded)
    assert heard[SKILL_GOALS] == len(record.calls)
    assert heard[AGENT_CALLS] > len(record.calls)
    score = read_json(folders[0] / "score.json", EpisodeScore)
    assert score.s_exact == 1.0
    assert score.score > 95
    page = (folders[0] / "report.html").read_text()
    assert "Privileged" in page
    assert "data:video/mp4" in page


def test_bad_arguments_end_the_launch_with_one_line_before_anything_starts(
    task: Path, tmp_path: Path
) -> None:
    nothing = tmp_path / "nothing"
    for arguments, said in [
        ((f"task:={nothing}",), f"{nothing}: no task there - make one with `jarvis tasks cut`"),
        (
            (f"task:={task}", "agent:=nobody"),
            "unknown agent 'nobody' - choose one of manual_reader, noop, nudge, oracle, none",
        ),
    ]:
        process = launch(*arguments, f"results:={tmp_path / 'results'}")
        output = finish(process)
        assert process.returncode == 1, output
        (line,) = (line for line in output.splitlines() if "[ERROR]" in line)
        assert line.endswith(said)
        assert "Traceback" not in output
        assert "process started" not in output
        assert not (tmp_path / "results").exists()


def test_ctrl_c_in_an_episode_leaves_nothing_half_written(task: Path, tmp_path: Path) -> None:
    process = launch(f"task:={task}", "agent:=oracle", f"results:={tmp_path}")
    deadline = time.monotonic() + LIMIT_S
    while not list(tmp_path.glob(".*.partial/bag")):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    output = finish(process)
    assert not [p for p in tmp_path.iterdir() if p.is_dir()], output
