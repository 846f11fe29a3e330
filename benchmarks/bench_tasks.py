"""How fast models become tasks, and what a dataset at full scale takes. Prints tables; machines differ and are noisy.

./jarvis shell -c 'python benchmarks/bench_tasks.py'
./jarvis shell -c 'python benchmarks/bench_tasks.py --models $LDRAW_MODELS'  (real ones, what can't be built left out)
./jarvis shell -c 'python benchmarks/bench_tasks.py --tasks 236679'           (full scale, some minutes)

A large collection is made by writing the shipped models again under new names; everything is read, checked and written
anew for each. Where fewer tasks are built than the full scale has, the time for all is extrapolated and marked with ~.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_cli.limits import cell_limits, task_rules
from jarvis_cli.sources import shipped_models
from jarvis_core.pose import Pose
from jarvis_tasks.dataset.build import BuildReport, build_dataset
from jarvis_tasks.dataset.index import count_rows
from jarvis_tasks.dataset.layout import SPLITS, index_path
from jarvis_tasks.dataset.reader import TaskDataset
from jarvis_tasks.dataset.sources import collect
from jarvis_tasks.dataset.units import UnitSettings
from jarvis_tasks.filters import CheckedModel
from jarvis_tasks.layers import in_layers
from jarvis_tasks.segment import TaskMaker
from jarvis_tasks.select import find_segments, judge_segments, place
from rich.console import Console
from rich.table import Table

#: Of the published training set.
FULL_SCALE = 236_679
TARGET_TASKS_PER_S = 1_000
TARGET_MIB = 2_048
_MIB = 2**20


def wall(bricks: int) -> Assembly:
    """A wall in running bond, two bricks a step."""
    length = 10
    rows = []
    for index in range(bricks):
        layer, column = divmod(index, length)
        pose = Pose(((column * 4 + 2 * (layer % 2)) * STUD_PITCH_M, 0.0, (layer + 1) * BRICK_HEIGHT_M))
        rows.append(Brick(f"b{index:04d}", "3001", 4, pose, index // 2 + 1))
    return Assembly(f"wall of {bricks}", "", "", "", True, tuple(rows))


def cut_rates(assemblies: Iterable[Assembly], catalogue: PartCatalogue, table: Table) -> None:
    """One process: the check of a model (grips, support), then judging its runs of steps, tasks, hashes."""
    cell, limits = cell_limits()
    rules = task_rules(None, leave_out=True)
    for assembly in assemblies:
        began = time.process_time()
        model = place(assembly, catalogue, limits, rules, cell.plate.studs)
        placed = time.process_time()
        checked = CheckedModel(model, catalogue, limits, rules)
        ready = time.process_time()
        found = judge_segments(checked, rules)
        maker = TaskMaker(model)
        for segment in found.accepted:
            maker.digest(segment.first, segment.last)
        cut = time.process_time() - ready
        if found.accepted:
            rate = len(found.accepted) / cut
            table.add_row(
                assembly.name[:32],
                f"{len(model.bricks):,}",
                f"{len(found.accepted):,}",
                f"{placed - began:.2f}",
                f"{ready - placed:.2f}",
                f"{cut:.3f}",
                f"{rate:,.0f}",
                f"{rate / TARGET_TASKS_PER_S:.1f}",
            )


def write_copies(folder: Path, count: int) -> None:
    """So many models: the shipped ones in turn, under new names and of other bytes."""
    texts = {name: path.read_text() for name, path in shipped_models().items()}
    names = sorted(texts)
    for number in range(count):
        name = names[number % len(names)]
        (folder / f"{name}-{number:06d}.mpd").write_text(f"{texts[name]}\n0 // number {number}\n")


def memory_mib(jobs: int) -> float:
    """At most: this process and, for every worker, the largest of them."""
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return (own + (child * jobs if jobs > 1 else 0)) / 1024


def cpu_seconds() -> float:
    """Of this process and all its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def tasks_per_model() -> float:
    """Of the shipped models."""
    cell, limits = cell_limits()
    rules = task_rules(None, leave_out=False)
    catalogue = PartCatalogue()
    read = [read_assembly(path, library=None) for path in shipped_models().values()]
    found = [find_segments(model, catalogue, limits, rules, cell.plate.studs) for model in read]
    return sum(len(search.accepted) for search in found) / len(found)


