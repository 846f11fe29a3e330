"""What this cell can't build, said as data: a reason, how often, and the first brick it is about.

Whether a brick can be part of a task depends on the brick and on what was placed before it, not on where the
segment begins, so a model is checked once and segments are judged from that. Only the initial structure's hold on
the plate and the number of loose bricks belong to a segment.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Literal

import msgspec
import numpy as np
from jarvis_bricks.assembly import Brick
from jarvis_bricks.build_check import BrickCheck, BuildProblem, check_build
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import Connection, StudGrid, components, overlaps
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_bricks.grip import FingerClearance, GripOption, common_grips, grip_options
from jarvis_core.cell import CellConfig
from jarvis_core.errors import BadInputError
from jarvis_core.objects import GROUND, Box
from jarvis_core.pose import Pose

from jarvis_tasks.config import TasksConfig
from jarvis_tasks.placement import LEVEL_M, PlacedModel, extent


class Reason(StrEnum):
    """Why a segment is refused. The order is that of importance: a refused segment counts for its first one."""

    NOT_PHYSICAL = "a part that can't be simulated and gripped as a brick"
    MIRRORED = "a mirrored or scaled part"
    TILTED = "a brick that is not upright or not along the studs"
    OUTSIDE_PLATE = "a brick beyond the build plate's edge or below it"
    TOO_HIGH = "a brick above the workspace"
    OVERLAP = "two bricks in the same place"
    FLOATING = "an initial structure of which a part does not hang together with the plate"
    UNSUPPORTED = "a brick that sits on nothing placed before it"
    UNDERNEATH = "a brick that goes underneath one placed before it"
    BLOCKED = "a brick that can't come down from above"
    NO_GRIP = "a brick that leaves no room for the fingers"
    TOO_FEW = "too few bricks"
    TOO_MANY = "too many bricks"
    SUPPLY_FULL = "more loose bricks than the supply area holds"


#: What also counts for a brick of the initial structure.
SCENE_REASONS = frozenset(
    {
        Reason.NOT_PHYSICAL,
        Reason.MIRRORED,
        Reason.TILTED,
        Reason.OUTSIDE_PLATE,
        Reason.TOO_HIGH,
        Reason.OVERLAP,
    }
)
_IMPORTANCE = {reason: rank for rank, reason in enumerate(Reason)}

Role = Literal["scene", "target", "segment"]


class Refusal(msgspec.Struct, frozen=True):
    """One reason against a segment.

    Attributes:
        count: number of bricks it holds for (1 for a segment as a whole).
        role: of the first such brick: part of the initial structure, to be placed, or neither.
        brick, part, where: the first such brick, its part number and ``file:line``; empty for a segment as a whole.
        detail: what exactly is wrong with it.
    """

    reason: Reason
    count: int
    role: Role
    brick: str
    part: str
    where: str
    detail: str

    def line(self) -> str:
        """For people: where, what, which brick."""
        head = f"{self.where}: " if self.where else ""
        named = f" ({self.role} {self.brick}, part {self.part})" if self.brick else ""
        more = f", {self.count} in all" if self.count > 1 else ""
        return f"{head}{self.reason.value}{named}: {self.detail}{more}"


@dataclass(frozen=True, slots=True)
class CellLimits:
    """What the cell and its gripper allow.

    Attributes:
        fingers: the gripper's numbers.
        supply_area_m2, supply_clearance_m: of the area for loose bricks, and the free space around each.
        top_m: height above the plate that no brick may pass.
    """

    fingers: FingerClearance
    supply_area_m2: float
    supply_clearance_m: float
    top_m: float

    @classmethod
    def of(cls, cell: CellConfig, fingers: FingerClearance) -> CellLimits:
        """From the cell's configuration; above a placed brick the hand still needs its fingers' length."""
        (x0, x1), (y0, y1) = cell.supply.region.x, cell.supply.region.y
        top = cell.workspace_z_m[1] - float(cell.plate.pose.position[2]) - fingers.length_m
        return cls(fingers, (x1 - x0) * (y1 - y0), cell.supply.clearance_m, top)


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing wrong with one brick at its turn."""

    reason: Reason
    detail: str


