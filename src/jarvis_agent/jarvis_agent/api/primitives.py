"""The task-oriented layer: bricks, manual steps, grasps and placements."""

from __future__ import annotations

from typing import Literal

from jarvis_bricks.colours import ColourTable
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.cell import CellConfig
from jarvis_core.objects import GROUND, RigidObject, Scene
from jarvis_core.ports import Tools
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillResult

from jarvis_agent.api import studs
from jarvis_agent.api.answers import (
    Action,
    Bricks,
    BrickView,
    Description,
    Grasps,
    GraspView,
    Look,
    PlacementCheck,
    Step,
    StepCheck,
    Target,
)
from jarvis_agent.api.common import Common
from jarvis_agent.api.usage import Usage

#: Kind of what perception sees on the plate as heights, not as bricks.
STRUCTURE = "structure"
#: Bodies that are nearer than this touch.
CONTACT_M = 0.0015
#: A brick placed this near to where it was meant to be counts as placed there.
PLACED_M, PLACED_RAD = 0.002, 0.0524


class Primitives(Common):
    """Look, find and describe bricks, follow the manual, pick and place."""

    def __init__(self, tools: Tools, cell: CellConfig, usage: Usage) -> None:
        super().__init__(tools, cell, usage)
        self._colours = ColourTable.load(None)
        self._step = 0
        self._placed: dict[str, Pose] = {}
        self._known: dict[str, RigidObject] = {}

    def look(self) -> Look:
        """The top camera's picture and the robot's state. The arm hides what is below it: go home first."""
        seen = self._tools.observe()
        return Look(
            image=seen.camera.rgb,
            tool=seen.robot.tool,
            gripper_width_m=seen.robot.gripper_width_m,
            holding=self._holding,
            time_s=seen.robot.time_s,
        )

    def find_brick(
        self, part: str = "", colour: str = "", where: Literal["loose", "built", "held", "any"] = "loose"
    ) -> Bricks:
        """Bricks that are seen now.

        Args:
            part: LDraw part number ("3001"); empty for any.
            colour: name or LDraw code ("Red", "4"); empty for any.
            where: loose on the table, built on the plate, held in the hand, or any.
        """
        scene = self._scene()
        bricks = [self._view(thing) for thing in scene.objects if thing.kind != STRUCTURE]
        wanted = [b for b in bricks if where in ("any", b.where)]
        if part:
            wanted = [b for b in wanted if b.part.lower() == part.lower().removesuffix(".dat")]
        if colour:
            name = colour.replace("_", " ").casefold()
            wanted = [b for b in wanted if name in (b.colour_name.casefold(), str(b.colour))]
        reason = f"{len(wanted)} of {len(bricks)} bricks that are seen"
        return Bricks(reason=reason, bricks=wanted, source=scene.source)

    def describe_brick(self, brick_id: str) -> Description:
        """Geometry of one brick, where it stands in studs, and what is under, above and beside it."""
        scene = self._scene()
        thing = scene.find(brick_id)
        if thing is None:
            return Description(status="PRECONDITION_FAILED", reason=_unknown(scene, brick_id))
        low, high = studs.extent(thing, Pose())
        under, above, beside = neighbours(scene, thing, self._cell.plate.pose)
        return Description(
            brick=self._view(thing),
            boxes=list(thing.boxes),
            bottom_m=float(low[2]),
            top_m=float(high[2]),
            centre_studs=studs.centre_studs(thing, self._cell.plate.pose),
            quarter_turns=studs.quarter_turns(thing, self._cell.plate.pose),
            under=under,
            above=above,
            beside=beside,
        )

    def next_step(self) -> Step:
        """The manual's next step: the page before and the page after. Each call goes one step on."""
        last = len(self._brief.manual.pages) - 1
        if self._step >= last:
            return Step(reason="the manual has no further step")
        self._step += 1
        self._placed.clear()
        return Step(
            step=self._step,
            before=self._page(self._step - 1),
            after=self._page(self._step),
            left=last - self._step,
        )

    def pose_on(
        self,
        brick_id: str,
        support: str = GROUND,
        x_studs: float = 0.0,
        y_studs: float = 0.0,
        quarter_turns: int = 0,
    ) -> Target:
        """The pose a brick has when it is set down on the plate or on a brick, on whatever stands there. Moves nothing.

        Args:
            brick_id: the brick to place.
            support: "plate" or the id of a brick: from where studs are counted.
            x_studs, y_studs: middle of the brick from the middle of the support, along the plate's axes.
            quarter_turns: of the brick about the vertical, counter-clockwise seen from above; at 0 its own axes
                lie along the plate's.
        """
        plate, scene = self._cell.plate.pose, self._scene()
        thing = scene.find(brick_id) or self._known.get(brick_id)
        below = None if support == GROUND else scene.find(support)
        if thing is None or (below is None and support != GROUND):
            missing = brick_id if thing is None else support
            return Target(status="PRECONDITION_FAILED", reason=_unknown(scene, missing))
        middle = (0.0, 0.0) if below is None else studs.centre_studs(below, plate)
        centre = ((middle[0] + x_studs) * STUD_PITCH_M, (middle[1] + y_studs) * STUD_PITCH_M)
        flat = studs.pose_above(thing, plate, centre, 0.0, quarter_turns)
        height, rests_on = studs.top_below(thing, flat, scene, plate)
        pose = studs.pose_above(thing, plate, centre, height, quarter_turns)
        off = studs.off_grid_m(thing, pose, plate)
        on_grid = max(map(abs, off)) <= studs.GRID_TOLERANCE_M
        reason = (
            ""
            if on_grid
            else "its studs would not line up with the plate's: an even and an odd number of studs on top of each "
            "other need half a stud of offset"
        )
        return Target(pose=pose, rests_on=rests_on, on_grid=on_grid, off_grid_m=off, reason=reason)

    def plan_grasp(self, brick_id: str, pose: Pose | None = None) -> Grasps:
        """Ways to grip a brick where it lies and, with ``pose``, also to put it there. Moves nothing.

        Args:
            brick_id: the brick.
            pose: where it will be placed.
        """
        plan = self._tools.plan_grasp(brick_id, pose)
        views = [GraspView(tool=grasp.tool, width_m=grasp.width_m) for grasp in plan.grasps]
        return Grasps(status=plan.status.name, reason=plan.message, grasps=views)

    def pick(self, brick_id: str, pose: Pose | None = None) -> Action:
        """Grip a brick from above, make sure that it is held, lift it.

        Args:
            brick_id: the brick.
            pose: where it will be placed; steers which sides are gripped.
        """
        return self._acted(self._tools.pick(brick_id, pose), brick_id)

    def place(self, pose: Pose) -> Action:
        """Put the held brick down so that its frame is at ``pose``: from above, pressed on, let go, looked at."""
        return self._placing(self._holding, pose, self._tools.place(pose))

    def place_on(
        self, support: str = GROUND, x_studs: float = 0.0, y_studs: float = 0.0, quarter_turns: int = 0
    ) -> Action:
        """Put the held brick on another one or on the plate; arguments as in ``pose_on``."""
        held = self._holding
        if not held:
            return Action(status="PRECONDITION_FAILED", reason="the hand is empty; pick something first")
        target = self.pose_on(held, support, x_studs, y_studs, quarter_turns)
        if target.pose is None:
            return Action(status=target.status, reason=target.reason)
        return self._placing(held, target.pose, self._tools.place(target.pose))

    def pick_and_place(self, brick_id: str, pose: Pose) -> Action:
        """Pick a brick and place it at ``pose``, as ``pick`` and ``place`` do."""
        return self._placing(brick_id, pose, self._tools.pick_and_place(brick_id, pose))

    def remove(self, brick_id: str) -> Action:
        """Take a brick off what it is pressed on; it is then in the hand. For what stands in the wrong place."""
        self._placed.pop(brick_id, None)
        return self._acted(self._tools.remove(brick_id), brick_id)

    def press(self, brick_id: str) -> Action:
        """Press a standing brick down, for one that is not seated; the hand must be empty."""
        return self._acted(self._tools.press(brick_id), self._holding)

    def check_step(self) -> StepCheck:
        """What you placed since ``next_step``, against what is seen now: moved, fallen or where you meant it."""
        scene = self._scene()
        checks = [self._check(scene, name, wanted) for name, wanted in self._placed.items()]
        bad = [check.id for check in checks if not check.ok]
        if bad:
            return StepCheck(
                status="VERIFICATION_FAILED", reason=f"not where meant: {', '.join(bad)}", placements=checks
            )
        return StepCheck(reason=f"{len(checks)} placed since the step began", placements=checks)

    def _scene(self) -> Scene:
        """What is seen now. What was seen once is known by its shape when the hand hides it."""
        scene = self._tools.scene()
        self._known.update((thing.id, thing) for thing in scene.objects if thing.kind != STRUCTURE)
        return scene

    def _check(self, scene: Scene, name: str, wanted: Pose) -> PlacementCheck:
        thing = scene.find(name)
        if thing is None:
            return PlacementCheck(id=name, wanted=wanted, seen=False, error_m=0.0, error_rad=0.0, ok=False)
        error, angle = thing.pose.distance_to(wanted), thing.pose.angle_to(wanted)
        ok = error <= PLACED_M and angle <= PLACED_RAD
        return PlacementCheck(id=name, wanted=wanted, seen=True, error_m=error, error_rad=angle, ok=ok)

    def _placing(self, brick_id: str, pose: Pose, result: SkillResult) -> Action:
        if result.ok:
            self._placed[brick_id] = pose
        return self._acted(result, brick_id)

    def _view(self, thing: RigidObject) -> BrickView:
        low, high = _own_extent(thing)
        return BrickView(
            id=thing.id,
            part=thing.kind,
            colour=thing.colour,
            colour_name=self._colour_name(thing.colour),
            pose=thing.pose,
            size_m=(high[0] - low[0], high[1] - low[1], high[2] - low[2]),
            where=self._where(thing),
        )

    def _colour_name(self, code: int) -> str:
        told = next((p.colour_name for p in self._brief.manual.parts if p.colour == code), None)
        known = self._colours.colours.get(code)
        return told or (known.words if known is not None else str(code))

    def _where(self, thing: RigidObject) -> str:
        if thing.held:
            return "held"
        x, y = studs.centre_studs(thing, self._cell.plate.pose)
        half_x, half_y = (n / 2 for n in self._cell.plate.studs)
        return "built" if abs(x) <= half_x and abs(y) <= half_y else "loose"


