"""Where bricks stand, counted in studs along the plate's axes."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.objects import GROUND, Box, RigidObject, Scene
from jarvis_core.pose import FloatArray, Pose

#: Studs that are off by more than this do not engage.
GRID_TOLERANCE_M = 0.001


def corners(boxes: Iterable[Box]) -> FloatArray:
    """(n, 3) corners of boxes, in the frame of their poses."""
    signs = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
    found: FloatArray = np.concatenate([box.pose @ (signs * np.array(box.size_m)) for box in boxes])
    return found


def extent(thing: RigidObject, frame: Pose) -> tuple[FloatArray, FloatArray]:
    """(3,) lowest and (3,) highest coordinates of an object's boxes in ``frame`` (given in ``world``)."""
    points = frame.inverse() @ corners(thing.world_boxes())
    return points.min(axis=0), points.max(axis=0)


def centre_studs(thing: RigidObject, plate: Pose) -> tuple[float, float]:
    """Middle of the footprint in the plate's frame, in studs."""
    low, high = extent(thing, plate)
    middle = (low + high)[:2] / 2 / STUD_PITCH_M
    return float(middle[0]), float(middle[1])


def quarter_turns(thing: RigidObject, plate: Pose) -> int:
    """Turn about the plate's z axis to the nearest quarter, 0 to 3."""
    turned: Pose = plate.inverse() @ thing.pose
    return round(turned.yaw / (math.pi / 2)) % 4


def pose_above(
    thing: RigidObject, plate: Pose, centre: tuple[float, float], bottom_m: float, turns: int
) -> Pose:
    """Pose (world) of an upright object.

    Args:
        centre: middle of its footprint in the plate's frame, metres.
        bottom_m: height of its underside over the plate's origin.
        turns: quarter turns about the plate's z axis.
    """
    turned = Pose.from_yaw((0.0, 0.0, 0.0), turns * math.pi / 2)
    points = turned @ corners(thing.boxes)
    low, high = points.min(axis=0), points.max(axis=0)
    middle = (low + high) / 2
    offset = (centre[0] - middle[0], centre[1] - middle[1], bottom_m - low[2])
    placed: Pose = plate @ turned.translated(offset)
    return placed


def top_below(thing: RigidObject, pose: Pose, scene: Scene, plate: Pose) -> tuple[float, list[str]]:
    """Height over the plate's origin of the highest that an object would come down on at ``pose``, and its owners.

    Bodies count as below if their bounding box along the plate's axes overlaps that of one of the object's boxes.
    """
    to_plate = plate.inverse()
    tops: dict[str, float] = {GROUND: 0.0}
    for other in scene.objects:
        if other.id == thing.id or other.held:
            continue
        for low, high in (_bounds(to_plate @ box.pose, box) for box in other.world_boxes()):
            if any(_overlap(low, high, *_bounds(to_plate @ pose @ own.pose, own)) for own in thing.boxes):
                tops[other.id] = max(float(high[2]), tops.get(other.id, 0.0))
    highest = max(tops.values())
    return highest, [name for name, top in tops.items() if highest - top < GRID_TOLERANCE_M]


def _bounds(pose: Pose, box: Box) -> tuple[FloatArray, FloatArray]:
    points = corners([Box(pose, box.size_m)])
    return points.min(axis=0), points.max(axis=0)


def _overlap(low: FloatArray, high: FloatArray, other_low: FloatArray, other_high: FloatArray) -> bool:
    gaps = np.maximum(low - other_high, other_low - high)[:2]
    return bool((gaps < -GRID_TOLERANCE_M).all())


def off_grid_m(thing: RigidObject, pose: Pose, plate: Pose) -> tuple[float, float]:
    """How far the object's sides, at ``pose``, are from lines of the plate's grid along x and y, metres.

    A brick's body ends half a stud's pitch from its outer studs, so sides on grid lines mean studs on studs.
    """
    low = (plate.inverse() @ pose @ corners(thing.boxes)).min(axis=0)[:2]
    away = low - np.round(low / STUD_PITCH_M) * STUD_PITCH_M
    return float(away[0]), float(away[1])
