"""Cutting a placed build into tasks: what stands before a segment is the scene, what it adds are the targets."""

from __future__ import annotations

import bisect
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from jarvis_bricks.assembly import Brick
from jarvis_bricks.connectivity import neighbours, supports
from jarvis_core.files import encode_hook
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_core.quaternions import canonical

from jarvis_tasks.placement import PlacedModel
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

#: Processors differ in the last bits of a pose (fused multiply-add); a task and its hash must not.
_DECIMALS = 10


@dataclass(frozen=True, slots=True)
class Segment:
    """Build steps ``first`` to ``last``, both included, and how many bricks stand before and are added."""

    first: int
    last: int
    n_scene: int
    n_targets: int


def cut_segment(model: PlacedModel, first: int, last: int) -> Segment:
    """Count the bricks of a segment. It is not checked for anything."""
    return Segment(first, last, model.count(1, first - 1), model.count(first, last))


def task_id(model: str, first: int, last: int) -> str:
    """E.g. ``bridge-s03-s06``."""
    return f"{model}-s{first:02d}-s{last:02d}"


def make_task(model: PlacedModel, first: int, last: int) -> Task:
    """The task of build steps ``first`` to ``last``; for many tasks of one model see TaskMaker."""
    return TaskMaker(model).task(first, last)


class TaskMaker:
    """Makes the tasks of one model. What they have in common is worked out once.

    The bricks of a task are the first ones of the model, in build order: a brick looks the same in all tasks that
    hold the same ones of its neighbours.
    """

    def __init__(self, model: PlacedModel) -> None:
        self.model = model
        rank = {b.id: i for i, b in enumerate(model.bricks)} | {GROUND: -1}
        joints = [j for j in model.joints if j.upper_id in rank and j.lower_id in rank]
        below, around = supports(joints), neighbours(joints)
        self._seats = [_Seat(b, below.get(b.id, ()), around.get(b.id, ()), rank) for b in model.bricks]
        self._left_out_steps = sorted(b.step for b in model.left_out)

    def task(self, first: int, last: int) -> Task:
        """The task of build steps ``first`` to ``last``.

        Steps of the task are numbered from 1, leaving out build steps without bricks. Whether the cell can do the
        task is for jarvis_tasks.filters to say.
        """
        scene, targets = self._bricks(first, last)
        return Task(
            scene=tuple(brick for brick, _ in scene),
            targets=tuple(brick for brick, _ in targets),
            **self._head(first, last),
        )

    def digest(self, first: int, last: int) -> str:
        """What jarvis_tasks.store.task_hash gives for the task, much faster: bricks are encoded once."""
        scene, targets = self._bricks(first, last)
        raw = _RawTask(
            scene=tuple(text for _, text in scene),
            targets=tuple(text for _, text in targets),
            **self._head(first, last),
        )
        return hashlib.sha256(msgspec.json.encode(raw, order="deterministic")).hexdigest()

    def n_pages(self, first: int, last: int) -> int:
        """Pages of the task's manual, the initial structure's included."""
        return 1 + len({b.step for b in self.model.between(first, last)})

    def left_out(self, last: int) -> int:
        """Number of the model's bricks up to a step that the cell can't build with."""
        return bisect.bisect_right(self._left_out_steps, last)

    def _head(self, first: int, last: int) -> dict[str, Any]:
        """All of a task but its bricks."""
        source = self.model.source
        return {
            "schema": TASK_SCHEMA,
            "id": task_id(source.name, first, last),
            "model": source.name,
            "title": source.title,
            "author": source.author,
            "licence": source.licence,
            "steps": (first, last),
            "left_out": self.left_out(last),
        }

    def _bricks(self, first: int, last: int) -> tuple[list[_Encoded], list[_Encoded]]:
        n_scene = self.model.count(1, first - 1)
        steps = [b.step for b in self.model.between(first, last)]
        count = n_scene + len(steps)
        number = {step: n for n, step in enumerate(sorted(set(steps)), start=1)}
        scene = [seat.brick(0, count) for seat in self._seats[:n_scene]]
        targets = zip(self._seats[n_scene:count], steps, strict=True)
        return scene, [seat.brick(number[step], count) for seat, step in targets]


class _RawTask(msgspec.Struct, frozen=True):
    """A Task whose bricks are JSON already."""

    schema: int
    id: str
    model: str
    title: str
    author: str
    licence: str
    steps: tuple[int, int]
    scene: tuple[msgspec.Raw, ...]
    targets: tuple[msgspec.Raw, ...]
    left_out: int


type _Encoded = tuple[PlacedBrick, msgspec.Raw]


class _Seat:
    """A brick of a model and its neighbours.

    Args:
        below: what it sits on in the finished model, most studs first.
        around: all it is joined to there, sorted.
        rank: of every brick in build order.
    """

    def __init__(
        self, brick: Brick, below: Sequence[str], around: Sequence[str], rank: Mapping[str, int]
    ) -> None:
        self._brick = brick
        self._below = [(name, rank[name]) for name in below]
        self._around = [(name, rank[name]) for name in around]
        self._arrivals = sorted(arrival for _, arrival in self._around)
        self._made: dict[tuple[int, int], _Encoded] = {}

    def brick(self, step: int, count: int) -> _Encoded:
        """As it is in a task of the model's first ``count`` bricks: what it sits on or, if it sits on nothing,
        hangs from; and all that it is joined to."""
        key = (step, bisect.bisect_left(self._arrivals, count))
        made = self._made.get(key)
        if made is None:
            made = self._made[key] = self._make(step, count)
        return made

    def _make(self, step: int, count: int) -> _Encoded:
        joined = tuple(name for name, arrival in self._around if arrival < count)
        under = tuple(name for name, arrival in self._below if arrival < count)
        source = self._brick
        placed = PlacedBrick(
            id=source.id,
            part=source.part,
            colour=source.colour,
            pose=settled(source.pose),
            step=step,
            support=(under or joined or (GROUND,))[0],
            connections=joined,
        )
        return placed, msgspec.Raw(msgspec.json.encode(placed, enc_hook=encode_hook, order="deterministic"))


def settled(pose: Pose) -> Pose:
    """The same on every machine: rounded, without -0.0, of the two quaternions the canonical one."""
    x, y, z, qx, qy, qz, qw = (round(value, _DECIMALS) + 0.0 for value in pose.to_list())
    return Pose((x, y, z), [value + 0.0 for value in canonical((qx, qy, qz, qw))])
