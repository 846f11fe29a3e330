"""Grasp one loose object, prove it is held, lift it."""

from __future__ import annotations

from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, PickGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import PLATE, TABLE, Held, SkillContext, StepFailed
from jarvis_skills.grasp import Grasp, find_grasps, touching
from jarvis_skills.moves import descend, go_to_pose, rise, set_fingers


def pick(ctx: SkillContext, goal: PickGoal) -> dict[str, Fact]:
    """Approach from above, close, verify by width, lift vertically, verify again."""
    if ctx.held is not None:
        raise StepFailed(Status.PRECONDITION_FAILED, f"the hand holds {ctx.held.object.id}; place it first")
    scene = ctx.look()
    thing = ctx.find(scene, goal.object_id)
    if thing.fixed:
        raise StepFailed(Status.PRECONDITION_FAILED, f"{thing.id} is fixed and can't be picked")
    ctx.phase("plan_grasp")
    grasps = find_grasps(ctx, scene, thing, goal.place_pose)
    ctx.update_world(scene)
    grasp = approach(ctx, thing, grasps)
    ctx.phase("close")
    width = set_fingers(ctx, 0.0, "close")
    verify_width(ctx, thing, grasp, width, "closing")
    attach(ctx, scene, thing, grasp)
    ctx.phase("lift")
    # The object stands on something, maybe flush with a neighbour, when the lift begins: that is no collision.
    others = [o for o in scene.objects if o.id != thing.id]
    near = touching(thing.world_boxes(), others, ctx.config.support_gap_m)
    rise(ctx, ctx.config.lift_height_m, "lift", allow_contact=(*near, TABLE, PLATE))
    ctx.phase("verify")
    width = ctx.robot.state().gripper_width_m
    verify_width(ctx, thing, grasp, width, "lifting")
    offset = measure_in_hand(ctx, thing.id)
    return {"object_id": thing.id, "gripper_width_m": width, "held": True, "offset_in_hand_m": offset}


def approach(ctx: SkillContext, thing: RigidObject, grasps: list[Grasp]) -> Grasp:
    """Go to the first grasp that can be reached; the reasons of all others end in the failure's message."""
    reasons: list[str] = []
    for grasp in grasps[: ctx.config.max_plans]:
        above = grasp.tool.translated((0.0, 0.0, ctx.config.approach_height_m))
        try:
            ctx.phase("approach")
            set_fingers(ctx, grasp.width_m + 2 * ctx.config.finger_slack_m, "open")
            go_to_pose(ctx, above, "approach")
            descend(ctx, grasp.tool, "approach", allow_contact=(thing.id,))
        except StepFailed as failure:
            if failure.status is not Status.PLANNING_FAILED:
                raise
            reasons.append(failure.message)
        else:
            return grasp
    raise StepFailed(Status.PLANNING_FAILED, f"no grasp of {thing.id} can be reached: " + "; ".join(reasons))


def verify_width(ctx: SkillContext, thing: RigidObject, grasp: Grasp, width_m: float, when: str) -> None:
    """The pads must stand as far apart as the object is wide."""
    if abs(width_m - grasp.width_m) > ctx.config.width_tolerance_m:
        detach(ctx)
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"after {when} the pads are {width_m * 1e3:.1f} mm apart, {thing.id} is {grasp.width_m * 1e3:.1f} mm "
            "wide: it is not held; look again and retry",
        )


def attach(ctx: SkillContext, scene: Scene, thing: RigidObject, grasp: Grasp) -> None:
    """From now on the object moves with the tool."""
    in_tool: Pose = ctx.robot.state().tool.inverse() @ thing.pose
    ctx.held = Held(thing, in_tool, grasp.width_m)
    ctx.backend.attach(thing.id, [Box(in_tool @ box.pose, box.size_m) for box in thing.boxes])
    ctx.update_world(scene)


def detach(ctx: SkillContext) -> None:
    """The hand is empty."""
    ctx.held = None
    ctx.backend.detach()


def measure_in_hand(ctx: SkillContext, object_id: str) -> float:
    """Look at the object in the hand; returns how far it slipped since the grasp, metres."""
    assert ctx.held is not None
    seen = ctx.look().find(object_id)
    if seen is None:
        return 0.0
    in_tool: Pose = ctx.robot.state().tool.inverse() @ seen.pose
    slip = in_tool.distance_to(ctx.held.in_tool)
    ctx.held = Held(ctx.held.object, in_tool, ctx.held.width_m)
    return slip
