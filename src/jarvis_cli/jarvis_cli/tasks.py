"""``jarvis tasks``: from models to tasks. Single tasks are here, datasets in tasks_dataset."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_render.config import ManualConfig
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CheckedModel
from jarvis_tasks.manual import make_manual
from jarvis_tasks.printed.manual import Book
from jarvis_tasks.printed.pages import page_files, read_map
from jarvis_tasks.segment import make_task
from jarvis_tasks.select import SegmentSearch, find_segments, place
from jarvis_tasks.store import save_task
from jarvis_tasks.task import Task

from jarvis_cli import tasks_dataset, tasks_generate, tasks_select, tasks_show, tasks_stats
from jarvis_cli.limits import cell_limits, task_rules
from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import track
from jarvis_cli.sources import (
    Model,
    add_library_option,
    parse_range,
    read_layers,
    read_model,
    shipped_models,
)

EXAMPLES = """
jarvis tasks models                             the models that come with the project
jarvis tasks list house                         which segments of a build can be tasks, and why others can't
jarvis tasks cut house --steps 2-4              one task folder: global build steps 2 to 4
jarvis tasks show tasks/house-s02-s04           what a task holds
jarvis tasks build models/ --out dataset        a dataset of all tasks of a collection
jarvis tasks export house-s02-s04 --from dataset
                                                a task of a dataset as a task folder, its manual drawn
jarvis tasks stats dataset                      its figures beside the published ones
jarvis tasks select dataset --out suite --name mine
                                                choose an evaluation set and freeze it
"""
LIST_EXAMPLES = """
jarvis tasks list house
jarvis tasks list castle.mpd --bricks 4-6 --ldraw-library ~/ldraw
jarvis tasks list car.mpd --leave-out           without what the cell can't build with: wheels, hinges, tilted bricks
"""
CUT_EXAMPLES = """
jarvis tasks cut house --steps 2-4              one task: global build steps 2 to 4
jarvis tasks cut castle.mpd --bricks 4-6 --limit 10 --out tasks/
                                                the first ten possible tasks of 4 to 6 bricks
jarvis tasks cut castle.mpd --steps 4-6 --pages scans/
                                                with pages of a real book, mapped by `jarvis manual match`
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "tasks", "cut builds into tasks, draw their manuals", EXAMPLES)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    for add in ADDED:
        add(actions)


def add_models(actions: Commands) -> None:
    models = add_command(
        actions, "models", "list the models that come with the project", "jarvis tasks models"
    )
    models.set_defaults(run=run_models)


def add_list(actions: Commands) -> None:
    listing = add_command(actions, "list", "which segments of a build can be tasks", LIST_EXAMPLES)
    _add_model(listing)
    listing.set_defaults(run=run_list)


def add_cut(actions: Commands) -> None:
    cut = add_command(actions, "cut", "write task folders of one model", CUT_EXAMPLES)
    _add_model(cut)
    cut.add_argument("--steps", metavar="A-B", help="one task from these global build steps")
    cut.add_argument("--limit", type=positive, default=1000, help="at most this many tasks (default 1000)")
    cut.add_argument(
        "--out", type=Path, default=Path("tasks"), help="folder for task folders (default tasks/)"
    )
    cut.add_argument(
        "--pages", type=Path, metavar="FOLDER", help="page images of a real book instead of a drawn manual"
    )
    cut.add_argument(
        "--map",
        type=Path,
        metavar="FILE",
        help="which page shows which step (default map.csv in that folder)",
    )
    cut.set_defaults(run=run_cut)


#: The actions, in the order of the help. A further one: a module tasks_*.py with its add_* function, and its line here.
ADDED = (
    add_models,
    add_list,
    add_cut,
    tasks_show.add_show,
    tasks_generate.add_generate,
    tasks_dataset.add_build,
    tasks_dataset.add_export,
    tasks_dataset.add_verify,
    tasks_stats.add_stats,
    tasks_select.add_select,
    tasks_select.add_suite,
)


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", help="a .ldr, .mpd or .txt file, or the name of a shipped model")
    parser.add_argument("--bricks", metavar="A-B", help="bricks to place (default: config/tasks.yaml)")
    tasks_dataset.add_leave_out(parser)
    add_library_option(parser)


def run_models(options: argparse.Namespace) -> int:
    for name, path in shipped_models().items():
        model = read_model(str(path), None)
        print(
            f"{name:10} {len(model.assembly.bricks):3} bricks {model.assembly.n_steps:3} steps  {model.assembly.title}"
        )
    return 0


