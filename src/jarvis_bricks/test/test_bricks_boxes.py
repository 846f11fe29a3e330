"""Separation of oriented boxes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_bricks.oriented_boxes import OrientedBoxes, meeting_pairs, penetration, sweep_pairs
from jarvis_core.objects import Box
from jarvis_core.pose import Pose


def boxes(*found: Box) -> OrientedBoxes:
    return OrientedBoxes.of(found)


def depth(a: Box, b: Box) -> float:
    return float(penetration(boxes(a), boxes(b))[0])


UNIT = Box(Pose(), (2.0, 2.0, 2.0))


@pytest.mark.parametrize(
    ("pose", "expected"),
    [
        (Pose((1.5, 0, 0)), 0.5),
        (Pose((2.0, 0, 0)), 0.0),
        (Pose((0, 0, 3.0)), -1.0),
        # Turned by 45 degrees its corner reaches sqrt(2) towards the other.
        (Pose.from_yaw((2.2, 0, 0), np.pi / 4), 1 + np.sqrt(2) - 2.2),
        (Pose.from_yaw((2.5, 0, 0), np.pi / 4), 1 + np.sqrt(2) - 2.5),
    ],
)
def test_hand_computed_depths(pose: Pose, expected: float) -> None:
    other = Box(pose, (2.0, 2.0, 2.0))
    assert depth(UNIT, other) == pytest.approx(expected)
    assert depth(other, UNIT) == pytest.approx(expected)


def test_edges_that_cross_need_the_crossed_axes() -> None:
    # Two bars on edge, one along x, one along y, both turned by 45 degrees about their own length: no face
    # normal tells them apart at this distance, the cross product of the lengths (z) does.
    along_x = Box(Pose((0, 0, 0), (np.sin(np.pi / 8), 0, 0, np.cos(np.pi / 8))), (10.0, 1.0, 1.0))
    along_y = Box(Pose((0, 0, 1.5), (0, np.sin(np.pi / 8), 0, np.cos(np.pi / 8))), (1.0, 10.0, 1.0))
    assert depth(along_x, along_y) == pytest.approx(np.sqrt(2) - 1.5)


coordinate = st.floats(-1, 1)
some_box = st.builds(
    lambda place, turn, size: Box(Pose(place, turn), size),
    st.tuples(coordinate, coordinate, coordinate),
    st.tuples(*[coordinate] * 4).filter(lambda q: np.linalg.norm(q) > 0.1),
    st.tuples(*[st.floats(0.1, 1)] * 3),
)


@given(some_box, some_box, some_box)
def test_depth_does_not_depend_on_order_or_frame(a: Box, b: Box, frame: Box) -> None:
    turned = [Box(frame.pose @ box.pose, box.size_m) for box in (a, b)]
    assert depth(a, b) == pytest.approx(depth(b, a), abs=1e-9)
    assert depth(a, b) == pytest.approx(depth(*turned), abs=1e-6)


@given(some_box, some_box)
def test_a_shared_point_means_overlap(a: Box, b: Box) -> None:
    """Sampled points of one box that lie in the other: no false separation."""
    rng = np.random.default_rng(1)
    inside_a = a.pose @ ((rng.random((200, 3)) - 0.5) * np.array(a.size_m))
    local = b.pose.inverse() @ inside_a
    if (np.abs(local) < np.array(b.size_m) / 2 - 1e-9).all(axis=1).any():
        assert depth(a, b) > 0


@given(st.lists(some_box, max_size=12))
def test_sweep_and_all_pairs_agree(found: list[Box]) -> None:
    many = OrientedBoxes.of(found)
    by_sweep = {
        (min(int(i), int(j)), max(int(i), int(j)))
        for first, second in sweep_pairs(many)
        for i, j in zip(first, second, strict=True)
        if penetration(many[np.array([i])], many[np.array([j])])[0] > 1e-6
    }
    first, second = meeting_pairs(many, many, 1e-6)
    assert by_sweep == {(int(i), int(j)) for i, j in zip(first, second, strict=True) if i < j}


def test_extents() -> None:
    turned = boxes(Box(Pose.from_yaw((1, 0, 0), np.pi / 4), (2.0, 2.0, 4.0)))
    reach = np.sqrt(2)
    assert turned.extents()[0] == pytest.approx(np.array([[1 - reach, -reach, -2], [1 + reach, reach, 2]]))
