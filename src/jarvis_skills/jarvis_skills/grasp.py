"""Which grip of an object to use: possible where it lies, possible where it will be put, and in reach at both."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.grip import GripKey, GripOption, common_grips, grip_options
from jarvis_bricks.oriented_boxes import OrientedBoxes, penetration
from jarvis_core.objects import Box, RigidObject, Scene
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_motion.backend import Obstacle

from jarvis_skills.cell_context import TABLE, Held, SkillContext, StepFailed

#: What stands up from an object's top beyond its boxes (studs), and how far it stays from the edges, metres.
TOP_CLEARANCE_M = 0.0016
TOP_INSET_M = 0.0016
#: Bodies that share less than this do not carry each other.
_CONTACT_M = 1e-4


@dataclass(frozen=True, slots=True)
class Grasp:
    """One grasp: tool pose (world) when closing, the width the object has there, and which grip it is."""

    tool: Pose
    width_m: float
    key: GripKey


def find_grasps(
    ctx: SkillContext, scene: Scene, thing: RigidObject, place_pose: Pose | None = None
) -> list[Grasp]:
    """All usable grasps, best first.

    Raises:
        StepFailed: there is none; the message says what is in the way, here or at the place.
    """
    others = ctx.obstacles(scene, (thing.id,))
    here = options_at(ctx, thing.world_boxes(), others)
    if not any(option.ok for option in here):
        raise StepFailed(
            Status.PLANNING_FAILED, f"{thing.id} can't be gripped where it lies: {why_not(here)}"
        )
    if place_pose is None:
        pairs = [(option, option) for option in here if option.ok]
        moved = Pose()
    else:
        there = options_at(ctx, boxes_at(thing, place_pose), others)
        pairs = common_grips(here, there)
        moved = place_pose @ thing.pose.inverse()
        if not pairs:
            raise StepFailed(
                Status.PLANNING_FAILED,
                f"no grip of {thing.id} works both where it lies and at its place: {why_not(there)}",
            )
    grasps = list(reachable(ctx, [option for option, _ in pairs], moved))
    if not grasps:
        raise StepFailed(Status.PLANNING_FAILED, f"no grip of {thing.id} is in the arm's reach")
    return grasps


def options_at(ctx: SkillContext, boxes: Sequence[Box], others: Sequence[Obstacle]) -> list[GripOption]:
    """Grips of boxes (world) among others, keeping off the studs on top of them if at all possible."""
    bodies = [(o.id, o.box) for o in others if o.id != TABLE]
    with_tops = bodies + [(name, top) for name, box in bodies if (top := top_of(box)) is not None]
    fingers = ctx.robot_config.gripper.clearance(ctx.config.finger_slack_m)
    options = grip_options(boxes, with_tops, fingers, floor_z_m=0.0)
    if any(option.ok for option in options):
        return options
    return grip_options(boxes, bodies, fingers, floor_z_m=0.0)


def check_release(ctx: SkillContext, scene: Scene, held: Held, pose: Pose) -> None:
    """Is there room for the fingers, as they hold the object, when it is put to ``pose``?"""
    fingers = ctx.robot_config.gripper.clearance(ctx.config.finger_slack_m)
    bodies = [(o.id, o.box) for o in ctx.obstacles(scene, (held.object.id,)) if o.id != TABLE]
    options = grip_options(boxes_at(held.object, pose), bodies, fingers, floor_z_m=0.0)
    same = [option for option in options if option.key == held.grip]
    if not any(option.ok for option in same):
        raise StepFailed(
            Status.PLANNING_FAILED,
            f"gripped as it is, {held.object.id} can't be let go there: {why_not(same)}; regrasp it "
            "with this place pose given",
        )


def boxes_at(thing: RigidObject, pose: Pose) -> tuple[Box, ...]:
    """The collision shape in ``world`` of an object that is put to ``pose``."""
    return tuple(Box(pose @ box.pose, box.size_m) for box in thing.boxes)


def top_of(box: Box) -> Box | None:
    """A flat box where studs may stand on a box; None where it is too small or lies on its side."""
    x, y, z = box.size_m
    if min(x, y) <= 2 * TOP_INSET_M or box.pose.rotation[2, 2] < 0.99:
        return None
    pose = box.pose @ Pose((0.0, 0.0, (z + TOP_CLEARANCE_M) / 2))
    return Box(pose, (x - 2 * TOP_INSET_M, y - 2 * TOP_INSET_M, TOP_CLEARANCE_M))


def reachable(ctx: SkillContext, options: Sequence[GripOption], moved: Pose) -> Iterator[Grasp]:
    """Grasps whose tool pose the arm reaches here and, moved along with the object, at the place.

    Each grip can be taken with the hand turned by 180 degrees; the turn that moves the arm less comes first.
    """
    ready = np.array(ctx.robot_config.ready_rad)
    for option in options:
        found: list[tuple[float, Grasp]] = []
        for turn in (0.0, math.pi):
            tool = option.tool_pose() @ Pose.from_yaw((0.0, 0.0, 0.0), turn)
            joints = [ctx.backend.inverse(pose, ready) for pose in (tool, moved @ tool)]
            if all(q is not None for q in joints):
                effort = max(float(np.abs(q - ready).max()) for q in joints if q is not None)
                found.append((effort, Grasp(tool, option.width_m, option.key)))
        yield from (grasp for _, grasp in sorted(found, key=lambda pair: pair[0]))


def why_not(options: Sequence[GripOption]) -> str:
    """The reasons of refused grips in words, each once."""
    reasons = []
    for option in options:
        if option.refusal is not None:
            who = f" ({', '.join(option.blockers)})" if option.blockers else ""
            reasons.append(f"{option.refusal.value}{who}")
    distinct = list(dict.fromkeys(reasons))
    if not distinct:
        return "it has no pair of upright faces to grip"
    return "; ".join(distinct[:4])


def overlap_depths(boxes: Sequence[Box], others: Sequence[Obstacle]) -> dict[str, float]:
    """How deep ``boxes`` are in each other body, metres by id; negative: that far apart (at least)."""
    depths: dict[str, float] = {}
    own, theirs = OrientedBoxes.of(boxes), OrientedBoxes.of(o.box for o in others)
    i, j = (index.ravel() for index in np.indices((len(own), len(theirs))))
    for k, depth in zip(j.tolist(), penetration(own[i], theirs[j]).tolist(), strict=True):
        depths[others[k].id] = max(depth, depths.get(others[k].id, -np.inf))
    return depths


def touching(boxes: Sequence[Box], others: Sequence[Obstacle], gap_m: float) -> tuple[str, ...]:
    """Ids of the bodies nearer than ``gap_m``."""
    return tuple(name for name, depth in overlap_depths(boxes, others).items() if depth > -gap_m)


def carriers(boxes: Sequence[Box], others: Sequence[Obstacle], gap_m: float) -> tuple[str, ...]:
    """Ids of the bodies that boxes would sink into if they sank by ``gap_m``; neighbours at their sides are none."""
    before = overlap_depths(boxes, others)
    sunk = overlap_depths([Box(b.pose.translated((0.0, 0.0, -gap_m)), b.size_m) for b in boxes], others)
    return tuple(
        name for name, depth in sunk.items() if depth > _CONTACT_M and depth > before[name] + _CONTACT_M
    )


def bottom_z(boxes: Sequence[Box]) -> float:
    """Height of the lowest corner of boxes in ``world``."""
    corners: FloatArray = OrientedBoxes.of(boxes).corners()
    return float(corners[:, :, 2].min())
