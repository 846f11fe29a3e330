"""Pressing with a limited force: enough for the studs, not more; and without a wrench as far as the way goes."""

from __future__ import annotations

import math

import pytest
from jarvis_core.motion import ForceLimit
from jarvis_core.objects import Box
from jarvis_core.observation import Wrench
from jarvis_core.pose import Pose
from jarvis_core.skills import PlaceGoal
from jarvis_core.status import Status
from jarvis_motion.backend import Obstacle
from jarvis_skills.moves import joints, planned
from jarvis_skills.pressing import studs_below
from skill_bench import Bench

#: What an engaged stud takes, and how much more the arm may press while it brakes.
PER_STUD_N, OVER_N = 2.6, 6.0


@pytest.mark.parametrize(
    ("name", "x", "y", "z", "studs"), [("dot", 5.5, 5.5, 0.0096, 1), ("flat", -7, -4, 0.0032, 8)]
)
def test_a_brick_is_pressed_on_as_hard_as_its_studs_need(
    bench: Bench, name: str, x: float, y: float, z: float, studs: int
) -> None:
    bench.hold(name)
    highest: list[float] = []
    handle = bench.world.add_observer(0.01, lambda: highest.append(bench.world.arm.wrench().force_n[2]))
    result = bench.run(PlaceGoal(bench.on_plate(x, y, z, math.pi / 2)))
    bench.world.remove_observer(handle)
    assert result.ok, result
    assert result.facts["force_limited"] is True
    assert PER_STUD_N * studs <= max(highest) <= PER_STUD_N * studs + 2 * OVER_N
    assert 0.0 < float(result.facts["press_force_n"]) <= max(highest)  # type: ignore[arg-type]


def test_a_robot_without_a_wrench_presses_by_the_way_and_says_so(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bench.hold("dot")
    monkeypatch.setattr(bench.robot, "wrench", lambda: None)
    result = bench.run(PlaceGoal(bench.on_plate(5.5, 5.5)))
    assert result.ok, result
    assert result.facts["force_limited"] is False
    assert result.facts["press_force_n"] == 0.0
    assert "the robot tells no wrench" in caplog.text


def test_a_guarded_motion_needs_a_wrench(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = bench.robot.state().tool.translated((0.0, 0.0, 0.01))
    trajectory = planned(bench.backend.plan_line(joints(bench.ctx), tool, speed=0.1), "test")
    monkeypatch.setattr(bench.robot, "wrench", lambda: None)
    outcome = bench.robot.follow(trajectory, force_limit=ForceLimit((0.0, 0.0, 1.0), 1.0))
    assert outcome.status is Status.EXECUTION_FAILED
    assert "no wrench" in outcome.message


def test_the_wrench_is_the_weight_in_the_hand(bench: Bench) -> None:
    free = bench.robot.wrench()
    assert free is not None
    assert max(map(abs, free.force_n)) < 0.05
    bench.hold("a")
    bench.world.advance(0.2)
    held = bench.robot.wrench()
    assert held is not None
    assert -0.3 < held.force_n[2] < -0.05
    assert max(map(abs, held.force_n[:2])) < 0.05


def test_a_force_limit_looks_along_its_direction() -> None:
    limit = ForceLimit((0.0, 0.0, -1.0), 3.0)
    assert not limit.reached(Wrench(0.0, (10.0, 0.0, -2.9), (0.0, 0.0, 0.0)))
    assert limit.reached(Wrench(0.0, (0.0, 0.0, -3.1), (0.0, 0.0, 0.0)))


@pytest.mark.parametrize(("x", "studs"), [(0.0, 8), (0.016, 4), (0.024, 2), (0.05, 0)])
def test_studs_below_are_counted_by_the_cells_that_are_carried(x: float, studs: int) -> None:
    """A 2x4 pushed off the middle of another one."""
    size = (0.032, 0.016, 0.0096)
    lower = Obstacle("lower", Box(Pose((0.0, 0.0, 0.0048)), size))
    upper = Box(Pose((x, 0.0, 0.0144)), size)
    assert studs_below([upper], [lower], 0.0015) == studs
