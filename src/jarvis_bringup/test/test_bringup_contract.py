"""The contract's own judges: each finds what it is there for."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")

import cell_contract
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.observation import CameraFrame
from jarvis_robot.model import RobotModel
from jarvis_sim.ros.streams import image_message, info_message, transform
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

CELL = cell_contract.Cell(load_default("cell", CellConfig), RobotModel.load("panda"))
TOP, HAND = CELL.config.top_camera, CELL.config.gripper_camera
RGB = np.zeros((TOP.height, TOP.width, 3), np.uint8)
DEPTH = np.full((TOP.height, TOP.width), TOP.eye[2], np.float32)
NAMES = [*CELL.robot.config.arm_joints, *CELL.robot.config.finger_joints]
HOME = [*CELL.robot.config.home_rad, 0.04, 0.04]


def said(topic: str, *messages: object) -> list[str]:
    """What the table says about messages that come often enough."""
    (stream,) = (s for s in cell_contract.STREAMS if s.topic == topic)
    return [
        line for line in cell_contract._judge(stream, list(messages), CELL) if "per simulated" not in line
    ]


def frame() -> CameraFrame:
    return CameraFrame(1.0, RGB, DEPTH, TOP.intrinsics(), TOP.pose())


def test_what_the_embedded_cell_says_is_right() -> None:
    assert not said("/joint_states", JointState(name=NAMES, position=HOME))
    assert not said("/camera/color/image_raw", image_message(1.0, RGB, "rgb8"))
    assert not said("/camera/depth/image_rect", image_message(1.0, DEPTH, "32FC1"))
    assert not said("/camera/color/camera_info", info_message(frame()))
    links = CELL.robot.forward(np.array(HOME[:7]), 0.08)
    assert not said("/tf", TFMessage(transforms=[transform(1.0, n, p) for n, p in links.items()]))
    fixed = [
        transform(0.0, "plate", CELL.config.plate.pose),
        transform(0.0, "camera_optical_frame", TOP.pose()),
        transform(0.0, "gripper_camera_optical_frame", HAND.pose(), "panda_hand"),
    ]
    assert not said("/tf_static", TFMessage(transforms=fixed))
    elsewhere = transform(0.0, "gripper_camera_optical_frame", HAND.pose())
    assert "given in" in said("/tf_static", TFMessage(transforms=[*fixed[:2], elsewhere]))[0]
    near = np.full((HAND.height, HAND.width), 0.06, np.float32)
    frame_id = "gripper_camera_optical_frame"
    assert not said("/gripper_camera/depth/image_rect", image_message(1.0, near, "32FC1", frame_id))
    assert said("/gripper_camera/depth/image_rect", image_message(1.0, 1000 * near, "32FC1", frame_id))
    hand = CameraFrame(1.0, RGB, near, HAND.intrinsics(), HAND.pose())
    assert not said("/gripper_camera/depth/camera_info", info_message(hand, frame_id))


def test_degrees_millimetres_and_other_joints_are_found() -> None:
    degrees = [*np.degrees(HOME[:7]), 0.04, 0.04]
    assert "radians" in said("/joint_states", JointState(name=NAMES, position=degrees))[0]
    assert "metres" in said("/joint_states", JointState(name=NAMES, position=[*HOME[:7], 40.0, 40.0]))[0]
    assert "names" in said("/joint_states", JointState(name=NAMES[::-1], position=HOME))[0]
    millimetres = image_message(1.0, DEPTH * 1000, "32FC1")
    assert "away" in said("/camera/depth/image_rect", millimetres)[0]
    endless = image_message(1.0, np.where(DEPTH > 0, np.inf, 0).astype(np.float32), "32FC1")
    assert said("/camera/depth/image_rect", endless)


def test_half_a_pixel_another_frame_and_a_moved_plate_are_found() -> None:
    info = info_message(frame())
    info.k[2] += 0.5
    assert "K is" in said("/camera/color/camera_info", info)[0]
    info = info_message(frame())
    info.header.frame_id = "sim_camera"
    assert "frame" in said("/camera/color/camera_info", info)[0]
    moved = transform(0.0, "plate", CELL.config.plate.pose.translated((0.0, 0.001, 0.0)))
    camera = transform(0.0, "camera_optical_frame", TOP.pose())
    assert "elsewhere" in said("/tf_static", TFMessage(transforms=[moved, camera]))[0]
    assert "no transforms of" in said("/tf", TFMessage(transforms=[moved]))[0]


def test_silence_and_slowness_are_found() -> None:
    assert "silent" in said("/joint_states")[0]
    (stream,) = (s for s in cell_contract.STREAMS if s.topic == "/joint_states")
    slow = list(cell_contract._judge(stream, [JointState(name=NAMES, position=HOME)], CELL))
    assert "per simulated second" in slow[0]
