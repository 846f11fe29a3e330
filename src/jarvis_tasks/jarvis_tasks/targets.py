"""From a task to objects in the cell: targets, and the structure that stands at the start."""

from __future__ import annotations

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.objects import RigidObject, TargetObject
from jarvis_core.pose import Pose

from jarvis_tasks.task import PlacedBrick, Task


def target_objects(task: Task, catalogue: PartCatalogue, plate_pose: Pose) -> tuple[TargetObject, ...]:
    """Where the required bricks should end, in build order.

    Poses are those of the part frame. Where a part's symmetries turn about another point than its origin (an L, a
    slope with two equal ends), ``symmetry_centre`` says about which: a turned brick that fills the same space has
    its origin elsewhere.

    Args:
        plate_pose: of frame ``plate`` in ``world``.
    """
    return tuple(
        TargetObject(
            object=_object(brick, catalogue, plate_pose),
            support=brick.support,
            connections=brick.connections,
            symmetries=catalogue.geometry(brick.part).symmetries,
            step=brick.step,
            symmetry_centre=catalogue.geometry(brick.part).symmetry_centre,
        )
        for brick in task.targets
    )


def scene_objects(task: Task, catalogue: PartCatalogue, plate_pose: Pose) -> tuple[RigidObject, ...]:
    """The initial structure in ``world``, in build order; arguments as for target_objects."""
    return tuple(_object(brick, catalogue, plate_pose) for brick in task.scene)


def _object(brick: PlacedBrick, catalogue: PartCatalogue, plate_pose: Pose) -> RigidObject:
    return RigidObject(
        id=brick.id,
        kind=brick.part,
        colour=brick.colour,
        pose=plate_pose @ brick.pose,
        boxes=catalogue.geometry(brick.part).boxes,
    )
