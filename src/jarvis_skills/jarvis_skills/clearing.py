"""Getting clear of whatever the hand stands at, before a free motion: skills may end (or be stopped) anywhere."""

from __future__ import annotations

import logging

from jarvis_core.objects import Box, Scene
from jarvis_core.pose import Pose
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.grasp import overlap_depths, touching
from jarvis_skills.moves import open_fingers, rise

logger = logging.getLogger(__name__)

#: How much of the hand's body above the fingers is looked at.
HAND_HEIGHT_M = 0.06
#: What reaches this far into the space between the pads is between them.
_BETWEEN_M = 0.0005


def clear_off(ctx: SkillContext, scene: Scene) -> None:
    """Straight up if anything is close to the hand or to what it holds; an object left between the pads is let go.

    Where that is impossible the arm stays: the free motion that follows may find a way, or tells what is wrong.
    """
    obstacles = ctx.obstacles(scene)
    near = touching(hand_boxes(ctx), obstacles, ctx.config.contact_distance_m)
    if not near:
        return
    ctx.phase("clear_off")
    ctx.update_world(scene)
    try:
        width = ctx.robot.state().gripper_width_m
        between = overlap_depths([gap_box(ctx)], obstacles)
        if ctx.held is None and max(between.values()) > _BETWEEN_M:
            open_fingers(ctx, width + 2 * ctx.config.finger_slack_m, "clear off")
        rise(ctx, ctx.config.lift_height_m, "clear off", allow_contact=near)
    except StepFailed as failure:
        if failure.status is Status.CANCELED:
            raise
        logger.warning("%s", failure.message)


def hand_boxes(ctx: SkillContext) -> list[Box]:
    """Fingers, hand and held object where they are now, as boxes in ``world``."""
    gripper, state = ctx.robot_config.gripper, ctx.robot.state()
    across, along = gripper.hand_size_m
    below, top = gripper.pad_below_tcp_m, gripper.pad_below_tcp_m - gripper.finger_length_m
    outside = state.gripper_width_m + 2 * gripper.finger_thickness_m
    local = [
        Box(Pose((0.0, 0.0, (below + top) / 2)), (gripper.finger_width_m, outside, gripper.finger_length_m)),
        Box(Pose((0.0, 0.0, top - HAND_HEIGHT_M / 2)), (across, along, HAND_HEIGHT_M)),
    ]
    if ctx.held is not None:
        local += [Box(ctx.held.in_tool @ box.pose, box.size_m) for box in ctx.held.object.boxes]
    return [Box(state.tool @ box.pose, box.size_m) for box in local]


def gap_box(ctx: SkillContext) -> Box:
    """The space between the pads, in ``world``."""
    gripper, state = ctx.robot_config.gripper, ctx.robot.state()
    size = (gripper.finger_width_m, max(state.gripper_width_m, 1e-4), 2 * gripper.pad_below_tcp_m)
    return Box(state.tool, size)
