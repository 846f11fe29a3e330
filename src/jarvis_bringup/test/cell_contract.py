"""What every cell answers, whichever simulator or robot stands behind it: names, types, frames, rates, units.

One table, and a check against a running cell: ``problems_of(node, robot)``. The embedded cell is checked by
test_cell_graph.py, any other one by test_cell_contract.py (see docs/isaac-sim.md).
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import rclpy
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import time_from_ros
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_robot.model import RobotModel
from jarvis_skills.ros.ros_robot import RosRobot
from rclpy.action import get_action_names_and_types
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosidl_runtime_py.utilities import get_message

SERVICES = {
    "/sim/load_world": "simulation_interfaces/srv/LoadWorld",
    "/sim/reset_simulation": "simulation_interfaces/srv/ResetSimulation",
    "/sim/step_simulation": "simulation_interfaces/srv/StepSimulation",
    "/sim/set_simulation_state": "simulation_interfaces/srv/SetSimulationState",
    "/sim/get_simulation_state": "simulation_interfaces/srv/GetSimulationState",
    "/sim/get_simulator_features": "simulation_interfaces/srv/GetSimulatorFeatures",
    "/sim/get_entities": "simulation_interfaces/srv/GetEntities",
    "/sim/get_entity_state": "simulation_interfaces/srv/GetEntityState",
    "/sim/get_entities_states": "simulation_interfaces/srv/GetEntitiesStates",
    "/sim/set_entity_state": "simulation_interfaces/srv/SetEntityState",
    "/sim/get_scene": "jarvis_interfaces/srv/GetScene",
    "/sim/get_object_states": "jarvis_interfaces/srv/GetObjectStates",
    "/episode/load": "jarvis_interfaces/srv/LoadEpisode",
    "/episode/start": "jarvis_interfaces/srv/StartEpisode",
    "/episode/end": "jarvis_interfaces/srv/EndEpisode",
}
ACTIONS = {
    "/panda_arm_controller/follow_joint_trajectory": "control_msgs/action/FollowJointTrajectory",
    "/panda_gripper/gripper_cmd": "control_msgs/action/GripperCommand",
    "/skills/pick": "jarvis_interfaces/action/Pick",
    "/skills/place": "jarvis_interfaces/action/Place",
    "/skills/pick_and_place": "jarvis_interfaces/action/PickAndPlace",
    "/skills/move_to": "jarvis_interfaces/action/MoveTo",
    "/skills/home": "jarvis_interfaces/action/Home",
    "/skills/push": "jarvis_interfaces/action/Push",
    "/skills/grip": "jarvis_interfaces/action/Grip",
    "/skills/look": "jarvis_interfaces/action/Look",
    "/skills/press": "jarvis_interfaces/action/Press",
    "/skills/remove": "jarvis_interfaces/action/Remove",
    "/skills/regrasp": "jarvis_interfaces/action/Regrasp",
    "/skills/flip": "jarvis_interfaces/action/Flip",
}
#: Simulated time over which rates are counted, and for how long messages are waited for.
SPAN_S, PATIENCE_S = 2.0, 30.0
_LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@dataclass(frozen=True)
class Cell:
    """What messages are judged by."""

    config: CellConfig
    robot: RobotModel


@dataclass(frozen=True)
class Stream:
    """One topic.

    Attributes:
        frame: ``header.frame_id`` of its messages; None where they have none.
        least_hz: messages per simulated second, at least; 0: only that there is one.
        judge: says what is wrong with a message; nothing if all is well.
        latched: kept for those who come later.
        silent: may have nothing to say for a long time: only name and type count.
    """

    topic: str
    kind: str
    frame: str | None = None
    least_hz: float = 0.0
    judge: Callable[[Any, Cell], Iterator[str]] | None = None
    latched: bool = False
    silent: bool = False


def _joints(message: Any, cell: Cell) -> Iterator[str]:
    arm, fingers = cell.robot.config.arm_joints, cell.robot.config.finger_joints
    if list(message.name) != [*arm, *fingers]:
        yield f"names {list(message.name)}, not those of arm and fingers"
        return
    positions = np.array(message.position)
    limits = cell.robot.limits
    if (positions[: len(arm)] < limits.lower - 0.01).any() or (
        positions[: len(arm)] > limits.upper + 0.01
    ).any():
        yield f"{positions[: len(arm)]} are no radians within the limits"
    half = cell.robot.config.gripper.max_width_m / 2
    if (positions[len(arm) :] < -0.001).any() or (positions[len(arm) :] > half + 0.001).any():
        yield f"{positions[len(arm) :]} are no metres of a finger's way"


def _links(message: Any, cell: Cell) -> Iterator[str]:
    frames = {t.child_frame_id for t in message.transforms}
    if absent := set(cell.robot.links) - frames:
        yield f"no transforms of {sorted(absent)}"
    if {t.header.frame_id for t in message.transforms} != {"world"}:
        yield "transforms from other frames than world"


def _fixed_frames(message: Any, cell: Cell) -> Iterator[str]:
    wanted = {
        "plate": ("world", cell.config.plate.pose),
        "camera_optical_frame": ("world", cell.config.top_camera.pose()),
        "gripper_camera_optical_frame": (cell.robot.config.hand_link, cell.config.gripper_camera.pose()),
    }
    for transform in message.transforms:
        parent, pose = wanted.pop(transform.child_frame_id, ("", None))
        t, q = transform.transform.translation, transform.transform.rotation
        if pose is None:
            continue
        if transform.header.frame_id != parent:
            yield f"{transform.child_frame_id} is given in {transform.header.frame_id!r}, not {parent!r}"
        if not Pose((t.x, t.y, t.z), (q.x, q.y, q.z, q.w)).is_close(pose, 1e-6, 1e-6):
            yield f"{transform.child_frame_id} stands elsewhere than config/cell.yaml says"
    if wanted:
        yield f"no transforms of {sorted(wanted)}"


def _picture(encoding: str) -> Callable[[Any, Cell], Iterator[str]]:
    def judge(message: Any, cell: Cell) -> Iterator[str]:
        camera = cell.config.top_camera
        if (message.width, message.height) != (camera.width, camera.height):
            yield f"{message.width} x {message.height} pixels"
        if message.encoding != encoding:
            yield f"encoding {message.encoding}, not {encoding}"
        elif encoding == "32FC1":
            metres = np.frombuffer(bytes(message.data), np.float32)
            height = camera.eye[2]
            if not np.isfinite(metres).all() or abs(float(np.median(metres)) - height) > 0.1 * height:
                yield f"the median depth is {np.median(metres):.3f}, but the table is {height} m away"

    return judge


def _camera_info(message: Any, cell: Cell) -> Iterator[str]:
    hand = message.header.frame_id.startswith("gripper")
    camera = cell.config.gripper_camera if hand else cell.config.top_camera
    if not np.allclose(message.k, camera.intrinsics().matrix().ravel(), atol=1e-6):
        yield f"K is {list(message.k)}, not what config/cell.yaml says"


def _hand_picture(encoding: str) -> Callable[[Any, Cell], Iterator[str]]:
    """The gripper's camera looks at fingers and what is below, wherever the hand is."""

    def judge(message: Any, cell: Cell) -> Iterator[str]:
        camera = cell.config.gripper_camera
        if (message.width, message.height) != (camera.width, camera.height):
            yield f"{message.width} x {message.height} pixels"
        if message.encoding != encoding:
            yield f"encoding {message.encoding}, not {encoding}"
        elif encoding == "32FC1":
            metres = np.frombuffer(bytes(message.data), np.float32)
            if not np.isfinite(metres).all() or not 0.02 < float(metres[metres > 0].min()) < 0.2:
                yield "the nearest depth is not that of the hand"

    return judge


