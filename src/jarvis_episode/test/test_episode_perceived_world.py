# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""An episode over DDS on a cell that nobody simulates: laid out, played, scored and replayed from what is seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from jarvis_cli.sources import read_model
from jarvis_cli.tasks import write_task
from jarvis_core.errors import RefusedError
from jarvis_core.files import encode
from jarvis_core.objects import Scene
from jarvis_core.ros.conversions import header, scene_to_ros
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import call
from jarvis_core.seen import SeenScene
from jarvis_episode.recording.scored import score_source
from jarvis_episode.ros.episode_node import EpisodeNode
from jarvis_episode.ros.perceived_world_node import PerceivedWorldNode
from jarvis_scoring.inputs import read_record
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import String
from test_episode_perceived_states import TARGETS, TASK, built, laid_out, look

from jarvis_interfaces.srv import EndEpisode, GetScene, LoadEpisode, StartEpisode

TIMEOUT_S = 60.0
TICK_S = 0.02


class RealCell(Node):
    """Stands in for arm, camera and perception of a real cell: a clock, black pictures, and ``seen`` as told."""

    def __init__(self) -> None:
        super().__init__("real_cell")
        self.seen: SeenScene = look()
        self.time_s = 1000.0
        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self._joints = self.create_publisher(JointState, "/joint_states", 10)
        self._pictures = [
            (self.create_publisher(Image, f"/camera/{name}", 2), encoding, size)
            for name, encoding, size in (("color/image_raw", "rgb8", 3), ("depth/image_rect", "32FC1", 4))
        ]
        self._info = self.create_publisher(CameraInfo, "/camera/color/camera_info", 2)
        self._seen = self.create_publisher(String, "/perception/seen", latched)
        self.create_service(GetScene, "/perception/get_scene", self._get_scene)
        self.create_timer(TICK_S, self._tick)

    def _tick(self) -> None:
        self.time_s += TICK_S
        self._joints.publish(JointState(header=header(self.time_s), name=["j"], position=[0.0]))
        width, height = 8, 6
        for publisher, encoding, size in self._pictures:
            image = Image(header=header(self.time_s, "camera_optical_frame"), height=height, width=width)
            image.encoding, image.step, image.data = encoding, width * size, bytes(width * height * size)
            publisher.publish(image)
        k = np.array([[5.0, 0.0, 4.0], [0.0, 5.0, 3.0], [0.0, 0.0, 1.0]])
        self._info.publish(CameraInfo(header=header(self.time_s), height=height, width=width, k=k.ravel()))

    def _get_scene(self, request: GetScene.Request, response: GetScene.Response) -> GetScene.Response:
        seen = msgspec.structs.replace(self.seen, time_s=self.time_s)
        self._seen.publish(String(data=encode(seen).decode()))
        response.success, response.scene = True, scene_to_ros(Scene(seen.time_s, "perceived", ()))
        return response


class Graph:
    """Cell, perceived world and episode manager, and a client's calls."""

    def __init__(self, results: Path) -> None:
        rclpy.init(args=["--ros-args", "-p", f"results:={results}", "-p", "states:=perceived"])
        self.executor = BackgroundExecutor()
        self.cell = RealCell()
        self.client = rclpy.create_node("test_client")
        self.manager = EpisodeNode(self.executor)
        self.nodes = [self.cell, self.client, self.manager, PerceivedWorldNode(self.executor)]
        for node in self.nodes:
            self.executor.add_node(node)

    def call(self, kind: type, name: str, **request: object) -> object:
        return call(self.client.create_client(kind, f"/episode/{name}"), kind.Request(**request), TIMEOUT_S)

    def close(self) -> None:
        self.manager.close()
        self.executor.close(TIMEOUT_S)
        for node in self.nodes:
            node.destroy_node()
        rclpy.shutdown()


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Graph]:
    made = Graph(tmp_path / "results")
    try:
        yield made
    finally:
        made.close()


def test_laid_out_played_scored_and_replayed(graph: Graph, tmp_path: Path) -> None:
    """One test, for the graph takes long to start."""
    task = str(write_task(TASK, read_model("house", None), tmp_path / "tasks"))
    first, *others = laid_out()
    graph.cell.seen = look(*others)
    with pytest.raises(RefusedError, match=rf"1 x {first.part} .*lay them where the camera sees them"):
        graph.call(LoadEpisode, "load", task=task, policy="somebody", sees="perceived")

    graph.cell.seen = look(first, *others)
    graph.call(LoadEpisode, "load", task=task, policy="somebody", sees="perceived")
    graph.call(StartEpisode, "start")
    noise = np.full((len(TARGETS), 3), 0.0002)
    graph.cell.seen = look(*built(noise))
    ended = graph.call(EndEpisode, "end", outcome="finished")

    folder = Path(ended.folder)
    record = read_record(folder / "record.json")
    assert record.outcome == "finished", record.outcome_message
    assert record.states == record.scene_source == "perceived"
    assert record.initial.time_s > 1000.0  # a cell's clock may be any
    (replayed,) = score_source(folder / "bag")
    assert replayed.faults == ()
    assert replayed.score.protocol == "brick-score-1 (perceived)"
    assert replayed.score.s_exact == 1.0
    assert abs(replayed.score.score - ended.score) < 1e-9
    assert replayed.score.bricks[0].e_z_m == pytest.approx(0.0002, abs=1e-6)
