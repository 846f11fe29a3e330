"""The window of a view around one thing."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from jarvis_perception.templates import smallest_rectangle
from jarvis_perception.view import Float32, Mask, View


@dataclass(frozen=True, slots=True)
class Patch:
    """Arrays have the window's (height, width).

    Attributes:
        rows, columns: slices of the picture.
        base_x, base_y, slope_x, slope_y, z: as in ``View``.
        mask: pixels of the thing.
        usable: pixels that tell something: measured, and not part of another thing or of the robot.
        rectangle: x, y, long side, short side, angle of the smallest rectangle around it; metres, radians, ``world``.
        high_m: height that a twentieth of its pixels reaches above.
        pixel_m: edge of a pixel on the table.
    """

    rows: slice
    columns: slice
    base_x: Float32
    base_y: Float32
    slope_x: Float32
    slope_y: Float32
    z: Float32
    mask: Mask
    usable: Mask
    rectangle: tuple[float, float, float, float, float]
    high_m: float
    pixel_m: float


def window(mask: Mask, border_px: int) -> tuple[slice, slice]:
    """Rows and columns of the smallest window around a mask, with a border."""
    x, y, width, height = cv2.boundingRect(mask.view(np.uint8))
    return (
        slice(max(0, y - border_px), y + height + border_px),
        slice(max(0, x - border_px), x + width + border_px),
    )


def cut(view: View, mask: Mask, unusable: Mask, border_px: int) -> Patch:
    """The window around a mask.

    Args:
        mask: (height, width) pixels of the thing, at least one.
        unusable: other things and the robot.
    """
    at = window(mask, border_px)
    own, z = mask[at], view.z[at]
    base_x, base_y, slope_x, slope_y = (
        np.ascontiguousarray(array[at][..., axis]) for array in (view.base, view.slope) for axis in (0, 1)
    )
    points = np.column_stack([(base_x + slope_x * z)[own], (base_y + slope_y * z)[own]])
    x, y, long, short, angle = smallest_rectangle(points.astype(np.float32))
    usable = view.valid[at] & (own | ~unusable[at])
    rectangle = (x, y, long + view.pixel_m, short + view.pixel_m, angle)
    high = float(np.percentile(z[own], 95))
    return Patch(
        *at,
        base_x,
        base_y,
        slope_x,
        slope_y,
        np.ascontiguousarray(z),
        own,
        usable,
        rectangle,
        high,
        view.pixel_m,
    )


def core(mask: Mask) -> Mask:
    """A mask without its outermost pixels; itself where nothing would be left."""
    inner = cv2.erode(mask.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    return inner if inner.any() else mask
