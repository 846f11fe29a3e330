"""Scores a bag alone and publishes the result."""

from __future__ import annotations

import sys
from pathlib import Path

from jarvis_core.ros.main import Stop, run_node
from jarvis_scoring.text import table
from rclpy.executors import Executor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from jarvis_episode.recording.scored import Scored, score_source
from jarvis_episode.ros.score_message import score_to_ros
from jarvis_interfaces.msg import EpisodeScore

PUBLISHED_S = 1.0
INCOMPLETE = 1


class ReplayNode(Node):
    """Prints the score of every episode in a bag; the last one stays on /score/episode.

    ROS parameters:
        bag: a bag or an episode's folder.
        protocol: empty: as recorded.
        keep: stay until stopped.
    """

    def __init__(self, executor: Executor) -> None:
        super().__init__("replay")
        self._bag = Path(self.declare_parameter("bag", "").value)
        self._protocol = self.declare_parameter("protocol", "").value or None
        self._keep = self.declare_parameter("keep", False).value
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._score = self.create_publisher(EpisodeScore, "/score/episode", latched)

    def run(self, stop: Stop) -> int:
        """Score, publish; 1 for an incomplete recording (errors of a bag that can't be used: as score_source)."""
        scored = score_source(self._bag, protocol=self._protocol)
        for episode in scored:
            print(_text(episode), flush=True)
            self._score.publish(score_to_ros(episode.score, episode.evidence.final.time_s))
        # Who is subscribed already gets the message before the node goes.
        stop.wait(None if self._keep else PUBLISHED_S)
        return INCOMPLETE if any(episode.faults for episode in scored) else 0


def _text(episode: Scored) -> str:
    head = f"{episode.evidence.episode_id}   ({episode.source})\n"
    if episode.faults:
        head += f"INCOMPLETE, counts 0 in tables: {'; '.join(episode.faults)}\n"
    return head + table(episode.score)


def main() -> None:
    sys.exit(run_node(ReplayNode, lambda node, stop: node.run(stop)))
