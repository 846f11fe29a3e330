"""The node's door: messages to frames, refusals, and the node itself over DDS."""

from __future__ import annotations

from collections.abc import Callable

import pytest

pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

import numpy as np
from jarvis_core.errors import BadInputError, PerceptionRefusedError
from jarvis_core.observation import CameraFrame
from jarvis_core.ros.conversions import header
from jarvis_perception.ros.camera_topics import CellTopics, frame_from_ros
from jarvis_perception.ros.perception_node import parts_of
from jarvis_robot.config import load_robot_config
from jarvis_robot.model import RobotModel
from sensor_msgs.msg import CameraInfo, Image, JointState


def message(pixels: np.ndarray, encoding: str, frame_id: str = "camera_optical_frame", pad: int = 0) -> Image:
    height, width = pixels.shape[:2]
    rows = pixels.reshape(height, -1).view(np.uint8)
    padded = np.pad(rows, ((0, 0), (0, pad)))
    image = Image(
        header=header(1.5, frame_id), height=height, width=width, encoding=encoding, step=padded.shape[1]
    )
    image.data = padded.tobytes()
    return image


def info(frame: CameraFrame, d: tuple[float, ...] = ()) -> CameraInfo:
    k = frame.intrinsics
    return CameraInfo(height=k.height, width=k.width, k=k.matrix().ravel(), d=list(d))


def test_every_usual_encoding_gives_the_same_frame(frame: CameraFrame) -> None:
    depth = np.round(frame.depth_m * 1000).astype(np.uint16)
    variants = [
        (message(frame.rgb, "rgb8"), message(frame.depth_m, "32FC1")),
        (message(np.ascontiguousarray(frame.rgb[..., ::-1]), "bgr8", pad=12), message(depth, "16UC1", pad=4)),
    ]
    for color, depths in variants:
        got = frame_from_ros(color, depths, info(frame), frame.pose)
        assert np.array_equal(got.rgb, frame.rgb)
        assert np.abs(got.depth_m - frame.depth_m).max() < 0.00051
        assert got.intrinsics == frame.intrinsics
        assert got.time_s == 1.5


def test_what_does_not_belong_together_is_refused(frame: CameraFrame) -> None:
    color, depth = message(frame.rgb, "rgb8"), message(frame.depth_m, "32FC1")
    for bad_color, bad_depth, bad_info, reason in (
        (message(frame.rgb, "yuv422"), depth, info(frame), "encoded as yuv422"),
        (message(frame.rgb, "rgb8", "camera_link"), depth, info(frame), "in frames 'camera_link'"),
        (color, message(frame.depth_m, "32FC1", "depth_optical_frame"), info(frame), "in frames"),
        (color, depth, info(frame, (0.1, 0.0, 0.0, 0.0, 0.0)), "distorted"),
    ):
        with pytest.raises(PerceptionRefusedError, match=reason):
            frame_from_ros(bad_color, bad_depth, bad_info, frame.pose)
    color.data = color.data[:-1]
    with pytest.raises(PerceptionRefusedError, match="rows of"):
        frame_from_ros(color, depth, info(frame), frame.pose)


class Subscriptions:
    """Takes what a node is told to listen to, to be called by hand."""

    def __init__(self) -> None:
        self.heard: dict[str, Callable[[object], None]] = {}

    def create_subscription(
        self, kind: type, topic: str, heard: Callable[[object], None], depth: int
    ) -> None:
        self.heard[topic] = heard


def test_a_picture_goes_with_where_the_arm_was_then(frame: CameraFrame) -> None:
    """An arm that moved on since would not be left out of the picture where it is in it."""
    model = RobotModel.load(load_robot_config("panda"))
    names = [*model.config.arm_joints, *model.config.finger_joints]
    node = Subscriptions()
    topics = CellTopics(node, frame.pose, model)
    assert topics.robot(1.0) is None

    def hear(time_s: float, angle_rad: float) -> None:
        joints = JointState(header=header(time_s), name=names, position=[angle_rad] * len(names))
        node.heard["/joint_states"](joints)

    for k in range(100):
        hear(1.0 + 0.02 * k, 0.001 * k)
    assert topics.robot(1.5).joints_rad[0] == pytest.approx(0.025)
    assert topics.robot(9.0).joints_rad[0] == pytest.approx(0.099)
    assert topics.now_s == pytest.approx(2.98)
    hear(0.5, 0.7)  # the clock began anew
    assert topics.robot(2.9).joints_rad[0] == pytest.approx(0.7)


def test_the_list_of_parts_as_a_parameter() -> None:
    assert [(line.part, line.colour) for line in parts_of("3001:4, 3068b:15")] == [("3001", 4), ("3068b", 15)]
    assert parts_of("") == ()
    with pytest.raises(BadInputError, match="3001:4,3020:14"):
        parts_of("3001")
