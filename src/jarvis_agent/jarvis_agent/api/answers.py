"""What the calls return: data, with a status, a reason and measured facts. A failed action never raises."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_core.skills import Fact, SkillResult

Image = npt.NDArray[np.uint8]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """How a call ended.

    Attributes:
        status: SUCCEEDED, PRECONDITION_FAILED, PLANNING_FAILED, EXECUTION_FAILED, VERIFICATION_FAILED, CANCELED,
            TIMED_OUT or INTERNAL_ERROR.
        reason: a sentence; on failure what could be done.
        ok: whether status is SUCCEEDED.
    """

    status: str = "SUCCEEDED"
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.status == "SUCCEEDED"


class Action(Answer, frozen=True, kw_only=True):
    """How an action of the robot ended.

    Attributes:
        facts: what was measured, by name with unit: gripper_width_m, held, error_m, error_rad, ...
    """

    facts: dict[str, Fact] = {}

    @classmethod
    def of(cls, result: SkillResult) -> Action:
        return cls(status=result.status.name, reason=result.message, facts=result.facts)


class PartLine(msgspec.Struct, frozen=True, kw_only=True):
    """So many bricks of one part and colour."""

    part: str
    description: str
    colour: int
    colour_name: str
    count: int


class TaskInfo(Answer, frozen=True, kw_only=True):
    """The task in words.

    Attributes:
        steps: number of steps; manual pages go from 0 (what stands there at the start) to this.
        bricks: number of bricks to place.
        parts: the loose bricks that are needed.
        axes: how a page's directions and scale relate to the build plate.
        plate_pose: of the middle of the plate's top, its axes along the studs (world).
        plate_studs: studs of the plate along x and y.
        stud_m: distance of neighbouring studs.
        budget_s: simulated seconds after which the score is reduced.
    """

    steps: int = 0
    bricks: int = 0
    parts: list[PartLine] = []
    axes: str = ""
    plate_pose: Pose | None = None
    plate_studs: tuple[int, int] = (0, 0)
    stud_m: float = 0.0
    budget_s: float = 0.0


class Page(Answer, frozen=True, kw_only=True):
    """One page of the manual.

    Attributes:
        step: 0 shows the start, n what stands after step n.
        image: (height, width, 3) uint8, RGB.
    """

    step: int = 0
    image: Image | None = None


class Step(Answer, frozen=True, kw_only=True):
    """One step of the manual.

    Attributes:
        step: its number, from 1; 0 when there is none left.
        before, after: the pages between which it lies, (height, width, 3) uint8, RGB.
        left: steps that follow it.
    """

    step: int = 0
    before: Image | None = None
    after: Image | None = None
    left: int = 0


class Budget(Answer, frozen=True, kw_only=True):
    """What is used and what is left, the same for every agent.

    Attributes:
        calls, calls_left: of this API.
        failed: actions that failed.
        rounds: programs or decisions so far.
        time_s, budget_s: simulated seconds used, and after how many the score is reduced.
    """

    calls: int = 0
    calls_left: int = 0
    failed: int = 0
    rounds: int = 0
    time_s: float = 0.0
    budget_s: float = 0.0


class Look(Answer, frozen=True, kw_only=True):
    """The top camera's picture and the robot's state.

    Attributes:
        image: (height, width, 3) uint8, RGB; up in the picture is +x of the world, left is +y.
        tool: pose of the point between the finger pads (world).
        gripper_width_m: distance of the pads.
        holding: id of the brick in the hand, or "".
        time_s: simulated seconds.
    """

    image: Image | None = None
    tool: Pose | None = None
    gripper_width_m: float = 0.0
    holding: str = ""
    time_s: float = 0.0


class BrickView(msgspec.Struct, frozen=True, kw_only=True):
    """A brick as it is seen.

    Attributes:
        id: names it in other calls.
        part: LDraw part number.
        colour, colour_name: LDraw colour.
        pose: of the part's frame (world).
        size_m: along its own x, y and z, without studs.
        where: ``loose`` (on the table), ``built`` (on the plate) or ``held``.
    """

    id: str
    part: str
    colour: int
    colour_name: str
    pose: Pose
    size_m: tuple[float, float, float]
    where: str


class Bricks(Answer, frozen=True, kw_only=True):
    """Bricks that were asked for; none found is no failure.

    Attributes:
        source: ``perceived``, or ``true`` where a privileged stand-in for perception was asked for.
    """

    bricks: list[BrickView] = []
    source: str = ""


class Description(Answer, frozen=True, kw_only=True):
    """One brick's geometry and surroundings.

    Attributes:
        brick: the brick.
        boxes: its shape: cuboids in its own frame.
        bottom_m, top_m: heights of its underside and of its top, without studs (world z).
        centre_studs: middle of its footprint from the plate's middle, along the plate's axes, in studs.
        quarter_turns: its turn about the vertical against the plate, to the nearest quarter.
        under, above: ids of what carries it and of what lies on it.
        beside: ids of what touches it otherwise.
    """

    brick: BrickView | None = None
    boxes: list[Box] = []
    bottom_m: float = 0.0
    top_m: float = 0.0
    centre_studs: tuple[float, float] = (0.0, 0.0)
    quarter_turns: int = 0
    under: list[str] = []
    above: list[str] = []
    beside: list[str] = []


class Target(Answer, frozen=True, kw_only=True):
    """Where a brick would stand.

    Attributes:
        pose: of the part's frame (world), for ``pick``, ``place`` and ``pick_and_place``.
        rests_on: ids of what it would stand on.
        on_grid: whether its studs would line up with the plate's.
        off_grid_m: how far they would be off, along the plate's x and y.
    """

    pose: Pose | None = None
    rests_on: list[str] = []
    on_grid: bool = False
    off_grid_m: tuple[float, float] = (0.0, 0.0)


class GraspView(msgspec.Struct, frozen=True, kw_only=True):
    """One way to grip: pose of the tool when it closes (world), and the distance of the pads that hold."""

    tool: Pose
    width_m: float


class Grasps(Answer, frozen=True, kw_only=True):
    """Grasps that are possible and in reach, best first."""

    grasps: list[GraspView] = []


class PlacementCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One brick that was to be placed, against what is seen.

    Attributes:
        wanted: the pose it was placed at.
        seen: whether it is seen at all.
        error_m, error_rad: of the seen pose.
        ok: seen, and within the tolerance of a placement.
    """

    id: str
    wanted: Pose
    seen: bool
    error_m: float
    error_rad: float
    ok: bool


