"""Stand an object on its base that lies on a side or upside down: quarter turns, each with a grip of its own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice

import numpy as np
from jarvis_core.objects import RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, FlipGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import TABLE, SkillContext, StepFailed
from jarvis_skills.grasp import Grasp, carriers
from jarvis_skills.place import check_place, put_down
from jarvis_skills.quarter_turn import QuarterTurn, quarter_turns, up_of
from jarvis_skills.spots import free_spots
from jarvis_skills.take import check_pick, take

#: An object stands, lies or is upside down if its axis is this near to that, as a cosine.
_NEAR = 0.02
#: Spots that are tried for what is in the hand already.
_SPOTS = 4


def flip(ctx: SkillContext, goal: FlipGoal) -> dict[str, Fact]:
    """Grip leaning one way, lift, lean the other way, put down; twice for what is upside down."""
    scene = ctx.look()
    thing = check_pick(ctx, scene, goal.object_id)
    check_lies_flat(ctx, scene, thing)
    turns = 0
    while up_of(thing.pose) < 1.0 - _NEAR:
        before = up_of(thing.pose)
        quarter(ctx, scene, thing)
        turns += 1
        scene = ctx.look()
        thing = seen_again(scene, thing.id)
        if up_of(thing.pose) < before + 1.0 - _NEAR:
            raise StepFailed(
                Status.VERIFICATION_FAILED,
                f"{thing.id} did not stay as it was put down: its top points {lean_deg(thing.pose):.0f} deg from up",
                {"turns": turns},
            )
    return {
        "object_id": thing.id,
        "turns": turns,
        "error_rad": float(np.radians(lean_deg(thing.pose))),
        "pose": thing.pose.to_list(),
        "held": False,
    }


def check_lies_flat(ctx: SkillContext, scene: Scene, thing: RigidObject) -> None:
    """Refuses what stands already, leans, or does not lie on the table."""
    up = up_of(thing.pose)
    if up > 1.0 - _NEAR:
        raise StepFailed(Status.PRECONDITION_FAILED, f"{thing.id} stands on its base already")
    if min(abs(up), abs(up + 1.0)) > _NEAR:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"{thing.id} leans: its top points {lean_deg(thing.pose):.0f} deg from up; push it until it lies flat",
        )
    under = carriers(thing.world_boxes(), ctx.obstacles(scene, (thing.id,)), ctx.config.support_gap_m)
    on = [name for name in under if name != TABLE]
    if on:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"{thing.id} lies on {', '.join(on)}; pick it and place it on the table first",
        )


def quarter(ctx: SkillContext, scene: Scene, thing: RigidObject) -> None:
    """One quarter turn, by the first grip that has a way to the object and free spots after it."""
    reasons: list[str] = []
    for turn in quarter_turns(ctx, thing, reasons):
        spots = list(islice(spots_after(ctx, scene, thing, turn), _SPOTS))
        if not spots:
            reasons.append("no free spot for it is in the arm's reach")
            continue
        try:
            take(ctx, scene, thing, partial(same_turn, ctx, turn))
        except StepFailed as failure:
            if failure.status is not Status.PLANNING_FAILED or ctx.held is not None:
                raise
            reasons.append(failure.message)
            continue
        put_down_turned(ctx, ctx.look(), spots)
        return
    why = "; ".join(dict.fromkeys(reasons)) or "none of its sides can be gripped"
    raise StepFailed(Status.PLANNING_FAILED, f"{thing.id} can't be turned where it lies: {why}")


def spots_after(ctx: SkillContext, scene: Scene, thing: RigidObject, turn: QuarterTurn) -> Iterator[Pose]:
    """Poses of the turned object on the table that the leaning hand reaches."""
    from_object = thing.pose.inverse() @ turn.grasp.tool
    for spot in free_spots(ctx, scene, thing, turn.after):
        tool = spot @ from_object
        above = tool.translated((0.0, 0.0, ctx.config.approach_height_m))
        if all(ctx.backend.inverse(pose, ctx.ready) is not None for pose in (tool, above)):
            yield spot


def same_turn(ctx: SkillContext, turn: QuarterTurn, scene: Scene, thing: RigidObject) -> list[Grasp]:
    """The grip of a turn, where the object lies now."""
    found = [
        other.grasp
        for other in quarter_turns(ctx, thing, [])
        if other.lean_rad == turn.lean_rad and other.grasp.key.axis == turn.grasp.key.axis
    ]
    if not found:
        raise StepFailed(Status.PLANNING_FAILED, f"{thing.id} lies otherwise than before")
    return found


def put_down_turned(ctx: SkillContext, scene: Scene, spots: list[Pose]) -> None:
    """At the first spot with a way to it."""
    reasons: list[str] = []
    for spot in spots:
        assert ctx.held is not None
        try:
            put_down(ctx, scene, spot, check_place(ctx, scene, ctx.held.object, spot))
            return
        except StepFailed as failure:
            if failure.status is not Status.PLANNING_FAILED:
                raise
            reasons.append(failure.message)
    why = "; ".join(dict.fromkeys(reasons))
    raise StepFailed(Status.PLANNING_FAILED, f"what the hand holds can't be put down turned: {why}")


def seen_again(scene: Scene, object_id: str) -> RigidObject:
    """The object after it was put down."""
    thing = scene.find(object_id)
    if thing is None:
        raise StepFailed(Status.VERIFICATION_FAILED, f"{object_id} is not seen after it was put down")
    return thing


def lean_deg(pose: Pose) -> float:
    """Angle between an object's z axis and the vertical."""
    return float(np.degrees(np.arccos(np.clip(up_of(pose), -1.0, 1.0))))
