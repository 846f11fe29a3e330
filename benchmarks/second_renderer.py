"""A cell drawn without the simulator: bricks by the project's own GL renderer, table and plate by geometry.

Nothing of it is shared with the simulated camera but the parts' meshes: other light, other colours of table and plate
under that light, uneven brightness, noise of a sensor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M
from jarvis_core.cell import CellConfig
from jarvis_core.observation import CameraFrame, CameraIntrinsics
from jarvis_core.pose import FloatArray
from jarvis_perception.config import ReferenceConfig
from jarvis_render.hypotheses import HypothesisRenderer, Light
from jarvis_render.scene import Drawable

#: Colour is drawn so many times larger along each side, then averaged; depth is that of the middle.
SUPERSAMPLE = 3
_STUD_LEVELS = 4


@dataclass(frozen=True, slots=True)
class Weather:
    """What the light of one picture is like.

    Attributes:
        light: of the renderer.
        cast: (3,) factor of the channels.
        uneven: brightness falls by this share from one side of the picture to the other.
        grain: standard deviation of a channel's noise, levels of 255.
    """

    light: Light
    cast: tuple[float, float, float]
    uneven: float
    grain: float

    @classmethod
    def by_chance(cls, rng: np.random.Generator) -> Weather:
        turn, tilt = rng.uniform(0, 2 * math.pi), rng.uniform(0.1, 0.8)
        towards = (math.cos(turn) * math.sin(tilt), math.sin(turn) * math.sin(tilt), math.cos(tilt))
        light = Light(towards, float(rng.uniform(0.35, 0.6)), float(rng.uniform(0.25, 0.5)))
        red, green, blue = rng.uniform(0.82, 1.0, 3).tolist()
        return cls(light, (red, green, blue), float(rng.uniform(0.0, 0.15)), float(rng.uniform(0.5, 4.0)))


class SecondRenderer:
    """Draws frames of the top camera."""

    def __init__(self, cell: CellConfig, reference: ReferenceConfig, catalogue: PartCatalogue) -> None:
        self._cell = cell
        self._reference = reference
        self._camera = cell.top_camera.pose()
        self._intrinsics = cell.top_camera.intrinsics()
        self._fine = enlarged(self._intrinsics, SUPERSAMPLE)
        self._renderer = HypothesisRenderer(catalogue, catalogue.colours, self._fine)
        self._ground_depth, self._ground_kind = self._ground()

    def frame(self, bricks: Sequence[Drawable], weather: Weather, rng: np.random.Generator) -> CameraFrame:
        """One picture of all bricks (poses in ``world``) on table and plate; depth without noise."""
        drawn = self._renderer.draw(bricks, self._camera, weather.light)
        front = (drawn.numbers > 0) & (drawn.depth_m < self._ground_depth + 1e-5)
        depth = np.where(front, drawn.depth_m, self._ground_depth).astype(np.float32)
        facing = weather.light.ambient + weather.light.directed * weather.light.towards[2]
        colours = np.array([self._reference.table_rgb, self._reference.plate_rgb]) * min(facing, 1.0)
        rgb = np.where(front[..., None], drawn.rgb / 255.0, colours[self._ground_kind])
        size = (self._intrinsics.width, self._intrinsics.height)
        small = cv2.resize(rgb.astype(np.float32), size, interpolation=cv2.INTER_AREA)
        across = np.linspace(1.0, 1.0 - weather.uneven, size[0], dtype=np.float32)[None, :, None]
        lit = small * across * np.array(weather.cast, np.float32) * 255
        noisy = lit + rng.normal(0.0, weather.grain, lit.shape)
        middle = SUPERSAMPLE // 2
        return CameraFrame(
            0.0,
            np.clip(np.round(noisy), 0, 255).astype(np.uint8),
            np.ascontiguousarray(depth[middle::SUPERSAMPLE, middle::SUPERSAMPLE]),
            self._intrinsics,
            self._camera,
        )

    def close(self) -> None:
        self._renderer.close()

    def _ground(self) -> tuple[FloatArray, npt.NDArray[np.int_]]:
        """Depth of table, plate and the plate's studs, and 0 for table, 1 for plate, by intersecting rays."""
        k, camera, plate = self._fine, self._camera, self._cell.plate
        u, v = np.meshgrid(np.arange(k.width), np.arange(k.height))
        rays = np.stack([(u - k.cx) / k.fx, (v - k.cy) / k.fy, np.ones(u.shape)], axis=-1) @ camera.rotation.T
        half = np.array(plate.studs) * STUD_PITCH_M / 2
        height = camera.position[2]
        depth, kind = height / -rays[..., 2], np.zeros(u.shape, int)
        # From below to above: what is higher hides what is lower, all of it seen from above.
        for z in np.linspace(0.0, plate.thickness_m, 4)[1:]:
            inside = (np.abs(self._on_plate(rays, z)) < half).all(axis=-1)
            depth, kind = np.where(inside, (height - z) / -rays[..., 2], depth), np.where(inside, 1, kind)
        for z in plate.thickness_m + np.linspace(0.0, STUD_HEIGHT_M, _STUD_LEVELS + 1)[1:]:
            at = self._on_plate(rays, z)
            to_stud = np.linalg.norm((at / STUD_PITCH_M) % 1.0 - 0.5, axis=-1) * STUD_PITCH_M
            inside = (np.abs(at) < half).all(axis=-1) & (to_stud < STUD_RADIUS_M)
            depth = np.where(inside, (height - z) / -rays[..., 2], depth)
        return depth, kind

    def _on_plate(self, rays: FloatArray, z: float) -> FloatArray:
        """(height, width, 2) where rays pass the height z, frame ``plate``."""
        places = self._camera.position[:2] + rays[..., :2] * ((self._camera.position[2] - z) / -rays[..., 2:])
        local: FloatArray = (places - self._cell.plate.pose.position[:2]) @ self._cell.plate.pose.rotation[
            :2, :2
        ]
        return local


def enlarged(k: CameraIntrinsics, factor: int) -> CameraIntrinsics:
    """The same camera with ``factor`` times as many pixels along each side."""
    return msgspec.structs.replace(
        k,
        width=k.width * factor,
        height=k.height * factor,
        fx=k.fx * factor,
        fy=k.fy * factor,
        cx=(k.cx + 0.5) * factor - 0.5,
        cy=(k.cy + 0.5) * factor - 0.5,
    )
