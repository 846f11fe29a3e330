"""Push an object over what it lies on with closed fingers."""

from __future__ import annotations

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import RigidObject
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.skills import Fact, PushGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.holding import check_hand
from jarvis_skills.moves import (
    check_workspace,
    close_fingers,
    joints,
    plan_descent,
    planned,
    rise,
    run_plan,
    top_down,
)


def push(ctx: SkillContext, goal: PushGoal) -> dict[str, Fact]:
    """Touch the object on the far side of the direction, push it by the offset, look what came of it."""
    offset = np.array([*goal.offset_m, 0.0])
    distance = float(np.linalg.norm(offset))
    if not 0.001 <= distance <= 0.2:
        raise StepFailed(
            Status.PRECONDITION_FAILED, f"a push goes 1 to 200 mm far, not {distance * 1e3:.1f} mm"
        )
    scene = ctx.look()
    check_hand(ctx, scene)
    if ctx.held is not None:
        raise StepFailed(Status.PRECONDITION_FAILED, f"the hand holds {ctx.held.object.id}; place it first")
    thing = ctx.find(scene, goal.object_id)
    if thing.fixed:
        raise StepFailed(Status.PRECONDITION_FAILED, f"{thing.id} is fixed")
    check_stays_on_table(ctx, thing, offset)
    way = offset / distance
    start = start_of_push(ctx, thing, way)
    end = start.translated(way * (ctx.config.push_clearance_m + distance))
    check_workspace(ctx, end, "the end of the push")
    clear_off(ctx, scene)
    ctx.update_world(scene)
    ctx.phase("close")
    close_empty(ctx)
    ctx.phase("approach")
    *approach, stroke = plan_push(ctx, thing, start, end)
    for part in approach:
        run_plan(ctx, part, "approach")
    ctx.phase("push")
    run_plan(ctx, stroke, "push")
    ctx.phase("retreat")
    rise(ctx, ctx.config.lift_height_m, "retreat", allow_contact=(thing.id,))
    ctx.robot.wait(ctx.config.settle_s)
    ctx.phase("verify")
    return verify(ctx, thing, offset)


def check_stays_on_table(ctx: SkillContext, thing: RigidObject, offset: FloatArray) -> None:
    """Nothing is pushed over the edge."""
    if not all(ctx.cell.table.contains(float(x), float(y)) for x, y, _ in corners(thing) + offset):
        table = ctx.cell.table
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"{thing.id} would reach over the edge of the table (x {table.x}, y {table.y}); push it elsewhere",
        )


def start_of_push(ctx: SkillContext, thing: RigidObject, way: FloatArray) -> Pose:
    """Tool pose behind the object, the flat of one closed fingertip towards it."""
    gripper, config = ctx.robot_config.gripper, ctx.config
    bounds = corners(thing)
    bottom, top = float(bounds[:, 2].min()), float(bounds[:, 2].max())
    point = middle(thing) - way * (
        reach_along(thing, -way) + gripper.finger_thickness_m + config.push_clearance_m
    )
    # Plates are lower than the usual height above what they lie on.
    point[2] = bottom + min(config.push_height_m, (top - bottom) / 2) + gripper.pad_below_tcp_m
    return top_down(point, float(np.arctan2(way[1], way[0])))


def plan_push(ctx: SkillContext, thing: RigidObject, start: Pose, end: Pose) -> list[JointTrajectory]:
    """All of the way before any of it is gone: to above the start, down, and the push itself."""
    above = start.translated((0.0, 0.0, ctx.config.approach_height_m))
    free = ctx.backend.plan_to_pose(joints(ctx), above, speed=ctx.config.travel_speed)
    parts = [planned(free, "approach")]
    parts += plan_descent(ctx, parts[-1].positions[-1], start, "approach")
    stroke = ctx.backend.plan_line(
        parts[-1].positions[-1], end, speed=ctx.config.contact_speed, allow_contact=(thing.id,)
    )
    return [*parts, planned(stroke, "push")]


def close_empty(ctx: SkillContext) -> None:
    """Close the fingers on nothing."""
    width = close_fingers(ctx, "close")
    if width > ctx.config.width_tolerance_m:
        raise StepFailed(
            Status.EXECUTION_FAILED,
            f"close: something {width * 1e3:.1f} mm wide is between the fingers; home opens them",
        )


def verify(ctx: SkillContext, thing: RigidObject, offset: FloatArray) -> dict[str, Fact]:
    """It must have gone a good part of the way: pushed at a corner it turns, and gets less far."""
    moved = ctx.find(ctx.look(), thing.id).pose.position - thing.pose.position
    facts: dict[str, Fact] = {"moved_m": moved.tolist(), "error_m": float(np.linalg.norm(moved - offset))}
    distance = float(np.linalg.norm(offset))
    gone = float(moved @ offset) / distance
    if gone < distance / 4:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{thing.id} moved {gone * 1e3:.1f} mm of {distance * 1e3:.1f} mm: something holds it",
            facts,
        )
    return facts


def corners(thing: RigidObject) -> FloatArray:
    """(n, 3) corners of all boxes of an object in ``world``."""
    signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return np.concatenate([box.pose @ (signs * np.array(box.size_m)) for box in thing.world_boxes()])


def middle(thing: RigidObject) -> FloatArray:
    """(3,) middle of an object's bounding box in ``world``."""
    points = corners(thing)
    centre: FloatArray = (points.min(axis=0) + points.max(axis=0)) / 2
    return centre


def reach_along(thing: RigidObject, direction: FloatArray) -> float:
    """How far an object reaches from its middle along a unit direction, metres."""
    return float(((corners(thing) - middle(thing)) @ direction).max())
