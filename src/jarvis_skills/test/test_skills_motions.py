"""Plain motions and pushes."""

from __future__ import annotations

import math

import msgspec
import numpy as np
import pytest
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import HomeGoal, MoveToGoal, PickAndPlaceGoal, PickGoal, PushGoal, SkillGoal
from jarvis_core.status import Status
from skill_bench import Bench

DOWN = (1.0, 0.0, 0.0, 0.0)
OVER_THE_PLATE = Pose((0.5, 0.14, 0.15), DOWN)


@pytest.mark.parametrize("straight", [False, True])
def test_move_to_reaches_the_pose(bench: Bench, straight: bool) -> None:
    assert bench.run(MoveToGoal(Pose((0.45, 0.0, 0.2), DOWN))).ok
    result = bench.run(MoveToGoal(OVER_THE_PLATE, straight))
    assert result.ok, result
    assert bench.phases == ["move"]
    assert float(result.facts["error_m"]) < 1e-4  # type: ignore[arg-type]
    assert float(result.facts["error_rad"]) < 1e-3  # type: ignore[arg-type]
    assert Pose.from_list(result.facts["tool"]).is_close(OVER_THE_PLATE, 1e-4, 1e-3)  # type: ignore[arg-type]
    assert bench.run(MoveToGoal(OVER_THE_PLATE, straight)).ok  # already there


def test_slower_takes_longer(bench: Bench) -> None:
    there, back = OVER_THE_PLATE, Pose((0.45, -0.2, 0.2), DOWN)
    assert bench.run(MoveToGoal(back)).ok
    fast = bench.run(MoveToGoal(there, False, 1.0)).facts["duration_s"]
    assert bench.run(MoveToGoal(back)).ok
    slow = bench.run(MoveToGoal(there, False, 0.25)).facts["duration_s"]
    assert float(slow) > 2 * float(fast)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("goal", "status", "words"),
    [
        (
            MoveToGoal(OVER_THE_PLATE, False, 0.0),
            Status.PRECONDITION_FAILED,
            "speed must be between 0.01 and 1, got 0",
        ),
        (MoveToGoal(OVER_THE_PLATE, False, 1.5), Status.PRECONDITION_FAILED, "got 1.5"),
        (MoveToGoal(OVER_THE_PLATE, True, -1.0), Status.PRECONDITION_FAILED, "got -1"),
        (MoveToGoal(OVER_THE_PLATE, True, math.nan), Status.PRECONDITION_FAILED, "got nan"),
        (MoveToGoal(Pose((0.5, 0.0, 0.9), DOWN)), Status.PRECONDITION_FAILED, "outside the workspace"),
        (MoveToGoal(Pose((0.5, 0.0, 0.001), DOWN)), Status.PRECONDITION_FAILED, "outside the workspace"),
        (MoveToGoal(Pose((-0.5, 0.0, 0.2), DOWN)), Status.PRECONDITION_FAILED, "outside the workspace"),
        (MoveToGoal(Pose((0.95, 0.55, 0.1), DOWN)), Status.PLANNING_FAILED, "reach"),
        (MoveToGoal(Pose((0.5, 0.190, 0.0135), DOWN)), Status.PLANNING_FAILED, "wall"),
        (MoveToGoal(Pose((0.5, 0.0, 0.004), DOWN)), Status.PLANNING_FAILED, "table"),
    ],
)
def test_motions_that_are_refused(bench: Bench, goal: SkillGoal, status: Status, words: str) -> None:
    bench.refuse(goal, status, words)


def test_a_held_brick_is_kept_off_everything(bench: Bench) -> None:
    assert bench.run(PickGoal("a")).ok
    inside = bench.robot.state().tool
    at_the_wall = Pose((0.496, 0.144, 0.020), inside.quaternion)
    bench.refuse(MoveToGoal(at_the_wall), Status.PLANNING_FAILED, "the held object would touch wall")


