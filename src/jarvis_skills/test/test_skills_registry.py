"""The table of skills: complete, and true."""

from __future__ import annotations

import typing

import pytest
from jarvis_core.motion import GripperOutcome, MotionOutcome
from jarvis_core.pose import Pose
from jarvis_core.skills import (
    FlipGoal,
    GripGoal,
    HomeGoal,
    LookGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    PressGoal,
    PushGoal,
    RegraspGoal,
    RemoveGoal,
    SkillGoal,
    skill_name,
)
from jarvis_core.status import Status
from jarvis_skills.registry import SKILLS, skill_of
from skill_bench import ON_ITS_SIDE, Bench, lay

GOALS: list[SkillGoal] = [
    PickGoal("a"),
    PlaceGoal(Pose((0.544, 0.144, 0.0128))),
    PickAndPlaceGoal("a", Pose((0.544, 0.144, 0.0128))),
    MoveToGoal(Pose((0.5, 0.2, 0.1), (1.0, 0.0, 0.0, 0.0))),
    HomeGoal(),
    PushGoal("a", (0.01, 0.0)),
    GripGoal(0.03),
    LookGoal(),
    PressGoal("b"),
    RemoveGoal("a"),
    RegraspGoal(),
    FlipGoal("a"),
]


def test_every_goal_has_a_skill_and_every_skill_a_goal() -> None:
    assert {skill.goal_type for skill in SKILLS.values()} == set(typing.get_args(SkillGoal))
    assert {type(goal) for goal in GOALS} == set(typing.get_args(SkillGoal))
    for goal in GOALS:
        assert skill_of(goal).goal_type is type(goal)
        assert SKILLS[skill_name(goal)] is skill_of(goal)


@pytest.mark.parametrize("skill", SKILLS.values(), ids=SKILLS)
def test_entries_are_well_formed(skill: typing.Any) -> None:
    assert len(set(skill.exits)) == len(skill.exits)
    assert {Status.SUCCEEDED, Status.CANCELED, Status.INTERNAL_ERROR} <= set(skill.exits)
    assert len(set(skill.facts)) == len(skill.facts) > 0
    assert all(skill.preconditions)


@pytest.mark.parametrize("goal", [g for g in GOALS if not isinstance(g, GripGoal)], ids=skill_name)
@pytest.mark.parametrize("status", [Status.TIMED_OUT, Status.EXECUTION_FAILED])
def test_what_the_arm_reports_comes_out_of_every_skill(
    bench: Bench, goal: SkillGoal, status: Status, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other exit is met by the tests of the skills, where Bench checks it against this table."""
    if isinstance(goal, FlipGoal):
        lay(bench, "a", Pose((0.0, 0.0, 0.0), ON_ITS_SIDE))
    if isinstance(goal, PlaceGoal | RegraspGoal):
        assert bench.run(PickGoal("a")).ok
    monkeypatch.setattr(bench.robot, "follow", lambda *_, **__: MotionOutcome(status, "the driver's reason"))
    result = bench.run(goal)
    assert result.status is status
    assert "the driver's reason" in result.message


@pytest.mark.parametrize(
    "goal", [PickGoal("a"), HomeGoal(), PushGoal("a", (0.01, 0.0)), GripGoal(0.02)], ids=skill_name
)
def test_what_the_gripper_reports_comes_out_too(
    bench: Bench, goal: SkillGoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    outcome = GripperOutcome(Status.TIMED_OUT, "the fingers hang", 0.0, False)
    monkeypatch.setattr(bench.robot, "grip", lambda *_: outcome)
    result = bench.run(goal)
    assert result.status is Status.TIMED_OUT
    assert "the fingers hang" in result.message
