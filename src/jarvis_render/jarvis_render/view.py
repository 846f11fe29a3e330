"""The orthographic three-quarter view: where a point of the plate frame lands on a page.

Pixels: u to the right, v down, (0, 0) the centre of the top left pixel (the convention of the cameras).
Latitude is the camera's height above the horizon; longitude 0 looks along +y (from the front), longitude 45
stands at the front right, so that on the page::

          z            y
          |          /            +x runs right and down, +y right and up, +z up
          |       /
          |    /
          | /
          o
            \\
               \\
                  x
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

#: Half the depth range: nothing farther than this from the centre of the view is drawn. Metres.
DEPTH_RANGE_M = 4.0


@dataclass(frozen=True, slots=True)
class OrthoView:
    """An orthographic camera.

    Attributes:
        width, height: of the image in pixels.
        latitude_deg, longitude_deg: direction from the scene to the camera.
        px_per_m: scale.
        centre_m: (3,) a point of the scene ...
        centre_px: ... and the pixel (u, v) it lands on.
    """

    width: int
    height: int
    latitude_deg: float
    longitude_deg: float
    px_per_m: float
    centre_m: tuple[float, float, float]
    centre_px: tuple[float, float]

    @property
    def axes(self) -> FloatArray:
        """(3, 3): rows are the page's right and up and the direction towards the camera, in the scene."""
        return view_axes(self.latitude_deg, self.longitude_deg)

    def project(self, points: npt.ArrayLike) -> FloatArray:
        """(n, 3) scene points in metres -> (n, 2) pixels u, v."""
        relative = np.asarray(points, dtype=np.float64) - self.centre_m
        right, up, _ = self.axes
        u = self.centre_px[0] + self.px_per_m * (relative @ right)
        v = self.centre_px[1] - self.px_per_m * (relative @ up)
        return np.stack([u, v], axis=-1)

    def step_px(self, direction: npt.ArrayLike) -> tuple[float, float]:
        """Pixels (du, dv) that a scene vector in metres spans on the page."""
        right, up, _ = self.axes
        vector = np.asarray(direction, dtype=np.float64) * self.px_per_m
        return float(vector @ right), float(-(vector @ up))

    def clip_matrix(self) -> npt.NDArray[np.float32]:
        """(4, 4) from scene coordinates to OpenGL clip space (row-major)."""
        right, up, towards = self.axes
        scale_u, scale_v = 2 * self.px_per_m / self.width, 2 * self.px_per_m / self.height
        matrix = np.zeros((4, 4))
        matrix[0, :3] = right * scale_u
        matrix[1, :3] = up * scale_v
        matrix[2, :3] = -towards / DEPTH_RANGE_M
        centre = np.asarray(self.centre_m)
        matrix[:3, 3] = -matrix[:3, :3] @ centre
        matrix[0, 3] += (self.centre_px[0] + 0.5) / self.width * 2 - 1
        matrix[1, 3] += 1 - (self.centre_px[1] + 0.5) / self.height * 2
        matrix[3, 3] = 1.0
        return matrix.astype(np.float32)


def view_axes(latitude_deg: float, longitude_deg: float) -> FloatArray:
    """(3, 3): rows right, up, towards the camera; right-handed."""
    latitude, longitude = math.radians(latitude_deg), math.radians(longitude_deg)
    sin_a, cos_a = math.sin(latitude), math.cos(latitude)
    sin_o, cos_o = math.sin(longitude), math.cos(longitude)
    return np.array(
        [
            [cos_o, sin_o, 0.0],
            [-sin_a * sin_o, sin_a * cos_o, cos_a],
            [cos_a * sin_o, -cos_a * cos_o, sin_a],
        ]
    )


def fit_view(
    points: npt.ArrayLike,
    size: tuple[int, int],
    area: tuple[float, float, float, float],
    latitude_deg: float,
    longitude_deg: float,
    max_px_per_m: float = math.inf,
) -> OrthoView:
    """The largest view that shows all points within a rectangle of the image.

    Args:
        points: (n, 3) metres, n >= 1.
        size: width and height of the image.
        area: left, top, right, bottom in pixels.
        max_px_per_m: scale not to exceed.

    Raises:
        ValueError: no points, or an area without extent.
    """
    cloud = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    left, top, right_px, bottom = area
    if len(cloud) == 0 or right_px <= left or bottom <= top:
        raise ValueError(f"nothing to fit: {len(cloud)} points into {area}")
    axes = view_axes(latitude_deg, longitude_deg)
    on_page = cloud @ axes.T
    low, high = on_page.min(axis=0), on_page.max(axis=0)
    extent = np.maximum(high - low, 1e-6)
    scale = min((right_px - left) / extent[0], (bottom - top) / extent[1], max_px_per_m)
    centre = (low + high) / 2 @ axes
    return OrthoView(
        size[0],
        size[1],
        latitude_deg,
        longitude_deg,
        float(scale),
        (float(centre[0]), float(centre[1]), float(centre[2])),
        ((left + right_px) / 2 - 0.5, (top + bottom) / 2 - 0.5),
    )
