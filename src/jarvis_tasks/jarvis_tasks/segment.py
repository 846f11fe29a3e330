"""Cutting a placed build into tasks: what stands before a segment is the scene, what it adds are the targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_bricks.assembly import Brick
from jarvis_bricks.connectivity import Connection, neighbours, supports
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
    return Segment(first, last, len(model.between(1, first - 1)), len(model.between(first, last)))


def make_task(model: PlacedModel, first: int, last: int) -> Task:
    """The task of build steps ``first`` to ``last``.

    Steps of the task are numbered from 1, leaving out build steps without bricks. Whether the cell can do the task
    is for jarvis_tasks.filters to say.
    """
    present = model.between(1, last)
    placed = _with_joints(present, model.joints)
    numbers = {
        step: n for n, step in enumerate(sorted({b.step for b in present if b.step >= first}), start=1)
    }
    scene = tuple(_placed(b, 0, placed) for b in present if b.step < first)
    targets = tuple(_placed(b, numbers[b.step], placed) for b in present if b.step >= first)
    source = model.source
    return Task(
        schema=TASK_SCHEMA,
        id=f"{source.name}-s{first:02d}-s{last:02d}",
        model=source.name,
        title=source.title,
        author=source.author,
        licence=source.licence,
        steps=(first, last),
        scene=scene,
        targets=targets,
        left_out=sum(b.step <= last for b in model.left_out),
    )


@dataclass(frozen=True, slots=True)
class _Joints:
    """Of every brick: what it sits on or, if it sits on nothing, hangs from; and all that it is joined to."""

    support: dict[str, str]
    connections: dict[str, tuple[str, ...]]


def _with_joints(bricks: Sequence[Brick], joints: Sequence[Connection]) -> _Joints:
    present = {b.id for b in bricks} | {GROUND}
    joined = [j for j in joints if j.upper_id in present and j.lower_id in present]
    below, around = supports(joined), neighbours(joined)
    support: dict[str, str] = {}
    for brick in bricks:
        candidates = below.get(brick.id) or around.get(brick.id) or (GROUND,)
        support[brick.id] = candidates[0]
    return _Joints(support, {b.id: around.get(b.id, ()) for b in bricks})


def _placed(brick: Brick, step: int, joints: _Joints) -> PlacedBrick:
    return PlacedBrick(
        id=brick.id,
        part=brick.part,
        colour=brick.colour,
        pose=_settled(brick.pose),
        step=step,
        support=joints.support[brick.id],
        connections=joints.connections[brick.id],
    )


def _settled(pose: Pose) -> Pose:
    """The same on every machine: rounded, without -0.0, of the two quaternions the canonical one."""
    x, y, z, qx, qy, qz, qw = (round(value, _DECIMALS) + 0.0 for value in pose.to_list())
    return Pose((x, y, z), [value + 0.0 for value in canonical((qx, qy, qz, qw))])