class CheckedModel:
    """A placed build and the faults of its bricks, each brick looked at once, at its turn in the order of building.

    Attributes:
        faults: by brick id, the most important first; bricks without a fault are absent.
        checked_steps: up to this step bricks were also checked for what only counts when they are placed: the
            next step holds a brick that refuses every later segment anyway.
    """

    def __init__(
        self, model: PlacedModel, catalogue: PartCatalogue, limits: CellLimits, config: TasksConfig
    ) -> None:
        self.model = model
        self._limits = limits
        self._config = config
        found = own_faults(model, catalogue, limits, config)
        blocked = [b.step for b in model.bricks if b.id in found]
        self.checked_steps = min(blocked, default=model.source.n_steps + 1) - 1
        buildable = [b for b in model.bricks if b.step <= self.checked_steps]
        for brick, fault in _turn_faults(buildable, model, catalogue, limits):
            found.setdefault(brick.id, []).append(fault)
        self.faults: Mapping[str, tuple[Fault, ...]] = {
            name: tuple(sorted(faults, key=lambda f: _IMPORTANCE[f.reason])) for name, faults in found.items()
        }
        self._areas = {b.id: _supply_area(b, catalogue, limits.supply_clearance_m) for b in model.bricks}
        sums = list(self._sum_scene_faults())
        self._fault_steps = [step for step, _ in sums]
        self._fault_sums = [refusals for _, refusals in sums]
        self._loose = loose_counts(model)
        self._floating: dict[int, tuple[Refusal, ...]] = {}
        self._n_steps = model.source.n_steps

    def refusals(self, first: int, last: int) -> tuple[Refusal, ...]:
        """Everything against the segment of steps ``first`` to ``last``, the most important first; empty if it can
        be a task. Whether the initial structure hangs together is asked only if its bricks are in order.

        Raises:
            BadInputError: steps that the build does not have.
        """
        if not 1 <= first <= last <= self._n_steps:
            raise BadInputError(
                f"steps {first} to {last} are not in the build, which has steps 1 to {self._n_steps}",
                where=self.model.source.name,
                fix="name a first and a last step of the build",
            )
        targets = self.model.between(first, last)
        cases: list[tuple[Role, Brick, Fault]] = [
            ("target", b, fault) for b in targets for fault in self.faults.get(b.id, ())
        ]
        of_targets = _gathered(cases)
        of_scene = self._of_scene(first)
        together = _merged(of_scene, of_targets)
        return tuple(sorted((*together, *self._of_size(targets)), key=lambda r: _IMPORTANCE[r.reason]))

    def _of_scene(self, first: int) -> tuple[Refusal, ...]:
        rank = bisect.bisect_left(self._fault_steps, first)
        if rank:
            return self._fault_sums[rank - 1]
        if not self._loose[self.model.count(1, first - 1)]:
            return ()
        if first not in self._floating:
            self._floating[first] = _floating(self.model, self.model.between(1, first - 1))
        return self._floating[first]

    def _sum_scene_faults(self) -> Iterable[tuple[int, tuple[Refusal, ...]]]:
        """For every step with faults that count for an initial structure: those of all bricks up to it."""
        running: tuple[Refusal, ...] = ()
        for step, bricks in itertools.groupby(self.model.bricks, key=lambda b: b.step):
            cases: list[tuple[Role, Brick, Fault]] = [
                ("scene", b, fault)
                for b in bricks
                for fault in self.faults.get(b.id, ())
                if fault.reason in SCENE_REASONS
            ]
            if cases:
                running = tuple(_merged(running, _gathered(cases)))
                yield step, running

    def _of_size(self, targets: Sequence[Brick]) -> Iterable[Refusal]:
        config, count = self._config, len(targets)
        if count < config.min_bricks:
            yield _of_segment(Reason.TOO_FEW, f"{count} to place, at least {config.min_bricks}")
        if count > config.max_bricks:
            yield _of_segment(Reason.TOO_MANY, f"{count} to place, at most {config.max_bricks}")
        needed = sum(self._areas[b.id] for b in targets)
        available = self._limits.supply_area_m2 * config.supply_packing
        if needed > available:
            yield _of_segment(
                Reason.SUPPLY_FULL, f"they take {needed * 1e4:.0f} cm2 of {available * 1e4:.0f} cm2"
            )


