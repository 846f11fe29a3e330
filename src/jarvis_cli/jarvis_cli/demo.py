"""``jarvis demo``: the oracle builds a few bricks of a shipped model; two baselines show that tricks don't pay."""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from jarvis_bench.page import write_episode_page
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import MissingCapabilityError, RefusedError
from jarvis_episode.recording.folder import finished, read_score
from jarvis_scoring.protocol import EpisodeScore
from jarvis_scoring.text import headline
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.progress import Activity, console
from jarvis_cli.run import play
from jarvis_cli.sources import add_library_option, read_model
from jarvis_cli.tasks import one_task, write_task

MODEL, STEPS = "house", (8, 11)
BASELINES = ("noop", "nudge")
#: Nothing in the demo takes longer; a graph that hangs is ended.
LAUNCH_TIMEOUT_S = 300.0
STOP_TIMEOUT_S = 20.0

#: Says that a folder is a demo's, so that the next one may empty it.
MARK = ".jarvis-demo"

EXAMPLES = """
jarvis demo                                     over ROS where there is one, else in this process
jarvis demo --no-ros                            in this process
jarvis demo --seed 5 --out /tmp/demo
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "demo", "build, score and show a small task", EXAMPLES)
    parser.add_argument("--seed", type=int, default=0, help="decides where the loose bricks lie (default 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("results/demo"), help="folder; what an earlier demo left there goes"
    )
    parser.add_argument("--no-ros", action="store_true", help="run in this process, ROS or not")
    add_library_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    out = options.out.absolute()
    began = time.monotonic()
    with emptied(out):
        return demonstrate(options, out, began)


def demonstrate(options: argparse.Namespace, out: Path, began: float) -> int:
    model = read_model(MODEL, options.ldraw_library)
    with Activity("drawing the manual").running():
        task = write_task(one_task(model, *STEPS), model, out / "tasks")
    print(f"task      {task} ({model.assembly.title}, steps {STEPS[0]}-{STEPS[1]})")
    if ros_is_there() and not options.no_ros:
        print("cell      simulator, skills, episode manager, agent and report as separate ROS 2 nodes")
        with Launch(task, options.seed, out / "oracle") as launch:
            # At the same time: the graph alone does not keep two cores busy.
            baselines = play_baselines(task, options.seed, out / "baselines", model.catalogue)
            with Activity("oracle, over ROS 2").running():
                folder = launch.folder()
    else:
        print(
            "cell      in this process, without ROS 2 (see ./jarvis doctor); skills, physics and score are the same"
        )
        folder = play(task, "oracle", options.seed, out / "oracle", model.catalogue).folder
        write_episode_page(folder)
        baselines = play_baselines(task, options.seed, out / "baselines", model.catalogue)
    scores = {"oracle": read_score(folder), **baselines}
    print_scores(scores)
    print(headline(scores["oracle"]))
    print(f"page      {folder / 'report.html'}  ({time.monotonic() - began:.0f} s in all)")
    return 0 if scores["oracle"].s_exact == 1.0 else 1


@contextmanager
def emptied(out: Path) -> Iterator[None]:
    """The folder, without what an earlier demo left in it; nobody else's as long as this lasts.

    Raises:
        RefusedError: there is something that no demo made, or a demo that still runs.
    """
    if out.exists() and not (out / MARK).is_file() and any(out.iterdir()):
        raise RefusedError("the folder is not a demo's, and not empty", where=str(out), fix="give a new one")
    out.mkdir(parents=True, exist_ok=True)
    with (out / MARK).open("a") as mark:
        try:
            fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RefusedError(
                "another demo is running in this folder",
                where=str(out),
                fix="wait for it, or give another --out",
            ) from error
        for name in ("tasks", "oracle", "baselines"):
            shutil.rmtree(out / name, ignore_errors=True)
        yield


def ros_is_there() -> bool:
    """Whether rclpy and the workspace's own messages can be imported."""
    return all(importlib.util.find_spec(name) is not None for name in ("rclpy", "jarvis_interfaces"))


def play_baselines(task: Path, seed: int, out: Path, catalogue: PartCatalogue) -> dict[str, EpisodeScore]:
    """Their scores, by name; in this process."""
    scores = {}
    for agent in BASELINES:
        result = play(task, agent, seed, out, PartCatalogue(catalogue.library))
        write_episode_page(result.folder)
        scores[agent] = result.score
    return scores


class Launch:
    """The oracle's episode by ``ros2 launch``, in processes of their own; what still runs at the end is stopped."""

    def __init__(self, task: Path, seed: int, results: Path) -> None:
        self._command = ["ros2", "launch", "jarvis_bringup", "episode.launch.py"]
        self._command += [f"task:={task}", "agent:=oracle", f"seed:={seed}", f"results:={results}"]
        self._results = results
        self._log = results / "launch.log"

    def __enter__(self) -> Self:
        self._results.mkdir(parents=True, exist_ok=True)
        # A domain of its own: a demo must not talk to whatever else runs on this machine.
        domain = os.environ.get("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
        with self._log.open("w") as output:
            self._process = subprocess.Popen(
                self._command,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "ROS_DOMAIN_ID": domain},
            )
        self._deadline = time.monotonic() + LAUNCH_TIMEOUT_S
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            end(self._process)

    def folder(self) -> Path:
        """Wait for its end; returns the folder of its record.

        Raises:
            MissingCapabilityError: the graph ended without a record; the message names its log.
        """
        try:
            status = self._process.wait(max(0.0, self._deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            status = end(self._process)
        folders = finished(self._results)
        if len(folders) != 1:
            tail = " / ".join(self._log.read_text(errors="replace").strip().splitlines()[-3:])
            raise MissingCapabilityError(
                f"the launch ended (status {status}) without a record: {tail}",
                where=str(self._log),
                fix="read the log; --no-ros runs the same in one process",
            )
        return folders[0]


def end(process: subprocess.Popen[bytes]) -> int:
    """Stop a launch as Ctrl-C does, or, if it won't, at once; returns its status."""
    process.send_signal(signal.SIGINT)
    try:
        return process.wait(STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def print_scores(scores: dict[str, EpisodeScore]) -> None:
    """One row an agent."""
    table = Table(title="brick-score-1 (not comparable with published results: other tasks, other constants)")
    for column in ("agent", "score", "exact", "complete", "pose", "failed calls", "simulated s"):
        table.add_column(column, justify="left" if column == "agent" else "right")
    for agent, score in scores.items():
        table.add_row(
            agent,
            f"{score.score:.1f}",
            f"{score.s_exact:.0%}",
            f"{score.s_comp:.0%}",
            f"{score.s_pose:.3f}",
            f"{score.failed_calls} of {score.calls}",
            f"{score.time_s:.0f}",
        )
    type(console)().print(table)
