# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""The node of the cell in Isaac Sim, on a stand-in of Isaac Sim: it is the embedded one's with another world."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")
pytest.importorskip("pxr", reason="no usd-core here")

from jarvis_core.errors import BadInputError
from jarvis_core.ros.conversions import state_from_ros
from jarvis_core.ros.main import Stop
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import wait_for
from jarvis_sim.isaac.ros.node import IsaacNode
from jarvis_sim.ros import sim_node
from rclpy.experimental import EventsExecutor
from sensor_msgs.msg import CameraInfo
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import GetSimulatorFeatures, LoadWorld
from test_sim_isaac_world import CELL, TASK, StandIn, make

from jarvis_interfaces.srv import GetObjectStates

TIMEOUT_S = 30.0
Ask = Callable[..., object]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """Asks a running node's services; ``ask.node`` is the client."""

    def load(path: object) -> object:
        if str(path) != "toy":
            raise BadInputError("no such file", where=str(path))
        return TASK

    monkeypatch.setattr(sim_node, "load_task", load)
    rclpy.init()
    stop, executor = Stop(), EventsExecutor()
    node = IsaacNode(executor, StandIn())
    executor.add_node(node)
    client = rclpy.create_node("client")
    other = BackgroundExecutor(client)
    threads = [threading.Thread(target=work, daemon=True) for work in (executor.spin, lambda: node.run(stop))]
    for thread in threads:
        thread.start()

    def ask(kind: type, name: str, request: object | None = None) -> object:
        service = client.create_client(kind, name)
        assert service.wait_for_service(timeout_sec=TIMEOUT_S)
        return wait_for(service.call_async(request or kind.Request()), TIMEOUT_S, name)

    ask.node = client
    yield ask
    stop.set()
    threads[1].join(TIMEOUT_S)
    node.close()
    executor.shutdown()
    other.close()
    for thread in threads:
        thread.join(TIMEOUT_S)
        assert not thread.is_alive()
    node.destroy_node()
    client.destroy_node()
    rclpy.shutdown()


def test_it_serves_the_world_in_isaac_sim(ask: Ask) -> None:
    features = ask(GetSimulatorFeatures, "/sim/get_simulator_features").features
    assert "Isaac Sim" in features.custom_info
    infos: list[CameraInfo] = []
    got = threading.Event()
    ask.node.create_subscription(
        CameraInfo, "/camera/color/camera_info", lambda m: (infos.append(m), got.set()), 10
    )
    loaded = ask(LoadWorld, "/sim/load_world", LoadWorld.Request(uri="toy?seed=4"))
    assert loaded.result.result == Result.RESULT_OK, loaded.result.error_message
    states = state_from_ros(ask(GetObjectStates, "/sim/get_object_states").states)
    assert states.objects == make(StandIn(), 4).state().objects
    assert got.wait(TIMEOUT_S)
    np.testing.assert_allclose(infos[0].k, CELL.top_camera.intrinsics().matrix().ravel())
    assert infos[0].header.frame_id == "camera_optical_frame"
    missing = ask(LoadWorld, "/sim/load_world", LoadWorld.Request(uri="nothing"))
    assert missing.result.result == Result.RESULT_OPERATION_FAILED
    assert "no such file" in missing.result.error_message