def own_faults(
    model: PlacedModel, catalogue: PartCatalogue, limits: CellLimits, config: TasksConfig
) -> dict[str, list[Fault]]:
    """By brick id: what is wrong with a brick wherever in the order it comes (SCENE_REASONS)."""
    faults: dict[str, list[Fault]] = {}
    for brick in model.bricks:
        found = list(_own_faults(brick, model, catalogue, limits, config))
        if found:
            faults[brick.id] = found
    # Of two bricks in one place, the one that comes later is at fault.
    for overlap in overlaps(model.bricks, catalogue, tolerance_m=config.overlap_m):
        if overlap.first_id not in faults:
            detail = f"shares {overlap.depth_m * 1000:.1f} mm with {overlap.first_id}"
            faults.setdefault(overlap.second_id, []).append(Fault(Reason.OVERLAP, detail))
    return faults


def _own_faults(
    brick: Brick, model: PlacedModel, catalogue: PartCatalogue, limits: CellLimits, config: TasksConfig
) -> Iterable[Fault]:
    """What is wrong with a brick whatever stands around it."""
    geometry = catalogue.geometry(brick.part)
    if not geometry.physical:
        yield Fault(Reason.NOT_PHYSICAL, geometry.not_physical_reason)
    if brick.mirrored:
        yield Fault(Reason.MIRRORED, "its matrix in the file is no rotation")
    lean = math.degrees(math.acos(min(1.0, max(-1.0, float(brick.pose.rotation[2, 2])))))
    turn = math.degrees(brick.pose.yaw) % 90
    if lean > config.upright_deg:
        yield Fault(Reason.TILTED, f"leans {lean:.1f} degrees")
    elif min(turn, 90 - turn) > config.upright_deg:
        yield Fault(Reason.TILTED, f"turned {min(turn, 90 - turn):.1f} degrees away from the studs")
    low, high = extent(brick, catalogue)
    half = np.array(model.plate_studs) * STUD_PITCH_M / 2 + config.overhang_studs * STUD_PITCH_M + LEVEL_M
    if (np.abs([low[:2], high[:2]]) > half).any():
        yield Fault(
            Reason.OUTSIDE_PLATE, f"the plate has {model.plate_studs[0]} x {model.plate_studs[1]} studs"
        )
    elif low[2] < -LEVEL_M:
        yield Fault(Reason.OUTSIDE_PLATE, f"reaches {-low[2] * 1000:.1f} mm below the plate's top")
    if high[2] > limits.top_m:
        yield Fault(Reason.TOO_HIGH, f"reaches {high[2] * 1000:.0f} mm above the plate")


def _turn_faults(
    bricks: Sequence[Brick], model: PlacedModel, catalogue: PartCatalogue, limits: CellLimits
) -> Iterable[tuple[Brick, Fault]]:
    """What is wrong with bricks at their turn, all earlier ones in place."""
    ground = StudGrid(Pose(), model.plate_studs)
    checks = check_build(bricks, catalogue, limits.fingers, ground=ground)
    for brick, check in zip(bricks, checks, strict=True):
        if BuildProblem.UNSUPPORTED in check.problems:
            yield (
                brick,
                Fault(
                    Reason.UNSUPPORTED, "none of its openings takes a stud of an earlier brick or the plate"
                ),
            )
        if check.hangs_from:
            yield brick, Fault(Reason.UNDERNEATH, f"its studs go into {', '.join(check.hangs_from)}")
        elif check.covered_by:
            yield brick, Fault(Reason.BLOCKED, f"{', '.join(check.covered_by)} in the way")
        else:
            if not common_grips(_table_grips(brick.part, catalogue, limits.fingers), check.grips):
                yield brick, Fault(Reason.NO_GRIP, _grip_detail(check))


