"""Goals and results of the skills: the same types in-process and behind the ROS actions."""

from __future__ import annotations

import msgspec

from jarvis_core.pose import Pose
from jarvis_core.status import Status

Fact = float | int | bool | str | list[float]


class SkillResult(msgspec.Struct, frozen=True):
    """How a skill ended.

    Attributes:
        status: one of Status.
        message: a sentence for people and agents: what happened, and on failure what could be done.
        facts: measured values; names carry their unit (``gripper_width_m``, ``error_m``, ``held``).
    """

    status: Status
    message: str
    facts: dict[str, Fact]

    @property
    def ok(self) -> bool:
        return self.status is Status.SUCCEEDED


class PickGoal(msgspec.Struct, frozen=True, tag="pick"):
    """Grasp one loose object and lift it. ``place_pose`` (world), when known, steers which side is gripped."""

    object_id: str
    place_pose: Pose | None = None


class PlaceGoal(msgspec.Struct, frozen=True, tag="place"):
    """Put the held object down so that its frame is at ``pose`` (world), pressing it on."""

    pose: Pose


class PickAndPlaceGoal(msgspec.Struct, frozen=True, tag="pick_and_place"):
    """Pick ``object_id`` and place it at ``pose`` (world)."""

    object_id: str
    pose: Pose


class MoveToGoal(msgspec.Struct, frozen=True, tag="move_to"):
    """Bring the tool centre point to ``pose`` (world), on a straight line if ``straight``."""

    pose: Pose
    straight: bool = False
    speed: float = 1.0


class HomeGoal(msgspec.Struct, frozen=True, tag="home"):
    """Bring the arm out of the top camera's view and open the gripper, unless it holds something."""


class PushGoal(msgspec.Struct, frozen=True, tag="push"):
    """Push an object over the table with closed fingers: ``offset_m`` (x, y) in ``world``."""

    object_id: str
    offset_m: tuple[float, float]


class GripGoal(msgspec.Struct, frozen=True, tag="grip"):
    """Bring the pads to ``width_m`` apart: opens, or closes until something stops them. Lets go of what is held."""

    width_m: float


class LookGoal(msgspec.Struct, frozen=True, tag="look"):
    """Bring the arm out of view and tell what is seen; of ``object_id``, where given, its pose too."""

    object_id: str = ""


class PressGoal(msgspec.Struct, frozen=True, tag="press"):
    """Press a standing object down with ``force_n``; 0: as hard as the studs below it need."""

    object_id: str
    force_n: float = 0.0


class RemoveGoal(msgspec.Struct, frozen=True, tag="remove"):
    """Take an object off what it is pressed on, with a limited force, and nothing else with it."""

    object_id: str


class RegraspGoal(msgspec.Struct, frozen=True, tag="regrasp"):
    """Put the held object down on a free spot of the table and take it by other faces.

    Where ``place_pose`` (world) is given: by a grip that works there too.
    """

    place_pose: Pose | None = None


class FlipGoal(msgspec.Struct, frozen=True, tag="flip"):
    """Stand an object that lies on a side or upside down on its base, turned in the hand by quarter turns."""

    object_id: str


SkillGoal = (
    PickGoal
    | PlaceGoal
    | PickAndPlaceGoal
    | MoveToGoal
    | HomeGoal
    | PushGoal
    | GripGoal
    | LookGoal
    | PressGoal
    | RemoveGoal
    | RegraspGoal
    | FlipGoal
)


def skill_name(goal: SkillGoal) -> str:
    """The name under which a goal's skill is registered and served (``/skills/NAME``)."""
    return str(type(goal).__struct_config__.tag)
