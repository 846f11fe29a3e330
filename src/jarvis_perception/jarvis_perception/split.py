"""Things that touch, taken apart: by colour, by height, and part by part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

from jarvis_perception.colours import to_lab
from jarvis_perception.patch import core, window
from jarvis_perception.view import Float32, Mask, View

#: Pieces with fewer pixels are no bricks.
_LEAST_PX = 24
#: Colours of neighbouring bricks differ by this much in CIELAB; tops by this height.
_COLOUR_STEP, _HEIGHT_STEP_M = 14.0, 0.0016
#: Light and shade are one brick's, hue is another brick's: lightness counts half.
_LIGHTNESS_COUNTS = np.array([0.5, 1.0, 1.0])
#: So much of a top in another hue is another brick (a print is smaller).
_SECOND_SHARE = 0.2
#: Studs are smoothed away by a filter of this many pixels.
_STUD_PX = 7
_MOST_COLOURS = 8


def divisions(view: View, mask: Mask) -> Iterator[list[Mask]]:
    """Ways to take a thing apart, each a list of at least two pieces."""
    at = window(mask, _STUD_PX)
    own = mask[at]
    for label in (_by_height, _by_colour):
        found = _pieces(label(view.z[at], view.rgb[at], own), own)
        if len(found) > 1:
            yield [_in_picture(piece, at, mask) for piece in found]


def _in_picture(piece: Mask, at: tuple[slice, slice], mask: Mask) -> Mask:
    """A piece of a window as pixels of the picture."""
    whole = np.zeros_like(mask)
    whole[at] = piece
    return whole


def two_colours(view: View, mask: Mask) -> bool:
    """Whether so much of a thing's top has another hue that it is two things, whatever its shape says."""
    at = window(mask, 0)
    own, z = core(mask[at]), view.z[at]
    top = own & (z > np.percentile(z[own], 60) - _HEIGHT_STEP_M)
    lab = to_lab(view.rgb[at][top].astype(np.float64) / 255)
    apart = np.linalg.norm((lab - np.median(lab, axis=0)) * _LIGHTNESS_COUNTS, axis=1)
    return float((apart > _COLOUR_STEP).mean()) > _SECOND_SHARE


def _by_height(heights: Float32, _: npt.NDArray[np.uint8], mask: Mask) -> npt.NDArray[np.int_]:
    """Flat tops numbered by their heights; studs count as what they stand on."""
    z = np.where(mask, heights, 0.0).astype(np.float32)
    opened = cv2.morphologyEx(z, cv2.MORPH_OPEN, np.ones((_STUD_PX, _STUD_PX), np.uint8))
    flat = np.where(opened > 0.0, opened, z)
    levels = np.sort(flat[mask])
    gaps = np.flatnonzero(np.diff(levels) > _HEIGHT_STEP_M / 2)
    edges = (levels[gaps] + levels[gaps + 1]) / 2
    steps = np.digitize(flat, edges) if len(edges) else np.round(flat / _HEIGHT_STEP_M)
    return steps.astype(int)


def _by_colour(_: Float32, rgb: npt.NDArray[np.uint8], mask: Mask) -> npt.NDArray[np.int_]:
    """Pixels numbered by the nearest of the main colours, found by taking the commonest one after another."""
    row, column = np.nonzero(mask)
    lab = to_lab(rgb[row, column].astype(np.float64) / 255)
    lab = lab * _LIGHTNESS_COUNTS
    centres = _main_colours(lab)
    nearest = np.argmin(np.linalg.norm(lab[:, None] - centres[None], axis=2), axis=1)
    labels = np.zeros(mask.shape, int)
    labels[row, column] = nearest
    return labels


def _main_colours(lab: FloatArray) -> FloatArray:
    left = lab
    centres: list[FloatArray] = []
    while len(left) >= _LEAST_PX and len(centres) < _MOST_COLOURS:
        bins = np.round(left / 6).astype(int)
        _, which, counts = np.unique(bins, axis=0, return_inverse=True, return_counts=True)
        best = int(np.argmax(counts))
        centre = left[which.ravel() == best].mean(axis=0)
        centres.append(centre)
        left = left[np.linalg.norm(left - centre, axis=1) > _COLOUR_STEP]
    return np.array(centres) if centres else lab.mean(axis=0, keepdims=True)


def _pieces(labels: npt.NDArray[np.int_], mask: Mask) -> list[Mask]:
    """Connected pieces of one label that are large enough; the pixels left go to the nearest piece."""
    found: list[Mask] = []
    for label in np.unique(labels[mask]).tolist():
        part = cv2.morphologyEx(
            (mask & (labels == label)).astype(np.uint8), cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)
        )
        count, names, stats, _ = cv2.connectedComponentsWithStats(part, connectivity=4)
        found += [names == k for k in range(1, count) if stats[k, cv2.CC_STAT_AREA] >= _LEAST_PX]
    return _shared_out(found, mask) if len(found) > 1 else found


def _shared_out(found: Sequence[Mask], mask: Mask) -> list[Mask]:
    distance = np.stack(
        [cv2.distanceTransform(1 - piece.astype(np.uint8), cv2.DIST_L2, 3) for piece in found]
    )
    owner = np.argmin(distance, axis=0)
    return [mask & (owner == k) for k in range(len(found))]