def _table_grips(part: str, catalogue: PartCatalogue, fingers: FingerClearance) -> tuple[GripOption, ...]:
    """Possible grips of a brick that stands on the table by itself."""
    geometry = catalogue.geometry(part)
    return _grips_alone(geometry.boxes, float(geometry.bounds[0, 2]), fingers)


@lru_cache(2048)
def _grips_alone(
    boxes: tuple[Box, ...], floor_z_m: float, fingers: FingerClearance
) -> tuple[GripOption, ...]:
    return tuple(option for option in grip_options(boxes, [], fingers, floor_z_m=floor_z_m) if option.ok)


def _grip_detail(check: BrickCheck) -> str:
    if check.grips:
        return "no grip at its place is possible where it lies on the table"
    found = sorted({refused.refusal.value for refused in check.refused if refused.refusal is not None})
    return "; ".join(found) or "it has no pair of upright faces"


def _supply_area(brick: Brick, catalogue: PartCatalogue, clearance_m: float) -> float:
    """Of the circle around a loose brick, half the clearance wider."""
    size = np.diff(catalogue.geometry(brick.part).bounds, axis=0)[0]
    return math.pi * (math.hypot(size[0], size[1]) / 2 + clearance_m / 2) ** 2


def _gathered(cases: Sequence[tuple[Role, Brick, Fault]]) -> tuple[Refusal, ...]:
    """Faults gathered by reason."""
    found: dict[Reason, list[tuple[Role, Brick, Fault]]] = {}
    for case in cases:
        found.setdefault(case[2].reason, []).append(case)
    refusals = []
    for reason, same in found.items():
        role, brick, fault = same[0]
        refusals.append(Refusal(reason, len(same), role, brick.id, brick.part, brick.where, fault.detail))
    return tuple(refusals)


def _merged(first: Sequence[Refusal], second: Sequence[Refusal]) -> Iterable[Refusal]:
    """One refusal per reason: the first one named, the counts added."""
    merged = {r.reason: r for r in first}
    for refusal in second:
        known = merged.get(refusal.reason)
        merged[refusal.reason] = (
            msgspec.structs.replace(known, count=known.count + refusal.count) if known else refusal
        )
    return merged.values()


def _floating(model: PlacedModel, scene: Sequence[Brick]) -> tuple[Refusal, ...]:
    """Bricks of an initial structure that do not hang together with the plate."""
    if not scene:
        return ()
    loose = loose_bricks(scene, model.joints)
    if not loose:
        return ()
    detail = "it hangs together with the plate only through later bricks, or not at all"
    return (
        Refusal(Reason.FLOATING, len(loose), "scene", loose[0].id, loose[0].part, loose[0].where, detail),
    )


def loose_counts(model: PlacedModel) -> list[int]:
    """(n + 1) for 0, 1 ... n first bricks of the model: how many do not hang together with the plate. Bricks join
    groups one after the other (union-find)."""
    rank = {GROUND: 0} | {b.id: number for number, b in enumerate(model.bricks, start=1)}
    joins: list[list[int]] = [[] for _ in rank]
    for joint in model.joints:
        if joint.upper_id in rank and joint.lower_id in rank:
            early, late = sorted((rank[joint.upper_id], rank[joint.lower_id]))
            joins[late].append(early)
    parent, size = list(range(len(rank))), [1] * len(rank)

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    counts = [0]
    for late in range(1, len(rank)):
        for early in joins[late]:
            small, large = sorted((root(early), root(late)), key=size.__getitem__)
            if small != large:
                parent[small] = large
                size[large] += size[small]
        counts.append(late + 1 - size[root(0)])
    return counts


def loose_bricks(bricks: Sequence[Brick], joints: Iterable[Connection]) -> list[Brick]:
    """Those that do not hang together with the plate."""
    standing = next(set(g) for g in components([GROUND, *(b.id for b in bricks)], joints) if GROUND in g)
    return [b for b in bricks if b.id not in standing]


def _of_segment(reason: Reason, detail: str) -> Refusal:
    return Refusal(reason, 1, "segment", "", "", "", detail)
