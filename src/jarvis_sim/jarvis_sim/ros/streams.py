"""What the simulator publishes, each stream at its rate of simulated time. Called by the world's thread only."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from geometry_msgs.msg import Point, TransformStamped, Vector3, WrenchStamped
from geometry_msgs.msg import Pose as PoseMsg
from jarvis_bricks.colours import ColourTable
from jarvis_core.cell import CellConfig
from jarvis_core.objects import ConnectionEvent, ObjectState, RigidObject, WorldState
from jarvis_core.observation import CameraFrame, Wrench
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.ros.conversions import (
    WORLD_FRAME,
    connections_to_ros,
    event_to_ros,
    header,
    pose_to_ros,
    state_message,
    time_to_ros,
)
from jarvis_robot.model import RobotModel
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_msgs.msg import ColorRGBA, String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

from jarvis_interfaces.msg import Connection as ConnectionMsg
from jarvis_interfaces.msg import ConnectionEvent as ConnectionEventMsg
from jarvis_interfaces.msg import ObjectStates
from jarvis_sim.config import RatesConfig

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
#: As franka_ros2's broadcaster calls it.
WRENCH_TOPIC = "/franka_robot_state_broadcaster/external_wrench_in_base_frame"
#: States kept for a recorder that lags; losing one would spoil the record.
STATES_DEPTH = 2000
CAMERA_FRAME, GRIPPER_CAMERA_FRAME = "camera_optical_frame", "gripper_camera_optical_frame"


@dataclass
class Pacer:
    """Tells when something is due: every ``period_s`` of simulated time, at most once per ``wall_s``.

    When time stands still, what happened last is due once more, so that listeners have the state at rest;
    and again every ``repeat_s`` of wall-clock time, where somebody may wait for a sign of life.
    """

    period_s: float
    wall_s: float = 0.0
    repeat_s: float = float("inf")
    _last_s: float = -1.0
    _wall_next: float = 0.0
    _repeat_at: float = 0.0

    def reset(self) -> None:
        """Due at once."""
        self._last_s, self._wall_next = float("-inf"), 0.0

    def due(self, time_s: float, still: bool = False) -> bool:
        now = time.monotonic()
        if now < self._wall_next:
            return False
        # Less than at the last time: the clock was set back by a reset.
        passed = abs(time_s - self._last_s)
        if self.period_s == float("inf"):
            return False
        if passed + 1e-9 < self.period_s and not (still and (passed > 0.0 or now >= self._repeat_at)):
            return False
        self._last_s = time_s
        self._wall_next = now + self.wall_s
        self._repeat_at = now + self.repeat_s
        return True


class RobotStreams:
    """/clock, /joint_states, the external wrench, /tf, /tf_static and /robot_description."""

    def __init__(self, node: Node, model: RobotModel, cell: CellConfig, rates: RatesConfig) -> None:
        self._model = model
        self.pacer = Pacer(1.0 / rates.robot_hz, repeat_s=1.0 / rates.still_hz)
        self._clock = node.create_publisher(Clock, "/clock", 10)
        self._joints = node.create_publisher(JointState, "/joint_states", 10)
        self._wrench = node.create_publisher(WrenchStamped, WRENCH_TOPIC, 10)
        self._tf = node.create_publisher(TFMessage, "/tf", 10)
        self._tf_pacer = Pacer(1.0 / rates.tf_hz)
        self._links: dict[str, TransformStamped] = {}
        tf_static = node.create_publisher(TFMessage, "/tf_static", LATCHED)
        fixed = (
            transform(0.0, CAMERA_FRAME, cell.top_camera.pose()),
            transform(0.0, "plate", cell.plate.pose),
            transform(0.0, GRIPPER_CAMERA_FRAME, cell.gripper_camera.pose(), model.config.hand_link),
        )
        tf_static.publish(TFMessage(transforms=fixed))
        description = node.create_publisher(String, "/robot_description", LATCHED)
        description.publish(String(data=model.urdf_with_files()))

    def publish(
        self, time_s: float, names: Sequence[str], positions: Sequence[float], width_m: float
    ) -> None:
        """``names`` and ``positions`` (rad) of the arm; the fingers each stand at half the width."""
        self._clock.publish(Clock(clock=time_to_ros(time_s)))
        fingers = list(self._model.config.finger_joints)
        message = JointState(
            header=header(time_s, ""),
            name=[*names, *fingers],
            position=[*positions, *[width_m / 2] * len(fingers)],
        )
        self._joints.publish(message)
        if self._tf_pacer.due(time_s):
            self._publish_links(time_s, np.array(positions), width_m)

    def _publish_links(self, time_s: float, joints: FloatArray, width_m: float) -> None:
        """The same messages with other numbers: making them anew would take most of the time."""
        stamp = header(time_s)
        for name, pose in self._model.forward(joints, width_m).items():
            if name not in self._links:
                self._links[name] = transform(time_s, name, pose)
                continue
            message = self._links[name]
            message.header = stamp
            to, turn = message.transform.translation, message.transform.rotation
            to.x, to.y, to.z, turn.x, turn.y, turn.z, turn.w = pose.to_list()
        self._tf.publish(TFMessage(transforms=list(self._links.values())))

    def publish_wrench(self, wrench: Wrench | None) -> None:
        """As a real Panda's broadcaster tells it; nothing from a simulator that has none."""
        if wrench is None:
            return
        message = WrenchStamped(header=header(wrench.time_s))
        message.wrench.force = _vector(wrench.force_n)
        message.wrench.torque = _vector(wrench.torque_nm)
        self._wrench.publish(message)