def search(model: Model, rules: TasksConfig) -> SegmentSearch:
    """All segments of a build that the rules look at."""
    cell, limits = cell_limits()
    return find_segments(model.assembly, model.catalogue, limits, rules, cell.plate.studs)


def print_refusals(found: SegmentSearch) -> None:
    """Every reason with its count: nothing is dropped silently."""
    for count in found.refused:
        print(f"  {count.segments:5} refused: {count.reason.value}")
        print(f"        first: steps {count.first.first}-{count.first.last}: {count.example.line()}")


def run_list(options: argparse.Namespace) -> int:
    model = read_layers(options.model, options.ldraw_library)
    found = search(model, task_rules(options.bricks, leave_out=options.leave_out))
    assembly = model.assembly
    print(f"{assembly.name}: {len(assembly.bricks)} bricks, {assembly.n_steps} steps")
    print_reading(model, found)
    print(f"  {found.considered:5} segments looked at, {len(found.accepted)} can be tasks")
    print(f"  {found.too_long:5} not looked at: too many bricks; {found.too_short} too few")
    for segment in found.accepted:
        print(f"        steps {segment.first}-{segment.last}: {segment.n_targets} bricks to place")
    print_refusals(found)
    return 0


def print_reading(model: Model, found: SegmentSearch) -> None:
    """What a person might not expect of how the model is taken."""
    if not model.assembly.has_steps:
        print(f"  no STEP in the file: its {model.assembly.n_steps} layers from low to high are its steps")
    if found.model.left_out:
        print(f"  {len(found.model.left_out):5} bricks left out: the cell can't build with them")


def run_cut(options: argparse.Namespace) -> int:
    model = read_layers(options.model, options.ldraw_library)
    rules = task_rules(options.bricks, leave_out=options.leave_out)
    book = read_book(options.pages, options.map, model, rules)
    if options.steps is not None:
        first, last = parse_range(options.steps, "--steps")
        tasks = [one_task(model, first, last, leave_out=options.leave_out)]
    else:
        found = search(model, rules)
        tasks = list(itertools.islice(found.tasks(), options.limit))
        print_reading(model, found)
        print(f"{len(found.accepted)} of {found.considered} segments can be tasks")
        print_refusals(found)
        if not tasks:
            raise RefusedError("no segment of this build can be a task", where=str(model.path))
    if book is not None:
        tasks = book.shown(tasks)
    for task in track(tasks, "drawing manuals"):
        print(write_task(task, model, options.out, book))
    return 0


def read_book(folder: Path | None, chart: Path | None, model: Model, rules: TasksConfig) -> Book | None:
    """The book that shall stand in for drawn manuals, if any."""
    if folder is None:
        if chart is not None:
            raise BadInputError(
                "a map needs the pages it is about", where=str(chart), fix="give --pages FOLDER"
            )
        return None
    page_files(folder)
    pages = read_map(chart or folder / "map.csv", folder, model.assembly.n_steps)
    cell, limits = cell_limits()
    placed = place(model.assembly, model.catalogue, limits, rules, cell.plate.studs)
    # Steps without bricks on the plate are no steps of a task: their pages are passed over.
    return Book(folder, pages, tuple(sorted({brick.step for brick in placed.bricks})))


def one_task(model: Model, first: int, last: int, *, leave_out: bool = False) -> Task:
    """The task of some steps; raises RefusedError with every reason why it can't be one."""
    cell, limits = cell_limits()
    rules = task_rules(None, leave_out=leave_out)
    placed = place(model.assembly, model.catalogue, limits, rules, cell.plate.studs)
    refusals = CheckedModel(placed, model.catalogue, limits, rules).refusals(first, last)
    if refusals:
        raise RefusedError(
            f"steps {first}-{last} can't be a task: " + "; ".join(r.line() for r in refusals),
            where=str(model.path),
            fix="see `jarvis tasks list` for the segments that can",
        )
    return make_task(placed, first, last)


def write_task(task: Task, model: Model, out: Path, book: Book | None = None) -> Path:
    """Draw the manual, or take a book's pages, and write the task folder; returns it."""
    cell = load_default("cell", CellConfig)
    manual = make_manual(task, cell.plate, model.catalogue, load_default("manual", ManualConfig))
    if book is not None:
        manual = book.manual(task, manual, cell.plate)
    save_task(out / task.id, task, manual)
    return out / task.id
