"""All segments of a build that can be tasks, and why the others can't."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue

from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits, CheckedModel, Reason, Refusal
from jarvis_tasks.placement import PlacedModel, place_on_plate
from jarvis_tasks.pruning import place_without_unbuildable
from jarvis_tasks.segment import Segment, cut_segment, make_task
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
    """

    model: PlacedModel
    considered: int
    accepted: tuple[Segment, ...]
    refused: tuple[RefusalCount, ...]

    def tasks(self) -> Iterator[Task]:
        """The accepted segments as tasks, made one at a time: a big build has thousands."""
        for segment in self.accepted:
            yield make_task(self.model, segment.first, segment.last)


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
    if config.leave_out:
        model = place_without_unbuildable(assembly, catalogue, limits, config, plate_studs, quarter_turns)
    else:
        model = place_on_plate(assembly, catalogue, plate_studs, quarter_turns)
    checked = CheckedModel(model, catalogue, limits, config)
    accepted: list[Segment] = []
    counts: dict[Reason, RefusalCount] = {}
    considered = 0
    for segment in _candidates(model, config):
        considered += 1
        refusals = checked.refusals(segment.first, segment.last)
        if not refusals:
            accepted.append(segment)
            continue
        known = counts.get(refusals[0].reason)
        counts[refusals[0].reason] = (
            RefusalCount(known.reason, known.segments + 1, known.first, known.example)
            if known
            else RefusalCount(refusals[0].reason, 1, segment, refusals[0])
        )
    ordered = sorted(counts.values(), key=lambda c: -c.segments)
    return SegmentSearch(model, considered, tuple(accepted), tuple(ordered))


def _candidates(model: PlacedModel, config: TasksConfig) -> Iterator[Segment]:
    """Runs of steps that begin and end with a step that has bricks."""
    steps = sorted({b.step for b in model.bricks})
    for index, first in enumerate(steps):
        for last in steps[index:]:
            segment = cut_segment(model, first, last)
            if segment.n_targets > config.max_bricks and last > first:
                break
            if segment.n_targets >= config.min_bricks:
                yield segment
