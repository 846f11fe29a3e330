"""Which pictures are refused before anything is made of them."""

from __future__ import annotations

import numpy as np
from jarvis_core.cell import CellConfig
from jarvis_core.errors import PerceptionRefusedError
from jarvis_core.observation import CameraFrame

from jarvis_perception.config import InputConfig

_WHERE = "top camera"


def check_frame(frame: CameraFrame, cell: CellConfig, config: InputConfig, now_s: float | None) -> None:
    """Refuse what nothing can be told from.

    Raises:
        PerceptionRefusedError: says what is wrong with the picture and what to do.
    """
    _check_age(frame, config, now_s)
    _check_shapes(frame)
    _check_calibration(frame, cell, config)
    _check_light(frame, config)
    _check_depth(frame, config)


def _check_age(frame: CameraFrame, config: InputConfig, now_s: float | None) -> None:
    if now_s is None:
        return
    age = now_s - frame.time_s
    if age > config.max_age_s:
        raise PerceptionRefusedError(
            f"the picture is {age:.1f} s old, {config.max_age_s:.1f} s are allowed",
            where=_WHERE,
            fix="take a new one; see whether the camera still runs",
        )
    if age < -config.max_age_s:
        raise PerceptionRefusedError(
            f"the picture is {-age:.1f} s in the future", where=_WHERE, fix="use one clock for all"
        )


def _check_shapes(frame: CameraFrame) -> None:
    k = frame.intrinsics
    size = (k.height, k.width)
    if frame.rgb.shape != (*size, 3) or frame.rgb.dtype != np.uint8:
        raise PerceptionRefusedError(
            f"the colour picture is {frame.rgb.shape} {frame.rgb.dtype}, camera_info says {size} and 3 uint8 channels",
            where=_WHERE,
            fix="use the camera_info that comes with this picture",
        )
    if frame.depth_m.shape != size:
        raise PerceptionRefusedError(
            f"the depth picture is {frame.depth_m.shape}, camera_info says {size}",
            where=_WHERE,
            fix="use depth registered to the colour picture",
        )


def _check_calibration(frame: CameraFrame, cell: CellConfig, config: InputConfig) -> None:
    known, k = cell.top_camera.intrinsics(), frame.intrinsics
    off = max(
        abs(k.fx / known.fx / (k.width / known.width) - 1.0),
        abs(k.fy / known.fy / (k.height / known.height) - 1.0),
    )
    if not np.isfinite([k.fx, k.fy, k.cx, k.cy]).all() or off > config.focal_tolerance:
        raise PerceptionRefusedError(
            f"camera_info has a focal length of {k.fx:.1f} x {k.fy:.1f} px, the cell's camera {known.fx:.1f} px at "
            f"{known.width} x {known.height}",
            where=_WHERE,
            fix="use the top camera's own camera_info",
        )
    pose = cell.top_camera.pose()
    away, angle = frame.pose.distance_to(pose), np.degrees(frame.pose.angle_to(pose))
    if away > config.pose_tolerance_m or angle > config.pose_tolerance_deg:
        raise PerceptionRefusedError(
            f"the camera's pose is {away * 1e3:.0f} mm and {angle:.1f} deg from the cell's calibration",
            where=_WHERE,
            fix="give the pose of the optical frame (x right, y down, z forward) in world, and the top camera's",
        )


def _check_light(frame: CameraFrame, config: InputConfig) -> None:
    bright = float(np.percentile(frame.rgb[::4, ::4].max(axis=-1), 99))
    if bright < config.dark_level:
        raise PerceptionRefusedError(
            f"the picture is black (its brightest hundredth has level {bright:.0f} of 255)",
            where=_WHERE,
            fix="switch on the light, or take off the lens cap",
        )


def _check_depth(frame: CameraFrame, config: InputConfig) -> None:
    good = float((np.isfinite(frame.depth_m) & (frame.depth_m > 0.0)).mean())
    if good < config.min_valid_share:
        raise PerceptionRefusedError(
            f"only {good * 100:.0f} % of the pixels have a depth, {config.min_valid_share * 100:.0f} % are needed",
            where=_WHERE,
            fix="see whether the depth stream runs",
        )
