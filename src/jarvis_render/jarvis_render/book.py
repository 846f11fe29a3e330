"""A manual as a book: cover, pages, list of parts, in one PDF; a contact sheet; a chart of colours."""

from __future__ import annotations

import io
import itertools
import math
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from jarvis_bricks.colours import Colour, ColourTable
from jarvis_core.files import atomic_path
from jarvis_core.manual import PartCount
from PIL import Image, ImageDraw

from jarvis_render.config import ManualConfig
from jarvis_render.gl import GlContext, shared_context
from jarvis_render.pages import encode_png
from jarvis_render.paint import Palette
from jarvis_render.pictures import PartPictures, fitted_text, font
from jarvis_render.scene import Painter, PartSource

_INK, _PALE, _WHITE = (30, 34, 40), (110, 116, 124), (255, 255, 255)
_ATTRIBUTION = "Parts: LDraw.org Parts Library, CC BY 4.0 (ldraw.org). LEGO is a trademark of the LEGO Group."
#: Written into every PDF, so that the same book has the same bytes.
_DATE = time.gmtime(0)
_PDF_DPI = 150.0
_PDF_QUALITY = 90
#: Pages that are written to a PDF at once.
_PDF_BATCH = 24


def cover(
    last_page: bytes, title: str, author: str, licence: str, counts: str, config: ManualConfig
) -> Image.Image:
    """The first page of a book: what is built, by whom, and a picture of it.

    Args:
        last_page: PNG of the finished construction. counts: e.g. ``16 bricks, 11 steps``.
    """
    unit = config.unit
    image = Image.new("RGB", (config.width, config.height), _WHITE)
    draw = ImageDraw.Draw(image)
    fitted_text(
        draw, (24 * unit, 22 * unit), title or "Building manual", 34 * unit, config.width - 48 * unit, _INK
    )
    fitted_text(draw, (24 * unit, 66 * unit), counts, 16 * unit, config.width - 48 * unit, _PALE)
    picture = Image.open(io.BytesIO(last_page)).convert("RGB")
    # The page's own header is left off.
    top = round(picture.height * 0.2)
    picture = picture.crop((0, top, picture.width, picture.height))
    picture.thumbnail((round(config.width * 0.94), round(config.height * 0.7)), Image.Resampling.LANCZOS)
    image.paste(picture, ((config.width - picture.width) // 2, round(96 * unit)))
    said = " - ".join(text for text in (author, licence) if text)
    fitted_text(
        draw, (24 * unit, config.height - 44 * unit), said, 11 * unit, config.width - 48 * unit, _PALE
    )
    fitted_text(
        draw, (24 * unit, config.height - 26 * unit), _ATTRIBUTION, 10 * unit, config.width - 48 * unit, _PALE
    )
    return image


def parts_pages(
    counts: Sequence[PartCount],
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    context: GlContext | None = None,
) -> list[Image.Image]:
    """All parts of a manual with pictures, counts, names and colours, on as many pages as they need.

    Raises:
        BadInputError: an unknown part or colour.
        MissingCapabilityError: no headless OpenGL here.
    """
    unit, margin = config.unit, round(14 * config.unit)
    columns, cell_height = 4, round(112 * unit)
    cell_width = (config.width - 2 * margin) // columns
    rows = max(1, (config.height - 2 * margin - round(30 * unit)) // cell_height)
    pages = []
    ordered = sorted(counts, key=lambda c: (c.colour, c.part))
    with (context or shared_context()).active() as gl:
        pictures = PartPictures(Painter(gl, parts, Palette(colours)), parts, config)
        try:
            for start in range(0, len(ordered), rows * columns):
                page = Image.new("RGB", (config.width, config.height), _WHITE)
                draw = ImageDraw.Draw(page)
                draw.text((margin, margin), "Parts", font=font(20 * unit), fill=_INK)
                for index, count in enumerate(ordered[start : start + rows * columns]):
                    row, column = divmod(index, columns)
                    left = margin + column * cell_width
                    top = margin + round(30 * unit) + row * cell_height
                    size = max(8, min(cell_width, cell_height) - round(44 * unit))
                    picture = pictures.draw((count.part, count.colour), size, math.inf, _WHITE)
                    page.paste(picture, (left + round(18 * unit), top))
                    draw.text(
                        (left, top), f"{count.count}x", font=font(14 * unit), fill=_INK, stroke_width=0.3
                    )
                    width = cell_width - 6 * unit
                    words = " ".join(count.description.split())
                    fitted_text(draw, (left, top + size + 4 * unit), words, 9.5 * unit, width, _INK)
                    named = f"{count.colour_name} - {count.part}"
                    fitted_text(draw, (left, top + size + 17 * unit), named, 9 * unit, width, _PALE)
                pages.append(page)
        finally:
            pictures.release()
    return pages


def write_pdf(path: Path, images: Iterable[Image.Image], title: str, author: str) -> None:
    """One page per image, whole or not at all; the same images give the same bytes.

    Only a few images are held at a time.
    """
    facts = {
        "title": title,
        "author": author,
        "keywords": _ATTRIBUTION,
        "creationDate": _DATE,
        "modDate": _DATE,
    }
    with atomic_path(path) as temporary:
        for start, batch in enumerate(itertools.batched(images, _PDF_BATCH)):
            first, *rest = [image.convert("RGB") for image in batch]
            first.save(
                temporary,
                format="PDF",
                save_all=True,
                append_images=rest,
                append=start > 0,
                resolution=_PDF_DPI,
                quality=_PDF_QUALITY,
                **facts,
            )


def contact_sheet(pages: Sequence[bytes], thumb_px: int = 240, columns: int = 0) -> Image.Image:
    """All pages small, side by side in reading order; ``columns`` 0: about as wide as high."""
    columns = columns or max(1, math.ceil(math.sqrt(len(pages))))
    thumbs = []
    for page in pages:
        thumb = Image.open(io.BytesIO(page)).convert("RGB")
        thumb.thumbnail((thumb_px, thumb_px), Image.Resampling.LANCZOS)
        thumbs.append(thumb)
    gap = max(2, thumb_px // 40)
    width, height = max(t.width for t in thumbs) + gap, max(t.height for t in thumbs) + gap
    rows = math.ceil(len(thumbs) / columns)
    sheet = Image.new("RGB", (columns * width + gap, rows * height + gap), (190, 194, 200))
    for index, thumb in enumerate(thumbs):
        row, column = divmod(index, columns)
        sheet.paste(thumb, (gap + column * width, gap + row * height))
    return sheet


def colour_chart(
    parts: PartSource,
    colours: ColourTable,
    config: ManualConfig,
    part: str = "3003",
    context: GlContext | None = None,
) -> bytes:
    """A PNG of one part in every colour of the table, with codes and names.

    Raises:
        BadInputError: an unknown part. MissingCapabilityError: no headless OpenGL here.
    """
    shown = sorted((c for c in colours.colours.values() if c.code not in (16, 24)), key=lambda c: c.code)
    columns, cell, head = 8, 104, 34
    rows = math.ceil(len(shown) / columns)
    chart = Image.new("RGB", (columns * cell, rows * (cell + head)), _WHITE)
    draw = ImageDraw.Draw(chart)
    with (context or shared_context()).active() as gl:
        pictures = PartPictures(Painter(gl, parts, Palette(colours)), parts, config)
        try:
            for index, colour in enumerate(shown):
                row, column = divmod(index, columns)
                left, top = column * cell, row * (cell + head)
                chart.paste(
                    pictures.draw((part, colour.code), cell - 20, math.inf, _WHITE), (left + 10, top + 4)
                )
                fitted_text(draw, (left + 5, top + cell - 14), str(colour.code), 13, cell - 10, _INK)
                fitted_text(draw, (left + 5, top + cell + 2), colour.words, 10, cell - 10, _PALE)
                fitted_text(draw, (left + 5, top + cell + 14), _material(colour), 9, cell - 10, _PALE)
        finally:
            pictures.release()
    return encode_png(chart)


def _material(colour: Colour) -> str:
    words = [] if colour.material == "SOLID" else [colour.material.lower().replace("_", " ")]
    if colour.alpha < 255:
        words.append("transparent")
    return ", ".join(words)
