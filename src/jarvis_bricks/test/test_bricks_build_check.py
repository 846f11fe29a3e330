"""Builds checked brick by brick."""

import numpy as np
import pytest
from jarvis_bricks.assembly import Brick
from jarvis_bricks.build_check import BrickCheck, BuildProblem, check_build, ground_under, placed_boxes
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import StudGrid
from jarvis_bricks.grip import FingerClearance, GripRefusal
from jarvis_core.errors import BadInputError
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose

P, H = 0.008, 0.0096
GRID = StudGrid(Pose(), (16, 16))


def brick(name: str, part: str, x: float, y: float, top: float, yaw: float = 0.0) -> Brick:
    return Brick(name, part, 4, Pose.from_yaw((x * P, y * P, top * H), yaw), 1)


def check(catalogue: PartCatalogue, fingers: FingerClearance, *bricks: Brick) -> dict[str, BrickCheck]:
    return {c.brick_id: c for c in check_build(bricks, catalogue, fingers, ground=GRID)}


def test_a_tower(catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    found = check(catalogue, fingers, brick("a", "3001", 0, 0, 1), brick("b", "3001", 1, 1, 2, np.pi / 2))
    assert all(c.ok for c in found.values())
    assert (found["a"].sits_on, found["b"].sits_on) == ((GROUND,), ("a",))
    assert found["b"].grips
    assert found["b"].hangs_from == ()


def test_the_order_of_building_counts(catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    r"""
    [   c   ]      c before b: b would have to come from below
    [a]   [b]
    """
    a, b, c = brick("a", "3003", -2, 0, 1), brick("b", "3003", 2, 0, 1), brick("c", "2456", 0, 0, 2)
    assert all(found.ok for found in check(catalogue, fingers, a, b, c).values())
    late = check(catalogue, fingers, a, c, b)["b"]
    assert BuildProblem.COVERED in late.problems
    assert (late.covered_by, late.hangs_from, late.sits_on) == (("c",), ("c",), (GROUND,))


def test_in_mid_air(catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    found = check(catalogue, fingers, brick("a", "3001", 0, 0, 1), brick("b", "3001", 0, 0, 3))
    assert found["b"].problems == (BuildProblem.UNSUPPORTED,)


def test_a_hole_in_a_wall_leaves_no_room_for_fingers(
    catalogue: PartCatalogue, fingers: FingerClearance
) -> None:
    r"""
    seen from above: the last 2x2 goes between four others
      [n]
    [w] x [e]
      [s]
    """
    ring = [
        brick(n, "3003", 2 * x, 2 * y, 1)
        for n, x, y in (("n", 0, 1), ("e", 1, 0), ("s", 0, -1), ("w", -1, 0))
    ]
    last = check(catalogue, fingers, *ring, brick("x", "3003", 0, 0, 1))["x"]
    assert last.problems == (BuildProblem.NO_GRIP,)
    blocked = [o for o in last.refused if o.refusal is GripRefusal.FINGER_BLOCKED]
    assert {name for o in blocked for name in o.blockers} == {"n", "e", "s", "w"}
    # Taken out of the ring first, it is easy.
    assert check(catalogue, fingers, brick("x", "3003", 0, 0, 1), *ring)["x"].ok


def test_studs_of_neighbours_are_in_the_way(catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    """On a larger plate a plate is held above that one's studs: by 3.2 - 1.6 - 0.3 mm."""
    base = brick("base", "3030", 0, 0, 1 / 3)
    with_studs = check(catalogue, fingers, base, brick("a", "3022", 0, 0, 2 / 3))["a"]
    assert max(o.depth_m for o in with_studs.grips) == pytest.approx(0.0013)


def test_bricks_that_lie_or_are_no_bricks(library_catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    side = Brick("a", "3001", 4, Pose((0, 0, P), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))), 1)
    hinge = brick("h", "3937", 5, 5, 1)
    found = check(library_catalogue, fingers, side, hinge)
    assert BuildProblem.NOT_UPRIGHT in found["a"].problems
    assert BuildProblem.NOT_PHYSICAL in found["h"].problems


def test_ground_under_a_build(catalogue: PartCatalogue) -> None:
    pose = Pose.from_yaw((0.3, 0.1, 0.05), 0.2)
    pile = [brick("a", "3001", 0, 0, 1), brick("b", "3003", 4.0, 1, 1), brick("c", "3001", 0, 0, 2)]
    moved = [Brick(b.id, b.part, b.colour, pose @ b.pose, b.step) for b in pile]
    ground = ground_under(moved, catalogue, margin=1)
    # 2x4 and a 2x2 beside it: studs from -2 to 5 along x and -1 to 2 along y, and one more on each side.
    assert ground.counts == (9, 5)
    assert ground.pose.position[2] == pytest.approx(0.05)
    studs = ground.connectors().positions
    openings = moved[0].pose @ catalogue.geometry("3001").antistuds.positions
    assert all(np.linalg.norm(studs - opening, axis=1).min() < 1e-9 for opening in openings)


def test_no_ground_under_nothing(catalogue: PartCatalogue) -> None:
    with pytest.raises(BadInputError, match="no upright brick"):
        ground_under([], catalogue)


def test_placed_boxes(catalogue: PartCatalogue) -> None:
    (body,) = placed_boxes(brick("a", "3001", 1, 0, 2), catalogue)
    assert body.pose.position == pytest.approx([P, 0, 1.5 * H])
    assert len(placed_boxes(brick("a", "3001", 1, 0, 2), catalogue, studs=True)) == 2
