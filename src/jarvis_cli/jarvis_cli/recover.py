"""``jarvis recover``: an oracle begins a build, it is spoilt, and an agent goes on from there."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jarvis_agent.registry import make_policy, policy_names
from jarvis_bench.page import write_episode_page
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_config, load_default
from jarvis_core.errors import RefusedError
from jarvis_episode.disturbance import KINDS, RecoveryConfig, Spoiler
from jarvis_episode.runner import EpisodeResult, run_episode
from jarvis_episode.settings import Settings
from jarvis_scoring.brick_score import score
from jarvis_scoring.evidence import Evidence

from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import Activity
from jarvis_cli.sources import add_library_option, read_task

EXAMPLES = """
jarvis recover tasks/house-s02-s04 --disturb knock_off
jarvis recover tasks/* --disturb shift --prefix 3 --agent mine --out results/recovery"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "recover", "let an agent go on from a build that was begun and spoilt", EXAMPLES
    )
    parser.add_argument("tasks", type=Path, nargs="+", metavar="TASK", help="task folders")
    parser.add_argument("--disturb", choices=KINDS, default="knock_off", help="(default knock_off)")
    parser.add_argument(
        "--prefix",
        type=positive,
        metavar="N",
        help="bricks placed before, by an oracle (default: half of them, at least what the disturbance needs)",
    )
    parser.add_argument(
        "--agent", default="oracle", help=f"one of {', '.join(policy_names())} (default oracle)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="decides initial state and disturbance (default 0)"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("results"), help="folder for records (default results/)"
    )
    parser.add_argument("--config", type=Path, metavar="YAML", help="instead of config/recovery.yaml")
    add_library_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Status 1 if a task could not be begun and spoilt, or its cell failed."""
    catalogue = PartCatalogue(LDrawLibrary.find(options.ldraw_library))
    config = (
        load_default("recovery", RecoveryConfig)
        if options.config is None
        else load_config(options.config, RecoveryConfig)
    )
    failed = 0
    for task in options.tasks:
        try:
            result = _play(task, options, catalogue, config)
        except RefusedError as error:
            print(f"error: {task.name}: {error.line()}", file=sys.stderr)
            failed += 1
            continue
        failed += result.record.outcome == "cell_error"
        _tell(result)
    return 1 if failed else 0


def _play(
    folder: Path, options: argparse.Namespace, catalogue: PartCatalogue, config: RecoveryConfig
) -> EpisodeResult:
    task, manual = read_task(folder)
    prefix = options.prefix or max(task.n_required // 2, 2 if options.disturb == "swap" else 1)
    spoiler, policy = Spoiler(options.disturb, prefix, config), make_policy(options.agent)
    with Activity(f"{policy.name} on {task.id}, {options.disturb}").running() as activity:
        result = run_episode(
            task,
            manual,
            policy,
            options.seed,
            Settings.load(),
            catalogue,
            options.out,
            on_progress=activity.update,
            spoiler=spoiler,
        )
    write_episode_page(result.folder)
    return result


def _tell(result: EpisodeResult) -> None:
    evidence = Evidence.of_record(result.record)
    found, disturbance = evidence.disturbed(), evidence.disturbance
    assert found is not None
    assert disturbance is not None
    before, after = score(found, evidence.constants).score, result.score.score
    print(
        f"{result.record.episode_id}: {disturbance.kind} of {', '.join(disturbance.bricks)} after "
        f"{disturbance.prefix} bricks: {before:.2f} -> {after:.2f} ({after - before:+.2f}), "
        f"{result.record.outcome}\n  {result.folder}"
    )
