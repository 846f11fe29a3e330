"""Where the camera really is: the tabletop gives height and tilt, the build plate place, turn and focal length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import cv2
import msgspec
import numpy as np
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M
from jarvis_core.cell import CellConfig
from jarvis_core.errors import PerceptionRefusedError
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import FloatArray, Pose
from scipy.spatial.transform import Rotation

from jarvis_perception.config import PerceptionConfig
from jarvis_perception.view import Float32, Mask, View, look_from, smoothed

#: Rounds of fitting table and plate; what lies farther than so many deviations from the plane is no table.
_ROUNDS, _OUTLIER = 4, 3.0
#: Pixels this near to the plate's outline tell where it is.
_BAND_M = 0.012
#: Corrections below these are noise of the measurement, above the second ones worth a warning.
_IGNORE_M, _IGNORE_RAD, _IGNORE_SCALE = 0.0002, 0.0006, 0.0006
_WARN_M, _WARN_RAD, _WARN_SCALE = 0.0015, 0.003, 0.004
#: Fewer pixels beside the plate's outline (hidden by the arm) tell nothing.
_LEAST_BAND = 200
#: Every third row of the picture tells enough (no whole share of a stud's pitch).
_ROW_STEP = 3
#: The plate and its studs lie below this; a stud's surroundings this near to the plate's top.
_PLATE_TOP_M, _STUD_BAND_M = 0.0062, 0.0026
#: Fewer pixels between and on studs tell nothing.
_LEAST_STUDS = 1000


@dataclass(frozen=True, slots=True)
class Calibrated:
    """A view from the corrected camera.

    Attributes:
        table: pixels that show the empty tabletop.
        warnings: what was corrected by more than a little.
    """

    view: View
    table: Mask
    warnings: tuple[str, ...]


def calibrate(frame: CameraFrame, cell: CellConfig, config: PerceptionConfig) -> Calibrated:
    """Heights from a camera that agrees with tabletop and build plate.

    Raises:
        PerceptionRefusedError: no tabletop in sight, or not where the calibration has it.
    """
    camera, intrinsics = frame.pose, frame.intrinsics
    view = look_from(frame, camera, intrinsics)
    table = _may_be_table(view, cell, config.input.table_tolerance_m + 0.01)
    normal, offset, noise = _plane(view, table, config)
    tilt = float(np.arccos(np.clip(normal[2], -1.0, 1.0)))
    if abs(offset) > config.input.table_tolerance_m or np.degrees(tilt) > config.input.table_tilt_deg:
        raise PerceptionRefusedError(
            f"the tabletop is seen {offset * 1e3:+.1f} mm from its place, tilted by {np.degrees(tilt):.1f} deg",
            where="top camera",
            fix="calibrate the camera again",
        )
    warnings = []
    if abs(offset) > 2e-4 or tilt > 2e-4:
        camera = _levelled(camera, normal, offset)
        view = look_from(frame, camera, intrinsics)
    if abs(offset) > _WARN_M or tilt > _WARN_RAD:
        warnings.append(
            f"the camera stands {offset * 1e3:+.1f} mm higher and {np.degrees(tilt):.2f} deg otherwise than calibrated"
        )
    view = _quiet(view, noise, config)
    found = _plate_offset(view, cell)
    if found is None:
        warnings.append("too little of the build plate is in sight to check the calibration by it")
    elif _beyond(found, _IGNORE_M, _IGNORE_RAD, _IGNORE_SCALE):
        view, warnings = _moved(frame, view, found, cell, warnings)
        view = _quiet(view, noise, config)
    view = replace(view, noise_m=_left_over(view, cell, noise))
    return Calibrated(view, _may_be_table(view, cell, max(0.001, 3.0 * view.noise_m)), tuple(warnings))


def _quiet(view: View, noise: float, config: PerceptionConfig) -> View:
    """Smoothed where the depth is noisier than it may be."""
    return smoothed(view, noise) if noise > config.segment.filter_noise_m else view


def _left_over(view: View, cell: CellConfig, noise: float) -> float:
    """Standard deviation of the heights over the empty table, by their median distance from it."""
    table = _may_be_table(view, cell, max(0.001, 3.0 * noise))
    return 1.4826 * float(np.median(np.abs(view.z[table][::7]))) if table.any() else noise


def beyond_plate(view: View, cell: CellConfig) -> Float32:
    """(height, width) signed distance to the plate's outline, positive outside, metres."""
    half = np.array(cell.plate.studs, np.float32) * np.float32(STUD_PITCH_M / 2)
    turn, middle = (
        cell.plate.pose.rotation[:2, :2].astype(np.float32),
        cell.plate.pose.position.astype(np.float32),
    )
    x, y = view.x - middle[0], view.y - middle[1]
    dx = np.abs(x * turn[0, 0] + y * turn[1, 0]) - half[0]
    dy = np.abs(x * turn[0, 1] + y * turn[1, 1]) - half[1]
    outside = cv2.magnitude(np.maximum(dx, 0.0), np.maximum(dy, 0.0))
    distance: Float32 = outside + np.minimum(np.maximum(dx, dy), 0.0)
    return distance


