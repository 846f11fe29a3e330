"""The fingers by hand, and questions that move nothing."""

from __future__ import annotations

import pytest
from jarvis_core.pose import Pose
from jarvis_core.skills import GripGoal, HomeGoal, MoveToGoal, PickGoal, PlaceGoal
from jarvis_core.status import Status
from jarvis_skills.planning import SkillPlanning
from skill_bench import Bench

FREE_PLACE = Pose((0.544, 0.144, 0.0128))


def take(bench: Bench, name: str) -> None:
    """Pick by single motions, as the generic layer does."""
    plan = SkillPlanning(bench.ctx).grasps(name)
    assert plan.status.ok
    grasp = plan.grasps[0]
    above = grasp.tool.translated((0.0, 0.0, 0.06))
    assert bench.run(MoveToGoal(above)).ok
    assert bench.run(GripGoal(grasp.width_m + 0.01)).ok
    assert bench.run(MoveToGoal(grasp.tool, straight=True, speed=0.2)).ok
    closed = bench.run(GripGoal(0.0))
    assert closed.ok, closed.message
    assert closed.facts["held"]
    assert closed.facts["object_id"] == name
    assert bench.run(MoveToGoal(above, straight=True, speed=0.2)).ok


def test_a_brick_taken_by_single_motions_is_in_the_hand_of_the_skills(bench: Bench) -> None:
    take(bench, "b")
    assert bench.ctx.held is not None
    assert bench.ctx.held.object.id == "b"
    placed = bench.run(PlaceGoal(FREE_PLACE))
    assert placed.ok, placed.message


def test_opening_lets_go(bench: Bench) -> None:
    take(bench, "b")
    assert bench.run(GripGoal(0.06)).facts["held"] is False
    assert bench.ctx.held is None


@pytest.mark.parametrize("width", [-0.01, 0.5, float("nan")])
def test_impossible_distances_are_refused(bench: Bench, width: float) -> None:
    bench.refuse(GripGoal(width), Status.PRECONDITION_FAILED, "the pads can be 0 to")


def test_a_full_hand_does_not_close(bench: Bench) -> None:
    assert bench.run(PickGoal("b")).ok
    bench.refuse(GripGoal(0.0), Status.PRECONDITION_FAILED, "the hand holds b")


def test_questions_are_answered_with_reasons_and_move_nothing(bench: Bench) -> None:
    planning = SkillPlanning(bench.ctx)
    before = bench.world.state()
    assert planning.grasps("a", FREE_PLACE).grasps
    assert "no object 'nobody'" in planning.grasps("nobody").message
    assert planning.grasps("wall").status is Status.PRECONDITION_FAILED
    reached = planning.reach(Pose((0.5, 0.0, 0.2), (1.0, 0.0, 0.0, 0.0)))
    assert reached.status.ok
    assert len(reached.joints_rad) == 7
    assert planning.reach(Pose((5.0, 0.0, 0.2))).status is Status.PRECONDITION_FAILED
    assert planning.reach(Pose((0.5, 0.0, 0.004), (1.0, 0.0, 0.0, 0.0))).status is Status.PLANNING_FAILED
    assert bench.world.state() == before
    assert bench.run(HomeGoal()).ok
