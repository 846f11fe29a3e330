"""Small pictures of bricks as a camera would see them, fast: what vision compares with what it sees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType

import numpy as np
import numpy.typing as npt
from jarvis_bricks.colours import ColourTable
from jarvis_core.observation import CameraIntrinsics
from jarvis_core.pose import Pose

from jarvis_render.gl import GlContext, shared_context
from jarvis_render.paint import Palette, Rgb
from jarvis_render.scene import Drawable, Painter, PartSource
from jarvis_render.view import PerspectiveView, View


@dataclass(frozen=True, slots=True)
class Light:
    """Light from everywhere and from one direction.

    Attributes:
        towards: (3,) unit vector from the scene to the light.
        ambient, directed: strengths; a face square to the light has their sum times its colour.
    """

    towards: tuple[float, float, float] = (0.0, -0.5, 0.866)
    ambient: float = 0.58
    directed: float = 0.48


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One picture.

    Attributes:
        rgb: (height, width, 3) uint8.
        depth_m: (height, width) float32 along the optical axis, 0 where nothing is.
        numbers: (height, width) int32: which brick (from 1, in the order given), 0 where none is.
    """

    rgb: npt.NDArray[np.uint8]
    depth_m: npt.NDArray[np.float32]
    numbers: npt.NDArray[np.int32]


class Tracer:
    """Colour, depth and brick numbers of one view. Make it and call it inside ``GlContext.active()``."""

    def __init__(self, painter: Painter, size: tuple[int, int]) -> None:
        gl = painter.gl
        self._painter = painter
        self._size = size
        self._buffers = [
            gl.renderbuffer(size, components=4),
            gl.renderbuffer(size, components=2, dtype="f4"),
            gl.depth_renderbuffer(size),
        ]
        self.framebuffer = gl.framebuffer(self._buffers[:2], self._buffers[2])

    def trace(self, bricks: Sequence[Drawable], view: View) -> None:
        """Draw all bricks, opaque, with their low-poly meshes."""
        self.framebuffer.clear(0.0, 0.0, 0.0, 0.0, depth=1.0)
        self._painter.begin_on(self.framebuffer, view)
        self._painter.faces(bricks, self._painter.places(bricks), simple=True)

    def rgb(self) -> npt.NDArray[np.uint8]:
        """(height, width, 3)"""
        width, height = self._size
        data = self.framebuffer.read(components=3, alignment=1)
        return np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)[::-1]

    def found(self) -> npt.NDArray[np.float32]:
        """(height, width, 2) depth in metres and number, both 0 where no brick is."""
        width, height = self._size
        data = self.framebuffer.read(components=2, attachment=1, dtype="f4", alignment=1)
        return np.frombuffer(data, dtype=np.float32).reshape(height, width, 2)[::-1]

    def numbers(self) -> npt.NDArray[np.int32]:
        """(height, width) number of the brick seen, 0 for none."""
        return self.found()[:, :, 1].round().astype(np.int32)

    def release(self) -> None:
        self.framebuffer.release()
        for buffer in self._buffers:
            buffer.release()


class HypothesisRenderer:
    """Draws bricks through one camera, again and again. Owned by the thread that made it; close it when done.

    Args:
        parts: geometry of the parts. intrinsics: of the camera; its size is the size of the pictures.
        background: rgb 0 to 1 where no brick is.
        context: to draw with; the calling thread's shared one if absent.

    Raises:
        MissingCapabilityError: no headless OpenGL here.
    """

    def __init__(
        self,
        parts: PartSource,
        colours: ColourTable,
        intrinsics: CameraIntrinsics,
        background: Rgb = (0.0, 0.0, 0.0),
        context: GlContext | None = None,
    ) -> None:
        self._context = context or shared_context()
        self._intrinsics = intrinsics
        self._background = np.array([round(255 * channel) for channel in background], dtype=np.uint8)
        with self._context.active() as gl:
            self._painter = Painter(gl, parts, Palette(colours))
            self._tracer = Tracer(self._painter, (intrinsics.width, intrinsics.height))

    def draw(self, bricks: Sequence[Drawable], camera: Pose, light: Light | None = None) -> Hypothesis:
        """One picture.

        Args:
            bricks: poses in the frame that ``camera`` is given in, e.g. ``world``.
            camera: pose of the optical frame (x right, y down, z forward).

        Raises:
            BadInputError: an unknown part or colour, or a part without geometry.
        """
        light = light or Light()
        view = PerspectiveView(self._intrinsics, camera, 1.0)
        with self._context.active():
            self._painter.light(light.towards, light.ambient, light.directed)
            self._tracer.trace(bricks, view)
            rgb, found = self._tracer.rgb(), self._tracer.found()
        numbers = found[:, :, 1].round().astype(np.int32)
        if self._background.any():
            rgb = np.where(numbers[:, :, None] > 0, rgb, self._background)
        return Hypothesis(rgb, found[:, :, 0], numbers)

    def close(self) -> None:
        """Give the GPU's memory back."""
        with self._context.active():
            self._tracer.release()
            self._painter.release()

    def __enter__(self) -> HypothesisRenderer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
