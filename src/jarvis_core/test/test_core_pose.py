"""Rigid transforms: algebra, exactness in files, refusal of nonsense."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_core.files import decode, encode
from jarvis_core.pose import Pose
from scipy.spatial.transform import Rotation

coordinates = st.floats(-10, 10)
angles = st.floats(-3.14, 3.14)


@st.composite
def poses(draw: st.DrawFn) -> Pose:
    quaternion = np.array([draw(st.floats(-1, 1)) for _ in range(4)])
    if np.linalg.norm(quaternion) < 1e-3:
        quaternion = np.array([0.0, 0.0, 0.0, 1.0])
    return Pose([draw(coordinates) for _ in range(3)], quaternion)


@given(poses(), poses(), poses())
def test_composition_is_associative_and_has_inverses(a: Pose, b: Pose, c: Pose) -> None:
    assert ((a @ b) @ c).is_close(a @ (b @ c), 1e-9, 1e-6)
    assert (a @ a.inverse()).is_close(Pose(), 1e-9, 1e-6)


@given(poses(), poses(), st.tuples(coordinates, coordinates, coordinates))
def test_points_follow_the_matrix(a: Pose, b: Pose, point: tuple[float, float, float]) -> None:
    by_pose = (a @ b) @ np.array(point)
    by_matrix = (a.matrix @ b.matrix @ np.array([*point, 1.0]))[:3]
    np.testing.assert_allclose(by_pose, by_matrix, atol=1e-9)


@given(poses())
def test_a_file_gives_the_same_pose_back_bit_for_bit(pose: Pose) -> None:
    assert decode(encode(pose), Pose, where="test").to_list() == pose.to_list()


@given(angles, angles)
def test_angle_between_yaws(a: float, b: float) -> None:
    difference = abs((a - b + np.pi) % (2 * np.pi) - np.pi)
    angle = Pose.from_yaw((0, 0, 0), a).angle_to(Pose.from_yaw((1, 2, 3), b))
    assert angle == pytest.approx(difference, abs=1e-7)


def test_small_angles_keep_their_digits() -> None:
    assert Pose().angle_to(Pose.from_yaw((0, 0, 0), 1e-9)) == pytest.approx(1e-9, rel=1e-6)


def test_yaw_and_axes() -> None:
    turned = Pose.from_yaw((1.0, 0.0, 0.0), np.pi / 2)
    np.testing.assert_allclose(turned @ np.array([1.0, 0.0, 0.0]), [1.0, 1.0, 0.0], atol=1e-12)
    assert turned.yaw == pytest.approx(np.pi / 2)
    np.testing.assert_allclose(Pose.from_matrix(turned.matrix).to_list(), turned.to_list(), atol=1e-12)


@pytest.mark.parametrize(
    ("position", "quaternion"),
    [
        ((0, 0, float("nan")), (0, 0, 0, 1)),
        ((0, 0, 0), (0, 0, 0, 0)),
        ((0, 0), (0, 0, 0, 1)),
        ((0, 0, 0), (0, 0, float("inf"), 1)),
    ],
)
def test_nonsense_is_refused(position: tuple[float, ...], quaternion: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="pose"):
        Pose(position, quaternion)


def test_a_pose_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Pose().position[0] = 1.0


@given(poses(), poses())
def test_rotations_are_those_of_scipy(a: Pose, b: Pose) -> None:
    ours, theirs = Rotation.from_quat(a.quaternion), Rotation.from_quat(b.quaternion)
    np.testing.assert_allclose(a.rotation, ours.as_matrix(), atol=1e-12)
    # The sign of a half turn's quaternion is free: orientations are compared as matrices.
    back = Pose.from_rotation((0, 0, 0), ours.as_matrix())
    np.testing.assert_allclose(back.rotation, ours.as_matrix(), atol=1e-12)
    assert back.quaternion[3] >= 0
    np.testing.assert_allclose((a @ b).rotation, (ours * theirs).as_matrix(), atol=1e-12)
    np.testing.assert_allclose(a.inverse().rotation, ours.inv().as_matrix(), atol=1e-12)


@pytest.mark.parametrize("axis", [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (1, 0, -1), (1, 2, 3)])
@pytest.mark.parametrize("angle", [math.pi, math.pi - 1e-9, math.pi + 1e-9, 0.0, 1e-12])
def test_half_turns_survive_their_matrix(axis: tuple[float, ...], angle: float) -> None:
    matrix = Rotation.from_rotvec(angle * np.array(axis) / np.linalg.norm(axis)).as_matrix()
    np.testing.assert_allclose(Pose.from_rotation((0, 0, 0), matrix).rotation, matrix, atol=1e-14)
