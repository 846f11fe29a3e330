"""Isaac Sim's own ROS 2 publishers as an OmniGraph action graph: clock, joint states, tf and the top camera.

The cell's streams are the embedded simulator's (``jarvis_sim.ros.streams``): they also speak while time stands still,
and put a camera's principal point where pixel centres are whole numbers (the bridge: half a pixel off). This graph is
for comparison and for tools that want the bridge; it publishes under a namespace of its own. Plain data: nodes, values
and connections by the names of the .ogn files of isaacsim.ros2.nodes and isaacsim.core.nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

GRAPH_PATH = "/World/bridge"
_TICK, _TIME, _CONTEXT, _PRODUCT = "tick", "time", "context", "render_product"
_ROS = "isaacsim.ros2.bridge."
#: Topic and frame of the top camera, as the cell's own streams name them.
_CAMERA_FRAME = "camera_optical_frame"


@dataclass
class Graph:
    """An action graph.

    Attributes:
        nodes: type by name.
        values: of ``node.inputs:attribute``.
        links: (``node.outputs:attribute``, ``node.inputs:attribute``).
    """

    nodes: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)
    links: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, kind: str, **values: Any) -> None:
        self.nodes[name] = kind
        self.values.update({f"{name}.inputs:{key}": value for key, value in values.items()})

    def link(self, source: str, target: str) -> None:
        """``node.attribute`` to ``node.attribute``."""
        one, two = source.rpartition("."), target.rpartition(".")
        self.links.append((f"{one[0]}.outputs:{one[2]}", f"{two[0]}.inputs:{two[2]}"))


def bridge_graph(robot: str, camera: str, resolution: tuple[int, int], namespace: str) -> Graph:
    """The graph of a cell.

    Args:
        robot: path of the robot's articulation; camera: path of the top camera.
        resolution: (width, height).
    """
    graph = Graph()
    graph.add(_TICK, "omni.graph.action.OnPlaybackTick")
    graph.add(_TIME, "isaacsim.core.nodes.IsaacReadSimulationTime", resetOnStop=True)
    graph.add(_CONTEXT, _ROS + "ROS2Context", useDomainIDEnvVar=True)
    _publish(graph, "clock", "ROS2PublishClock", namespace, topicName="clock")
    _publish(graph, "tf", "ROS2PublishTransformTree", namespace, topicName="tf", targetPrims=[robot])
    _publish(graph, "joint_states", "ROS2PublishJointState", namespace, timed=False, topicName="joint_states")
    _read_joints(graph, robot)
    graph.add(
        _PRODUCT,
        "isaacsim.core.nodes.IsaacCreateRenderProduct",
        cameraPrim=[camera],
        width=resolution[0],
        height=resolution[1],
    )
    graph.link(f"{_TICK}.tick", f"{_PRODUCT}.execIn")
    for name, kind, topic in (
        ("rgb", {"type": "rgb"}, "camera/color/image_raw"),
        ("depth", {"type": "depth"}, "camera/depth/image_rect"),
        ("color_info", {}, "camera/color/camera_info"),
        ("depth_info", {}, "camera/depth/camera_info"),
    ):
        helper = "ROS2CameraHelper" if kind else "ROS2CameraInfoHelper"
        graph.add(
            name, _ROS + helper, topicName=topic, frameId=_CAMERA_FRAME, nodeNamespace=namespace, **kind
        )
        graph.link(f"{_CONTEXT}.context", f"{name}.context")
        graph.link(f"{_PRODUCT}.execOut", f"{name}.execIn")
        graph.link(f"{_PRODUCT}.renderProductPath", f"{name}.renderProductPath")
    return graph


def _publish(
    graph: Graph, name: str, kind: str, namespace: str, *, timed: bool = True, **values: Any
) -> None:
    """A publisher; a timed one is stamped with simulated time and works at every tick."""
    graph.add(name, _ROS + kind, nodeNamespace=namespace, **values)
    graph.link(f"{_CONTEXT}.context", f"{name}.context")
    if timed:
        graph.link(f"{_TICK}.tick", f"{name}.execIn")
        graph.link(f"{_TIME}.simulationTime", f"{name}.timeStamp")


def _read_joints(graph: Graph, robot: str) -> None:
    """Since Isaac Sim 6 a sensor node reads what the publisher of joint states says."""
    graph.add("read_joints", "isaacsim.sensors.physics.IsaacReadJointState", prim=[robot])
    graph.link(f"{_TICK}.tick", "read_joints.execIn")
    graph.link("read_joints.execOut", "joint_states.execIn")
    for name in ("Names", "Positions", "Velocities", "Efforts", "DofTypes"):
        graph.link(f"read_joints.joint{name}", f"joint_states.joint{name}")
    graph.link("read_joints.stageMetersPerUnit", "joint_states.stageMetersPerUnit")
    graph.link("read_joints.sensorTime", "joint_states.sensorTime")
