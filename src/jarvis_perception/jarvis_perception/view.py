"""A picture turned into heights above the table, pixel by pixel."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.observation import CameraFrame, CameraIntrinsics
from jarvis_core.pose import FloatArray, Pose

Float32 = npt.NDArray[np.float32]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class View:
    """What each pixel's ray meets. Arrays have the picture's (height, width).

    A ray passes (x, y) = base + slope * z at height z, all in ``world``::

            camera
              \\
               \\  <- slope: how far it goes sideways for each metre up
        ________\\____ z = 0
                 base

    Attributes:
        rgb: (height, width, 3) uint8.
        base: (height, width, 2) float32, metres.
        slope: (height, width, 2) float32.
        z: float32 height of what is seen, metres; 0 where ``valid`` is false.
        valid: where there is a depth.
        camera: pose of the optical frame in ``world``.
        noise_m: standard deviation of z over the empty table, once it is known; after smoothing, if it was smoothed.
    """

    rgb: npt.NDArray[np.uint8]
    base: Float32
    slope: Float32
    z: Float32
    valid: Mask
    camera: Pose
    intrinsics: CameraIntrinsics
    noise_m: float = 0.0

    @property
    def x(self) -> Float32:
        """(height, width) where what is seen lies, metres."""
        x: Float32 = self.base[..., 0] + self.slope[..., 0] * self.z
        return x

    @property
    def y(self) -> Float32:
        """(height, width) where what is seen lies, metres."""
        y: Float32 = self.base[..., 1] + self.slope[..., 1] * self.z
        return y

    @property
    def pixel_m(self) -> float:
        """Edge of a pixel on the table under the camera."""
        return float(self.camera.position[2]) / self.intrinsics.fx

    def project(self, points: FloatArray) -> FloatArray:
        """(n, 2) pixels (u, v) of (n, 3) points in ``world``."""
        x, y, z = (self.camera.inverse() @ np.atleast_2d(points)).T
        k = self.intrinsics
        return np.stack([k.fx * x / z + k.cx, k.fy * y / z + k.cy], axis=1)


def look_from(frame: CameraFrame, camera: Pose, intrinsics: CameraIntrinsics) -> View:
    """Heights of a frame, as seen from a camera that may be better known than the frame says.

    Every ray has to go down; callers have checked that the camera looks at the table.
    """
    base, slope, down = _rays(tuple(camera.to_list()), intrinsics)
    depth = np.nan_to_num(frame.depth_m, nan=0.0, posinf=0.0, neginf=0.0)
    valid = depth > 0.0
    z = np.where(valid, np.float32(camera.position[2]) + depth * down, np.float32(0.0))
    return View(frame.rgb, base, slope, z.astype(np.float32), valid, camera, intrinsics)


@lru_cache(maxsize=4)
def _rays(camera: tuple[float, ...], k: CameraIntrinsics) -> tuple[Float32, Float32, Float32]:
    """``View.base``, ``View.slope``, and how far each ray goes up for each metre of depth."""
    pose = Pose.from_list(camera)
    u, v = np.meshgrid(np.arange(k.width), np.arange(k.height))
    rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones(u.shape)], axis=-1) @ pose.rotation.T
    slope = rays[..., :2] / rays[..., 2:]
    base = pose.position[:2] - slope * pose.position[2]
    return base.astype(np.float32), slope.astype(np.float32), rays[..., 2].astype(np.float32)


def smoothed(view: View, noise_m: float) -> View:
    """Less noise on flat places, the same steps (bilateral filter: Tomasi and Manduchi, ICCV 1998)."""
    filled = np.where(view.valid, view.z, np.float32(0.0))
    z = cv2.bilateralFilter(filled, 5, 3.0 * noise_m + 1e-4, 1.2)
    return replace(view, z=np.where(view.valid, z, np.float32(0.0)).astype(np.float32))
