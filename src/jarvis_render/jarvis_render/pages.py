"""Pages of a building manual: what is new in each step, on top of what stands already."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from jarvis_bricks.colours import ColourTable
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.cell import PlateConfig
from jarvis_core.manual import Manual, ManualPage, PartCount
from jarvis_core.pose import FloatArray, Pose
from PIL import Image, ImageDraw, ImageFont

from jarvis_render.config import ManualConfig
from jarvis_render.gl import GlContext, shared_context
from jarvis_render.layout import Kind, PageLayout, axes_text, brick_corners, count_parts, plan_pages
from jarvis_render.paint import Palette, unit_rgb
from jarvis_render.plate import PlateLook, plate_figure
from jarvis_render.scene import Canvas, Drawable, Painter, PartSource, Pen
from jarvis_render.view import OrthoView, fit_view

_TEXT_RGB = (30, 34, 40)
_BOX_FILL, _BOX_EDGE = (232, 241, 250), (150, 176, 204)
#: x, y, z in the colours of robotics tools.
_AXIS_RGB = ((214, 40, 40), (30, 150, 60), (40, 80, 210))
#: A stud distance on the page at which lines have their nominal width; denser pages get finer lines.
_NOMINAL_STUD_PX = 13.0
#: Outlines come farther forward than edges, before the studs around a brick's foot.
_OUTLINE_LIFT = 1.3
#: Length of a dash and its gap where a hidden new brick is marked.
_DASH_M = 0.0032


def render_manual(
    steps: Sequence[Sequence[Drawable]],
    plate: PlateConfig,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
) -> Manual:
    """The whole manual: pages, parts list and the words that tie pages to the plate.

    Args:
        steps: bricks by step, poses in frame ``plate``; the first entry is the initial structure (may be empty).
        context: to draw with; the calling thread's shared one if absent.

    Raises:
        BadInputError: no brick at all, or an unknown colour or part.
        MissingCapabilityError: no headless OpenGL here.
    """
    layout = plan_pages(steps, plate.studs, plate.thickness_m, parts, config)
    pages = render_pages(steps, plate, parts, colours, config, context, layout)
    loose = count_parts([brick for step in steps[1:] for brick in step])
    counts = tuple(
        PartCount(part, parts.geometry(part).description, colour, colours.get(colour).words, count)
        for (part, colour), count in loose.items()
    )
    return Manual(pages, counts, axes_text(layout, config))


def render_pages(
    steps: Sequence[Sequence[Drawable]],
    plate: PlateConfig,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
    layout: PageLayout | None = None,
) -> tuple[ManualPage, ...]:
    """Page 0 (the initial structure) and one page per step, all with the same view. Arguments as render_manual."""
    layout = layout or plan_pages(steps, plate.studs, plate.thickness_m, parts, config)
    context = context or shared_context()
    with context.active() as gl:
        artist = _Artist(Painter(gl, parts, Palette(colours)), parts, config, layout, plate.thickness_m)
        try:
            images = artist.pages(steps)
        finally:
            artist.release()
    return tuple(ManualPage(number, encode_png(image)) for number, image in enumerate(images))


def render_part(
    part: str,
    colour: int,
    size_px: int,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
) -> bytes:
    """A PNG of one part, ``size_px`` square, in the view of the manual on its background."""
    context = context or shared_context()
    with context.active() as gl:
        painter = Painter(gl, parts, Palette(colours))
        picture = _part_picture(
            painter, parts, config, (part, colour), size_px, np.inf, config.background_rgb
        )
        painter.release()
    return encode_png(picture)


def encode_png(image: Image.Image) -> bytes:
    """The same bytes for the same pixels."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", compress_level=6)
    return buffer.getvalue()


