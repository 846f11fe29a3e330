"""Press an object down that stands somewhere already: closed fingertips on its top, with a limited force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, PressGoal
from jarvis_core.status import Status
from jarvis_motion.backend import Obstacle

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.grasp import TOP_CLEARANCE_M, carriers
from jarvis_skills.moves import check_workspace, joints, plan_descent, planned, rise, run_plan, top_down
from jarvis_skills.pressing import Pressed, cells_below, force_limit_n, press, studs_below
from jarvis_skills.push import close_empty
from jarvis_skills.take import check_pick


def press_down(ctx: SkillContext, goal: PressGoal) -> dict[str, Fact]:
    """Touch the object's top from above with closed fingers, press to the force, retreat, look what moved."""
    scene = ctx.look()
    thing = check_pick(ctx, scene, goal.object_id)
    limit = wanted_force(ctx, scene, thing, goal.force_n)
    pressed = press_from_above(ctx, scene, thing, limit)
    ctx.phase("verify")
    moved = ctx.find(ctx.look(), thing.id).pose.position - thing.pose.position
    facts = pressed.facts() | {"object_id": thing.id, "moved_m": moved.tolist()}
    if float(np.linalg.norm(moved[:2])) > ctx.config.place_position_m:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{thing.id} slid {np.linalg.norm(moved[:2]) * 1e3:.1f} mm away under the press; pick and place it anew",
            facts,
        )
    return facts


def press_from_above(ctx: SkillContext, scene: Scene, thing: RigidObject, limit_n: float) -> Pressed:
    """Close the empty hand, touch the object's top from above, press to the force, retreat.

    Args:
        scene: with the object in it as it lies.
    """
    others = ctx.obstacles(scene, (thing.id,))
    tip = above_top(ctx, thing, others)
    check_workspace(ctx, tip, "the top of the object")
    clear_off(ctx, scene)
    ctx.update_world(scene)
    ctx.phase("close")
    close_empty(ctx)
    ctx.phase("approach")
    for part in plan_to_top(ctx, thing, tip):
        run_plan(ctx, part, "approach")
    ctx.phase("press")
    # The way goes on below the top, into what carries a thin object; the force ends it before that.
    below = carriers(thing.world_boxes(), others, ctx.config.support_gap_m)
    pressed = press(
        ctx,
        "press",
        (thing.id, *below),
        limit_n=limit_n,
        depth_m=ctx.config.guarded_depth_m,
        seated_z_m=float(tip.position[2]),
    )
    ctx.phase("retreat")
    rise(ctx, ctx.config.lift_height_m, "retreat", allow_contact=(thing.id, *below))
    ctx.robot.wait(ctx.config.settle_s)
    return replace(pressed, from_above=True)


def wanted_force(ctx: SkillContext, scene: Scene, thing: RigidObject, force_n: float) -> float:
    """The force asked for, or (0) what the studs below need; refuses what can't be limited."""
    most = ctx.config.top_press_limit_n
    if not 0.0 <= force_n <= most:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"force_n must be between 0 (as the studs need) and {most:g} N, got {force_n:g}",
        )
    if ctx.robot.wrench() is None:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            "the robot tells no wrench, so a press can't be limited; place presses by depth",
        )
    others = ctx.obstacles(scene, (thing.id,))
    studs = studs_below(thing.world_boxes(), others, ctx.config.support_gap_m)
    return force_n or force_limit_n(ctx, studs, most)


def above_top(ctx: SkillContext, thing: RigidObject, others: Sequence[Obstacle]) -> Pose:
    """Tool pose with the fingertips on the studs of the object's highest box.

    Over the middle of the studs that carry it, so that all are pressed on and it does not tip; over the middle of the
    box where none do.
    """

    def top(box: Box) -> float:
        return float(box.pose.position[2]) + float(np.abs(box.pose.rotation[2]) @ np.array(box.size_m)) / 2

    gripper = ctx.robot_config.gripper
    box = max(thing.world_boxes(), key=top)
    middle = np.array(box.pose.position)
    cells = cells_below(thing.world_boxes(), others, ctx.config.support_gap_m)
    if len(cells):
        middle[:2] = cells[:, :2].mean(axis=0)
    room = np.maximum(np.array(box.size_m) / 2 - gripper.finger_width_m / 2, 0.0)
    x, y, _ = box.pose @ np.clip(box.pose.inverse() @ middle, -room, room)
    z = top(box) + TOP_CLEARANCE_M + gripper.pad_below_tcp_m
    across = box.pose.rotation[:, 1]
    return top_down((float(x), float(y), z), float(np.arctan2(across[1], across[0])))


def plan_to_top(ctx: SkillContext, thing: RigidObject, tip: Pose) -> list[JointTrajectory]:
    """All of the way before any of it is gone, with the hand turned as it has room and reach."""
    reasons = []
    ready = tip.translated((0.0, 0.0, ctx.config.seat_gap_m))
    for quarter in range(4):
        tool = ready @ Pose.from_yaw((0.0, 0.0, 0.0), quarter * np.pi / 2)
        above = tool.translated((0.0, 0.0, ctx.config.approach_height_m))
        try:
            free = planned(
                ctx.backend.plan_to_pose(joints(ctx), above, speed=ctx.config.travel_speed), "approach"
            )
            return [free, *plan_descent(ctx, free.positions[-1], tool, "approach", (thing.id,))]
        except StepFailed as failure:
            reasons.append(failure.message)
    raise StepFailed(
        Status.PLANNING_FAILED, f"the top of {thing.id} can't be reached: {'; '.join(dict.fromkeys(reasons))}"
    )
