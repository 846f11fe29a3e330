# ruff: noqa: E402 - nothing below can be imported where there is no ROS
"""Taking views: what is kept, what is refused. The node's callbacks are called by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

rclpy = pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

from jarvis_core.config import load_default
from jarvis_core.errors import ConfigError
from jarvis_panda.calibration_folder import read_folder
from jarvis_panda.config import RealRobotConfig
from jarvis_panda.ros.capture import Capture
from jarvis_robot.model import RobotModel
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import CameraInfo, Image, JointState
from std_srvs.srv import Trigger

PANDA = RobotModel.load("panda")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    rclpy.init(args=["test", "--ros-args", "-p", f"folder:={tmp_path / 'views'}"])
    yield tmp_path / "views"
    rclpy.shutdown()


def ask(node: Capture) -> Trigger.Response:
    return node._on_capture(Trigger.Request(), Trigger.Response())


def test_views_are_kept_once_everything_is_there(folder: Path) -> None:
    node = Capture(SingleThreadedExecutor())
    answer = ask(node)
    assert not answer.success
    assert "/camera/color/image_raw and /camera/color/camera_info and /joint_states" in answer.message
    picture = np.arange(6 * 8 * 3, dtype=np.uint8).reshape(6, 8, 3)
    node._on_picture(Image(height=6, width=8, step=24, encoding="rgb8", data=picture.tobytes()))
    node._on_info(
        CameraInfo(width=8, height=6, k=[9.0, 0.0, 4.0, 0.0, 9.0, 3.0, 0.0, 0.0, 1.0], d=[0.1, 0.0])
    )
    names = [*PANDA.config.arm_joints, *PANDA.config.finger_joints]
    node._on_state(JointState(name=names, position=[0.1] * 9, velocity=[0.2] + [0.0] * 8))
    assert "moves" in ask(node).message
    node._on_state(JointState(name=names, position=[0.1] * 9, velocity=[0.0] * 9))
    assert ask(node).success
    assert "2 views" in ask(node).message
    kept = read_folder(folder, PANDA, load_default("robot_real", RealRobotConfig).board)
    assert kept.without_board == ("view-00.png", "view-01.png")
    assert kept.lens.distortion == (0.1, 0.0)
    node.destroy_node()


def test_a_folder_with_views_is_left_alone(folder: Path) -> None:
    folder.mkdir()
    (folder / "views.yaml").write_text("camera: {}\n")
    with pytest.raises(ConfigError, match="holds views already"):
        Capture(SingleThreadedExecutor())
