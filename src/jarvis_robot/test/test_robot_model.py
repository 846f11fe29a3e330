"""The Panda's model against published numbers and against its own meshes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, ConfigError, MissingCapabilityError
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.config import load_robot_config
from jarvis_robot.files import find_model_file
from jarvis_robot.model import RobotModel
from jarvis_robot.urdf import parse_urdf

PANDA = RobotModel.load("panda")
# Franka's published Denavit-Hartenberg parameters (Craig's convention): a, d, alpha of joints 1 to 7.
DH = np.array(
    [
        [0.0, 0.333, 0.0],
        [0.0, 0.0, -np.pi / 2],
        [0.0, 0.316, np.pi / 2],
        [0.0825, 0.0, np.pi / 2],
        [-0.0825, 0.384, -np.pi / 2],
        [0.0, 0.0, np.pi / 2],
        [0.088, 0.0, np.pi / 2],
    ]
)
FLANGE_M = 0.107
HAND_TO_TCP_M = 0.1034


def craig(a: float, d: float, alpha: float, theta: float) -> FloatArray:
    """Link transform of Craig, Introduction to Robotics, eq. 3.6."""
    ct, st_, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [ct, -st_, 0.0, a],
            [st_ * ca, ct * ca, -sa, -sa * d],
            [st_ * sa, ct * sa, ca, ca * d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def joint_positions() -> st.SearchStrategy[list[float]]:
    return st.tuples(
        *(st.floats(lo, up) for lo, up in zip(PANDA.limits.lower, PANDA.limits.upper, strict=True))
    ).map(list)


@settings(max_examples=50, deadline=None)
@given(joint_positions())
def test_forward_kinematics_equal_the_published_dh_parameters(joints: list[float]) -> None:
    expected = np.eye(4)
    for (a, d, alpha), theta in zip(DH, joints, strict=True):
        expected = expected @ craig(a, d, alpha, theta)
    links = PANDA.forward(np.array(joints))
    np.testing.assert_allclose(links["panda_link7"].matrix, expected, atol=1e-9)
    flange = Pose.from_matrix(expected) @ Pose((0.0, 0.0, FLANGE_M))
    assert links["panda_link8"].is_close(flange, 1e-9, 1e-7)
    tool = flange @ Pose.from_yaw((0.0, 0.0, HAND_TO_TCP_M), -np.pi / 4)
    assert PANDA.tool(np.array(joints)).is_close(tool, 1e-9, 1e-7)


def test_golden_tool_centre_point() -> None:
    """Elbow bent by right angles: the place follows from the arm's lengths alone, worked out by hand."""
    joints = np.array([0.0, 0.0, 0.0, -np.pi / 2, 0.0, np.pi / 2, np.pi / 4])
    # Up 0.333 + 0.316 and out 0.0825 to the elbow; there the forearm turns forward: 0.384 out, its own
    # offset 0.0825 up; the flange 0.088 further out, looking down over 0.107 + 0.1034.
    expected = (0.0825 + 0.384 + 0.088, 0.0, 0.333 + 0.316 + 0.0825 - 0.107 - 0.1034)
    tool = PANDA.tool(joints)
    np.testing.assert_allclose(tool.position, expected, atol=1e-12)
    np.testing.assert_allclose(tool.rotation, np.diag([1.0, -1.0, -1.0]), atol=1e-9)


def finger_vertices(width_m: float, side: int) -> FloatArray:
    """(k, 3) corners of a finger's visual mesh in the tool frame."""
    link = PANDA.finger_joints[side].child
    poses = PANDA.forward(np.array(PANDA.config.ready_rad), width_m)
    to_tool = poses[PANDA.config.tool_link].inverse() @ poses[link]
    return np.vstack([to_tool @ (pose @ m.vertices.astype(float)) for pose, m in PANDA.visual_meshes(link)])


