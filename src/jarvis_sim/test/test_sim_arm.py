"""The simulated Panda: frames, trajectories, cancelling, blocking, gripping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from jarvis_core.motion import Cancellation
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]


@pytest.fixture
def arm(make_world: MakeWorld, place: Place, mover: type[Any]) -> Any:
    return mover(make_world([place("a", "3001")]))


def test_the_tool_frame_lies_between_the_pads(arm: Any) -> None:
    """Golden: the simulated pads, the URDF's tool frame and config/robots agree."""
    engine, gripper = arm.world.engine, arm.model.config.gripper
    engine.sync()
    tool = arm.robot.state().tool
    pads = [engine.model.geom(f"pad {i}").id for i in range(2)]
    centres = [tool.inverse() @ engine.data.geom_xpos[pad] for pad in pads]
    half = engine.model.geom_size[pads[0]]
    # The middle of both pads is the tool centre point, along and across the fingers.
    assert np.mean(centres, axis=0) == pytest.approx(np.zeros(3), abs=1.001e-4)
    # The faces are half the width away, on the closing axis y.
    for centre, side in zip(centres, (1, -1), strict=True):
        assert side * centre[1] - half[1] == pytest.approx(arm.robot.state().gripper_width_m / 2, abs=1e-6)
    assert centres[0][2] + half[2] == pytest.approx(gripper.pad_below_tcp_m, abs=1e-6)
    assert 2 * half == pytest.approx([gripper.finger_width_m, gripper.finger_thickness_m, 0.018], abs=1e-6)
    model_tool = arm.model.tool(arm.world.arm.joints)
    assert tool.is_close(model_tool, 1e-6, 1e-6)


def test_the_arm_starts_at_home_with_open_fingers_and_stays_there(arm: Any) -> None:
    home = np.array(arm.model.config.home_rad)
    arm.world.advance(1.0)
    state = arm.robot.state()
    assert np.array(state.joints_rad) == pytest.approx(home, abs=1e-4)
    assert state.gripper_width_m == pytest.approx(0.08, abs=1e-4)
    assert state.time_s == 1.0


def test_a_trajectory_is_followed_closely(arm: Any) -> None:
    ready = np.array(arm.model.config.ready_rad)
    trajectory = arm.trajectory(np.stack([arm.world.arm.joints, ready]), 1.5)
    errors: list[float] = []

    def watch() -> None:
        errors.append(float(np.abs(arm.world.arm.joints - trajectory.sample(arm.world.time_s)).max()))

    handle = arm.world.add_observer(0.01, watch)
    outcome = arm.robot.follow(trajectory)
    arm.world.remove_observer(handle)
    assert outcome.status is Status.SUCCEEDED
    assert max(errors) < 0.005
    assert arm.world.arm.joints == pytest.approx(ready, abs=3e-4)
    assert arm.world.time_s < 1.7


def test_a_cancel_leaves_the_arm_at_a_standstill(arm: Any) -> None:
    arm.ready()
    cancel = Cancellation()
    start = arm.world.time_s
    handle = arm.world.add_observer(0.5, lambda: cancel.cancel() if arm.world.time_s > start + 0.4 else None)
    outcome = arm.robot.follow(arm.line(arm.robot.state().tool.translated((0.0, -0.3, 0.1)), 1.0), cancel)
    arm.world.remove_observer(handle)
    assert outcome.status is Status.CANCELED
    assert arm.world.time_s < start + 0.9
    assert np.abs(arm.world.engine.data.qvel).max() < 0.01
    before = arm.world.arm.joints
    arm.world.advance(0.5)
    assert arm.world.arm.joints == pytest.approx(before, abs=5e-4)
    assert arm.go(arm.robot.state().tool.translated((0.0, 0.05, 0.0))).status is Status.SUCCEEDED


def test_a_cancel_before_the_start_moves_nothing_far(arm: Any) -> None:
    arm.ready()
    cancel = Cancellation()
    cancel.cancel()
    tool = arm.robot.state().tool
    outcome = arm.robot.follow(arm.line(tool.translated((0.0, -0.3, 0.0)), 1.0), cancel)
    assert outcome.status is Status.CANCELED
    assert arm.robot.state().tool.distance_to(tool) < 0.005


def test_a_table_in_the_way_ends_the_motion_with_a_reason(arm: Any) -> None:
    arm.ready()
    tool = arm.robot.state().tool
    outcome = arm.go(Pose((tool.position[0], tool.position[1], -0.10), tool.quaternion), 2.0)
    assert outcome.status is Status.EXECUTION_FAILED
    assert "blocks" in outcome.message
    assert arm.robot.state().tool.position[2] > -0.02
    arm.world.advance(0.2)
    assert np.abs(arm.world.engine.data.qvel).max() < 0.02
    assert arm.lift(0.1).status is Status.SUCCEEDED


def test_the_fingers_open_and_close_to_a_width(arm: Any) -> None:
    for width in (0.03, 0.06, 0.0):
        start = arm.world.time_s
        before = arm.robot.state().gripper_width_m
        outcome = arm.robot.grip(width, 40.0)
        assert outcome.status is Status.SUCCEEDED
        assert not outcome.stalled
        assert outcome.width_m == pytest.approx(width, abs=6e-4)
        speed = abs(before - width) / 2 / (arm.world.time_s - start)
        assert 0.01 < speed <= 0.03


@pytest.mark.parametrize(("part", "width"), [("3001", 0.0158), ("3023", 0.0078)])
def test_a_gripped_brick_stays_in_the_hand(
    make_world: MakeWorld, place: Place, mover: type[Any], part: str, width: float
) -> None:
    arm = mover(make_world([place("a", part)]))
    arm.ready()
    arm.pick("a")
    assert arm.robot.state().gripper_width_m == pytest.approx(width, abs=2e-4)
    held = arm.robot.state().tool.inverse() @ arm.world.state().objects[0].pose
    # A swing of all joints but the last, as fast as the robot may.
    joints = arm.world.arm.controller.desired
    for offset in (0.5, -0.5):
        swung = joints + np.array([offset, -0.2, 0.0, 0.2, 0.3, 0.2, 0.0])
        assert arm.robot.follow(arm.trajectory(np.stack([joints, swung]), 0.8)).status is Status.SUCCEEDED
        assert arm.robot.follow(arm.trajectory(np.stack([swung, joints]), 0.8)).status is Status.SUCCEEDED
    arm.world.advance(5.0)
    now = arm.robot.state().tool.inverse() @ arm.world.state().objects[0].pose
    assert arm.world.is_held("a")
    assert now.distance_to(held) < 0.0005
    assert now.angle_to(held) < np.radians(0.5)


def test_only_what_is_in_the_gripper_is_held(arm: Any) -> None:
    arm.ready()
    assert not arm.world.is_held("a")
    arm.pick("a")
    assert [o.held for o in arm.world.state().objects] == [True]
    assert [o.held for o in arm.world.objects()] == [True]
    arm.robot.grip(0.04, 40.0)
    arm.world.advance(0.5)
    assert not arm.world.is_held("a")
    assert arm.world.state().objects[0].pose.position[2] < 0.05  # it fell
