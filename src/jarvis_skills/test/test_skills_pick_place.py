"""Picking and placing in the simulated cell: what comes of it, what is refused, what may go wrong on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_core.motion import Cancellation, GripperOutcome
from jarvis_core.objects import Scene
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.skills import (
    HomeGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    PushGoal,
    SkillGoal,
)
from jarvis_core.status import Status
from jarvis_motion.backend import Plan
from jarvis_skills.clearing import hand_boxes
from jarvis_skills.place import retreat
from skill_bench import LOOSE, Bench

PICK = ["plan_grasp", "approach", "close", "lift", "verify"]
PLACE = ["transfer", "descend", "press", "release", "retreat", "verify"]
UP = Pose((0.5, 0.0, 0.2))
DOWN = (1.0, 0.0, 0.0, 0.0)


def at_phase(bench: Bench, name: str, act: Callable[[], None]) -> Callable[[str], None]:
    """A phase callback that does something once, when a phase begins."""
    todo = [act]

    def on_phase(phase: str) -> None:
        bench.phases.append(phase)
        if phase == name and todo:
            todo.pop()()

    return on_phase


@pytest.mark.parametrize("name", LOOSE)
def test_every_kind_of_brick_is_picked(bench: Bench, name: str) -> None:
    start = bench.pose(name)
    result = bench.run(PickGoal(name))
    assert result.ok, result
    assert bench.phases == PICK
    assert result.facts["object_id"] == name
    assert result.facts["held"] is True
    assert abs(float(result.facts["offset_in_hand_m"])) < 1e-3  # type: ignore[arg-type]
    lifted = bench.pose(name).position[2] - start.position[2]
    assert lifted == pytest.approx(bench.ctx.config.lift_height_m, abs=1e-3)
    assert float(result.facts["gripper_width_m"]) == pytest.approx(  # type: ignore[arg-type]
        bench.world.arm.width_m, abs=1e-4
    )


@pytest.mark.parametrize(
    ("name", "x", "y", "z"),
    [
        ("a", 6, 0, 0.0096),
        ("b", 7, 5, 0.0096),
        ("flat", -7, -4, 0.0032),
        ("slope", 6.5, -5, 0.0096),
        ("dot", 5.5, 5.5, 0.0096),
    ],
)
def test_every_kind_of_brick_is_placed_on_the_plate(
    bench: Bench, name: str, x: float, y: float, z: float
) -> None:
    goal = bench.on_plate(x, y, z, math.pi / 2)
    result = bench.run(PickAndPlaceGoal(name, goal))
    assert result.ok, result
    assert bench.phases == PICK + PLACE
    assert result.facts["object_id"] == name
    assert float(result.facts["error_m"]) < 1e-4  # type: ignore[arg-type]
    assert bench.pose(name).is_close(goal, 1e-4, 1e-3)
    assert (name, "plate") in bench.world.state().connections
    # The hand has gone up and stands open.
    assert bench.robot.state().tool.position[2] > goal.position[2] + 0.05
    assert bench.backend.plan_to_joints(
        np.array(bench.robot.state().joints_rad), np.array(bench.ctx.robot_config.home_rad)
    ).status.ok


def test_a_brick_goes_back_to_the_table(bench: Bench) -> None:
    goal = Pose.from_yaw((0.36, -0.06, 0.0096), -1.0)
    assert bench.run(PickAndPlaceGoal("b", goal)).ok
    assert bench.pose("b").is_close(goal, 1e-3, 0.05)


def test_a_brick_is_stacked_and_taken_off_again(bench: Bench) -> None:
    top = bench.on_plate(0, 0, 0.0192)
    assert bench.run(PickAndPlaceGoal("a", top)).ok
    assert ("a", "wall") in bench.world.state().connections
    assert bench.run(PickAndPlaceGoal("a", bench.on_plate(6, 0))).ok
    assert set(bench.world.state().connections) == {("wall", "plate"), ("a", "plate")}


# -- refusals: before anything moves, with a message that says what to do

TILTED = Pose.from_rotation((0.5, 0.2, 0.0128), [[0, 0, 1], [0, 1, 0], [-1, 0, 0]])
REFUSED: list[tuple[SkillGoal, tuple[str, ...]]] = [
    (PickGoal("nobody"), ("no object 'nobody'", "a, b, flat, slope, dot")),
    (PickGoal("wall"), ("wall is fixed",)),
    (PlaceGoal(UP), ("the hand is empty", "pick something")),
    (PickAndPlaceGoal("nobody", UP), ("no object 'nobody'",)),
    (PickAndPlaceGoal("wall", UP), ("wall is fixed",)),
    (PickAndPlaceGoal("a", Pose((2.0, 0.0, 0.1))), ("outside the workspace", "2.000", "-0.3, 1.0")),
    (PickAndPlaceGoal("a", Pose((0.5, 0.1, -0.01))), ("outside the workspace",)),
    (PickAndPlaceGoal("a", UP), ("nothing carries a", "z = 0.1904")),
]


@pytest.mark.parametrize(("goal", "words"), REFUSED, ids=[str(i) for i in range(len(REFUSED))])
def test_an_empty_hand_refuses(bench: Bench, goal: SkillGoal, words: tuple[str, ...]) -> None:
    bench.refuse(goal, Status.PRECONDITION_FAILED, *words)


@pytest.mark.parametrize(
    ("x", "y", "z", "words"),
    [
        (1, 0, 0.0096, "overlap wall by"),  # in the wall
        (8, 8, 0.0064, "overlap plate by 3.2 mm"),  # in the plate
        (0, 0, 0.0256, "nothing carries a"),  # a plate's height above the wall
        (4, 0, 0.0192, "nothing carries a"),  # in the air, flush with nothing
        (0, 2, 0.0128, "nothing carries a"),  # in the air, flush with the wall's side
        (8, 8, 0.0128, "nothing carries a"),  # above the plate
    ],
)
def test_places_that_are_taken_or_carry_nothing_are_refused(
    bench: Bench, x: float, y: float, z: float, words: str
) -> None:
    bench.refuse(PickAndPlaceGoal("a", bench.on_plate(x, y, z)), Status.PRECONDITION_FAILED, words)


def test_a_place_half_beside_the_plate(bench: Bench) -> None:
    edge = Pose((0.496, 0.016, 0.0128))
    bench.refuse(
        PickAndPlaceGoal("a", edge.translated((0, 0, -0.0032))),
        Status.PRECONDITION_FAILED,
        "overlap plate by 3.2 mm",
    )
    beside = edge.translated((0.0, -0.0081, 0.0))
    bench.refuse(PickAndPlaceGoal("a", beside), Status.PRECONDITION_FAILED, "nothing carries a")
    assert bench.run(PickAndPlaceGoal("a", edge)).ok


def test_a_full_hand_refuses(bench: Bench) -> None:
    assert bench.run(PickGoal("a")).ok
    for goal in (
        PickGoal("b"),
        PickGoal("a"),
        PickAndPlaceGoal("b", bench.on_plate(6, 0)),
        PushGoal("b", (0.01, 0)),
    ):
        result = bench.refuse(goal, Status.PRECONDITION_FAILED, "the hand holds a", "place it first")
        assert result.facts["held"] is True
    bench.refuse(PlaceGoal(bench.on_plate(1, 0)), Status.PRECONDITION_FAILED, "overlap wall")
    bench.refuse(PlaceGoal(bench.on_plate(0, 0, 0.03)), Status.PRECONDITION_FAILED, "nothing carries a")
    bench.refuse(PlaceGoal(Pose((0.5, 0.9, 0.1))), Status.PRECONDITION_FAILED, "outside the workspace")
    bench.refuse(PlaceGoal(TILTED), Status.PRECONDITION_FAILED, "lean by 90 deg", "about z only")
    assert bench.run(PlaceGoal(bench.on_plate(6, 0))).ok


def test_a_brick_out_of_reach_is_refused(bench: Bench) -> None:
    bench.world.move("a", Pose((0.95, 0.5, 0.0096)))
    bench.refuse(PickGoal("a"), Status.PLANNING_FAILED, "no grip of a is in the arm's reach")
    bench.refuse(
        PickAndPlaceGoal("b", Pose((0.95, 0.3, 0.0096))),
        Status.PLANNING_FAILED,
        "no grip of b is in the arm's reach",
    )


def test_a_brick_under_another_is_refused(bench: Bench) -> None:
    """Pulled out, it would take along or throw down what lies on it."""
    bench.world.move("b", bench.pose("a").translated((0.0, 0.0, 0.0096)))
    bench.refuse(PickGoal("a"), Status.PRECONDITION_FAILED, "b lies on a", "first")
    assert bench.run(PickAndPlaceGoal("b", bench.on_plate(7, 5))).ok
    assert bench.run(PickGoal("a")).ok


def test_a_brick_among_others_is_refused(bench: Bench) -> None:
    """Seen from above: ``b dot slope``, and ``a`` across the end of the row."""
    place = Pose((0.45, -0.20, 0.0096))
    bench.world.move("dot", place)
    bench.world.move("b", place.translated((0.012, 0.0, 0.0)))
    bench.world.move("slope", place.translated((-0.012, 0.0, 0.0)))
    bench.world.move("a", place.translated((0.0, 0.012, 0.0)))
    bench.refuse(
        PickGoal("dot"), Status.PLANNING_FAILED, "dot can't be gripped where it lies", "no room (", "slope"
    )


# -- grips that suit the place


def neighbour_at(bench: Bench, name: str, pose: Pose) -> None:
    bench.world.move(name, pose)
    bench.world.advance(0.05)


@pytest.mark.parametrize("side", [(0, 2), (4, 0), (0, -2)])
def test_a_brick_is_placed_flush_beside_a_neighbour(bench: Bench, side: tuple[float, float]) -> None:
    assert bench.run(PickAndPlaceGoal("a", bench.on_plate(*side))).ok
    assert bench.pose("a").is_close(bench.on_plate(*side), 1e-4, 1e-3)


def test_a_grip_that_has_no_room_at_the_place_is_not_used(bench: Bench) -> None:
    """Alone on the table a 2x4 is best gripped by its long faces; beside the wall only the short ones are free."""
    assert bench.run(PickGoal("a")).ok
    assert bench.ctx.held is not None
    assert bench.ctx.held.width_m == pytest.approx(0.016, abs=1e-3)
    bench.reset()
    assert bench.run(PickGoal("a", bench.on_plate(0, 2))).ok
    assert bench.ctx.held is not None
    assert bench.ctx.held.width_m == pytest.approx(0.032, abs=1e-3)
    assert bench.run(PlaceGoal(bench.on_plate(0, 2))).ok


def test_a_grip_that_can_not_let_go_at_the_place_is_refused(bench: Bench) -> None:
    """Picked without a word about the place: the fingers would come down on the neighbour."""
    assert bench.run(PickGoal("a")).ok
    bench.refuse(
        PlaceGoal(bench.on_plate(0, 2)),
        Status.PLANNING_FAILED,
        "can't be let go there",
        "wall",
        "place pose given",
    )
    assert bench.run(PlaceGoal(bench.on_plate(0, 6))).ok


def test_a_corner_that_fits_no_grip_is_refused_before_the_pick(bench: Bench) -> None:
    """A plate beside the wall, and a brick at its end: its four sides are not free in pairs."""
    bench.world.move("b", bench.on_plate(3, 2))
    goal = PickAndPlaceGoal("flat", bench.on_plate(0, 2, 0.0032))
    bench.refuse(
        goal, Status.PLANNING_FAILED, "no grip of flat works both where it lies and at its place", "wall", "b"
    )


def test_the_way_to_a_grasp_is_planned_whole_before_the_arm_moves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grasp whose last centimetre can't be planned costs no motion; the next one is taken."""
    still = bench.robot.state().joints_rad
    lines: list[tuple[float, ...]] = []
    plan_line = bench.backend.plan_line

    def second_fails(start: FloatArray, tool: Pose, **options: Any) -> Plan:
        lines.append(bench.robot.state().joints_rad)
        if len(lines) == 2:
            return Plan(Status.PLANNING_FAILED, "a wall of glass")
        return plan_line(start, tool, **options)

    monkeypatch.setattr(bench.backend, "plan_line", second_fails)
    assert bench.run(PickGoal("a")).ok
    assert lines[:4] == [still] * 4
    assert bench.phases == PICK


