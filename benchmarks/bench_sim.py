"""How fast the simulated world is, beside its targets. Prints a table, with the machine's own speed in its title.

./jarvis shell -c 'python benchmarks/bench_sim.py'
./jarvis shell -c 'python benchmarks/bench_sim.py --only hold,place --profile'
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_core.cell import Region
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_core.skills import HomeGoal, PickGoal, PlaceGoal
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.settings import Settings
from jarvis_sim.world import TOP_CAMERA, SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from rich.console import Console
from rich.table import Table

#: Red, blue, yellow, green, white.
_COLOURS = (4, 1, 14, 2, 15)
_PRESS_N = 24.0


@dataclass
class Report:
    """Rows of the table: what, value, unit, target and whether it is met."""

    rows: list[tuple[str, str, str, bool]] = field(default_factory=list)

    def at_least(self, what: str, value: float, target: float, unit: str) -> None:
        self.rows.append((what, f"{value:.3g} {unit}", f"> {target:g}", value > target))

    def at_most(self, what: str, value: float, target: float, unit: str) -> None:
        self.rows.append((what, f"{value:.3g} {unit}", f"< {target:g}", value < target))


def loop_s() -> float:
    """Processor seconds of ten million additions in plain Python: how fast this machine is."""
    began, total = time.thread_time(), 0
    for i in range(10**7):
        total += i
    return time.thread_time() - began


def milliseconds(action: Callable[[], object], rounds: int = 10) -> float:
    """Median wall time of a call."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(1e3 * (time.perf_counter() - began))
    return statistics.median(times)


def real_time(world: SimWorld, action: Callable[[], object]) -> float:
    """Simulated time that passes in a call, over processor time (one thread works; others share the machine)."""
    simulated, began = world.time_s, time.thread_time()
    action()
    return (world.time_s - simulated) / (time.thread_time() - began)


class Motion:
    """Adds up processor and simulated time of the robot's motions: physics and control, without planning."""

    def __init__(self, cell: EmbeddedCell) -> None:
        self.spent_s = self.simulated_s = 0.0
        robot = cell.skills.context.robot
        for name in ("follow", "grip", "wait"):
            setattr(robot, name, self._watched(getattr(robot, name), cell.world))

    @property
    def factor(self) -> float:
        return self.simulated_s / self.spent_s

    def _watched(self, method: Callable[..., object], world: SimWorld) -> Callable[..., object]:
        def call(*args: object, **options: object) -> object:
            simulated, began = world.time_s, time.thread_time()
            try:
                return method(*args, **options)
            finally:
                self.spent_s += time.thread_time() - began
                self.simulated_s += world.time_s - simulated

        return call


def block(name: str, i: int, *, first_layer: int = 0) -> PlacedBrick:
    """The i-th 2x4 brick of a solid block on the plate: 8 x 16 bricks in a layer."""
    layer, rest = divmod(i, 128)
    row, column = divmod(rest, 8)
    x, y = (4 * column - 14) * STUD_PITCH_M, (2 * row - 15) * STUD_PITCH_M
    pose = Pose((x, y, (first_layer + layer + 1) * BRICK_HEIGHT_M))
    return PlacedBrick(name, "3001", _COLOURS[i % len(_COLOURS)], pose, 0, GROUND, ())


def structure_task(n_scene: int, n_loose: int = 1) -> Task:
    """A block of bricks; the loose ones belong in the middle of a layer that is still empty."""
    scene = tuple(block(f"s{i:03d}", i) for i in range(n_scene))
    top = n_scene // 128
    loose = tuple(block(f"t{i:03d}", 68 + 2 * i, first_layer=top) for i in range(n_loose))
    return Task(TASK_SCHEMA, f"block-{n_scene}", "block", "", "", "", (1, 1), scene, loose)


@contextmanager
def cell_of(task: Task, settings: Settings) -> Iterator[EmbeddedCell]:
    cell = EmbeddedCell.build(task, settings, PartCatalogue(), 0)
    try:
        yield cell
    finally:
        cell.close()


def carry(cell: EmbeddedCell) -> tuple[float, float]:
    """Pick and place the first loose brick; multiples of real time while it is carried, and over all motions."""
    brick = cell.world.task.targets[0]
    pose = cell.world.cell.plate.pose @ brick.pose
    motion = Motion(cell)
    picked = cell.skills.run(PickGoal(brick.id, pose))
    held = real_time(cell.world, lambda: cell.world.advance(3.0))
    placed = cell.skills.run(PlaceGoal(pose))
    if not (picked.ok and placed.ok):
        raise SystemExit(f"the bench's own brick was not placed: {picked.message}; {placed.message}")
    cell.skills.run(HomeGoal())
    return held, motion.factor