def test_home_opens_an_empty_hand_out_of_the_cameras_view(bench: Bench) -> None:
    assert bench.run(MoveToGoal(OVER_THE_PLATE)).ok
    bench.robot.grip(0.01, 10.0)
    result = bench.run(HomeGoal())
    assert result.ok
    assert result.facts["held"] is False
    home = np.array(bench.ctx.robot_config.home_rad)
    assert np.abs(np.array(bench.robot.state().joints_rad) - home).max() < 5e-3
    assert bench.world.arm.width_m == pytest.approx(bench.ctx.robot_config.gripper.max_width_m, abs=1e-3)


def test_home_keeps_what_the_hand_holds(bench: Bench) -> None:
    assert bench.run(PickGoal("a")).ok
    result = bench.run(HomeGoal())
    assert result.ok
    assert result.facts["held"] is True
    assert bench.find("a").held


def test_home_leaves_a_place_between_bricks_upwards(bench: Bench) -> None:
    """The fingers stand around a brick, on the table: the way out is up."""
    assert bench.run(PickGoal("a")).ok
    bench.robot.follow(down(bench, bench.ctx.config.lift_height_m))
    bench.robot.grip(0.019, 40.0)
    bench.ctx.held = None
    bench.backend.detach()
    poses = {name: bench.pose(name) for name in ("a", "b", "dot")}
    assert bench.run(HomeGoal()).ok
    assert bench.phases == ["home", "clear_off"]
    assert all(bench.pose(name).is_close(pose, 5e-4, 0.01) for name, pose in poses.items())


def down(bench: Bench, height: float) -> JointTrajectory:
    """A straight way down, with nothing said about obstacles."""
    bench.backend.set_obstacles([])
    state = bench.robot.state()
    plan = bench.backend.plan_line(
        np.array(state.joints_rad), state.tool.translated((0, 0, -height)), speed=0.2
    )
    assert plan.trajectory is not None
    return plan.trajectory


