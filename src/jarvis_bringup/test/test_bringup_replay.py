"""``ros2 launch jarvis_bringup replay.launch.py`` as a person types it: score, published score, bad input."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from jarvis_core.files import read_json
from jarvis_scoring.protocol import EpisodeScore

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")
if shutil.which("ros2") is None:
    pytest.skip("no ros2 command here", allow_module_level=True)

LIMIT_S = 400.0


def launch(*arguments: str) -> subprocess.Popen[str]:
    command = ["ros2", "launch", "jarvis_bringup", "replay.launch.py", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


def finish(process: subprocess.Popen[str]) -> str:
    try:
        return process.communicate(timeout=LIMIT_S)[0]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


@pytest.fixture(scope="module")
def episode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An episode in which nothing is moved, played without ROS."""
    from jarvis_cli.run import play
    from jarvis_cli.sources import read_model
    from jarvis_cli.tasks import one_task, write_task

    folder = tmp_path_factory.mktemp("replay")
    model = read_model("bridge", None)
    task = write_task(one_task(model, 1, 1), model, folder / "tasks")
    return play(task, "nudge", 0, folder / "results", model.catalogue).folder


def test_a_bag_is_scored_printed_and_published(episode: Path) -> None:
    from rclpy.qos import DurabilityPolicy, QoSProfile

    from jarvis_interfaces.msg import EpisodeScore as EpisodeScoreMsg

    live = read_json(episode / "score.json", EpisodeScore)
    received: list[EpisodeScoreMsg] = []
    rclpy.init()
    try:
        node = rclpy.create_node("listener")
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        node.create_subscription(EpisodeScoreMsg, "/score/episode", received.append, latched)
        process = launch(f"bag:={episode / 'bag'}", "keep:=true")
        try:
            for _ in range(int(LIMIT_S)):
                rclpy.spin_once(node, timeout_sec=1.0)
                if received:
                    break
        finally:
            os.killpg(process.pid, signal.SIGINT)
        output = finish(process)
        node.destroy_node()
    finally:
        rclpy.shutdown()
    assert f"{live.protocol}  {live.score:.2f} of 100" in output
    assert "INCOMPLETE" not in output
    assert [abs(m.score - live.score) < 1e-9 for m in received] == [True], output
    assert [b.id for b in received[0].bricks] == [b.id for b in live.bricks]


def test_a_folder_that_is_no_bag_ends_the_launch_with_one_line(tmp_path: Path) -> None:
    output = finish(launch(f"bag:={tmp_path}"))
    said = [line for line in output.splitlines() if line.startswith("[replay_node")]
    assert [line.partition("] ")[2] for line in said] == [
        f"error: {tmp_path}: is no rosbag2 bag (.mcap or .db3)"
    ]
