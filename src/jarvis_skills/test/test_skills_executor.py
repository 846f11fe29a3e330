"""The executor: one skill at a time, every outcome a value."""

from __future__ import annotations

import logging
from unittest.mock import PropertyMock, create_autospec

import pytest
from jarvis_core.objects import Scene
from jarvis_core.ports import Robot
from jarvis_core.pose import Pose
from jarvis_core.skills import HomeGoal, MoveToGoal, PickGoal, SkillResult
from jarvis_core.status import Status
from jarvis_skills.cell_context import SkillContext
from jarvis_skills.executor import SkillExecutor
from skill_bench import Bench


def test_a_second_goal_meanwhile_is_refused(bench: Bench) -> None:
    refused: list[SkillResult] = []

    def on_phase(phase: str) -> None:
        refused.append(bench.skills.run(PickGoal("b")))

    result = bench.skills.run(HomeGoal(), on_phase)
    assert result.ok
    assert [r.status for r in refused] == [Status.PRECONDITION_FAILED]
    assert "busy" in refused[0].message
    # The refused goal left the running one alone.
    assert bench.run(PickGoal("b")).ok


def test_a_bug_becomes_an_internal_error_and_is_logged(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> Scene:
        raise ZeroDivisionError("a bug in perception")

    monkeypatch.setattr(bench.scenes, "scene", broken)
    with caplog.at_level(logging.ERROR):
        result = bench.run(PickGoal("a"))
    assert result.status is Status.INTERNAL_ERROR
    assert result.message == "ZeroDivisionError: a bug in perception"
    assert isinstance(bench.skills.last_bug, ZeroDivisionError)
    assert "PickGoal(object_id='a'" in caplog.text
    assert "Traceback" in caplog.text
    monkeypatch.undo()
    assert bench.run(PickGoal("a")).ok
    assert bench.skills.last_bug is None


def test_a_bug_in_mid_motion_leaves_an_arm_that_still_works(bench: Bench) -> None:
    def on_phase(phase: str) -> None:
        if phase == "lift":
            raise RuntimeError("the listener broke")

    result = bench.skills.run(PickGoal("a"), on_phase)
    assert result.status is Status.INTERNAL_ERROR
    assert result.facts["held"] is True
    assert bench.run(HomeGoal()).ok
    assert bench.find("a").held


def test_a_goal_of_no_skill_is_an_internal_error(bench: Bench) -> None:
    result = bench.skills.run(Pose())  # type: ignore[arg-type]
    assert result.status is Status.INTERNAL_ERROR


def test_a_silent_robot_is_an_internal_error(bench: Bench) -> None:
    """A driver that gives no joint states raises from everything, its clock included."""
    robot = create_autospec(Robot, instance=True)
    type(robot).time_s = PropertyMock(side_effect=TimeoutError("nothing on /joint_states"))
    ctx = bench.ctx
    skills = SkillExecutor(
        SkillContext(robot, ctx.backend, ctx.scenes, ctx.cell, ctx.robot_config, ctx.config)
    )
    for _ in range(2):
        result = skills.run(HomeGoal())
        assert result.status is Status.INTERNAL_ERROR
        assert "/joint_states" in result.message
        assert result.facts == {"held": False}


def test_the_duration_is_what_passed_on_the_cells_clock(bench: Bench) -> None:
    before_s = bench.world.time_s
    result = bench.skills.run(MoveToGoal(Pose((0.5, 0.0, 0.2), (1.0, 0.0, 0.0, 0.0))))
    assert result.facts["duration_s"] == pytest.approx(bench.world.time_s - before_s)
    assert float(result.facts["duration_s"]) > 0.5  # type: ignore[arg-type]
    assert bench.skills.run(PickGoal("nobody")).facts["duration_s"] == 0.0
