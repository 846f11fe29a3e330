"""``jarvis tasks show``: what a task holds, in words and as a page."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from jarvis_bench.task_page import Standing, degrees, draw_pictures, millimetres, write_task_page
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_render.config import ManualConfig

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.pools import NamedTask, read_named_task
from jarvis_cli.sources import add_library_option

EXAMPLES = """
jarvis tasks show tasks/house-s02-s04
jarvis tasks show tasks/house-s02-s04 --page house.html --open
jarvis tasks show suites/mine:house-s02-s04 --page house.html
"""


def add_show(actions: Commands) -> None:
    show = add_command(actions, "show", "print what a task holds, or write a page that shows it", EXAMPLES)
    show.add_argument("task", help="task folder, or SUITE:ID or DATASET:ID")
    show.add_argument("--page", type=Path, metavar="HTML", help="write one self-contained page")
    show.add_argument(
        "--open", action="store_true", help="open the page in a browser (default page: ID.html)"
    )
    add_library_option(show)
    show.set_defaults(run=run_show)


def run_show(options: argparse.Namespace) -> int:
    named = read_named_task(options.task, LDrawLibrary.find(options.ldraw_library))
    print_task(named)
    page: Path | None = options.page
    if page is None and options.open:
        page = Path(f"{named.task.id}.html")
    if page is not None:
        write_page(named, page)
        print(f"page: {page}")
        if options.open:
            webbrowser.open(page.resolve().as_uri())
    return 0


def print_task(named: NamedTask) -> None:
    task = named.task
    pages = 1 + max(brick.step for brick in task.targets)
    print(f"{task.id}: {task.title} ({task.author}; {task.licence})")
    print(f"  {len(task.scene)} bricks stand, {task.n_required} to place, {pages} pages")
    if named.standing is not None:
        print(f"  {_standing_line(named.standing)}")
    for brick in task.targets:
        x, y, z = (millimetres(v) for v in brick.pose.position)
        print(
            f"  step {brick.step}: {brick.id} part {brick.part} colour {brick.colour} at "
            f"({x}, {y}, {z}) mm, {degrees(brick.pose.yaw)} deg, on {brick.support}"
        )
    if named.manual is not None:
        print(named.manual.axes)


def _standing_line(standing: Standing) -> str:
    return f"{standing.stratum} in {standing.suite}: difficulty {standing.difficulty:.3f} of 0 to 1"


def write_page(named: NamedTask, page: Path) -> None:
    """Draw what is not drawn yet and write the page."""
    catalogue = named.catalogue()
    plate = load_default("cell", CellConfig).plate
    pictures = draw_pictures(named.task, plate, catalogue, load_default("manual", ManualConfig))
    write_task_page(page, named.task, named.drawn(), pictures, catalogue.colours, named.standing)
