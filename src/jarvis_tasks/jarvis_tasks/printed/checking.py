"""A picture to check a map by: every page beside the step it is taken for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_render.gl import GlContext, shared_context
from jarvis_render.hypotheses import Tracer
from jarvis_render.layout import brick_corners
from jarvis_render.paint import Palette
from jarvis_render.scene import Painter
from PIL import Image, ImageDraw, ImageFont

from jarvis_tasks.printed.matching import DRAWING_PX, Match
from jarvis_tasks.printed.pages import open_page

_CELL = 200
_COLUMNS = 4
_LABEL = 26
_SURE_RGB, _UNSURE_RGB = (30, 110, 60), (200, 40, 30)


def comparison(
    files: Sequence[Path],
    matches: Sequence[Match],
    assembly: Assembly,
    catalogue: PartCatalogue,
    context: GlContext | None = None,
) -> Image.Image:
    """Pages with their steps drawn to their right, a name over each; in red what a person should look at."""
    rows = -(-len(files) // _COLUMNS)
    sheet = Image.new("RGB", (_COLUMNS * 2 * _CELL, rows * (_CELL + _LABEL)), (255, 255, 255))
    pen = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(15)
    with (context or shared_context()).active() as gl:
        painter = Painter(gl, catalogue, Palette(catalogue.colours))
        tracer = Tracer(painter, (DRAWING_PX, DRAWING_PX))
        try:
            for index, (file, match) in enumerate(zip(files, matches, strict=True)):
                left, top = index % _COLUMNS * 2 * _CELL, index // _COLUMNS * (_CELL + _LABEL)
                words = "no step" if match.step is None else f"step {match.step}"
                colour = _SURE_RGB if match.sure else _UNSURE_RGB
                pen.text((left + 6, top + 4), f"{file.name}: {words}", fill=colour, font=font)
                sheet.paste(_fitted(open_page(file)), (left, top + _LABEL))
                if match.step is not None:
                    sheet.paste(_drawing(tracer, match, assembly, catalogue), (left + _CELL, top + _LABEL))
        finally:
            tracer.release()
            painter.release()
    return sheet


def _drawing(tracer: Tracer, match: Match, assembly: Assembly, catalogue: PartCatalogue) -> Image.Image:
    assert match.side is not None
    assert match.step is not None
    bricks = [brick for brick in assembly.bricks if brick.step <= match.step]
    tracer.trace(bricks, match.side.view(brick_corners(bricks, catalogue).reshape(-1, 3)))
    pixels = np.where(tracer.numbers()[:, :, None] > 0, tracer.rgb(), np.uint8(255))
    return _fitted(Image.fromarray(pixels))


def _fitted(image: Image.Image) -> Image.Image:
    scale = (_CELL - 8) / max(image.size)
    small = image.resize((max(1, round(image.width * scale)), max(1, round(image.height * scale))))
    cell = Image.new("RGB", (_CELL, _CELL), (255, 255, 255))
    cell.paste(small, ((_CELL - small.width) // 2, (_CELL - small.height) // 2))
    return cell