@pytest.mark.parametrize("width_m", [0.0, 0.016, 0.08])
def test_the_gripper_config_describes_the_meshes(width_m: float) -> None:
    gripper = PANDA.config.gripper
    left, right = finger_vertices(width_m, 0), finger_vertices(width_m, 1)
    assert left[:, 2].max() == pytest.approx(gripper.pad_below_tcp_m, abs=2e-4)
    assert left[:, 1].min() == pytest.approx(width_m / 2, abs=2e-4)
    assert right[:, 1].max() == pytest.approx(-width_m / 2, abs=2e-4)
    tip = left[left[:, 2] > gripper.pad_below_tcp_m - 0.005]
    assert np.ptp(tip[:, 1]) <= gripper.finger_thickness_m
    assert np.ptp(tip[:, 0]) <= gripper.finger_width_m
    np.testing.assert_allclose(right[:, 1].min(), -left[:, 1].max(), atol=2e-4)


@pytest.mark.parametrize("width_m", [0.0, 0.03])
def test_finger_boxes_enclose_the_finger_meshes(width_m: float) -> None:
    boxes = PANDA.gripper_boxes(width_m)
    for side in (0, 1):
        vertices = finger_vertices(width_m, side)
        outside = np.full(len(vertices), np.inf)
        for box in boxes:
            local = box.pose.inverse() @ vertices
            outside = np.minimum(outside, (np.abs(local) - np.array(box.size_m) / 2).max(axis=1))
        # The pads may not be larger than they are; elsewhere a web between the boxes stands out a little.
        assert outside.max() < 2.5e-3
        assert outside[vertices[:, 2] > -0.008].max() < 5e-4


def test_hand_size_is_that_of_the_mesh() -> None:
    hand = PANDA.links[PANDA.config.hand_link]
    vertices = np.vstack([pose @ m.vertices.astype(float) for pose, m in PANDA.visual_meshes(hand.name)])
    across, along = PANDA.config.gripper.hand_size_m
    assert np.ptp(vertices[:, 0]) == pytest.approx(across, abs=1e-3)
    assert 2 * np.abs(vertices[:, 1]).max() == pytest.approx(along, abs=2e-3)
    tip_z = HAND_TO_TCP_M + PANDA.config.gripper.pad_below_tcp_m
    assert tip_z - vertices[:, 2].max() == pytest.approx(PANDA.config.gripper.finger_length_m, abs=5e-4)


def test_home_leaves_the_top_camera_s_picture_empty() -> None:
    camera = load_default("cell", CellConfig).top_camera
    eye, target, up = (np.array(v) for v in (camera.eye, camera.target, camera.up))
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, up)
    links = PANDA.forward(np.array(PANDA.config.home_rad), PANDA.config.gripper.max_width_m)
    limit_y = np.tan(np.radians(camera.fov_y_deg) / 2)
    for name in PANDA.links:
        if name == PANDA.config.base_link:
            continue
        for pose, mesh in PANDA.visual_meshes(name):
            points = (links[name] @ pose @ mesh.vertices.astype(float)) - eye
            depth = points @ forward
            x, y = points @ right / depth, points @ up / depth
            seen = (depth > 0) & (np.abs(x) < limit_y * camera.width / camera.height) & (np.abs(y) < limit_y)
            assert not seen.any(), f"{name} shows in the picture at home"


def test_named_positions_are_within_limits_and_point_down() -> None:
    for joints in (np.array(PANDA.config.home_rad), np.array(PANDA.config.ready_rad)):
        assert (joints > PANDA.limits.lower).all()
        assert (joints < PANDA.limits.upper).all()
        assert PANDA.tool(joints).rotation[2, 2] == pytest.approx(-1.0, abs=1e-6)


def test_limits_are_franka_s() -> None:
    np.testing.assert_allclose(PANDA.limits.upper, [2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973])
    np.testing.assert_allclose(
        PANDA.limits.lower, [-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973]
    )
    np.testing.assert_allclose(PANDA.limits.velocity, [2.175] * 4 + [2.61] * 3)
    np.testing.assert_allclose(PANDA.limits.effort, [87.0] * 4 + [12.0] * 3)


