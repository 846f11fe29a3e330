"""Every skill with what it takes, needs and returns: one table for executor, action servers and documentation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jarvis_core.skills import (
    Fact,
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
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext
from jarvis_skills.flip import flip
from jarvis_skills.grip import grip
from jarvis_skills.look import look
from jarvis_skills.move_to import home, move_to
from jarvis_skills.pick import pick
from jarvis_skills.pick_and_place import pick_and_place
from jarvis_skills.place import place
from jarvis_skills.press_down import press_down
from jarvis_skills.push import push
from jarvis_skills.regrasp import regrasp
from jarvis_skills.remove import remove

#: Ways any skill can end that moves the arm.
MOTION_EXITS = (
    Status.SUCCEEDED,
    Status.PRECONDITION_FAILED,
    Status.PLANNING_FAILED,
    Status.EXECUTION_FAILED,
    Status.CANCELED,
    Status.TIMED_OUT,
    Status.INTERNAL_ERROR,
)
#: … and that also checks what it did.
VERIFIED_EXITS = (*MOTION_EXITS, Status.VERIFICATION_FAILED)


@dataclass(frozen=True, slots=True)
class Skill:
    """One skill.

    Attributes:
        run: does it; returns the measured facts or raises StepFailed.
        preconditions: what must hold before, in words.
        exits: every status it can end with.
        facts: names of the facts of a success.
    """

    goal_type: type
    run: Callable[[SkillContext, Any], dict[str, Fact]]
    preconditions: tuple[str, ...]
    exits: tuple[Status, ...]
    facts: tuple[str, ...]

    @property
    def name(self) -> str:
        return str(self.goal_type.__struct_config__.tag)  # type: ignore[attr-defined]


_SKILLS = (
    Skill(
        PickGoal,
        pick,
        ("the hand is empty", "the object is in the scene, not fixed and uncovered"),
        VERIFIED_EXITS,
        ("object_id", "gripper_width_m", "held", "offset_in_hand_m", "attempts", "missed"),
    ),
    Skill(
        PlaceGoal,
        place,
        ("the hand holds an object", "the pose is in the workspace, free and supported"),
        VERIFIED_EXITS,
        (
            "object_id",
            "error_m",
            "error_rad",
            "gripper_width_m",
            "held",
            "force_limited",
            "press_force_n",
            "pressed_from_above",
        ),
    ),
    Skill(
        PickAndPlaceGoal,
        pick_and_place,
        (
            "the hand is empty",
            "the object is in the scene, not fixed and uncovered",
            "the pose is in the workspace, free and supported",
        ),
        VERIFIED_EXITS,
        (
            "object_id",
            "offset_in_hand_m",
            "attempts",
            "missed",
            "error_m",
            "error_rad",
            "gripper_width_m",
            "held",
            "force_limited",
            "press_force_n",
            "pressed_from_above",
        ),
    ),
    Skill(
        MoveToGoal,
        move_to,
        ("the pose is in the workspace", "0.01 <= speed <= 1"),
        MOTION_EXITS,
        ("error_m", "error_rad", "tool"),
    ),
    Skill(HomeGoal, home, (), MOTION_EXITS, ("held", "tool")),
    Skill(
        PushGoal,
        push,
        ("the hand is empty", "the object is in the scene and not fixed", "1 to 200 mm far, on the table"),
        VERIFIED_EXITS,
        ("moved_m", "error_m"),
    ),
    Skill(
        GripGoal,
        grip,
        ("the distance is one the gripper can have", "to close: the hand is empty"),
        VERIFIED_EXITS,
        ("gripper_width_m", "held", "object_id"),
    ),
    Skill(LookGoal, look, (), VERIFIED_EXITS, ("source", "objects", "movable_ids", "held")),
    Skill(
        PressGoal,
        press_down,
        (
            "the hand is empty",
            "the object is in the scene, not fixed and uncovered",
            "the robot tells a wrench; 0 <= force <= top_press_limit_n",
        ),
        VERIFIED_EXITS,
        ("object_id", "moved_m", "force_limited", "press_force_n", "pressed_from_above"),
    ),
    Skill(
        RemoveGoal,
        remove,
        (
            "the hand is empty",
            "the object is in the scene, not fixed and uncovered",
            "the robot tells a wrench",
        ),
        VERIFIED_EXITS,
        ("object_id", "tilted", "held"),
    ),
    Skill(
        RegraspGoal,
        regrasp,
        ("the hand holds an object", "the place pose, where given, is in the workspace, free and supported"),
        VERIFIED_EXITS,
        ("object_id", "gripper_width_m", "held", "offset_in_hand_m", "attempts", "missed", "put_down"),
    ),
    Skill(
        FlipGoal,
        flip,
        (
            "the hand is empty",
            "the object is in the scene, not fixed and uncovered",
            "it lies on a side or upside down",
        ),
        VERIFIED_EXITS,
        ("object_id", "turns", "error_rad", "pose", "held"),
    ),
)

#: All skills by name.
SKILLS: dict[str, Skill] = {skill.name: skill for skill in _SKILLS}


def skill_of(goal: SkillGoal) -> Skill:
    """The skill that serves a goal."""
    return SKILLS[skill_name(goal)]
