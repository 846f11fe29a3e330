"""Pictures of an engine's bodies, drawn off screen. One thread owns the GL context: the one that made the renderer.

What never moves is drawn once and kept as a layer. A new picture draws only what may move, only the window of the
picture it can be seen in, and lays it over the layer by depth, sample by sample: the same picture in a fraction of the
time. Shadows and things one can see through need everything drawn at once.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from dataclasses import dataclass

import cv2
import mujoco
import numpy as np
import numpy.typing as npt
from jarvis_core.cell import CameraConfig
from jarvis_core.errors import JarvisError

from jarvis_sim.config import CameraLooks
from jarvis_sim.engine import Engine
from jarvis_sim.gl import context
from jarvis_sim.shapes import LOOKS_GROUP, ROBOT_LOOKS_GROUP, SCENERY_GROUP

Rgb = npt.NDArray[np.uint8]
#: What MuJoCo gives with depth map mjDEPTH_ZEROFAR: 1 at the near plane, 0 at the far one or where nothing is.
Nearness = npt.NDArray[np.float32]

_MAX_GEOMS = 20000
#: A window larger than this share of the picture is no gain.
_WINDOW_SHARE = 0.5
_EVERYTHING = int(mujoco.mjtCatBit.mjCAT_ALL)
_FIXED, _MOVING = int(mujoco.mjtCatBit.mjCAT_STATIC), int(mujoco.mjtCatBit.mjCAT_DYNAMIC)
#: Contexts still open at the interpreter's end: they must go before the EGL display does.
_open: weakref.WeakSet[Renderer] = weakref.WeakSet()


@dataclass(frozen=True, slots=True)
class Window:
    """A part of a picture, pixels from its upper left corner."""

    left: int
    top: int
    width: int
    height: int

    @property
    def area(self) -> int:
        return self.width * self.height

    def of(self, pixels: np.ndarray, factor: int = 1) -> np.ndarray:
        """That part of a picture which is ``factor`` times as large; a view."""
        rows = slice(factor * self.top, factor * (self.top + self.height))
        part: np.ndarray = pixels[rows, factor * self.left : factor * (self.left + self.width)]
        return part


@dataclass(frozen=True, slots=True)
class _Layer:
    """What never moves, as one camera sees it.

    Attributes:
        light: bytes of lights and colours it was drawn with.
        samples, nearness: as drawn, before averaging; (k height, k width[, 3]).
        rgb, depth: nearness of the picture itself; (height, width[, 3]).
    """

    light: bytes
    samples: Rgb
    nearness: Nearness
    rgb: Rgb
    depth: Nearness


class Renderer:
    """A GL context with the engine's meshes in it."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._thread = threading.get_ident()
        model = engine.model
        size = model.vis.global_
        self._gl = context(size.offwidth, size.offheight)
        self._gl.make_current()
        self._context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self._context)
        # Reversed depth keeps its precision far from the camera.
        self._context.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR
        self._scene = mujoco.MjvScene(model, maxgeom=_MAX_GEOMS)
        self._option = mujoco.MjvOption()
        groups, fixed = model.geom_group, model.body_weldid[model.geom_bodyid] == 0
        self._robot = np.flatnonzero((groups == ROBOT_LOOKS_GROUP) & ~fixed)
        self._moving = np.flatnonzero(((groups == LOOKS_GROUP) | (groups == ROBOT_LOOKS_GROUP)) & ~fixed)
        paints = model.geom_matid[(groups == LOOKS_GROUP) & fixed]
        self._opaque = bool((model.mat_rgba[paints[paints >= 0], 3] >= 1.0).all())
        self._layers: dict[str, _Layer] = {}
        self._painted = engine.painted
        _open.add(self)
        atexit.register(_close_all)  # anew each time, so that it runs before what the context registered

    def repaint(self) -> None:
        """Take over textures that have changed."""
        if self._painted == self._engine.painted:
            return
        self._gl.make_current()
        model = self._engine.model
        for texture in np.flatnonzero(model.tex_type == mujoco.mjtTexture.mjTEXTURE_2D).tolist():
            mujoco.mjr_uploadTexture(model, self._context, texture)
        self._layers.clear()
        self._painted = self._engine.painted

    def colour(self, name: str, config: CameraConfig, looks: CameraLooks) -> Rgb:
        """(height, width, 3)."""
        whole, factor = _whole(config), looks.supersample
        window = self._window(name, self._moving)
        if not self._can_layer(name, looks, window):
            self._look(name, looks, _EVERYTHING)
            return _averaged(self._draw(config, whole, factor)[0], whole)
        layer = self._layer(name, config, looks)
        rgb = layer.rgb.copy()
        if window is not None:
            self._look(name, looks, _MOVING)
            samples, nearness = self._draw(config, window, factor)
            before = nearness > window.of(layer.nearness, factor)
            shown = np.where(before[..., None], samples, window.of(layer.samples, factor))
            window.of(rgb)[:] = _averaged(shown, window)
        return rgb

    def depth(self, name: str, config: CameraConfig, looks: CameraLooks) -> npt.NDArray[np.float32]:
        """(height, width) metres along the optical axis; 0 where nothing is."""
        window = self._window(name, self._moving)
        if not self._can_layer(name, looks, window):
            self._look(name, looks, _EVERYTHING)
            return self._metres(self._draw_flat(config, _whole(config))[1])
        depth = self._layer(name, config, looks).depth.copy()
        if window is not None:
            self._look(name, looks, _MOVING)
            part = window.of(depth)
            np.maximum(part, self._draw_flat(config, window)[1], out=part)
        return self._metres(depth)

    def geoms(self, name: str, config: CameraConfig, looks: CameraLooks) -> npt.NDArray[np.int32]:
        """(height, width) index of the geom that each pixel shows; -1 where nothing is."""
        self._look(name, looks, _EVERYTHING)
        image = self._draw_flat(config, _whole(config))[0]
        drawn = self._scene.geoms[: self._scene.ngeom]
        index = np.full(len(drawn) + 1, -1, np.int32)
        for geom in drawn:
            if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM:
                index[geom.segid + 1] = geom.objid
        # A pixel's colour is the drawn geom's number plus one, the lowest byte in red.
        numbers = image.astype(np.int32) @ np.array([1, 1 << 8, 1 << 16], np.int32)
        return index[np.minimum(numbers, len(drawn))]

    def close(self) -> None:
        _open.discard(self)
        self._gl.make_current()
        self._context.free()
        self._gl.free()

    def _can_layer(self, name: str, looks: CameraLooks, window: Window | None) -> bool:
        """Whether a layer gives the same picture, and sooner: the camera stands still, nothing shines through or
        darkens, and little of the picture may change."""
        model = self._engine.model
        width, height = model.cam_resolution[model.camera(name).id]
        if window is not None and window.area > _WINDOW_SHARE * width * height:
            return False
        still = model.body_weldid[model.cam_bodyid[model.camera(name).id]] == 0
        return bool(still and self._opaque and not looks.shadows and not looks.people)

    def _layer(self, name: str, config: CameraConfig, looks: CameraLooks) -> _Layer:
        model = self._engine.model
        light = b"".join(a.tobytes() for a in (model.light_dir, model.light_diffuse, model.mat_rgba))
        layer = self._layers.get(name)
        if layer is None or layer.light != light:
            whole = _whole(config)
            self._look(name, looks, _FIXED)
            samples, nearness = self._draw(config, whole, looks.supersample)
            depth = self._draw_flat(config, whole)[1]
            layer = _Layer(light, samples, nearness, _averaged(samples, whole), depth)
            self._layers[name] = layer
        return layer

    def _look(self, name: str, looks: CameraLooks, what: int) -> None:
        """Make the scene as this camera sees it."""
        if threading.get_ident() != self._thread:
            raise JarvisError(
                "pictures are taken from two threads",
                where="simulated camera",
                fix="let one thread own the world",
            )
        self._gl.make_current()
        model, groups = self._engine.model, self._option.geomgroup
        groups[:] = 0
        groups[LOOKS_GROUP] = 1
        groups[SCENERY_GROUP] = int(looks.people)
        seen = what == _FIXED or looks.shadows or self._window(name, self._robot) is not None
        groups[ROBOT_LOOKS_GROUP] = int(seen)
        camera = mujoco.MjvCamera()
        camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
        camera.fixedcamid = model.camera(name).id
        mujoco.mjv_updateScene(model, self._engine.data, self._option, None, camera, what, self._scene)
        flags = self._scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = looks.shadows
        flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
        flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = looks.people

    def _window(self, name: str, geoms: npt.NDArray[np.intp]) -> Window | None:
        """Where in the picture the bounding spheres of some geoms can be seen; None: nowhere."""
        model, data, camera = self._engine.model, self._engine.data, self._engine.model.camera(name).id
        centres = (data.geom_xpos[geoms] - data.cam_xpos[camera]) @ data.cam_xmat[camera].reshape(3, 3)
        radius, ahead = model.geom_rbound[geoms], -centres[:, 2]  # MuJoCo's cameras look along -z
        width, height = (int(n) for n in model.cam_resolution[camera])
        near = model.vis.map.znear * model.stat.extent
        centres, radius, ahead = (a[ahead + radius > near] for a in (centres, radius, ahead))
        if not len(ahead):
            return None
        focal = height / 2 / np.tan(np.radians(model.cam_fovy[camera]) / 2)
        nearest = np.maximum(ahead - radius, near)
        spans = []
        for along, size in ((centres[:, 0], width), (-centres[:, 1], height)):
            # An edge appears outermost where it is nearest if it is beyond the axis, else where it is farthest.
            low, high = along - radius, along + radius
            low = low / np.where(low < 0.0, nearest, ahead + radius)
            high = high / np.where(high > 0.0, nearest, ahead + radius)
            spans.append((size / 2 + focal * low, size / 2 + focal * high, size))
        (left, right, _), (top, bottom, _) = spans
        seen = (right > 0) & (left < width) & (bottom > 0) & (top < height)
        if not seen.any():
            return None
        x, y = max(0, int(left[seen].min())), max(0, int(top[seen].min()))
        w = min(width, int(np.ceil(right[seen].max()))) - x
        h = min(height, int(np.ceil(bottom[seen].max()))) - y
        return Window(x, y, w, h)

    def _draw(self, config: CameraConfig, window: Window, factor: int) -> tuple[Rgb, Nearness]:
        """The scene in a window of the picture, ``factor`` times as large."""
        for camera in self._scene.camera:
            pixel = 2 * np.tan(np.radians(config.fov_y_deg) / 2) * camera.frustum_near / config.height
            camera.frustum_center = (window.left + (window.width - config.width) / 2) * pixel
            camera.frustum_top = (config.height / 2 - window.top) * pixel
            camera.frustum_bottom = (config.height / 2 - window.top - window.height) * pixel
        width, height = factor * window.width, factor * window.height
        rgb, nearness = np.empty((height, width, 3), np.uint8), np.empty((height, width), np.float32)
        rect = mujoco.MjrRect(0, 0, width, height)
        mujoco.mjr_render(rect, self._scene, self._context)
        mujoco.mjr_readPixels(rgb, nearness, rect, self._context)
        return rgb[::-1], nearness[::-1]

    def _draw_flat(self, config: CameraConfig, window: Window) -> tuple[Rgb, Nearness]:
        """As ``_draw``, each geom in a colour of its own: no light or texture to compute."""
        flags = self._scene.flags
        saved = flags.copy()
        flags[:] = 0
        flags[mujoco.mjtRndFlag.mjRND_CULL_FACE] = 1
        flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 1
        drawn = self._draw(config, window, 1)
        flags[:] = saved
        return drawn

    def _metres(self, nearness: Nearness) -> npt.NDArray[np.float32]:
        """Undo the projection. Reversed depth d of distance z: d = near (far - z) / (z (far - near))."""
        model = self._engine.model
        near, far = (float(v) * float(model.stat.extent) for v in (model.vis.map.znear, model.vis.map.zfar))
        metres = (near * far) / (near + nearness.astype(np.float64) * (far - near))
        metres[nearness <= 0.0] = 0.0
        return metres.astype(np.float32)


def _whole(config: CameraConfig) -> Window:
    return Window(0, 0, config.width, config.height)


def _averaged(samples: Rgb, window: Window) -> Rgb:
    """(height, width, 3) of the window."""
    if samples.shape[0] == window.height:
        return np.ascontiguousarray(samples)
    size = (window.width, window.height)
    return np.asarray(cv2.resize(samples, size, interpolation=cv2.INTER_AREA), np.uint8)


def _close_all() -> None:
    for renderer in tuple(_open):
        renderer.close()
