"""Which bricks of a plan carry which, and in what order those of a step can be put down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_agent.manual_reader.plan import ReadBrick, ReadPlan

#: Bodies whose sides are nearer than this do not overlap, and a top this near to an underside carries it.
_NEAR_M = 0.001


@dataclass(eq=False)
class Job:
    """One brick to put down.

    Attributes:
        step: index of its step among the plan's.
        under: the plan's bricks that it stands on; empty: on what stood before.
        above_m: height of its underside over the plate.
    """

    brick: ReadBrick
    step: int
    above_m: float
    under: list[Job] = field(default_factory=list)


def jobs(plan: ReadPlan, catalogue: PartCatalogue) -> list[list[Job]]:
    """The plan's bricks step by step, each with what carries it."""
    known: list[tuple[Job, FloatArray]] = []
    steps: list[list[Job]] = []
    for index, step in enumerate(plan.steps):
        steps.append([])
        for brick in step.bricks:
            boxes = bounds(catalogue.geometry(brick.place.part).body_boxes, brick.place.pose)
            job = Job(brick, index, float(boxes[:, 0, 2].min()))
            steps[-1].append(job)
            known.append((job, boxes))
    for job, boxes in known:
        job.under += [other for other, below in known if other is not job and _carries(below, boxes)]
    return steps


def bounds(boxes: Sequence[Box], pose: Pose) -> FloatArray:
    """(n, 2, 3) lowest and highest corners of a part's boxes, metres in the frame that ``pose`` is given in."""
    found = []
    for box in boxes:
        placed = pose @ box.pose
        reach = np.abs(placed.rotation) @ np.asarray(box.size_m) / 2
        found.append([placed.position - reach, placed.position + reach])
    return np.array(found, dtype=np.float64)


def _carries(below: FloatArray, above: FloatArray) -> bool:
    """Whether a box of one brick ends where a box of the other begins, under it."""
    low, high = below[:, None, 0], below[:, None, 1]
    other_low, other_high = above[None, :, 0], above[None, :, 1]
    gap = np.maximum(low - other_high, other_low - high)[..., :2].max(axis=-1)
    level = np.abs(high[..., 2] - other_low[..., 2])
    return bool(((gap < -_NEAR_M) & (level < _NEAR_M)).any())


def ready(pending: Sequence[Job]) -> Iterator[Job]:
    """Those that no other pending brick has to be there before, the lowest first."""
    waiting = set(map(id, pending))
    free = (job for job in pending if not any(id(other) in waiting for other in job.under))
    yield from sorted(free, key=lambda job: job.above_m)