def bench_hold(report: Report, settings: Settings) -> None:
    with cell_of(structure_task(0), settings) as cell:
        report.at_least(
            "arm alone, standing", real_time(cell.world, lambda: cell.world.advance(3.0)), 50, "x"
        )
        held, moving = carry(cell)
    report.at_least("arm and held brick, standing", held, 50, "x")
    report.at_least("arm and held brick, pick and place", moving, 50, "x")


def bench_place(report: Report, settings: Settings) -> None:
    with cell_of(structure_task(390), settings) as cell:
        held, moving = carry(cell)
    report.at_least("390 bricks stand: held brick", held, 10, "x")
    report.at_least("390 bricks stand: pick and place", moving, 10, "x")


def bench_welded(report: Report, settings: Settings) -> None:
    """Bricks appear at their places one after the other and are pressed on by a force: only the clutch is at work."""
    task = Task(
        TASK_SCHEMA, "pile", "pile", "", "", "", (1, 1), (), tuple(block(f"t{i:03d}", i) for i in range(200))
    )
    cell = msgspec.structs.replace(
        settings.cell, supply=msgspec.structs.replace(
            settings.cell.supply, region=Region(x=(-2.0, 2.0), y=(-4.0, -0.5)), target_distance_m=0.1
        ), table=Region(x=(-3.0, 3.0), y=(-5.0, 1.0)),
    )  # fmt: skip
    world = SimWorld(task, cell, settings.sim, PartCatalogue(), 0)
    world.advance(1.0)
    speeds = []
    for brick in task.targets:
        world.move(brick.id, cell.plate.pose @ brick.pose.translated((0.0, 0.0, 0.0002)))
        world.advance(0.05)
        speeds.append(real_time(world, lambda name=brick.id: _press(world, name)))
    engaged = {upper for upper, _ in world.state().connections}
    report.at_least("bricks engaged of 200", len(engaged), 199, "")
    report.at_least("first 20 of 200 pressed on", statistics.median(speeds[:20]), 10, "x")
    report.at_least("last 20 of 200 pressed on", statistics.median(speeds[-20:]), 10, "x")
    world.close()


def _press(world: SimWorld, brick: str) -> None:
    force = world.engine.data.xfrc_applied[world.engine.body(brick)]
    force[2] = -_PRESS_N
    world.advance(0.1)
    force[2] = 0.0
    world.advance(0.3)


def bench_state(report: Report, settings: Settings) -> None:
    with cell_of(structure_task(57, 5), settings) as cell:
        world = cell.world
        carry(cell)
        saved = world.snapshot()
        seeds = iter(range(1000))
        report.at_most(
            "reset, 57 bricks and 5 loose", milliseconds(lambda: world.reset(next(seeds))), 100, "ms"
        )
        report.at_most("snapshot", milliseconds(world.snapshot), 5, "ms")
        report.at_most("restore", milliseconds(lambda: world.restore(saved)), 5, "ms")


def bench_camera(report: Report, settings: Settings) -> None:
    for n_scene, target in ((57, 10), (411, 25)):
        with cell_of(structure_task(n_scene), settings) as cell:
            cell.world.cameras.picture(TOP_CAMERA)
            shot = milliseconds(lambda w=cell.world: w.cameras.picture(TOP_CAMERA), 20)
            report.at_most(f"top camera 640x480, colour, {n_scene} bricks", shot, target, "ms")
            both = milliseconds(cell.camera.capture, 20)
            report.at_most(f"top camera 640x480, RGB-D, {n_scene} bricks", both, 2 * target, "ms")


BENCHES: dict[str, Callable[[Report, Settings], None]] = {
    "hold": bench_hold,
    "place": bench_place,
    "welded": bench_welded,
    "state": bench_state,
    "camera": bench_camera,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default=",".join(BENCHES), help="which of them, comma-separated")
    parser.add_argument("--profile", action="store_true", help="also print where the time goes")
    options = parser.parse_args()
    settings, report = Settings.load(), Report()
    loops = [loop_s()]
    for name in options.only.split(","):
        profile = cProfile.Profile() if options.profile else None
        if profile is not None:
            profile.runcall(BENCHES[name], report, settings)
            pstats.Stats(profile).sort_stats("tottime").print_stats(25)
        else:
            BENCHES[name](report, settings)
        gc.collect()
        loops.append(loop_s())
    table = Table(
        title=f"simulated world; ten million additions in Python take {np.median(loops):.2f} s here"
    )
    for column in ("what", "measured", "target", ""):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, value, target, met in report.rows:
        table.add_row(what, value, target, "" if met else "missed")
    Console().print(table)


if __name__ == "__main__":
    main()
