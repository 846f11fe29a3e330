"""Straight lines solved in wide steps: refined where that is not straight enough, checked between them."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_motion.backend import MotionBackend, Obstacle
from jarvis_motion.checks import dense_positions, extremes
from jarvis_motion.config import LineConfig, MotionConfig
from jarvis_motion.factory import BACKENDS, make_backend
from jarvis_motion.lines import LineFault, ToolLine, deviation_message, follow_line
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")
CONFIG = load_default("motion", MotionConfig)
LINE = CONFIG.line
ONE_STEP = {
    "telling_step_m": LINE.step_m,
    "telling_turn_step_rad": LINE.turn_step_rad,
    "finest_step_m": LINE.step_m,
    "finest_turn_step_rad": LINE.turn_step_rad,
}
#: A line that bends the arm much: with points 8 mm apart the tool leaves it by 0.31 mm.
CURVED_START = np.array([0.368, 0.75, -0.457, -1.723, 0.145, 3.115, 0.043])
CURVED_GOAL = Pose((0.7378, -0.0088, 0.2051), (-0.6718, -0.7362, -0.0451, 0.0691))


def panda(**line: float) -> MotionBackend:
    """The default backend with other values of ``line``."""
    return make_backend(PANDA, msgspec.structs.replace(CONFIG, line=msgspec.structs.replace(LINE, **line)))


def test_a_line_that_needs_closer_points_gets_them() -> None:
    refused = panda(**ONE_STEP).plan_line(CURVED_START, CURVED_GOAL)
    assert refused.status is Status.PLANNING_FAILED
    assert refused.message == "the tool would leave the straight line by 0.31 mm (tolerance 0.20 mm)"
    plan = panda().plan_line(CURVED_START, CURVED_GOAL)
    assert plan.trajectory is not None, plan.message
    dense = PANDA.tool_matrices(dense_positions(plan.trajectory, 0.002))
    gap_m, gap_rad = ToolLine(PANDA.tool(CURVED_START), CURVED_GOAL).deviations(dense)
    assert gap_m <= LINE.tolerance_m
    assert gap_rad <= LINE.tolerance_rad


def test_what_left_the_line_is_named_with_its_unit() -> None:
    turned = panda(**ONE_STEP, tolerance_m=0.001, tolerance_rad=0.001)
    assert turned.plan_line(CURVED_START, CURVED_GOAL).message == (
        "the tool would leave the straight line by 0.10 deg (tolerance 0.06 deg)"
    )
    assert deviation_message(0.0003, 0.01, 0.0002, 0.002) == (
        "the tool would leave the straight line by 0.30 mm (tolerance 0.20 mm) and 0.57 deg (tolerance 0.11 deg)"
    )
    assert deviation_message(0.0002, 0.002, 0.0002, 0.002) == ""


def test_what_is_touched_between_two_wide_points_is_found() -> None:
    """A thin blade in the hand goes through a thin one on the table, half-way between two points."""
    backend = panda()
    start = backend.inverse(Pose((0.5, -0.2, 0.2), (1.0, 0.0, 0.0, 0.0)), np.array(PANDA.config.ready_rad))
    assert start is not None
    line = ToolLine(PANDA.tool(start), PANDA.tool(start).translated((0.0, 0.12, 0.0)))
    points = line.poses(LINE.step_m, LINE.turn_step_rad)
    middle = (points[7].position + points[8].position) / 2
    blade = Obstacle("blade", Box(Pose(middle - (0.0, 0.0, 0.14)), (0.05, 0.002, 0.1)))
    backend.attach("held", [Box(Pose((0.0, 0.0, 0.06)), (0.05, 0.002, 0.1))])
    backend.set_obstacles([blade])
    path = follow_line(points, start, backend.inverse, LINE.max_joint_step_rad)
    assert not isinstance(path, LineFault)
    # Every single point is free.
    for joints in path:
        assert backend.plan_to_joints(joints, joints).status is Status.SUCCEEDED
    plan = backend.plan_line(start, line.end)
    assert plan.status is Status.PLANNING_FAILED
    assert "the held object would touch blade" in plan.message


@pytest.mark.parametrize("name", [name for name in ("roboplan", "ompl") if BACKENDS[name].installed])
def test_a_joint_out_of_its_range_between_two_wide_points_is_found(name: str) -> None:
    """Of six joints that have one way to follow a line, one turns back between two points, just beyond its range."""
    robot = RobotModel.load("ur5")
    backend = make_backend(robot, msgspec.structs.replace(CONFIG, backend=name))
    ready = np.array(robot.config.ready_rad)
    start = backend.inverse(Pose((0.3, -0.1, 0.1), robot.tool(ready).quaternion), ready)
    assert start is not None
    line = ToolLine(robot.tool(start), robot.tool(start).translated((0.0, 0.2, 0.0)))
    wide = follow_line(
        line.poses(LINE.step_m, LINE.turn_step_rad), start, backend.inverse, LINE.max_joint_step_rad
    )
    assert not isinstance(wide, LineFault)
    free = backend.plan_line(start, line.end)
    assert free.trajectory is not None, free.message
    joint = robot.config.arm_joints.index("shoulder_lift_joint")
    at_points, between = wide[:, joint].min(), extremes(free.trajectory)[0][joint]
    assert between < at_points - 5e-5
    lower: FloatArray = robot.limits.lower.copy()
    lower[joint] = (at_points + between) / 2
    robot.limits = dataclasses.replace(robot.limits, lower=lower)
    plan = backend.plan_line(start, line.end)
    assert plan.status is Status.PLANNING_FAILED
    assert "joint limit" in plan.message
    assert "shoulder_lift_joint" in plan.message


def test_steps_are_halved_from_the_first_to_the_finest() -> None:
    steps = list(LINE.steps())
    assert steps[0][:2] == (LINE.step_m, LINE.turn_step_rad)
    assert steps[-1] == (LINE.finest_step_m, LINE.finest_turn_step_rad, True)
    assert all(b[0] >= a[0] / 2 and b[1] >= a[1] / 2 for a, b in pairwise(steps))
    assert [telling for *_, telling in steps] == sorted(telling for *_, telling in steps)


def test_steps_out_of_order_are_refused() -> None:
    values = msgspec.structs.asdict(LINE) | {"finest_step_m": 0.003}
    with pytest.raises(msgspec.ValidationError, match="finest_step_m <= telling_step_m <= step_m must hold"):
        msgspec.convert(values, LineConfig)