STREAMS = (
    Stream("/clock", "rosgraph_msgs/msg/Clock", least_hz=20.0),
    Stream("/joint_states", "sensor_msgs/msg/JointState", "", 20.0, _joints),
    Stream("/tf", "tf2_msgs/msg/TFMessage", least_hz=5.0, judge=_links),
    Stream("/tf_static", "tf2_msgs/msg/TFMessage", judge=_fixed_frames, latched=True),
    Stream("/camera/color/image_raw", "sensor_msgs/msg/Image", "camera_optical_frame", 0.5, _picture("rgb8")),
    Stream(
        "/camera/depth/image_rect", "sensor_msgs/msg/Image", "camera_optical_frame", 0.5, _picture("32FC1")
    ),
    Stream(
        "/camera/color/camera_info", "sensor_msgs/msg/CameraInfo", "camera_optical_frame", 0.5, _camera_info
    ),
    Stream(
        "/camera/depth/camera_info", "sensor_msgs/msg/CameraInfo", "camera_optical_frame", 0.5, _camera_info
    ),
    *(
        Stream(
            f"/gripper_camera/{name}", f"sensor_msgs/msg/{kind}", "gripper_camera_optical_frame", judge=judge
        )
        for name, kind, judge in (
            ("color/image_raw", "Image", _hand_picture("rgb8")),
            ("depth/image_rect", "Image", _hand_picture("32FC1")),
            ("color/camera_info", "CameraInfo", _camera_info),
            ("depth/camera_info", "CameraInfo", _camera_info),
        )
    ),
    Stream("/sim/object_states", "jarvis_interfaces/msg/ObjectStates", least_hz=20.0),
    Stream("/sim/connection_events", "jarvis_interfaces/msg/ConnectionEvent", silent=True),
    Stream("/robot_description", "std_msgs/msg/String", latched=True),
    Stream("/viz/markers", "visualization_msgs/msg/MarkerArray", latched=True),
    Stream("/episode/state", "jarvis_interfaces/msg/EpisodeState", silent=True),
    Stream("/score/episode", "jarvis_interfaces/msg/EpisodeScore", silent=True),
)


