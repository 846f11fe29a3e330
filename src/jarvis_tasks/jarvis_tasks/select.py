"""All segments of a build that can be tasks, and why the others can't."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue

from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits, CheckedModel, Reason, Refusal
from jarvis_tasks.placement import PlacedModel, place_on_plate
from jarvis_tasks.pruning import place_without_unbuildable
from jarvis_tasks.segment import Segment, TaskMaker
from jarvis_tasks.task import Task


@dataclass(frozen=True, slots=True)
class RefusalCount:
    """How many segments a reason refuses (each counts for its most important one), and the first example."""

    reason: Reason
    segments: int
    first: Segment
    example: Refusal

    def line(self) -> str:
        """For people: how many, and the first one."""
        steps = f"steps {self.first.first} to {self.first.last}"
        return f"{self.segments} refused for {self.reason.value}, first {steps}: {self.example.line()}"


@dataclass(frozen=True, slots=True)
class SegmentSearch:
    """What came of looking at all segments of a build.

    Attributes:
        considered: number of segments looked at: all runs of steps with at most the largest number of bricks,
            and single steps that exceed it.
        accepted: in order of first, then last step.
        refused: the most frequent reason first.
        too_long, too_short: number of runs of steps that were not looked at, for the number of their bricks.
    """

    model: PlacedModel
    considered: int
    accepted: tuple[Segment, ...]
    refused: tuple[RefusalCount, ...]
    too_long: int = 0
    too_short: int = 0

    def tasks(self) -> Iterator[Task]:
        """The accepted segments as tasks, made one at a time: a big build has thousands."""
        maker = TaskMaker(self.model)
        for segment in self.accepted:
            yield maker.task(segment.first, segment.last)


def place(
    assembly: Assembly,
    catalogue: PartCatalogue,
    limits: CellLimits,
    config: TasksConfig,
    plate_studs: tuple[int, int],
    quarter_turns: int = 0,
) -> PlacedModel:
    """Put a build onto the plate; with ``config.leave_out`` without what the cell can't build with."""
    if config.leave_out:
        return place_without_unbuildable(assembly, catalogue, limits, config, plate_studs, quarter_turns)
    return place_on_plate(assembly, catalogue, plate_studs, quarter_turns)


def find_segments(
    assembly: Assembly,
    catalogue: PartCatalogue,
    limits: CellLimits,
    config: TasksConfig,
    plate_studs: tuple[int, int],
    quarter_turns: int = 0,
) -> SegmentSearch:
    """Put a build onto the plate, check it once, and judge every run of steps within the configured size.

    With ``config.leave_out`` bricks that the cell can't build with are taken away first.
    """
    model = place(assembly, catalogue, limits, config, plate_studs, quarter_turns)
    return judge_segments(CheckedModel(model, catalogue, limits, config), config)


def judge_segments(checked: CheckedModel, config: TasksConfig) -> SegmentSearch:
    """Judge every run of steps of a checked build within the configured size."""
    accepted: list[Segment] = []
    counts: dict[Reason, RefusalCount] = {}
    candidates = _candidates(checked.model, config)
    for segment in candidates.segments:
        refusals = checked.refusals(segment.first, segment.last)
        if not refusals:
            accepted.append(segment)
            continue
        reason = refusals[0].reason
        known = counts.get(reason) or RefusalCount(reason, 0, segment, refusals[0])
        counts[reason] = dataclasses.replace(known, segments=known.segments + 1)
    ordered = sorted(counts.values(), key=lambda c: -c.segments)
    return SegmentSearch(
        checked.model,
        len(candidates.segments),
        tuple(accepted),
        tuple(ordered),
        candidates.too_long,
        candidates.too_short,
    )


@dataclass(frozen=True, slots=True)
class _Candidates:
    """Runs of steps that begin and end with a step that has bricks; how many are too long or too short."""

    segments: list[Segment]
    too_long: int
    too_short: int


def _candidates(model: PlacedModel, config: TasksConfig) -> _Candidates:
    counts = Counter(b.step for b in model.bricks)
    steps = sorted(counts)
    segments: list[Segment] = []
    too_long = too_short = n_scene = 0
    for index, first in enumerate(steps):
        n_targets = 0
        for further, last in enumerate(steps[index:], start=index):
            n_targets += counts[last]
            if n_targets > config.max_bricks and last > first:
                too_long += len(steps) - further
                break
            if n_targets >= config.min_bricks:
                segments.append(Segment(first, last, n_scene, n_targets))
            else:
                too_short += 1
        n_scene += counts[first]
    return _Candidates(segments, too_long, too_short)
