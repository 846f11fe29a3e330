"""Grasp, prove it is held, lift; and once more, after a new look, where that did not hold."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import RigidObject, Scene
from jarvis_core.skills import Fact
from jarvis_core.status import Status
from jarvis_motion.backend import Obstacle

from jarvis_skills.cell_context import PLATE, TABLE, SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.grasp import Grasp, carriers, touching
from jarvis_skills.holding import attach, check_hand, measure_in_hand
from jarvis_skills.moves import (
    close_fingers,
    go_to_joints,
    joints,
    open_fingers,
    plan_descent,
    planned,
    rise,
    run_plan,
)

#: The usable grasps of an object, best first; raises StepFailed where there are none.
Choose = Callable[[Scene, RigidObject], list[Grasp]]


class GraspMissed(StepFailed):
    """The hand closed, and the object is not in it."""


def take(ctx: SkillContext, scene: Scene, thing: RigidObject, choose: Choose) -> dict[str, Fact]:
    """Bring an object into the hand; the facts tell whether it took a second try, and why."""
    ctx.phase("plan_grasp")
    grasps = choose(scene, thing)
    clear_off(ctx, scene)
    ctx.update_world(scene)
    grasp = approach(ctx, thing, grasps)
    try:
        return grip_and_lift(ctx, scene, thing, grasp) | {"attempts": 1, "missed": ""}
    except GraspMissed as miss:
        why = miss.message
    facts: dict[str, Fact] = {"attempts": 2, "missed": why}
    try:
        return take_again(ctx, thing.id, choose, grasp) | facts
    except StepFailed as failure:
        raise StepFailed(
            failure.status, f"{failure.message} (at the second try; the first: {why})", failure.facts | facts
        ) from failure


def take_again(ctx: SkillContext, object_id: str, choose: Choose, tried: Grasp) -> dict[str, Fact]:
    """Out of the camera's view, look where the object lies now, take it by another grip if there is one."""
    ctx.phase("look_again")
    scene = ctx.look()
    clear_off(ctx, scene)
    ctx.update_world(scene)
    go_to_joints(ctx, np.array(ctx.robot_config.home_rad), "look again")
    ctx.robot.wait(ctx.config.settle_s)
    scene = ctx.look()
    if scene.find(object_id) is None:
        raise StepFailed(Status.VERIFICATION_FAILED, f"{object_id} is not seen any more")
    thing = check_pick(ctx, scene, object_id)
    ctx.phase("plan_grasp")
    grasps = sorted(choose(scene, thing), key=lambda grasp: grasp.key == tried.key)
    ctx.update_world(scene)
    return grip_and_lift(ctx, scene, thing, approach(ctx, thing, grasps))


def grip_and_lift(ctx: SkillContext, scene: Scene, thing: RigidObject, grasp: Grasp) -> dict[str, Fact]:
    """From open fingers around the object; raises GraspMissed where it is not in the hand after that."""
    ctx.phase("close")
    close(ctx, thing, grasp)
    ctx.update_world(scene)
    ctx.phase("lift")
    # The object stands on something, maybe flush with a neighbour, when the lift begins: that is no collision.
    near = touching(thing.world_boxes(), ctx.obstacles(scene), ctx.config.support_gap_m)
    rise(ctx, ctx.config.lift_height_m, "lift", allow_contact=(*near, TABLE, PLATE))
    ctx.phase("verify")
    try:
        offset = measure_in_hand(ctx)
    except StepFailed as failure:
        if ctx.held is not None:
            raise
        raise GraspMissed(failure.status, failure.message) from failure
    width = ctx.robot.state().gripper_width_m
    return {"object_id": thing.id, "gripper_width_m": width, "held": True, "offset_in_hand_m": offset}


def check_pick(ctx: SkillContext, scene: Scene, object_id: str) -> RigidObject:
    """The object to pick, if the hand is free and it can be moved at all."""
    check_hand(ctx, scene)
    if ctx.held is not None:
        raise StepFailed(Status.PRECONDITION_FAILED, f"the hand holds {ctx.held.object.id}; place it first")
    thing = ctx.find(scene, object_id)
    if thing.fixed:
        raise StepFailed(Status.PRECONDITION_FAILED, f"{thing.id} is fixed and can't be picked")
    check_uncovered(ctx, scene, thing)
    return thing


def check_uncovered(ctx: SkillContext, scene: Scene, thing: RigidObject) -> None:
    """Pulled out from under others, an object would take them along or throw them down."""
    own = [Obstacle(thing.id, box) for box in thing.world_boxes()]
    others = ctx.obstacles(scene, (thing.id,))
    near = touching(thing.world_boxes(), others, ctx.config.support_gap_m)
    above = [
        name
        for name in near
        if carriers([o.box for o in others if o.id == name], own, ctx.config.support_gap_m)
    ]
    if above:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"{', '.join(above)} lies on {thing.id}; take away first what lies on it",
        )


def approach(ctx: SkillContext, thing: RigidObject, grasps: list[Grasp]) -> Grasp:
    """Go to the first grasp with a whole way to it; the reasons of all others end in the failure's message."""
    ctx.phase("approach")
    reasons: list[str] = []
    for grasp in grasps[: ctx.config.max_plans]:
        opening = grasp.width_m + 2 * ctx.config.finger_slack_m
        ctx.backend.set_gripper_width(opening)
        try:
            plans = plan_approach(ctx, thing, grasp)
        except StepFailed as failure:
            reasons.append(failure.message)
            continue
        open_fingers(ctx, opening, "open")
        for plan in plans:
            run_plan(ctx, plan, "approach")
        return grasp
    ctx.backend.set_gripper_width(ctx.robot.state().gripper_width_m)
    why = "; ".join(dict.fromkeys(reasons))
    raise StepFailed(Status.PLANNING_FAILED, f"no grasp of {thing.id} can be reached: {why}")


def plan_approach(ctx: SkillContext, thing: RigidObject, grasp: Grasp) -> list[JointTrajectory]:
    """All of the way before any of it is gone: a hand that got stuck half-way would stand between bricks."""
    above = grasp.tool.translated((0.0, 0.0, ctx.config.approach_height_m))
    free = ctx.backend.plan_to_pose(joints(ctx), above, speed=ctx.config.travel_speed)
    travel = planned(free, "approach")
    return [travel, *plan_descent(ctx, travel.positions[-1], grasp.tool, "approach", (thing.id,))]


def close(ctx: SkillContext, thing: RigidObject, grasp: Grasp) -> None:
    """Close on the object; when the pads then stand otherwise than it is wide, leave the place again."""
    width = close_fingers(ctx, "close")
    if abs(width - grasp.width_m) > ctx.config.width_tolerance_m:
        clear_off(ctx, ctx.look())
        raise GraspMissed(
            Status.VERIFICATION_FAILED,
            f"after closing the pads are {width * 1e3:.1f} mm apart, {thing.id} is {grasp.width_m * 1e3:.1f} mm "
            "wide: it is not held; look again and retry",
        )
    attach(ctx, thing, grasp, width)
