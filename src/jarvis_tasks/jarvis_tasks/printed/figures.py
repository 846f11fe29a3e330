"""What a page shows, cut out and made comparable: outline and colours in a small square of fixed size."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

#: Side of the square that figures are compared in.
SIDE = 64
#: Colour distance (CIE L*a*b*) from the paper beyond which a pixel is drawn on.
_INK = 14.0
#: Side that pages are reduced to before looking for the figure; finer detail is not needed.
_WORKING = 480
#: Smaller figures than this share of the page's area are page numbers and logos.
_SMALLEST = 0.004
#: Figures of a page that may be the build.
_CANDIDATES = 3
#: L*a*b* units that weigh as much as being there or not. Lightness depends on the light, hue hardly.
_LIGHTNESS, _HUE = 200.0, 100.0


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure in its own bounding square.

    Attributes:
        features: (SIDE * SIDE * 4,) float32: being there, and lightness and hue where it is.
        area: share of the square that it covers.
        aspect: log of width over height of its bounding box.
    """

    features: npt.NDArray[np.float32]
    area: float
    aspect: float


#: A step whose drawing shows nothing is like no page.
NOTHING = Figure(np.full(SIDE * SIDE * 4, 1e3, dtype=np.float32), 1.0, 0.0)


def figures_of_page(page: Pixels) -> tuple[Figure, ...]:
    """The largest connected figures of a page, (height, width, 3) RGB; none for one that shows nothing.

    The paper's colour is that of most of the page's rim. Parts lists in a box, step numbers and call-outs are figures
    of their own: which one is the build is for the comparison to say.
    """
    scale = min(1.0, _WORKING / max(page.shape[:2]))
    size = (max(1, round(page.shape[1] * scale)), max(1, round(page.shape[0] * scale)))
    small = cv2.resize(page, size, interpolation=cv2.INTER_AREA).astype(np.uint8)
    return tuple(_figure(small, mask) for mask in _largest(_drawn(small), _CANDIDATES))


def figure_of_drawing(rgb: Pixels, drawn: Mask) -> Figure:
    """The largest connected figure where ``drawn`` (height, width) says that something is.

    Drawings go the same way as pages, so that what lies apart is left out of both.
    """
    masks = _largest(drawn, 1)
    return _figure(rgb, masks[0]) if masks else NOTHING


def _figure(rgb: Pixels, mask: Mask) -> Figure:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    height, width = bottom - top, right - left
    covered = mask[top:bottom, left:right, None].astype(np.float32)
    lab = _lab(rgb[top:bottom, left:right]) / np.array([_LIGHTNESS, _HUE, _HUE], dtype=np.float32)
    layers = np.concatenate([covered, lab * covered], axis=2)
    scale = SIDE / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    reduced = cv2.resize(layers, size, interpolation=cv2.INTER_AREA)
    square = np.zeros((SIDE, SIDE, 4), dtype=np.float32)
    y, x = (SIDE - size[1]) // 2, (SIDE - size[0]) // 2
    square[y : y + size[1], x : x + size[0]] = reduced
    return Figure(square.reshape(-1), float(square[:, :, 0].mean()), float(np.log(width / height)))


def _drawn(rgb: Pixels) -> Mask:
    """(height, width) where something is drawn on the paper."""
    lab = _lab(cv2.medianBlur(rgb, 3).astype(np.uint8))
    rim = np.concatenate([lab[0], lab[-1], lab[:, 0], lab[:, -1]])
    paper = np.median(rim, axis=0)
    far: Mask = np.linalg.norm(lab - paper, axis=2) > _INK
    return far


def _largest(mask: Mask, most: int) -> list[Mask]:
    """The largest figures, their holes filled; what touches nearly belongs together."""
    closed = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((5, 5), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats(closed, connectivity=8)
    areas = stats[1:, cv2.CC_STAT_AREA]
    order = np.argsort(-areas, kind="stable")[:most]
    return [_filled(labels == 1 + index) for index in order if areas[index] >= _SMALLEST * mask.size]


def _filled(mask: Mask) -> Mask:
    outlines, _ = cv2.findContours(mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros(mask.shape, dtype=np.uint8)
    cv2.drawContours(filled, outlines, -1, 1, thickness=cv2.FILLED)
    solid: Mask = filled.astype(bool)
    return solid


def _lab(rgb: Pixels) -> npt.NDArray[np.float32]:
    lab: npt.NDArray[np.float32] = cv2.cvtColor(rgb.astype(np.float32) / 255, cv2.COLOR_RGB2Lab).astype(
        np.float32
    )
    return lab
