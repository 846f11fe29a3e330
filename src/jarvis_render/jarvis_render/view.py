"""Cameras of a page: where a point of the plate frame lands.

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
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import numpy.typing as npt
from jarvis_core.observation import CameraIntrinsics
from jarvis_core.pose import FloatArray, Pose

Float32 = npt.NDArray[np.float32]

#: Half the depth range: nothing farther than this from the centre of the view is drawn. Metres.
DEPTH_RANGE_M = 4.0


class View(Protocol):
    """What drawing needs of a camera."""

    @property
    def width(self) -> int: ...
    @property
    def height(self) -> int: ...
    @property
    def axes(self) -> FloatArray:
        """(3, 3): rows are the image's right and up and the direction towards the camera, in the scene."""

    @property
    def eye(self) -> tuple[float, float, float, float]:
        """Direction towards the camera and 0 (orthographic), or its position in metres and 1."""

    @property
    def px_per_m(self) -> float:
        """Scale at the middle of what is shown."""

    def projection(self) -> FloatArray:
        """(3, 4): maps (x, y, z, 1) to (u w, v w, w)."""

    def clip_matrix(self) -> Float32:
        """(4, 4) from scene coordinates to OpenGL clip space (row-major)."""


def project(view: View, points: npt.ArrayLike) -> FloatArray:
    """(n, 3) scene points in metres -> (n, 2) pixels u, v."""
    cloud = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    homogeneous = np.hstack([cloud, np.ones((len(cloud), 1))]) @ view.projection().T
    pixels: FloatArray = homogeneous[:, :2] / homogeneous[:, 2:]
    return pixels


@dataclass(frozen=True, slots=True)
class Direction:
    """A side that a scene is looked at from; the attributes are those of OrthoView."""

    latitude_deg: float
    longitude_deg: float
    turn: tuple[float, ...] | None = None

    @property
    def axes(self) -> FloatArray:
        """(3, 3): rows right, up, towards the camera."""
        axes = view_axes(self.latitude_deg, self.longitude_deg)
        return axes if self.turn is None else axes @ np.array(self.turn).reshape(3, 3)

    @property
    def from_above(self) -> bool:
        """Whether the plate's upper side is seen."""
        return bool(self.axes[2, 2] > 0.02)


@dataclass(frozen=True, slots=True)
class OrthoView:
    """An orthographic camera.

    Attributes:
        width, height: of the image in pixels.
        latitude_deg, longitude_deg: direction from the scene to the camera.
        px_per_m: scale.
        centre_m: (3,) a point of the scene ...
        centre_px: ... and the pixel (u, v) it lands on.
        turn: nine numbers, row by row, of a rotation of the scene before it is looked at; None: none.
    """

    width: int
    height: int
    latitude_deg: float
    longitude_deg: float
    px_per_m: float
    centre_m: tuple[float, float, float]
    centre_px: tuple[float, float]
    turn: tuple[float, ...] | None = None

    @property
    def axes(self) -> FloatArray:
        """(3, 3): rows are the page's right and up and the direction towards the camera, in the scene."""
        return Direction(self.latitude_deg, self.longitude_deg, self.turn).axes

    @property
    def eye(self) -> tuple[float, float, float, float]:
        x, y, z = self.axes[2].tolist()
        return x, y, z, 0.0

    def projection(self) -> FloatArray:
        right, up, _ = self.axes
        matrix = np.zeros((3, 4))
        matrix[0, :3], matrix[1, :3], matrix[2, 3] = self.px_per_m * right, -self.px_per_m * up, 1.0
        matrix[:2, 3] = self.centre_px - matrix[:2, :3] @ self.centre_m
        return matrix

    def project(self, points: npt.ArrayLike) -> FloatArray:
        """(n, 3) scene points in metres -> (n, 2) pixels u, v."""
        return project(self, points)

    def step_px(self, direction: npt.ArrayLike) -> tuple[float, float]:
        """Pixels (du, dv) that a scene vector in metres spans on the page."""
        right, up, _ = self.axes
        vector = np.asarray(direction, dtype=np.float64) * self.px_per_m
        return float(vector @ right), float(-(vector @ up))

    def clip_matrix(self) -> Float32:
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


