from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_core.pose import Pose
from jarvis_sim.fit import find_fit

PITCH = 0.008
LIMIT = math.radians(5)


def grid(nx: int, ny: int, z: float = 0.0) -> np.ndarray:
    x, y = np.meshgrid(np.arange(nx) - (nx - 1) / 2, np.arange(ny) - (ny - 1) / 2, indexing="ij")
    return np.column_stack([x.ravel() * PITCH, y.ravel() * PITCH, np.full(nx * ny, z)])


PLATE = grid(16, 16)
BRICK = grid(4, 2, -0.0096)


@given(
    column=st.integers(-6, 6),
    row=st.integers(-7, 7),
    turns=st.integers(0, 3),
    dx=st.floats(-0.002, 0.002),
    dy=st.floats(-0.002, 0.002),
    dz=st.floats(-0.0005, 0.001),
    dyaw=st.floats(-0.08, 0.08),
)
def test_a_small_error_is_undone_and_measured(
    column: int, row: int, turns: int, dx: float, dy: float, dz: float, dyaw: float
) -> None:
    # A turned brick's studs lie on the grid where a straight one's do: both sides are even.
    ideal = Pose.from_yaw((column * PITCH, row * PITCH, 0.0096), turns * math.pi / 2)
    actual = Pose.from_yaw(ideal.position + [dx, dy, dz], ideal.yaw + dyaw)
    fit = find_fit(actual, BRICK, PLATE, LIMIT)
    assert fit is not None
    inside = np.abs((ideal @ BRICK)[:, :2]).max(axis=1) < 7.6 * PITCH
    assert fit.studs == inside.sum()
    if fit.studs == 8:
        assert fit.snapped.is_close(ideal, 1e-9, 1e-9)
        assert fit.error_xy_m == pytest.approx(math.hypot(dx, dy), abs=1e-9)
        assert fit.error_z_m == pytest.approx(dz, abs=1e-9)
        assert fit.error_yaw_rad == pytest.approx(dyaw, abs=1e-9)


@pytest.mark.parametrize("yaw_deg", [5.1, 30.0, 45.0, 84.9])
def test_turned_too_far_is_no_fit(yaw_deg: float) -> None:
    assert find_fit(Pose.from_yaw((0.0, 0.0, 0.0096), math.radians(yaw_deg)), BRICK, PLATE, LIMIT) is None


def test_tilted_too_far_is_no_fit() -> None:
    tilted = Pose((0.0, 0.0, 0.0096), (math.sin(0.05), 0.0, 0.0, math.cos(0.05)))
    assert find_fit(tilted, BRICK, PLATE, LIMIT) is None


def test_half_a_stud_off_has_an_error_of_half_a_stud() -> None:
    fit = find_fit(Pose((PITCH / 2 - 1e-5, 0.0, 0.0096)), BRICK, PLATE, LIMIT)
    assert fit is not None
    assert fit.error_xy_m == pytest.approx(PITCH / 2 - 1e-5, abs=1e-9)


def test_an_overhang_counts_coincident_pairs_only() -> None:
    fit = find_fit(Pose((PITCH, PITCH, 0.0096)), BRICK, grid(4, 2), LIMIT)
    assert fit is not None
    assert fit.studs == 3
    assert fit.centre[:2] == pytest.approx([-PITCH / 2, -PITCH / 2])


def test_beside_the_studs_is_no_fit() -> None:
    assert find_fit(Pose((5 * PITCH, 0.0, 0.0096)), BRICK, grid(4, 2), LIMIT) is None


def test_a_single_stud_between_others_is_a_place_too() -> None:
    jumper = np.array([[0.0, 0.0, 0.0]])
    fit = find_fit(Pose((PITCH / 2, PITCH / 2 + 0.001, 0.0096)), BRICK, jumper, LIMIT)
    assert fit is not None
    assert fit.studs == 1
    assert fit.error_xy_m == pytest.approx(0.001)