class StepCheck(Answer, frozen=True, kw_only=True):
    """What was placed since ``next_step``, against what is seen now; it knows your intentions, not the solution."""

    placements: list[PlacementCheck] = []


class Cloud(Answer, frozen=True, kw_only=True):
    """Points that the top camera sees.

    Attributes:
        points: (n, 3) float32, metres (world).
        colours: (n, 3) uint8, RGB.
    """

    points: npt.NDArray[np.float32] | None = None
    colours: Image | None = None


class State(Answer, frozen=True, kw_only=True):
    """The robot's measured state; fields as in ``look`` and the arm's joints in rad."""

    tool: Pose | None = None
    joints_rad: tuple[float, ...] = ()
    gripper_width_m: float = 0.0
    time_s: float = 0.0


class Reach(Answer, frozen=True, kw_only=True):
    """Whether the tool can be at a pose: in the workspace, in reach and free of collisions.

    Attributes:
        joints_rad: a configuration that reaches it; empty where there is none.
    """

    joints_rad: tuple[float, ...] = ()


def as_data(value: Any) -> Any:
    """Plain data of an answer: dicts, lists, numbers, strings; poses as seven numbers; arrays stay arrays."""
    if isinstance(value, msgspec.Struct):
        fields = {name: as_data(getattr(value, name)) for name in value.__struct_fields__}
        return {"ok": value.ok, **fields} if isinstance(value, Answer) else fields
    if isinstance(value, Pose):
        return value.to_list()
    if isinstance(value, dict):
        return {key: as_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_data(item) for item in value]
    return value
