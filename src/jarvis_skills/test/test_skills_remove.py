"""Looking, pressing down what stands, and taking it off again: what comes of it, and what is refused."""

from __future__ import annotations

import msgspec
import pytest
from jarvis_core.pose import Pose
from jarvis_core.skills import HomeGoal, LookGoal, PickGoal, PressGoal, RemoveGoal
from jarvis_core.status import Status
from skill_bench import Bench


def stack(bench: Bench, name: str, pose: Pose) -> None:
    """Pressed on at once, as the clutch would hold it after a place."""
    bench.world.move(name, pose)
    bench.world.advance(0.05)


def test_look_tells_what_is_seen_with_the_arm_out_of_the_way(bench: Bench) -> None:
    result = bench.run(LookGoal("a"))
    assert result.ok, result
    assert bench.phases == ["move", "look"]
    assert result.facts["objects"] == 6
    assert result.facts["movable_ids"] == "a, b, flat, slope, dot"
    assert result.facts["source"] == "true"
    assert result.facts["pose"] == bench.pose("a").to_list()


def test_look_for_what_is_not_there(bench: Bench) -> None:
    result = bench.run(LookGoal("nobody"))
    assert result.status is Status.VERIFICATION_FAILED
    assert "nobody is not seen; movable objects: a, b" in result.message


def test_a_loose_brick_is_pressed_on_and_then_removed(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set on the wall by hand it is not held; pressed it is; removed it comes off alone.

    With a limit below what the studs hold it is tilted; where a tilt does not help either the hand lets go.
    """
    stack(bench, "b", bench.on_plate(0, 0, 0.0192))
    assert ("b", "wall") not in bench.world.state().connections
    pressed = bench.run(PressGoal("b"))
    assert pressed.ok, pressed
    assert bench.phases == ["close", "approach", "press", "retreat", "verify"]
    assert ("b", "wall") in bench.world.state().connections
    after_press = bench.world.snapshot()
    others = {name: bench.pose(name) for name in ("a", "flat", "slope", "dot", "wall")}
    removed = bench.run(RemoveGoal("b"))
    assert removed.ok, removed
    assert bench.phases == ["plan_grasp", "approach", "close", "pull", "lift", "verify"]
    assert removed.facts["tilted"] is False
    assert all(bench.pose(name).is_close(pose, 1e-4, 1e-3) for name, pose in others.items())
    bench.reset()
    bench.world.restore(after_press)
    bench.backend.set_gripper_width(bench.world.arm.width_m)
    monkeypatch.setattr(bench.ctx, "config", msgspec.structs.replace(bench.ctx.config, pull_limit_n=4.0))
    result = bench.run(RemoveGoal("b"))
    assert "tilt" in bench.phases
    if result.ok:
        assert result.facts["tilted"] is True
    else:
        assert result.status is Status.EXECUTION_FAILED, result
        assert "did not take b off" in result.message
        assert result.facts["held"] is False
    assert bench.run(HomeGoal()).ok


@pytest.mark.parametrize("goal", [PressGoal("a"), RemoveGoal("a")], ids=["press", "remove"])
def test_a_force_needs_a_wrench(
    bench: Bench, goal: PressGoal | RemoveGoal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.robot, "wrench", lambda: None)
    bench.refuse(goal, Status.PRECONDITION_FAILED, "no wrench")


def test_refusals(bench: Bench) -> None:
    bench.refuse(PressGoal("a", 1000.0), Status.PRECONDITION_FAILED, "force_n", "146 N")
    bench.refuse(PressGoal("a", -1.0), Status.PRECONDITION_FAILED, "force_n")
    bench.refuse(PressGoal("a", float("nan")), Status.PRECONDITION_FAILED, "force_n")
    for goal in (PressGoal("nobody"), RemoveGoal("nobody")):
        bench.refuse(goal, Status.PRECONDITION_FAILED, "no object 'nobody'")
    bench.refuse(RemoveGoal("wall"), Status.PRECONDITION_FAILED, "wall is fixed")
    assert bench.run(PickGoal("a")).ok
    bench.refuse(RemoveGoal("b"), Status.PRECONDITION_FAILED, "the hand holds a")
    bench.refuse(PressGoal("b"), Status.PRECONDITION_FAILED, "the hand holds a")
