"""Where things go on the pages of one manual: the same piece of plate and the same scale on every page."""

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
from jarvis_render.printed import page_turn
from jarvis_render.scene import Drawable, PartSource, placements
from jarvis_render.view import Direction, OrthoView, PerspectiveView, fit_perspective, fit_view, scaled

PageView = OrthoView | PerspectiveView
#: Pages share a scale until the construction has grown by this factor.
_GROWTH = 1.5
Kind = tuple[str, int]


@dataclass(frozen=True, slots=True)
class PartsGrid:
    """Where the pictures of a parts list go.

    Attributes:
        cell_px: size of one picture with its count.
        columns, rows: pictures side by side and one below the other; what doesn't fit is only counted.
        left_px: where the list starts.
    """

    cell_px: int
    columns: int
    rows: int
    left_px: int


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Pixels are those of the finished page.

    Attributes:
        views: of frame ``plate``, one per page.
        directions: the sides that the pages are seen from.
        spans: the pieces of plate shown, one per page.
        plate_studs: size of the whole plate.
        grids: of the parts lists, one per page.
    """

    views: tuple[PageView, ...]
    directions: tuple[Direction, ...]
    spans: tuple[PlateSpan, ...]
    plate_studs: tuple[int, int]
    grids: tuple[PartsGrid, ...]

    @property
    def view(self) -> PageView:
        """Of the first page, and of all others that are neither turned nor closer."""
        return self.views[0]

    @property
    def span(self) -> PlateSpan:
        """Of the first page."""
        return self.spans[0]


def usual_direction(config: ManualConfig) -> Direction:
    """The side that pages are seen from unless something speaks against it."""
    return Direction(config.latitude_deg, config.longitude_deg)


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
    directions: Sequence[Direction] | None = None,
) -> PageLayout:
    """Choose views and crop for all pages of a manual.

    Args:
        steps: bricks by step, poses in frame ``plate``; the first entry is the initial structure (may be empty).
        directions: the side each page is seen from; all from the usual one if absent.

    Raises:
        BadInputError: not a single brick.
    """
    clouds = [brick_corners(step, parts).reshape(-1, 3) for step in steps]
    if not any(len(cloud) for cloud in clouds):
        raise BadInputError("a manual needs at least one brick")

    kinds = [len(count_parts(step)) if number else 0 for number, step in enumerate(steps)]
    grids = tuple(parts_grid(count, config) for count in kinds)
    pad = 6 * config.unit
    chosen = tuple(directions) if directions is not None else (usual_direction(config),) * len(steps)
    views: list[PageView] = []
    spans: list[PlateSpan] = []
    for first, last in _stretches(clouds) if config.closer else [(0, len(steps) - 1)]:
        cloud = np.concatenate(clouds[: last + 1])
        header = max(grid.rows * grid.cell_px for grid in grids[first : last + 1]) + round(12 * config.unit)
        area = (pad, header + pad, config.width - pad, config.height - pad)
        span = PlateSpan.around(cloud, config.margin_studs, plate_studs)
        slab = span.corners()
        everything = np.concatenate([cloud, slab, slab - [0.0, 0.0, plate_thickness_m]])
        mine = chosen[first : last + 1]
        by_direction = _views(everything, area, set(mine), config)
        views += [by_direction[direction] for direction in mine]
        spans += [span] * len(mine)
    return PageLayout(tuple(views), chosen, tuple(spans), plate_studs, grids)


def _stretches(clouds: Sequence[FloatArray]) -> list[tuple[int, int]]:
    """(first, last) pages that share a scale: a stretch ends where the construction has grown by half."""
    stretches: list[tuple[int, int]] = []
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    start_size, first = 0.0, 0
    for number, cloud in enumerate(clouds):
        if len(cloud):
            low, high = np.minimum(low, cloud.min(axis=0)), np.maximum(high, cloud.max(axis=0))
            size = float(np.linalg.norm(high - low))
            if start_size == 0.0:
                start_size = size
            elif size > _GROWTH * start_size:
                stretches.append((first, number - 1))
                first, start_size = number, size
    return [*stretches, (first, len(clouds) - 1)]


def _views(
    points: FloatArray,
    area: tuple[float, float, float, float],
    directions: set[Direction],
    config: ManualConfig,
) -> dict[Direction, PageView]:
    """Every direction at one scale, the largest at which all of them fit."""
    limit = config.max_stud_px * config.unit / (STUD_PITCH_M * _stud_foreshortening(config))
    size = (config.width, config.height)
    fitted = {d: fit_view(points, size, area, d, limit) for d in directions}
    scale = min(view.px_per_m for view in fitted.values())
    same = {direction: scaled(view, scale) for direction, view in fitted.items()}
    if config.perspective_deg == 0:
        return dict(same)
    return {d: fit_perspective(points, view, area, config.perspective_deg) for d, view in same.items()}


def brick_corners(bricks: Sequence[Drawable], parts: PartSource) -> FloatArray:
    """(n, 8, 3) corners of each brick's body and studs together, in the frame of the bricks' poses."""
    if not bricks:
        return np.zeros((0, 8, 3))
    bounds = np.array([parts.geometry(brick.part).bounds for brick in bricks])
    bounds[:, 1, 2] += STUD_HEIGHT_M
    which = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    boxes = bounds[:, which, np.arange(3)]
    placed = placements(bricks)
    corners: FloatArray = np.einsum("nij,nkj->nki", placed[:, :, :3], boxes) + placed[:, None, :, 3]
    return corners


def _stud_foreshortening(config: ManualConfig) -> float:
    """Length on the page of a unit step along the plate's x axis."""
    longitude = math.radians(config.longitude_deg)
    return math.hypot(math.cos(longitude), math.sin(longitude) * math.sin(math.radians(config.latitude_deg)))


