"""Simulated RGB-D cameras.

One thread owns the GL context: the one that takes the first picture. Pictures are rendered off screen, by EGL or,
where that does not work, by OSMesa; which of them works is tried in a process of its own first, since a broken
driver may take its process down.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import cv2
import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_core.cell import CameraConfig
from jarvis_core.errors import JarvisError, MissingCapabilityError
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.config import CameraLooks
from jarvis_sim.depth_noise import noisy
from jarvis_sim.engine import Engine, PassiveComponent
from jarvis_sim.shapes import LOOKS_GROUP, ROBOT_LOOKS_GROUP, SCENERY_GROUP, to_mujoco

_PROBE_TIMEOUT_S = 60.0
_MAX_GEOMS = 20000
_BACKENDS = ("egl", "osmesa")
#: Optical frames have y down and look along +z, MuJoCo's cameras have y up and look along -z.
_FLIP = np.diag([1.0, -1.0, -1.0])


@lru_cache(maxsize=1)
def probe_gl() -> str:
    """The first of EGL and OSMesa that makes a context on this machine.

    Raises:
        MissingCapabilityError: neither does.
    """
    reasons = []
    for backend in _BACKENDS:
        reason = _try_backend(backend)
        if not reason:
            return backend
        reasons.append(f"{backend}: {reason}")
    raise MissingCapabilityError(
        f"no off-screen OpenGL on this machine ({'; '.join(reasons)})",
        where="simulated camera",
        fix="Debian/Ubuntu: apt install libegl1 libgl1-mesa-dri, or apt install libosmesa6",
    )


def _try_backend(backend: str) -> str:
    """Empty if a context can be made and used; else the reason in a few words."""
    code = f"from mujoco.{backend} import GLContext as C; c = C(64, 64); c.make_current(); c.free()"
    environment = {**os.environ, "MUJOCO_GL": backend}
    environment.pop("PYOPENGL_PLATFORM", None)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            timeout=_PROBE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired:
        return f"no answer in {_PROBE_TIMEOUT_S:.0f} s"
    if done.returncode == 0:
        return ""
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"ended with {done.returncode}"


def camera_pose(config: CameraConfig) -> Pose:
    """Pose of the optical frame (x right, y down, z forward) in ``world``."""
    eye, target, up = (np.array(v, dtype=np.float64) for v in (config.eye, config.target, config.up))
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, up)
    right /= np.linalg.norm(right)
    return Pose.from_rotation(eye, np.column_stack([right, np.cross(forward, right), forward]))


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
        self,
        cameras: dict[str, tuple[CameraConfig, CameraLooks]],
        noise: Callable[[str], np.random.Generator],
    ) -> None:
        self._cameras = dict(cameras)
        self._noise = noise
        self._renderer: _Renderer | None = None

    def build(self, spec: mujoco.MjSpec) -> None:
        for name, (config, _) in self._cameras.items():
            pose = camera_pose(config)
            turned = Pose.from_rotation(pose.position, pose.rotation @ _FLIP)
            spec.worldbody.add_camera(
                name=name,
                pos=pose.position,
                quat=to_mujoco(turned),
                fovy=config.fov_y_deg,
                resolution=[config.width, config.height],
            )
        sizes = [
            (c.width * looks.supersample, c.height * looks.supersample) for c, looks in self._cameras.values()
        ]
        spec.visual.global_.offwidth = max(width for width, _ in sizes)
        spec.visual.global_.offheight = max(height for _, height in sizes)
        # Multisampling averages depth over edges: surfaces appear where there are none.
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
        config, looks = self._cameras[name]
        self._renderer = self._renderer or _Renderer(self._engine)
        self._engine.sync()
        self._renderer.look(name, looks)
        rgb, depth = self._renderer.colour(config, looks), self._renderer.depth(config)
        if looks.depth_noise_m > 0.0 or looks.depth_edge_loss > 0.0:
            depth = noisy(depth, looks, self._noise(name))
        return CameraFrame(
            time_s=self._engine.time_s,
            rgb=rgb,
            depth_m=depth,
            intrinsics=config.intrinsics(),
            pose=camera_pose(config),
        )

    def picture(self, name: str) -> npt.NDArray[np.uint8]:
        """(height, width, 3) colours only, for videos; errors as ``capture``."""
        config, looks = self._cameras[name]
        self._renderer = self._renderer or _Renderer(self._engine)
        self._engine.sync()
        self._renderer.look(name, looks)
        return self._renderer.colour(config, looks)

    def segmentation(self, name: str, things: Mapping[int, str]) -> Segmentation:
        """What each pixel shows; errors as ``capture``.

        Args:
            things: names to tell apart, by what ``Engine.owners`` calls them; all else is background.
        """
        config, looks = self._cameras[name]
        self._renderer = self._renderer or _Renderer(self._engine)
        self._engine.sync()
        self._renderer.look(name, looks)
        geoms = self._renderer.geoms(config)
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


#: Contexts still open at the interpreter's end: they must go before the EGL display does.
_open: weakref.WeakSet[_Renderer] = weakref.WeakSet()


def _close_all() -> None:
    for renderer in tuple(_open):
        renderer.close()


class _Renderer:
    """A GL context with the world's meshes in it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = threading.get_ident()
        size = engine.model.vis.global_
        self._gl = _context(size.offwidth, size.offheight)
        self._gl.make_current()
        self._context = mujoco.MjrContext(engine.model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        # Reversed depth keeps its precision far from the camera.
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene = mujoco.MjvScene(engine.model, maxgeom=_MAX_GEOMS)
        self._option = mujoco.MjvOption()
        self._robot = np.flatnonzero(engine.model.geom_group == ROBOT_LOOKS_GROUP)
        _open.add(self)
        atexit.register(_close_all)  # anew each time, so that it runs before what the context registered

    def look(self, name: str, looks: CameraLooks) -> None:
        """Make the scene as this camera sees it."""
        if threading.get_ident() != self._thread:
            raise JarvisError(
                "pictures are taken from two threads",
                where="simulated camera",
                fix="let one thread own the world",
            )
        self._gl.make_current()
        self._option.geomgroup[:] = 0
        self._option.geomgroup[LOOKS_GROUP] = 1
        self._option.geomgroup[SCENERY_GROUP] = int(looks.people)
        self._option.geomgroup[ROBOT_LOOKS_GROUP] = int(looks.shadows or self._robot_in_view(name))
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        camera.fixedcamid = self._engine.model.camera(name).id
        everything = mujoco.mjtCatBit.mjCAT_ALL.value
        mujoco.mjv_updateScene(
            self._engine.model, self._engine.data, self._option, None, camera, everything, self._scene
        )
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = looks.shadows
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = looks.people

    def _robot_in_view(self, name: str) -> bool:
        """Whether the bounding sphere of any of its shapes reaches into the camera's pyramid of view."""
        model, data, camera = self._engine.model, self._engine.data, self._engine.model.camera(name).id
        centres = (data.geom_xpos[self._robot] - data.cam_xpos[camera]) @ data.cam_xmat[camera].reshape(3, 3)
        radius = model.geom_rbound[self._robot]
        half = np.radians(model.cam_fovy[camera]) / 2
        width, height = model.cam_resolution[camera]
        for axis, tangent in ((0, np.tan(half) * width / height), (1, np.tan(half))):
            # Distance beyond the planes through the eye; MuJoCo's cameras look along -z.
            beyond = (np.abs(centres[:, axis]) + centres[:, 2] * tangent) / np.hypot(1.0, tangent)
            centres, radius = centres[beyond <= radius], radius[beyond <= radius]
        return bool((centres[:, 2] - radius < 0.0).any())

    def colour(self, config: CameraConfig, looks: CameraLooks) -> npt.NDArray[np.uint8]:
        """(height, width, 3)."""
        factor = looks.supersample
        image = np.empty((config.height * factor, config.width * factor, 3), np.uint8)
        rect = mujoco.MjrRect(0, 0, config.width * factor, config.height * factor)
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_readPixels(image, None, rect, self._context)
        image = np.ascontiguousarray(image[::-1])
        if factor > 1:
            size = (config.width, config.height)
            image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)
        return image

    def depth(self, config: CameraConfig) -> npt.NDArray[np.float32]:
        """(height, width) metres along the optical axis; 0 where nothing is."""
        flags = self._scene.flags
        saved = flags.copy()
        flags[:] = 0
        flags[mujoco.mjtRndFlag.mjRND_CULL_FACE] = 1
        # Flat identity colours: no light or texture to compute.
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 1
        buffer = np.empty((config.height, config.width), np.float32)
        rect = mujoco.MjrRect(0, 0, config.width, config.height)
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_readPixels(None, buffer, rect, self._context)
        flags[:] = saved
        return self._metres(buffer[::-1].astype(np.float64))

    def geoms(self, config: CameraConfig) -> npt.NDArray[np.int32]:
        """(height, width) index of the geom that each pixel shows; -1 where nothing is."""
        flags = self._scene.flags
        saved = flags.copy()
        flags[:] = 0
        flags[mujoco.mjtRndFlag.mjRND_CULL_FACE] = 1
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 1
        image = np.empty((config.height, config.width, 3), np.uint8)
        rect = mujoco.MjrRect(0, 0, config.width, config.height)
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_readPixels(image, None, rect, self._context)
        flags[:] = saved
        drawn = self._scene.geoms[: self._scene.ngeom]
        index = np.full(len(drawn) + 1, -1, np.int32)
        for geom in drawn:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                index[geom.segid + 1] = geom.objid
        # A pixel's colour is the drawn geom's number plus one, the lowest byte in red.
        numbers = image[::-1].astype(np.int32) @ np.array([1, 1 << 8, 1 << 16], np.int32)
        return index[np.minimum(numbers, len(drawn))]

    def _metres(self, reversed_depth: FloatArray) -> npt.NDArray[np.float32]:
        """Undo the projection. Reversed depth d of distance z: d = near (far - z) / (z (far - near))."""
        model = self._engine.model
        near, far = (float(v) * float(model.stat.extent) for v in (model.vis.map.znear, model.vis.map.zfar))
        metres = near * far / (near + reversed_depth * (far - near))
        metres[reversed_depth <= 0.0] = 0.0
        return metres.astype(np.float32)

    def close(self) -> None:
        _open.discard(self)
        self._gl.make_current()
        self._context.free()
        self._gl.free()


def _context(width: int, height: int) -> Any:
    backend = probe_gl()
    if backend == "egl":
        from mujoco.egl import GLContext
    else:
        from mujoco.osmesa import GLContext
    return GLContext(width, height)
