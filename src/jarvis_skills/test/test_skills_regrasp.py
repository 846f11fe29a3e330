"""Taking a brick by other faces, and standing up what fell over."""

from __future__ import annotations

import pytest
from jarvis_core.pose import Pose
from jarvis_core.skills import FlipGoal, PickGoal, PlaceGoal, RegraspGoal
from jarvis_core.status import Status
from skill_bench import ON_ITS_SIDE, UPSIDE_DOWN, Bench, lay

TAKE = ["plan_grasp", "approach", "close", "lift", "verify"]
PUT_DOWN = ["transfer", "descend", "press", "release", "retreat"]


def test_a_brick_is_taken_by_other_faces_that_suit_its_place(bench: Bench) -> None:
    """Gripped by its long sides it can't be let go beside the wall."""
    goal = PlaceGoal(bench.on_plate(0, 2))
    assert bench.run(PickGoal("a")).ok
    bench.refuse(goal, Status.PLANNING_FAILED, "can't be let go there")
    others = {name: bench.pose(name) for name in ("b", "flat", "slope", "dot", "wall")}
    result = bench.run(RegraspGoal(goal.pose))
    assert result.ok, result
    assert bench.phases == ["plan_spot", *PUT_DOWN, *TAKE]
    assert result.facts["gripper_width_m"] == pytest.approx(0.032, abs=1e-3)
    assert bench.find("a").held
    # It was put down on the table.
    x, y, z = result.facts["put_down"][:3]  # type: ignore[index]
    assert z == pytest.approx(0.0096, abs=1e-4)
    assert bench.ctx.cell.table.contains(x, y)
    assert all(bench.pose(name).is_close(pose, 1e-4, 1e-3) for name, pose in others.items())
    assert bench.run(goal).ok
    assert bench.pose("a").is_close(goal.pose, 1e-4, 1e-3)


def test_refused_regrasps(bench: Bench) -> None:
    bench.refuse(RegraspGoal(), Status.PRECONDITION_FAILED, "the hand is empty")
    assert bench.run(PickGoal("a")).ok
    bench.refuse(RegraspGoal(Pose((2.0, 0.0, 0.1))), Status.PRECONDITION_FAILED, "outside the workspace")
    bench.refuse(RegraspGoal(bench.on_plate(0, 0)), Status.PRECONDITION_FAILED, "overlap wall")
    bench.world.move("b", bench.on_plate(3, 2))
    bench.world.advance(0.05)
    nowhere = RegraspGoal(bench.on_plate(0, 2))
    bench.refuse(nowhere, Status.PLANNING_FAILED, "no other grip of a works at its place", "b")


def test_a_brick_upside_down_is_laid_on_its_side_and_stood_up(bench: Bench) -> None:
    lay(bench, "a", Pose.from_yaw((0.0, 0.0, 0.0), 0.4) @ Pose((0.0, 0.0, 0.0), UPSIDE_DOWN))
    result = bench.run(FlipGoal("a"))
    assert result.ok, result
    assert bench.phases == 2 * [*TAKE, *PUT_DOWN]
    assert result.facts["turns"] == 2
    assert bench.pose("a").rotation[2, 2] > 0.9999
    assert bench.pose("a").position[2] == pytest.approx(0.0096, abs=1e-4)


def test_refused_flips(bench: Bench) -> None:
    bench.refuse(FlipGoal("nobody"), Status.PRECONDITION_FAILED, "no object 'nobody'")
    bench.refuse(FlipGoal("a"), Status.PRECONDITION_FAILED, "a stands on its base already")
    lay(bench, "flat", Pose((0.0, 0.0, 0.0), UPSIDE_DOWN), at=(0.42, -0.24))
    bench.refuse(FlipGoal("flat"), Status.PLANNING_FAILED, "on 3.2 mm it would not stand 16.0 mm high")
    lay(bench, "dot", Pose((0.0, 0.0, 0.0), ON_ITS_SIDE), at=(0.48, -0.3))
    bench.refuse(FlipGoal("dot"), Status.PLANNING_FAILED, "too small: leaning pads would hold")
    bench.world.move("b", Pose(bench.pose("a").position + [0.0, 0.0, 0.0176], ON_ITS_SIDE))
    bench.world.advance(0.05)
    bench.refuse(FlipGoal("b"), Status.PRECONDITION_FAILED, "b lies on a")
