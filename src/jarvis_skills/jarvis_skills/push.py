"""Push an object over the table with closed fingers."""

from __future__ import annotations

import numpy as np
from jarvis_core.objects import RigidObject
from jarvis_core.pose import FloatArray
from jarvis_core.skills import Fact, PushGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.moves import check_workspace, descend, go_straight, go_to_pose, rise, set_fingers, top_down


def push(ctx: SkillContext, goal: PushGoal) -> dict[str, Fact]:
    """Touch the object on the far side of the direction and push it by the offset."""
    offset = np.array([*goal.offset_m, 0.0])
    distance = float(np.linalg.norm(offset))
    if ctx.held is not None:
        raise StepFailed(Status.PRECONDITION_FAILED, f"the hand holds {ctx.held.object.id}; place it first")
    if not 0.001 <= distance <= 0.2:
        raise StepFailed(
            Status.PRECONDITION_FAILED, f"a push goes 1 to 200 mm far, not {distance * 1e3:.1f} mm"
        )
    scene = ctx.look()
    thing = ctx.find(scene, goal.object_id)
    if thing.fixed:
        raise StepFailed(Status.PRECONDITION_FAILED, f"{thing.id} is fixed")
    direction = offset / distance
    gripper = ctx.robot_config.gripper
    # Closing along the direction of the push puts the flat of one fingertip against the object.
    behind = reach_along(thing, -direction) + gripper.finger_thickness_m + ctx.config.push_clearance_m
    start = middle(thing) - direction * behind
    start[2] = ctx.config.push_height_m + gripper.pad_below_tcp_m
    tool = top_down(start, float(np.arctan2(direction[1], direction[0])))
    end = tool.translated(direction * (ctx.config.push_clearance_m + distance))
    check_workspace(ctx, end, "the end of the push")
    ctx.update_world(scene)
    ctx.phase("close")
    set_fingers(ctx, 0.0, "close")
    ctx.phase("approach")
    go_to_pose(ctx, tool.translated((0.0, 0.0, ctx.config.approach_height_m)), "approach")
    descend(ctx, tool, "approach")
    ctx.phase("push")
    go_straight(ctx, end, "push", speed=ctx.config.contact_speed, allow_contact=(thing.id,))
    ctx.phase("retreat")
    rise(ctx, ctx.config.lift_height_m, "retreat", allow_contact=(thing.id,))
    ctx.robot.wait(ctx.config.settle_s)
    moved = ctx.find(ctx.look(), thing.id).pose.position - thing.pose.position
    return {"moved_m": moved.tolist(), "error_m": float(np.linalg.norm(moved - offset))}


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
