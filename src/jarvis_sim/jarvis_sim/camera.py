"""Simulated RGB-D cameras, fixed in the cell or carried by a body."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_core.cell import CameraConfig
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose

from jarvis_sim.config import CameraLooks
from jarvis_sim.depth_noise import noisy
from jarvis_sim.engine import Engine, PassiveComponent
from jarvis_sim.renderer import Renderer
from jarvis_sim.shapes import to_mujoco

#: Optical frames have y down and look along +z, MuJoCo's cameras have y up and look along -z.
_FLIP = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True, slots=True)
class CameraItem:
    """One camera.

    Attributes:
        config: where it looks from and to, in the frame of ``body``.
        body: that carries it; empty: it is fixed in ``world``.
    """

    config: CameraConfig
    looks: CameraLooks
    body: str = ""


@dataclass(frozen=True, slots=True)
class Segmentation:
    """Which thing each pixel shows.

    Attributes:
        index: (height, width) int32 into ``names``; -1: none of them.
    """

    index: npt.NDArray[np.int32]
    names: tuple[str, ...]

    def mask(self, name: str) -> npt.NDArray[np.bool_]:
        """(height, width) where a thing is seen; raises ValueError for a name that is not among them."""
        mask: npt.NDArray[np.bool_] = self.index == self.names.index(name)
        return mask


class Cameras(PassiveComponent):
    """The cameras of a cell, by name.

    Args:
        noise: gives the generator of a camera's depth noise for the present moment.
    """

    name = "cameras"

    def __init__(
        self, cameras: Mapping[str, CameraItem], noise: Callable[[str], np.random.Generator]
    ) -> None:
        self._cameras = dict(cameras)
        self._noise = noise
        self._renderer: Renderer | None = None

    def build(self, spec: mujoco.MjSpec) -> None:
        """Add the cameras; the bodies that carry some are there already."""
        for name, camera in self._cameras.items():
            config, pose = camera.config, camera.config.pose()
            turned = Pose.from_rotation(pose.position, pose.rotation @ _FLIP)
            body = spec.body(camera.body) if camera.body else spec.worldbody
            body.add_camera(
                name=name,
                pos=pose.position,
                quat=to_mujoco(turned),
                fovy=config.fov_y_deg,
                resolution=[config.width, config.height],
            )
        drawn = [(c.config, c.looks.supersample) for c in self._cameras.values()]
        spec.visual.global_.offwidth = max(config.width * factor for config, factor in drawn)
        spec.visual.global_.offheight = max(config.height * factor for config, factor in drawn)
        # Multisampling averages depth over edges: surfaces appear where there are none. By software it is also slower
        # than drawing larger.
        spec.visual.quality.offsamples = 0
        spec.visual.quality.shadowsize = 1024

    def bind(self, engine: Engine) -> None:
        self._engine = engine

    def capture(self, name: str) -> CameraFrame:
        """Take an RGB-D picture.

        Raises:
            MissingCapabilityError: there is no OpenGL on this machine.
            JarvisError: called from another thread than the first time.
        """
        camera, renderer = self._cameras[name], self._ready()
        config, looks = camera.config, camera.looks
        rgb, depth = renderer.colour(name, config, looks), renderer.depth(name, config, looks)
        if looks.depth_noise_m > 0.0 or looks.depth_edge_loss > 0.0:
            depth = noisy(depth, looks, self._noise(name))
        return CameraFrame(
            time_s=self._engine.time_s,
            rgb=rgb,
            depth_m=depth,
            intrinsics=config.intrinsics(),
            pose=self.pose(name),
        )

    def pose(self, name: str) -> Pose:
        """Present pose of a camera's optical frame (x right, y down, z forward) in ``world``."""
        camera = self._cameras[name]
        pose = camera.config.pose()
        return self._engine.pose(self._engine.body(camera.body)) @ pose if camera.body else pose

    def picture(self, name: str) -> npt.NDArray[np.uint8]:
        """(height, width, 3) colours only, for videos; errors as ``capture``."""
        camera = self._cameras[name]
        return self._ready().colour(name, camera.config, camera.looks)

    def segmentation(self, name: str, things: Mapping[int, str]) -> Segmentation:
        """What each pixel shows; errors as ``capture``.

        Args:
            things: names to tell apart, by what ``Engine.owners`` calls them; all else is background.
        """
        camera = self._cameras[name]
        geoms = self._ready().geoms(name, camera.config, camera.looks)
        numbers = list(things)
        index = np.full(self._engine.model.ngeom + 1, -1, np.int32)
        of_geoms = {number: k for k, number in enumerate(numbers)}
        index[:-1] = [of_geoms.get(owner, -1) for owner in self._engine.owners.tolist()]
        return Segmentation(index[geoms], tuple(things[number] for number in numbers))

    def close(self) -> None:
        """Give the GL context back; call it from the thread that took pictures."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None

    def _ready(self) -> Renderer:
        """The renderer, the engine's positions being up to the present state."""
        self._engine.sync()
        if self._renderer is None:
            self._renderer = Renderer(self._engine)
        self._renderer.repaint()
        return self._renderer
