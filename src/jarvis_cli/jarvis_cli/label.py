"""``jarvis label``: what tables compare episodes by, derived from what was recorded; a person may override it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jarvis_core.errors import JarvisError
from jarvis_episode.recording.labels import AUTO_FILE, LABELS_FILE, write_auto_labels
from jarvis_episode.recording.scored import Unusable, find_sources, score_all

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.progress import track

EXAMPLES = f"""
jarvis label results/                           writes {AUTO_FILE} into every episode's folder

What {LABELS_FILE} beside it says counts instead: copy the file to that name and correct it."""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands,
        "label",
        "derive labels for tables: functions, reflection, rounds, stage of every failure",
        EXAMPLES,
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="EPISODE|FOLDER")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Status 2 if an episode can't be labelled; the others are."""
    labelled, errors = 0, []
    for found in score_all(list(track(find_sources(options.results), "labelling")), with_bags=False):
        if isinstance(found, Unusable):
            errors.append(found.error.line())
            continue
        try:
            write_auto_labels(found)
        except JarvisError as error:
            errors.append(error.line())
        else:
            labelled += 1
    for line in errors:
        print(f"error: {line}", file=sys.stderr)
    print(f"{labelled} episodes labelled, {len(errors)} not")
    return 2 if errors else 0
