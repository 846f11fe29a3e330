"""What the hand holds: taken on after a grasp, measured again on the way, given up when it is gone."""

from __future__ import annotations

from dataclasses import replace

from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.status import Status

from jarvis_skills.cell_context import Held, SkillContext, StepFailed
from jarvis_skills.grasp import Grasp


def attach(ctx: SkillContext, thing: RigidObject, grasp: Grasp, width_m: float) -> None:
    """From now on the object moves with the tool."""
    in_tool: Pose = ctx.robot.state().tool.inverse() @ thing.pose
    _hold(ctx, Held(thing, in_tool, width_m, grasp.key))


def detach(ctx: SkillContext) -> None:
    """The hand is empty."""
    ctx.held = None
    ctx.backend.detach()


def check_hand(ctx: SkillContext, scene: Scene | None = None) -> str:
    """Give up an object that is no longer in the hand; returns why, or nothing.

    Args:
        scene: what is seen now; without it the pads' distance alone decides.
    """
    why = _loss(ctx, ctx.held, scene) if ctx.held is not None else ""
    if why:
        detach(ctx)
    return why


def require_held(ctx: SkillContext, scene: Scene) -> Held:
    """What the hand holds; fails when it is empty, or found to have lost its object."""
    held = ctx.held
    if held is None:
        raise StepFailed(Status.PRECONDITION_FAILED, "the hand is empty; pick something first")
    require_grip(ctx, held, scene)
    return held


def require_grip(ctx: SkillContext, held: Held, scene: Scene | None = None) -> None:
    """Fails when ``held`` was lost: by the pads' distance, and by a look where there is one."""
    why = check_hand(ctx, scene)
    if why:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{held.object.id} was lost: {why}; look where it lies and pick it again",
        )


def measure_in_hand(ctx: SkillContext) -> float:
    """Look at the object in the hand; returns how far it slipped since it was last measured, metres.

    One that can't be seen (the hand may cover it) counts as where it was. Fails when it was lost.
    """
    scene = ctx.look()
    held = require_held(ctx, scene)
    seen = scene.find(held.object.id)
    if seen is None:
        return 0.0
    in_tool: Pose = ctx.robot.state().tool.inverse() @ seen.pose
    _hold(ctx, replace(held, in_tool=in_tool))
    return in_tool.distance_to(held.in_tool)


def _hold(ctx: SkillContext, held: Held) -> None:
    """Both the skills and the planner know it."""
    ctx.held = held
    ctx.backend.attach(
        held.object.id, [Box(held.in_tool @ box.pose, box.size_m) for box in held.object.boxes]
    )


def _loss(ctx: SkillContext, held: Held, scene: Scene | None) -> str:
    state = ctx.robot.state()
    width = state.gripper_width_m
    if abs(width - held.width_m) > ctx.config.width_tolerance_m:
        return f"the pads are {max(width, 0.0) * 1e3:.1f} mm apart and held it at {held.width_m * 1e3:.1f} mm"
    seen = scene.find(held.object.id) if scene is not None else None
    if seen is None:
        return ""
    away = seen.pose.distance_to(state.tool @ held.in_tool)
    return f"it is seen {away * 1e3:.0f} mm away from the hand" if away > ctx.config.lost_m else ""
