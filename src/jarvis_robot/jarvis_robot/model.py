"""A robot: links, joints, limits and forward kinematics, from its URDF and configuration."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jarvis_core.errors import ConfigError
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_robot.config import RobotConfig, load_robot_config
from jarvis_robot.files import find_model_file
from jarvis_robot.meshes import ColouredMesh, box_mesh, read_collada
from jarvis_robot.urdf import Joint, Link, Shape, parse_urdf, read_urdf


@dataclass(frozen=True, slots=True)
class JointLimits:
    """Limits of the n arm joints, each (n,): rad, rad/s, rad/s^2, rad/s^3, Nm."""

    lower: FloatArray
    upper: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    jerk: FloatArray
    effort: FloatArray


class RobotModel:
    """One robot. ``RobotModel.load("panda")`` or ``RobotModel.load(config)`` makes it.

    Attributes:
        config: what config/robots says.
        urdf: the expanded URDF text; meshes are named ``package://...`` (see ``urdf_with_files``).
        srdf: the SRDF text.
        links: by name, mere frames included.
        joints: every joint, from the base outwards, so that a parent always comes before its children.
        arm_joints: the n arm joints, from the base on.
        finger_joints: the two finger joints; each moves by half the gripper's width.
        limits: of the arm joints.
    """

    def __init__(self, config: RobotConfig, urdf: str, srdf: str, *, where: str = "urdf") -> None:
        self.config = config
        self.urdf = urdf
        self.srdf = srdf
        self.links: dict[str, Link]
        self.joints: tuple[Joint, ...]
        self.links, self.joints = parse_urdf(urdf, where=where)
        by_name = {joint.name: joint for joint in self.joints}
        for name in (*config.arm_joints, *config.finger_joints):
            if name not in by_name:
                raise ConfigError(f"joint {name!r} is not in the URDF", where=where)
        for name in (config.base_link, config.hand_link, config.tool_link):
            if name not in self.links:
                raise ConfigError(f"link {name!r} is not in the URDF", where=where)
        self.arm_joints = tuple(by_name[name] for name in config.arm_joints)
        self.finger_joints = tuple(by_name[name] for name in config.finger_joints)
        self.limits = JointLimits(
            lower=np.array([j.lower for j in self.arm_joints]),
            upper=np.array([j.upper for j in self.arm_joints]),
            velocity=np.array([j.velocity for j in self.arm_joints]),
            acceleration=np.array(config.max_acceleration_rad_s2),
            jerk=np.array(config.max_jerk_rad_s3),
            effort=np.array([j.effort for j in self.arm_joints]),
        )
        self._motions = {joint.name: _JointMotion.of(joint) for joint in self.joints}
        self._chain = self._chain_to(config.tool_link)

    @classmethod
    def load(cls, robot: RobotConfig | str) -> RobotModel:
        """Read a robot by its configuration, or by its name in config/robots.

        Raises:
            ConfigError, BadInputError: a file is absent or wrong.
            MissingCapabilityError: a package with the robot's meshes is not installed.
        """
        config = load_robot_config(robot) if isinstance(robot, str) else robot
        path = find_model_file(config.urdf)
        srdf = find_model_file(config.srdf).read_text(encoding="utf-8")
        return cls(config, read_urdf(path), srdf, where=str(path))

    @property
    def n_joints(self) -> int:
        """Number of arm joints."""
        return len(self.arm_joints)

    def forward(self, joints: FloatArray, gripper_width_m: float = 0.0) -> dict[str, Pose]:
        """Pose in ``world`` of every link, for (n,) joint positions and a distance between the pads."""
        return {name: Pose.from_matrix(m) for name, m in self.link_matrices(joints, gripper_width_m).items()}

    def link_matrices(self, joints: FloatArray, gripper_width_m: float = 0.0) -> dict[str, FloatArray]:
        """As ``forward`` but (..., 4, 4) matrices, for (..., n) joint positions."""
        values = self._positions(np.asarray(joints, dtype=np.float64), gripper_width_m)
        matrices: dict[str, FloatArray] = {self.config.base_link: np.eye(4)}
        for joint in self.joints:
            matrices[joint.child] = matrices[joint.parent] @ self._motions[joint.name].at(
                values.get(joint.name)
            )
        return matrices

    def tool(self, joints: FloatArray) -> Pose:
        """Pose of the tool frame in ``world``, for (n,) joint positions."""
        return Pose.from_matrix(self.tool_matrices(joints))

    def tool_matrices(self, joints: FloatArray) -> FloatArray:
        """(..., 4, 4) poses of the tool frame in ``world``, for (..., n) joint positions."""
        values = self._positions(np.asarray(joints, dtype=np.float64), 0.0)
        matrix: FloatArray = np.eye(4)
        for joint in self._chain:
            matrix = matrix @ self._motions[joint.name].at(values.get(joint.name))
        return matrix

    def mesh_path(self, shape: Shape) -> Path:
        """The file of a shape's mesh; raises ConfigError or MissingCapabilityError if it is not there."""
        if shape.mesh is None:
            raise ValueError("the shape is a box, not a mesh")
        return find_model_file(shape.mesh)

    def visual_meshes(self, link: str) -> tuple[tuple[Pose, ColouredMesh], ...]:
        """What a link looks like: (pose in the link frame, triangles of one colour), from .dae files and boxes."""
        return tuple(
            (shape.pose, mesh)
            for shape in self.links[link].visuals
            for mesh in (
                (box_mesh(shape.size_m),) if shape.size_m is not None else read_collada(self.mesh_path(shape))
            )
        )

    def gripper_boxes(self, width_m: float) -> tuple[Box, ...]:
        """The fingers' collision boxes in the tool frame, at a distance between the pads (metres)."""
        poses = self.forward(np.array(self.config.ready_rad), width_m)
        to_tool = poses[self.config.tool_link].inverse()
        return tuple(
            Box(to_tool @ poses[joint.child] @ shape.pose, shape.size_m)
            for joint in self.finger_joints
            for shape in self.links[joint.child].collisions
            if shape.size_m is not None
        )

    def urdf_with_files(self) -> str:
        """The URDF with ``file://`` for ``package://``, for programs that don't know the package."""
        text = self.urdf
        names = {s.mesh for link in self.links.values() for s in (*link.visuals, *link.collisions) if s.mesh}
        for name in sorted(names):
            text = text.replace(f'"{name}"', f'"{find_model_file(name).as_uri()}"')
        return text

    def _chain_to(self, link: str) -> tuple[Joint, ...]:
        by_child = {joint.child: joint for joint in self.joints}
        chain: list[Joint] = []
        while link in by_child:
            chain.append(by_child[link])
            link = by_child[link].parent
        return tuple(reversed(chain))

    def _positions(self, joints: FloatArray, gripper_width_m: float) -> dict[str, FloatArray]:
        if joints.shape[-1:] != (self.n_joints,):
            raise ValueError(f"expected {self.n_joints} joint positions, got shape {joints.shape}")
        values = {joint.name: joints[..., i] for i, joint in enumerate(self.arm_joints)}
        values.update((joint.name, np.array(gripper_width_m / 2)) for joint in self.finger_joints)
        return values


