"""``jarvis run``: one episode in this process, with its score and its page."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_agent.registry import make_policy, policy_names
from jarvis_agent.session import Door
from jarvis_bench.page import write_episode_page
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.ports import Policy
from jarvis_episode.runner import SCENE_SOURCES, EpisodeResult, run_episode
from jarvis_episode.settings import Settings
from jarvis_scoring.text import table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.progress import Activity
from jarvis_cli.sources import add_library_option, read_task

EXAMPLES = """
jarvis run tasks/house-s02-s04
jarvis run tasks/house-s02-s04 --agent nudge --seed 7 --out results/nudge
jarvis run tasks/house-s02-s04 --agent manual_reader
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "run",
        "run one episode in this process (over ROS: ros2 launch jarvis_bringup episode.launch.py)",
        EXAMPLES,
    )
    parser.add_argument("task", type=Path, help="task folder")
    parser.add_argument(
        "--agent", default="oracle", help=f"one of {', '.join(policy_names())} (default oracle)"
    )
    parser.add_argument("--seed", type=int, default=0, help="decides the initial state (default 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("results"), help="folder for records (default results/)"
    )
    parser.add_argument(
        "--sees",
        choices=SCENE_SOURCES,
        help="where an agent that is not privileged learns of bricks' places (default: perceived for manual_reader, "
        "else nothing, pictures only)",
    )
    add_library_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    library = LDrawLibrary.find(options.ldraw_library)
    policy, catalogue = make_policy(options.agent), PartCatalogue(library)
    # Who builds by the calls of a layer sees by camera, as behind every other door.
    sees = options.sees or ("perceived" if isinstance(policy, Door) else "nothing")
    result = play_policy(options.task, policy, options.seed, options.out, catalogue, sees=sees)
    page = write_episode_page(result.folder)
    print(table(result.score))
    print(f"{result.record.outcome}: {result.record.outcome_message}")
    print(f"record: {result.folder}\npage:   {page}")
    # A policy's failure is a score; only a cell's is an error.
    return 1 if result.record.outcome == "cell_error" else 0


def play(task_folder: Path, agent: str, seed: int, out: Path, catalogue: PartCatalogue) -> EpisodeResult:
    """Run one episode under a line that says what the robot does."""
    return play_policy(task_folder, make_policy(agent), seed, out, catalogue)


def play_policy(
    task_folder: Path,
    policy: Policy,
    seed: int,
    out: Path,
    catalogue: PartCatalogue,
    *,
    sees: str = "nothing",
    quiet: bool = False,
) -> EpisodeResult:
    """As ``play``, with a policy at hand.

    Args:
        sees: see ``run_episode``.
        quiet: without that line, where the terminal is somebody else's.
    """
    task, manual = read_task(task_folder)
    if quiet:
        return run_episode(task, manual, policy, seed, Settings.load(), catalogue, out, sees=sees)
    with Activity(f"{policy.name} on {task.id}").running() as activity:
        return run_episode(
            task,
            manual,
            policy,
            seed,
            Settings.load(),
            catalogue,
            out,
            on_progress=activity.update,
            sees=sees,
        )