def test_without_any_way_the_reasons_are_told_and_nothing_moves(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **options: Any) -> Plan:
        return Plan(Status.PLANNING_FAILED, "a wall of glass")

    monkeypatch.setattr(bench.backend, "plan_line", fails)
    result = bench.refuse(
        PickGoal("a"), Status.PLANNING_FAILED, "no grasp of a can be reached", "a wall of glass"
    )
    assert result.message.count("glass") == 1
    monkeypatch.undo()
    assert bench.run(PickGoal("a")).ok


def test_a_descent_is_planned_whole_and_leaves_the_brick_in_the_hand(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert bench.run(PickGoal("a")).ok
    plan_line = bench.backend.plan_line
    calls = []

    def second_fails(start: FloatArray, tool: Pose, **options: Any) -> Plan:
        calls.append(tool)
        return Plan(Status.PLANNING_FAILED, "glass") if len(calls) == 2 else plan_line(start, tool, **options)

    monkeypatch.setattr(bench.backend, "plan_line", second_fails)
    result = bench.run(PlaceGoal(bench.on_plate(6, 0)))
    assert result.status is Status.PLANNING_FAILED
    assert result.facts["held"] is True
    height = bench.pose("a").position[2] - bench.on_plate(6, 0).position[2]
    assert height == pytest.approx(bench.ctx.config.approach_height_m, abs=1e-3)
    monkeypatch.undo()
    assert bench.run(PlaceGoal(bench.on_plate(6, 0))).ok


# -- what may happen to the brick


@pytest.mark.parametrize("phase", ["close", "lift"])
def test_a_missed_or_lost_brick_is_looked_for_and_picked_once_more(bench: Bench, phase: str) -> None:
    away = Pose((0.36, -0.06, 0.0096))
    result = bench.skills.run(PickGoal("a"), at_phase(bench, phase, lambda: bench.world.move("a", away)))
    assert result.ok, result
    assert result.facts["attempts"] == 2
    assert ("not held" if phase == "close" else "was lost") in str(result.facts["missed"])
    assert bench.phases[-6:] == ["look_again", *PICK]
    assert bench.find("a").held
    assert bench.pose("a").position[2] - away.position[2] == pytest.approx(0.06, abs=1e-3)


def test_a_brick_that_is_gone_at_the_second_try_too_is_told(bench: Bench) -> None:
    away = Pose((0.36, -0.06, 0.0096))
    aways = [Pose((0.42, -0.06, 0.0096)), away]

    def on_phase(phase: str) -> None:
        if phase == "close":
            bench.world.move("a", aways.pop(0))

    result = bench.skills.run(PickGoal("a"), on_phase)
    assert result.status is Status.VERIFICATION_FAILED
    assert "it is not held; look again" in result.message
    assert "at the second try; the first: after closing" in result.message
    assert result.facts["attempts"] == 2
    assert result.facts["held"] is False
    assert bench.ctx.held is None
    # The hand does not stay down there between the bricks.
    assert bench.robot.state().tool.position[2] > bench.ctx.config.lift_height_m
    assert bench.pose("a").is_close(away, 1e-4, 1e-3)
    assert bench.run(PickGoal("a")).ok


def test_a_brick_shifted_before_the_hand_closes_is_not_taken_for_the_right_grip(bench: Bench) -> None:
    """The pads close on the wrong faces: the width tells."""
    turned = Pose.from_yaw(bench.pose("a").position, bench.pose("a").yaw + math.pi / 2)
    thin = Pose.from_yaw((*bench.pose("a").position[:2], 0.0096), bench.pose("a").yaw)

    def exchange() -> None:
        bench.world.move("a", turned.translated((-0.06, 0.06, 0)))
        bench.world.move("dot", thin)

    result = bench.skills.run(PickGoal("a"), at_phase(bench, "close", exchange))
    assert result.ok, result
    assert result.facts["attempts"] == 2
    assert bench.find("a").held
    assert not bench.find("dot").held


@pytest.mark.parametrize("phase", ["transfer", "descend"])
def test_a_brick_lost_on_the_way_is_noticed(bench: Bench, phase: str) -> None:
    away = Pose((0.36, -0.06, 0.0096))
    result = bench.skills.run(
        PickAndPlaceGoal("a", bench.on_plate(6, 0)),
        at_phase(bench, phase, lambda: bench.world.move("a", away)),
    )
    assert result.status is Status.VERIFICATION_FAILED, result
    assert result.facts["held"] is False
    assert bench.ctx.held is None
    assert bench.run(PickAndPlaceGoal("a", bench.on_plate(6, 0))).ok


def test_a_brick_taken_between_two_calls_is_noticed(bench: Bench) -> None:
    away = Pose((0.36, -0.06, 0.0096))
    assert bench.run(PickGoal("a")).ok
    bench.world.move("a", away)
    result = bench.skills.run(PlaceGoal(bench.on_plate(6, 0)))
    assert result.status is Status.VERIFICATION_FAILED
    assert "a was lost: it is seen" in result.message
    assert result.facts["held"] is False
    # Seen at once: nothing is carried towards the place.
    assert result.facts["duration_s"] == 0.0
    assert bench.run(PickGoal("b")).ok
    bench.world.move("b", away.translated((0.0, -0.06, 0)))
    bench.world.advance(1.0)
    # Any other skill notices too, and goes on with an empty hand.
    assert bench.run(HomeGoal()).facts["held"] is False
    assert bench.run(PickGoal("dot")).ok


def test_a_brick_that_slipped_in_the_hand_is_placed_where_it_should_be(bench: Bench) -> None:
    def slip() -> None:
        along = bench.robot.state().tool.rotation[:, 0]
        bench.world.move("a", bench.pose("a").translated(0.003 * along + [0, 0, -0.002]))

    goal = bench.on_plate(6, 0)
    result = bench.skills.run(PickAndPlaceGoal("a", goal), at_phase(bench, "transfer", slip))
    assert result.ok, result
    assert bench.pose("a").is_close(goal, 1e-4, 1e-3)


def test_a_brick_that_can_not_be_seen_in_the_hand_counts_as_held(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A camera above sees the hand, not what it covers."""
    real = bench.scenes.scene

    def from_above() -> Scene:
        scene = real()
        return Scene(scene.time_s, "perceived", tuple(o for o in scene.objects if not o.held))

    monkeypatch.setattr(bench.scenes, "scene", from_above)
    goal = bench.on_plate(6, 0)
    assert bench.run(PickAndPlaceGoal("a", goal)).ok
    assert bench.pose("a").is_close(goal, 1e-4, 1e-3)


def test_a_brick_that_can_not_be_seen_and_is_lost_is_felt(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It fell where the camera does not look: the pads have closed on nothing."""
    assert bench.run(PickGoal("a")).ok
    real = bench.scenes.scene

    def without_a() -> Scene:
        scene = real()
        return Scene(scene.time_s, "perceived", tuple(o for o in scene.objects if o.id != "a"))

    monkeypatch.setattr(bench.scenes, "scene", without_a)
    bench.world.move("a", Pose((0.36, -0.06, 0.0096)))
    bench.world.advance(1.0)
    result = bench.run(PlaceGoal(bench.on_plate(6, 0)))
    assert result.status is Status.VERIFICATION_FAILED
    assert "a was lost: the pads are 0.0 mm apart" in result.message
    assert bench.run(PickGoal("b")).ok


def test_a_failure_tells_what_is_left_in_the_hand(bench: Bench) -> None:
    """The brick falls in the middle of a motion that is then canceled: nobody looks, but the pads tell."""
    assert bench.run(PickGoal("a")).ok
    cancel, start_s = Cancellation(), bench.world.time_s

    def lose() -> None:
        if bench.world.time_s < start_s + 0.15:
            bench.world.move("a", Pose((0.36, -0.06, 0.0096)))
        elif bench.world.time_s > start_s + 1.0:
            cancel.cancel()

    handle = bench.world.add_observer(0.1, lose)
    result = bench.run(MoveToGoal(Pose((0.5, 0.2, 0.2), (1.0, 0.0, 0.0, 0.0)), speed=0.1), cancel)
    bench.world.remove_observer(handle)
    assert result.status is Status.CANCELED
    assert result.facts["held"] is False


def test_a_brick_that_falls_over_after_the_release_is_told(bench: Bench) -> None:
    """A quarter of it on the wall's end: it topples."""
    result = bench.run(PickAndPlaceGoal("dot", bench.on_plate(-2.25, 0.0, 0.0192)))
    assert result.status is Status.VERIFICATION_FAILED
    assert "from its place" in result.message
    assert float(result.facts["error_m"]) > bench.ctx.config.place_position_m  # type: ignore[arg-type]
    assert result.facts["held"] is False


def test_fingers_that_stall_while_opening_are_no_success(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Drivers of real grippers report a stall as done: the width decides."""
    assert bench.run(PickGoal("a")).ok

    def stalls(width_m: float, force_n: float, cancel: object = None) -> GripperOutcome:
        return GripperOutcome(Status.SUCCEEDED, "done", bench.world.arm.width_m, True)

    monkeypatch.setattr(bench.robot, "grip", stalls)
    result = bench.run(PlaceGoal(bench.on_plate(6, 0)))
    assert result.status is Status.EXECUTION_FAILED
    assert "something blocks them" in result.message
    assert result.facts["held"] is True
    monkeypatch.undo()
    assert bench.run(HomeGoal()).ok
    assert bench.run(PlaceGoal(bench.on_plate(6, 4))).ok


def test_a_blocked_motion_is_told_and_leaves_a_way_out(bench: Bench) -> None:
    """A brick that nobody sees stands in the way of the press."""
    assert bench.run(PickGoal("a")).ok
    goal = bench.on_plate(6, 0)
    hidden = goal.translated((0.0, 0.0, 0.001))
    result = bench.skills.run(
        PlaceGoal(goal), at_phase(bench, "descend", lambda: bench.world.move("b", hidden))
    )
    assert result.status is Status.EXECUTION_FAILED
    assert "blocks the arm" in result.message
    assert bench.run(HomeGoal()).ok


def test_a_hand_that_sank_onto_a_neighbour_retreats_upwards(bench: Bench) -> None:
    """Pressing takes the fingertips a little below where they were to stop: onto the brick beside, say."""
    ctx = bench.ctx
    assert bench.run(MoveToGoal(Pose((0.36, -0.09, 0.012), DOWN))).ok
    scene = ctx.look()
    finger = hand_boxes(ctx)[0]
    tip_z = float(finger.pose.position[2]) - finger.size_m[2] / 2
    x, y, _ = bench.robot.state().tool.position
    reach = finger.size_m[1] / 2
    # A part's origin lies in the middle of its top.
    under = Pose((x, y + reach, tip_z + 0.0004))
    things = [msgspec.structs.replace(o, pose=under) if o.id == "b" else o for o in scene.objects]
    retreat(ctx, msgspec.structs.replace(scene, objects=tuple(things)), "a", ())
    assert bench.robot.state().tool.position[2] == pytest.approx(0.012 + ctx.config.lift_height_m, abs=1e-3)
