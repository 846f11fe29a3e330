"""Put the held object down, press it on, let go, and look whether it sits."""

from __future__ import annotations

import msgspec
import numpy as np
from jarvis_core.objects import RigidObject, Scene
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, PlaceGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import PLATE, TABLE, Held, SkillContext, StepFailed
from jarvis_skills.clearing import clear_off, hand_boxes
from jarvis_skills.grasp import bottom_z, boxes_at, carriers, check_release, overlap_depths, touching
from jarvis_skills.holding import detach, measure_in_hand, require_grip, require_held
from jarvis_skills.moves import check_workspace, descend, go_to_pose, open_fingers, rise
from jarvis_skills.press_down import press_from_above
from jarvis_skills.pressing import Pressed, check_force, force_limit_n, press, studs_below

#: Fingers that are farther apart than when they held an object have let it go.
RELEASED_M = 0.0003


def place(ctx: SkillContext, goal: PlaceGoal) -> dict[str, Fact]:
    """Move above the target, descend vertically, press, open in place, retreat, verify by look.

    Where the studs need more than the grip may press with, or did not feel it, the empty hand then presses from above.
    """
    check_workspace(ctx, goal.pose, "the place pose")
    scene = ctx.look()
    held = require_held(ctx, scene)
    check_tilt(ctx, goal.pose)
    near = check_place(ctx, scene, held.object, goal.pose)
    check_release(ctx, scene, held, goal.pose)
    clear_off(ctx, scene)
    width, pressed = put_down(ctx, scene, goal.pose, near)
    placed = msgspec.structs.replace(held.object, pose=goal.pose, held=False)
    pressed = press_again(ctx, scene, placed, pressed)
    ctx.phase("verify")
    return verify(ctx, held.object.id, goal.pose, width) | pressed.facts()


def put_down(ctx: SkillContext, scene: Scene, pose: Pose, near: tuple[str, ...]) -> tuple[float, Pressed]:
    """Bring the held object to ``pose``, let it go and come to rest above it; returns the pads' distance and the press.

    Args:
        near: ids of the bodies that will be touched there (``check_place``).
    """
    measure_in_hand(ctx)
    held = ctx.held
    assert held is not None
    ctx.update_world(scene)
    ctx.phase("transfer")
    above = tool_at(ctx, pose).translated((0.0, 0.0, ctx.config.approach_height_m))
    go_to_pose(ctx, above, "transfer")
    # What happened on the way is seen before the last stretch.
    measure_in_hand(ctx)
    ctx.phase("descend")
    contacts = (*near, TABLE, PLATE)
    ready = tool_at(ctx, pose).translated((0.0, 0.0, ctx.config.seat_gap_m))
    descend(ctx, ready, "descend", allow_contact=contacts)
    ctx.phase("press")
    pressed = press_on(ctx, scene, pose, contacts)
    # Fingertips that pressed on the ground because the object is gone must not let go of nothing.
    require_grip(ctx, held)
    ctx.phase("release")
    width = release(ctx, held)
    retreat(ctx, scene, held.object.id, contacts)
    ctx.robot.wait(ctx.config.settle_s)
    return width, pressed


def retreat(ctx: SkillContext, scene: Scene, released: str, contacts: tuple[str, ...]) -> None:
    """Straight up from what was let go, also off what the fingers touch now: a hand that pressed sank a little."""
    ctx.phase("retreat")
    ctx.update_world(scene, leave_out=(released,))
    beside = touching(hand_boxes(ctx), ctx.obstacles(scene, (released,)), ctx.config.contact_distance_m)
    rise(ctx, ctx.config.lift_height_m, "retreat", allow_contact=(*contacts, *beside))


def press_on(ctx: SkillContext, scene: Scene, pose: Pose, contacts: tuple[str, ...]) -> Pressed:
    """Press the held object onto what it is put on, as hard as the studs there need.

    Where that is more than the grip may press with (``press_again`` follows), it is only set down.
    """
    assert ctx.held is not None
    boxes, others = boxes_at(ctx.held.object, pose), ctx.obstacles(scene)
    studs, most = studs_below(boxes, others, ctx.config.support_gap_m), ctx.config.press_limit_n
    enough = studs * ctx.config.engage_n_per_stud <= most
    limit = force_limit_n(ctx, studs if enough else 1, most)
    if ctx.robot.wrench() is not None:
        # The way goes on below where the object will sit, and the force ends it there: bricks close under the
        # fingertips are not reached, and no reason to refuse.
        contacts = (*contacts, *(other.id for other in others))
    seated_z = float(tool_at(ctx, pose).position[2])
    return press(
        ctx,
        "press",
        contacts,
        limit_n=limit,
        depth_m=ctx.config.press_depth_m,
        seated_z_m=seated_z,
    )


