"""What a faultless look from above would show of given bricks: to try the reader without a camera."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M
from jarvis_core.seen import SeenStructure
from jarvis_render.scene import Drawable

#: A cell that a body covers by less than this share of its side is not its own.
_SHARE = 0.26


def structure_of(
    bricks: Sequence[Drawable], catalogue: PartCatalogue, studs: tuple[int, int]
) -> SeenStructure:
    """Heights, colours and free studs of bricks in frame ``plate``, on a plate of so many studs.

    Raises:
        BadInputError: an unknown part.
    """
    half = np.array(studs) / 2
    heights = np.zeros(studs, dtype=np.int64)
    colours = np.full(studs, -1, dtype=np.int64)
    for brick in bricks:
        for box in catalogue.geometry(brick.part).body_boxes:
            placed = brick.pose @ box.pose
            reach = np.abs(placed.rotation) @ np.asarray(box.size_m) / 2
            low = (placed.position - reach)[:2] / STUD_PITCH_M + half
            high = (placed.position + reach)[:2] / STUD_PITCH_M + half
            top = round(float(placed.position[2] + reach[2]) / PLATE_HEIGHT_M)
            first = np.maximum(np.floor(low + _SHARE).astype(int), 0)
            last = np.minimum(np.ceil(high - _SHARE).astype(int), studs)
            area = (slice(first[0], last[0]), slice(first[1], last[1]))
            higher = heights[area] < top
            heights[area][higher], colours[area][higher] = top, brick.colour
    free = []
    for brick in bricks:
        connectors = catalogue.geometry(brick.part).studs
        upward = connectors.axes @ brick.pose.rotation.T
        for place, axis in zip(brick.pose @ connectors.positions, upward, strict=True):
            i, j = np.floor(place[:2] / STUD_PITCH_M + half).astype(int).tolist()
            level = round(float(place[2]) / PLATE_HEIGHT_M)
            if axis[2] > 0.9 and 0 <= i < studs[0] and 0 <= j < studs[1] and heights[i, j] == level:
                free.append((i, j, level))
    return SeenStructure(
        tuple(tuple(row) for row in heights.tolist()),
        tuple(tuple(row) for row in colours.tolist()),
        tuple(free),
    )
