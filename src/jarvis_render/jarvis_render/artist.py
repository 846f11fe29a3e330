"""Draws the pages of one manual, keeping what earlier pages have drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.pose import FloatArray
from PIL import Image, ImageDraw

from jarvis_render.config import ManualConfig
from jarvis_render.figures import Figure, triangle_rows
from jarvis_render.layout import Kind, PageLayout, PageView, PartsGrid, brick_corners, count_parts
from jarvis_render.paint import mixed, unit_rgb
from jarvis_render.pictures import PartPictures, fitted_text, font, shrunk
from jarvis_render.plate import PlateLook, PlateSpan, plate_figure
from jarvis_render.printed import printed
from jarvis_render.scene import Canvas, Drawable, Painter, PartSource, Pen, figure_place
from jarvis_render.soft import SoftLight
from jarvis_render.view import project

_TEXT_RGB = (30, 34, 40)
_BOX_FILL, _BOX_EDGE = (232, 241, 250), (150, 176, 204)
_CALLOUT_FILL, _CALLOUT_EDGE = (255, 250, 226), (204, 178, 96)
#: x, y, z in the colours of robotics tools.
_AXIS_RGB = ((214, 40, 40), (30, 150, 60), (40, 80, 210))
#: A stud distance on the page at which lines have their nominal width; denser pages get finer lines.
_NOMINAL_STUD_PX = 13.0
#: Outlines come farther forward than edges, before the studs around a brick's foot.
_OUTLINE_LIFT = 1.3
#: Length of a dash and its gap where a hidden new brick is marked.
_DASH_M = 0.0032
#: Views whose earlier bricks stay drawn, the one used longest ago goes first.
_MAX_GROUNDS = 3
#: Arrows onto new bricks: from so high to so high above it, and at most so many (more would hide the bricks).
_ARROW_M, _MAX_ARROWS = (0.030, 0.005), 10


@dataclass(frozen=True, slots=True)
class Callout:
    """A submodel by itself, beside the page's construction.

    Attributes:
        title: what it is.
        count: how often the model holds it.
        built: its bricks from earlier steps; those of this step are the page's new ones.
    """

    title: str
    count: int
    built: tuple[Drawable, ...]


@dataclass(frozen=True, slots=True)
class _Ground:
    """A canvas with the plate and the bricks of the steps before ``drawn``."""

    canvas: Canvas
    drawn: int


class Artist:
    """Draws pages of one manual. Use it inside ``GlContext.active()``; it owns painter and pictures."""

    def __init__(
        self,
        painter: Painter,
        pictures: PartPictures,
        parts: PartSource,
        config: ManualConfig,
        layout: PageLayout,
        thickness_m: float,
    ) -> None:
        self._painter = painter
        self._pictures = pictures
        self._parts = parts
        self._config = config
        self._layout = layout
        self._thickness_m = thickness_m
        self._factor = config.oversampling
        self._size = (config.width * self._factor, config.height * self._factor)
        self._grounds: dict[PageView, _Ground] = {}
        self._page = painter.canvas(self._size)
        self._soft = SoftLight(painter) if config.shading == "soft" else None
        self._view: PageView = layout.views[0]

    def release(self) -> None:
        if self._soft is not None:
            self._soft.release()
        for ground in self._grounds.values():
            ground.canvas.release()
        self._page.release()
        self._painter.release()
        self._pictures.release()

    def page(self, steps: Sequence[Sequence[Drawable]], number: int, callout: Callout | None) -> Image.Image:
        """The finished page of a step; 0 is the start. Rising numbers are quickest."""
        self._view = self._layout.views[number]
        image = self._drawing(steps, number)
        self._write_header(image, number, steps[number])
        if number and self._layout.directions[number] != self._layout.directions[number - 1]:
            self._draw_turn_mark(image)
        if callout is not None:
            self._draw_callout(image, callout, steps, number)
        if self._config.axes_marker:
            self._draw_axes(image)
        return printed(image, self._config, number)

    def _drawing(self, steps: Sequence[Sequence[Drawable]], number: int) -> Image.Image:
        new = steps[number]
        earlier = [brick for step in steps[:number] for brick in step]
        hidden: list[Drawable] = []
        if self._soft is not None:
            self._lit_page(self._soft, number, earlier, new)
        else:
            self._painter.copy(self._ground(steps, number), self._page)
            self._begin(self._page)
        if number:
            hidden = self._hidden(new)
            self._outline(new)
        tint = self._config.new_rgb if number else None
        colour = unit_rgb(tint) if tint is not None else None
        if self._soft is not None:
            self._lit(self._soft, new)
        else:
            self._painter.opaque(new, tint=colour)
        faded = [*((brick, self._config.fade) for brick in earlier), *((brick, 0.0) for brick in new)]
        self._painter.transparent(faded)
        for brick in hidden:
            self._mark_hidden(brick)
        if number and self._config.arrows:
            self._draw_arrows(new)
        return shrunk(self._painter.read(self._page), self._factor)

    def _ground(self, steps: Sequence[Sequence[Drawable]], number: int) -> Canvas:
        """Plate and earlier opaque bricks, faded, as seen on a page; what is there already is not drawn again."""
        ground = self._grounds.pop(self._view, None)
        if ground is not None and ground.drawn > number:
            ground.canvas.release()
            ground = None
        if ground is None:
            ground = _Ground(self._empty_plate(number), 0)
        self._begin(ground.canvas)
        # Step by step, so that a page looks the same whichever page was drawn before it.
        for step in steps[ground.drawn : number]:
            self._painter.opaque(step, self._config.fade)
        self._grounds[self._view] = _Ground(ground.canvas, number)
        return ground.canvas

    def _empty_plate(self, number: int) -> Canvas:
        while len(self._grounds) >= _MAX_GROUNDS:
            oldest = next(iter(self._grounds))
            self._grounds.pop(oldest).canvas.release()
        canvas = self._painter.canvas(self._size)
        canvas.clear(unit_rgb(self._config.background_rgb))
        self._begin(canvas)
        if self._layout.directions[number].from_above:
            self._painter.figure(self._plate(number))
        return canvas

    def _plate(self, number: int) -> Figure:
        config = self._config
        # Outlines of studs that are only a few pixels apart would make the plate grey: they fade away.
        stud_px = self._view.px_per_m * STUD_PITCH_M / config.unit
        clear = float(np.clip((stud_px - 4.0) / 6.0, 0.15, 1.0))
        face, edge, grid = (
            unit_rgb(rgb) for rgb in (config.plate_rgb, config.plate_edge_rgb, config.grid_rgb)
        )
        look = PlateLook(
            face,
            mixed(face, edge, clear) if config.edge_px else None,
            mixed(face, grid, max(0.4, clear)),
            config.grid_studs,
            (unit_rgb(_AXIS_RGB[0]), unit_rgb(_AXIS_RGB[1])) if config.axes_marker else None,
        )
        return plate_figure(self._layout.spans[number], self._thickness_m, look, self._view.axes)

    def _lit_page(
        self, soft: SoftLight, number: int, earlier: Sequence[Drawable], new: Sequence[Drawable]
    ) -> None:
        """Plate, table and earlier bricks in soft light; the new ones cast their shadows already."""
        painter, plate, span = self._painter, self._plate(number), self._layout.spans[number]
        casters = [b for b in (*earlier, *new) if not painter.is_transparent(b)]
        cloud = np.concatenate([span.corners(), brick_corners(casters, self._parts).reshape(-1, 3)])
        centre = (cloud.min(axis=0) + cloud.max(axis=0)) / 2
        radius = float(np.linalg.norm(cloud - centre, axis=1).max()) + 0.004
        slab = painter.figure_shape(plate)
        soft.cast(casters, [(slab, figure_place())], centre, radius)
        self._page.clear(unit_rgb(self._config.background_rgb))
        self._begin(self._page)
        soft.begin(self._view, unit_rgb(self._config.background_rgb))
        if self._view.axes[2, 2] > 0.02:
            table = painter.figure_shape(self._table(span, radius))
            for shape in (table, slab):
                shape.draw(soft.program, figure_place())
            table.release()
            self._painter.figure_lines(plate, self._pen(1.2))
        slab.release()
        self._lit(soft, earlier)

    def _table(self, span: PlateSpan, radius_m: float) -> Figure:
        reach, z = 60 * radius_m, -self._thickness_m
        x, y = (float(v) for v in span.corners()[:, :2].mean(axis=0))
        corner = [[x + i * reach, y + j * reach, z] for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        faces = [[corner[0], corner[1], corner[2]], [corner[0], corner[2], corner[3]]]
        return Figure(triangle_rows(faces, (*unit_rgb(self._config.background_rgb), 0.0)), np.zeros(0))

    def _lit(self, soft: SoftLight, bricks: Sequence[Drawable]) -> None:
        solid = [brick for brick in bricks if not self._painter.is_transparent(brick)]
        self._painter.faces(solid, self._painter.places(solid, 0.0), soft.program)
        if self._config.edge_px:
            self._painter.edges(solid)

    def _begin(self, canvas: Canvas) -> None:
        self._painter.begin(canvas, self._view, self._pen(self._config.edge_px))

    def _pen(self, width_px: float, lift: float = 0.6) -> Pen:
        """A pen of so many reference pixels; finer where studs are close together on the page.

        Args:
            lift: how far lines are drawn in front of where they are, in widths on the steepest face seen.
        """
        scale = self._view.px_per_m
        stud_px = scale * STUD_PITCH_M / self._config.unit
        page_px = width_px * self._config.unit * min(1.3, max(0.6, stud_px / _NOMINAL_STUD_PX))
        # On a face seen at this latitude, one pixel across the line is up to cot(latitude) pixels deep.
        rise = min(0.99, abs(float(self._view.axes[2, 2])))
        slope = min(4.0, np.sqrt(1 - rise**2) / max(rise, 0.1))
        return Pen(page_px * self._factor, lift * page_px * max(slope, 1.0) / scale)

    def _outline(self, new: Sequence[Drawable]) -> None:
        if self._config.accent_px:
            pen = self._pen(self._config.accent_px, lift=_OUTLINE_LIFT)
            self._painter.outline(new, unit_rgb(self._config.accent_rgb), pen)

    def _hidden(self, new: Sequence[Drawable]) -> list[Drawable]:
        if not self._config.ghost_below:
            return []
        shares = self._painter.visible_shares(new)
        return [b for b, share in zip(new, shares, strict=True) if share < self._config.ghost_below]

    def _mark_hidden(self, brick: Drawable) -> None:
        dashes = _dashed_box(brick, self._parts, self._view)
        width = max(self._config.accent_px, 5.0)
        self._painter.overlay(dashes, unit_rgb(self._config.accent_rgb), self._pen(width / 3))

    def _draw_arrows(self, new: Sequence[Drawable]) -> None:
        """Arrows straight down onto the new bricks, with a white rim."""
        accent = unit_rgb(self._config.accent_rgb)
        for brick in new[:_MAX_ARROWS] if len(new) <= _MAX_ARROWS else ():
            corners = brick_corners([brick], self._parts)[0]
            foot = np.array([*corners[:, :2].mean(axis=0), corners[:, 2].max()])
            start, tip = (foot + [0.0, 0.0, height] for height in _ARROW_M)
            side = self._view.axes[0] * 0.004
            up = np.array([0.0, 0.0, 0.006])
            lines = np.array([[start, tip], [tip, tip + side + up], [tip, tip - side + up]])
            self._painter.overlay(lines, (1.0, 1.0, 1.0), self._pen(7.0))
            self._painter.overlay(lines, accent, self._pen(3.4))

    def _write_header(self, image: Image.Image, number: int, step: Sequence[Drawable]) -> None:
        unit = self._config.unit
        draw = ImageDraw.Draw(image)
        text, size = (str(number), 46 * unit) if number else ("Start", 26 * unit)
        room = self._layout.grids[number].left_px - 16 * unit
        size *= min(1.0, room / draw.textlength(text, font=font(size)))
        draw.text((10 * unit, 6 * unit), text, font=font(size), fill=_TEXT_RGB, stroke_width=unit * 0.6)
        counts = count_parts(step) if number else {}
        if counts:
            self._draw_parts_list(image, draw, counts, self._layout.grids[number])
        elif number:
            place = (self._layout.grids[number].left_px, 18 * unit)
            draw.text(place, "no new bricks", font=font(15 * unit), fill=_TEXT_RGB)

    def _draw_parts_list(
        self, image: Image.Image, draw: ImageDraw.ImageDraw, counts: dict[Kind, int], grid: PartsGrid
    ) -> None:
        unit, cell, top = self._config.unit, grid.cell_px, round(6 * self._config.unit)
        shown = list(counts.items())
        columns, room = min(grid.columns, len(shown)), grid.columns * grid.rows
        if len(shown) > room:
            shown = shown[: room - 1]
        left = grid.left_px
        box = (left, top, left + columns * cell + round(4 * unit), top + grid.rows * cell)
        rim = max(1, round(unit))
        draw.rounded_rectangle(box, radius=5 * unit, fill=_BOX_FILL, outline=_BOX_EDGE, width=rim)
        text = font(max(min(9.0, cell * 0.4), min(15 * unit, cell * 0.25)))
        for index, (kind, count) in enumerate(shown):
            x, y = grid_cell(index, grid, top, unit)
            picture = self._picture(kind, max(4, round(cell * 0.74)))
            image.paste(picture, (x + (cell - picture.width) // 2, y + round(2 * unit)))
            place, rim_px = (x + cell / 2, y + cell - 3 * unit), unit * 0.3
            draw.text(place, f"{count}x", font=text, fill=_TEXT_RGB, anchor="ms", stroke_width=rim_px)
        if len(shown) < len(counts):
            x, y = grid_cell(len(shown), grid, top, unit)
            more = f"+{len(counts) - len(shown)}"
            draw.text((x + cell / 2, y + cell / 2), more, font=text, fill=_TEXT_RGB, anchor="mm")

    def _picture(self, kind: Kind, size_px: int) -> Image.Image:
        scale = max(self._layout.view.px_per_m, self._config.unit * _NOMINAL_STUD_PX / STUD_PITCH_M)
        return self._pictures.draw(kind, size_px, scale, _BOX_FILL)

    def _callout_place(
        self, size: tuple[int, int], number: int, bricks: Sequence[Drawable]
    ) -> tuple[int, int]:
        """Left and top of a box in the right corner, above or below, where it hides least."""
        config, grid = self._config, self._layout.grids[number]
        margin = round(6 * config.unit)
        left = config.width - size[0] - margin
        tops = (grid.rows * grid.cell_px + 3 * margin, config.height - size[1] - margin)
        span = self._layout.spans[number]
        corners = brick_corners(bricks, self._parts).reshape(-1, 3)
        plate = project(self._view, span.cells())
        boxes = project(self._view, corners).reshape(-1, 8, 2)
        low, high = boxes.min(axis=1), boxes.max(axis=1)
        hidden = []
        for top in tops:
            end = np.array([config.width, top + size[1]])
            overlap = np.clip(np.minimum(high, end) - np.maximum(low, [left, top]), 0, None).prod(axis=1)
            cells = (plate[:, 0] > left) & (plate[:, 1] > top) & (plate[:, 1] < end[1])
            stud_px = self._view.px_per_m * STUD_PITCH_M
            # A brick that is hidden is worse than bare plate.
            hidden.append(4 * float(overlap.sum()) + float(cells.sum()) * stud_px**2 / 2)
        return left, tops[0] if hidden[0] < hidden[1] else tops[1]

    def _draw_callout(
        self, image: Image.Image, callout: Callout, steps: Sequence[Sequence[Drawable]], number: int
    ) -> None:
        """The submodel by itself in a box."""
        config, unit, new = self._config, self._config.unit, steps[number]
        side, head = round(min(config.width, config.height) * 0.27), round(16 * unit)
        standing = [brick for step in steps[: number + 1] for brick in step]
        left, top = self._callout_place((side, side + head), number, standing)
        draw = ImageDraw.Draw(image)
        box = (left, top, left + side, top + side + head)
        rim = max(1, round(1.5 * unit))
        draw.rounded_rectangle(box, 5 * unit, fill=_CALLOUT_FILL, outline=_CALLOUT_EDGE, width=rim)
        words = callout.title if callout.count < 2 else f"{callout.count}x {callout.title}"
        fitted_text(draw, (left + 5 * unit, top + 2 * unit), words, 11 * unit, side - 10 * unit, _TEXT_RGB)
        inner = max(8, side - round(8 * unit))
        direction = self._layout.directions[number]
        picture = self._pictures.group(callout.built, new, (inner, inner), direction, _CALLOUT_FILL)
        image.paste(picture, (left + round(4 * unit), top + head))

    def _draw_turn_mark(self, image: Image.Image) -> None:
        """Two arrows in a ring below the step number: this page is seen from another side than the one before."""
        unit = self._config.unit
        draw = ImageDraw.Draw(image)
        middle, radius = np.array([34.0, 84.0]) * unit, 13 * unit
        box = (*(middle - radius), *(middle + radius))
        width = max(1, round(3 * unit))
        for start in (20, 200):
            draw.arc(tuple(box), start, start + 125, fill=_TEXT_RGB, width=width)
            angle = np.radians(start + 150)
            end = np.radians(start + 118)
            rim = [middle + radius * 0.92 * np.array([np.cos(angle), np.sin(angle)])]
            rim += [middle + radius * r * np.array([np.cos(end), np.sin(end)]) for r in (0.55, 1.35)]
            draw.polygon([tuple(point) for point in rim], fill=_TEXT_RGB)

    def _draw_axes(self, image: Image.Image) -> None:
        """Arrows of the plate's axes, in the lower left corner, which the plate's outline leaves free."""
        unit, axes = self._config.unit, self._view.axes
        draw = ImageDraw.Draw(image)
        steps = np.stack([axes[0], -axes[1]], axis=1) * unit
        low, high = (steps * 34).min(axis=0), (steps * 34).max(axis=0)
        margin = 12 * unit
        origin = np.array([margin - min(0.0, low[0]), self._config.height - margin - max(0.0, high[1])])
        for name, rgb, step in zip("xyz", _AXIS_RGB, steps, strict=True):
            draw.line([tuple(origin), tuple(origin + 26 * step)], fill=rgb, width=max(1, round(2 * unit)))
            draw.text(tuple(origin + 34 * step), name, font=font(12 * unit), fill=rgb, anchor="mm")


def grid_cell(index: int, grid: PartsGrid, top: int, unit: float) -> tuple[int, int]:
    """Left and top of a picture of the parts list."""
    row, column = divmod(index, grid.columns)
    return grid.left_px + round(2 * unit) + column * grid.cell_px, top + row * grid.cell_px


def _dashed_box(brick: Drawable, parts: PartSource, view: PageView) -> FloatArray:
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