def _may_be_table(view: View, cell: CellConfig, tolerance_m: float) -> Mask:
    region, x, y = cell.table, view.x, view.y
    inside = (x > region.x[0]) & (x < region.x[1]) & (y > region.y[0]) & (y < region.y[1])
    off_plate = beyond_plate(view, cell) > 0.004 + tolerance_m / 4
    table: Mask = view.valid & inside & (np.abs(view.z) < tolerance_m) & off_plate
    return table


def _plane(view: View, table: Mask, config: PerceptionConfig) -> tuple[FloatArray, float, float]:
    """Normal, height under the camera and noise of the most populated plane near z = 0."""
    if int(table.sum()) < config.input.min_table_px:
        raise PerceptionRefusedError(
            f"only {int(table.sum())} pixels show a tabletop where the calibration has it",
            where="top camera",
            fix="clear the camera's view, or calibrate it again",
        )
    every = np.flatnonzero(table.ravel())[:: max(1, int(table.sum()) // 20000)]
    row, column = np.unravel_index(every, table.shape)
    z = view.z[row, column].astype(np.float64)
    xy = view.base[row, column] + view.slope[row, column] * z[:, None] - view.camera.position[:2]
    low = float(np.percentile(z, 40))
    kept = np.abs(z - low) < 0.008
    for _ in range(_ROUNDS):
        rows = np.column_stack([xy[kept], np.ones(int(kept.sum()))])
        plane, *_ = np.linalg.lstsq(rows, z[kept], rcond=None)
        left = z - (xy @ plane[:2] + plane[2])
        spread = 1.4826 * float(np.median(np.abs(left[kept])))
        kept = np.abs(left) < max(_OUTLIER * spread, 3e-4)
    normal = np.array([-plane[0], -plane[1], 1.0])
    return normal / np.linalg.norm(normal), float(plane[2]), spread


def _levelled(camera: Pose, normal: FloatArray, offset: float) -> Pose:
    """The camera turned on the spot and lifted, so that the tabletop becomes z = 0."""
    turn, _ = Rotation.align_vectors([[0.0, 0.0, 1.0]], [normal])
    height = (camera.position[2] - offset) * normal[2]
    return Pose.from_rotation((*camera.position[:2], height), turn.as_matrix() @ camera.rotation)


def _plate_offset(view: View, cell: CellConfig) -> FloatArray | None:
    """(4,) x, y (m), turn (rad) and scale by which the plate in the picture differs from its place; None: unknown.

    First the plate's outline, to a pixel; then its studs: their pitch is no whole number of pixels, so that a
    thousand of them tell the place to a small part of a pixel, as on a vernier.
    """
    thickness = float(cell.plate.pose.position[2])
    half = np.array(cell.plate.studs) * STUD_PITCH_M / 2
    rays = _Rays.of(view, cell, thickness / 2)
    away = np.abs(rays.points) - half
    near = (np.abs(away.max(axis=1)) < _BAND_M) & (away.min(axis=1) < 0.0)
    if int(near.sum()) < _LEAST_BAND:
        return None
    rays = rays.only(near)
    found = np.array([0.0, 0.0, 0.0, 1.0])
    for ramp in (0.016, 0.008, 0.003, 0.0015, 0.0015):
        found = found + _plate_step(rays.points, rays.reaches, found, ramp, lambda at: _to_outline(at, half))
    studs = _Rays.of(view, cell, thickness + STUD_HEIGHT_M / 2)
    inside = (np.abs(studs.points) < half - 0.012).all(axis=1) & (np.abs(studs.z - thickness) < _STUD_BAND_M)
    if int(inside.sum()) >= _LEAST_STUDS:
        studs = studs.only(inside)
        for ramp in (0.003, 0.0015, 0.0015):
            found = found + _plate_step(studs.points, studs.reaches, found, ramp, _to_stud)
    return np.array([*(cell.plate.pose.rotation[:2, :2] @ found[:2]), found[2], found[3]])


@dataclass(frozen=True, slots=True)
class _Rays:
    """Pixels as places (n, 2) in frame ``plate`` at one height, what is seen there reaching it or not, and its z."""

    points: FloatArray
    reaches: FloatArray
    z: FloatArray

    @classmethod
    def of(cls, view: View, cell: CellConfig, level: float) -> _Rays:
        rows = slice(None, None, _ROW_STEP)
        pose, every = cell.plate.pose, view.valid[rows] & (view.z[rows] < _PLATE_TOP_M)
        every &= beyond_plate(view, cell)[rows] < _BAND_M
        z = view.z[rows][every].astype(np.float64)
        places = view.base[rows][every] + view.slope[rows][every] * np.float32(level)
        points = (places - pose.position[:2]) @ pose.rotation[:2, :2]
        return cls(points.astype(np.float64), (z > level).astype(np.float64), z)

    def only(self, chosen: Mask) -> _Rays:
        return _Rays(self.points[chosen], self.reaches[chosen], self.z[chosen])


def _to_outline(at: FloatArray, half: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Signed distance (n,) into the plate and its gradient (n, 2)."""
    away = np.abs(at) - half
    side, index = np.argmax(away, axis=1), np.arange(len(at))
    direction = np.zeros_like(at)
    direction[index, side] = -np.sign(at[index, side])
    return -away[index, side], direction


def _to_stud(at: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Signed distance (n,) into the nearest stud and its gradient (n, 2)."""
    local = (at / STUD_PITCH_M - np.floor(at / STUD_PITCH_M) - 0.5) * STUD_PITCH_M
    length = np.maximum(np.hypot(local[:, 0], local[:, 1]), 1e-6)
    return STUD_RADIUS_M - length, -local / length[:, None]


def _plate_step(
    points: FloatArray,
    seen: FloatArray,
    found: FloatArray,
    ramp: float,
    shape: Callable[[FloatArray], tuple[FloatArray, FloatArray]],
) -> FloatArray:
    """(4,) one step of least squares between what is seen and a shape with a soft edge of that width."""
    c, s = np.cos(found[2]), np.sin(found[2])
    moved = (points - found[:2]) @ np.array([[c, -s], [s, c]]) / found[3]
    distance, direction = shape(moved)
    edge = np.abs(distance) < ramp / 2
    moved, direction = moved[edge], direction[edge]
    left = seen[edge] - (0.5 + distance[edge] / ramp)
    rows = np.stack(
        [
            direction @ np.array([-c, s]),
            direction @ np.array([-s, -c]),
            direction[:, 0] * moved[:, 1] - direction[:, 1] * moved[:, 0],
            -(direction * moved).sum(axis=1),
        ],
        axis=1,
    )
    step, *_ = np.linalg.lstsq(rows / ramp, left, rcond=1e-6)
    return np.asarray(step, dtype=np.float64)


def _beyond(found: FloatArray, metres: float, radians: float, scale: float) -> bool:
    return bool(
        np.hypot(found[0], found[1]) > metres or abs(found[2]) > radians or abs(found[3] - 1.0) > scale
    )


def _moved(
    frame: CameraFrame, view: View, found: FloatArray, cell: CellConfig, warnings: list[str]
) -> tuple[View, list[str]]:
    """The view from where the plate lies as it should."""
    k = view.intrinsics
    if abs(found[3] - 1.0) < _IGNORE_SCALE:
        found = np.array([*found[:3], 1.0])
    better = msgspec.structs.replace(k, fx=k.fx * found[3], fy=k.fy * found[3])
    middle = cell.plate.pose.position
    # Scaling about the camera's foot moves the plate as well: what it adds is taken off the offset.
    foot = view.camera.position[:2]
    drift = (middle[:2] + found[:2] - foot) / found[3] + foot - middle[:2]
    about = Pose.from_yaw((0.0, 0.0, 0.0), -float(found[2]))
    centre = Pose((middle[0], middle[1], 0.0))
    moved = centre @ about @ centre.inverse() @ Pose((-drift[0], -drift[1], 0.0)) @ view.camera
    again = look_from(frame, moved, better)
    if _beyond(found, _WARN_M, _WARN_RAD, _WARN_SCALE):
        warnings.append(
            f"the build plate is seen {np.hypot(*drift) * 1e3:.1f} mm, {np.degrees(found[2]):+.2f} deg and "
            f"{(found[3] - 1) * 100:+.2f} % in scale from its place; the camera was corrected by that"
        )
    return again, warnings