class TruthStreams:
    """/sim/object_states and /sim/connection_events, for evaluator, record and people: never for an agent."""

    def __init__(self, node: Node, rates: RatesConfig) -> None:
        self._states = node.create_publisher(ObjectStates, "/sim/object_states", STATES_DEPTH)
        self._events = node.create_publisher(ConnectionEventMsg, "/sim/connection_events", STATES_DEPTH)
        self._state_sequence = 0
        self._published_events = 0
        self._poses: dict[str, tuple[Pose, PoseMsg]] = {}
        self._connections: tuple[tuple[tuple[str, str], ...], list[ConnectionMsg]] = ((), [])
        self.pacer = Pacer(1.0 / rates.truth_hz)

    def publish_state(self, state: WorldState) -> None:
        """What has not changed since the last time (nearly all of a structure) keeps its message."""
        if state.connections != self._connections[0]:
            self._connections = (state.connections, connections_to_ros(state.connections))
        poses = [self._pose(thing) for thing in state.objects]
        self._states.publish(state_message(state, self._state_sequence, poses, self._connections[1]))
        self._state_sequence += 1

    def _pose(self, thing: ObjectState) -> PoseMsg:
        last = self._poses.get(thing.id)
        if last is not None and last[0] is thing.pose:
            return last[1]
        message = pose_to_ros(thing.pose)
        self._poses[thing.id] = (thing.pose, message)
        return message

    def publish_events(self, events: Sequence[ConnectionEvent]) -> None:
        """Publish what was not published yet; ``events`` are all since the reset."""
        for sequence in range(self._published_events, len(events)):
            self._events.publish(event_to_ros(events[sequence], sequence))
        self._published_events = len(events)

    def reset(self) -> None:
        self._published_events = 0
        self._poses.clear()


class MarkerStream:
    """/viz/markers: every object as coloured boxes, for RViz."""

    def __init__(self, node: Node, rates: RatesConfig) -> None:
        self._markers = node.create_publisher(MarkerArray, "/viz/markers", LATCHED)
        self._colours = ColourTable.load(None)
        self.pacer = Pacer(1.0 / rates.markers_hz, wall_s=0.2)

    def due(self, time_s: float, still: bool) -> bool:
        """Whether to publish now: only for somebody, since markers cost more than the states they show."""
        return self._markers.get_subscription_count() > 0 and self.pacer.due(time_s, still)

    def publish(self, time_s: float, objects: Sequence[RigidObject]) -> None:
        markers = [Marker(action=Marker.DELETEALL)]
        for thing in objects:
            for box in thing.world_boxes():
                markers.append(self._marker(time_s, len(markers), thing, box.pose, box.size_m))
        self._markers.publish(MarkerArray(markers=markers))

    def _marker(
        self, time_s: float, number: int, thing: RigidObject, pose: Pose, size: tuple[float, float, float]
    ) -> Marker:
        red, green, blue = (channel / 255 for channel in self._colours.get(thing.colour).rgb)
        return Marker(
            header=header(time_s),
            ns=thing.id,
            id=number,
            type=Marker.CUBE,
            pose=pose_to_ros(pose),
            scale=Vector3(x=size[0], y=size[1], z=size[2]),
            color=ColorRGBA(r=red, g=green, b=blue, a=1.0),
        )


