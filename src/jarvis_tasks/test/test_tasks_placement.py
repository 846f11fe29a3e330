import math

import msgspec
import numpy as np
import pytest
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_tasks.placement import extent, place_on_plate, underside


@pytest.mark.parametrize("turns", [0, 1, 2, 3, -1])
def test_the_build_stands_on_the_plate_over_its_studs_and_centred(tower, catalogue, turns):
    model = place_on_plate(tower, catalogue, (32, 32), turns)
    assert min(underside(b, catalogue) for b in model.bricks) == pytest.approx(0, abs=1e-9)
    for brick in model.bricks:
        openings = brick.pose @ catalogue.geometry(brick.part).antistuds.positions
        np.testing.assert_allclose(np.mod(openings[:, :2], STUD_PITCH_M), STUD_PITCH_M / 2, atol=1e-9)
    extents = np.array([extent(b, catalogue) for b in model.bricks])
    middle = (extents[:, 0].min(axis=0) + extents[:, 1].max(axis=0)) / 2
    assert np.abs(middle[:2]).max() <= STUD_PITCH_M / 2 + 1e-9


def test_turning_turns_the_build_counter_clockwise(tower, catalogue):
    straight, turned = (place_on_plate(tower, catalogue, (32, 32), n) for n in (0, 1))
    before = straight.bricks[1].pose.position - straight.bricks[0].pose.position
    after = turned.bricks[1].pose.position - turned.bricks[0].pose.position
    np.testing.assert_allclose(after, [-before[1], before[0], before[2]], atol=1e-12)


def test_relative_poses_of_bricks_are_kept(tower, catalogue):
    model = place_on_plate(tower, catalogue, (32, 32), 1)
    source = {b.id: b for b in tower.bricks}
    first = model.bricks[0]
    for brick in model.bricks:
        was = source[first.id].pose.inverse() @ source[brick.id].pose
        assert (first.pose.inverse() @ brick.pose).is_close(was, 1e-12, 1e-7)


def test_a_build_that_is_askew_as_a_whole_is_laid_along_the_studs(tower, catalogue):
    skew = Pose.from_yaw((0, 0, 0), math.radians(30))
    askew = msgspec.structs.replace(
        tower, bricks=tuple(msgspec.structs.replace(b, pose=skew @ b.pose) for b in tower.bricks)
    )
    model = place_on_plate(askew, catalogue, (32, 32))
    assert all(abs(math.remainder(b.pose.yaw, math.pi / 2)) < 1e-9 for b in model.bricks)
    assert {(j.upper_id, j.lower_id) for j in model.joints} == {
        (j.upper_id, j.lower_id) for j in place_on_plate(tower, catalogue, (32, 32)).joints
    }


def test_joints_name_the_plate(tower, catalogue):
    joints = {(j.upper_id, j.lower_id): j.studs for j in place_on_plate(tower, catalogue, (32, 32)).joints}
    assert joints == {
        ("b001", GROUND): 8,
        ("b002", GROUND): 8,
        ("b005", GROUND): 4,
        ("b003", "b001"): 4,
        ("b003", "b002"): 4,
        ("b004", "b003"): 4,
    }


def test_within_a_step_bricks_are_built_from_low_to_high(build, catalogue):
    model = place_on_plate(build([("3001", 0, 0, 2), ("3001", 0, 0, 1)]), catalogue, (32, 32))
    assert [b.id for b in model.bricks] == ["b002", "b001"]


def test_between_gives_the_bricks_of_steps(tower, catalogue):
    model = place_on_plate(tower, catalogue, (32, 32))
    assert [b.id for b in model.between(2, 3)] == ["b003", "b004"]
    assert model.between(1, 0) == ()
    assert model.between(1, 4) == model.bricks
