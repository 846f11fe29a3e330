"""The pure geometry under the skills, by properties."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_motion.backend import Obstacle
from jarvis_skills.grasp import (
    TOP_CLEARANCE_M,
    TOP_INSET_M,
    bottom_z,
    carriers,
    overlap_depths,
    top_of,
    touching,
)
from jarvis_skills.moves import top_down

METRES = st.floats(-0.5, 0.5)
EDGES = st.floats(0.004, 0.1)
ANGLES = st.floats(-math.pi, math.pi)
POINTS = st.tuples(METRES, METRES, METRES)
UPRIGHT = st.builds(
    lambda at, yaw, size: Box(Pose.from_yaw(at, yaw), size), POINTS, ANGLES, st.tuples(EDGES, EDGES, EDGES)
)
QUATERNIONS = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: sum(v * v for v in q) > 0.01)
ANY = st.builds(
    lambda at, q, size: Box(Pose(at, q), size), POINTS, QUATERNIONS, st.tuples(EDGES, EDGES, EDGES)
)
GAP_M = 0.0015


def moved(box: Box, x: float, y: float, z: float) -> Box:
    """Moved along its own axes."""
    return Box(box.pose @ Pose((x, y, z)), box.size_m)


def corners(box: Box) -> np.ndarray:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) / 2
    return np.asarray(box.pose @ (signs * np.array(box.size_m)))


@given(POINTS, ANGLES)
def test_top_down_points_down_and_closes_along_the_angle(at: tuple[float, float, float], yaw: float) -> None:
    tool = top_down(at, yaw)
    assert np.allclose(tool.position, at)
    assert np.allclose(tool.rotation[:, 2], (0.0, 0.0, -1.0))
    assert np.allclose(tool.rotation[:, 1], (math.cos(yaw), math.sin(yaw), 0.0))
    assert np.linalg.det(tool.rotation) == pytest.approx(1.0)


@given(UPRIGHT)
def test_the_top_of_a_box_lies_on_it_and_inside_its_outline(box: Box) -> None:
    top = top_of(box)
    if min(box.size_m[:2]) <= 2 * TOP_INSET_M:
        assert top is None
        return
    assert top is not None
    inside = box.pose.inverse() @ corners(top)
    half = np.array(box.size_m) / 2
    assert np.allclose(inside[:, 2].min(), half[2])
    assert np.allclose(inside[:, 2].max(), half[2] + TOP_CLEARANCE_M)
    assert np.allclose(np.abs(inside[:, :2]).max(axis=0), half[:2] - TOP_INSET_M)


def test_a_box_on_its_side_or_too_small_has_no_top() -> None:
    assert top_of(Box(Pose((0, 0, 0), (1.0, 0.0, 0.0, 1.0)), (0.032, 0.016, 0.0096))) is None
    assert top_of(Box(Pose(), (0.032, 2 * TOP_INSET_M, 0.0096))) is None


@given(ANY, ANY)
def test_depths_are_the_same_seen_from_either_side(first: Box, second: Box) -> None:
    there = overlap_depths([first], [Obstacle("x", second)])["x"]
    back = overlap_depths([second], [Obstacle("x", first)])["x"]
    assert there == pytest.approx(back, abs=1e-9)


@given(ANY, ANY, POINTS, QUATERNIONS)
def test_depths_do_not_depend_on_where_it_all_lies(
    first: Box, second: Box, at: tuple[float, float, float], turn: tuple[float, float, float, float]
) -> None:
    shift = Pose(at, turn)
    before = overlap_depths([first], [Obstacle("x", second)])["x"]
    after = overlap_depths(
        [Box(shift @ first.pose, first.size_m)], [Obstacle("x", Box(shift @ second.pose, second.size_m))]
    )
    assert after["x"] == pytest.approx(before, abs=1e-7)


@given(UPRIGHT, st.floats(-0.003, 0.003), st.floats(-0.001, 0.001))
def test_depth_of_a_box_pushed_into_one_like_it(box: Box, depth: float, aside: float) -> None:
    """Side by side along x: as deep as it is pushed in; negative when apart."""
    other = moved(box, box.size_m[0] - depth, aside, 0.0)
    assert overlap_depths([box], [Obstacle("x", other)])["x"] == pytest.approx(depth, abs=1e-9)
    assert touching([box], [Obstacle("x", other)], 0.0015) == (("x",) if depth > -0.0015 else ())


@given(st.lists(ANY, min_size=1, max_size=3), st.lists(ANY, min_size=1, max_size=3))
def test_the_deepest_of_several_boxes_counts(own: list[Box], theirs: list[Box]) -> None:
    together = overlap_depths(own, [Obstacle("x", box) for box in theirs])
    single = [overlap_depths([a], [Obstacle("x", b)])["x"] for a in own for b in theirs]
    assert together == {"x": pytest.approx(max(single))}


@given(st.lists(ANY, min_size=1, max_size=4))
def test_the_bottom_is_the_lowest_corner(boxes: list[Box]) -> None:
    assert bottom_z(boxes) == pytest.approx(min(corners(box)[:, 2].min() for box in boxes))


@given(UPRIGHT, st.floats(-0.0009, 0.0013), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_what_lies_below_carries(box: Box, gap: float, x: float, y: float) -> None:
    """Shifted aside by up to half of the size: at least two millimetres lie on it, more than it may overlap."""
    below = moved(box, x * box.size_m[0], y * box.size_m[1], -box.size_m[2] - gap)
    assert carriers([box], [Obstacle("x", below)], GAP_M) == ("x",)


@given(UPRIGHT, st.floats(0.0, 0.01), st.floats(-0.9, 0.9), st.sampled_from([1, -1]))
def test_a_neighbour_at_the_side_carries_nothing(box: Box, gap: float, z: float, side: int) -> None:
    beside = moved(box, side * (box.size_m[0] + gap), 0.0, z * box.size_m[2])
    assert carriers([box], [Obstacle("x", beside)], GAP_M) == ()


@given(UPRIGHT, st.floats(0.0, 0.01))
def test_what_lies_on_top_or_far_below_carries_nothing(box: Box, gap: float) -> None:
    above = moved(box, 0.0, 0.0, box.size_m[2] + gap)
    below = moved(box, 0.0, 0.0, -box.size_m[2] - GAP_M - gap)
    assert carriers([box], [Obstacle("above", above), Obstacle("below", below)], GAP_M) == ()
