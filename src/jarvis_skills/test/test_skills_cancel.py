"""Cancelling: answered in every phase, with the arm at rest, and never the end of what the arm can do."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_core.motion import Cancellation
from jarvis_core.pose import FloatArray, Pose
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
    SkillResult,
    skill_name,
)
from jarvis_core.status import Status
from jarvis_motion.backend import Plan
from skill_bench import ON_ITS_SIDE, Bench, lay

from jarvis_skills import take

#: Of a pick, and of placing what it took, each with a moment (s) at which something moves.
PICKING = {
    "plan_grasp": 0.0,
    "approach": 0.8,
    "close": 0.05,
    "lift": 0.3,
}
PLACING = {
    "transfer": 0.4,
    "descend": 0.6,
    "press": 0.1,
    "release": 0.03,
    "retreat": 0.2,
}


def run_canceled(bench: Bench, goal: SkillGoal, phase: str, after_s: float) -> SkillResult:
    """Run a goal and cancel it ``after_s`` into a phase: one status, the arm at rest within half a second."""
    cancel = Cancellation()
    started: list[float] = []
    asked: list[float] = []

    def stop() -> None:
        if not asked:
            asked.append(bench.world.time_s)
            cancel.cancel()

    def on_phase(name: str) -> None:
        bench.phases.append(name)
        if name == phase:
            started.append(bench.world.time_s)
            if after_s == 0.0:
                stop()

    def watch() -> None:
        if started and bench.world.time_s >= started[0] + after_s:
            stop()

    handle = bench.world.add_observer(0.002, watch)
    bench.phases = []
    before_s = bench.world.time_s
    try:
        result = bench.skills.run(goal, on_phase, cancel)
    finally:
        bench.world.remove_observer(handle)
    assert asked, f"the phase was never reached: {result}"
    assert bench.world.time_s - asked[0] < 0.5
    bench.check(goal, result, bench.world.time_s - before_s)
    return result


def hold_a(bench: Bench) -> None:
    bench.hold("a")


def lie_on_its_side(bench: Bench) -> None:
    lay(bench, "a", Pose((0.0, 0.0, 0.0), ON_ITS_SIDE))


def be_elsewhere(bench: Bench) -> None:
    assert bench.run(MoveToGoal(UP)).ok


def stand_low(bench: Bench) -> None:
    assert run_canceled(bench, PickGoal("a"), "close", 0.05).status is Status.CANCELED


def be_shy(bench: Bench) -> None:
    """The brick is gone when the hand closes on it."""
    handle: list[int] = []

    def away() -> None:
        tool, brick = bench.robot.state().tool.position, bench.pose("a").position
        if np.linalg.norm(tool - brick) < 0.02:
            bench.world.move("a", Pose((0.36, -0.06, 0.0096)))
            bench.world.remove_observer(handle[0])

    handle.append(bench.world.add_observer(0.01, away))


def sit_fast(bench: Bench) -> None:
    """More studs than a pull of 2 N takes off."""
    bench.world.move("b", bench.on_plate(0, 0, 0.0192))
    bench.world.advance(0.05)
    assert bench.run(PressGoal("b")).ok
    bench.ctx.config = msgspec.structs.replace(bench.ctx.config, pull_limit_n=2.0)


THERE = Pose((0.544, 0.144, 0.0128))
UP = Pose((0.5, 0.2, 0.1), (1.0, 0.0, 0.0, 0.0))
#: Goal, phase, a moment (s) in it at which something moves (0: before that), and what must be so before. Skills share
#: their steps: each phase is met in one of those that have it, and again where the hand leans or presses.
MATRIX: list[tuple[SkillGoal, str, float, Callable[[Bench], None] | None]] = [
    *((PickAndPlaceGoal("a", THERE), name, s, None) for name, s in PICKING.items()),
    *((PlaceGoal(THERE), name, s, hold_a) for name, s in PLACING.items()),
    (PickGoal("a"), "look_again", 0.5, be_shy),
    (HomeGoal(), "home", 0.2, be_elsewhere),
    (HomeGoal(), "clear_off", 0.2, stand_low),
    (LookGoal(), "move", 0.02, be_elsewhere),
    (GripGoal(0.02), "grip", 0.1, None),
    (PushGoal("a", (0.02, 0.0)), "push", 0.25, None),
    (PressGoal("a"), "close", 0.05, None),
    (PressGoal("a"), "press", 0.3, None),
    (PressGoal("a"), "retreat", 0.2, None),
    (RemoveGoal("a"), "pull", 0.3, None),
    (RemoveGoal("b"), "tilt", 0.1, sit_fast),
    (RegraspGoal(), "plan_spot", 0.0, hold_a),
    (RegraspGoal(), "release", 0.03, hold_a),
    (FlipGoal("a"), "transfer", 0.4, lie_on_its_side),
    (FlipGoal("a"), "release", 0.03, lie_on_its_side),
]


@pytest.mark.parametrize(
    ("goal", "phase", "after_s", "before"), MATRIX, ids=[f"{skill_name(g)}-{p}" for g, p, *_ in MATRIX]
)
def test_a_cancel_is_answered_at_rest(
    bench: Bench, goal: SkillGoal, phase: str, after_s: float, before: Callable[[Bench], None] | None
) -> None:
    config = bench.ctx.config
    try:
        if before is not None:
            before(bench)
        result = run_canceled(bench, goal, phase, after_s)
    finally:
        bench.ctx.config = config
    assert result.status is Status.CANCELED, result
    assert "stand" in result.message or "canceled" in result.message
    assert bench.phases[-1] == phase
    # From wherever it was stopped.
    assert bench.run(HomeGoal()).ok


def test_every_phase_in_which_something_moves_is_canceled() -> None:
    sources = Path(take.__file__).parent.glob("*.py")
    phases = {name for path in sources for name in re.findall(r'\.phase\("(\w+)"\)', path.read_text())}
    assert phases - {phase for _, phase, *_ in MATRIX} == {"look", "verify"}


@pytest.mark.parametrize("phase", ["close", "lift", "press", "release"])
def test_the_next_skill_starts_from_where_the_last_was_stopped(bench: Bench, phase: str) -> None:
    """Without going home first: low between bricks, around one, pressing on one."""
    goal = PickAndPlaceGoal("a", bench.on_plate(6, 0))
    others = [bench.pose(name) for name in ("b", "flat", "slope", "dot")]
    assert run_canceled(bench, goal, phase, (PICKING | PLACING)[phase]).status is Status.CANCELED
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


@pytest.mark.parametrize("phase", ["close", "push"])
def test_a_canceled_push_can_be_left(bench: Bench, phase: str) -> None:
    """Stopped while it pushes, a fingertip touches the brick."""
    result = run_canceled(bench, PushGoal("a", (0.02, 0.0)), phase, 0.25)
    assert result.status is Status.CANCELED, result
    before = bench.pose("a")
    assert bench.run(HomeGoal()).ok
    assert bench.pose("a").is_close(before, 5e-4, 0.01)
    assert bench.run(PickGoal("a")).ok


def test_a_canceled_motion_stops_where_it_is(bench: Bench) -> None:
    goal = MoveToGoal(UP)
    result = run_canceled(bench, goal, "move", 0.3)
    assert result.status is Status.CANCELED
    assert 0.3 <= float(result.facts["duration_s"]) < 0.8  # type: ignore[arg-type]
    assert bench.robot.state().tool.distance_to(goal.pose) > 0.02
    assert bench.run(goal).ok


GOALS: list[SkillGoal] = [
    PickGoal("a"),
    PickAndPlaceGoal("a", Pose((0.545, 0.144, 0.0128))),
    MoveToGoal(UP),
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