def parts_grid(count: int, config: ManualConfig) -> PartsGrid:
    """The largest pictures with which a list of so many kinds of parts fits."""
    left = round(78 * config.unit)
    cell = max(4, round(config.part_cell_px * config.unit))
    smallest = max(4, round(22 * config.unit))
    while True:
        columns = max(1, (config.width - left - round(8 * config.unit)) // cell)
        rows = max(1, math.ceil(count / columns))
        if rows * cell <= config.max_header * config.height or cell <= smallest:
            most = max(1, int(0.5 * config.height) // cell)
            return PartsGrid(cell, columns, min(rows, most), left)
        cell -= 1


def axes_text(layout: PageLayout, config: ManualConfig) -> str:
    """The words that relate the pages to the build plate: directions, scale, origin and piece of plate shown.

    They hold for the pages as they are given: turned views and pages that lie askew on a scanner included.
    """
    groups: dict[PageView, list[int]] = {}
    for number, view in enumerate(layout.views):
        groups.setdefault(view, []).append(number)
    one = len(groups) == 1
    kind = (
        f"in {'the same' if one else 'an'} orthographic view (no perspective)"
        if config.perspective_deg == 0
        else f"through a pinhole camera (perspective, {config.perspective_deg:g} degrees high)"
    )
    askew = (
        "; the scanned pages lie a little askew, which the numbers below take into account"
        if config.printed
        else ""
    )
    text = (
        f"Every page is {config.width} x {config.height} pixels and shows the build plate {kind}, camera "
        f"{config.latitude_deg:g} degrees above the plate{askew}. Pixels: u to the right, v down, "
        f"(0, 0) is the top left pixel. Frame 'plate': origin in the middle of the plate's top surface, which has "
        f"{layout.plate_studs[0]} x {layout.plate_studs[1]} studs along x and y; z points up; 1 stud = 8 mm, "
        f"1 brick height = 9.6 mm = 3 plate heights.\n"
    )
    if one:
        return text + _view_words(layout, 0, config)
    text += "Not all pages are seen from the same side and equally near; which page has which view:\n"
    return text + "\n".join(
        f"{_page_words(pages)} ({_side_words(layout.directions[pages[0]], config)}): "
        + _view_words(layout, pages[0], config)
        for pages in groups.values()
    )


def _page_words(pages: Sequence[int]) -> str:
    """``Pages 0-3, 5``"""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    words = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"Pages {words}" if len(pages) > 1 else f"Page {words}"


def _side_words(direction: Direction, config: ManualConfig) -> str:
    if direction == usual_direction(config):
        return "the usual view"
    if direction.turn is not None:
        return "the model turned as its file says"
    turned = (direction.longitude_deg - config.longitude_deg + 180) % 360 - 180
    if direction.latitude_deg != config.latitude_deg:
        high = f"the camera {direction.latitude_deg:g} degrees above the plate"
        return f"{high}, {abs(turned):g} degrees round to the {'right' if turned > 0 else 'left'}"
    return f"the camera {abs(turned):g} degrees round to the {'right' if turned > 0 else 'left'} of the usual view"


def _view_words(layout: PageLayout, page: int, config: ManualConfig) -> str:
    view, span = layout.views[page], layout.spans[page]
    shown = (
        f"The piece of plate shown reaches from x = {span.x0} to {span.x1} studs and from y = {span.y0} to "
        f"{span.y1} studs."
    )
    marked = ", where the red line (x axis) and the green line (y axis) cross" if config.axes_marker else ""
    if config.grid_studs:
        marked += f"; a line is drawn on the plate every {config.grid_studs} studs from there"
    matrix = page_turn(config) @ view.projection()
    if config.perspective_deg:
        return _pinhole_words(matrix, marked) + shown
    origin_u, origin_v = matrix[:2, 3]
    stud_x, stud_y = STUD_PITCH_M * matrix[:2, 0], STUD_PITCH_M * matrix[:2, 1]
    plate_z, brick_z = PLATE_HEIGHT_M * matrix[:2, 2], BRICK_HEIGHT_M * matrix[:2, 2]
    # Upright things are upright on most pages: then no term is needed.
    sideways = f" {_term(brick_z[0])}*z/0.0096" if abs(brick_z[0]) > 5e-4 else ""
    return (
        f"The plate's origin (a crossing between four studs) is at u = {origin_u:.2f}, v = {origin_v:.2f}{marked}. "
        f"From any point, 1 stud along the plate's +x moves {_words(stud_x)}; 1 stud along +y moves {_words(stud_y)}; "
        f"1 plate height (3.2 mm) up moves {_pair(plate_z)} px; 1 brick height up moves {_pair(brick_z)} px.\n"
        f"So a point (x, y, z) in metres of frame 'plate' is at u = {origin_u:.2f} {_term(stud_x[0])}*x/0.008 "
        f"{_term(stud_y[0])}*y/0.008{sideways}, v = {origin_v:.2f} {_term(stud_x[1])}*x/0.008 "
        f"{_term(stud_y[1])}*y/0.008 {_term(brick_z[1])}*z/0.0096.\n{shown}"
    )


def _pinhole_words(matrix: FloatArray, marked: str) -> str:
    scale = matrix / matrix[2, 3]
    origin_u, origin_v = scale[:2, 3]
    rows = [f"({row[3]:.4f} {_term(row[0])}*x {_term(row[1])}*y {_term(row[2])}*z)" for row in scale]
    return (
        f"The plate's origin (a crossing between four studs) is at u = {origin_u:.2f}, v = {origin_v:.2f}{marked}. "
        f"A point (x, y, z) in metres of frame 'plate' is at u = {rows[0]} / w, v = {rows[1]} / w with w = {rows[2]}.\n"
    )


def _words(step: FloatArray) -> str:
    sideways = "right" if step[0] > 0 else "left"
    upright = "down" if step[1] > 0 else "up"
    return f"{_pair(step)} px (du, dv), that is {sideways} and {upright} on the page"


def _pair(step: FloatArray) -> str:
    return f"({step[0]:+.2f}, {step[1]:+.2f})"


def _term(value: float) -> str:
    return f"{'+' if value >= 0 else '-'} {abs(value):.3f}"
