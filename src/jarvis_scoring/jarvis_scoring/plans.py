"""A plan without a robot: the steps that a program read from a manual, against the task's target.

A step of a plan names a part, a colour, the manual's step and a place on the plate's grid. Within equal part, colour
and step the plan's bricks are assigned to the required ones so that the summed position error is smallest (which of
two equal bricks is which means nothing); a required brick that got one counts as covered.

::

    coverage        covered / required
    position error  distance to the target's place, of covered bricks; of the poses that look the same the one
                    nearest in orientation counts, as in the score
    part, colour    the same without asking for the colour, or for the part: bricks of a step counted by the other
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, read_bytes
from jarvis_core.objects import RigidObject, TargetObject
from jarvis_core.pose import FloatArray, Pose
from scipy.optimize import linear_sum_assignment

from jarvis_scoring.rotations import nearest

#: Version of the layout; a reader refuses any other.
PLAN_SCHEMA = 1
#: Metres that a radian is worth where two bricks are equally far from a place.
_TIE_M = 1e-6


class PlanStep(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One brick to place.

    Attributes:
        step: the manual's step within the task, from 1.
        part: LDraw part number, like ``3001``.
        colour: LDraw colour code.
        x_studs, y_studs: middle of its footprint from the middle of the plate, along the plate's axes.
        level_plates: height of its underside over the plate, in plates (3.2 mm).
        quarter_turns: about the plate's z, counter-clockwise from above; 0 as in the part's file.
        quaternion: instead of quarter_turns for a brick that does not stand upright: x, y, z, w in frame ``plate``.
    """

    step: int
    part: str
    colour: int
    x_studs: float
    y_studs: float
    level_plates: float
    quarter_turns: float = 0.0
    quaternion: tuple[float, float, float, float] | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a program made of a task's manual.

    Attributes:
        task: id of the task.
        agent: who made it.
        descriptors: whether it was given 3D descriptors of the parts.
        style: of the manual's pages.
    """

    schema: int = PLAN_SCHEMA
    task: str
    agent: str
    seed: int = 0
    descriptors: bool = False
    style: str = "classic"
    steps: tuple[PlanStep, ...]


class Grid(msgspec.Struct, frozen=True):
    """Of the plate: metres between studs, height of a plate."""

    stud_m: float
    plate_m: float


class StepScore(msgspec.Struct, frozen=True):
    """One required brick; ``planned`` is the index of the plan's step that covers it, None for none."""

    id: str
    step: int
    part: str
    colour: int
    planned: int | None
    position_mm: float | None = None
    angle_deg: float | None = None


class PlanScore(msgspec.Struct, frozen=True, kw_only=True):
    """How a plan compares. Shares are of the required bricks and lie in [0, 1].

    Attributes:
        coverage: matched in part, colour and step.
        coverage_any_step: matched in part and colour, whenever.
        part_share, colour_share: right part, right colour within the step.
        exact_share: covered, and within the given limits of the place.
        extra: steps of the plan that cover nothing.
        position_mm, angle_deg: means over covered bricks; None where there is none.
    """

    task: str
    agent: str
    n_required: int
    n_planned: int
    coverage: float
    coverage_any_step: float
    part_share: float
    colour_share: float
    exact_share: float
    extra: int
    position_mm: float | None
    median_position_mm: float | None
    angle_deg: float | None
    steps: tuple[StepScore, ...]


def read_plan_file(path: Path) -> Plan:
    """Raises BadInputError: no plan, of another layout, or with a number that is none."""
    where = str(path)
    plan = decode(read_bytes(path), Plan, where=where)
    if plan.schema != PLAN_SCHEMA:
        raise BadInputError(f"has plan layout {plan.schema}, this version reads {PLAN_SCHEMA}", where=where)
    for number, step in enumerate(plan.steps):
        if step.step < 1:
            raise BadInputError(f"steps[{number}].step is {step.step}", where=where, fix="steps count from 1")
        quaternion = step.quaternion
        if quaternion is not None and abs(math.hypot(*quaternion) - 1.0) > 1e-3:
            raise BadInputError(f"steps[{number}].quaternion is no unit quaternion", where=where)
    return plan


def score_plan(
    plan: Plan, targets: Sequence[TargetObject], grid: Grid, *, exact_m: float, exact_deg: float
) -> PlanScore:
    """Compare a plan with the target.

    Args:
        targets: of the task, poses in frame ``plate``.
        exact_m, exact_deg: largest errors of a brick that counts as exact.

    Raises:
        BadInputError: no targets.
    """
    if not targets:
        raise BadInputError("no required brick", where=plan.task)
    rows = {
        t.object.id: StepScore(t.object.id, t.step, t.object.kind, t.object.colour, None) for t in targets
    }
    by_target = _groups(targets, lambda t: (t.object.kind, t.object.colour, t.step))
    by_step = _groups(range(len(plan.steps)), lambda k: _identity(plan.steps[k]))
    for key, places in by_target.items():
        for score in _matched(plan, places, by_step.get(key, []), grid):
            rows[score.id] = score
    steps = tuple(rows.values())
    n = len(targets)
    covered = [s for s in steps if s.planned is not None]
    position, angle = [s.position_mm or 0.0 for s in covered], [s.angle_deg or 0.0 for s in covered]
    exact = sum(mm <= 1e3 * exact_m and deg <= exact_deg for mm, deg in zip(position, angle, strict=True))
    wanted = [(t.object.kind, t.object.colour, t.step) for t in targets]
    given = [_identity(step) for step in plan.steps]
    return PlanScore(
        task=plan.task,
        agent=plan.agent,
        n_required=n,
        n_planned=len(plan.steps),
        coverage=len(covered) / n,
        coverage_any_step=_common([w[:2] for w in wanted], [g[:2] for g in given]) / n,
        part_share=_common([(w[0], w[2]) for w in wanted], [(g[0], g[2]) for g in given]) / n,
        colour_share=_common([w[1:] for w in wanted], [g[1:] for g in given]) / n,
        exact_share=exact / n,
        extra=len(plan.steps) - len(covered),
        position_mm=float(np.mean(position)) if covered else None,
        median_position_mm=float(np.median(position)) if covered else None,
        angle_deg=float(np.mean(angle)) if covered else None,
        steps=steps,
    )


