"""Pictures and joint states from their topics, as the core's types."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

import numpy as np
from jarvis_core.errors import PerceptionRefusedError
from jarvis_core.observation import CameraFrame, CameraIntrinsics, RobotState
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import time_from_ros
from jarvis_robot.model import RobotModel
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, JointState

#: Names of optical frames end so, or are this one (REP 103 suffix).
OPTICAL_SUFFIX = "optical_frame"
#: So many joint states are remembered, to find the one that belongs to a picture: seconds, at any usual rate.
_REMEMBERED = 2000


class CellTopics:
    """The newest picture, and where the arm was when it was taken.

    Args:
        camera_pose: of the optical frame in ``world``: the cell's calibration.
        on_picture: told that a whole new picture is there; called by the executor, and returns at once.
    """

    def __init__(
        self, node: Node, camera_pose: Pose, model: RobotModel, on_picture: Callable[[], None] = lambda: None
    ) -> None:
        self._pose = camera_pose
        self._model = model
        self._on_picture = on_picture
        self._color: Image | None = None
        self._depth: Image | None = None
        self._info: CameraInfo | None = None
        self._joints: deque[JointState] = deque(maxlen=_REMEMBERED)
        self._news = threading.Condition()
        node.create_subscription(Image, "/camera/color/image_raw", self._on_color, 2)
        node.create_subscription(Image, "/camera/depth/image_rect", self._on_depth, 2)
        node.create_subscription(CameraInfo, "/camera/color/camera_info", self._on_info, 2)
        node.create_subscription(JointState, "/joint_states", self._on_joints, 2)

    @property
    def now_s(self) -> float | None:
        """The cell's clock, by the newest joint state; None before the first."""
        with self._news:
            return _stamp(self._joints[-1]) if self._joints else None

    def frame(self, timeout_s: float, max_age_s: float) -> CameraFrame:
        """The newest whole picture; waits for one that is not older than ``max_age_s`` by the cell's clock.

        Raises:
            PerceptionRefusedError: none came in time, or its messages do not belong together.
        """
        with self._news:
            if not self._news.wait_for(lambda: self._fresh(max_age_s), timeout_s) and not self._whole():
                raise PerceptionRefusedError(
                    f"no colour and depth picture of one moment came within {timeout_s:.0f} s",
                    where="/camera/color/image_raw, /camera/depth/image_rect",
                    fix="see whether the camera runs: ros2 topic hz /camera/color/image_raw",
                )
            return frame_from_ros(self._color, self._depth, self._info, self._pose)

    def robot(self, time_s: float) -> RobotState | None:
        """Where the arm was at a time, by the joint state nearest to it.

        An arm that moves is elsewhere now than a picture shows it: what should be left out of the picture would be
        taken for bricks. None before the first joint state, or where it lacks a joint.
        """
        with self._news:
            known = [(abs(_stamp(joints) - time_s), joints) for joints in self._joints]
        nearest = min(known, key=lambda item: item[0], default=None)
        return robot_from_ros(nearest[1], self._model) if nearest is not None else None

    def _whole(self) -> bool:
        return (
            self._color is not None
            and self._depth is not None
            and self._info is not None
            and self._color.header.stamp == self._depth.header.stamp
        )

    def _fresh(self, max_age_s: float) -> bool:
        return self._whole() and (
            not self._joints or _stamp(self._joints[-1]) - _stamp(self._color) <= max_age_s
        )

    def _on_color(self, message: Image) -> None:
        self._keep("_color", message)

    def _on_depth(self, message: Image) -> None:
        self._keep("_depth", message)

    def _on_info(self, message: CameraInfo) -> None:
        self._keep("_info", message)

    def _on_joints(self, message: JointState) -> None:
        with self._news:
            if self._joints and _stamp(message) < _stamp(self._joints[-1]):
                self._joints.clear()  # another clock, as after a simulator's reset
            self._joints.append(message)
            self._news.notify_all()

    def _keep(self, name: str, message: object) -> None:
        with self._news:
            setattr(self, name, message)
            self._news.notify_all()
            whole = self._whole()
        if whole:
            self._on_picture()


def _stamp(message: Image | JointState) -> float:
    return time_from_ros(message.header.stamp)


def frame_from_ros(color: Image, depth: Image, info: CameraInfo, pose: Pose) -> CameraFrame:
    """Raises PerceptionRefusedError: another encoding, another size than announced, or not in an optical frame."""
    if color.encoding not in ("rgb8", "bgr8") or depth.encoding not in ("32FC1", "16UC1"):
        raise PerceptionRefusedError(
            f"pictures are encoded as {color.encoding} and {depth.encoding}",
            where="/camera",
            fix="send colour as rgb8 or bgr8, depth as 32FC1 (metres) or 16UC1 (millimetres)",
        )
    if not color.header.frame_id.endswith(OPTICAL_SUFFIX) or depth.header.frame_id != color.header.frame_id:
        raise PerceptionRefusedError(
            f"pictures are in frames {color.header.frame_id!r} and {depth.header.frame_id!r}",
            where="/camera",
            fix=f"send both in one optical frame (..._{OPTICAL_SUFFIX}), depth registered to colour",
        )
    if any(info.d):
        raise PerceptionRefusedError(
            "the picture is distorted (camera_info has coefficients)", where="/camera", fix="rectify it first"
        )
    rgb = _pixels(color, np.uint8, 3)
    metres = _pixels(depth, np.float32 if depth.encoding == "32FC1" else np.uint16, 1)[..., 0]
    if depth.encoding == "16UC1":
        metres = metres.astype(np.float32) / 1000.0
    k = CameraIntrinsics(info.width, info.height, info.k[0], info.k[4], info.k[2], info.k[5])
    colours = rgb if color.encoding == "rgb8" else rgb[..., ::-1]
    return CameraFrame(time_from_ros(color.header.stamp), np.ascontiguousarray(colours), metres, k, pose)


def _pixels(message: Image, kind: type, channels: int) -> np.ndarray:
    """(height, width, channels) of an image whose rows may be padded."""
    size = np.dtype(kind).itemsize
    if len(message.data) != message.height * message.step or message.step < message.width * channels * size:
        raise PerceptionRefusedError(
            f"{len(message.data)} bytes are no {message.height} rows of {message.step}", where="/camera"
        )
    rows = np.frombuffer(message.data, kind).reshape(message.height, message.step // size)
    return rows[:, : channels * message.width].reshape(message.height, message.width, channels)


def robot_from_ros(message: JointState, model: RobotModel) -> RobotState | None:
    """None where a joint of the arm or a finger is missing."""
    values = dict(zip(message.name, message.position, strict=False))
    wanted = (*model.config.arm_joints, *model.config.finger_joints)
    if any(name not in values for name in wanted):
        return None
    joints = tuple(values[name] for name in model.config.arm_joints)
    width = sum(values[name] for name in model.config.finger_joints)
    return RobotState(time_from_ros(message.header.stamp), joints, width, model.tool(np.array(joints)))
