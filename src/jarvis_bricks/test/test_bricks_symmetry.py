"""Symmetry found from geometry, in all directions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.symmetry import IDENTITY, symmetries
from scipy.spatial.transform import Rotation

BOX = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.01


def group_order(points: np.ndarray, labels: np.ndarray | None = None) -> int:
    found = symmetries(points, np.zeros(len(points)) if labels is None else labels, np.zeros(3))
    assert found[0] == IDENTITY
    return len(found)


def ring(sides: int, height: float) -> np.ndarray:
    angle = np.arange(sides) * 2 * np.pi / sides
    return np.column_stack([np.cos(angle), np.sin(angle), np.full(sides, height / 0.01)]) * 0.01


@pytest.mark.parametrize(
    ("points", "order"),
    [
        (BOX, 24),
        (BOX * [1, 1, 2], 8),
        (BOX * [1, 2, 3], 4),
        (ring(16, 0.002), 16),
        (np.vstack([ring(16, 0.002), ring(16, -0.002)]), 32),
        (np.vstack([ring(6, 0.002), ring(6, -0.002)]), 12),
        (ring(5, 0.001), 5),
        (ring(3, 0.001), 3),
        (BOX[:7], 3),
        (np.array([[0.01, 0.02, 0.03]]), 1),
    ],
    ids=["cube", "pillar", "box", "disc", "bar", "nut", "star", "triangle", "chipped cube", "point"],
)
def test_known_groups(points: np.ndarray, order: int) -> None:
    # A cube without a corner turns about the diagonal through it by thirds.
    assert group_order(points) == order


def test_labels_break_a_symmetry() -> None:
    assert group_order(BOX, (BOX[:, 2] > 0).astype(float)) == 4


@given(st.integers(0, 23), st.permutations(range(8)))
@settings(max_examples=30, deadline=None)
def test_order_and_place_of_points_change_nothing(turn: int, order: list[int]) -> None:
    points = BOX * [1, 1, 2]
    rotation = Rotation.create_group("O")[turn]
    moved = rotation.apply(points)[order] + [1.0, 2.0, 3.0]
    assert len(symmetries(moved, np.zeros(8), np.array([1.0, 2.0, 3.0]))) == 8


@pytest.mark.parametrize(
    ("part", "order"), [("3001", 2), ("3062b", 16), ("3941", 4), ("32062", 8), ("2780", 4), ("4070", 1)]
)
def test_real_parts(library_catalogue: PartCatalogue, part: str, order: int) -> None:
    geometry = library_catalogue.geometry(part)
    assert len(geometry.symmetries) == order
    # They are a group: the product of any two is one of them.
    turns = Rotation.from_quat(geometry.symmetries)
    for turn in turns:
        gaps = (turns.inv() * turn).magnitude()[:, None] - turns.magnitude()[None]
        assert np.abs(gaps).min(axis=1).max() < 1e-6
