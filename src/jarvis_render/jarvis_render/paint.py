"""LDraw colours as a painter needs them, with edge lines that stay visible on dark parts."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_bricks.colours import ColourTable

Rgb = tuple[float, float, float]

#: Smallest difference in luminance (0 to 1) between a brick's faces and its edge lines.
MIN_EDGE_CONTRAST = 0.22


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours of one brick, each channel 0 to 1.

    Attributes:
        face: of the faces.
        alpha: 1 is opaque.
        edge: of the edge lines.
    """

    face: Rgb
    alpha: float
    edge: Rgb


class Palette:
    """Paints by LDraw colour code."""

    def __init__(self, table: ColourTable) -> None:
        self._table = table
        self._paints: dict[int, Paint] = {}

    def paint(self, code: int) -> Paint:
        """Raises BadInputError: a colour the table doesn't know."""
        if code not in self._paints:
            colour = self._table.get(code)
            face = unit_rgb(colour.rgb)
            self._paints[code] = Paint(
                face, colour.alpha / 255, contrasting_edge(face, unit_rgb(colour.edge))
            )
        return self._paints[code]


def unit_rgb(rgb: tuple[int, int, int]) -> Rgb:
    """Channels 0-255 -> 0-1."""
    return rgb[0] / 255, rgb[1] / 255, rgb[2] / 255


def luminance(rgb: Rgb) -> float:
    """Perceived lightness 0 to 1 (weights of ITU-R BT.601)."""
    return 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]


def contrasting_edge(face: Rgb, edge: Rgb) -> Rgb:
    """The edge colour, or a grey that stands out where the colour table's own would not."""
    if abs(luminance(face) - luminance(edge)) >= MIN_EDGE_CONTRAST:
        return edge
    level = luminance(face)
    grey = 0.1 if level > MIN_EDGE_CONTRAST + 0.1 else level + 2 * MIN_EDGE_CONTRAST
    return grey, grey, grey
