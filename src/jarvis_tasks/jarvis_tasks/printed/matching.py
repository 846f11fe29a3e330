"""Which page shows which step, found by drawing the steps and comparing.

A few steps drawn from many sides tell which side the book is drawn from; then every step is drawn from there, and
turned by quarters. Pages come in the order of building, so the map is the cheapest monotone assignment: every page
shows a later step than the page before, or no step at all (dynamic programming, as for aligning two sequences).
Outline and hues are compared, lightness counts little: paper, light and line style are not ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.pose import FloatArray
from jarvis_render.gl import GlContext, shared_context
from jarvis_render.hypotheses import Tracer
from jarvis_render.layout import brick_corners
from jarvis_render.paint import Palette
from jarvis_render.scene import Painter
from jarvis_render.view import Direction, View, fit_perspective, fit_view

from jarvis_tasks.printed.figures import Figure, figure_of_drawing

#: Sides that instructions are drawn from: degrees above the plate, and from the front round to the right.
LATITUDES_DEG = (23.0, 30.0, 40.0)
LONGITUDES_DEG = tuple(float(angle) for angle in range(0, 360, 15))
#: Changes that are tried on the best of them, and opening angles of a pinhole camera; 0 is an orthographic view.
_FINE_DEG = (-6.0, 0.0, 6.0)
_PERSPECTIVES_DEG = (0.0, 20.0, 35.0)
#: Steps that are drawn from all of them.
_SAMPLES = 10
#: Pixels of a drawing.
DRAWING_PX = 128
#: Cost of a page that shows no step: figures that differ more are not taken for each other.
UNLIKE = 0.6
#: A page is sure if giving it any other step makes the whole map dearer by at least this.
SURE = 0.02
#: A page from another side than most costs as much more.
_OTHER_SIDE = 0.03

Costs = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Side:
    """Where a page is drawn from.

    Attributes:
        latitude_deg: above the plate.
        longitude_deg: from the front (0) round to the right (90).
        perspective_deg: vertical opening angle of a pinhole camera, 0 for an orthographic view.
    """

    latitude_deg: float
    longitude_deg: float
    perspective_deg: float = 0.0

    def view(self, corners: FloatArray) -> View:
        """A view that shows all points (n, 3) as large as they fit on a drawing."""
        area = (1.0, 1.0, DRAWING_PX - 1.0, DRAWING_PX - 1.0)
        direction = Direction(self.latitude_deg, self.longitude_deg)
        ortho = fit_view(corners, (DRAWING_PX, DRAWING_PX), area, direction)
        return fit_perspective(corners, ortho, area, self.perspective_deg) if self.perspective_deg else ortho


@dataclass(frozen=True, slots=True)
class Match:
    """What a page shows.

    Attributes:
        step: global build step, None if no step looks like it.
        cost: difference of the figures: 0 the same; inf without a figure.
        margin: by how much the whole map becomes dearer if the page is given the next best step, or none; small
            margins are worth a look by a person.
        side: the one the page was drawn from, as far as it could be found.
    """

    step: int | None
    cost: float
    margin: float
    side: Side | None

    @property
    def sure(self) -> bool:
        return self.margin >= SURE


@dataclass(frozen=True, slots=True)
class Drawings:
    """Figures of steps, each from every side.

    Attributes:
        steps: (n,) global build steps with bricks.
        features: (n, sides, f). areas, aspects: (n, sides).
    """

    steps: tuple[int, ...]
    sides: tuple[Side, ...]
    features: npt.NDArray[np.float32]
    areas: npt.NDArray[np.float32]
    aspects: npt.NDArray[np.float32]


def find_map(
    assembly: Assembly,
    catalogue: PartCatalogue,
    pages: Sequence[Sequence[Figure]],
    on_step: Callable[[], None] = lambda: None,
    context: GlContext | None = None,
) -> tuple[Match, ...]:
    """The most likely map of a book's pages, in their order, to the steps of a build.

    Args:
        pages: the figures on each, one of which may be the build.
        on_step: called ``n_drawings(assembly)`` times, for a progress bar.

    Raises:
        BadInputError: an unknown part or colour.
        MissingCapabilityError: no headless OpenGL here.
    """
    steps = steps_of(assembly)
    seen = [page for page in pages if page]
    usual = _find_side(assembly, catalogue, seen, on_step, context)
    turned = tuple(
        Side(usual.latitude_deg, (usual.longitude_deg + turn) % 360, usual.perspective_deg)
        for turn in (0.0, 90.0, 180.0, 270.0)
    )
    return match_pages(pages, draw_steps(assembly, catalogue, steps, turned, on_step, context))


def _find_side(
    assembly: Assembly,
    catalogue: PartCatalogue,
    pages: Sequence[Sequence[Figure]],
    on_step: Callable[[], None],
    context: GlContext | None,
) -> Side:
    """The side that most pages are drawn from: roughly, then finely."""
    samples = _spread(steps_of(assembly))

    def best(sides: tuple[Side, ...]) -> Side:
        drawings = draw_steps(assembly, catalogue, samples, sides, on_step, context)
        return sides[_usual(np.array([_costs(page, drawings) for page in pages]))] if pages else sides[0]

    rough = best(tuple(Side(up, round_) for up in LATITUDES_DEG for round_ in LONGITUDES_DEG))
    return best(
        tuple(
            Side(rough.latitude_deg + up, rough.longitude_deg + round_, wide)
            for up in _FINE_DEG
            for round_ in _FINE_DEG
            for wide in _PERSPECTIVES_DEG
        )
    )


def steps_of(assembly: Assembly) -> tuple[int, ...]:
    """The build steps that have bricks."""
    return tuple(sorted({brick.step for brick in assembly.bricks}))


def n_drawings(assembly: Assembly) -> int:
    """How many steps are drawn to find a map."""
    steps = steps_of(assembly)
    return len(steps) + 2 * len(_spread(steps))


def _spread(steps: Sequence[int]) -> tuple[int, ...]:
    """Some of the steps, evenly spread, the last one among them."""
    places = np.linspace(len(steps) - 1, 0, min(_SAMPLES, len(steps))).round().astype(int)
    return tuple(steps[place] for place in sorted(set(places.tolist())))


def draw_steps(
    assembly: Assembly,
    catalogue: PartCatalogue,
    steps: Sequence[int],
    sides: Sequence[Side],
    on_step: Callable[[], None] = lambda: None,
    context: GlContext | None = None,
) -> Drawings:
    """Build steps as they stand when finished, without the plate, each from all sides; arguments as find_map."""
    figures: list[list[Figure]] = []
    with (context or shared_context()).active() as gl:
        painter = Painter(gl, catalogue, Palette(catalogue.colours))
        tracer = Tracer(painter, (DRAWING_PX, DRAWING_PX))
        try:
            for step in steps:
                bricks = [b for b in assembly.bricks if b.step <= step]
                corners = brick_corners(bricks, catalogue).reshape(-1, 3)
                figures.append([])
                for side in sides:
                    tracer.trace(bricks, side.view(corners))
                    rgb = np.ascontiguousarray(tracer.rgb())
                    figures[-1].append(figure_of_drawing(rgb, tracer.numbers() > 0))
                on_step()
        finally:
            tracer.release()
            painter.release()
    return Drawings(
        tuple(steps),
        tuple(sides),
        np.array([[f.features for f in row] for row in figures]),
        np.array([[f.area for f in row] for row in figures], dtype=np.float32),
        np.array([[f.aspect for f in row] for row in figures], dtype=np.float32),
    )


def match_pages(pages: Sequence[Sequence[Figure]], drawings: Drawings) -> tuple[Match, ...]:
    """The most likely map. ``pages``: figures on each, in the order of the book."""
    costs = np.full((len(pages), len(drawings.steps), len(drawings.sides)), np.inf)
    for index, page in enumerate(pages):
        if page:
            costs[index] = _costs(page, drawings)
    # Most pages of a book are drawn from one side: another one has to be clearly better.
    usual = _usual(costs)
    costs[:, :, np.arange(len(drawings.sides)) != usual] += _OTHER_SIDE
    best = costs.min(axis=2)
    matches = []
    for index, (column, margin) in enumerate(_align(best)):
        if column is None:
            matches.append(Match(None, float(best[index].min(initial=np.inf)), margin, None))
        else:
            side = drawings.sides[int(costs[index, column].argmin())]
            matches.append(Match(drawings.steps[column], float(best[index, column]), margin, side))
    return tuple(matches)


def _costs(page: Sequence[Figure], drawings: Drawings) -> Costs:
    """(steps, sides) of the figure that is most like the step."""
    costs: Costs = np.array([_differences(figure, drawings) for figure in page]).min(axis=0)
    return costs


def _differences(page: Figure, drawings: Drawings) -> Costs:
    """(steps, sides): squared difference of features, relative to the area covered; and of the proportions."""
    flat = drawings.features.reshape(-1, drawings.features.shape[-1]).astype(np.float64)
    mine = page.features.astype(np.float64)
    squared = (flat**2).sum(axis=1) + (mine**2).sum() - 2.0 * flat @ mine
    pixels = len(mine) / 4
    covered = np.maximum((drawings.areas.reshape(-1) + page.area) / 2 * pixels, 1.0)
    costs: Costs = (squared / covered).reshape(drawings.areas.shape)
    return costs + np.abs(drawings.aspects - page.aspect)


def _usual(costs: Costs) -> int:
    """The side from which the pages look most like steps of the build, by costs (pages, steps, sides)."""
    capped = np.minimum(costs.min(axis=1), UNLIKE)
    return int(capped.sum(axis=0).argmin()) if len(capped) else 0


def _align(costs: Costs) -> list[tuple[int | None, float]]:
    """The cheapest rising assignment of (pages, steps), and each page's margin to the next best.

    A page may stay without a step for UNLIKE. The cheapest map with a page at a given step is the cheapest one of the
    pages before and steps before, and of the pages and steps after (min-marginals).
    """
    before, after = _cheapest(costs), _cheapest(costs[::-1, ::-1])[::-1, ::-1]
    n_pages, n_steps = costs.shape
    result: list[tuple[int | None, float]] = []
    for page in range(n_pages):
        totals = np.empty(n_steps + 1)
        totals[:n_steps] = before[page, :n_steps] + costs[page] + after[page + 1, 1:]
        totals[n_steps] = UNLIKE + float((before[page] + after[page + 1]).min())
        first, second = np.argsort(totals, kind="stable")[:2] if n_steps else (0, 0)
        margin = float(totals[second] - totals[first]) if n_steps else np.inf
        result.append((None if first == n_steps else int(first), margin))
    return result


def _cheapest(costs: Costs) -> Costs:
    """(pages + 1, steps + 1): the cheapest assignment of the first pages to some of the first steps."""
    n_pages, n_steps = costs.shape
    total = np.zeros((n_pages + 1, n_steps + 1))
    for page in range(1, n_pages + 1):
        taken = np.append(np.inf, total[page - 1, :-1] + costs[page - 1])
        total[page] = np.minimum.accumulate(np.minimum(taken, total[page - 1] + UNLIKE))
    return total