def press_again(ctx: SkillContext, scene: Scene, placed: RigidObject, pressed: Pressed) -> Pressed:
    """Press with closed fingers on what the hand has let go of, if its grip could not press hard enough."""
    config = ctx.config
    others = ctx.obstacles(scene, (placed.id,))
    studs = studs_below(placed.world_boxes(), others, config.support_gap_m)
    least = studs * config.engage_n_per_stud
    in_grip = studs * config.press_n_per_stud <= config.press_limit_n and pressed.felt(least)
    if studs == 0 or in_grip or not pressed.limited:
        return pressed
    lying = msgspec.structs.replace(scene, objects=(*(o for o in scene.objects if o.id != placed.id), placed))
    limit = force_limit_n(ctx, studs, config.top_press_limit_n)
    try:
        again = press_from_above(ctx, lying, placed, limit)
    except StepFailed as failure:
        message = f"{placed.id} lies at its place, not pressed on (it needs {least:.0f} N): {failure.message}"
        raise StepFailed(failure.status, message, pressed.facts() | failure.facts) from failure
    if not again.felt(least):
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{placed.id} lies at its place, not pressed on: it needs {least:.0f} N, {again.force_n:.0f} N were felt; "
            "press it again, or pick and place it anew",
            again.facts(),
        )
    return again


def tool_at(ctx: SkillContext, pose: Pose) -> Pose:
    """Tool pose that brings the held object to ``pose``."""
    assert ctx.held is not None
    tool: Pose = pose @ ctx.held.in_tool.inverse()
    return tool


def check_tilt(ctx: SkillContext, pose: Pose) -> None:
    """The hand puts things down from above: they can be turned about z, and no other way."""
    lean = float(np.arccos(np.clip(-tool_at(ctx, pose).rotation[2, 2], -1.0, 1.0)))
    if lean > ctx.config.max_tilt_rad:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"at this pose the hand would lean by {np.degrees(lean):.0f} deg; objects can be turned about z only",
        )


def check_place(ctx: SkillContext, scene: Scene, thing: RigidObject, pose: Pose) -> tuple[str, ...]:
    """Is the pose free and supported, with no more studs than the arm can press on? Ids of what will be touched."""
    others = ctx.obstacles(scene, (thing.id,))
    boxes = boxes_at(thing, pose)
    depths = overlap_depths(boxes, others)
    deepest = max(depths, key=lambda name: depths[name])
    if depths[deepest] > ctx.config.overlap_m:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"at this pose {thing.id} would overlap {deepest} by {depths[deepest] * 1e3:.1f} mm; choose a free place",
        )
    if not carriers(boxes, others, ctx.config.support_gap_m):
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"nothing carries {thing.id} at this pose: no body lies within {ctx.config.support_gap_m * 1e3:.1f} mm "
            f"below its underside at z = {bottom_z(boxes):.4f} m (the plate's top is at z = "
            f"{ctx.cell.plate.pose.position[2]:.4f} m)",
        )
    check_force(ctx, thing.id, studs_below(boxes, others, ctx.config.support_gap_m))
    return touching(boxes, others, ctx.config.support_gap_m)


def release(ctx: SkillContext, held: Held) -> float:
    """Open in place; returns the pads' distance. Fingers that began to open hold nothing, however that ends."""
    try:
        return open_fingers(ctx, held.width_m + 2 * ctx.config.finger_slack_m, "release")
    finally:
        if ctx.robot.state().gripper_width_m > held.width_m + RELEASED_M:
            detach(ctx)


def verify(ctx: SkillContext, object_id: str, pose: Pose, width_m: float) -> dict[str, Fact]:
    """Look whether the object is where it should be."""
    seen = ctx.look().find(object_id)
    if seen is None:
        raise StepFailed(Status.VERIFICATION_FAILED, f"{object_id} is not seen after placing it")
    error, angle = seen.pose.distance_to(pose), seen.pose.angle_to(pose)
    facts: dict[str, Fact] = {
        "object_id": object_id,
        "error_m": error,
        "error_rad": angle,
        "gripper_width_m": width_m,
        "held": False,
    }
    if error > ctx.config.place_position_m or angle > ctx.config.place_angle_rad:
        raise StepFailed(
            Status.VERIFICATION_FAILED,
            f"{object_id} lies {error * 1e3:.1f} mm and {np.degrees(angle):.1f} deg from its place",
            facts,
        )
    return facts
