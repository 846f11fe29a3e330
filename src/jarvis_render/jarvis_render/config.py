"""How a manual looks: read from config/manual.yaml."""

from __future__ import annotations

from typing import Annotated

from jarvis_core.config import Config
from msgspec import Meta

Byte = Annotated[int, Meta(ge=0, le=255)]
ByteRgb = tuple[Byte, Byte, Byte]
Positive = Annotated[float, Meta(gt=0)]

#: Lengths in pixels are given for a page of this size.
REFERENCE_PX = 512


class ManualConfig(Config, frozen=True):
    """Looks of a manual. Lengths ``_px`` are those of a 512-pixel page and scale with the page.

    Attributes:
        width, height: of a page in pixels.
        supersampling: pages are drawn so many times larger and averaged, on top of multisampling.
        latitude_deg, longitude_deg: direction to the camera: above the horizon, and from the front to the right.
        margin_studs: studs of the plate shown around the construction.
        max_stud_px: largest distance of two studs on the page.
        grid_studs: a line on the plate every so many studs from its middle; 0 for none.
        fade: share of white in earlier bricks.
        accent_rgb, accent_px: outline of new bricks.
        ghost_below: a new brick of which less than this share is visible gets a dashed box drawn over all.
        edge_px: width of edge lines.
        part_cell_px: size of one picture in the parts list.
        max_header: largest share of the page's height for the parts list; pictures shrink to fit.
        axes_marker: draw the plate's x, y and z directions in a corner.
    """

    width: Annotated[int, Meta(ge=64, le=8192)]
    height: Annotated[int, Meta(ge=64, le=8192)]
    supersampling: Annotated[int, Meta(ge=1, le=4)]
    latitude_deg: Annotated[float, Meta(gt=0, lt=90)]
    longitude_deg: float
    margin_studs: Annotated[int, Meta(ge=0, le=64)]
    max_stud_px: Positive
    plate_rgb: ByteRgb
    plate_edge_rgb: ByteRgb
    grid_rgb: ByteRgb
    grid_studs: Annotated[int, Meta(ge=0)]
    background_rgb: ByteRgb
    fade: Annotated[float, Meta(ge=0, le=1)]
    accent_rgb: ByteRgb
    accent_px: Positive
    ghost_below: Annotated[float, Meta(ge=0, le=1)]
    edge_px: Positive
    part_cell_px: Positive
    max_header: Annotated[float, Meta(gt=0, lt=0.9)]
    axes_marker: bool

    @property
    def unit(self) -> float:
        """Page pixels per reference pixel."""
        return min(self.width, self.height) / REFERENCE_PX
