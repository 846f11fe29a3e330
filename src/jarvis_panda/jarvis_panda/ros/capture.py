"""Takes the views that ``jarvis calibrate camera`` works on: one picture and the joints, each time it is asked.

ros2 run jarvis_panda capture --ros-args -p folder:=views
ros2 service call /calibrate/capture std_srvs/srv/Trigger
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import yaml
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import ConfigError
from jarvis_core.files import atomic_path
from jarvis_core.ros.main import run_node
from jarvis_robot.config import load_robot_config
from rclpy.executors import Executor
from rclpy.node import Node
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_srvs.srv import Trigger

from jarvis_panda.calibration_folder import VIEWS

#: OpenCV's conversion to grey by the picture's encoding.
ENCODINGS = {"mono8": None, "rgb8": cv2.COLOR_RGB2GRAY, "bgr8": cv2.COLOR_BGR2GRAY}
#: The arm stands still when no joint is faster than this.
STILL_RAD_S = 0.005


class Capture(Node):
    """ROS parameter ``folder``: where the views go; it must not hold any yet."""

    def __init__(self, executor: Executor) -> None:
        super().__init__("calibration_capture")
        self._folder = Path(self.declare_parameter("folder", "views").value)
        if (self._folder / VIEWS).exists():
            raise ConfigError("holds views already", where=str(self._folder), fix="name another folder")
        self._folder.mkdir(parents=True, exist_ok=True)
        self._joints = load_robot_config(load_default("cell", CellConfig).robot).arm_joints
        self._picture: Image | None = None
        self._info: CameraInfo | None = None
        self._state: JointState | None = None
        self._views: list[dict[str, Any]] = []
        self.create_subscription(Image, "/camera/color/image_raw", self._on_picture, 2)
        self.create_subscription(CameraInfo, "/camera/color/camera_info", self._on_info, 2)
        self.create_subscription(JointState, "/joint_states", self._on_state, 10)
        self.create_service(Trigger, "/calibrate/capture", self._on_capture)

    def _on_picture(self, message: Image) -> None:
        self._picture = message

    def _on_info(self, message: CameraInfo) -> None:
        self._info = message

    def _on_state(self, message: JointState) -> None:
        self._state = message

    def _on_capture(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        missing = [
            topic
            for topic, message in (
                ("/camera/color/image_raw", self._picture),
                ("/camera/color/camera_info", self._info),
                ("/joint_states", self._state),
            )
            if message is None
        ]
        if missing:
            response.message = f"nothing yet on {' and '.join(missing)}"
            return response
        speeds = np.abs(self._state.velocity)
        if len(speeds) and speeds.max() > STILL_RAD_S:
            response.message = "the arm moves: capture when it stands still"
            return response
        if self._picture.encoding not in ENCODINGS:
            response.message = f"pictures in {self._picture.encoding}; known are {', '.join(ENCODINGS)}"
            return response
        self._keep()
        response.success, response.message = True, f"{len(self._views)} views in {self._folder}"
        return response

    def _keep(self) -> None:
        name = f"view-{len(self._views):02d}.png"
        written, data = cv2.imencode(".png", grey(self._picture))
        assert written
        with atomic_path(self._folder / name) as path:
            path.write_bytes(data.tobytes())
        position = dict(zip(self._state.name, self._state.position, strict=True))
        self._views.append({"picture": name, "joints_rad": [position[joint] for joint in self._joints]})
        info = self._info
        lens = {name: float(info.k[i]) for name, i in (("fx", 0), ("fy", 4), ("cx", 2), ("cy", 5))}
        size = {"width": info.width, "height": info.height}
        camera = {**size, **lens, "distortion": [float(v) for v in info.d]}
        with atomic_path(self._folder / VIEWS) as path:
            path.write_text(yaml.safe_dump({"camera": camera, "views": self._views}), encoding="utf-8")


def grey(message: Image) -> np.ndarray:
    """(height, width) uint8 of a picture whose encoding is one of ``ENCODINGS``."""
    channels = 1 if message.encoding == "mono8" else 3
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    picture = rows[:, : channels * message.width].reshape(message.height, message.width, channels)
    code = ENCODINGS[message.encoding]
    return picture[:, :, 0] if code is None else cv2.cvtColor(picture, code)


def main() -> None:
    sys.exit(run_node(Capture))
