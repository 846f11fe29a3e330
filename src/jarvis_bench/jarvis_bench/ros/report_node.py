"""Writes the page of every episode that ends; with ``once`` the node ends after the first."""

from __future__ import annotations

import queue
import sys
from pathlib import Path

from jarvis_core.ros.main import Stop, run_node
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from jarvis_bench.page import write_episode_page
from jarvis_interfaces.msg import EpisodeState

POLL_S = 0.2


class ReportNode(Node):
    """Listens to /episode/state; the pages are written in the main thread.

    ROS parameters:
        once: end after the first page.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("report")
        self._once = self.declare_parameter("once", False).value
        self._ended: queue.Queue[Path] = queue.Queue()
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.create_subscription(EpisodeState, "/episode/state", self._on_state, latched)

    def _on_state(self, message: EpisodeState) -> None:
        if message.phase == EpisodeState.ENDED:
            self._ended.put(Path(message.folder))

    def run(self, stop: Stop) -> int:
        """Write pages until stopped."""
        while not stop.is_set():
            try:
                folder = self._ended.get(timeout=POLL_S)
            except queue.Empty:
                continue
            self.get_logger().info(f"page: {write_episode_page(folder)}")
            if self._once:
                break
        return 0


def main() -> None:
    sys.exit(run_node(ReportNode, lambda node, stop: node.run(stop)))
