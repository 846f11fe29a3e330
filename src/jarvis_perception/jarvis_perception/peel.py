"""Things of one colour and height that touch: parts are tried in the corners of their common outline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seen import SideUp

from jarvis_perception.fit import predict
from jarvis_perception.patch import Patch, cut
from jarvis_perception.templates import Template, Templates
from jarvis_perception.view import Mask, View

#: A part belongs where this share of its top is seen at its height.
_INLIERS, _NEAR_M = 0.93, 0.0012
#: Corners of an outline are sharper than this (cosine of the angle), its lines straight to so many metres.
_SHARP, _STRAIGHT_M = 0.35, 0.0012
_SAMPLE_M, _LEAST_PX, _MOST_PARTS = 0.0016, 24, 12


def peel(view: View, mask: Mask, raised: Mask, templates: Templates, parts: Sequence[str]) -> list[Mask]:
    """Pieces of a thing, the largest part that fits into a corner first; fewer than two: it can't be done."""
    found: list[Mask] = []
    left = mask.copy()
    while int(left.sum()) >= _LEAST_PX and len(found) < _MOST_PARTS:
        patch = cut(view, left, raised, 3)
        best = max(_placed(view, left, patch, templates, parts), key=lambda pair: pair[0], default=None)
        if best is None:
            break
        _, template, place = best
        piece = np.zeros(mask.shape, bool)
        piece[patch.rows, patch.columns] = predict(patch, template, place, 0.0) > 0.0
        piece &= left
        if int(piece.sum()) < _LEAST_PX:
            break
        found.append(piece)
        left &= ~cv2.dilate(piece.astype(np.uint8), np.ones((3, 3), np.uint8)).astype(bool)
    if found and int(left.sum()) >= _LEAST_PX:
        found.append(left)
    return found if len(found) > 1 else []


def _placed(
    view: View, mask: Mask, patch: Patch, templates: Templates, parts: Sequence[str]
) -> Iterator[tuple[float, Template, tuple[float, float, float]]]:
    """Area, part and place (x, y, yaw) of all parts that fit into a corner."""
    corners = list(_corners(patch))
    for part in parts:
        if abs(templates.size(part, SideUp.STUDS)[2] - patch.high_m) > 2 * _NEAR_M:
            continue
        template = templates.get(part, SideUp.STUDS)
        samples = _samples(template)
        for corner, yaw in corners:
            for turn in (yaw, yaw + math.pi / 2):
                half_x, half_y = template.size_m[0] / 2, template.size_m[1] / 2
                # The corner is the one of smallest x and y: of the two edges, one goes along each axis.
                middle = (half_x, half_y) if turn == yaw else (half_x, -half_y)
                c, s = math.cos(turn), math.sin(turn)
                x = corner[0] + c * middle[0] - s * middle[1]
                y = corner[1] + s * middle[0] + c * middle[1]
                if _inliers(view, mask, samples, (x, y, turn)) >= _INLIERS:
                    yield template.size_m[0] * template.size_m[1], template, (x, y, turn)


def _corners(patch: Patch) -> Iterator[tuple[FloatArray, float]]:
    """Outward corners of the outline: (2,) place and the direction of the edge that has the thing to its left."""
    outlines, _ = cv2.findContours(patch.mask.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    outline = max(outlines, key=cv2.contourArea)[:, 0]
    x = patch.base_x + patch.slope_x * patch.z
    y = patch.base_y + patch.slope_y * patch.z
    world = np.column_stack([x[outline[:, 1], outline[:, 0]], y[outline[:, 1], outline[:, 0]]])
    polygon = cv2.approxPolyDP(world[:, None].astype(np.float32), _STRAIGHT_M, True)[:, 0].astype(np.float64)
    if len(polygon) < 4:
        return
    if cv2.contourArea(polygon.astype(np.float32), oriented=True) < 0:
        polygon = polygon[::-1]
    for before, at, after in zip(np.roll(polygon, 1, 0), polygon, np.roll(polygon, -1, 0), strict=True):
        came, goes = at - before, after - at
        length = float(np.linalg.norm(came) * np.linalg.norm(goes))
        turn = float(came[0] * goes[1] - came[1] * goes[0]) / length
        if turn > 0.8 and abs(float(came @ goes)) / length < _SHARP:
            # Pixels' middles lie half a pixel inside the edge.
            out = (came / np.linalg.norm(came) - goes / np.linalg.norm(goes)) * patch.pixel_m / 2
            longer = goes if np.linalg.norm(goes) > np.linalg.norm(came) else np.array([came[1], -came[0]])
            yaw = math.atan2(longer[1], longer[0])
            yield at + out, yaw if longer is goes else yaw + math.pi


def _samples(template: Template) -> FloatArray:
    """(n, 3) points all over a part's top, lying frame."""
    step = max(1, round(_SAMPLE_M / template.cell_m))
    rows, columns = np.nonzero(template.heights[::step, ::step] > 0.0)
    z = template.heights[::step, ::step][rows, columns]
    ny, nx = template.heights.shape
    points = [
        (columns * step - (nx - 1) / 2) * template.cell_m,
        (rows * step - (ny - 1) / 2) * template.cell_m,
        z,
    ]
    return np.stack(points, axis=1)


def _inliers(view: View, mask: Mask, samples: FloatArray, place: tuple[float, float, float]) -> float:
    """Share of a part's top that is seen at its height and belongs to the thing."""
    points = Pose.from_yaw((place[0], place[1], 0.0), place[2]) @ samples
    u, v = np.round(view.project(points)).astype(int).T
    height, width = mask.shape
    inside = (u >= 0) & (u < width) & (v >= 0) & (v < height)
    u, v = np.clip(u, 0, width - 1), np.clip(v, 0, height - 1)
    good = inside & mask[v, u] & (np.abs(view.z[v, u] - points[:, 2]) < _NEAR_M)
    return float(good.mean())
