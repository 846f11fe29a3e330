"""Studs in openings, groups, overlaps."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import (
    Connection,
    StudGrid,
    components,
    connections,
    floating,
    neighbours,
    overlaps,
    resting,
    supports,
)
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose

P, H = 0.008, 0.0096  # stud pitch, brick height


def brick(name: str, part: str, x: float, y: float, top: float, yaw: float = 0.0) -> Brick:
    """At (x, y) studs, its top plane at ``top`` bricks above the ground."""
    return Brick(name, part, 4, Pose.from_yaw((x * P, y * P, top * H), yaw), 1)


GRID = StudGrid(Pose(), (16, 16))


@pytest.mark.parametrize(
    ("upper", "studs"),
    [
        (("3001", 0, 0, 2, 0), 8),  # flush
        (("3001", 1, 0, 2, 0), 6),  # one column over
        (("3001", 3, 1, 2, 0), 1),  # corner to corner
        (("3001", 0, 0, 2, np.pi / 2), 4),  # crossed
        (("3001", 1, 1, 2, np.pi / 2), 4),  # crossed and shifted
        (("3001", 4, 0, 2, 0), 0),  # beside
        (("3001", 0, 0, 3, 0), 0),  # above, with a gap
        (("3001", 0.5, 0, 2, 0), 0),  # between the studs
        (("3039", 0, 0.5, 2, 0), 4),  # slope: its studless row holds studs below too
        (("2357", -0.5, -0.5, 2, 0), 3),
        (("3024", 1.5, 0.5, 4 / 3, 0), 1),
    ],
)
def test_one_brick_on_another(catalogue: PartCatalogue, upper: tuple, studs: int) -> None:
    found = connections([brick("low", "3001", 0, 0, 1), brick("up", *upper)], catalogue)
    assert found == ([Connection("up", "low", studs)] if studs else [])


def test_tiles_carry_nothing(catalogue: PartCatalogue) -> None:
    pile = [brick("a", "3068b", 0, 0, 1), brick("b", "3003", 0, 0, 2)]
    assert connections(pile, catalogue) == []


def test_on_the_ground(catalogue: PartCatalogue) -> None:
    # A 16 x 16 grid has studs at odd multiples of half a pitch; a 2x4 in the middle stands on 8 of them.
    on_grid, off_grid, above = (
        brick("a", "3001", 0, 0, 1),
        brick("b", "3001", 0.5, 0, 1),
        brick("c", "3001", 0, 4, 2),
    )
    assert connections([on_grid], catalogue, ground=GRID) == [Connection("a", GROUND, 8)]
    assert connections([off_grid, above], catalogue, ground=GRID) == []
    at_the_rim = brick("d", "3001", 8, 0, 1)
    assert connections([at_the_rim], catalogue, ground=GRID) == [Connection("d", GROUND, 4)]


def test_a_turned_and_shifted_ground(catalogue: PartCatalogue) -> None:
    pose = Pose.from_yaw((0.3, -0.1, 0.02), 0.4)
    turned = Brick("a", "3003", 4, pose @ Pose((0.008, 0.0, 0.0096)), 1)
    assert connections([turned], catalogue, ground=StudGrid(pose, (4, 4))) == [Connection("a", GROUND, 4)]


def test_tolerances(catalogue: PartCatalogue) -> None:
    low = brick("low", "3001", 0, 0, 1)
    shifted = Brick("up", "3001", 4, Pose((0.0006, 0.0, 2 * H)), 1)
    assert connections([low, shifted], catalogue)[0].studs == 8
    assert connections([low, shifted], catalogue, position_m=0.0005) == []
    # One stud only, tilted about it: the position is right, the direction is not.
    plate = Brick("up", "3024", 4, Pose((0.012, 0.004, H), (0.1, 0, 0, 1)) @ Pose((0, 0, 0.0032)), 1)
    assert connections([low, plate], catalogue) == []
    assert connections([low, plate], catalogue, angle_rad=0.3)[0].studs == 1


@given(
    st.tuples(*[st.floats(-1, 1)] * 3),
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1),
    st.randoms(use_true_random=False),
)
def test_joints_do_not_depend_on_frame_or_order(place: tuple, turn: tuple, random: object) -> None:
    catalogue = PartCatalogue()
    pile = [
        brick("a", "3001", 0, 0, 1),
        brick("b", "3001", 1, 1, 2, np.pi / 2),
        brick("c", "3024", 1.5, 1.5, 7 / 3),
        brick("d", "3003", 1, 3, 1),
    ]
    frame = Pose(place, turn)
    moved = [Brick(b.id, b.part, b.colour, frame @ b.pose, b.step) for b in pile]
    random.shuffle(moved)  # type: ignore[attr-defined]

    def names(found: list[Connection]) -> set[tuple[str, str, int]]:
        return {(j.upper_id, j.lower_id, j.studs) for j in found}

    assert names(connections(moved, catalogue)) == names(connections(pile, catalogue))
    assert names(connections(pile, catalogue)) == {("b", "a", 4), ("c", "b", 1), ("b", "d", 2)}


def test_supports_neighbours_components_and_floating(catalogue: PartCatalogue) -> None:
    r"""
        [  c  ]             e floats, f only hangs from c
     [ a ][ b ] f  e
    ==================
    """
    pile = [
        brick("a", "3003", -1, 0, 1),
        brick("b", "3001", 2, 0, 1),
        brick("c", "3007", 2, 0, 2),
        brick("e", "3003", 0, 6, 3),
        brick("f", "3003", 5, 0, 1),
    ]
    joints = connections(pile[:-1], catalogue, ground=GRID)
    assert supports(joints) == {"a": (GROUND,), "b": (GROUND,), "c": ("b", "a")}
    assert neighbours(joints)["b"] == ("c", GROUND)
    assert neighbours(joints)[GROUND] == ("a", "b")
    ids = [b.id for b in pile[:-1]]
    assert components(ids, joints) == [("a", "b", "c"), ("e",)]
    assert floating(pile[:-1], joints) == ("e",)
    hanging = connections(pile, catalogue, ground=StudGrid(Pose(), (8, 8)))
    assert floating(pile, hanging) == ("e",)
    assert "f" in neighbours(hanging)["c"]


def test_without_a_ground_the_lowest_brick_is_what_others_stand_on(catalogue: PartCatalogue) -> None:
    pile = [brick("a", "3001", 0, 0, 1), brick("b", "3001", 0, 0, 2), brick("c", "3001", 9, 9, 2)]
    assert floating(pile, connections(pile, catalogue)) == ("c",)
    assert floating([], []) == ()


def test_overlaps(catalogue: PartCatalogue) -> None:
    base = brick("a", "3001", 0, 0, 1)
    assert overlaps([base, brick("b", "3001", 0, 0, 2), brick("c", "3001", 4, 0, 1)], catalogue) == []
    (one,) = overlaps([base, brick("b", "3001", 3, 0, 1)], catalogue)
    assert (one.first_id, one.second_id) == ("a", "b")
    assert one.depth_m == pytest.approx(0.008)
    # A plate too low: 3.2 mm into the brick below.
    (low,) = overlaps([base, brick("b", "3024", 0.5, 0.5, 1)], catalogue)
    assert low.depth_m == pytest.approx(0.0032)


def test_a_brick_in_the_corner_of_an_l_does_not_overlap_it(catalogue: PartCatalogue) -> None:
    corner, inside = brick("a", "2357", 0, 0, 1), brick("b", "3005", 1, 1, 1)
    assert overlaps([corner, inside], catalogue) == []
    assert len(overlaps([corner, brick("b", "3005", 1, 0, 1)], catalogue)) == 1


def test_two_thousand_bricks_in_time(catalogue: PartCatalogue) -> None:
    rng = np.random.default_rng(7)
    places = [(x * 4, y * 2, z + 1) for z in range(20) for x in range(10) for y in range(10)]
    wall = [
        brick(f"b{i}", "3001", x + int(rng.integers(2)) * (z % 2), y, z) for i, (x, y, z) in enumerate(places)
    ]
    start = time.process_time()
    joints = connections(wall, catalogue, ground=StudGrid(Pose.from_yaw((0.144, 0.072, 0), 0), (64, 64)))
    shared = overlaps(wall, catalogue)
    assert time.process_time() - start < 2.0
    assert len(wall) == 2000
    assert sum(j.studs for j in joints if j.lower_id == GROUND) == 800
    assert len(joints) > 2000
    assert all(overlap.depth_m == pytest.approx(0.008) for overlap in shared)


@pytest.mark.parametrize(("name", "least"), [("6071", 120), ("21041", 350)])
def test_real_models_hang_together(library: LDrawLibrary, models: list[Path], name: str, least: int) -> None:
    path = next(path for path in models if path.name.startswith(name))
    bricks = read_assembly(path, library=library).bricks
    catalogue = PartCatalogue.for_model(path, library)
    joints = connections(bricks, catalogue)
    assert len(components([b.id for b in bricks], joints)[0]) >= least
    # A published model has no brick inside another (one place in 21041 is 1 LDU tight).
    assert len(overlaps(bricks, catalogue)) <= 1


def test_what_rests_on_what_without_studs(catalogue: PartCatalogue) -> None:
    """A tile on a tile, a brick across both of two, one that only touches at a side, one in the air."""
    plate = 0.0032
    bricks = [
        Brick("low", "3068b", 4, Pose((0, 0, plate)), 1),
        Brick("tile", "3068b", 4, Pose((0, 0, 2 * plate)), 1),
        Brick("beside", "3068b", 4, Pose((0.016, 0, plate)), 1),
        Brick("across", "3001", 4, Pose((0.008, 0, plate + 0.0096 + plate)), 1),
        Brick("turned", "3068b", 4, Pose.from_yaw((0.1, 0, plate), 0.5), 1),
        Brick("on it", "3024", 4, Pose.from_yaw((0.1, 0, 2 * plate), 1.0), 1),
        Brick("air", "3068b", 4, Pose((0, 0, 0.1)), 1),
    ]
    assert resting(bricks, catalogue) == [("tile", "low"), ("across", "tile"), ("on it", "turned")]


def test_resting_looks_at_turned_outlines(catalogue: PartCatalogue) -> None:
    """Face to face along the diagonal: the level boxes around them meet, they themselves need not."""
    across = 0.016 * 2**0.5
    low = Brick("low", "3068b", 4, Pose.from_yaw((0, 0, 0.0032), np.pi / 4), 1)
    for gap, expected in ((0.001, []), (-0.004, [("high", "low")])):
        place = (across / 2 + gap / 2, across / 2 + gap / 2, 0.0064)
        high = Brick("high", "3068b", 4, Pose.from_yaw(place, np.pi / 4), 1)
        assert resting([low, high], catalogue) == expected
