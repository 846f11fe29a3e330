"""Pixels sorted into tabletop, plate with structure, robot and loose things."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jarvis_core.cell import CellConfig
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray

from jarvis_perception.calibration import beyond_plate
from jarvis_perception.config import SegmentConfig
from jarvis_perception.view import Mask, View

#: Pixels of one thing hang together over corners too.
_NEIGHBOURS = 8
_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


@dataclass(frozen=True, slots=True)
class Segments:
    """Masks of the picture.

    Attributes:
        loose: one for each connected thing on the table.
        robot: the arm, and what it may hide.
        structure: over the build plate.
        specks: number of things too small to be a brick.
        cut_off: number of things left out since the picture's edge cuts them.
    """

    loose: tuple[Mask, ...]
    robot: Mask
    structure: Mask
    specks: int
    cut_off: int


def segment(view: View, cell: CellConfig, config: SegmentConfig, robot: Sequence[Box] = ()) -> Segments:
    """Sort a calibrated view's pixels.

    Args:
        robot: where the robot was, ``world``.
    """
    over = max(config.height_m, config.noise_sigmas * min(view.noise_m, config.height_m))
    arm = robot_mask(view, config, robot)
    raised = view.valid & (view.z > over) & ~arm
    outside = beyond_plate(view, cell)
    structure: Mask = raised & (outside <= config.plate_margin_m)
    region = cell.table
    x, y = view.x, view.y
    on_table = (x > region.x[0]) & (x < region.x[1]) & (y > region.y[0]) & (y < region.y[1])
    loose = raised & ~structure & on_table
    # What hangs over the plate's edge belongs to the structure, and is cut off from it here: it touches it.
    count, labels, stats, _ = cv2.connectedComponentsWithStats(
        loose.astype(np.uint8), connectivity=_NEIGHBOURS
    )
    masks, specks, cut_off = [], 0, 0
    height, width = loose.shape
    for label in range(1, count):
        x, y, w, h, area = stats[label]
        mask = labels == label
        if area < config.min_area_px:
            specks += 1
        elif _touches(mask, structure, (x, y, w, h)):
            structure |= mask
        elif x == 0 or y == 0 or x + w == width or y + h == height:
            cut_off += 1
        else:
            masks.append(mask)
    return Segments(tuple(masks), arm, structure, specks, cut_off)


def _touches(mask: Mask, other: Mask, box: tuple[int, int, int, int]) -> bool:
    """Whether more than a few pixels of the mask lie beside the other one."""
    x, y, w, h = box
    window = (slice(max(0, y - 1), y + h + 1), slice(max(0, x - 1), x + w + 1))
    grown = cv2.dilate(mask[window].astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    return int((grown & other[window]).sum()) > 4


def robot_mask(view: View, config: SegmentConfig, robot: Sequence[Box]) -> Mask:
    """Whatever reaches too high for bricks, with all that hangs together with it, and the robot's known boxes."""
    mask = np.zeros(view.z.shape, np.uint8)
    for box in robot:
        corners: FloatArray = box.pose @ (_CORNERS * (np.array(box.size_m) + 2 * config.robot_margin_m))
        if ((view.camera.inverse() @ corners)[:, 2] > 0.05).all():
            outline = cv2.convexHull(np.round(view.project(corners)).astype(np.int32))
            cv2.fillConvexPoly(mask, outline, 1)
    tall = view.valid & (view.z > config.robot_height_m)
    if tall.any():
        high = (view.valid & (view.z > config.robot_height_m / 2)).astype(np.uint8)
        _, labels = cv2.connectedComponents(high, connectivity=_NEIGHBOURS)
        hits = np.unique(labels[tall])
        mask |= np.isin(labels, hits[hits > 0]).astype(np.uint8)
    return cv2.dilate(mask, np.ones((5, 5), np.uint8)).astype(bool) if mask.any() else mask.astype(bool)
