"""Motions as skills use them: plan, run, and stop with a reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_motion.backend import Plan

from jarvis_skills.cell_context import SkillContext, StepFailed


def top_down(position: Sequence[float] | FloatArray, closing_yaw_rad: float) -> Pose:
    """Tool pose (world) pointing straight down at ``position``, closing along ``closing_yaw_rad``."""
    c, s = np.cos(closing_yaw_rad), np.sin(closing_yaw_rad)
    y_axis = np.array([c, s, 0.0])
    z_axis = np.array([0.0, 0.0, -1.0])
    return Pose.from_rotation(position, np.column_stack([np.cross(y_axis, z_axis), y_axis, z_axis]))


def joints(ctx: SkillContext) -> FloatArray:
    """(n,) measured joint positions."""
    return np.array(ctx.robot.state().joints_rad)


def run_plan(ctx: SkillContext, plan: Plan, what: str, goal_tolerance_rad: float | None = None) -> None:
    """Run a plan; raises StepFailed with the planner's or the controller's reason."""
    if plan.trajectory is None:
        raise StepFailed(plan.status, f"{what}: {plan.message}")
    outcome = ctx.robot.follow(plan.trajectory, ctx.cancel, goal_tolerance_rad=goal_tolerance_rad)
    if not outcome.status.ok:
        raise StepFailed(outcome.status, f"{what}: {outcome.message}")


def go_to_pose(ctx: SkillContext, tool: Pose, what: str) -> None:
    run_plan(ctx, ctx.backend.plan_to_pose(joints(ctx), tool, speed=ctx.config.travel_speed), what)


def go_to_joints(ctx: SkillContext, goal: FloatArray, what: str) -> None:
    run_plan(ctx, ctx.backend.plan_to_joints(joints(ctx), goal, speed=ctx.config.travel_speed), what)


def go_straight(
    ctx: SkillContext, tool: Pose, what: str, *, speed: float, allow_contact: Sequence[str] = ()
) -> None:
    run_plan(ctx, ctx.backend.plan_line(joints(ctx), tool, speed=speed, allow_contact=allow_contact), what)


def descend(ctx: SkillContext, tool: Pose, what: str, allow_contact: Sequence[str] = ()) -> None:
    """Straight to ``tool`` from above: briskly first, slowly for the last stretch."""
    near = tool.translated((0.0, 0.0, ctx.config.contact_distance_m))
    go_straight(ctx, near, what, speed=ctx.config.approach_speed, allow_contact=allow_contact)
    go_straight(ctx, tool, what, speed=ctx.config.contact_speed, allow_contact=allow_contact)


def press(ctx: SkillContext, what: str, allow_contact: Sequence[str]) -> None:
    """Push straight down a little. Something is meant to be in the way: stopping short is no failure."""
    tool = ctx.robot.state().tool.translated((0.0, 0.0, -ctx.config.press_depth_m))
    speed = ctx.config.contact_speed
    plan = ctx.backend.plan_line(joints(ctx), tool, speed=speed, allow_contact=allow_contact)
    run_plan(ctx, plan, what, ctx.config.press_tolerance_rad)


def rise(ctx: SkillContext, height_m: float, what: str, allow_contact: Sequence[str] = ()) -> None:
    """Straight up from where the tool is."""
    tool = ctx.robot.state().tool.translated((0.0, 0.0, height_m))
    go_straight(ctx, tool, what, speed=ctx.config.approach_speed, allow_contact=allow_contact)


def set_fingers(ctx: SkillContext, width_m: float, what: str) -> float:
    """Bring the pads to a width; returns the width reached. Opening wider than the gripper can is cut off."""
    gripper = ctx.robot_config.gripper
    outcome = ctx.robot.grip(min(width_m, gripper.max_width_m), gripper.force_n, ctx.cancel)
    if not outcome.status.ok:
        raise StepFailed(outcome.status, f"{what}: {outcome.message}")
    # Plans see the fingers as they stand now.
    ctx.backend.set_gripper_width(outcome.width_m)
    return outcome.width_m


def check_workspace(ctx: SkillContext, pose: Pose, what: str) -> None:
    """Refuse coordinates outside the cell's workspace."""
    x, y, z = pose.position
    low, high = ctx.cell.workspace_z_m
    if not ctx.cell.table.contains(float(x), float(y)) or not low <= z <= high:
        table = ctx.cell.table
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"{what} ({x:.3f}, {y:.3f}, {z:.3f}) m lies outside the workspace x {table.x}, y {table.y}, "
            f"z {ctx.cell.workspace_z_m}",
        )
