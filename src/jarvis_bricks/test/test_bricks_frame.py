"""LDraw's frame to ours and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_bricks.ldraw.frame import points_from_ldraw, pose_from_ldraw, pose_to_ldraw
from jarvis_core.pose import Pose
from scipy.spatial.transform import Rotation


def placement(position: list[float], linear: object = None) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = position
    if linear is not None:
        matrix[:3, :3] = linear
    return matrix


def test_axes_and_unit() -> None:
    # 100 LDU right, 24 up (y is down), 20 to the back
    assert points_from_ldraw(np.array([100.0, -24.0, 20.0])) == pytest.approx([0.040, 0.008, 0.0096])


def test_a_quarter_turn_about_the_vertical() -> None:
    # The usual "0 0 1 0 1 0 -1 0 0": the part's x (long side) points to LDraw -z, that is to our -y.
    pose, mirrored = pose_from_ldraw(placement([0, 0, 0], [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]))
    assert not mirrored
    assert pose @ np.array([1.0, 0.0, 0.0]) == pytest.approx([0.0, -1.0, 0.0])
    assert pose @ np.array([0.0, 0.0, 1.0]) == pytest.approx([0.0, 0.0, 1.0])
    assert pose.yaw == pytest.approx(-np.pi / 2)


def test_standing_on_its_side() -> None:
    # Turned about LDraw x: the studs (LDraw -y) point to LDraw -z, our -y.
    pose, _ = pose_from_ldraw(placement([0, 0, 0], [[1, 0, 0], [0, 0, 1], [0, -1, 0]]))
    turned = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]) @ np.array([0, -1, 0])
    assert pose @ np.array([0.0, 0.0, 1.0]) == pytest.approx(points_from_ldraw(turned) / 0.0004)


@given(
    st.lists(st.floats(-5000, 5000), min_size=3, max_size=3),
    st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
)
def test_there_and_back(position: list[float], quaternion: list[float]) -> None:
    matrix = placement(position, Rotation.from_quat(quaternion).as_matrix())
    pose, mirrored = pose_from_ldraw(matrix)
    assert not mirrored
    assert pose_to_ldraw(pose) == pytest.approx(matrix, abs=1e-8)


@given(
    st.lists(st.floats(-50, 50), min_size=3, max_size=3),
    st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: np.linalg.norm(q) > 0.1),
)
def test_a_point_of_the_part_goes_where_ldraw_puts_it(point: list[float], quaternion: list[float]) -> None:
    matrix = placement([30, -8, 10], Rotation.from_quat(quaternion).as_matrix())
    pose, _ = pose_from_ldraw(matrix)
    by_ldraw = matrix[:3, :3] @ point + matrix[:3, 3]
    assert pose @ points_from_ldraw(np.array(point)) == pytest.approx(points_from_ldraw(by_ldraw), abs=1e-9)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_mirrored_matrix_is_flagged_and_becomes_a_rotation(axis: int) -> None:
    mirror = np.eye(3)
    mirror[axis, axis] = -1
    pose, mirrored = pose_from_ldraw(placement([10, 0, 0], mirror))
    assert mirrored
    assert np.linalg.det(pose.rotation) == pytest.approx(1.0)
    assert pose.position == pytest.approx([0.004, 0.0, 0.0])


def test_mirrored_along_its_own_x_a_part_stays_as_it_is() -> None:
    pose, _ = pose_from_ldraw(placement([0, 0, 0], np.diag([-1.0, 1.0, 1.0])))
    assert pose.is_close(Pose())


def test_rounded_matrices_are_rotations_and_scaled_ones_are_flagged() -> None:
    c = 0.707
    pose, flagged = pose_from_ldraw(placement([0, 0, 0], [[c, 0, c], [0, 1, 0], [-c, 0, c]]))
    assert not flagged
    assert pose.yaw == pytest.approx(-np.pi / 4)
    assert pose_from_ldraw(placement([0, 0, 0], np.diag([1.0, 2.0, 1.0])))[1]


def test_singular_matrices_are_refused() -> None:
    with pytest.raises(ValueError, match="singular"):
        pose_from_ldraw(placement([0, 0, 0], np.diag([1.0, 0.0, 1.0])))
