"""Nothing but files says Panda: a UR5 of six joints with a gripper of two boxes, planned for by every backend."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_motion.backend import MotionBackend, Obstacle
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import BACKENDS, make_backend
from jarvis_robot.config import RobotConfig, load_robot_config
from jarvis_robot.files import find_model_file
from jarvis_robot.model import RobotModel

FOLDER = "package://example-robot-data/robots/ur_description"
GRIPPER = """<robot name="gripper">
  <link name="palm"><collision><origin xyz="0 0 0.03"/>
    <geometry><box size="0.06 0.12 0.06"/></geometry></collision></link>
  <joint name="palm_joint" type="fixed"><parent link="tool0"/><child link="palm"/></joint>
  <link name="tip"/>
  <joint name="tip_joint" type="fixed"><parent link="palm"/><child link="tip"/><origin xyz="0 0 0.12"/></joint>
  <link name="left"><collision><origin xyz="0 0.006 0.03"/>
    <geometry><box size="0.02 0.012 0.06"/></geometry></collision></link>
  <joint name="left_joint" type="prismatic"><parent link="palm"/><child link="left"/><origin xyz="0 0 0.065"/>
    <axis xyz="0 1 0"/><limit lower="0" upper="0.04" velocity="0.1" effort="40"/></joint>
  <link name="right"><collision><origin xyz="0 -0.006 0.03"/>
    <geometry><box size="0.02 0.012 0.06"/></geometry></collision></link>
  <joint name="right_joint" type="prismatic"><parent link="palm"/><child link="right"/><origin xyz="0 0 0.065"/>
    <axis xyz="0 -1 0"/><limit lower="0" upper="0.04" velocity="0.1" effort="40"/><mimic joint="left_joint"/></joint>
</robot>"""
WRIST = ("wrist_1_link", "wrist_2_link", "wrist_3_link", "ee_link")
TABLE = Obstacle("table", Box(Pose((0.3, 0.0, -0.15)), (1.4, 1.4, 0.1)))
WALL = Obstacle("wall", Box(Pose((0.55, 0.0, 0.1)), (0.3, 0.02, 0.4)))


def ur5() -> RobotModel:
    """The installed UR5, its frame for Gazebo left out, a gripper added."""
    root = ET.fromstring(find_model_file(f"{FOLDER}/urdf/ur5_robot.urdf").read_text(encoding="utf-8"))
    for element in list(root):
        if element.tag not in ("link", "joint") or element.get("name") in ("world", "world_joint"):
            root.remove(element)
    root.extend(ET.fromstring(GRIPPER))
    srdf = ET.fromstring(find_model_file(f"{FOLDER}/srdf/ur5.srdf").read_text(encoding="utf-8"))
    hand = ("palm", "left", "right")
    for a, b in [*((w, h) for w in WRIST for h in hand), *((w, "ee_link") for w in WRIST[:3])]:
        ET.SubElement(srdf, "disable_collisions", link1=a, link2=b)
    for a, b in [("palm", "left"), ("palm", "right"), ("left", "right"), ("forearm_link", "ee_link")]:
        ET.SubElement(srdf, "disable_collisions", link1=a, link2=b)
    panda = load_robot_config("panda")
    config = RobotConfig(
        name="ur5",
        urdf="ur5",
        srdf="ur5",
        arm_joints=(
            *("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint"),
            *("wrist_1_joint", "wrist_2_joint", "wrist_3_joint"),
        ),
        finger_joints=("left_joint", "right_joint"),
        base_link="base_link",
        hand_link="palm",
        tool_link="tip",
        home_rad=(0.0, -1.8, 1.8, -1.57, -1.57, 0.0),
        ready_rad=(0.0, -1.2, 1.8, -2.17, -1.57, 0.0),
        max_acceleration_rad_s2=(8.0,) * 6,
        max_jerk_rad_s3=(4000.0,) * 6,
        gripper=panda.gripper,
    )
    return RobotModel(config, ET.tostring(root, "unicode"), ET.tostring(srdf, "unicode"))


UR5 = ur5()
READY = np.array(UR5.config.ready_rad)


@pytest.fixture(scope="module", params=[name for name in BACKENDS if BACKENDS[name].installed])
def backend(request: pytest.FixtureRequest) -> Iterator[MotionBackend]:
    config = msgspec.structs.replace(load_default("motion", MotionConfig), backend=request.param)
    try:
        made = make_backend(UR5, config)
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    yield made
    made.close()


def test_it_plans_free_motions_lines_and_detours(backend: MotionBackend) -> None:
    tool = UR5.tool(READY)
    start, goal = (backend.inverse(Pose((0.55, y, 0.1), tool.quaternion), READY) for y in (-0.2, 0.2))
    assert start is not None
    assert goal is not None
    backend.set_obstacles([TABLE])
    direct = backend.plan_to_joints(start, goal)
    assert direct.trajectory is not None, direct.message
    backend.set_obstacles([TABLE, WALL])
    around = backend.plan_to_pose(start, UR5.tool(goal))
    assert around.trajectory is not None, around.message
    assert backend.validate(around.trajectory) == ()
    assert "would touch wall" in "; ".join(backend.validate(direct.trajectory))
    line = backend.plan_line(start, UR5.tool(start).translated((0.0, 0.0, -0.08)))
    assert line.trajectory is not None, line.message
    refused = backend.plan_line(start, UR5.tool(start).translated((0.0, 0.4, 0.0)))
    assert refused.status is Status.PLANNING_FAILED
    assert "would touch wall" in refused.message


def test_its_failures_name_its_own_joints(backend: MotionBackend) -> None:
    start = READY.copy()
    start[2] = 7.0
    assert "elbow_joint" in backend.plan_to_joints(start, READY).message
