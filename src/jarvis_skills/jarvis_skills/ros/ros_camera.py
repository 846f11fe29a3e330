"""The top camera behind its image topics."""

from __future__ import annotations

import threading

import numpy as np
from jarvis_core.observation import CameraFrame, CameraIntrinsics
from jarvis_core.pose import Pose
from jarvis_core.ros.conversions import time_from_ros
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import CameraInfo, Image

FRAME_TIMEOUT_S = 10.0


class RosCamera:
    """Implements jarvis_core.ports.Camera from /camera/color/image_raw, /camera/depth/image_rect and camera_info.

    Args:
        pose: of the optical frame in ``world`` (the cell's calibration).
    """

    def __init__(self, node: Node, pose: Pose) -> None:
        self._pose = pose
        self._color: Image | None = None
        self._depth: Image | None = None
        self._info: CameraInfo | None = None
        self._news = threading.Condition()
        quality = QoSProfile(depth=2, reliability=ReliabilityPolicy.RELIABLE)
        node.create_subscription(Image, "/camera/color/image_raw", self._on_color, quality)
        node.create_subscription(Image, "/camera/depth/image_rect", self._on_depth, quality)
        node.create_subscription(CameraInfo, "/camera/color/camera_info", self._on_info, quality)

    def forget(self) -> None:
        """Drop what was received: the next ``capture`` waits for new pictures."""
        with self._news:
            self._color = self._depth = None

    def capture(self, not_before_s: float = -1.0) -> CameraFrame:
        """The newest colour and depth picture of the same moment; raises TimeoutError when none come.

        Args:
            not_before_s: wait for a picture at least as new, on the cell's clock.
        """
        with self._news:
            if not self._news.wait_for(lambda: self._complete(not_before_s), FRAME_TIMEOUT_S):
                raise TimeoutError(f"no matching colour and depth picture within {FRAME_TIMEOUT_S:.0f} s")
            color, depth, info = self._color, self._depth, self._info
        intrinsics = CameraIntrinsics(info.width, info.height, info.k[0], info.k[4], info.k[2], info.k[5])
        return CameraFrame(
            time_from_ros(color.header.stamp),
            color_from_ros(color),
            depth_from_ros(depth),
            intrinsics,
            self._pose,
        )

    def _complete(self, not_before_s: float) -> bool:
        return (
            self._color is not None
            and self._depth is not None
            and self._info is not None
            and self._color.header.stamp == self._depth.header.stamp
            and time_from_ros(self._color.header.stamp) >= not_before_s - 1e-6
        )

    def _on_color(self, message: Image) -> None:
        with self._news:
            self._color = message
            self._news.notify_all()

    def _on_depth(self, message: Image) -> None:
        with self._news:
            self._depth = message
            self._news.notify_all()

    def _on_info(self, message: CameraInfo) -> None:
        with self._news:
            self._info = message
            self._news.notify_all()


def color_from_ros(message: Image) -> np.ndarray:
    """(height, width, 3) uint8 from an rgb8 image; raises ValueError for another encoding."""
    if message.encoding != "rgb8":
        raise ValueError(f"colour image in encoding {message.encoding!r}, expected 'rgb8'")
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    return rows[:, : 3 * message.width].reshape(message.height, message.width, 3)


def depth_from_ros(message: Image) -> np.ndarray:
    """(height, width) float32 metres from a 32FC1 image; raises ValueError for another encoding."""
    if message.encoding != "32FC1":
        raise ValueError(f"depth image in encoding {message.encoding!r}, expected '32FC1'")
    return np.frombuffer(message.data, np.float32).reshape(message.height, message.width)
