"""Grips from above and what is in their way. Fingers: 15 mm thick, 18 mm wide, 2 mm slack."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_HEIGHT_M
from jarvis_bricks.grip import (
    FingerClearance,
    GripOption,
    GripRefusal,
    boxes_with_studs,
    common_grips,
    grip_options,
)
from jarvis_core.objects import Box
from jarvis_core.pose import Pose

P, H = 0.008, 0.0096

X, Y = 0, 1  # closing along the brick's length, across it


def block(x: float, y: float, z: float, size: tuple[float, float, float]) -> Box:
    """Lower face's middle at (x, y, z) metres."""
    return Box(Pose((x, y, z + size[2] / 2)), size)


TWO_BY_FOUR = block(0, 0, 0, (4 * P, 2 * P, H))


def possible(options: list[GripOption], axis: int | None = None) -> list[GripOption]:
    return [o for o in options if o.ok and (axis is None or o.key.axis == axis)]


def test_a_free_brick(fingers: FingerClearance) -> None:
    options = grip_options([TWO_BY_FOUR], [], fingers)
    assert all(option.ok for option in options)
    best = options[0]
    # Across the brick, in the middle, pads down to just above its foot.
    assert (best.key.axis, best.offset_m, best.depth_m) == (Y, 0.0, pytest.approx(H - 0.0003))
    assert best.width_m == pytest.approx(2 * P)
    assert best.axis_yaw_rad == pytest.approx(np.pi / 2)
    # The tool centre point is 8.9 mm above the fingertips, which are 0.3 mm above the ground.
    assert best.position == pytest.approx((0.0, 0.0, 0.0003 + 0.0089))
    assert {o.key.axis for o in options} == {X, Y}
    offsets = {o.offset_m for o in options if o.key.axis == Y}
    assert offsets == {i * 0.004 for i in range(-4, 5)}
    assert len({o.key for o in options}) == len(options)


def test_the_tool_points_down_and_closes_along_the_axis(fingers: FingerClearance) -> None:
    turned = Box(Pose.from_yaw((0.4, 0.1, H / 2), 0.3), TWO_BY_FOUR.size_m)
    best = grip_options([turned], [], fingers)[0]
    tool = best.tool_pose()
    assert tool.rotation[:, 2] == pytest.approx([0, 0, -1])
    assert tool.rotation[:, 1] == pytest.approx([np.cos(0.3 + np.pi / 2), np.sin(0.3 + np.pi / 2), 0])
    assert tool.position[:2] == pytest.approx([0.4, 0.1])


def test_a_wall_beside_a_long_face(fingers: FingerClearance) -> None:
    r"""
    ###########     wall, flush with the upper long face
    [  brick  ]     -> only the short faces are left
    """
    wall = block(0, 2 * P, 0, (4 * P, 2 * P, H))
    options = grip_options([TWO_BY_FOUR], [("wall", wall)], fingers)
    assert possible(options, Y) == []
    assert possible(options, X)
    refused = [o for o in options if o.key.axis == Y]
    assert {(o.refusal, o.blockers) for o in refused} == {(GripRefusal.FINGER_BLOCKED, ("wall",))}


@pytest.mark.parametrize(("gap_mm", "free"), [(16.7, False), (17.1, True)])
def test_a_finger_needs_its_thickness_and_slack(fingers: FingerClearance, gap_mm: float, free: bool) -> None:
    wall = block(0, P + gap_mm / 1e3 + 0.01, 0, (0.2, 0.02, H))
    across = [o for o in grip_options([TWO_BY_FOUR], [("wall", wall)], fingers) if o.key.axis == Y]
    assert any(o.ok for o in across) is free


def test_neighbours_along_the_face_are_passed_at_an_offset(fingers: FingerClearance) -> None:
    r"""
         #          a post beside the brick's right half
    [  brick  ]     -> grip further left
    """
    post = block(1.5 * P, 1.5 * P, 0, (P, P, H))
    across = possible(grip_options([TWO_BY_FOUR], [("post", post)], fingers), Y)
    # The finger is 18 mm wide and the post begins at x = 8 mm: its middle has to be at -1 mm or less.
    assert max(o.offset_m for o in across) == -0.004
    assert min(o.offset_m for o in across) == -0.016


def test_a_pad_may_not_lap_over_a_flush_neighbour(fingers: FingerClearance) -> None:
    r"""
    [a][ neighbour ]    a 1x1 (8 mm) beside a brick whose faces lie in line with its own: an 18 mm pad in its
                        middle would touch both, so it is taken 5 mm or more further out
    """
    single = block(0, 0, 0, (P, P, H))
    neighbour = block(2.5 * P, 0, 0, (4 * P, P, H))
    across = possible(grip_options([single], [("neighbour", neighbour)], fingers), Y)
    assert {o.offset_m for o in across} == {-0.007}
    # There the pad still touches 6 mm of the face.
    assert (-0.007 + fingers.width_m / 2) - (-P / 2) == pytest.approx(0.006)


