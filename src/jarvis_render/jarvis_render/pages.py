"""Pages of a building manual: what is new in each step, on top of what stands already."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import moderngl
import numpy as np
from jarvis_bricks.colours import ColourTable
from jarvis_core.cell import PlateConfig
from jarvis_core.manual import Manual, ManualPage, PartCount
from PIL import Image

from jarvis_render.artist import Artist, Callout
from jarvis_render.config import ManualConfig
from jarvis_render.gl import GlContext, shared_context
from jarvis_render.layout import PageLayout, axes_text, count_parts, plan_pages
from jarvis_render.paint import Palette, unit_rgb
from jarvis_render.pictures import PartPictures
from jarvis_render.scene import Drawable, Painter, PartSource
from jarvis_render.turning import choose_directions
from jarvis_render.view import Direction


@dataclass(frozen=True, slots=True)
class PageHints:
    """What a model file says about its steps besides their bricks.

    Attributes:
        turns: the side each page is seen from; None where the file says nothing. May be shorter than the manual.
        callouts: the submodel that a page's step belongs to, by page number.
    """

    turns: tuple[Direction | None, ...] = ()
    callouts: dict[int, Callout] = field(default_factory=dict)


def render_manual(
    steps: Sequence[Sequence[Drawable]],
    plate: PlateConfig,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
    hints: PageHints | None = None,
) -> Manual:
    """The whole manual: pages, parts list and the words that tie pages to the plate.

    Args:
        steps: bricks by step, poses in frame ``plate``; the first entry is the initial structure (may be empty).
        context: to draw with; the calling thread's shared one if absent.
        hints: turned views and submodels.

    Raises:
        BadInputError: no brick at all, an unknown colour or part, or a part without geometry.
        MissingCapabilityError: no headless OpenGL here.
    """
    layout = plan_manual(steps, plate, parts, colours, config, context, hints)
    pages = render_pages(steps, plate, parts, colours, config, context, layout, hints=hints)
    loose = count_parts([brick for step in steps[1:] for brick in step])
    counts = tuple(
        PartCount(part, parts.geometry(part).description, colour, colours.get(colour).words, count)
        for (part, colour), count in loose.items()
    )
    return Manual(pages, counts, axes_text(layout, config))


def plan_manual(
    steps: Sequence[Sequence[Drawable]],
    plate: PlateConfig,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
    hints: PageHints | None = None,
) -> PageLayout:
    """Choose what side each page is seen from, and where everything goes. Arguments and errors as render_manual."""
    plan_pages(steps, plate.studs, plate.thickness_m, parts, config)  # nothing to show is told before drawing
    with (context or shared_context()).active() as gl:
        painter = Painter(gl, parts, Palette(colours))
        try:
            turns = hints.turns if hints is not None else ()
            directions = choose_directions(gl, painter, steps, parts, config, turns)
        finally:
            painter.release()
    return plan_pages(steps, plate.studs, plate.thickness_m, parts, config, directions)


def render_pages(
    steps: Sequence[Sequence[Drawable]],
    plate: PlateConfig,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
    layout: PageLayout | None = None,
    *,
    hints: PageHints | None = None,
    numbers: Sequence[int] | None = None,
    on_page: Callable[[int], None] | None = None,
) -> tuple[ManualPage, ...]:
    """Page 0 (the initial structure) and one page per step. Arguments as render_manual.

    Args:
        layout: from plan_manual; all pages from the usual side if absent.
        numbers: the pages wanted, in rising order; all if absent.
        on_page: told the number of each page that is done.
    """
    layout = layout or plan_pages(steps, plate.studs, plate.thickness_m, parts, config)
    wanted = range(len(steps)) if numbers is None else numbers
    callouts = hints.callouts if hints is not None and config.callouts else {}
    pages = []
    with (context or shared_context()).active() as gl:
        artist = _artist(gl, parts, colours, config, layout, plate)
        try:
            for number in wanted:
                image = artist.page(steps, number, callouts.get(number))
                pages.append(ManualPage(number, encode_png(image)))
                if on_page is not None:
                    on_page(number)
        finally:
            artist.release()
    return tuple(pages)


def _artist(
    gl: moderngl.Context,
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    layout: PageLayout,
    plate: PlateConfig,
) -> Artist:
    paper = unit_rgb(config.background_rgb)
    painter = Painter(gl, parts, Palette(colours, ink=config.ink), paper)
    # Parts lists tell the colours, whatever the style of the page.
    pictures = PartPictures(Painter(gl, parts, Palette(colours)), parts, config)
    return Artist(painter, pictures, parts, config, layout, plate.thickness_m)


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
    with (context or shared_context()).active() as gl:
        pictures = PartPictures(Painter(gl, parts, Palette(colours)), parts, config)
        try:
            picture = pictures.draw((part, colour), size_px, np.inf, config.background_rgb)
        finally:
            pictures.release()
    return encode_png(picture)


def encode_png(image: Image.Image) -> bytes:
    """The same bytes for the same pixels."""
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", compress_level=4)
    return buffer.getvalue()