def problems_of(node: Node, robot: RosRobot) -> list[str]:
    """Where a running cell differs from the table; empty if nowhere. The robot holds still for some seconds.

    Args:
        node: spun by an executor in another thread; robot: connected.
    """
    cell = Cell(load_default("cell", CellConfig), RobotModel.load("panda"))
    heard = _listen(node, robot)
    problems = [*_absent_names(node)]
    for stream in STREAMS:
        if not stream.silent:
            problems += [f"{stream.topic}: {said}" for said in _judge(stream, heard[stream.topic], cell)]
    stamps = [
        {_stamp(m) for m in heard[f"/camera/{name}"]} for name in ("color/image_raw", "color/camera_info")
    ]
    if not stamps[0] & stamps[1]:
        problems.append("/camera: picture and camera_info are never of one time")
    numbers = [m.sequence for m in heard["/sim/object_states"]]
    if numbers and numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        problems.append("/sim/object_states: the sequence has gaps")
    return problems


def _absent_names(node: Node) -> Iterator[str]:
    actions = {name: kinds[0] for name, kinds in get_action_names_and_types(node)}
    services = {name: kinds[0] for name, kinds in node.get_service_names_and_types()}
    topics = {name: kinds[0] for name, kinds in node.get_topic_names_and_types()}
    wanted = {stream.topic: stream.kind for stream in STREAMS}
    for known, names in ((topics, wanted), (services, SERVICES), (actions, ACTIONS)):
        for name, kind in names.items():
            if known.get(name) != kind:
                yield f"{name} is {known.get(name, 'not there')}, not {kind}"


def _listen(node: Node, robot: RosRobot) -> dict[str, list[Any]]:
    """Everything said while the arm holds still for SPAN_S of simulated time, by topic."""
    heard: dict[str, list[Any]] = {stream.topic: [] for stream in STREAMS}
    lock = threading.Lock()

    def keep(topic: str) -> Callable[[Any], None]:
        def on_message(message: Any) -> None:
            with lock:
                heard[topic].append(message)

        return on_message

    # A node of its own: subscriptions can't be taken from one that is being spun.
    listener = rclpy.create_node("contract_listener", context=node.context)
    for s in STREAMS:
        quality = _LATCHED if s.latched else QoSProfile(depth=2000)
        listener.create_subscription(get_message(s.kind), s.topic, keep(s.topic), quality)
    executor = BackgroundExecutor(listener, context=node.context)
    try:
        deadline = time.monotonic() + PATIENCE_S
        robot.wait(SPAN_S)
        while time.monotonic() < deadline and not all(heard[s.topic] for s in STREAMS if not s.silent):
            time.sleep(0.05)
    finally:
        executor.close()
        listener.destroy_node()
    return heard


def _judge(stream: Stream, messages: list[Any], cell: Cell) -> Iterator[str]:
    if not messages:
        yield f"silent for {PATIENCE_S:.0f} s"
        return
    if stream.frame is not None and (frames := {m.header.frame_id for m in messages}) != {stream.frame}:
        yield f"frame {sorted(frames)}, not {stream.frame!r}"
    if stream.least_hz:
        times = {_stamp(m) for m in messages}
        rate = len(times) / SPAN_S
        if rate < stream.least_hz:
            yield f"{rate:.1f} messages per simulated second, less than {stream.least_hz}"
    if stream.judge is not None:
        yield from Counter(said for m in messages for said in stream.judge(m, cell))


def _stamp(message: Any) -> float:
    if hasattr(message, "clock"):
        return time_from_ros(message.clock)
    header = message.transforms[0].header if hasattr(message, "transforms") else message.header
    return time_from_ros(header.stamp)