def test_over_a_lower_neighbour_the_grip_is_shallow(fingers: FingerClearance) -> None:
    plate = block(0, 2 * P, 0, (4 * P, 2 * P, 0.0032))
    depths = {o.depth_m for o in possible(grip_options([TWO_BY_FOUR], [("plate", plate)], fingers), Y)}
    assert sorted(depths) == pytest.approx([0.003, 0.6 * H])
    assert max(depths) <= H - 0.0032


def test_what_stands_above_the_fingers_blocks_them_too(fingers: FingerClearance) -> None:
    beam = block(0, 3 * P, 0.2, (0.2, 2 * P, H))
    assert possible(grip_options([TWO_BY_FOUR], [("beam", beam)], fingers), Y) == []


def test_the_hand_needs_room_above_the_fingers(fingers: FingerClearance) -> None:
    # A tower beside the short face, out of the fingers' way but under the hand (208 mm long, 46 mm up).
    tower = block(0, 0.06, 0, (0.02, 0.02, 0.08))
    across = [o for o in grip_options([TWO_BY_FOUR], [("tower", tower)], fingers) if o.key.axis == Y]
    assert {(o.refusal, o.blockers) for o in across} == {(GripRefusal.HAND_BLOCKED, ("tower",))}
    low = block(0, 0.06, 0, (0.02, 0.02, 0.04))
    assert all(o.ok for o in grip_options([TWO_BY_FOUR], [("tower", low)], fingers))


def test_all_blockers_are_named_once(fingers: FingerClearance) -> None:
    walls = [
        (name, block(x, side * 2 * P, 0, (P, 2 * P, H)))
        for name, side in (("b", 1), ("a", -1))
        for x in (0, P)
    ]
    middle = next(
        o for o in grip_options([TWO_BY_FOUR], walls, fingers) if o.key.axis == Y and o.offset_m == 0
    )
    assert middle.blockers == ("a", "b")


def test_too_wide(fingers: FingerClearance) -> None:
    long = block(0, 0, 0, (10 * P, P, H))
    along = [o for o in grip_options([long], [], fingers) if o.key.axis == X]
    assert {o.refusal for o in along} == {GripRefusal.TOO_WIDE}


@pytest.mark.parametrize(("height", "deepest"), [(0.0032, 0.0013), (H, 0.0077)])
def test_above_studs_the_tips_stay_above_them(
    fingers: FingerClearance, height: float, deepest: float
) -> None:
    """On a studded plate the tips stop above the studs: a plate is then held by its upper 1.3 mm."""
    box = block(0, 0, 0, (4 * P, 2 * P, height))
    options = grip_options([box], [], fingers, floor_z_m=STUD_HEIGHT_M)
    assert max(o.depth_m for o in possible(options)) == pytest.approx(deepest)
    assert {o.refusal for o in options if not o.ok} == {GripRefusal.FLOOR}
    strict = dataclasses.replace(fingers, min_depth_m=0.0014)
    assert bool(possible(grip_options([box], [], strict, floor_z_m=STUD_HEIGHT_M))) is (height == H)


def test_a_tall_brick_is_gripped_no_deeper_than_the_fingers_reach(fingers: FingerClearance) -> None:
    tall = block(0, 0, 0, (P, P, 0.06))
    assert max(o.depth_m for o in grip_options([tall], [], fingers)) < fingers.length_m


