"""A part laid over what is seen: outlines at several heights by least squares, then heights pixel by pixel.

For each level L the pixels that see something at least as high as L are compared with the soft-edged outlines of the
part at L and above, seen along each pixel's ray. That uses side faces and studs, is right at any distance from the
camera's foot, and finds edges to a fraction of a pixel, as there are many pixels along them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jarvis_core.pose import FloatArray, Pose

from jarvis_perception.config import FitConfig
from jarvis_perception.patch import Patch
from jarvis_perception.templates import Template
from jarvis_perception.view import Float32

#: Heights at which rays are followed through a part: this far apart, at most so many.
_RAY_STEP_M, _MOST_STEPS = 0.0008, 12
_AROUND = np.ones((3, 3), np.uint8)
_FAR_M = -0.02


@dataclass(frozen=True, slots=True)
class Fit:
    """One part at one place.

    Attributes:
        x, y, yaw: of the template's lying frame in ``world``.
        rest_m: height of what it lies on.
        cost_m: mean difference between predicted and measured heights, each capped.
        miss_m: the same, with a pixel's play at edges.
        information: (3, 3) of (x, y, yaw), for edges known to one pixel.
        predicted: the patch's (height, width) heights above ``rest_m`` that the part would show, 0 beside it.
    """

    template: Template
    x: float
    y: float
    yaw: float
    rest_m: float
    cost_m: float
    miss_m: float
    information: FloatArray
    predicted: Float32

    def pose(self) -> Pose:
        """Of the part frame in ``world``."""
        pose: Pose = Pose.from_yaw((self.x, self.y, self.rest_m), self.yaw) @ self.template.part_in_lying
        return pose


def fit(
    patch: Patch,
    template: Template,
    start: tuple[float, float, float],
    config: FitConfig,
    rest_m: float = 0.0,
) -> Fit:
    """The best place of a part near ``start`` (x, y, yaw)."""
    return _fitted(patch, template, start, config.ramps_m, config.cap_m, rest_m)


def refined(patch: Patch, one: Fit, config: FitConfig) -> Fit:
    """A fit after more rounds."""
    return _fitted(
        patch, one.template, (one.x, one.y, one.yaw), config.refine_ramps_m, config.cap_m, one.rest_m
    )


def _fitted(
    patch: Patch,
    template: Template,
    start: tuple[float, float, float],
    ramps_m: Sequence[float],
    cap_m: float,
    rest_m: float,
) -> Fit:
    """Gauss-Newton, one round for each ramp."""
    x, y, yaw = start
    information = np.eye(3)
    for ramp in ramps_m:
        information, gradient = _normal_equations(patch, template, (x, y, yaw), rest_m, ramp)
        damped = information + np.diag([1e-3, 1e-3, 1e-8]) * max(float(np.trace(information[:2, :2])), 1.0)
        step = np.linalg.solve(damped, gradient)
        step[:2] = np.clip(step[:2], -ramp, ramp)
        step[2] = np.clip(step[2], -0.2, 0.2)
        x, y, yaw = x + float(step[0]), y + float(step[1]), yaw + float(step[2])
    predicted = predict(patch, template, (x, y, yaw), rest_m)
    cost, miss = compare(patch, predicted, rest_m, cap_m)
    return Fit(template, float(x), float(y), float(yaw), rest_m, cost, miss, information, predicted)


def _local(patch: Patch, place: tuple[float, float, float], z: float | Float32) -> tuple[Float32, Float32]:
    """x and y in the lying frame at which each ray passes the height z (``world``), or each of (n, 1, 1) heights."""
    c, s = np.float32(math.cos(place[2])), np.float32(math.sin(place[2]))
    dx = patch.base_x + patch.slope_x * np.asarray(z, np.float32) - np.float32(place[0])
    dy = patch.base_y + patch.slope_y * np.asarray(z, np.float32) - np.float32(place[1])
    return c * dx + s * dy, c * dy - s * dx


def _normal_equations(
    patch: Patch, template: Template, place: tuple[float, float, float], rest_m: float, ramp: float
) -> tuple[FloatArray, FloatArray]:
    """J^T J and J^T r of all levels, for (x, y, yaw)."""
    c, s = np.cos(place[2]), np.sin(place[2])
    local = [_local(patch, place, rest_m + level) for level in template.levels]
    fields = [
        cv2.remap(
            field,
            *template.cells(*at),
            cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_CONSTANT,
            borderValue=(_FAR_M, 0, 0),
        )
        for field, at in zip(template.fields, local, strict=True)
    ]
    information, gradient = np.zeros((3, 3)), np.zeros(3)
    best, (qx, qy) = fields[-1], local[-1]
    for k in range(len(template.levels) - 1, -1, -1):
        if k < len(template.levels) - 1:
            nearer = fields[k][..., 0] > best[..., 0]
            best = np.where(nearer[..., None], fields[k], best)
            qx, qy = np.where(nearer, local[k][0], qx), np.where(nearer, local[k][1], qy)
        edge = patch.usable & (np.abs(best[..., 0]) < ramp / 2)
        distance, gx, gy = best[edge].astype(np.float64).T
        left = (patch.z[edge] - rest_m > template.levels[k]) - (0.5 + distance / ramp)
        rows = np.stack([s * gy - c * gx, -(s * gx + c * gy), gx * qy[edge] - gy * qx[edge]], axis=1) / ramp
        information += rows.T @ rows
        gradient += rows.T @ left
        # Beyond the soft edge only what is on the wrong side tells anything, and not in which direction: left out.
    return information, gradient


def predict(patch: Patch, template: Template, place: tuple[float, float, float], rest_m: float) -> Float32:
    """Height above ``rest_m`` that each pixel would see, 0 beside the part."""
    top = template.size_m[2]
    steps = min(_MOST_STEPS, int(np.ceil(top / _RAY_STEP_M)))
    step = top / steps
    z = (np.linspace(top, 0.0, steps + 1)[:-1] - step / 2).astype(np.float32)[:, None, None]
    at = template.cells(*_local(patch, place, rest_m + z))
    heights = _looked_up(template.heights, *at)
    solid = heights >= z
    if template.under is not None:
        solid &= _looked_up(template.under, *at) <= z
    # The first height, from above, at which the ray is inside; far below the top there, it met a side.
    seen = np.where(heights > z + np.float32(step), z, heights)
    first = solid.argmax(axis=0)[None]
    met: Float32 = np.where(
        np.take_along_axis(solid, first, 0), np.take_along_axis(seen, first, 0), np.float32(0.0)
    )[0]
    return met


def _looked_up(table: Float32, column: Float32, row: Float32) -> Float32:
    """Cells of a table at (n, height, width) places, 0 beside it."""
    n, height, width = column.shape
    found = cv2.remap(
        table,
        column.reshape(n * height, width),
        row.reshape(n * height, width),
        cv2.INTER_NEAREST,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=0,
    )
    return np.asarray(found, np.float32).reshape(n, height, width)


def compare(patch: Patch, predicted: Float32, rest_m: float, cap_m: float) -> tuple[float, float]:
    """Mean capped difference of heights over all that is seen or predicted: as it is, and with a pixel's play."""
    over = patch.usable & (patch.mask | (predicted > 0.0))
    if not over.any():
        return cap_m, cap_m
    z = np.where(over | patch.usable, np.maximum(patch.z - np.float32(rest_m), 0.0), 0.0)
    plain = np.minimum(np.abs(z - predicted), cap_m)[over]
    high, low = cv2.dilate(predicted, _AROUND), cv2.erode(predicted, _AROUND)
    play = np.minimum(np.maximum(np.maximum(z - high, low - z), 0.0), cap_m)[over]
    return float(plain.mean()), float(play.mean())
