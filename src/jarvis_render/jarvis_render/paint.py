"""LDraw colours as a painter needs them, with edge lines that stay visible on dark parts."""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_bricks.colours import ColourTable

Rgb = tuple[float, float, float]

#: Smallest difference in luminance (0 to 1) between a brick's faces and its edge lines.
MIN_EDGE_CONTRAST = 0.22

#: How strongly a material shines; below 0: grains in the material.
_FINISH = {
    "CHROME": 1.0,
    "METAL": 0.75,
    "MATTE_METALLIC": 0.6,
    "PEARLESCENT": 0.5,
    "GLITTER": -1.0,
    "SPECKLE": -1.0,
}


@dataclass(frozen=True, slots=True)
class Paint:
    """Colours of one brick, each channel 0 to 1.

    Attributes:
        face: of the faces.
        alpha: 1 is opaque.
        edge: of the edge lines.
        finish: 0 plain plastic, up to 1 shining metal, -1 grains.
    """

    face: Rgb
    alpha: float
    edge: Rgb
    finish: float = 0.0


class Palette:
    """Paints by LDraw colour code.

    Args:
        ink: draw as on paper: every face white, every line black; transparent bricks stay transparent.
    """

    def __init__(self, table: ColourTable, *, ink: bool = False) -> None:
        self._table = table
        self._ink = ink
        self._paints: dict[int, Paint] = {}

    def paint(self, code: int) -> Paint:
        """Raises BadInputError: a colour the table doesn't know."""
        if code not in self._paints:
            self._paints[code] = self._make(code)
        return self._paints[code]

    def _make(self, code: int) -> Paint:
        colour = self._table.get(code)
        alpha = colour.alpha / 255
        if self._ink:
            return Paint((1.0, 1.0, 1.0), alpha, (0.08, 0.08, 0.1))
        face = unit_rgb(colour.rgb)
        edge = contrasting_edge(face, unit_rgb(colour.edge))
        return Paint(face, alpha, edge, _FINISH.get(colour.material, 0.0))


def unit_rgb(rgb: tuple[int, int, int]) -> Rgb:
    """Channels 0-255 -> 0-1."""
    return rgb[0] / 255, rgb[1] / 255, rgb[2] / 255


def mixed(a: Rgb, b: Rgb, share: float) -> Rgb:
    """``a`` with a share (0 to 1) of ``b``."""
    return a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), a[2] + share * (b[2] - a[2])


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
