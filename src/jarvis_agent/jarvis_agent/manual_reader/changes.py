"""What is new on a page: how badly every pixel agrees with the pages before, faded as manuals fade what is built."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from jarvis_agent.manual_reader.config import BrickSearch, CameraSearch

Float32 = npt.NDArray[np.float32]
Image = npt.NDArray[np.uint8]
_UNIT_PX = 512.0
#: Pixels that differ by less (mean of the channels, 0 to 255) show the same.
_ALIKE = 5.0


def estimate_fade(page: Image, before: Image) -> float:
    """How far what stood already is mixed with white from one page to the next, 0 to 0.9."""
    now, then = (image[::2, ::2].astype(np.float32) for image in (page, before))
    changed = np.abs(now - then).mean(axis=2) > _ALIKE
    options = np.arange(0.0, 0.95, 0.05)
    explained = [
        float((np.abs(now - (then * (1 - fade) + 255.0 * fade)).mean(axis=2)[changed] < _ALIKE).sum())
        for fade in options
    ]
    return float(options[int(np.argmax(explained))]) if max(explained) > 0 else 0.0


def unexplained(page: Image, references: Sequence[Image], fade: float, tolerance: float) -> Float32:
    """(height, width) 0 to 1: how far each pixel is from the nearest of what earlier pages show there.

    Args:
        references: earlier pages in the same view, at least one; as they are and faded.
    """
    now = page.astype(np.float32)
    least = np.full(page.shape[:2], np.inf, dtype=np.float32)
    for reference in references:
        then = reference.astype(np.float32)
        for image in (then, then * (1 - fade) + 255.0 * fade):
            # Lines that lie half a pixel off are no change.
            low = cv2.erode(image, np.ones((2, 2), np.uint8))
            high = cv2.dilate(image, np.ones((2, 2), np.uint8))
            off = np.maximum(np.maximum(low - now, now - high), 0.0).mean(axis=2)
            least = np.minimum(least, off)
    cost: Float32 = np.minimum(least / tolerance, 1.0)
    return cost


def drawing_only(cost: Float32, camera: CameraSearch) -> Float32:
    """The same without the strip of step number and parts list and without the corner of the axes."""
    unit = cost.shape[1] / _UNIT_PX
    cleared = cost.copy()
    cleared[: round(camera.header_px * unit)] = 0.0
    corner = round(camera.corner_px * unit)
    cleared[-corner:, :corner] = 0.0
    return cleared


def accent_band(mask: npt.NDArray[np.bool_], search: BrickSearch) -> npt.NDArray[np.bool_]:
    """What lies within the outline's reach of a mask."""
    size = 2 * round(search.accent_px * mask.shape[1] / _UNIT_PX) + 1
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    return cv2.dilate(mask.astype(np.uint8), kernel).astype(bool)
