"""The structure that stands at the start: who rests on whom, and which of its bricks may be free bodies."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count, islice

import msgspec
import numpy as np
from jarvis_bricks.geometry import Connectors
from jarvis_core.objects import GROUND
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seeds import generator
from jarvis_tasks.task import PlacedBrick, Task

from jarvis_sim.bricks import BrickItem
from jarvis_sim.connections import StudBody

_UP = 0.999

Pairs = tuple[tuple[str, str], ...]


def scene_pairs(task: Task) -> Pairs:
    """Pairs (upper, lower) within the initial structure; which of two is the upper one, their height tells."""
    height = {brick.id: float(brick.pose.position[2]) for brick in task.scene}
    height[GROUND] = -np.inf
    pairs = {
        (brick.id, other)
        for brick in task.scene
        for other in brick.connections
        if other in height and height[other] < height[brick.id]
    }
    return tuple(sorted(pairs))


def distractors(task: Task, number: int) -> list[PlacedBrick]:
    """Bricks that no target needs, ``x001`` and so on: the task's own parts in its own colours, mixed anew.

    The task alone decides which; where they lie, the seed.
    """
    if not task.targets:
        return []
    rng = generator(0, task.id, "distractors")
    bricks, taken = [*task.scene, *task.targets], {brick.id for brick in (*task.scene, *task.targets)}
    names = (name for i in count(1) if (name := f"x{i:03d}") not in taken)
    return [
        msgspec.structs.replace(
            task.targets[int(rng.integers(len(task.targets)))],
            id=name,
            colour=bricks[int(rng.integers(len(bricks)))].colour,
            connections=(),
        )
        for name in islice(names, number)
    ]


def with_all_above(bricks: Iterable[str], pairs: Pairs) -> frozenset[str]:
    """The bricks, and everything that rests on them: what comes off or stays with them."""
    found = set(bricks)
    while True:
        more = {upper for upper, lower in pairs if lower in found} - found
        if not more:
            return frozenset(found)
        found |= more


def supported(bricks: Iterable[str], pairs: Pairs) -> frozenset[str]:
    """Those that something below holds; the others (on their side, hung from above) have to stay fixed."""
    uppers = {upper for upper, _ in pairs}
    return frozenset(brick for brick in bricks if brick in uppers)


def stud_body(item: BrickItem, fixed: Pose | None) -> StudBody:
    """What the clutch needs to know of a brick; ``fixed`` is where a baked one stands, ``world``."""
    geometry = item.geometry
    return StudBody(item.id, _upright(geometry.studs), _upright(geometry.antistuds), fixed)


def _upright(connectors: Connectors) -> FloatArray:
    """(n, 3) positions of those connectors whose axis is +z."""
    positions: FloatArray = connectors.positions[connectors.axes[:, 2] > _UP]
    return positions
