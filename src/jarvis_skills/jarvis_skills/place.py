"""Put the held object down, press it on, let go, and look whether it sits."""

from __future__ import annotations

import numpy as np
from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, PlaceGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import PLATE, TABLE, SkillContext, StepFailed
from jarvis_skills.grasp import bottom_z, overlap_depths, touching
from jarvis_skills.moves import check_workspace, descend, go_to_pose, press, rise, set_fingers
from jarvis_skills.pick import detach, measure_in_hand


def place(ctx: SkillContext, goal: PlaceGoal) -> dict[str, Fact]:
    """Move above the target, descend vertically, press, open in place, retreat, verify by look."""
    held = ctx.held
    if held is None:
        raise StepFailed(Status.PRECONDITION_FAILED, "the hand is empty; pick something first")
    check_workspace(ctx, goal.pose, "the place pose")
    scene = ctx.look()
    near = check_place(ctx, scene, held.object, goal.pose)
    measure_in_hand(ctx, held.object.id)
    tool = tool_at(ctx, goal.pose)
    ctx.update_world(scene)
    ctx.phase("transfer")
    go_to_pose(ctx, tool.translated((0.0, 0.0, ctx.config.approach_height_m)), "transfer")
    # What happened on the way is seen before the last stretch.
    measure_in_hand(ctx, held.object.id)
    tool = tool_at(ctx, goal.pose)
    ctx.phase("descend")
    contacts = (*near, TABLE, PLATE)
    descend(ctx, tool.translated((0.0, 0.0, ctx.config.seat_gap_m)), "descend", allow_contact=contacts)
    ctx.phase("press")
    press(ctx, "press", contacts)
    ctx.robot.wait(ctx.config.settle_s)
    ctx.phase("release")
    width = set_fingers(ctx, held.width_m + 2 * ctx.config.finger_slack_m, "release")
    detach(ctx)
    ctx.phase("retreat")
    ctx.update_world(scene, leave_out=(held.object.id,))
    rise(ctx, ctx.config.lift_height_m, "retreat", allow_contact=contacts)
    ctx.robot.wait(ctx.config.settle_s)
    ctx.phase("verify")
    return verify(ctx, held.object.id, goal.pose, width)


def tool_at(ctx: SkillContext, pose: Pose) -> Pose:
    """Tool pose that brings the held object to ``pose``."""
    assert ctx.held is not None
    tool: Pose = pose @ ctx.held.in_tool.inverse()
    return tool


def check_place(ctx: SkillContext, scene: Scene, thing: RigidObject, pose: Pose) -> tuple[str, ...]:
    """Is the pose free and supported? Returns the ids of the objects that will be touched."""
    others = [o for o in scene.objects if o.id != thing.id]
    boxes = tuple(Box(pose @ box.pose, box.size_m) for box in thing.boxes)
    depths = overlap_depths(boxes, others)
    deepest = max(depths, key=lambda name: depths[name], default="")
    if deepest and depths[deepest] > ctx.config.overlap_m:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"at this pose {thing.id} would overlap {deepest} by {depths[deepest] * 1e3:.1f} mm; choose a free place",
        )
    near = touching(boxes, others, ctx.config.support_gap_m)
    base = ctx.cell.plate.pose.position[2]
    lowest = bottom_z(boxes)
    if not near and lowest - base > ctx.config.support_gap_m:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"nothing carries {thing.id} at this pose: its underside would hang {(lowest - base) * 1e3:.1f} mm above "
            "the plate with no object below",
        )
    return near


def verify(ctx: SkillContext, object_id: str, pose: Pose, width_m: float) -> dict[str, Fact]:
    """Look whether the object is where it should be."""
    seen = ctx.look().find(object_id)
    if seen is None:
        raise StepFailed(Status.VERIFICATION_FAILED, f"{object_id} is not seen after placing it")
    error, angle = seen.pose.distance_to(pose), seen.pose.angle_to(pose)
    facts: dict[str, Fact] = {
        "object_id": object_id,
        "error_m": error,
        "error_rad": angle,
        "gripper_width_m": width_m,
        "held": False,
    }
    if error > ctx.config.place_position_m or angle > ctx.config.place_angle_rad:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{object_id} lies {error * 1e3:.1f} mm and {np.degrees(angle):.1f} deg from its place",
            facts,
        )
    return facts
