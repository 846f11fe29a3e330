"""The real arm's model, its controllers and the names that have to agree."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from typing import Any

import pytest
import xacro
import yaml
from jarvis_core.config import config_folder, load_default
from jarvis_panda.config import RealRobotConfig
from jarvis_robot.files import find_model_file
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")


def expanded(**mappings: str) -> ET.Element:
    path = find_model_file("panda_real.urdf.xacro")
    return ET.fromstring(xacro.process_file(str(path), mappings=mappings).toxml())


@pytest.mark.parametrize(
    ("fake", "plugin"),
    [("false", "franka_hardware/FrankaHardwareInterface"), ("true", "mock_components/GenericSystem")],
)
def test_every_arm_joint_is_under_control(fake: str, plugin: str) -> None:
    root = expanded(robot_ip="172.16.0.2", fake=fake)
    (control,) = root.findall("ros2_control")
    assert control.findtext("hardware/plugin") == plugin
    joints = control.findall("joint")
    assert tuple(joint.get("name") for joint in joints) == PANDA.config.arm_joints
    for joint in joints:
        assert "effort" in {c.get("name") for c in joint.findall("command_interface")}
        assert {s.get("name") for s in joint.findall("state_interface")} == {"position", "velocity", "effort"}


def test_the_address_reaches_the_hardware_and_the_arm_is_the_simulated_one() -> None:
    root = expanded(robot_ip="10.0.0.7")
    assert root.findtext("ros2_control/hardware/param[@name='robot_ip']") == "10.0.0.7"
    links = {link.get("name") for link in root.findall("link")}
    assert links == set(PANDA.links)


def test_the_controller_s_file_names_the_same_joints() -> None:
    said: dict[str, Any] = yaml.safe_load((config_folder() / "robot_controllers.yaml").read_text())
    controller = said["/**/panda_arm_controller"]["ros__parameters"]
    assert tuple(controller["joints"]) == PANDA.config.arm_joints
    assert set(controller["gains"]) == set(PANDA.config.arm_joints)
    assert set(PANDA.config.arm_joints) < set(controller["constraints"])
    assert controller["command_interfaces"] == ["effort"]


def test_the_adapter_listens_where_the_launch_file_starts_things() -> None:
    config = load_default("robot_real", RealRobotConfig)
    source = (config_folder().parent / "launch" / "robot.launch.py").read_text()
    assert 'NAMESPACE = "franka"' in source
    assert config.arm_action == "/franka/panda_arm_controller/follow_joint_trajectory"
    assert config.gripper == "/franka/panda_gripper"
    assert set(config.joint_states) == {"/franka/joint_states", f"{config.gripper}/joint_states"}
    assert 'name="panda_gripper"' in source
