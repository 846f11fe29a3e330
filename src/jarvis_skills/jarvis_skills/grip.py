"""Bring the fingers to a distance, and know what they then hold."""

from __future__ import annotations

from jarvis_core.objects import RigidObject, Scene
from jarvis_core.skills import Fact, GripGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.grasp import Grasp, options_at
from jarvis_skills.holding import attach, check_hand, detach
from jarvis_skills.moves import close_to, open_fingers

#: A grip counts as this one if its closing direction is this near to the tool's, radians.
_ANGLE_RAD = 0.1


def grip(ctx: SkillContext, goal: GripGoal) -> dict[str, Fact]:
    """Open to a distance of the pads, or close to it until something stops them."""
    widest = ctx.robot_config.gripper.max_width_m
    if not 0.0 <= goal.width_m <= widest:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"the pads can be 0 to {widest} m apart, got {goal.width_m}",
        )
    ctx.phase("grip")
    scene = ctx.look()
    check_hand(ctx, scene)
    if goal.width_m >= ctx.robot.state().gripper_width_m:
        width = open_fingers(ctx, goal.width_m, "grip")
        check_hand(ctx)
    elif ctx.held is not None:
        raise StepFailed(
            Status.PRECONDITION_FAILED, f"the hand holds {ctx.held.object.id}; open it to let go"
        )
    else:
        width = close_to(ctx, goal.width_m, "grip")
        if width > goal.width_m + ctx.config.width_tolerance_m:
            hold_what_is_there(ctx, scene, width)
    if ctx.held is None:
        detach(ctx)
    held = ctx.held
    return {"gripper_width_m": width, "held": held is not None, "object_id": held.object.id if held else ""}


def hold_what_is_there(ctx: SkillContext, scene: Scene, width_m: float) -> None:
    """Take on the object that stopped the pads; fails where what is seen there can't be what they hold."""
    found = [(thing, grasp) for thing in scene.objects for grasp in _between(ctx, thing, width_m)]
    if not found:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"the pads stopped {width_m * 1e3:.1f} mm apart, and nothing of that width is seen between them; open "
            "them, go home and look",
            {"gripper_width_m": width_m},
        )
    thing, grasp = found[0]
    attach(ctx, thing, grasp, width_m)


def _between(ctx: SkillContext, thing: RigidObject, width_m: float) -> list[Grasp]:
    """How the pads could be holding an object as they stand; nothing where they can't."""
    tool = ctx.robot.state().tool
    found = []
    for option in options_at(ctx, thing.world_boxes(), []):
        pose = option.tool_pose()
        across = abs(float(pose.rotation[:, 1] @ tool.rotation[:, 1]))
        away = pose.inverse() @ tool.position
        near = abs(away[1]) < ctx.config.lost_m and abs(away[2]) < ctx.config.lost_m
        beside = abs(away[0]) < ctx.robot_config.gripper.finger_width_m
        same_width = abs(option.width_m - width_m) <= ctx.config.width_tolerance_m
        if near and beside and same_width and across > 1.0 - _ANGLE_RAD**2 / 2:
            found.append(Grasp(tool, option.width_m, option.key))
    return found
