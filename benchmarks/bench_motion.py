"""How long motions of a pick and place take to plan, and to run, by backend and number of obstacles. Prints a table.

./jarvis shell -c 'python benchmarks/bench_motion.py'
./jarvis shell -c 'python benchmarks/bench_motion.py --backends roboplan ompl --isolate --boxes 400'

Targets on a usual desktop core: 60 ms median and 250 ms at the 95th percentile, all motions of one pick and place
together. Machines differ and are shared: processor time leaves out waiting for a core (of this process, so it means
nothing with --isolate), and the last line says how fast the cores are (10 million additions in a Python loop: 0.6 s on
such a core), by which it may be scaled.
"""

from __future__ import annotations

import argparse
import time

import msgspec
import numpy as np
from jarvis_core.config import load_default
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seeds import generator
from jarvis_motion.backend import MotionBackend, Obstacle, Plan
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import make_backend
from jarvis_robot.model import RobotModel
from rich.console import Console
from rich.table import Table

BRICK_M = (0.0318, 0.0158, 0.0096)
TABLE = Obstacle("table", Box(Pose((0.35, 0.0, -0.05)), (1.3, 1.2, 0.1)))
COLUMNS, ROWS = 6, 10
HOVER_M, NEAR_M = 0.08, 0.01
#: Height of the tool's frame over what a gripped brick stands on: the pads end 1.6 mm over it.
TOOL_M = 0.0105
LOOP = 10_000_000


def down(x: float, y: float, z: float, yaw: float) -> Pose:
    """A tool pose looking straight down."""
    return Pose.from_yaw((x, y, z), yaw) @ Pose((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))


def structure(count: int) -> list[Obstacle]:
    """So many bricks in layers, side by side."""
    places = [(i % COLUMNS, (i // COLUMNS) % ROWS, i // (COLUMNS * ROWS)) for i in range(count)]
    return [
        Obstacle(f"b{i}", Box(Pose((0.42 + 0.032 * x, 0.02 + 0.016 * y, 0.0048 + 0.0096 * z)), BRICK_M))
        for i, (x, y, z) in enumerate(places)
    ]


class PickAndPlace:
    """One loose brick, put on top of the structure; the motions that the skills ask for."""

    def __init__(self, backend: MotionBackend, robot: RobotModel, standing: list[Obstacle]) -> None:
        self._backend = backend
        self._standing = [TABLE, *standing]
        self._home = np.array(robot.config.home_rad)
        self._width_m = robot.config.gripper.max_width_m
        self.seconds: list[float] = []
        self.busy_s: list[float] = []
        self.motions_s: list[float] = []
        self.failures: list[str] = []

    def run(self, rng: np.random.Generator) -> None:
        """Plan it once, at a place of its own."""
        x, y, yaw = rng.uniform(0.4, 0.6), rng.uniform(-0.3, -0.1), rng.uniform(-1.5, 1.5)
        top = max((o.box.pose.position[2] for o in self._standing[1:]), default=-0.0048) + 0.0048
        pick = down(x, y, TOOL_M, yaw)
        place = down(
            0.42 + 0.032 * rng.integers(COLUMNS), 0.02 + 0.016 * rng.integers(ROWS), top + TOOL_M + 0.001, 0.0
        )
        brick = Obstacle("loose", Box(Pose.from_yaw((x, y, 0.0048), yaw), BRICK_M))
        self._joints: FloatArray | None = self._home
        self._motion_s = 0.0
        began, busy = time.perf_counter(), time.process_time()
        self._backend.set_obstacles([*self._standing, brick])
        self._backend.set_gripper_width(self._width_m)
        self._free(pick.translated((0.0, 0.0, HOVER_M)))
        self._down_to(pick)
        self._backend.attach("loose", [Box(pick.inverse() @ brick.box.pose, BRICK_M)])
        self._backend.set_gripper_width(BRICK_M[1])
        self._line(pick.translated((0.0, 0.0, HOVER_M)), 0.5)
        self._free(place.translated((0.0, 0.0, HOVER_M)))
        self._down_to(place)
        self._backend.detach()
        self._line(place.translated((0.0, 0.0, HOVER_M)), 0.5)
        if self._joints is not None:
            self._took(self._backend.plan_to_joints(self._joints, self._home))
        if self._joints is not None:
            self.seconds.append(time.perf_counter() - began)
            self.busy_s.append(time.process_time() - busy)
            self.motions_s.append(self._motion_s)

    def _down_to(self, tool: Pose) -> None:
        self._line(tool.translated((0.0, 0.0, NEAR_M)), 0.5)
        self._line(tool, 0.1)

    def _free(self, tool: Pose) -> None:
        if self._joints is not None:
            self._took(self._backend.plan_to_pose(self._joints, tool))

    def _line(self, tool: Pose, speed: float) -> None:
        if self._joints is not None:
            self._took(
                self._backend.plan_line(self._joints, tool, speed=speed, allow_contact=["table", "loose"])
            )

    def _took(self, plan: Plan) -> None:
        if plan.trajectory is None:
            self.failures.append(plan.message)
            self._joints = None
        else:
            self._joints = plan.trajectory.positions[-1]
            self._motion_s += plan.trajectory.duration_s


def loop_s() -> float:
    """Processor seconds of a plain Python loop: how fast this machine's cores are right now."""
    began, total = time.process_time(), 0
    for i in range(LOOP):
        total += i
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--backends", nargs="+", default=["roboplan"])
    parser.add_argument("--boxes", nargs="+", type=int, default=[0, 57, 400])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--isolate", action="store_true", help="each backend in a process of its own")
    parser.add_argument("--jerk-scale", type=float, help="instead of the configured one")
    options = parser.parse_args()
    robot, config = RobotModel.load("panda"), load_default("motion", MotionConfig)
    config = msgspec.structs.replace(
        config, isolate=options.isolate, jerk_scale=options.jerk_scale or config.jerk_scale
    )
    table = Table(title=f"one pick and place, all motions{', isolated' if options.isolate else ''}")
    for column in ("backend", "boxes", "planned", "median ms", "95 % ms", "processor ms", "motion s"):
        table.add_column(column, justify="left" if column == "backend" else "right")
    loops, failures = [loop_s()], []
    for name in options.backends:
        backend = make_backend(robot, msgspec.structs.replace(config, backend=name))
        for count in options.boxes:
            task = PickAndPlace(backend, robot, structure(count))
            rng = generator(0, "bench-motion")
            for _ in range(options.rounds):
                task.run(rng)
            ms = 1e3 * np.array(task.seconds or [np.nan])
            table.add_row(
                name,
                str(count),
                f"{len(task.seconds)} of {options.rounds}",
                f"{np.median(ms):.0f}",
                f"{np.percentile(ms, 95):.0f}",
                f"{1e3 * np.median(task.busy_s or [np.nan]):.0f}",
                f"{np.mean(task.motions_s or [np.nan]):.2f}",
            )
            failures += [f"{name}, {count} boxes: {message}" for message in task.failures]
        backend.close()
        loops.append(loop_s())
    Console().print(table)
    for line in failures:
        print(line)
    print(
        f"Python loop here: {np.median(loops):.2f} s (before, between and after: {[round(x, 2) for x in loops]})"
    )


if __name__ == "__main__":
    main()
