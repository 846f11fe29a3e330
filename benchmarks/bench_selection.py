"""How fast an evaluation set is chosen from a large pool. Prints a table; machines differ and are noisy.

./jarvis shell -c 'python benchmarks/bench_selection.py'
./jarvis shell -c 'python benchmarks/bench_selection.py --tasks 1000000 --models 40000'
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

from jarvis_core.config import load_default
from jarvis_core.seeds import generator
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.difficulty import DifficultyScale
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.selection import select
from jarvis_tasks.statistics import pool_statistics
from rich.console import Console
from rich.table import Table

#: Seconds for choosing from 100,000 tasks on two shared cores.
TARGET_S = 5.0


def pool(tasks: int, models: int) -> list[TaskRow]:
    """Made-up tasks with horizons and scenes about as skewed as real ones."""
    dice = generator(1, "bench", "selection")
    scene = (dice.lognormal(3.9, 0.9, tasks)).astype(int).clip(0, 740).tolist()
    act = dice.geometric(0.22, tasks).clip(1, 43).tolist()
    owner = dice.integers(0, models, tasks).tolist()
    return [
        TaskRow(f"m{m:05d}-t{i:06d}", f"m{m:05d}", "", "", "", "test", 1, 1, s, a, 2, 0, "")
        for i, (m, s, a) in enumerate(zip(owner, scene, act, strict=True))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tasks", type=int, default=100_000)
    parser.add_argument("--models", type=int, default=4_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rows = pool(options.tasks, options.models)
    config = load_default("tasks", TasksConfig)
    actions: dict[str, Callable[[], object]] = {
        "difficulty": lambda: DifficultyScale.of(rows, config.selection.alpha).values(rows),
        "selection": lambda: select(rows, config.selection),
        "statistics": lambda: pool_statistics(rows, config.bins),
    }
    times: dict[str, list[float]] = {name: [] for name in actions}
    for _ in range(options.rounds):
        for name, action in actions.items():
            began = time.perf_counter()
            action()
            times[name].append(time.perf_counter() - began)
    table = Table(title=f"{options.tasks:,} tasks of {options.models:,} models")
    for column in ("what", "median", "best", "worst"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, found in times.items():
        table.add_row(name, *(f"{v:.2f} s" for v in (statistics.median(found), min(found), max(found))))
    console = Console()
    console.print(table)
    median = statistics.median(times["selection"])
    console.print(f"selection: {median / TARGET_S:.2f} of the target of {TARGET_S:g} s for 100,000 tasks")


if __name__ == "__main__":
    main()
