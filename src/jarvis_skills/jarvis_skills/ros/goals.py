"""Skill goals to action goals and back; one row per action."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jarvis_core.ros.conversions import world_pose_from_ros, world_pose_to_ros
from jarvis_core.skills import (
    FlipGoal,
    GripGoal,
    HomeGoal,
    LookGoal,
    MoveToGoal,
    PickAndPlaceGoal,
    PickGoal,
    PlaceGoal,
    PressGoal,
    PushGoal,
    RegraspGoal,
    RemoveGoal,
    SkillGoal,
    skill_name,
)

from jarvis_interfaces.action import (
    Flip,
    Grip,
    Home,
    Look,
    MoveTo,
    Pick,
    PickAndPlace,
    Place,
    Press,
    Push,
    Regrasp,
    Remove,
)


def pick_to_ros(goal: PickGoal) -> Pick.Goal:
    message = Pick.Goal(object_id=goal.object_id, has_place_pose=goal.place_pose is not None)
    if goal.place_pose is not None:
        message.place_pose = world_pose_to_ros(goal.place_pose)
    return message


def pick_from_ros(message: Pick.Goal) -> PickGoal:
    pose = world_pose_from_ros(message.place_pose, "place_pose") if message.has_place_pose else None
    return PickGoal(message.object_id, pose)


def regrasp_to_ros(goal: RegraspGoal) -> Regrasp.Goal:
    message = Regrasp.Goal(has_place_pose=goal.place_pose is not None)
    if goal.place_pose is not None:
        message.place_pose = world_pose_to_ros(goal.place_pose)
    return message


def regrasp_from_ros(message: Regrasp.Goal) -> RegraspGoal:
    return RegraspGoal(
        world_pose_from_ros(message.place_pose, "place_pose") if message.has_place_pose else None
    )


@dataclass(frozen=True, slots=True)
class ActionDoor:
    """How one skill looks from ROS: its action type and both conversions of its goal."""

    type: Any
    to_ros: Callable[[Any], Any]
    from_ros: Callable[[Any], SkillGoal]


#: By skill name; the action is /skills/NAME.
DOORS: dict[str, ActionDoor] = {
    "pick": ActionDoor(Pick, pick_to_ros, pick_from_ros),
    "place": ActionDoor(
        Place,
        lambda g: Place.Goal(pose=world_pose_to_ros(g.pose)),
        lambda m: PlaceGoal(world_pose_from_ros(m.pose, "pose")),
    ),
    "pick_and_place": ActionDoor(
        PickAndPlace,
        lambda g: PickAndPlace.Goal(object_id=g.object_id, pose=world_pose_to_ros(g.pose)),
        lambda m: PickAndPlaceGoal(m.object_id, world_pose_from_ros(m.pose, "pose")),
    ),
    "move_to": ActionDoor(
        MoveTo,
        lambda g: MoveTo.Goal(pose=world_pose_to_ros(g.pose), straight=g.straight, speed=g.speed),
        lambda m: MoveToGoal(world_pose_from_ros(m.pose, "pose"), m.straight, m.speed),
    ),
    "home": ActionDoor(Home, lambda g: Home.Goal(), lambda m: HomeGoal()),
    "push": ActionDoor(
        Push,
        lambda g: Push.Goal(object_id=g.object_id, offset_x=g.offset_m[0], offset_y=g.offset_m[1]),
        lambda m: PushGoal(m.object_id, (m.offset_x, m.offset_y)),
    ),
    "grip": ActionDoor(Grip, lambda g: Grip.Goal(width=g.width_m), lambda m: GripGoal(m.width)),
    "look": ActionDoor(Look, lambda g: Look.Goal(object_id=g.object_id), lambda m: LookGoal(m.object_id)),
    "press": ActionDoor(
        Press,
        lambda g: Press.Goal(object_id=g.object_id, force=g.force_n),
        lambda m: PressGoal(m.object_id, m.force),
    ),
    "remove": ActionDoor(
        Remove, lambda g: Remove.Goal(object_id=g.object_id), lambda m: RemoveGoal(m.object_id)
    ),
    "regrasp": ActionDoor(Regrasp, regrasp_to_ros, regrasp_from_ros),
    "flip": ActionDoor(Flip, lambda g: Flip.Goal(object_id=g.object_id), lambda m: FlipGoal(m.object_id)),
}


def door_of(goal: SkillGoal) -> ActionDoor:
    return DOORS[skill_name(goal)]


def action_name(skill: str) -> str:
    return f"/skills/{skill}"
