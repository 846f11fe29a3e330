"""``jarvis tasks build``, ``export`` and ``verify``: datasets of tasks."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_render.config import ManualConfig
from jarvis_tasks.dataset.build import BuildReport, build_dataset
from jarvis_tasks.dataset.card import count_lines
from jarvis_tasks.dataset.layout import SPLITS, Counts
from jarvis_tasks.dataset.reader import TaskDataset
from jarvis_tasks.dataset.sources import Collection, collect
from jarvis_tasks.dataset.units import UnitSettings, fingerprint
from jarvis_tasks.manual import make_manual
from jarvis_tasks.store import save_task

from jarvis_cli.limits import cell_limits, task_rules
from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import Activity, progress, track
from jarvis_cli.sources import add_library_option, shipped_models

BUILD_EXAMPLES = """
jarvis tasks build house bridge duck --out dataset
jarvis tasks build ~/ldraw/models --leave-out --out dataset
                                                go on after a kill, or after models changed: the same command
jarvis tasks build models/ --bricks 1-8 --limit 26 --seed 1 --out dataset
                                                at most 26 tasks of each model, chosen at random
jarvis tasks build models/ --pictures --style photo --out dataset
"""
EXPORT_EXAMPLES = """
jarvis tasks export house-s02-s04 --from dataset
jarvis tasks export house-s02-s04 duck-s01-s03 --from dataset --style scan --out tasks/
"""
STYLE_HELP = "of the pages: classic (default), line_art, photo, faded, scan, or another of config/manual.yaml"


def add_build(actions: Commands) -> None:
    build = add_command(
        actions, "build", "build a dataset of tasks from a collection of models", BUILD_EXAMPLES
    )
    build.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="a .ldr, .mpd or .txt file, a folder of them with its subfolders, or the name of a shipped model",
    )
    build.add_argument("--out", type=Path, required=True, metavar="DATASET", help="the dataset's folder")
    build.add_argument("--bricks", metavar="A-B", help="bricks to place (default: config/tasks.yaml)")
    build.add_argument("--limit", type=positive, help="at most this many tasks per model, chosen at random")
    build.add_argument("--seed", type=int, default=0, help="of what --limit chooses (default 0)")
    add_leave_out(build)
    build.add_argument("--pictures", action="store_true", help="draw the manuals too (default: no)")
    build.add_argument("--style", default="classic", help=STYLE_HELP)
    build.add_argument(
        "--jobs", type=positive, default=os.cpu_count() or 1, help="processes (default: cores)"
    )
    build.add_argument("--prune", action="store_true", help="remove models that are no longer named")
    add_library_option(build)
    build.set_defaults(run=run_build)


def add_export(actions: Commands) -> None:
    export = add_command(actions, "export", "write tasks of a dataset as task folders", EXPORT_EXAMPLES)
    export.add_argument("tasks", nargs="+", metavar="TASK_ID", help="column id of the dataset's index")
    export.add_argument(
        "--from", dest="dataset", type=Path, required=True, metavar="DATASET", help="its folder"
    )
    export.add_argument(
        "--out", type=Path, default=Path("tasks"), help="folder for task folders (default tasks/)"
    )
    export.add_argument("--style", default="classic", help=STYLE_HELP)
    add_library_option(export)
    export.set_defaults(run=run_export)


def add_verify(actions: Commands) -> None:
    verify = add_command(
        actions, "verify", "check every file and row of a dataset", "jarvis tasks verify dataset"
    )
    verify.add_argument("dataset", type=Path, help="its folder")
    verify.set_defaults(run=run_verify)


def add_leave_out(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--leave-out",
        action="store_true",
        help="leave out bricks that the cell can't build with, and what then stands on nothing",
    )


def run_build(options: argparse.Namespace) -> int:
    """Exit status 1 if a model failed: the dataset is complete without it."""
    shipped = shipped_models()
    with Activity("looking for models").running():
        collection = collect([shipped.get(name, Path(name)) for name in options.models])
        library = LDrawLibrary.find(options.ldraw_library)
        settings = build_settings(options, library)
    with ExitStack() as stack:

        def plan(there: int, pending: int) -> Callable[[int], None]:
            print(f"{there + pending} models: {there} were there already, {pending} to build", flush=True)
            return stack.enter_context(progress(pending, "building"))

        report = build_dataset(
            collection,
            options.out,
            settings,
            library,
            jobs=options.jobs,
            prune=options.prune,
            on_plan=plan,
        )
    print_report(report, collection)
    print(f"dataset   {options.out}")
    return 1 if report.info.failed else 0


def build_settings(options: argparse.Namespace, library: LDrawLibrary | None) -> UnitSettings:
    cell, limits = cell_limits()
    manual = load_default("manual", ManualConfig).styled(options.style) if options.pictures else None
    rules = task_rules(options.bricks, leave_out=options.leave_out)
    return UnitSettings(rules, limits, cell.plate, options.limit, options.seed, manual, fingerprint(library))


def print_report(report: BuildReport, collection: Collection) -> None:
    """Every failure with its line, then everything that was counted."""
    for failure in report.info.failed:
        print(f"failed    {failure.kind}: {failure.line}")
    for copy in collection.copies:
        print(f"copy      {copy.source}: the same as {copy.same_as}, used once")
    for path in collection.other_texts:
        print(f"text      {path}: holds no bricks")
    if report.removed:
        print(f"removed   {report.removed} models that are no longer named")
    for what, number in count_lines(report.info.counts):
        print(f"{number:9,} {what}")
    print_splits(report.info.counts)


def print_splits(counts: Counts) -> None:
    print(f"          {', '.join(f'{split} {counts.tasks[split]:,}' for split in SPLITS)}")


def run_export(options: argparse.Namespace) -> int:
    dataset = TaskDataset.open(options.dataset)
    config = load_default("manual", ManualConfig).styled(options.style)
    plate = load_default("cell", CellConfig).plate
    library = LDrawLibrary.find(options.ldraw_library)
    # Asked for first: a wrong id is told before anything is drawn.
    tasks = [dataset.task(name) for name in options.tasks]
    for task in track(tasks, "drawing manuals"):
        manual = make_manual(task, plate, dataset.catalogue(task.id, library), config)
        save_task(options.out / task.id, task, manual)
        print(options.out / task.id)
    return 0


def run_verify(options: argparse.Namespace) -> int:
    dataset = TaskDataset.open(options.dataset)
    with Activity("looking at every file").running():
        faults = dataset.verify()
    for fault in faults:
        print(fault)
    if faults:
        raise BadInputError(
            f"{len(faults)} faults",
            where=str(options.dataset),
            fix="build the dataset again (jarvis tasks build)",
        )
    counts = dataset.info.counts
    print(
        f"{counts.n_tasks:,} tasks of {counts.models:,} models, {len(dataset.info.files):,} files: as written"
    )
    return 0
