"""Settings of the manual reader; read from config/manual_reader.yaml."""

from __future__ import annotations

from jarvis_core.config import Config

Rgb8 = tuple[int, int, int]


class CameraSearch(Config, frozen=True):
    """How a page's camera is found. Pixels are those of a page 512 pixels wide.

    Attributes:
        words: take the camera from the words on the plate's axes where they tell it.
        latitudes_deg, longitudes_deg: sides that manuals are drawn from, the usual one first.
        max_roll_deg: how far a page may lie askew.
        axis_rgb: colours of the plate's x, y and z axis.
        grid_rgb: of the lines every ``grid_studs`` studs.
        hue_cosine, least_chroma: what counts as a colour: cosine between colours less their grey, and its length.
        corner_px: size of the corner with the arrows of the axes.
        header_px: height of the strip with step number and parts list, which holds no plate.
        least_arrow_pixels, least_line_px: fewer are no arrow, no line.
        stud_px: smallest and largest distance between studs that is looked for.
        least_peak: of the page's likeness to itself a stud further on, less that half a stud further on.
        least_certain: share of agreeing evidence at which a camera counts as known.
    """

    words: bool
    latitudes_deg: tuple[float, ...]
    longitudes_deg: tuple[float, ...]
    max_roll_deg: float
    axis_rgb: tuple[Rgb8, Rgb8, Rgb8]
    grid_rgb: Rgb8
    grid_studs: int
    hue_cosine: float
    least_chroma: float
    corner_px: float
    header_px: float
    least_arrow_pixels: int
    least_line_px: int
    stud_px: tuple[float, float]
    least_peak: float
    least_certain: float


class BrickSearch(Config, frozen=True):
    """How new bricks are found on a page. Pixels are those of a page 512 pixels wide.

    Attributes:
        edge_px: width of a brick's edge lines where studs are 13 pixels apart.
        tolerance: difference of a pixel (mean of the channels, 0 to 255) that counts as wholly wrong.
        beam: partial readings of a page that are followed up, of each of two rankings.
        stacks: bricks that are tried as the lower ones of pairs.
        least_gain_px, least_share: what a brick has to explain: pixels, and share of those it shows.
        least_match: share of its pixels that have to look like it where the page has changed.
        least_shown: share of its pixels that nothing may hide.
        missing_px: what a reading loses for every brick of the parts list that it does not place.
        alternatives: other readings kept for every brick.
        blank_cost: 0 to 1, how wrong each pixel is without new bricks where no earlier page is seen from the same side.
        accent_px: reach of the outline around new bricks.
        least_explained: share of the changed pixels below which a step counts as not understood; the same with a brick
            that is there for what stands on it alone.
    """

    edge_px: float
    tolerance: float
    beam: int
    stacks: int
    least_gain_px: float
    least_share: float
    least_match: float
    least_shown: float
    missing_px: float
    alternatives: int
    blank_cost: float
    accent_px: float
    least_explained: float
    least_explained_hidden: float


class PartsListSearch(Config, frozen=True):
    """How the parts list at a page's head is read. Pixels are those of a page 512 pixels wide.

    Attributes:
        height_px: of the strip it lies in. cell_px: room of one picture. picture_share: what the picture takes of it.
        nominal_stud_px: pictures show studs so far apart, or as far as the page does, if they fit.
        fill_rgb, text_rgb: behind the pictures, and of the counts.
        digits_unlike: the same for a count below a picture.
        most_unlike: root mean square difference (0 to 255) up to which a picture counts as found.
    """

    height_px: float
    cell_px: float
    picture_share: float
    nominal_stud_px: float
    fill_rgb: Rgb8
    text_rgb: Rgb8
    most_unlike: float
    digits_unlike: float


class Building(Config, frozen=True):
    """How what was read is built.

    Attributes:
        rivals: other readings of a brick that are tried where the best one can't be built.
        least_rival: share of the best reading's gain that such a one has to have.
        turns: poses of a brick that look the same and are tried where the first can't be reached.
        placed_m, placed_deg: seen so near to where it was meant to be, a brick stands there.
    """

    rivals: int
    least_rival: float
    turns: int
    placed_m: float
    placed_deg: float


class ManualReaderConfig(Config, frozen=True):
    """All settings of the manual reader."""

    camera: CameraSearch
    parts_list: PartsListSearch
    search: BrickSearch
    building: Building
