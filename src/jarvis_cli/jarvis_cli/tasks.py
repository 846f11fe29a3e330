"""``jarvis tasks``: from models to tasks."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import msgspec
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_render.config import ManualConfig
from jarvis_robot.config import load_robot_config
from jarvis_skills.config import SkillsConfig
from jarvis_skills.grasp import fingers_of
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits, CheckedModel
from jarvis_tasks.manual import make_manual
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.segment import make_task
from jarvis_tasks.select import SegmentSearch, find_segments
from jarvis_tasks.store import save_task
from jarvis_tasks.task import Task

from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import track
from jarvis_cli.sources import Model, add_library_option, parse_range, read_model, read_task, shipped_models

EXAMPLES = """
jarvis tasks models                             the models that come with the project
jarvis tasks list house                         which segments of a build can be tasks, and why others can't
jarvis tasks build house --steps 2-4            one task: global build steps 2 to 4
jarvis tasks show tasks/house-s02-s04           what a task holds
"""
LIST_EXAMPLES = """
jarvis tasks list house
jarvis tasks list castle.mpd --bricks 4-6 --ldraw-library ~/ldraw
"""
BUILD_EXAMPLES = """
jarvis tasks build house --steps 2-4            one task: global build steps 2 to 4
jarvis tasks build castle.mpd --bricks 4-6 --limit 10 --out tasks/
                                                the first ten possible tasks of 4 to 6 bricks
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "tasks", "cut builds into tasks, draw their manuals", EXAMPLES)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    models = add_command(
        actions, "models", "list the models that come with the project", "jarvis tasks models"
    )
    models.set_defaults(run=run_models)
    listing = add_command(actions, "list", "which segments of a build can be tasks", LIST_EXAMPLES)
    build = add_command(actions, "build", "write task folders", BUILD_EXAMPLES)
    for sub in (listing, build):
        sub.add_argument("model", help="a .ldr or .mpd file, or the name of a shipped model")
        sub.add_argument("--bricks", metavar="A-B", default="1-12", help="bricks to place (default 1-12)")
        add_library_option(sub)
    listing.set_defaults(run=run_list)
    build.add_argument("--steps", metavar="A-B", help="one task from these global build steps")
    build.add_argument("--limit", type=positive, default=1000, help="at most this many tasks (default 1000)")
    build.add_argument(
        "--out", type=Path, default=Path("tasks"), help="folder for task folders (default tasks/)"
    )
    build.set_defaults(run=run_build)
    show = add_command(actions, "show", "print what a task holds", "jarvis tasks show tasks/house-s02-s04")
    show.add_argument("task", type=Path, help="task folder")
    show.set_defaults(run=run_show)


def run_models(options: argparse.Namespace) -> int:
    for name, path in shipped_models().items():
        model = read_model(str(path), None)
        print(
            f"{name:8} {len(model.assembly.bricks):3} bricks {model.assembly.n_steps:3} steps  {model.assembly.title}"
        )
    return 0


def cell_limits() -> tuple[CellConfig, CellLimits]:
    """What the configured cell allows."""
    cell = load_default("cell", CellConfig)
    gripper = load_robot_config(cell.robot).gripper
    slack = load_default("skills", SkillsConfig).finger_slack_m
    return cell, CellLimits.of(cell, fingers_of(gripper, slack))


def search(model: Model, bricks: str) -> SegmentSearch:
    """All segments of a build with so many bricks to place."""
    cell, limits = cell_limits()
    fewest, most = parse_range(bricks, "--bricks")
    config = msgspec.structs.replace(load_default("tasks", TasksConfig), min_bricks=fewest, max_bricks=most)
    return find_segments(model.assembly, model.catalogue, limits, config, cell.plate.studs)


def print_refusals(found: SegmentSearch) -> None:
    """Every reason with its count: nothing is dropped silently."""
    for count in found.refused:
        print(f"  {count.segments:5} refused: {count.reason.value}")
        print(f"        first: steps {count.first.first}-{count.first.last}: {count.example.line()}")


def run_list(options: argparse.Namespace) -> int:
    model = read_model(options.model, options.ldraw_library)
    found = search(model, options.bricks)
    assembly = model.assembly
    print(f"{assembly.name}: {len(assembly.bricks)} bricks, {assembly.n_steps} steps")
    print(f"  {found.considered:5} segments looked at, {len(found.accepted)} can be tasks")
    for segment in found.accepted:
        print(f"        steps {segment.first}-{segment.last}: {segment.n_targets} bricks to place")
    print_refusals(found)
    return 0


def run_build(options: argparse.Namespace) -> int:
    model = read_model(options.model, options.ldraw_library)
    if options.steps is not None:
        tasks = [one_task(model, *parse_range(options.steps, "--steps"))]
    else:
        found = search(model, options.bricks)
        tasks = [make_task(found.model, s.first, s.last) for s in found.accepted[: options.limit]]
        print(f"{len(found.accepted)} of {found.considered} segments can be tasks")
        print_refusals(found)
        if not tasks:
            raise RefusedError("no segment of this build can be a task", where=str(model.path))
    for task in track(tasks, "drawing manuals"):
        print(write_task(task, model, options.out))
    return 0


def one_task(model: Model, first: int, last: int) -> Task:
    """The task of some steps; raises RefusedError with every reason why it can't be one."""
    cell, limits = cell_limits()
    config = load_default("tasks", TasksConfig)
    placed = place_on_plate(model.assembly, model.catalogue, cell.plate.studs)
    refusals = CheckedModel(placed, model.catalogue, limits, config).refusals(first, last)
    if refusals:
        raise RefusedError(
            f"steps {first}-{last} can't be a task: " + "; ".join(r.line() for r in refusals),
            where=str(model.path),
            fix="see `jarvis tasks list` for the segments that can",
        )
    return make_task(placed, first, last)


def write_task(task: Task, model: Model, out: Path) -> Path:
    """Draw the manual and write the task folder; returns it."""
    cell = load_default("cell", CellConfig)
    manual = make_manual(task, cell.plate, model.catalogue, load_default("manual", ManualConfig))
    save_task(out / task.id, task, manual)
    return out / task.id


def run_show(options: argparse.Namespace) -> int:
    task, manual = read_task(options.task)
    print(f"{task.id}: {task.title} ({task.author}; {task.licence})")
    print(f"  {len(task.scene)} bricks stand, {task.n_required} to place, {len(manual.pages)} pages")
    for brick in task.targets:
        x, y, z = (1e3 * v for v in brick.pose.position)
        yaw = math.degrees(brick.pose.yaw)
        print(
            f"  step {brick.step}: {brick.id} part {brick.part} colour {brick.colour} at "
            f"({x:.1f}, {y:.1f}, {z:.1f}) mm, {yaw:.0f} deg, on {brick.support}"
        )
    print(manual.axes)
    return 0
