"""Take an object off what it is pressed on: pulled straight up, else tilted; the neighbours must stay."""

from __future__ import annotations

import numpy as np
from jarvis_core.motion import ForceLimit
from jarvis_core.objects import RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, RemoveGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import PLATE, TABLE, SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.grasp import find_grasps, touching
from jarvis_skills.holding import detach, measure_in_hand
from jarvis_skills.moves import go_straight, joints, open_fingers, planned, rise
from jarvis_skills.take import approach, check_pick, close

#: What holds on pulls down when the hand pulls up.
_DOWN = (0.0, 0.0, -1.0)


def remove(ctx: SkillContext, goal: RemoveGoal) -> dict[str, Fact]:
    """Grip, pull with a limited force, tilt where that is not enough, lift, look what else moved."""
    scene = ctx.look()
    thing = check_pick(ctx, scene, goal.object_id)
    if ctx.robot.wrench() is None:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            "the robot tells no wrench, so a pull can't be limited; pick pulls without a limit",
        )
    ctx.phase("plan_grasp")
    grasps = find_grasps(ctx, scene, thing)
    clear_off(ctx, scene)
    ctx.update_world(scene)
    grasp = approach(ctx, thing, grasps)
    ctx.phase("close")
    close(ctx, thing, grasp)
    ctx.update_world(scene)
    near = (*touching(thing.world_boxes(), ctx.obstacles(scene), ctx.config.support_gap_m), TABLE, PLATE)
    ctx.phase("pull")
    tilted = False
    if not pull(ctx, near):
        ctx.phase("tilt")
        tilt(ctx, thing, near)
        tilted = True
        if not pull(ctx, near):
            give_up(ctx, thing, near)
    ctx.phase("lift")
    rise(ctx, ctx.config.lift_height_m, "lift", allow_contact=near)
    ctx.robot.wait(ctx.config.settle_s)
    ctx.phase("verify")
    measure_in_hand(ctx)
    facts: dict[str, Fact] = {"object_id": thing.id, "tilted": tilted, "held": True}
    check_neighbours(ctx, scene, thing.id, facts)
    return facts


def pull(ctx: SkillContext, near: tuple[str, ...]) -> bool:
    """Slowly up by a little; whether it came off before the force limit."""
    config = ctx.config
    tool = ctx.robot.state().tool.translated((0.0, 0.0, config.pull_way_m))
    plan = ctx.backend.plan_line(joints(ctx), tool, speed=config.press_speed, allow_contact=near)
    trajectory = planned(plan, "pull")
    ctx.stop_if_canceled("pull")
    outcome = ctx.robot.follow(
        trajectory,
        ctx.cancel,
        goal_tolerance_rad=config.press_tolerance_rad,
        force_limit=ForceLimit(_DOWN, config.pull_limit_n),
    )
    if not outcome.status.ok:
        raise StepFailed(outcome.status, f"pull: {outcome.message}")
    return not outcome.guarded


def tilt(ctx: SkillContext, thing: RigidObject, near: tuple[str, ...]) -> None:
    """Turn the object about a lower edge, the one that lies along the pads' closing direction, to the freer side."""
    held, tool = ctx.held, ctx.robot.state().tool
    assert held is not None
    corners = np.array(
        [
            (tool.inverse() @ box.pose) @ (np.array(signs) * np.array(box.size_m) / 2)
            for box in thing.world_boxes()
            for signs in [(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
        ]
    )
    low = float(corners[:, 2].max())  # the tool's z points down
    reasons = []
    for side in (float(corners[:, 0].max()), float(corners[:, 0].min())):
        # About the tool's y: the far edge lifts.
        angle = ctx.config.tilt_rad * (-1.0 if side > 0 else 1.0)
        half = angle / 2
        turn = Pose((0.0, 0.0, 0.0), (0.0, np.sin(half), 0.0, np.cos(half)))
        edge = Pose((side, 0.0, low))
        goal = tool @ edge @ turn @ edge.inverse()
        try:
            go_straight(ctx, goal, "tilt", speed=ctx.config.contact_speed, allow_contact=near)
            return
        except StepFailed as failure:
            if failure.status is not Status.PLANNING_FAILED:
                raise
            reasons.append(failure.message)
    raise StepFailed(
        Status.PLANNING_FAILED, f"tilt: no room to either side: {'; '.join(dict.fromkeys(reasons))}"
    )


def give_up(ctx: SkillContext, thing: RigidObject, near: tuple[str, ...]) -> None:
    """Let go and say so."""
    held = ctx.held
    assert held is not None
    open_fingers(ctx, held.width_m + 2 * ctx.config.finger_slack_m, "let go")
    detach(ctx)
    rise(ctx, ctx.config.lift_height_m, "retreat", allow_contact=(*near, thing.id))
    raise StepFailed(
        Status.EXECUTION_FAILED,
        f"{ctx.config.pull_limit_n:.0f} N and a tilt did not take {thing.id} off; take away first what stands on or "
        "beside it",
    )


def check_neighbours(ctx: SkillContext, before: Scene, object_id: str, facts: dict[str, Fact]) -> None:
    """Fails, naming them, where other objects moved along."""
    after = ctx.look()
    moved = []
    for thing in before.objects:
        now = after.find(thing.id)
        if thing.id != object_id and now is not None:
            way = now.pose.distance_to(thing.pose)
            if way > ctx.config.place_position_m:
                moved.append(f"{thing.id} by {way * 1e3:.1f} mm")
    if moved:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{object_id} is in the hand, and moved others: {', '.join(moved)}; look and put them right",
            facts,
        )