class CameraStream:
    """One camera: colour, with camera_info.

    Args:
        frame: of its messages.
        depth: depth too.
        at_rest: a picture more whenever time comes to a stand, so that who looks then sees what is.
        for_somebody: pictures are taken only while anybody listens.
    """

    def __init__(
        self,
        node: Node,
        prefix: str,
        frame: str,
        capture: Callable[[], CameraFrame],
        rate_hz: float,
        *,
        depth: bool,
        at_rest: bool,
        for_somebody: bool = False,
    ) -> None:
        self._frame = frame
        self._capture = capture
        self._for_somebody = for_somebody
        self._listeners = 0
        self._at_rest = at_rest
        self._depth = depth
        self._color = node.create_publisher(Image, f"{prefix}/color/image_raw", 4)
        self._color_info = node.create_publisher(CameraInfo, f"{prefix}/color/camera_info", 4)
        if depth:
            self._depth_image = node.create_publisher(Image, f"{prefix}/depth/image_rect", 4)
            self._depth_info = node.create_publisher(CameraInfo, f"{prefix}/depth/camera_info", 4)
        self._publishers = [self._color, self._color_info]
        if depth:
            self._publishers += [self._depth_image, self._depth_info]
        self.pacer = Pacer(1.0 / rate_hz if rate_hz > 0 else float("inf"))

    def due(self, time_s: float, still: bool) -> bool:
        """Whether to publish now; who comes while time stands still gets a picture at once."""
        if self.pacer.period_s == float("inf"):
            return False
        if self._for_somebody:
            listeners = sum(publisher.get_subscription_count() for publisher in self._publishers)
            if listeners > self._listeners:
                self.pacer.reset()
            self._listeners = listeners
            if not listeners:
                return False
        return self.pacer.due(time_s, still and self._at_rest)

    def publish(self) -> None:
        frame = self._capture()
        info = info_message(frame, self._frame)
        self._color_info.publish(info)
        self._color.publish(image_message(frame.time_s, frame.rgb, "rgb8", self._frame))
        if self._depth:
            self._depth_info.publish(info)
            self._depth_image.publish(image_message(frame.time_s, frame.depth_m, "32FC1", self._frame))


def _vector(values: Sequence[float]) -> Vector3:
    x, y, z = values
    return Vector3(x=x, y=y, z=z)


def transform(time_s: float, child: str, pose: Pose, parent: str = WORLD_FRAME) -> TransformStamped:
    message = TransformStamped(header=header(time_s, parent), child_frame_id=child)
    placed = pose_to_ros(pose)
    p: Point = placed.position
    message.transform.translation = Vector3(x=p.x, y=p.y, z=p.z)
    message.transform.rotation = placed.orientation
    return message


def image_message(time_s: float, pixels: np.ndarray, encoding: str, frame: str = CAMERA_FRAME) -> Image:
    """(height, width[, 3]) pixels as an image; bytes are assigned whole, which is the fast way."""
    height, width = pixels.shape[:2]
    data = np.ascontiguousarray(pixels)
    message = Image(header=header(time_s, frame), height=height, width=width, encoding=encoding)
    message.step = data.strides[0]
    message.data = data.tobytes()
    return message


def info_message(frame: CameraFrame, frame_id: str = CAMERA_FRAME) -> CameraInfo:
    k = frame.intrinsics
    projection = [k.fx, 0.0, k.cx, 0.0, 0.0, k.fy, k.cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return CameraInfo(
        header=header(frame.time_s, frame_id),
        height=k.height,
        width=k.width,
        distortion_model="plumb_bob",
        d=[0.0] * 5,
        k=k.matrix().ravel(),
        r=np.eye(3).ravel(),
        p=projection,
    )
