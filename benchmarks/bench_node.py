"""How fast the simulator's node lets time pass, publishing RGB-D to a listener in another process. Prints a table.

./jarvis shell -c 'python benchmarks/bench_node.py'
./jarvis shell -c 'python benchmarks/bench_node.py --bricks 411 --camera-hz 10 --gripper-hz 10'
"""

from __future__ import annotations

import argparse
import multiprocessing
import threading
import time
from multiprocessing.synchronize import Event

import rclpy
from bench_sim import loop_s, structure_task
from jarvis_core.ros.main import Stop
from jarvis_sim.ros.sim_node import SimNode
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import Task
from rclpy.experimental import EventsExecutor
from rclpy.signals import SignalHandlerOptions
from rich.console import Console
from rich.table import Table
from sensor_msgs.msg import Image, JointState

N_LOOSE = 5
TARGET = 5.0


def listen(topics: tuple[str, ...], ready: Event) -> None:
    """Take everything in, until the process is ended."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)  # SIGTERM ends it without a word
    node = rclpy.create_node("listener")
    for topic in topics:
        node.create_subscription(Image, topic, lambda message: None, 10)
    node.create_subscription(JointState, "/joint_states", lambda message: ready.set(), 10)
    rclpy.spin(node)


class BenchNode(SimNode):
    """The node with a block of bricks in its cell."""

    n_bricks = 57

    def make_world(self, task: Task, seed: int) -> SimWorld:
        return SimWorld(
            structure_task(self.n_bricks, N_LOOSE),
            self._cell, self._config, self._catalogue, seed, robot=self._model,
        )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bricks", type=int, default=57)
    parser.add_argument("--camera-hz", type=float, default=10.0)
    parser.add_argument("--gripper-hz", type=float, default=0.0)
    parser.add_argument("--seconds", type=float, default=20.0, help="of wall-clock time")
    options = parser.parse_args()
    BenchNode.n_bricks = options.bricks
    rates = {"camera_rate_hz": options.camera_hz, "gripper_camera_rate_hz": options.gripper_hz}
    rclpy.init(args=["--ros-args", *(word for k, v in rates.items() for word in ("-p", f"{k}:={v}"))])
    topics = ["/camera/color/image_raw", "/camera/depth/image_rect"]
    if options.gripper_hz > 0:
        topics += ["/gripper_camera/color/image_raw", "/gripper_camera/depth/image_rect"]
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    listener = context.Process(target=listen, args=(tuple(topics), ready), daemon=True)
    listener.start()
    executor, stop = EventsExecutor(), Stop()
    node = BenchNode(executor)
    executor.add_node(node)
    threading.Thread(target=executor.spin, daemon=True).start()
    found: list[float] = []

    def measure() -> None:
        ready.wait(120.0)
        time.sleep(1.0)
        began = (node.world.time_s, time.perf_counter(), time.process_time())
        time.sleep(options.seconds)
        simulated, wall, spent = (
            now - then
            for now, then in zip(
                (node.world.time_s, time.perf_counter(), time.process_time()), began, strict=True
            )
        )
        found.extend((simulated / wall, simulated / spent))
        stop.set()

    threading.Thread(target=measure, daemon=True).start()
    node.run(stop)
    node.close()
    executor.shutdown()
    listener.terminate()
    table = Table(title=f"simulator node; ten million additions in Python take {loop_s():.2f} s here")
    for column in ("what", "measured", "target"):
        table.add_column(column, justify="left" if column == "what" else "right")
    what = (
        f"{options.bricks} bricks, RGB-D at {options.camera_hz:g} Hz, gripper's at {options.gripper_hz:g} Hz"
    )
    table.add_row(f"{what}: real-time factor by the clock", f"{found[0]:.1f} x", f"> {TARGET:g}")
    table.add_row("the same by the process's processor time, drawing included", f"{found[1]:.1f} x", "")
    Console().print(table)


if __name__ == "__main__":
    main()
