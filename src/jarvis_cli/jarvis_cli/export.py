"""``jarvis export``: recordings in the layouts of other projects."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec
from jarvis_core.config import load_config, load_default
from jarvis_core.errors import BadInputError, JarvisError
from jarvis_episode.recording.lerobot import DatasetWriter, ExportConfig
from jarvis_episode.recording.scored import Unusable, find_sources, score_all

from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import track

EXAMPLES = """
jarvis export lerobot results/ --out datasets/demo
jarvis export lerobot results/ --min-score 95 --fps 15 --out datasets/good"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "export", "write recordings in the layouts of other projects", EXAMPLES)
    kinds = parser.add_subparsers(dest="layout", metavar="LAYOUT", required=True)
    lerobot = add_command(
        kinds,
        "lerobot",
        "a dataset of joints, actions and pictures for LeRobot (v3.0; exit status: 1 something is incomplete and left "
        "out, 2 something can't be used)",
        EXAMPLES,
    )
    lerobot.add_argument("results", type=Path, nargs="+", metavar="BAG|EPISODE|FOLDER")
    lerobot.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="a new folder")
    lerobot.add_argument("--fps", type=positive, help="frames a second (default: as configured)")
    lerobot.add_argument("--min-score", type=float, default=0.0, metavar="S", help="leave out worse episodes")
    lerobot.add_argument("--config", type=Path, metavar="YAML", help="instead of config/export.yaml")
    lerobot.set_defaults(run=run_lerobot)


def run_lerobot(options: argparse.Namespace) -> int:
    """Whatever is left out is counted and named."""
    config = (
        load_default("export", ExportConfig)
        if options.config is None
        else load_config(options.config, ExportConfig)
    )
    if options.fps is not None:
        config = msgspec.structs.replace(config, fps=options.fps)
    errors, incomplete, worse = [], [], 0
    sources = find_sources(options.results)
    with DatasetWriter(options.out, config) as writer:
        for found in score_all(list(track(sources, "exporting"))):
            if isinstance(found, Unusable):
                errors.append(found.error.line())
            elif found.faults:
                incomplete.append(f"{found.evidence.episode_id}: {'; '.join(found.faults)}")
            elif found.score.score < options.min_score:
                worse += 1
            else:
                try:
                    writer.add(found)
                except JarvisError as error:
                    errors.append(error.line())
    for line in errors:
        print(f"error: {line}", file=sys.stderr)
    for line in incomplete:
        print(f"left out, INCOMPLETE: {line}", file=sys.stderr)
    left_out = f"{len(incomplete)} incomplete, {worse} below {options.min_score:g}, {len(errors)} not usable"
    if not writer.episodes:
        raise BadInputError(f"no episode to export ({left_out})", where=", ".join(map(str, options.results)))
    print(
        f"{options.out}: {writer.episodes} episodes, {writer.frames} frames at {config.fps}/s; left out: {left_out}"
    )
    return 2 if errors else 1 if incomplete else 0
