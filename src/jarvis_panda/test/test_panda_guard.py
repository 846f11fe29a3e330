"""What stands between a plan and a real arm."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.config import load_default
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray
from jarvis_motion.checks import peaks
from jarvis_motion.timing import timed
from jarvis_panda.config import RealRobotConfig, WorkspaceBox
from jarvis_panda.gripper import Grasp, Move, command, stalled
from jarvis_panda.guard import Guard
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")
CONFIG = load_default("robot_real", RealRobotConfig)
READY = np.array(PANDA.config.ready_rad)
HOME = np.array(PANDA.config.home_rad)
WIDE = WorkspaceBox((-2.0, 2.0), (-2.0, 2.0), (-2.0, 2.0))


def straight(start: FloatArray, goal: FloatArray, share: float = 1.0) -> JointTrajectory:
    limits = PANDA.limits
    return timed(
        PANDA.config.arm_joints,
        np.array([start, goal]),
        max_velocity=limits.velocity * share,
        max_acceleration=limits.acceleration * share * 0.5,
        sample_s=0.01,
    )


def guard(**changes: Any) -> Guard:
    made = Guard(PANDA, msgspec.structs.replace(CONFIG, **changes))
    made.confirm()
    return made


def test_nothing_moves_before_a_person_has_confirmed() -> None:
    fresh = Guard(PANDA, CONFIG)
    (fault,) = fresh.judge(straight(READY, HOME), READY)
    assert "nobody has confirmed" in fault
    fresh.confirm()
    assert fresh.judge(straight(READY, HOME), READY) == ()


def test_a_stop_stays_until_reset_and_then_asks_anew() -> None:
    stopped = guard()
    stopped.stop("emergency stop")
    stopped.stop("something later")
    stopped.confirm()
    assert stopped.judge(straight(READY, HOME), READY)[0].startswith("stopped: emergency stop")
    stopped.reset()
    assert "nobody has confirmed" in stopped.refusal()


@settings(max_examples=15, deadline=None)
@given(turn=st.lists(st.floats(-0.3, 0.3), min_size=7, max_size=7), share=st.floats(0.05, 1.0))
def test_capped_trajectories_keep_the_caps_and_the_path(turn: list[float], share: float) -> None:
    goal = READY + np.array(turn) + 0.01
    raw = straight(READY, goal, share)
    capped = guard().capped(raw)
    found = peaks(capped)
    assert (found.velocity <= PANDA.limits.velocity * CONFIG.velocity_share * 1.001).all()
    assert (found.acceleration <= PANDA.limits.acceleration * CONFIG.acceleration_share * 1.001).all()
    np.testing.assert_array_equal(capped.positions, raw.positions)
    assert capped.duration_s >= raw.duration_s


def test_a_start_away_from_where_the_arm_stands_is_refused() -> None:
    away = READY.copy()
    away[3] += 0.05
    (fault,) = guard().judge(straight(READY, HOME), away)
    assert "0.050 rad from where panda_joint4 is" in fault


def test_the_tool_stays_in_the_workspace() -> None:
    x = PANDA.tool(READY).position[0]
    walled = guard(workspace_m=WorkspaceBox((0.0, float(x) + 0.05), (-0.5, 0.5), (0.0, 0.8)))
    out = READY.copy()
    out[3] += 0.3
    (fault,) = walled.judge(straight(READY, out), READY)
    assert "outside the workspace" in fault
    # Even where it only passes: both ends within, the middle not.
    left, right = READY.copy(), READY.copy()
    left[0], right[0] = -0.9, 0.9
    narrow = guard(workspace_m=WorkspaceBox((0.0, float(x) - 0.05), (-0.6, 0.6), (0.0, 0.8)))
    assert PANDA.tool(left).position[0] < x - 0.05
    assert "outside the workspace" in narrow.judge(straight(left, right), left)[0]


def test_a_tool_that_is_outside_may_come_in_but_not_go_further_out() -> None:
    tool = PANDA.tool(READY).position
    box = WorkspaceBox((0.0, float(tool[0]) - 0.03), (-0.5, 0.5), (0.0, 0.9))
    inside, further = READY.copy(), READY.copy()
    inside[3] -= 0.3
    further[3] += 0.1
    assert guard(workspace_m=box).judge(straight(READY, inside), READY) == ()
    assert guard(workspace_m=box).judge(straight(READY, further), READY) != ()


def test_other_joints_and_joint_limits_are_refused() -> None:
    raw = straight(READY, HOME)
    other = JointTrajectory(tuple("abcdefg"), raw.times_s, raw.positions, raw.velocities, raw.accelerations)
    assert "it moves a, b" in guard().judge(other, READY)[0]
    low = READY.copy()
    low[3] = PANDA.limits.lower[3] - 0.05
    faults = guard(workspace_m=WIDE).judge(straight(READY, low), READY)
    assert any("panda_joint4 leaves its range" in fault for fault in faults)


@pytest.mark.parametrize(("wanted", "allowed"), [(10.0, 10.0), (500.0, CONFIG.max_force_n), (-1.0, 0.0)])
def test_forces_are_cut(wanted: float, allowed: float) -> None:
    assert guard().force(wanted) == allowed


def test_opening_is_a_move_and_closing_a_grasp_that_takes_what_it_finds() -> None:
    gripper = PANDA.config.gripper
    assert command(0.2, 0.03, 20.0, gripper, CONFIG) == Move(gripper.max_width_m, gripper.open_speed_m_s)
    closing = command(0.0158, 0.05, 20.0, gripper, CONFIG)
    assert isinstance(closing, Grasp)
    assert (closing.width, closing.force) == (0.0158, 20.0)
    # Any width it ends at is one: judged by the caller, who knows the brick.
    assert closing.width - closing.inner <= 0.0
    assert closing.width + closing.outer >= gripper.max_width_m
    assert not stalled(0.0158, 0.0160, CONFIG)
    assert stalled(0.0, 0.0158, CONFIG)
