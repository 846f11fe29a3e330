"""Drawn hypotheses: a brick as a page's camera would show it, with its depth, and the depth of what stands."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import moderngl
import numpy as np
import numpy.typing as npt
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M
from jarvis_core.pose import FloatArray, Pose
from jarvis_render.figures import Figure, triangle_rows
from jarvis_render.paint import Palette
from jarvis_render.scene import Canvas, Painter, Pen
from jarvis_render.view import DEPTH_RANGE_M, OrthoView

from jarvis_agent.manual_reader.columns import Columns

Float32 = npt.NDArray[np.float32]
#: Oversampling of sprites; half of it is also the precision with which they are laid on a page.
_FACTOR = 2
_NOMINAL_STUD_PX = 13.0
_UNIT_PX = 512.0


@dataclass(frozen=True, slots=True)
class Sprite:
    """One brick, drawn.

    Attributes:
        rgb: (height, width, 3) 0 to 255; low, high: smallest and largest values of the pixels next to each.
        mask: (height, width) bool.
        depth_m: (height, width) along the direction to the camera, 0 at the brick's origin; larger is nearer.
        corner: (2,) its left and top pixel less that of the brick's origin (rounded down).
    """

    rgb: Float32
    low: Float32
    high: Float32
    mask: npt.NDArray[np.bool_]
    depth_m: Float32
    corner: tuple[int, int]


class SpriteMaker:
    """Draws sprites for one page camera. Use it inside ``GlContext.active()``; release it when done."""

    def __init__(
        self, gl: moderngl.Context, catalogue: PartCatalogue, view: OrthoView, edge_px: float
    ) -> None:
        self._painter = Painter(gl, catalogue, Palette(catalogue.colours))
        self._view = view
        unit = view.width / _UNIT_PX
        stud_px = view.px_per_m * STUD_PITCH_M / unit
        width = edge_px * unit * min(1.3, max(0.6, stud_px / _NOMINAL_STUD_PX))
        rise = max(0.1, abs(float(view.axes[2, 2])))
        slope = max(1.0, min(4.0, float(np.sqrt(1 - rise**2)) / rise))
        self._pen = Pen(width * _FACTOR, 0.6 * width * slope / view.px_per_m)
        self._catalogue = catalogue
        self._canvases: dict[int, Canvas] = {}
        self._cache: dict[tuple[str, int, int, int, int], Sprite | None] = {}

    @property
    def view(self) -> OrthoView:
        return self._view

    def release(self) -> None:
        for canvas in self._canvases.values():
            canvas.release()
        self._painter.release()

    def sprite(self, part: str, colour: int, yaw: int, origin_px: FloatArray) -> Sprite | None:
        """A brick whose origin lies at a pixel (fractions of half a pixel count); None: it shows nothing."""
        phase = np.floor((origin_px - np.floor(origin_px)) * _FACTOR).astype(int)
        key = (part, colour, yaw, int(phase[0]), int(phase[1]))
        if key not in self._cache:
            self._cache[key] = self._draw(part, colour, yaw, phase)
        return self._cache[key]

    def _draw(self, part: str, colour: int, yaw: int, phase: npt.NDArray[np.int_]) -> Sprite | None:
        geometry = self._catalogue.geometry(part)
        reach = float(np.linalg.norm(np.abs(geometry.bounds).max(axis=0))) + 0.002
        half = int(np.ceil(reach * self._view.px_per_m)) + 3
        canvas = self._canvas(2 * half * _FACTOR)
        size = canvas.size[0] // _FACTOR
        centre = size // 2
        turn = yaw * np.pi / 4
        brick = Brick(
            "", part, colour, Pose((0.0, 0.0, 0.0), (0.0, 0.0, float(np.sin(turn)), float(np.cos(turn)))), 0
        )
        # The middle of a half pixel: where origins of this phase lie on average. Whole pixel u is 2 u + 0.5 on canvas.
        on_canvas = (centre * _FACTOR + phase + _FACTOR / 2).tolist()
        view = replace(
            self._view,
            width=canvas.size[0],
            height=canvas.size[1],
            px_per_m=self._view.px_per_m * _FACTOR,
            centre_m=(0.0, 0.0, 0.0),
            centre_px=(float(on_canvas[0]), float(on_canvas[1])),
        )
        canvas.clear((1.0, 1.0, 1.0))
        self._painter.begin(canvas, view, self._pen)
        if self._painter.is_transparent(brick):
            self._painter.transparent([(brick, 0.0)])
        else:
            self._painter.opaque([brick])
        rgb = self._painter.read(canvas).astype(np.float32)
        depth = read_depth(canvas)
        return _cut(rgb, depth, centre)

    def _canvas(self, size: int) -> Canvas:
        size = 64 * int(np.ceil(size / 64))
        if size not in self._canvases:
            self._canvases[size] = self._painter.canvas((size, size))
        return self._canvases[size]

    def depth(self, columns: Columns) -> Float32:
        """(height, width) metres along the direction to the camera of what stands, solid down to the plate;
        the plate itself where nothing does."""
        canvas = self._painter.canvas((self._view.width, self._view.height))
        canvas.clear((1.0, 1.0, 1.0))
        self._painter.begin(canvas, self._view, Pen(0.0, 0.0))
        faces = _column_faces(columns)
        self._painter.figure(Figure(triangle_rows(faces, (0.0, 0.0, 0.0, 0.0)), np.zeros(0)))
        depth = read_depth(canvas)
        canvas.release()
        return depth


def read_depth(canvas: Canvas) -> Float32:
    """(height, width) metres along the direction to the camera (orthographic), -inf where nothing is drawn."""
    width, height = canvas.size
    data = canvas.framebuffer.read(attachment=-1, components=1, dtype="f4", alignment=1)
    raw = np.frombuffer(data, dtype=np.float32).reshape(height, width)[::-1]
    return np.where(raw < 1.0, (1.0 - 2.0 * raw) * DEPTH_RANGE_M, -np.inf).astype(np.float32)


def neighbours(image: Float32) -> tuple[Float32, Float32]:
    """Smallest and largest values among each pixel and the eight around it, channel by channel."""
    kernel = np.ones((3, 3), np.uint8)
    return cv2.erode(image, kernel).astype(np.float32), cv2.dilate(image, kernel).astype(np.float32)


def _cut(rgb: Float32, depth: Float32, centre: int) -> Sprite | None:
    size = rgb.shape[0] // _FACTOR
    blocks = np.isfinite(depth).reshape(size, _FACTOR, size, _FACTOR)
    mask = blocks.sum(axis=(1, 3)) * 2 >= _FACTOR**2
    if not mask.any():
        return None
    small = cv2.resize(rgb, (size, size), interpolation=cv2.INTER_AREA).astype(np.float32)
    nearest = depth.reshape(size, _FACTOR, size, _FACTOR).max(axis=(1, 3))
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    part = (slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1))
    corner = (int(columns[0]) - centre, int(rows[0]) - centre)
    low, high = neighbours(small)
    return Sprite(small[part], low[part], high[part], mask[part], nearest[part], corner)


def _column_faces(columns: Columns) -> FloatArray:
    """(n, 3, 3) triangles: tops and sides of all columns, and the plate."""
    half = np.array(columns.heights.shape) / 2
    x1, y1 = half * STUD_PITCH_M
    quads = [[[-x1, -y1, 0.0], [x1, -y1, 0.0], [x1, y1, 0.0], [-x1, y1, 0.0]]]
    for i, j in np.argwhere(columns.heights > 0):
        a, b = (np.array([i, j]) - half) * STUD_PITCH_M
        c, d, z = a + STUD_PITCH_M, b + STUD_PITCH_M, float(columns.heights[i, j]) * PLATE_HEIGHT_M
        ring = [(a, b), (c, b), (c, d), (a, d)]
        quads.append([[x, y, z] for x, y in ring])
        for k in range(4):
            (p, q), (r, s) = ring[k - 1], ring[k]
            quads.append([[p, q, 0.0], [r, s, 0.0], [r, s, z], [p, q, z]])
    corners = np.array(quads, dtype=np.float64)
    return corners[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3, 3)
