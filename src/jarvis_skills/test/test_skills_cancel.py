"""Cancelling: answered in every phase, with the arm at rest, and never the end of what the arm can do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from jarvis_core.motion import Cancellation
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.skills import (
    HomeGoal,
    LookGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    PressGoal,
    PushGoal,
    RemoveGoal,
    SkillGoal,
    SkillResult,
)
from jarvis_core.status import Status
from jarvis_motion.backend import Plan
from skill_bench import Bench

#: Of a pick and place, each with a moment (s) at which something moves.
PHASES = {
    "plan_grasp": 0.0,
    "approach": 0.8,
    "close": 0.05,
    "lift": 0.3,
    "transfer": 0.4,
    "descend": 0.6,
    "press": 0.1,
    "release": 0.03,
    "retreat": 0.2,
}


def run_canceled(
    bench: Bench, goal: SkillGoal, phase: str, after_s: float, cancel: Cancellation | None = None
) -> SkillResult:
    """Run a goal and cancel it ``after_s`` into a phase."""
    cancel = cancel or Cancellation()
    started: list[float] = []

    def on_phase(name: str) -> None:
        bench.phases.append(name)
        if name == phase:
            started.append(bench.world.time_s)
            if after_s == 0.0:
                cancel.cancel()

    def watch() -> None:
        if started and bench.world.time_s >= started[0] + after_s:
            cancel.cancel()

    handle = bench.world.add_observer(0.002, watch)
    before_s = bench.world.time_s
    try:
        result = bench.skills.run(goal, on_phase, cancel)
    finally:
        bench.world.remove_observer(handle)
    assert cancel.requested, "the phase was never reached"
    bench.check(goal, result, bench.world.time_s - before_s)
    return result


@pytest.mark.parametrize("phase", PHASES)
def test_a_cancel_is_answered_at_rest_and_work_goes_on(bench: Bench, phase: str) -> None:
    goal = PickAndPlaceGoal("a", bench.on_plate(6, 0))
    result = run_canceled(bench, goal, phase, PHASES[phase])
    assert result.status is Status.CANCELED, result
    assert "stand" in result.message
    assert bench.phases[-1] == phase
    # From wherever it was stopped: home, and the work done after all.
    assert bench.run(HomeGoal()).ok
    if bench.ctx.held is not None:
        again = bench.run(PlaceGoal(goal.pose))
    else:
        again = bench.run(PickAndPlaceGoal("a", bench.on_plate(6, 4)))
    assert again.ok, again


@pytest.mark.parametrize("phase", ["approach", "close", "lift", "descend", "press", "release"])
def test_the_next_skill_starts_from_where_the_last_was_stopped(bench: Bench, phase: str) -> None:
    """Without going home first: low between bricks, around one, pressing on one."""
    goal = PickAndPlaceGoal("a", bench.on_plate(6, 0))
    others = [bench.pose(name) for name in ("b", "flat", "slope", "dot")]
    assert run_canceled(bench, goal, phase, PHASES[phase]).status is Status.CANCELED
    next_goal = PlaceGoal(goal.pose) if bench.ctx.held is not None else PickGoal("b")
    result = bench.run(next_goal)
    assert result.ok, result
    moved = others if isinstance(next_goal, PlaceGoal) else others[1:]
    names = ("b", "flat", "slope", "dot")[4 - len(moved) :]
    assert all(bench.pose(n).is_close(p, 5e-4, 0.01) for n, p in zip(names, moved, strict=True))


def test_a_canceled_release_holds_nothing(bench: Bench) -> None:
    """The fingers have begun to open: whatever stands between them is not held."""
    result = run_canceled(bench, PickAndPlaceGoal("a", bench.on_plate(6, 0)), "release", 0.03)
    assert result.status is Status.CANCELED
    assert result.facts["held"] is False
    bench.refuse(PlaceGoal(bench.on_plate(6, 0)), Status.PRECONDITION_FAILED, "the hand is empty")
    assert bench.run(PickGoal("b")).ok
    assert bench.pose("a").is_close(bench.on_plate(6, 0), 1e-3, 0.02)


@pytest.mark.parametrize("phase", ["close", "approach", "push", "retreat"])
def test_a_canceled_push_can_be_left(bench: Bench, phase: str) -> None:
    """Stopped while it pushes, a fingertip touches the brick."""
    result = run_canceled(bench, PushGoal("a", (0.02, 0.0)), phase, 0.25)
    assert result.status is Status.CANCELED, result
    before = bench.pose("a")
    assert bench.run(HomeGoal()).ok
    assert bench.pose("a").is_close(before, 5e-4, 0.01)
    assert bench.run(PickGoal("a")).ok


#: Every phase of the skills that press and pull, with a moment (s) at which something moves.
FORCED = [
    (LookGoal(), "move", 0.02),
    (PressGoal("a"), "close", 0.05),
    (PressGoal("a"), "approach", 0.8),
    (PressGoal("a"), "press", 0.3),
    (PressGoal("a"), "retreat", 0.2),
    (RemoveGoal("a"), "plan_grasp", 0.0),
    (RemoveGoal("a"), "approach", 0.8),
    (RemoveGoal("a"), "close", 0.05),
    (RemoveGoal("a"), "pull", 0.3),
    (RemoveGoal("a"), "lift", 0.2),
]


@pytest.mark.parametrize(("goal", "phase", "after_s"), FORCED, ids=lambda v: getattr(v, "object_id", None))
def test_a_cancel_of_a_forced_motion_stands_still_within_half_a_second(
    bench: Bench, goal: SkillGoal, phase: str, after_s: float
) -> None:
    if isinstance(goal, LookGoal):
        assert bench.run(MoveToGoal(Pose((0.5, 0.2, 0.1), (1.0, 0.0, 0.0, 0.0)))).ok
    asked: list[float] = []
    cancel_at = Cancellation.cancel

    class Timed(Cancellation):
        def cancel(self) -> None:
            asked.append(bench.world.time_s)
            cancel_at(self)

    result = run_canceled(bench, goal, phase, after_s, Timed())
    assert result.status is Status.CANCELED, result
    assert bench.world.time_s - asked[0] < 0.5
    assert bench.run(HomeGoal()).ok


def test_a_canceled_motion_stops_where_it_is(bench: Bench) -> None:
    goal = MoveToGoal(Pose((0.5, 0.2, 0.1), (1.0, 0.0, 0.0, 0.0)))
    result = run_canceled(bench, goal, "move", 0.3)
    assert result.status is Status.CANCELED
    assert 0.3 <= float(result.facts["duration_s"]) < 0.8  # type: ignore[arg-type]
    assert bench.robot.state().tool.distance_to(goal.pose) > 0.02
    assert bench.run(goal).ok


GOALS: list[SkillGoal] = [
    PickGoal("a"),
    PickAndPlaceGoal("a", Pose((0.545, 0.144, 0.0128))),
    MoveToGoal(Pose((0.5, 0.2, 0.1), (1.0, 0.0, 0.0, 0.0))),
    HomeGoal(),
    PushGoal("a", (0.01, 0.0)),
    LookGoal(),
    PressGoal("a"),
    RemoveGoal("a"),
]


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: type(goal).__name__)
def test_canceled_before_it_began_nothing_moves(bench: Bench, goal: SkillGoal) -> None:
    cancel = Cancellation()
    cancel.cancel()
    before = bench.world.snapshot()
    result = bench.run(goal, cancel)
    assert result.status is Status.CANCELED
    assert bench.world.snapshot() == before
    assert bench.phases == []


@pytest.mark.parametrize("goal", [GOALS[0], GOALS[2], GOALS[4]], ids=lambda goal: type(goal).__name__)
def test_a_cancel_during_planning_is_kept(
    bench: Bench, goal: SkillGoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planning can't be interrupted; what was planned is not run."""
    cancel = Cancellation()
    plan_to_pose = bench.backend.plan_to_pose

    def planning(start: FloatArray, tool: Pose, **options: Any) -> Plan:
        cancel.cancel()
        return plan_to_pose(start, tool, **options)

    monkeypatch.setattr(bench.backend, "plan_to_pose", planning)
    arm = np.array(bench.robot.state().joints_rad)
    result = bench.run(goal, cancel)
    assert result.status is Status.CANCELED, result
    assert np.abs(np.array(bench.robot.state().joints_rad) - arm).max() < 1e-4
    monkeypatch.undo()
    assert bench.run(goal).ok
