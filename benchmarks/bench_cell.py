"""How fast the embedded cell is. Prints a table; machines differ and are noisy, so compare runs of one session.

./jarvis shell -c 'python benchmarks/bench_cell.py'
./jarvis shell -c 'python benchmarks/bench_cell.py --model bridge --steps 6-8 --rounds 5'
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable

from jarvis_cli.sources import parse_range, read_model
from jarvis_cli.tasks import one_task
from jarvis_core.skills import HomeGoal, PickAndPlaceGoal
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.settings import Settings
from jarvis_sim.world import OVERVIEW_CAMERA, TOP_CAMERA
from jarvis_tasks.targets import target_objects
from rich.console import Console
from rich.table import Table


def timed(action: Callable[[], object], rounds: int) -> list[float]:
    """Wall seconds of each round."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return times


class Planning:
    """Adds up the wall time spent in the planner."""

    def __init__(self, backend: object) -> None:
        self.seconds = 0.0
        for name in ("plan_to_joints", "plan_to_pose", "plan_line", "inverse", "set_obstacles"):
            setattr(backend, name, self._watched(getattr(backend, name)))

    def _watched(self, function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            began = time.perf_counter()
            try:
                return function(*args, **options)
            finally:
                self.seconds += time.perf_counter() - began

        return call


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="house")
    parser.add_argument("--steps", default="8-11")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    model = read_model(options.model, None)
    task = one_task(model, *parse_range(options.steps, "--steps"))
    settings = Settings.load()
    rows: list[tuple[str, list[float], str]] = []

    began = time.perf_counter()
    cell = EmbeddedCell.build(task, settings, model.catalogue, 0)
    rows.append(("build the cell", [time.perf_counter() - began], "s"))
    world = cell.world
    rows.append(
        (
            "idle, multiple of real time",
            [2.0 / t for t in timed(lambda: world.advance(2.0), options.rounds)],
            "x",
        )
    )
    for name in (TOP_CAMERA, OVERVIEW_CAMERA):
        world.cameras.picture(name)
        rows.append(
            (
                f"{name} camera, colour",
                [1e3 * t for t in timed(lambda n=name: world.cameras.picture(n), 10)],
                "ms",
            )
        )
    rows.append(("top camera, RGB-D", [1e3 * t for t in timed(cell.camera.capture, 10)], "ms"))
    start = world.snapshot()
    rows.append(("snapshot", [1e3 * t for t in timed(world.snapshot, 10)], "ms"))
    rows.append(("restore", [1e3 * t for t in timed(lambda: world.restore(start), 10)], "ms"))

    planning = Planning(cell.skills.context.backend)
    targets = target_objects(task, model.catalogue, settings.cell.plate.pose)
    walls, plans, speeds = [], [], []
    for _ in range(options.rounds):
        for target in targets:
            simulated, planned, began = world.time_s, planning.seconds, time.perf_counter()
            cell.skills.run(PickAndPlaceGoal(target.object.id, target.object.pose))
            walls.append(time.perf_counter() - began)
            plans.append(1e3 * (planning.seconds - planned))
            speeds.append((world.time_s - simulated) / walls[-1])
        cell.skills.run(HomeGoal())
        world.restore(start)
    rows.append(("pick and place, wall", walls, "s"))
    rows.append(("pick and place, planning", plans, "ms"))
    rows.append(("pick and place, multiple of real time", speeds, "x"))
    cell.close()

    table = Table(
        title=f"embedded cell, task {task.id}: {len(task.scene)} bricks stand, {task.n_required} loose"
    )
    for column in ("what", "median", "min", "max", "unit"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, values, unit in rows:
        table.add_row(what, *(f"{f(values):.3g}" for f in (statistics.median, min, max)), unit)
    Console().print(table)
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
