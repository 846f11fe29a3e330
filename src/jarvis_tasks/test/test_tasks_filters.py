"""One build for each reason to refuse."""

import dataclasses

import msgspec
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import BadInputError
from jarvis_core.pose import Pose
from jarvis_tasks.filters import CheckedModel, Reason
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.pruning import place_without_unbuildable
from jarvis_tasks.select import find_segments


@pytest.fixture
def refused(catalogue, limits, config):
    """refused(assembly, first, last): the refusals of one segment, by reason."""

    def check(assembly, first, last, *, parts=catalogue, **changes):
        model = place_on_plate(assembly, parts, changes.pop("plate", (32, 32)))
        checked = CheckedModel(model, parts, limits, msgspec.structs.replace(config, **changes))
        return {refusal.reason: refusal for refusal in checked.refusals(first, last)}

    return check


def lean(assembly, brick_id, quaternion):
    """The assembly with one brick tipped over about its origin."""
    bricks = tuple(
        msgspec.structs.replace(b, pose=Pose(b.pose.position, quaternion)) if b.id == brick_id else b
        for b in assembly.bricks
    )
    return msgspec.structs.replace(assembly, bricks=bricks)


def test_a_sound_segment_is_not_refused(tower, refused):
    for first, last in ((1, 1), (2, 2), (1, 4), (3, 4)):
        assert refused(tower, first, last) == {}


@pytest.mark.parametrize(("first", "last"), [(0, 1), (1, 5), (3, 2), (9, 9)])
def test_steps_outside_the_build_are_an_error_that_names_its_steps(tower, refused, first, last):
    with pytest.raises(BadInputError, match="steps 1 to 4"):
        refused(tower, first, last)


class _WithWheel(PartCatalogue):
    """3003 counts as a wheel."""

    def geometry(self, part):
        geometry = super().geometry(part)
        if part != "3003":
            return geometry
        return dataclasses.replace(geometry, physical=False, not_physical_reason="a wheel")


def test_a_part_that_is_no_brick_refuses_as_target_and_as_scene(tower, refused):
    parts = _WithWheel(None)
    assert refused(tower, 1, 2, parts=parts) == {}
    target = refused(tower, 2, 3, parts=parts)[Reason.NOT_PHYSICAL]
    assert (target.role, target.brick, target.part, target.where) == ("target", "b004", "3003", "toy.ldr:4")
    assert target.detail == "a wheel"
    both = refused(tower, 4, 4, parts=parts)[Reason.NOT_PHYSICAL]
    assert (both.role, both.brick, both.count) == ("scene", "b004", 2)
    assert both.line().startswith("toy.ldr:4: ")
    assert both.line().endswith("a wheel, 2 in all")


def test_tilted_turned_and_mirrored_bricks_are_refused(tower, refused):
    tipped = refused(lean(tower, "b004", (0.0, 0.70710678, 0.0, 0.70710678)), 3, 3)
    assert "leans 90.0" in tipped[Reason.TILTED].detail
    turned = refused(lean(tower, "b004", (0.0, 0.0, 0.25881905, 0.96592583)), 3, 3)
    assert "30.0 degrees away" in turned[Reason.TILTED].detail
    bricks = (*tower.bricks[:3], msgspec.structs.replace(tower.bricks[3], mirrored=True), tower.bricks[4])
    assert Reason.MIRRORED in refused(msgspec.structs.replace(tower, bricks=bricks), 3, 3)


def test_beyond_the_plate_below_it_and_above_the_workspace(tower, build, refused):
    assert Reason.OUTSIDE_PLATE in refused(tower, 1, 4, plate=(8, 8))
    assert Reason.OUTSIDE_PLATE not in refused(tower, 1, 4, plate=(16, 16))
    high = build([("3001", 0, 0, level) for level in range(1, 75)])
    assert Reason.TOO_HIGH in refused(high, 1, 1)


def test_two_bricks_in_one_place(build, refused):
    assembly = build([("3001", 0, 0, 1), ("3001", 1, 0, 1, 2), ("3001", 10, 0, 1, 3)])
    found = refused(assembly, 2, 2)[Reason.OVERLAP]
    assert found.brick == "b002"
    assert "b001" in found.detail
    assert refused(assembly, 1, 1) == {}


def test_a_start_that_hangs_in_the_air(build, refused):
    # The second column gets its foot only in step 3.
    assembly = build([("3003", 0, 0, 1), ("3003", 8, 0, 2), ("3003", 0, 0, 2, 2), ("3003", 8, 0, 1, 3)])
    found = refused(assembly, 2, 2)
    assert found[Reason.FLOATING].brick == "b002"
    assert refused(assembly, 1, 1)[Reason.UNSUPPORTED].brick == "b002"
    assert refused(assembly, 3, 3)[Reason.UNDERNEATH].brick == "b004"


