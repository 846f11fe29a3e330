"""Where things go on the pages of one manual: the same view and the same piece of plate on every page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.geometry import BRICK_HEIGHT_M, PLATE_HEIGHT_M, STUD_HEIGHT_M, STUD_PITCH_M
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

from jarvis_render.config import ManualConfig
from jarvis_render.plate import PlateSpan
from jarvis_render.scene import Drawable, PartSource
from jarvis_render.view import OrthoView, fit_view


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Pixels are those of the finished page.

    Attributes:
        view: of frame ``plate``.
        span: the piece of plate shown.
        plate_studs: size of the whole plate.
        cell_px: size of one picture of the parts list.
        columns: pictures side by side.
        header_px: height of the strip that holds step number and parts list.
        left_px: where the parts list starts.
    """

    view: OrthoView
    span: PlateSpan
    plate_studs: tuple[int, int]
    cell_px: int
    columns: int
    header_px: int
    left_px: int


Kind = tuple[str, int]


def count_parts(bricks: Sequence[Drawable]) -> dict[Kind, int]:
    """How many of each (part, colour), in order of first use."""
    counts: dict[Kind, int] = {}
    for brick in bricks:
        counts[brick.part, brick.colour] = counts.get((brick.part, brick.colour), 0) + 1
    return counts


def plan_pages(
    steps: Sequence[Sequence[Drawable]],
    plate_studs: tuple[int, int],
    plate_thickness_m: float,
    parts: PartSource,
    config: ManualConfig,
) -> PageLayout:
    """Choose view and crop for all pages of a manual.

    Args:
        steps: bricks by step, poses in frame ``plate``; the first entry is the initial structure (may be empty).

    Raises:
        BadInputError: not a single brick.
    """
    corners = [brick_corners(brick, parts) for step in steps for brick in step]
    if not corners:
        raise BadInputError("a manual needs at least one brick")
    cloud = np.concatenate(corners)
    span = PlateSpan.around(cloud, config.margin_studs, plate_studs)
    slab = span.corners()
    everything = np.concatenate([cloud, slab, slab - [0.0, 0.0, plate_thickness_m]])

    left = round(78 * config.unit)
    cell, columns, rows = _parts_grid([len(count_parts(step)) for step in steps[1:]], left, config)
    header = rows * cell + round(12 * config.unit)
    pad = 6 * config.unit
    area = (pad, header + pad, config.width - pad, config.height - pad)
    limit = config.max_stud_px * config.unit / (STUD_PITCH_M * _stud_foreshortening(config))
    view = fit_view(
        everything, (config.width, config.height), area, config.latitude_deg, config.longitude_deg, limit
    )
    return PageLayout(view, span, plate_studs, cell, columns, header, left)


def brick_corners(brick: Drawable, parts: PartSource) -> FloatArray:
    """(16, 3) corners of body and of studs' height, in the frame of the brick's pose."""
    low, high = parts.geometry(brick.part).bounds
    heights = (low[2], high[2] + STUD_HEIGHT_M)
    box = np.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in heights])
    corners: FloatArray = brick.pose @ box
    return corners


def _stud_foreshortening(config: ManualConfig) -> float:
    """Length on the page of a unit step along the plate's x axis."""
    longitude = math.radians(config.longitude_deg)
    return math.hypot(math.cos(longitude), math.sin(longitude) * math.sin(math.radians(config.latitude_deg)))


def _parts_grid(counts: Sequence[int], left: int, config: ManualConfig) -> tuple[int, int, int]:
    """Cell size, columns and rows with which the longest parts list fits."""
    longest = max(counts, default=0)
    cell = round(config.part_cell_px * config.unit)
    while True:
        columns = max(1, (config.width - left - round(8 * config.unit)) // cell)
        rows = max(1, math.ceil(longest / columns))
        if rows * cell <= config.max_header * config.height or cell <= 16:
            return cell, columns, rows
        cell -= 1


def axes_text(layout: PageLayout, config: ManualConfig) -> str:
    """The words that relate the pages to the build plate: directions, scale, origin and piece of plate shown."""
    marked = ", where the red line (x axis) and the green line (y axis) cross" if config.axes_marker else ""
    if config.grid_studs:
        marked += f"; a line is drawn on the plate every {config.grid_studs} studs from there"
    view, span = layout.view, layout.span
    origin_u, origin_v = view.project([[0.0, 0.0, 0.0]])[0]
    stud_x = view.step_px([STUD_PITCH_M, 0.0, 0.0])
    stud_y = view.step_px([0.0, STUD_PITCH_M, 0.0])
    plate_z = view.step_px([0.0, 0.0, PLATE_HEIGHT_M])[1]
    brick_z = view.step_px([0.0, 0.0, BRICK_HEIGHT_M])[1]
    return (
        f"Every page is {view.width} x {view.height} pixels and shows the build plate in the same orthographic view "
        f"(no perspective), camera {view.latitude_deg:g} degrees above the plate. Pixels: u to the right, v down, "
        f"(0, 0) is the top left pixel. Frame 'plate': origin in the middle of the plate's top surface, which has "
        f"{layout.plate_studs[0]} x {layout.plate_studs[1]} studs along x and y; z points up; 1 stud = 8 mm, "
        f"1 brick height = 9.6 mm = 3 plate heights.\n"
        f"The plate's origin (a crossing between four studs) is at u = {origin_u:.2f}, v = {origin_v:.2f}{marked}. "
        f"From any point, 1 stud along the plate's +x moves {_words(stud_x)}; 1 stud along +y moves {_words(stud_y)}; "
        f"1 plate height (3.2 mm) up moves (0.00, {plate_z:+.2f}) px; 1 brick height up moves "
        f"(0.00, {brick_z:+.2f}) px.\n"
        f"So a point (x, y, z) in metres of frame 'plate' is at u = {origin_u:.2f} {_term(stud_x[0])}*x/0.008 "
        f"{_term(stud_y[0])}*y/0.008, v = {origin_v:.2f} {_term(stud_x[1])}*x/0.008 {_term(stud_y[1])}*y/0.008 "
        f"{_term(brick_z)}*z/0.0096.\n"
        f"The piece of plate shown reaches from x = {span.x0} to {span.x1} studs and from y = {span.y0} to "
        f"{span.y1} studs."
    )


def _words(step: tuple[float, float]) -> str:
    sideways = "right" if step[0] > 0 else "left"
    upright = "down" if step[1] > 0 else "up"
    return f"({step[0]:+.2f}, {step[1]:+.2f}) px (du, dv), that is {sideways} and {upright} on the page"


def _term(value: float) -> str:
    return f"{'+' if value >= 0 else '-'} {abs(value):.3f}"