@dataclass(frozen=True, slots=True)
class PerspectiveView:
    """A pinhole camera.

    Attributes:
        pose: of the optical frame (x right, y down, z forward) in the scene.
        distance_m: from the camera to the middle of what is shown.
        near_m, far_m: depths along the optical axis between which things are drawn.
    """

    intrinsics: CameraIntrinsics
    pose: Pose
    distance_m: float
    near_m: float = 0.01
    far_m: float = 10.0

    @property
    def width(self) -> int:
        return self.intrinsics.width

    @property
    def height(self) -> int:
        return self.intrinsics.height

    @property
    def axes(self) -> FloatArray:
        axes: FloatArray = self.pose.rotation.T * np.array([[1.0], [-1.0], [-1.0]])
        return axes

    @property
    def eye(self) -> tuple[float, float, float, float]:
        x, y, z = self.pose.position.tolist()
        return x, y, z, 1.0

    @property
    def px_per_m(self) -> float:
        return self.intrinsics.fx / self.distance_m

    def projection(self) -> FloatArray:
        inverse = self.pose.inverse()
        matrix: FloatArray = self.intrinsics.matrix() @ inverse.matrix[:3]
        return matrix

    def project(self, points: npt.ArrayLike) -> FloatArray:
        """(n, 3) scene points in metres -> (n, 2) pixels u, v."""
        return project(self, points)

    def clip_matrix(self) -> Float32:
        """(4, 4); the pixel grid of ``intrinsics`` (centres at whole numbers) fills the clip square."""
        k, near, far = self.intrinsics, self.near_m, self.far_m
        lens = np.zeros((4, 4))
        lens[0, 0], lens[0, 2] = 2 * k.fx / k.width, (2 * k.cx + 1) / k.width - 1
        lens[1, 1], lens[1, 2] = -2 * k.fy / k.height, 1 - (2 * k.cy + 1) / k.height
        lens[2, 2], lens[2, 3] = (far + near) / (far - near), -2 * far * near / (far - near)
        lens[3, 2] = 1.0
        return (lens @ self.pose.inverse().matrix).astype(np.float32)


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
    direction: Direction,
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
    axes = direction.axes
    on_page = cloud @ axes.T
    low, high = on_page.min(axis=0), on_page.max(axis=0)
    extent = np.maximum(high - low, 1e-6)
    scale = min((right_px - left) / extent[0], (bottom - top) / extent[1], max_px_per_m)
    centre = (low + high) / 2 @ axes
    return OrthoView(
        size[0],
        size[1],
        direction.latitude_deg,
        direction.longitude_deg,
        float(scale),
        (float(centre[0]), float(centre[1]), float(centre[2])),
        ((left + right_px) / 2 - 0.5, (top + bottom) / 2 - 0.5),
        direction.turn,
    )


def fit_perspective(
    points: npt.ArrayLike, ortho: OrthoView, area: tuple[float, float, float, float], fov_y_deg: float
) -> PerspectiveView:
    """A pinhole camera from the same side as ``ortho``, as near as all points stay within the area.

    Args:
        points: (n, 3) metres. area: left, top, right, bottom in pixels.
        fov_y_deg: vertical opening angle of the area.
    """
    cloud = np.asarray(points, dtype=np.float64).reshape(-1, 3)
    left, top, right_px, bottom = area
    focal = (bottom - top) / 2 / math.tan(math.radians(fov_y_deg) / 2)
    # Not nearer than the orthographic view would show it: its scale has a limit too.
    nearest = focal / ortho.px_per_m
    axes = ortho.axes
    low, high = (cloud @ axes.T).min(axis=0), (cloud @ axes.T).max(axis=0)
    middle = (low + high) / 2
    local = cloud @ axes.T - middle
    goal = np.array([(left + right_px) / 2 - 0.5, (top + bottom) / 2 - 0.5])
    distance = max(nearest, float(local[:, 2].max()) * 1.2)
    # The picture shrinks by this much a round until it fits; its middle follows by moving the principal point.
    for _ in range(200):
        u = focal * local[:, 0] / (distance - local[:, 2])
        v = -focal * local[:, 1] / (distance - local[:, 2])
        if np.ptp(u) <= right_px - left and np.ptp(v) <= bottom - top:
            break
        distance *= 1.02
    cx, cy = goal[0] - (u.min() + u.max()) / 2, goal[1] - (v.min() + v.max()) / 2
    position = (middle + [0.0, 0.0, distance]) @ axes
    pose = Pose.from_rotation(position, np.column_stack([axes[0], -axes[1], -axes[2]]))
    intrinsics = CameraIntrinsics(ortho.width, ortho.height, focal, focal, float(cx), float(cy))
    spread = float(np.abs(local[:, 2]).max()) * 1.5 + 0.05
    return PerspectiveView(intrinsics, pose, distance, max(0.005, distance - spread), distance + spread)


def scaled(view: OrthoView, px_per_m: float) -> OrthoView:
    """The same view at another scale, its middle where it was."""
    return replace(view, px_per_m=px_per_m)