def build(out: Path, models: Path, jobs: int) -> tuple[BuildReport, float]:
    """A build without a parts library; returns it and its seconds."""
    cell, limits = cell_limits()
    rules = task_rules(None, leave_out=False)
    settings = UnitSettings(rules, limits, cell.plate, None, 0, None, "")
    began = time.perf_counter()
    report = build_dataset(collect([models]), out, settings, None, jobs=jobs)
    return report, time.perf_counter() - began


def full_scale(tasks: int, jobs: int, table: Table) -> None:
    """Build, resume and read a dataset of about so many tasks."""
    with tempfile.TemporaryDirectory() as folder:
        models, out = Path(folder) / "models", Path(folder) / "dataset"
        models.mkdir()
        write_copies(models, max(6, round(tasks / tasks_per_model())))
        spent = cpu_seconds()
        report, seconds = build(out, models, jobs)
        spent = cpu_seconds() - spent
        memory = memory_mib(jobs)
        made, bricks = report.info.counts.n_tasks, report.info.counts.bricks
        whole = seconds * FULL_SCALE / made
        about = "~" if made < FULL_SCALE else ""
        size = sum(path.stat().st_size for path in out.rglob("*") if path.is_file())
        rows = [
            ("models", f"{report.built:,}", ""),
            ("tasks", f"{made:,}", ""),
            (f"build, {jobs} processes", f"{seconds:.1f} s, {made / seconds:,.0f} tasks/s", ""),
            ("of it on the processor", f"{spent:.1f} CPU s, {1e3 * spent / bricks:.1f} ms a brick", ""),
            (f"all {FULL_SCALE:,} tasks", f"{about}{whole / 60:.1f} min", "minutes"),
            (
                f"the same on {jobs} cores of its own",
                f"{about}{spent * FULL_SCALE / made / jobs / 60:.1f} min",
                "minutes",
            ),
            ("memory, all processes, at most", f"{memory:,.0f} MiB", f"{TARGET_MIB:,} MiB"),
            ("on disk", f"{size / _MIB:,.1f} MiB, {size / made:,.0f} bytes a task", ""),
        ]
        began = time.perf_counter()
        again = build(out, models, jobs)[0].there
        rows.append(("run again: all there", f"{again:,} in {time.perf_counter() - began:.1f} s", ""))
        rows += reading(TaskDataset.open(out))
        for row in rows:
            table.add_row(*row)


def reading(dataset: TaskDataset) -> list[tuple[str, str, str]]:
    total = sum(count_rows(dataset.folder / index_path(split)) for split in SPLITS)
    began = time.perf_counter()
    count = sum(1 for _ in dataset.rows())
    passed = time.perf_counter() - began
    assert count == total
    ids = [row.id for number, row in enumerate(dataset.rows()) if number < 5_000]
    began = time.perf_counter()
    for name in ids:
        dataset.task(name)
    tasks = len(ids) / (time.perf_counter() - began)
    began = time.perf_counter()
    faults = dataset.verify()
    assert not faults
    return [
        ("rows read", f"{count / passed:,.0f} rows/s", ""),
        ("tasks read with their truth", f"{tasks:,.0f} tasks/s", f"{TARGET_TASKS_PER_S:,} tasks/s"),
        ("every file and row verified", f"{time.perf_counter() - began:.1f} s", ""),
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--models", type=Path, help="folder of real models to cut (with LDRAWDIR)")
    parser.add_argument("--tasks", type=int, default=10_000, help="of the dataset (default 10000)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes (default: cores)")
    options = parser.parse_args(arguments)
    scale = Table("what", "measured", "target", title="A dataset, built from files and read")
    # First: on Linux a process counts what its parent held when it was started.
    full_scale(options.tasks, options.jobs, scale)
    rates = Table(title="Tasks of one model, one process, CPU seconds")
    for column in ("model", "bricks", "tasks", "place", "check", "cut", "tasks/s", "of target"):
        rates.add_column(column, justify="left" if column == "model" else "right")
    built_in = PartCatalogue()
    shipped = [read_assembly(path, library=None) for path in shipped_models().values()]
    cut_rates([*shipped, wall(60), wall(300)], built_in, rates)
    if options.models is not None:
        library = LDrawLibrary.find()
        shared = PartCatalogue(library)
        for path in sorted(options.models.glob("*.mpd")):
            read = read_assembly(path, library=library)
            own = read.inline_parts or read.colours
            catalogue = PartCatalogue.for_model(path, library) if own else shared
            cut_rates([in_layers(read, catalogue)], catalogue, rates)
    Console().print(rates)
    Console().print(scale)


if __name__ == "__main__":
    main()