def test_out_of_a_collision_home_finds_a_way(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A brick is seen where a finger is: measured wrong, or pushed against it."""
    assert bench.run(MoveToGoal(Pose((0.36, -0.09, 0.012), DOWN))).ok
    real = bench.scenes.scene
    inside = Pose((0.36, -0.04, 0.0096))

    def wrong() -> Scene:
        scene = real()
        moved = (msgspec.structs.replace(o, pose=inside) if o.id == "b" else o for o in scene.objects)
        return msgspec.structs.replace(scene, objects=tuple(moved))

    monkeypatch.setattr(bench.scenes, "scene", wrong)
    bench.refuse(
        MoveToGoal(OVER_THE_PLATE), Status.PRECONDITION_FAILED, "would touch b", "home brings the arm clear"
    )
    assert bench.run(HomeGoal()).ok
    assert bench.run(MoveToGoal(OVER_THE_PLATE)).ok


# -- pushes


@pytest.mark.parametrize("angle_deg", range(0, 360, 45))
def test_bricks_are_pushed_in_every_direction(bench: Bench, angle_deg: int) -> None:
    way = np.array([math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg)), 0.0])
    bench.world.move("b", Pose.from_yaw((0.48, -0.18, 0.0096), math.radians(angle_deg)))
    bench.world.advance(0.05)
    start = bench.pose("b")
    result = bench.run(PushGoal("b", (0.02 * way[0], 0.02 * way[1])))
    assert result.ok, result
    assert bench.phases == ["close", "approach", "push", "retreat", "verify"]
    moved = bench.pose("b").position - start.position
    assert moved @ way == pytest.approx(0.02, abs=2e-3)
    assert np.allclose(result.facts["moved_m"], moved, atol=1e-6)
    assert float(result.facts["error_m"]) == pytest.approx(  # type: ignore[arg-type]
        float(np.linalg.norm(moved - 0.02 * way)), abs=1e-6
    )


@pytest.mark.parametrize("name", ["a", "flat", "slope", "dot"])
def test_every_kind_of_brick_is_pushed(bench: Bench, name: str) -> None:
    """Plates are lower than the usual height of the fingertips: these must not pass above them."""
    yaw = bench.pose(name).yaw
    start = bench.pose(name)
    result = bench.run(PushGoal(name, (0.01 * math.cos(yaw), 0.01 * math.sin(yaw))))
    assert result.ok, result
    assert bench.pose(name).distance_to(start) == pytest.approx(0.01, abs=2e-3)


@pytest.mark.parametrize(
    ("goal", "words"),
    [
        (PushGoal("nobody", (0.01, 0.0)), "no object 'nobody'"),
        (PushGoal("wall", (0.01, 0.0)), "wall is fixed"),
        (PushGoal("a", (0.0, 0.0)), "1 to 200 mm far, not 0.0 mm"),
        (PushGoal("a", (0.3, 0.0)), "not 300.0 mm"),
        (PushGoal("a", (math.nan, 0.0)), "not nan mm"),
        (PushGoal("a", (math.inf, 0.0)), "not inf mm"),
    ],
)
def test_pushes_that_are_refused(bench: Bench, goal: PushGoal, words: str) -> None:
    bench.refuse(goal, Status.PRECONDITION_FAILED, words)


def test_nothing_is_pushed_over_the_edge(bench: Bench) -> None:
    bench.world.move("b", Pose((0.40, -0.585, 0.0096)))
    bench.refuse(PushGoal("b", (0.0, -0.02)), Status.PRECONDITION_FAILED, "over the edge of the table")


def test_a_push_with_no_room_behind_the_brick_is_refused_before_it_begins(bench: Bench) -> None:
    """The end of the way is planned before its beginning is gone."""
    bench.world.move("b", Pose.from_yaw((0.48, -0.18, 0.0096), 0.0))
    bench.world.move("a", Pose.from_yaw((0.48 + 0.026, -0.18, 0.0096), 0.0))
    result = bench.run(PushGoal("b", (-0.02, 0.0)))
    assert result.status is Status.PLANNING_FAILED
    assert "would touch a" in result.message
    assert bench.robot.state().tool.position[2] > 0.2


def test_a_brick_on_studs_is_not_pushed_away(bench: Bench) -> None:
    assert bench.run(PickAndPlaceGoal("b", bench.on_plate(7, 5))).ok
    result = bench.run(PushGoal("b", (0.02, 0.0)))
    assert result.status in (Status.EXECUTION_FAILED, Status.VERIFICATION_FAILED), result
    assert bench.pose("b").is_close(bench.on_plate(7, 5), 5e-4, 0.01)
    assert bench.run(HomeGoal()).ok
    assert bench.run(PickGoal("a")).ok


def test_a_push_that_moves_nothing_is_no_success(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The brick is seen where it does not lie: the fingers push air."""
    real = bench.scenes.scene
    elsewhere = Pose((0.36, -0.06, 0.0096))

    def wrong() -> Scene:
        scene = real()
        moved = (msgspec.structs.replace(o, pose=elsewhere) if o.id == "b" else o for o in scene.objects)
        return msgspec.structs.replace(scene, objects=tuple(moved))

    monkeypatch.setattr(bench.scenes, "scene", wrong)
    result = bench.run(PushGoal("b", (0.01, 0.0)))
    assert result.status is Status.VERIFICATION_FAILED
    assert "b moved 0.0 mm of 10.0 mm" in result.message
    assert result.facts["moved_m"] == [0.0, 0.0, 0.0]


def test_something_unseen_between_the_fingers_is_no_push(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The skills believe the hand empty, and the camera does not see what it covers: the width tells."""
    assert bench.run(PickGoal("dot")).ok
    bench.ctx.held = None
    bench.backend.detach()
    real = bench.scenes.scene

    def from_above() -> Scene:
        scene = real()
        return msgspec.structs.replace(scene, objects=tuple(o for o in scene.objects if not o.held))

    monkeypatch.setattr(bench.scenes, "scene", from_above)
    start = bench.pose("a")
    result = bench.skills.run(PushGoal("a", (0.01, 0.0)))
    assert result.status is Status.EXECUTION_FAILED
    assert "between the fingers" in result.message
    assert "home opens them" in result.message
    assert bench.pose("a").is_close(start, 1e-4, 1e-3)
    assert bench.run(HomeGoal()).ok
    assert bench.run(PushGoal("a", (0.01, 0.0))).ok
