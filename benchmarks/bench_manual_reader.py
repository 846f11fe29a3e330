"""How well and how fast the manual reader reads a suite's manuals, beside its targets. Prints a table.

./jarvis shell -c 'python benchmarks/bench_manual_reader.py'
./jarvis shell -c 'python benchmarks/bench_manual_reader.py --style photo --size 768 --limit 10'
./jarvis shell -c 'python benchmarks/bench_manual_reader.py --no-words'   (cameras estimated from the pages alone)

The reader gets pages, parts list and words, and what a faultless look from above would show of the initial structure.
Targets are read here for the score only. Time is that of the processor, all threads together.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field

import msgspec
import numpy as np
from jarvis_agent.manual_reader.config import ManualReaderConfig
from jarvis_agent.manual_reader.plan import ReadBrick, ReadPlan
from jarvis_agent.manual_reader.reader import ManualReader
from jarvis_agent.manual_reader.structure import structure_of
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_render.config import ManualConfig
from jarvis_tasks.manual import make_manual, task_brief
from jarvis_tasks.suite import load_suite
from jarvis_tasks.task import PlacedBrick, Task
from rich.console import Console
from rich.table import Table

TARGET_COVERAGE = 0.90
TARGET_POSITION_MM = 5.0
TARGET_PAGE_S = 3.0
#: A brick farther off than this is not the one that was meant.
_FAR_M = 0.050


@dataclass
class Tally:
    """What was counted over all tasks."""

    bricks: int = 0
    covered: int = 0
    exact: int = 0
    extra: int = 0
    pages: int = 0
    understood: int = 0
    wrongly_understood: int = 0
    errors_mm: list[float] = field(default_factory=list)
    page_s: list[float] = field(default_factory=list)


def compare(task: Task, plan: ReadPlan, catalogue: PartCatalogue, tally: Tally) -> tuple[int, int]:
    """Count one task; returns how many bricks are within the target, and how many there are."""
    good = 0
    for step in plan.steps:
        left: list[ReadBrick] = list(step.bricks)
        wanted = [brick for brick in task.targets if brick.step == step.page]
        near = 0
        for brick in wanted:
            found = min(
                (b for b in left if (b.place.part, b.place.colour) == (brick.part, brick.colour)),
                key=lambda b: off_m(brick, b, catalogue),
                default=None,
            )
            if found is None:
                continue
            left.remove(found)
            distance = off_m(brick, found, catalogue)
            tally.covered += 1
            tally.errors_mm.append(1000 * distance)
            near += 1000 * distance <= TARGET_POSITION_MM
        good += near
        tally.bricks += len(wanted)
        tally.exact += near
        tally.extra += len(left)
        tally.pages += 1
        tally.understood += step.understood
        tally.wrongly_understood += step.understood and (near < len(wanted) or bool(left))
    return good, len(task.targets)


def off_m(brick: PlacedBrick, found: ReadBrick, catalogue: PartCatalogue) -> float:
    """Distance of the bodies' middles, which a part's symmetries leave where they are."""
    middle = catalogue.geometry(brick.part).bounds.mean(axis=0)[None]
    return float(np.linalg.norm(brick.pose @ middle - found.place.pose @ middle))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--suite", default="open-50")
    parser.add_argument("--style", default="classic")
    parser.add_argument("--size", type=int, default=512, help="pixels of a page's side")
    parser.add_argument(
        "--limit", type=int, help="only every so many-th task, so that about this many are read"
    )
    parser.add_argument("--no-words", action="store_true", help="leave out the words on the plate's axes")
    options = parser.parse_args()
    library = LDrawLibrary.find()
    suite = load_suite(options.suite, library)
    plate = load_default("cell", CellConfig).plate
    look = load_default("manual", ManualConfig).styled(options.style)
    look = look.changed("--size", width=options.size, height=options.size)
    config = load_default("manual_reader", ManualReaderConfig)
    if options.no_words:
        config = msgspec.structs.replace(config, camera=msgspec.structs.replace(config.camera, words=False))
    names = list(suite.tasks)
    names = names[:: max(1, len(names) // options.limit)] if options.limit else names
    console, tally = Console(), Tally()
    for name in names:
        task, catalogue = suite.task(name), suite.catalogue(name, library)
        brief = task_brief(task, make_manual(task, plate, catalogue, look), budget_s=1e6)
        structure = structure_of(task.scene, catalogue, plate.studs)
        start = time.process_time()
        plan = ManualReader(catalogue, config).read(brief, structure)
        tally.page_s.append((time.process_time() - start) / max(1, len(plan.steps)))
        good, count = compare(task, plan, catalogue, tally)
        console.print(
            f"{name}: {good} of {count} within {TARGET_POSITION_MM:g} mm, {tally.page_s[-1]:.1f} s a page"
        )
    console.print(table(tally, f"{options.suite}, {options.style}, {options.size} px, {len(names)} tasks"))


def table(tally: Tally, title: str) -> Table:
    """The figures beside their targets."""
    near = [error for error in tally.errors_mm if error <= 1000 * _FAR_M]
    rows = (
        ("bricks within 5 mm, in their step", f"{tally.exact / tally.bricks:.1%}", f"{TARGET_COVERAGE:.0%}"),
        ("bricks in their step, wherever", f"{tally.covered / tally.bricks:.1%}", ""),
        ("bricks read that are none", str(tally.extra), "0"),
        ("mean position error within 50 mm", f"{np.mean(near):.2f} mm", f"{TARGET_POSITION_MM:g} mm"),
        ("pages said to be understood", f"{tally.understood} of {tally.pages}", ""),
        ("of those, not exactly right", str(tally.wrongly_understood), "0"),
        (
            "processor time a page, median of tasks",
            f"{np.median(tally.page_s):.2f} s",
            f"{TARGET_PAGE_S:g} s",
        ),
    )
    made = Table(title=title)
    for heading in ("", "measured", "target"):
        made.add_column(heading)
    for row in rows:
        made.add_row(*row)
    return made


if __name__ == "__main__":
    main()
