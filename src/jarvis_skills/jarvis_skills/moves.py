"""Motions as skills use them: plan, run, and stop with a reason."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jarvis_core.motion import GripperOutcome, JointTrajectory
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_motion.backend import Plan
from scipy.spatial.transform import Rotation

from jarvis_skills.cell_context import SkillContext, StepFailed


def top_down(position: Sequence[float] | FloatArray, closing_yaw_rad: float) -> Pose:
    """Tool pose (world) pointing straight down at ``position``, closing along ``closing_yaw_rad``."""
    c, s = np.cos(closing_yaw_rad), np.sin(closing_yaw_rad)
    y_axis = np.array([c, s, 0.0])
    z_axis = np.array([0.0, 0.0, -1.0])
    return Pose.from_rotation(position, np.column_stack([np.cross(y_axis, z_axis), y_axis, z_axis]))


def levelled(pose: Pose) -> Pose:
    """The pose, turned by as little as it takes for the axis that is nearest to the vertical to be vertical."""
    rotation = pose.rotation
    axis = int(np.argmax(np.abs(rotation[2])))
    upright = rotation[:, axis] * np.sign(rotation[2, axis])
    tilt = np.cross(upright, (0.0, 0.0, 1.0))
    sine = float(np.linalg.norm(tilt))
    turn = Rotation.from_rotvec(tilt * (np.arcsin(min(sine, 1.0)) / sine if sine > 0.0 else 0.0))
    return Pose.from_rotation(pose.position, turn.as_matrix() @ rotation)


def joints(ctx: SkillContext) -> FloatArray:
    """(n,) measured joint positions."""
    return np.array(ctx.robot.state().joints_rad)


def planned(plan: Plan, what: str) -> JointTrajectory:
    """A plan's trajectory; fails with the planner's reason where there is none."""
    if plan.trajectory is not None:
        return plan.trajectory
    way_out = "; home brings the arm clear" if plan.status is Status.PRECONDITION_FAILED else ""
    raise StepFailed(plan.status, f"{what}: {plan.message}{way_out}")


def run_plan(
    ctx: SkillContext, plan: JointTrajectory, what: str, goal_tolerance_rad: float | None = None
) -> None:
    """Run a trajectory; fails with the controller's reason."""
    ctx.stop_if_canceled(what)
    outcome = ctx.robot.follow(plan, ctx.cancel, goal_tolerance_rad=goal_tolerance_rad)
    if not outcome.status.ok:
        raise StepFailed(outcome.status, f"{what}: {outcome.message}")


def go_to_pose(ctx: SkillContext, tool: Pose, what: str, *, speed: float | None = None) -> None:
    """By a free motion, at travel speed if none is given."""
    plan = ctx.backend.plan_to_pose(joints(ctx), tool, speed=speed or ctx.config.travel_speed)
    run_plan(ctx, planned(plan, what), what)


def go_to_joints(ctx: SkillContext, goal: FloatArray, what: str) -> None:
    plan = ctx.backend.plan_to_joints(joints(ctx), goal, speed=ctx.config.travel_speed)
    run_plan(ctx, planned(plan, what), what)


def go_straight(
    ctx: SkillContext, tool: Pose, what: str, *, speed: float, allow_contact: Sequence[str] = ()
) -> None:
    plan = ctx.backend.plan_line(joints(ctx), tool, speed=speed, allow_contact=allow_contact)
    run_plan(ctx, planned(plan, what), what)


def plan_descent(
    ctx: SkillContext, start: FloatArray, tool: Pose, what: str, allow_contact: Sequence[str] = ()
) -> list[JointTrajectory]:
    """Straight to ``tool`` from above: briskly first, slowly for the last stretch."""
    near = tool.translated((0.0, 0.0, ctx.config.contact_distance_m))
    brisk, slow = ctx.config.approach_speed, ctx.config.contact_speed
    first = planned(ctx.backend.plan_line(start, near, speed=brisk, allow_contact=allow_contact), what)
    last = ctx.backend.plan_line(first.positions[-1], tool, speed=slow, allow_contact=allow_contact)
    return [first, planned(last, what)]


def descend(ctx: SkillContext, tool: Pose, what: str, allow_contact: Sequence[str] = ()) -> None:
    """Down to ``tool``, all of the way or (if a part can't be planned) none of it."""
    for part in plan_descent(ctx, joints(ctx), tool, what, allow_contact):
        run_plan(ctx, part, what)


def rise(ctx: SkillContext, height_m: float, what: str, allow_contact: Sequence[str] = ()) -> None:
    """Straight up from where the tool is."""
    tool = ctx.robot.state().tool.translated((0.0, 0.0, height_m))
    go_straight(ctx, tool, what, speed=ctx.config.approach_speed, allow_contact=allow_contact)


def open_fingers(ctx: SkillContext, width_m: float, what: str) -> float:
    """Open to a width (cut off at what the gripper can do); returns the width reached. Fails when blocked."""
    wanted = min(width_m, ctx.robot_config.gripper.max_width_m)
    reached = _grip(ctx, wanted, what).width_m
    if reached < wanted - ctx.config.width_tolerance_m:
        raise StepFailed(
            Status.EXECUTION_FAILED,
            f"{what}: the fingers opened to {reached * 1e3:.1f} mm of {wanted * 1e3:.1f} mm: something blocks them",
        )
    return reached


def close_fingers(ctx: SkillContext, what: str) -> float:
    """Close until something stops the pads; returns the distance they then have."""
    return _grip(ctx, 0.0, what).width_m


def close_to(ctx: SkillContext, width_m: float, what: str) -> float:
    """Close to a distance of the pads, or until something stops them; returns the distance they then have."""
    return _grip(ctx, width_m, what).width_m


def _grip(ctx: SkillContext, width_m: float, what: str) -> GripperOutcome:
    ctx.stop_if_canceled(what)
    outcome = ctx.robot.grip(width_m, ctx.robot_config.gripper.force_n, ctx.cancel)
    # Plans see the fingers as they stand now, however the command ended.
    ctx.backend.set_gripper_width(ctx.robot.state().gripper_width_m)
    if not outcome.status.ok:
        raise StepFailed(outcome.status, f"{what}: {outcome.message}")
    return outcome


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
