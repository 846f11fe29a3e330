"""Which side each page is seen from: the usual one, unless new bricks would be hidden or the model file says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import moderngl
import numpy as np
from jarvis_core.pose import FloatArray

from jarvis_render.config import ManualConfig
from jarvis_render.figures import Float32
from jarvis_render.hypotheses import Tracer
from jarvis_render.layout import brick_corners, usual_direction
from jarvis_render.scene import Drawable, Painter, PartSource
from jarvis_render.view import Direction, OrthoView, fit_view

_SIZE = (224, 224)
#: Quarters of a turn that are tried, nearest first, and latitudes for the last resort.
_QUARTERS = (90.0, -90.0, 180.0)
_HIGH_DEG = 55.0
#: The view turns only for an improvement of at least this.
_WORTH_TURNING = 0.12


def choose_directions(
    gl: moderngl.Context,
    painter: Painter,
    steps: Sequence[Sequence[Drawable]],
    parts: PartSource,
    config: ManualConfig,
    turns: Sequence[Direction | None] = (),
) -> list[Direction]:
    """One direction per page. Call it inside ``GlContext.active()``.

    Args:
        steps: as for render_manual.
        turns: what the model file says, page by page (ROTSTEP); None or absent: nothing.
    """
    usual = usual_direction(config)
    chosen = []
    sight = _Sight(gl, painter, steps, parts) if config.turn_below > 0 and any(steps) else None
    for number, step in enumerate(steps):
        said = turns[number] if number < len(turns) else None
        if said is not None:
            chosen.append(said)
        elif number == 0 or not step or sight is None:
            chosen.append(usual)
        else:
            chosen.append(_best(sight, number, usual, chosen[-1], config.turn_below))
    if sight is not None:
        sight.release()
    return chosen


def _best(sight: _Sight, number: int, usual: Direction, last: Direction, enough: float) -> Direction:
    shares = sight.shares(number, usual)
    if shares.min() >= enough:
        return usual
    # A child that has turned the model once leaves it so for the next step, if that serves.
    options = [last] if last != usual and last.turn is None else []
    options += [Direction(usual.latitude_deg, usual.longitude_deg + q) for q in _QUARTERS]
    options += [Direction(_HIGH_DEG, usual.longitude_deg + q) for q in (0.0, *_QUARTERS)]
    best, seen = usual, _worth(shares, enough)
    for option in options:
        worth = _worth(sight.shares(number, option), enough)
        if worth > seen + _WORTH_TURNING:
            best, seen = option, worth
        if seen > 1.0:
            break
    return best


def _worth(shares: FloatArray, enough: float) -> float:
    """Above 1 if every brick shows enough of itself; else by how many do."""
    if shares.min() >= enough:
        return 1.0 + float(shares.min())
    return float(np.minimum(shares / enough, 1.0).mean())


@dataclass(frozen=True, slots=True)
class _Ground:
    """What stands before step ``drawn``, from one side."""

    tracer: Tracer
    view: OrthoView
    drawn: int


class _Sight:
    """How much of new bricks can be seen from somewhere, found by drawing small pictures.

    Of every side that was asked for, the earlier bricks stay drawn, so that a step costs its own bricks only.
    """

    def __init__(
        self,
        gl: moderngl.Context,
        painter: Painter,
        steps: Sequence[Sequence[Drawable]],
        parts: PartSource,
    ) -> None:
        self._gl = gl
        self._painter = painter
        self._steps = steps
        self._tracer = Tracer(painter, _SIZE)
        self._query = gl.query(samples=True)
        self._grounds: dict[Direction, _Ground] = {}
        self._cloud = np.concatenate([brick_corners(step, parts).reshape(-1, 3) for step in steps])

    def release(self) -> None:
        self._tracer.release()
        for ground in self._grounds.values():
            ground.tracer.release()

    def shares(self, number: int, direction: Direction) -> FloatArray:
        """(n,) of each new brick of a step: pixels seen by pixels it would have by itself."""
        ground = self._ground(number, direction)
        new = list(self._steps[number])
        self._gl.copy_framebuffer(self._tracer.framebuffer, ground.tracer.framebuffer)
        self._painter.begin_on(self._tracer.framebuffer, ground.view)
        places = self._painter.places(new)
        clear = np.array([self._painter.is_transparent(brick) for brick in new])
        seen = np.zeros(len(new), dtype=np.int64)
        # See-through bricks come last: they hide nothing.
        for chosen in (np.flatnonzero(~clear), np.flatnonzero(clear)):
            if len(chosen):
                self._painter.faces([new[i] for i in chosen], places[chosen], simple=True)
                counts = np.bincount(self._tracer.numbers().ravel(), minlength=len(new) + 1)[1:]
                seen[chosen] = counts[chosen]
        alone = np.array(
            [self._alone(brick, place) for brick, place in zip(new, places[:, None], strict=True)]
        )
        shares: FloatArray = np.where(alone > 3, seen / np.maximum(alone, 1), 1.0)
        return shares

    def _ground(self, number: int, direction: Direction) -> _Ground:
        """Everything before a step, drawn without numbers; see-through bricks hide nothing."""
        ground = self._grounds.get(direction)
        if ground is None:
            area = (2, 2, _SIZE[0] - 2, _SIZE[1] - 2)
            tracer = Tracer(self._painter, _SIZE)
            tracer.framebuffer.clear(depth=1.0)
            ground = _Ground(tracer, fit_view(self._cloud, _SIZE, area, direction), 0)
        missing = [b for step in self._steps[ground.drawn : number] for b in step]
        solid = [b for b in missing if not self._painter.is_transparent(b)]
        self._painter.begin_on(ground.tracer.framebuffer, ground.view)
        places = self._painter.places(solid)
        places[:, -1] = 0.0
        self._painter.faces(solid, places, simple=True)
        self._grounds[direction] = replace(ground, drawn=number)
        return ground

    def _alone(self, brick: Drawable, place: Float32) -> int:
        self._tracer.framebuffer.clear(depth=1.0)
        self._painter.faces([brick], place, simple=True)
        # Drawn again, only what is in front is where the depth already is.
        self._gl.depth_func = "=="
        with self._query:
            self._painter.faces([brick], place, simple=True)
        self._gl.depth_func = "<="
        return int(self._query.samples)