@dataclass(frozen=True, slots=True)
class _JointMotion:
    """(4, 4) parts of the pose of a joint's child in its parent, of which positions make a sum.

    A turn by q about the axis with cross product matrix K is I + K^2 + sin(q) K - cos(q) K^2 (Rodrigues).
    """

    kind: str
    still: FloatArray
    by_sine: FloatArray
    by_other: FloatArray

    @classmethod
    def of(cls, joint: Joint) -> _JointMotion:
        origin = joint.origin.matrix
        first, second = np.zeros((4, 4)), np.zeros((4, 4))
        if joint.kind == "prismatic":
            second[:3, 3] = joint.axis
        elif joint.kind != "fixed":
            x, y, z = joint.axis
            first[:3, :3] = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]
            second = -first @ first
        still = np.eye(4) - second if joint.kind == "revolute" else np.eye(4)
        return cls(joint.kind, origin @ still, origin @ first, origin @ second)

    def at(self, values: FloatArray | None) -> FloatArray:
        """(..., 4, 4) for (...) positions; (4, 4) where the joint is fixed."""
        if values is None or self.kind == "fixed":
            return self.still
        q = values[..., None, None]
        if self.kind == "prismatic":
            moved: FloatArray = self.still + q * self.by_other
            return moved
        turned: FloatArray = self.still + np.sin(q) * self.by_sine + np.cos(q) * self.by_other
        return turned
