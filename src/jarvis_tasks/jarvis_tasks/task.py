"""A task: one segment of a build, with what an agent is told and what only the evaluator knows."""

from __future__ import annotations

import msgspec
from jarvis_core.pose import Pose

#: Version of the task's layout; a reader refuses any other.
TASK_SCHEMA = 1


class PlacedBrick(msgspec.Struct, frozen=True):
    """A brick at its place in the build.

    Attributes:
        pose: of the part frame in frame ``plate`` (origin in the middle of the plate's top surface, z up).
        step: manual step within the task, from 1; 0 for the initial structure.
        support: id of the brick it sits on (the one sharing most studs), or GROUND.
        connections: ids of all bricks (and GROUND) it is joined to by studs in the finished state.
    """

    id: str
    part: str
    colour: int
    pose: Pose
    step: int
    support: str
    connections: tuple[str, ...]


class Task(msgspec.Struct, frozen=True):
    """One task. Holds the ground truth: an agent is only ever given the TaskBrief made from it.

    Attributes:
        id: e.g. ``bridge-s03-s06``: model and first and last global step.
        model: name of the source model; ``title``, ``author``, ``licence`` travel with it.
        steps: first and last global build step of the segment, both included.
        scene: bricks that stand at the start, in build order.
        targets: bricks to place, in build order.
        left_out: number of the model's bricks up to the last step that are in neither, because the cell can't
            build with them; a baseplate that the build plate stands in for is not counted.
    """

    schema: int
    id: str
    model: str
    title: str
    author: str
    licence: str
    steps: tuple[int, int]
    scene: tuple[PlacedBrick, ...]
    targets: tuple[PlacedBrick, ...]
    left_out: int = 0

    @property
    def n_required(self) -> int:
        return len(self.targets)
