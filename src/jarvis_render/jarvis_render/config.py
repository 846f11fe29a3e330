"""How a manual looks: read from config/manual.yaml."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from jarvis_core.config import Config
from jarvis_core.errors import BadInputError
from msgspec import Meta

Byte = Annotated[int, Meta(ge=0, le=255)]
ByteRgb = tuple[Byte, Byte, Byte]
Positive = Annotated[float, Meta(gt=0)]
NotNegative = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
MIN_PAGE_PX, MAX_PAGE_PX = 64, 4096
PagePx = Annotated[int, Meta(ge=MIN_PAGE_PX, le=MAX_PAGE_PX)]

#: Lengths in pixels are given for a page of this size.
REFERENCE_PX = 512


class PrintConfig(Config, frozen=True):
    """How a page looks that was printed and scanned. Lengths ``_px`` as in ManualConfig.

    Attributes:
        max_turn_deg: the book lies askew by at most this, the same on all its pages.
        grain: standard deviation of the paper's noise, 0 to 1.
        blur_px: radius of the scanner's blur.
        vignette: darkening at the corners, 0 to 1.
        paper_rgb: white of the paper.
        contrast: share of the ink's contrast that is left, 0 to 1.
        jpeg_quality: of the scan.
    """

    max_turn_deg: Annotated[float, Meta(ge=0, le=10)]
    grain: Share
    blur_px: NotNegative
    vignette: Share
    paper_rgb: ByteRgb
    contrast: Share
    jpeg_quality: Annotated[int, Meta(ge=1, le=95)]


class ManualConfig(Config, frozen=True, kw_only=True):
    """Looks of a manual. Lengths ``_px`` are those of a 512-pixel page and scale with the page.

    Attributes:
        width, height: of a page in pixels.
        supersampling: pages are drawn so many times larger and averaged (less on very large pages).
        latitude_deg, longitude_deg: direction to the camera: above the horizon, and from the front to the right.
        perspective_deg: vertical opening angle of a pinhole camera; 0: orthographic.
        turn_below: the view turns when a new brick shows less than this share of itself; 0: never.
        closer: pages show what is built so far as large as it fits, instead of all at the scale of the last one.
        margin_studs: studs of the plate shown around the construction.
        max_stud_px: largest distance of two studs on the page.
        grid_studs: a line on the plate every so many studs from its middle; 0 for none.
        shading: ``flat``: even faces; ``soft``: lit by a sky and a wide lamp, with soft shadows.
        ink: white faces and black lines; colours are told by the parts list alone.
        fade: share of white in earlier bricks.
        accent_rgb, accent_px: outline of new bricks; width 0: none.
        new_rgb: faces of new bricks in this colour instead of their own (line art).
        ghost_below: a new brick of which less than this share is visible gets a dashed box drawn over all.
        arrows: arrows from above onto the new bricks.
        edge_px: width of edge lines; 0: none.
        part_cell_px: size of one picture in the parts list.
        max_header: largest share of the page's height for the parts list; pictures shrink to fit.
        axes_marker: draw the plate's x, y and z directions in a corner.
        callouts: show the submodel that a step belongs to by itself in a box.
        printed: how the finished page is printed and scanned; absent: not at all.
        seed: of all that is random in a page.
        styles: changes to the above, by name of the style.
    """

    width: PagePx
    height: PagePx
    supersampling: Annotated[int, Meta(ge=1, le=4)]
    latitude_deg: Annotated[float, Meta(gt=0, lt=90)]
    longitude_deg: float
    perspective_deg: Annotated[float, Meta(ge=0, le=90)] = 0.0
    turn_below: Share = 0.0
    closer: bool = False
    margin_studs: Annotated[int, Meta(ge=0, le=64)]
    max_stud_px: Positive
    plate_rgb: ByteRgb
    plate_edge_rgb: ByteRgb
    grid_rgb: ByteRgb
    grid_studs: Annotated[int, Meta(ge=0)]
    background_rgb: ByteRgb
    shading: Literal["flat", "soft"] = "flat"
    ink: bool = False
    fade: Share
    accent_rgb: ByteRgb
    accent_px: NotNegative
    new_rgb: ByteRgb | None = None
    ghost_below: Share
    arrows: bool = False
    edge_px: NotNegative
    part_cell_px: Positive
    max_header: Annotated[float, Meta(gt=0, lt=0.9)]
    axes_marker: bool
    callouts: bool = True
    printed: PrintConfig | None = None
    seed: int = 0
    styles: dict[str, dict[str, Any]] = msgspec.field(default_factory=dict)

    @property
    def unit(self) -> float:
        """Page pixels per reference pixel."""
        return min(self.width, self.height) / REFERENCE_PX

    @property
    def oversampling(self) -> int:
        """``supersampling``, less where the page is so large that it would take too much memory."""
        most = 4.2e6 if self.supersampling > 1 else 0.0
        factor = self.supersampling
        while factor > 1 and self.width * self.height * factor**2 > most * 4:
            factor -= 1
        return factor

    def changed(self, where: str, **changes: Any) -> ManualConfig:
        """A copy with other values, checked like a file's.

        Raises:
            BadInputError: an unknown name or a value out of range; ``where`` names the source.
        """
        values = {name: getattr(self, name) for name in self.__struct_fields__} | changes
        try:
            return msgspec.convert(msgspec.to_builtins(values), ManualConfig)
        except msgspec.ValidationError as error:
            raise BadInputError(str(error), where=where) from error

    def styled(self, style: str) -> ManualConfig:
        """The configuration of a style.

        Raises:
            BadInputError: a style that isn't configured, or one with an unknown or impossible value.
        """
        if style not in self.styles:
            raise BadInputError(
                f"unknown style {style!r}", where="manual style", fix=f"one of {', '.join(self.styles)}"
            )
        return self.changed(f"style {style} of manual.yaml", **self.styles[style])