def test_inertias_are_physical() -> None:
    """Positive, and no principal moment larger than the sum of the others: else no such body exists."""
    for link in PANDA.links.values():
        if link.inertial is None:
            continue
        assert link.inertial.mass_kg > 0
        moments = np.linalg.eigvalsh(link.inertial.inertia)
        assert moments[0] > 0, link.name
        assert moments[2] <= moments[0] + moments[1] + 1e-9, link.name


def test_forward_of_many_equals_forward_of_each() -> None:
    rng = np.random.default_rng(1)
    many = rng.uniform(PANDA.limits.lower, PANDA.limits.upper, (20, 7))
    together = PANDA.link_matrices(many, 0.02)
    for i, joints in enumerate(many):
        for name, pose in PANDA.forward(joints, 0.02).items():
            np.testing.assert_allclose(
                np.broadcast_to(together[name], (20, 4, 4))[i], pose.matrix, atol=1e-12
            )
        np.testing.assert_allclose(PANDA.tool_matrices(many)[i], PANDA.tool(joints).matrix, atol=1e-12)


def test_urdf_with_files_names_files_that_exist() -> None:
    text = PANDA.urdf_with_files()
    assert '"package://' not in text
    assert '"file://' in text
    again, _ = parse_urdf(text, where="test")
    assert again.keys() == PANDA.links.keys()


def test_wrong_joint_count_is_refused() -> None:
    with pytest.raises(ValueError, match="expected 7 joint positions"):
        PANDA.tool(np.zeros(6))


def test_bad_files_are_named() -> None:
    with pytest.raises(ConfigError, match="robots there: panda"):
        load_robot_config("no_such_robot")
    with pytest.raises(MissingCapabilityError, match="pip install no-such-package"):
        find_model_file("package://no-such-package/a.stl")
    with pytest.raises(ConfigError, match="no such model file"):
        find_model_file("package://example-robot-data/robots/no_such.stl")
    with pytest.raises(BadInputError, match=r"here\.urdf: is no URDF"):
        parse_urdf("<robot><joint name='a' type='ball'/></robot>", where="here.urdf")
    with pytest.raises(BadInputError, match="exactly one root"):
        parse_urdf("<robot><link name='a'/><link name='b'/></robot>", where="here.urdf")


UR5 = RobotModel.load("ur5")
#: Universal Robots' published parameters of the UR5 (standard convention): a, d, alpha of joints 1 to 6.
UR5_DH = np.array(
    [
        [0.0, 0.089159, np.pi / 2],
        [-0.425, 0.0, 0.0],
        [-0.39225, 0.0, 0.0],
        [0.0, 0.10915, np.pi / 2],
        [0.0, 0.09465, -np.pi / 2],
        [0.0, 0.0823, 0.0],
    ]
)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(-3.1, 3.1), min_size=6, max_size=6))
def test_the_second_arm_is_universal_robots_ur5(joints: list[float]) -> None:
    """Its base_link is turned by 180 degrees about z against the controller's base, as ur_description has it."""
    expected = np.diag([-1.0, -1.0, 1.0, 1.0])
    for (a, d, alpha), theta in zip(UR5_DH, joints, strict=True):
        ct, st_, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
        expected = expected @ np.array(
            [
                [ct, -st_ * ca, st_ * sa, a * ct],
                [st_, ct * ca, -ct * sa, a * st_],
                [0.0, sa, ca, d],
                [0.0, 0.0, 0.0, 1.0],
            ]
        )
    flange = UR5.forward(np.array(joints))["tool0"]
    np.testing.assert_allclose(flange.matrix, expected, atol=1e-4)


def test_boxes_are_seen_too() -> None:
    """Twelve triangles that look outwards and enclose the box's volume."""
    ((pose, mesh),) = UR5.visual_meshes("left_finger")
    np.testing.assert_allclose(pose.position, (0.0, 0.006, 0.0325))
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(float) for i in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(0.018 * 0.012 * 0.065, rel=1e-5)
    assert (np.einsum("ij,ij->i", a, np.cross(b - a, c - a)) > 0).all()