def neighbours(scene: Scene, thing: RigidObject, plate: Pose) -> tuple[list[str], list[str], list[str]]:
    """Ids of what is under, above and beside an object: bounding boxes along the plate's axes that touch its own."""
    low, high = studs.extent(thing, plate)
    under: list[str] = [GROUND] if abs(low[2]) < CONTACT_M else []
    above: list[str] = []
    beside: list[str] = []
    for other in scene.objects:
        if other.id == thing.id:
            continue
        other_low, other_high = studs.extent(other, plate)
        gap = [max(a, b) for a, b in zip(other_low - high, low - other_high, strict=True)]
        if max(gap) > CONTACT_M:
            continue
        overlaps = max(gap[0], gap[1]) < -CONTACT_M
        if overlaps and abs(other_high[2] - low[2]) < CONTACT_M:
            under.append(other.id)
        elif overlaps and abs(other_low[2] - high[2]) < CONTACT_M:
            above.append(other.id)
        else:
            beside.append(other.id)
    return under, above, beside


def _own_extent(thing: RigidObject) -> tuple[list[float], list[float]]:
    points = studs.corners(thing.boxes)
    return points.min(axis=0).tolist(), points.max(axis=0).tolist()


def _unknown(scene: Scene, brick_id: str) -> str:
    known = ", ".join(scene.ids()) or "none"
    return f"no brick {brick_id!r} is seen; seen: {known}"
