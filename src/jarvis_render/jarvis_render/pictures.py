"""Pictures of single parts and of a few bricks by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.pose import Pose
from PIL import Image, ImageDraw, ImageFont

from jarvis_render.config import ManualConfig
from jarvis_render.layout import Kind, brick_corners, usual_direction
from jarvis_render.paint import unit_rgb
from jarvis_render.scene import Drawable, Painter, PartSource, Pen
from jarvis_render.view import Direction, fit_view

Byte3 = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Sample:
    """One brick by itself."""

    part: str
    colour: int
    pose: Pose


class PartPictures:
    """Draws parts, each (part, colour) once. Use it inside ``GlContext.active()``."""

    def __init__(self, painter: Painter, parts: PartSource, config: ManualConfig) -> None:
        self._painter = painter
        self._parts = parts
        self._config = config
        self._known: dict[tuple[Kind, int, float, Byte3], Image.Image] = {}

    def release(self) -> None:
        self._painter.release()

    def draw(self, kind: Kind, size_px: int, max_px_per_m: float, background: Byte3) -> Image.Image:
        """One part, square, its long side along x; not larger than ``max_px_per_m``."""
        key = (kind, size_px, max_px_per_m, background)
        if key not in self._known:
            brick = Sample(kind[0], kind[1], _long_side_along_x(self._parts, kind[0]))
            size = (size_px, size_px)
            self._known[key] = self.group(
                [brick], [], size, usual_direction(self._config), background, max_px_per_m
            )
        return self._known[key]

    def group(
        self,
        bricks: Sequence[Drawable],
        new: Sequence[Drawable],
        size: tuple[int, int],
        direction: Direction,
        background: Byte3,
        max_px_per_m: float = np.inf,
    ) -> Image.Image:
        """Bricks by themselves, as large as they fit.

        Args:
            new: those that get the outline of new bricks (they come besides ``bricks``).
        """
        config, unit = self._config, self._config.unit
        pad = 2.0 if not new else max(2.0, config.accent_px * unit / 2)
        area = (pad, pad, size[0] - pad, size[1] - pad)
        cloud = brick_corners([*bricks, *new], self._parts).reshape(-1, 3)
        view = fit_view(cloud, size, area, direction, max_px_per_m)
        dense = view.px_per_m * STUD_PITCH_M / (10 * unit)
        factor = max(2, config.oversampling) if max(size) <= 1024 else 1
        width = max(config.edge_px, 0.8) * unit * min(1.0, dense)
        canvas = self._painter.canvas((size[0] * factor, size[1] * factor))
        canvas.clear(unit_rgb(background))
        self._painter.begin(canvas, view, Pen(width * factor, 1.1 * width / view.px_per_m))
        self._painter.opaque(bricks)
        if new and config.accent_px:
            accent = config.accent_px * 0.6 * unit * min(1.0, max(0.5, dense))
            self._painter.outline(
                new, unit_rgb(config.accent_rgb), Pen(accent * factor, 1.3 * accent / view.px_per_m)
            )
        self._painter.opaque(new)
        self._painter.transparent([(brick, 0.0) for brick in (*bricks, *new)])
        picture = shrunk(self._painter.read(canvas), factor)
        canvas.release()
        return picture


def _long_side_along_x(parts: PartSource, part: str) -> Pose:
    low, high = parts.geometry(part).bounds
    size = high - low
    return Pose() if size[0] >= size[1] else Pose.from_yaw((0.0, 0.0, 0.0), np.pi / 2)


def shrunk(pixels: npt.NDArray[np.uint8], factor: int) -> Image.Image:
    """(h, w, 3) averaged over squares of ``factor`` pixels."""
    image = Image.fromarray(pixels)
    return image if factor == 1 else image.reduce(factor)


def font(size: float) -> ImageFont.FreeTypeFont:
    """Pillow's own font."""
    loaded = ImageFont.load_default(max(4.0, size))
    if not isinstance(loaded, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType: install the wheel from PyPI")
    return loaded


def fitted_text(
    draw: ImageDraw.ImageDraw,
    place: tuple[float, float],
    text: str,
    size: float,
    width: float,
    fill: tuple[int, int, int],
) -> None:
    """Text that is cut where it doesn't fit."""
    chosen = font(size)
    if draw.textlength(text, font=chosen) > width:
        while text and draw.textlength(f"{text}…", font=chosen) > width:
            text = text[:-1]
        text = f"{text.rstrip()}…"
    draw.text(place, text, font=chosen, fill=fill)
