"""What this package says in MoveIt's messages (moveit_msgs, for Jazzy 2.12)."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray
from jarvis_core.ros.conversions import pose_to_ros
from jarvis_robot.config import RobotConfig
from moveit_msgs.msg import AttachedCollisionObject, CollisionObject, RobotState
from sensor_msgs.msg import JointState
from shape_msgs.msg import SolidPrimitive
from trajectory_msgs.msg import JointTrajectory

#: The name of what the tool carries.
HELD = "held"


def collision_object(name: str, boxes: Sequence[Box], frame: str) -> CollisionObject:
    """Boxes given in ``frame`` as one object to add."""
    message = CollisionObject()
    message.header.frame_id = frame
    message.id = name
    message.pose.orientation.w = 1.0
    message.operation = CollisionObject.ADD
    for box in boxes:
        message.primitives.append(SolidPrimitive(type=SolidPrimitive.BOX, dimensions=list(box.size_m)))
        message.primitive_poses.append(pose_to_ros(box.pose))
    return message


def obstacle_objects(boxes: Mapping[str, Sequence[Box]], config: RobotConfig) -> list[CollisionObject]:
    """Obstacles by id; the base link's frame is ``world``."""
    return [collision_object(name, kept, config.base_link) for name, kept in boxes.items()]


def held_object(
    boxes: Sequence[Box], config: RobotConfig, touching: Iterable[str]
) -> AttachedCollisionObject:
    """What the tool carries, boxes in the tool frame; it may touch the links of ``touching``."""
    return AttachedCollisionObject(
        link_name=config.tool_link,
        object=collision_object(HELD, boxes, config.tool_link),
        touch_links=sorted(touching),
    )


def dropped_object(config: RobotConfig) -> AttachedCollisionObject:
    """The tool carries nothing any more."""
    message = AttachedCollisionObject(link_name=config.tool_link)
    message.object.id = HELD
    message.object.operation = CollisionObject.REMOVE
    return message


def joint_values(joints: FloatArray, width_m: float, config: RobotConfig) -> dict[str, float]:
    """Positions of arm and fingers by joint."""
    values = {name: float(q) for name, q in zip(config.arm_joints, joints, strict=True)}
    return values | dict.fromkeys(config.finger_joints, width_m / 2)


def robot_state(joints: FloatArray, width_m: float, config: RobotConfig) -> RobotState:
    """Arm and fingers, complete."""
    values = joint_values(joints, width_m, config)
    state = JointState(name=list(values), position=list(values.values()))
    return RobotState(joint_state=state, is_diff=False)


def way_from_ros(message: JointTrajectory, arm_joints: Sequence[str]) -> FloatArray:
    """(k, n) joint positions of a trajectory, in the arm's order; raises ValueError for a joint it lacks."""
    columns = [message.joint_names.index(name) for name in arm_joints]
    return np.array([[point.positions[i] for i in columns] for point in message.points])


def srdf_with_group(srdf: str, group: str, config: RobotConfig) -> str:
    """The SRDF with a chain from base to tool as a group."""
    root = ET.fromstring(srdf)
    element = ET.SubElement(root, "group", name=group)
    ET.SubElement(element, "chain", base_link=config.base_link, tip_link=config.tool_link)
    return ET.tostring(root, encoding="unicode")


def urdf_without_base(urdf: str, base_link: str) -> str:
    """The URDF without the base link's shapes: it stands on the table, which would be a collision for ever."""
    root = ET.fromstring(urdf)
    for link in root.findall("link"):
        if link.get("name") == base_link:
            for shape in link.findall("collision"):
                link.remove(shape)
    return ET.tostring(root, encoding="unicode")