def plan_of(targets: Sequence[TargetObject], grid: Grid, *, task: str, agent: str) -> Plan:
    """The plan that builds the targets (poses in frame ``plate``): what a perfect reader would write."""
    return Plan(task=task, agent=agent, steps=tuple(_step_of(t, grid) for t in targets))


def _step_of(target: TargetObject, grid: Grid) -> PlanStep:
    thing = target.object
    low, high = _extent(thing, thing.pose.quaternion)
    middle = (low + high) / 2 + thing.pose.position
    yaw = thing.pose.yaw
    turned = Pose.from_yaw((0.0, 0.0, 0.0), yaw)
    upright = turned.angle_to(Pose((0.0, 0.0, 0.0), thing.pose.quaternion)) < 1e-6
    x, y, z, w = (float(v) for v in thing.pose.quaternion)
    return PlanStep(
        step=target.step,
        part=thing.kind,
        colour=thing.colour,
        x_studs=round(float(middle[0]) / grid.stud_m, 6),
        y_studs=round(float(middle[1]) / grid.stud_m, 6),
        # Adding zero makes 0.0 of -0.0.
        level_plates=round(float(low[2] + thing.pose.position[2]) / grid.plate_m, 6) + 0.0,
        quarter_turns=round(yaw / (math.pi / 2), 6) % 4 if upright else 0.0,
        quaternion=None if upright else (x, y, z, w),
    )


def _identity(step: PlanStep) -> tuple[str, int, int]:
    return step.part.strip().lower().removesuffix(".dat"), step.colour, step.step


def _groups[T, K: Hashable](items: Sequence[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key(item), []).append(item)
    return found


def _common(wanted: Sequence[Hashable], given: Sequence[Hashable]) -> int:
    """How many of one list are in the other, each counted as often as it occurs."""
    return (Counter(wanted) & Counter(given)).total()


def _matched(plan: Plan, places: list[TargetObject], chosen: list[int], grid: Grid) -> list[StepScore]:
    """Places of equal part, colour and step with the plan's steps that cover them."""
    if not chosen:
        return []
    metres, radians = _errors(places, [plan.steps[k] for k in chosen], grid)
    rows, columns = linear_sum_assignment(metres + _TIE_M * radians)
    return [
        StepScore(
            id=places[j].object.id,
            step=places[j].step,
            part=places[j].object.kind,
            colour=places[j].object.colour,
            planned=chosen[i],
            position_mm=1e3 * float(metres[j, i]),
            angle_deg=math.degrees(float(radians[j, i])),
        )
        for j, i in zip(rows.tolist(), columns.tolist(), strict=True)
    ]


def _errors(
    places: Sequence[TargetObject], steps: Sequence[PlanStep], grid: Grid
) -> tuple[FloatArray, FloatArray]:
    """(places, steps) distance in metres and angle in radians, of the pose of the place that looks the same."""
    metres, radians = np.zeros((len(places), len(steps))), np.zeros((len(places), len(steps)))
    for j, place in enumerate(places):
        centre, back = Pose(place.symmetry_centre), Pose([-c for c in place.symmetry_centre])
        turns = place.symmetries or ((0.0, 0.0, 0.0, 1.0),)
        same = [place.object.pose @ centre @ Pose((0.0, 0.0, 0.0), turn) @ back for turn in turns]
        poses = [_pose(step, place.object, grid) for step in steps]
        index, angle = nearest(
            np.array([[p.quaternion for p in same]]), np.array([[p.quaternion for p in poses]])
        )
        metres[j] = [same[k].distance_to(pose) for k, pose in zip(index[0].tolist(), poses, strict=True)]
        radians[j] = angle[0]
    return metres, radians


def _pose(step: PlanStep, thing: RigidObject, grid: Grid) -> Pose:
    """Pose of the part frame in frame ``plate``; ``thing`` tells the part's shape."""
    turned = (
        Pose((0.0, 0.0, 0.0), step.quaternion)
        if step.quaternion is not None
        else Pose.from_yaw((0.0, 0.0, 0.0), step.quarter_turns * math.pi / 2)
    )
    low, high = _extent(thing, turned.quaternion)
    middle = (low + high) / 2
    x, y = step.x_studs * grid.stud_m - middle[0], step.y_studs * grid.stud_m - middle[1]
    return Pose((x, y, step.level_plates * grid.plate_m - low[2]), turned.quaternion)


def _extent(thing: RigidObject, quaternion: FloatArray) -> tuple[FloatArray, FloatArray]:
    """(3,) lowest and highest coordinates of a part's boxes, turned about the origin of its frame."""
    signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
    turned = Pose((0.0, 0.0, 0.0), quaternion)
    corners = np.concatenate([turned @ (box.pose @ (signs * np.array(box.size_m))) for box in thing.boxes])
    return corners.min(axis=0), corners.max(axis=0)