def test_a_slope_is_not_gripped_along_its_fall(catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    """Its own stairs are in the way of a deep grip on the front of its upright part."""
    slope = catalogue.geometry("3039").boxes
    options = grip_options(slope, [], fingers)
    assert possible(options, X)
    along = [o for o in options if o.key.axis == Y]
    assert {o.refusal for o in along} == {GripRefusal.OWN_SHAPE}


def test_both_arms_of_a_corner_are_gripped(catalogue: PartCatalogue, fingers: FingerClearance) -> None:
    """The shorter one, with pads wider than it, only at its free end: the other arm is in the way."""
    corner = catalogue.geometry("2357").boxes
    narrow = dataclasses.replace(fingers, width_m=0.008)
    assert 0.0 in {o.offset_m for o in possible(grip_options(corner, [], narrow)) if o.key.box == 1}
    wide = [o for o in grip_options(corner, [], fingers) if o.key.box == 1]
    assert {o.offset_m for o in possible(wide)} == {0.007}
    assert {o.refusal for o in wide if not o.ok} == {GripRefusal.OWN_SHAPE}


def test_a_brick_that_lies_on_its_side(fingers: FingerClearance) -> None:
    """Keys name the brick's own axes: a grip on the studded face has no equal when it stands upright."""
    standing = grip_options([TWO_BY_FOUR], [], fingers)
    side = Box(Pose((0, 0, P), (np.sqrt(0.5), 0, 0, np.sqrt(0.5))), TWO_BY_FOUR.size_m)
    lying = grip_options([side], [], fingers)
    assert {abs(o.key.up) for o in lying} == {2}
    assert common_grips(standing, lying) == []
    tilted = Box(Pose((0, 0, P), (0.2, 0, 0, 1)), TWO_BY_FOUR.size_m)
    assert grip_options([tilted], [], fingers) == []


def test_the_same_grip_has_to_be_possible_at_both_places(fingers: FingerClearance) -> None:
    r"""
    pick:  ###            place:  #[ brick ]
         [ brick ]
    long faces taken      left short face taken      -> no common grip; without the post there is
    """
    wall = ("wall", block(0, 2 * P, 0, (4 * P, 2 * P, H)))
    post = ("post", block(-2.5 * P, 0, 0, (P, P, H)))
    target = Box(Pose.from_yaw((0.3, 0.2, H / 2), 0.7), TWO_BY_FOUR.size_m)
    placed_post = ("post", Box(target.pose @ TWO_BY_FOUR.pose.inverse() @ post[1].pose, post[1].size_m))
    pick = grip_options([TWO_BY_FOUR], [wall], fingers)
    assert common_grips(pick, grip_options([target], [placed_post], fingers)) == []
    pairs = common_grips(pick, grip_options([target], [], fingers))
    assert pairs
    for there, here in pairs:
        # One rigid grip: the tool in the brick's frame is the same at both places.
        in_brick = TWO_BY_FOUR.pose.inverse() @ there.tool_pose()
        assert in_brick.is_close(target.pose.inverse() @ here.tool_pose(), 1e-9, 1e-7)


@given(st.floats(-np.pi, np.pi), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5))
def test_options_do_not_depend_on_where_the_brick_lies(yaw: float, x: float, y: float) -> None:
    fingers = FingerClearance(0.08, 0.015, 0.018, 0.0463, 0.0089, (0.0634, 0.208))
    frame = Pose.from_yaw((x, y, 0.0), yaw)
    scene = [
        ("wall", block(0.01, 2.3 * P, 0, (3 * P, 2 * P, H))),
        ("post", block(-3 * P, 0, 0, (P, P, 2 * H))),
    ]
    moved = [(name, Box(frame @ box.pose, box.size_m)) for name, box in scene]
    here = grip_options([TWO_BY_FOUR], scene, fingers)
    there = grip_options([Box(frame @ TWO_BY_FOUR.pose, TWO_BY_FOUR.size_m)], moved, fingers)
    assert [(o.key, o.refusal, o.blockers) for o in here] == [(o.key, o.refusal, o.blockers) for o in there]


@given(st.lists(st.tuples(st.floats(-0.06, 0.06), st.floats(-0.06, 0.06), st.floats(0.001, 0.1)), max_size=5))
@settings(max_examples=50)
def test_more_obstacles_never_free_a_grip(places: list[tuple[float, float, float]]) -> None:
    fingers = FingerClearance(0.08, 0.015, 0.018, 0.0463, 0.0089, (0.0634, 0.208))
    posts = [(f"p{i}", block(x, y, 0, (P, P, height))) for i, (x, y, height) in enumerate(places)]
    free = [
        {o.key for o in grip_options([TWO_BY_FOUR], posts[:n], fingers) if o.ok}
        for n in range(len(posts) + 1)
    ]
    assert all(after <= before for before, after in pairwise(free))


def test_studs_are_obstacles(catalogue: PartCatalogue) -> None:
    body, studs = boxes_with_studs(catalogue.geometry("3001"))
    assert body.pose.position[2] + body.size_m[2] / 2 == pytest.approx(0.0)
    assert studs.size_m == pytest.approx((3 * P + 0.0048, P + 0.0048, 0.0016))
    assert studs.pose.position == pytest.approx([0, 0, 0.0008])
    assert len(boxes_with_studs(catalogue.geometry("3068b"))) == 1
    # An L has studs on both arms and none over the free cell.
    corner = boxes_with_studs(catalogue.geometry("2357"))
    assert len(corner) == 4
    # A slope's studs stand on its upright part only.
    assert len(boxes_with_studs(catalogue.geometry("3039"))) == len(catalogue.geometry("3039").boxes) + 1
