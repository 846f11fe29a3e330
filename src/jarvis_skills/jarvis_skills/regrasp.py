"""Put the held object down on a free spot of the table and take it by other faces."""

from __future__ import annotations

from jarvis_core.objects import RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, RegraspGoal
from jarvis_core.status import Status
from msgspec.structs import replace

from jarvis_skills.cell_context import Held, SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.grasp import Grasp, boxes_at, check_release, find_grasps, options_at, why_not
from jarvis_skills.holding import require_held
from jarvis_skills.moves import check_workspace, levelled, top_down
from jarvis_skills.place import check_place, put_down, tool_at
from jarvis_skills.spots import free_spots
from jarvis_skills.take import take


def regrasp(ctx: SkillContext, goal: RegraspGoal) -> dict[str, Fact]:
    """Find a spot where the grip can be changed, put the object down there, take it again."""
    scene = ctx.look()
    held = require_held(ctx, scene)
    if goal.place_pose is not None:
        check_workspace(ctx, goal.place_pose, "the place pose")
        check_place(ctx, scene, held.object, goal.place_pose)
        check_other_grip(ctx, scene, held, goal.place_pose)
    ctx.phase("plan_spot")
    spot = choose_spot(ctx, scene, held, goal.place_pose)
    clear_off(ctx, scene)
    put_down(ctx, scene, spot, check_place(ctx, scene, held.object, spot))
    scene = ctx.look()
    thing = scene.find(held.object.id)
    if thing is None:
        raise StepFailed(Status.VERIFICATION_FAILED, f"{held.object.id} is not seen after it was put down")
    facts = take(ctx, scene, thing, lambda seen, it: other_grasps(ctx, seen, it, held, goal.place_pose))
    return facts | {"put_down": thing.pose.to_list()}


def check_other_grip(ctx: SkillContext, scene: Scene, held: Held, place_pose: Pose) -> None:
    """Is there another grip by which the object could be let go at its place?"""
    others = ctx.obstacles(scene, (held.object.id,))
    there = options_at(ctx, boxes_at(held.object, place_pose), others)
    if not any(option.ok and option.key != held.grip for option in there):
        raise StepFailed(
            Status.PLANNING_FAILED,
            f"no other grip of {held.object.id} works at its place: {why_not(there)}",
        )


def other_grasps(
    ctx: SkillContext, scene: Scene, thing: RigidObject, held: Held, place_pose: Pose | None
) -> list[Grasp]:
    """By other faces than it was held by; where a place is given, any other grip that works there too."""
    before = held.grip
    grasps = find_grasps(ctx, scene, thing, place_pose)
    if place_pose is None:
        other = [grasp for grasp in grasps if (grasp.key.box, grasp.key.axis) != (before.box, before.axis)]
    else:
        other = [grasp for grasp in grasps if grasp.key != before]
    if not other:
        where = "" if place_pose is None else " that works at its place"
        raise StepFailed(Status.PLANNING_FAILED, f"{thing.id} has no other grip{where} than the present one")
    return other


def choose_spot(ctx: SkillContext, scene: Scene, held: Held, place_pose: Pose | None) -> Pose:
    """Where the object can be let go as it is held, and taken otherwise.

    Raises:
        StepFailed: nowhere; the message tells why.
    """
    upright = levelled(top_down((0.0, 0.0, 0.0), 0.0) @ held.in_tool)
    reasons: list[str] = []
    for spot in free_spots(ctx, scene, held.object, upright):
        try:
            check_release(ctx, scene, held, spot)
            other_grasps(ctx, scene, replace(held.object, pose=spot), held, place_pose)
        except StepFailed as failure:
            reasons.append(failure.message)
            continue
        if ctx.backend.inverse(tool_at(ctx, spot), ctx.ready) is not None:
            return spot
        reasons.append("free spots are out of the arm's reach")
    why = "; ".join(dict.fromkeys(reasons)) or "nothing there is free"
    raise StepFailed(Status.PLANNING_FAILED, f"no spot of the table to regrasp {held.object.id}: {why}")