class _Artist:
    """Draws the pages of one manual in order, keeping what earlier pages have drawn."""

    def __init__(
        self,
        painter: Painter,
        parts: PartSource,
        config: ManualConfig,
        layout: PageLayout,
        thickness_m: float,
    ) -> None:
        self._painter = painter
        self._parts = parts
        self._config = config
        self._layout = layout
        self._thickness_m = thickness_m
        scale = config.supersampling
        size = (config.width * scale, config.height * scale)
        #: Plate and earlier opaque bricks, faded; each page starts as a copy of it.
        self._ground = painter.canvas(size)
        self._page = painter.canvas(size)
        self._pictures: dict[Kind, Image.Image] = {}

    def release(self) -> None:
        self._ground.release()
        self._page.release()
        self._painter.release()

    def pages(self, steps: Sequence[Sequence[Drawable]]) -> list[Image.Image]:
        self._draw_plate()
        images = []
        earlier: list[Drawable] = []
        for number, step in enumerate(steps):
            image = self._drawing(earlier, step, highlight=number > 0)
            self._write_header(image, number, step)
            if self._config.axes_marker:
                self._draw_axes(image)
            images.append(image)
            earlier.extend(step)
            if number + 1 < len(steps):
                self._begin(self._ground)
                self._painter.opaque(step, self._config.fade)
        return images

    def _draw_plate(self) -> None:
        config = self._config
        self._ground.clear(unit_rgb(config.background_rgb))
        self._begin(self._ground)
        look = PlateLook(
            unit_rgb(config.plate_rgb),
            unit_rgb(config.plate_edge_rgb),
            unit_rgb(config.grid_rgb),
            config.grid_studs,
            (unit_rgb(_AXIS_RGB[0]), unit_rgb(_AXIS_RGB[1])) if config.axes_marker else None,
        )
        view = self._layout.view
        self._painter.figure(plate_figure(self._layout.span, self._thickness_m, look, view.axes))

    def _drawing(
        self, earlier: Sequence[Drawable], new: Sequence[Drawable], *, highlight: bool
    ) -> Image.Image:
        self._painter.copy(self._ground, self._page)
        self._begin(self._page)
        hidden: list[Drawable] = []
        if highlight:
            accent = self._pen(self._config.accent_px, lift=_OUTLINE_LIFT)
            hidden = [b for b in new if self._painter.visible_share(b) < self._config.ghost_below]
            self._painter.outline(new, unit_rgb(self._config.accent_rgb), accent)
        self._painter.opaque(new)
        self._painter.transparent([*((b, self._config.fade) for b in earlier), *((b, 0.0) for b in new)])
        for brick in hidden:
            dashes = _dashed_box(brick, self._parts, self._layout.view)
            self._painter.overlay(
                dashes, unit_rgb(self._config.accent_rgb), self._pen(self._config.accent_px / 3)
            )
        return _shrunk(self._painter.read(self._page), self._config.supersampling)

    def _begin(self, canvas: Canvas) -> None:
        self._painter.begin(canvas, self._layout.view, self._pen(self._config.edge_px))

    def _pen(self, width_px: float, lift: float = 0.6) -> Pen:
        """A pen of so many reference pixels; finer where studs are close together on the page.

        Args:
            lift: how far lines are drawn in front of where they are, in widths on the steepest face seen.
        """
        view = self._layout.view
        stud_px = view.px_per_m * STUD_PITCH_M / self._config.unit
        page_px = width_px * self._config.unit * min(1.3, max(0.6, stud_px / _NOMINAL_STUD_PX))
        # On a face seen at this latitude, one pixel across the line is up to cot(latitude) pixels deep.
        slope = 1.0 / np.tan(np.radians(view.latitude_deg))
        return Pen(page_px * self._config.supersampling, lift * page_px * max(slope, 1.0) / view.px_per_m)

    def _write_header(self, image: Image.Image, number: int, step: Sequence[Drawable]) -> None:
        unit = self._config.unit
        draw = ImageDraw.Draw(image)
        text, size = (str(number), 46 * unit) if number else ("Start", 26 * unit)
        draw.text((10 * unit, 6 * unit), text, font=_font(size), fill=_TEXT_RGB, stroke_width=unit * 0.6)
        counts = count_parts(step) if number else {}
        if counts:
            self._draw_parts_list(image, draw, counts)

    def _draw_parts_list(
        self, image: Image.Image, draw: ImageDraw.ImageDraw, counts: dict[Kind, int]
    ) -> None:
        layout, unit = self._layout, self._config.unit
        cell, top = layout.cell_px, round(6 * unit)
        columns = min(layout.columns, len(counts))
        rows = -(-len(counts) // layout.columns)
        box = (layout.left_px, top, layout.left_px + columns * cell + round(4 * unit), top + rows * cell)
        draw.rounded_rectangle(
            box, radius=5 * unit, fill=_BOX_FILL, outline=_BOX_EDGE, width=max(1, round(unit))
        )
        for index, (kind, count) in enumerate(counts.items()):
            row, column = divmod(index, layout.columns)
            left, upper = layout.left_px + round(2 * unit) + column * cell, top + row * cell
            picture = self._picture(kind)
            inset = (cell - picture.width) // 2
            image.paste(picture, (left + inset, upper + round(2 * unit)))
            draw.text(
                (left + cell / 2, upper + cell - 3 * unit),
                f"{count}x",
                font=_font(max(9.0, min(15 * unit, cell * 0.25))),
                fill=_TEXT_RGB,
                anchor="ms",
                stroke_width=unit * 0.3,
            )

    def _picture(self, kind: Kind) -> Image.Image:
        if kind not in self._pictures:
            size = round(self._layout.cell_px * 0.74)
            scale = max(self._layout.view.px_per_m, self._config.unit * _NOMINAL_STUD_PX / STUD_PITCH_M)
            self._pictures[kind] = _part_picture(
                self._painter, self._parts, self._config, kind, size, scale, _BOX_FILL
            )
        return self._pictures[kind]

    def _draw_axes(self, image: Image.Image) -> None:
        """Arrows of the plate's axes, in the lower left corner, which the plate's outline leaves free."""
        unit, view = self._config.unit, self._layout.view
        draw = ImageDraw.Draw(image)
        origin = np.array([14 * unit, self._config.height - 34 * unit])
        for axis, (name, rgb) in enumerate(zip("xyz", _AXIS_RGB, strict=True)):
            step = np.array(view.step_px(np.eye(3)[axis]))
            tip = origin + step / view.px_per_m * 26 * unit
            draw.line([tuple(origin), tuple(tip)], fill=rgb, width=max(1, round(2 * unit)))
            place = origin + step / view.px_per_m * 34 * unit
            draw.text(tuple(place), name, font=_font(12 * unit), fill=rgb, anchor="mm")


def _part_picture(
    painter: Painter,
    parts: PartSource,
    config: ManualConfig,
    kind: Kind,
    size_px: int,
    max_px_per_m: float,
    background: tuple[int, int, int],
) -> Image.Image:
    """One part, square, its long side along x; not larger than ``max_px_per_m``."""
    brick = _Sample(kind[0], kind[1], _long_side_along_x(parts, kind[0]))
    pad = 2.0
    area = (pad, pad, size_px - pad, size_px - pad)
    view = fit_view(
        brick_corners(brick, parts),
        (size_px, size_px),
        area,
        config.latitude_deg,
        config.longitude_deg,
        max_px_per_m,
    )
    width = config.edge_px * config.unit * min(1.0, view.px_per_m * STUD_PITCH_M / (10 * config.unit))
    canvas = painter.canvas((size_px * config.supersampling, size_px * config.supersampling))
    canvas.clear(unit_rgb(background))
    painter.begin(canvas, view, Pen(width * config.supersampling, 1.1 * width / view.px_per_m))
    painter.opaque([brick])
    painter.transparent([(brick, 0.0)])
    picture = _shrunk(painter.read(canvas), config.supersampling)
    canvas.release()
    return picture


def _dashed_box(brick: Drawable, parts: PartSource, view: OrthoView) -> FloatArray:
    """(n, 2, 3) dashes along the edges of a brick's box that face the camera, in the frame of the view."""
    low, high = parts.geometry(brick.part).bounds
    towards = brick.pose.rotation.T @ view.axes[2]
    near, far = np.where(towards > 0, high, low), np.where(towards > 0, low, high)
    dashes = []
    for axis in range(3):
        for others in ((False, False), (False, True), (True, False)):
            # An edge along this axis touches a face that is seen unless both its other sides are far ones.
            start = near.copy()
            start[[i for i in range(3) if i != axis]] = np.where(
                others, np.delete(far, axis), np.delete(near, axis)
            )
            end = start.copy()
            end[axis] = far[axis]
            count = max(2, round(abs(float(near[axis] - far[axis])) / _DASH_M))
            ends = np.linspace(0.0, 1.0, 2 * count)
            points = start + np.outer(ends, end - start)
            dashes.append(points.reshape(count, 2, 3))
    segments: FloatArray = brick.pose @ np.concatenate(dashes).reshape(-1, 3)
    return segments.reshape(-1, 2, 3)


class _Sample:
    """One brick by itself."""

    def __init__(self, part: str, colour: int, pose: Pose) -> None:
        self.part = part
        self.colour = colour
        self.pose = pose


def _long_side_along_x(parts: PartSource, part: str) -> Pose:
    low, high = parts.geometry(part).bounds
    size = high - low
    return Pose() if size[0] >= size[1] else Pose.from_yaw((0.0, 0.0, 0.0), np.pi / 2)


def _shrunk(pixels: npt.NDArray[np.uint8], factor: int) -> Image.Image:
    image = Image.fromarray(pixels)
    return image if factor == 1 else image.reduce(factor)


def _font(size: float) -> ImageFont.FreeTypeFont:
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType: install the wheel from PyPI")
    return font