def test_a_brick_that_goes_underneath(build, refused):
    # A table: two legs and a top, then a brick below the top.
    rows = [("3003", 0, 0, 1), ("3003", 6, 0, 1), ("3008", 3, 0.5, 2, 2), ("3003", 3, 0, 1, 3)]
    found = refused(build(rows), 3, 3)
    assert found[Reason.UNDERNEATH].brick == "b004"
    assert "b003" in found[Reason.UNDERNEATH].detail


def test_a_brick_with_something_above_it_that_it_does_not_touch(build, refused):
    rows = [("3003", 0, 0, 1), ("3003", 0, 0, 2), ("3008", 3, 0.5, 3, 2), ("3003", 4, 0, 1, 3)]
    assert refused(build(rows), 3, 3)[Reason.BLOCKED].brick == "b004"


def test_a_brick_in_a_shaft_leaves_no_room_for_the_fingers(build, refused):
    walls = [
        ("3001", x, y, level, 1, yaw)
        for level in (1, 2, 3)
        for x, y, yaw in ((-1, -2, 0), (2, -1, 90), (1, 2, 0), (-2, 1, 90))
    ]
    found = refused(build([*walls, ("3003", 0, 0, 1, 2)]), 2, 2)
    assert found[Reason.NO_GRIP].brick == "b013"
    assert "finger" in found[Reason.NO_GRIP].detail


def test_too_few_too_many_and_more_than_the_supply_area_holds(build, tower, refused):
    assert Reason.TOO_FEW in refused(tower, 3, 3, min_bricks=2)
    assert "5 to place, at most 4" in refused(tower, 1, 4, max_bricks=4)[Reason.TOO_MANY].detail
    many = build([("3001", 10 * (i % 6), 8 * (i // 6), 1) for i in range(30)])
    found = refused(many, 1, 1, max_bricks=100, plate=(64, 64))
    assert list(found) == [Reason.SUPPLY_FULL]


def test_the_most_important_reason_comes_first(tower, catalogue, limits, config):
    parts = _WithWheel(None)
    model = place_on_plate(tower, parts, (32, 32))
    checked = CheckedModel(model, parts, limits, msgspec.structs.replace(config, max_bricks=1))
    assert [r.reason for r in checked.refusals(1, 4)] == [Reason.NOT_PHYSICAL, Reason.TOO_MANY]


def test_every_run_of_steps_is_accepted_or_counted(tower, limits, config):
    parts = _WithWheel(None)
    search = find_segments(tower, parts, limits, msgspec.structs.replace(config, max_bricks=3), (32, 32))
    assert [(s.first, s.last) for s in search.accepted] == [(1, 1), (1, 2), (2, 2)]
    assert search.considered == len(search.accepted) + sum(r.segments for r in search.refused)
    (only,) = search.refused
    assert (only.reason, only.first.first, only.first.last) == (Reason.NOT_PHYSICAL, 2, 3)
    assert [task.steps for task in search.tasks()] == [(1, 1), (1, 2), (2, 2)]
    assert only.line().startswith(f"{only.segments} refused for a part that can't")
    assert "first steps 2 to 3: toy.ldr:4: " in only.line()


def test_a_step_larger_than_any_task_is_counted(build, catalogue, limits, config):
    wide = build([("3003", 4 * i, 0, 1) for i in range(6)])
    search = find_segments(wide, catalogue, limits, msgspec.structs.replace(config, max_bricks=5), (64, 64))
    assert [(r.reason, r.segments) for r in search.refused] == [(Reason.TOO_MANY, 1)]


def test_leaving_out_keeps_what_stands_without_the_faulty(build, limits, config):
    # The second tower stands on a wheel; the first does not.
    rows = [
        ("3001", 0, 0, 1),
        ("3003", 8, 0, 1, 2),
        ("3001", 8, 0, 2, 3),
        ("3001", 0, 0, 2, 4),
        ("3001", 0, 0, 3, 5),
    ]
    parts = _WithWheel(None)
    model = place_without_unbuildable(build(rows), parts, limits, config, (32, 32))
    assert [b.id for b in model.bricks] == ["b001", "b004", "b005"]
    assert [b.id for b in model.left_out] == ["b002", "b003"]
    ids = {b.id for b in model.bricks} | {"plate"}
    assert all({j.upper_id, j.lower_id} <= ids for j in model.joints)


def test_leaving_out_puts_a_body_without_its_wheels_onto_the_plate(build, limits, config):
    rows = [("3003", 0, 0, 1), ("3003", 6, 0, 1), ("3008", 3, 0.5, 2, 2), ("3001", 3, 0, 3, 3)]
    parts = _WithWheel(None)
    search = find_segments(
        build(rows), parts, limits, msgspec.structs.replace(config, leave_out=True), (32, 32)
    )
    assert [b.id for b in search.model.bricks] == ["b003", "b004"]
    assert [(s.first, s.last) for s in search.accepted] == [(2, 2), (2, 3), (3, 3)]
    tasks = list(search.tasks())
    assert [task.left_out for task in tasks] == [2, 2, 2]
    assert tasks[0].targets[0].pose.position[2] == pytest.approx(0.0096)
