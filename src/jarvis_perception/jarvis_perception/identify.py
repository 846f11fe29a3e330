"""Which part a thing is: those of about its size are laid over it, and the best explanation wins."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jarvis_bricks.geometry import STUD_HEIGHT_M
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seen import PartGuess, SideUp

from jarvis_perception.config import FitConfig
from jarvis_perception.fit import Fit, fit, refined
from jarvis_perception.patch import Patch
from jarvis_perception.templates import Template, Templates

#: Sides of the smallest rectangle that differ by less than this may be mistaken for each other.
_SQUARE_M = 0.004
#: A part that the list has in the colour that is seen is so much likelier (natural logarithm).
_COLOUR_BONUS = 3.0
#: Directions tried where the smallest rectangle misled.
_TURNS = 12
#: Steps (rad) between directions tried where the rectangle tells none: studs are captured from half of it.
_ROUND_STEP = np.pi / 6
#: Scores below this are not worth telling.
_LEAST_SCORE = 0.005


@dataclass(frozen=True, slots=True)
class Identified:
    """What a thing is taken for.

    Attributes:
        fit: the best one of the best part.
        guesses: all parts worth telling with their scores, the best first.
        turn_variance: (rad^2) around the best fit, of the directions that explain the thing about as well.
    """

    fit: Fit
    guesses: tuple[PartGuess, ...]
    turn_variance: float


class Identifier:
    """Finds parts among those it is told of.

    Args:
        kinds: part numbers, each with the colours it is listed in (none: any).
    """

    def __init__(self, templates: Templates, kinds: Mapping[str, frozenset[int]], config: FitConfig) -> None:
        self._templates = templates
        self._kinds = dict(kinds)
        self._config = config

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self._kinds)

    def identify(self, patch: Patch, colour: int, rest_m: float = 0.0) -> Identified | None:
        """The part that explains a thing; None if none does.

        Args:
            colour: LDraw code as it is seen.
            rest_m: height of what it lies on.
        """
        fits = self._on_sides(patch, (SideUp.STUDS,), rest_m)
        if not fits or self._doubtful(fits[0], patch):
            fits += self._on_sides(patch, tuple(SideUp)[1:], rest_m)
        if not fits or min(f.miss_m for f in fits) > self._config.good_m:
            fits += self._turned(patch, rest_m)
        fits = [f for f in fits if f.miss_m < self._config.accept_m]
        return self._refined(patch, self._ranked(fits, colour)) if fits else None

    def _refined(self, patch: Patch, found: Identified) -> Identified:
        """The best part's place to the last bit; a worse one is not taken."""
        better = refined(patch, found.fit, self._config)
        return replace(found, fit=better) if better.cost_m <= found.fit.cost_m else found

    def _doubtful(self, best: Fit, patch: Patch) -> bool:
        """Whether a part on its feet explains so little that its other sides have to be tried.

        A pixel's play hides what lies between studs: a plate on its head may pass for one on its feet, but for the
        height of its studs.
        """
        config = self._config
        off = abs(best.template.high_m + best.rest_m - patch.high_m)
        return max(best.miss_m, best.cost_m) > config.good_m or off > config.height_tolerance_m / 2

    def _on_sides(self, patch: Patch, sides: Sequence[SideUp], rest_m: float) -> list[Fit]:
        fits = [
            self._fit(patch, template, turn, rest)
            for template, rest in self._near_in_size(patch, sides, rest_m)
            for turn in _turns(patch, template)
        ]
        return sorted(fits, key=lambda f: f.cost_m)

    def _turned(self, patch: Patch, rest_m: float) -> list[Fit]:
        """Parts of about that size in any direction."""
        found = []
        for template, rest in self._near_in_size(patch, tuple(SideUp), rest_m, slack=2.5):
            tries = [
                self._fit(patch, template, float(turn), rest)
                for turn in np.linspace(-np.pi, np.pi, _TURNS, endpoint=False)
            ]
            found.append(min(tries, key=lambda f: f.cost_m))
        return found

    def _fit(self, patch: Patch, template: Template, turn: float, rest_m: float) -> Fit:
        x, y = patch.rectangle[:2]
        return fit(patch, template, (x, y, turn), self._config, rest_m)

    def _near_in_size(
        self, patch: Patch, sides: Sequence[SideUp], rest_m: float, slack: float = 1.0
    ) -> Iterator[tuple[Template, float]]:
        """Templates of about the thing's size, and the height they would lie at."""
        _, _, long, short, _ = patch.rectangle
        high, config = patch.high_m - rest_m, self._config
        for part in self._kinds:
            for side in sides:
                x, y, z = self._templates.size(part, side)
                if z < high - 2 * config.height_tolerance_m or max(x, y) < long - 4 * config.size_tolerance_m:
                    continue
                if len(sides) > 1 and side not in self._templates.sides(part):
                    continue
                template = self._templates.get(part, side)
                rest = _sunk(template, high)
                if (
                    abs(template.outline[0] - long) < slack * config.size_tolerance_m
                    and abs(template.outline[1] - short) < slack * config.size_tolerance_m
                    and abs(template.high_m + rest - high) < config.height_tolerance_m
                ):
                    yield template, rest_m + rest

    def _ranked(self, fits: Sequence[Fit], colour: int) -> Identified:
        best: dict[str, Fit] = {}
        for one in fits:
            known = best.get(one.template.part)
            if known is None or one.cost_m < known.cost_m:
                best[one.template.part] = one
        parts = list(best)
        logs = np.array([self._log(best[part], colour) for part in parts])
        share = np.exp(logs - logs.max())
        share /= share.sum()
        order = np.argsort(-share, kind="stable")
        guesses = tuple(
            PartGuess(parts[k], round(float(share[k]), 4)) for k in order if share[k] > _LEAST_SCORE
        )
        winner = best[parts[int(order[0])]]
        return Identified(winner, guesses, self._turn_variance(winner, fits))

    def _turn_variance(self, best: Fit, fits: Sequence[Fit]) -> float:
        """Second moment of the turns from the best fit to others of its part and side, weighted by likelihood.

        Turns that the part's symmetry allows are none; turns that look alike from above and aren't count fully.
        """
        template = best.template
        symmetries = self._templates.geometry(template.part).symmetries
        likely, squares = 0.0, 0.0
        for one in fits:
            if one.template is not template:
                continue
            share = math.exp((best.cost_m - one.cost_m) / self._config.turn_score_m)
            turns = [
                one.yaw - best.yaw + k * template.period for k in range(round(2 * np.pi / template.period))
            ]
            away = [_angle(Pose.from_yaw((0.0, 0.0, 0.0), turn), template, symmetries) for turn in turns]
            likely += share
            squares += share * float(np.square(away).mean())
        return squares / likely

    def _log(self, one: Fit, colour: int) -> float:
        colours = self._kinds[one.template.part]
        bonus = _COLOUR_BONUS if colour in colours else 0.0
        return bonus - one.cost_m / self._config.score_m


def _angle(turn: Pose, template: Template, symmetries: Sequence[tuple[float, float, float, float]]) -> float:
    """Angle (rad) that a turn about the vertical is away from leaving a lying part as it is."""
    lying = Pose(quaternion=template.part_in_lying.quaternion)
    return min(float((turn @ lying).angle_to(lying @ Pose(quaternion=q))) for q in symmetries)


def _sunk(template: Template, high: float) -> float:
    """A brick on its head stands on its studs, or, where studs give way (holes, simulators), on its top plane."""
    if template.side is not SideUp.UNDERSIDE or high > template.high_m - STUD_HEIGHT_M / 2:
        return 0.0
    return -STUD_HEIGHT_M


def _turns(patch: Patch, template: Template) -> list[float]:
    """Directions in which the template's rectangle lies over the thing's, without those that look alike."""
    _, _, long, short, angle = patch.rectangle
    straight = angle - template.outline[2]
    square = min(long - short, template.outline[0] - template.outline[1]) < _SQUARE_M
    quarters = (0, 1, 2, 3) if square else (0, 2)
    if template.round:
        return [straight + float(turn) for turn in np.arange(0.0, template.period, _ROUND_STEP)]
    kept = []
    for quarter in quarters:
        # Alike: quarter and quarter + n for every n that is missing in template.turns.
        if len(template.turns) == 1 and quarter > 0:
            continue
        if len(template.turns) == 2 and quarter > 1:
            continue
        kept.append(straight + quarter * np.pi / 2)
    return kept


def covariance_of(
    found: Identified, config: FitConfig, pixel_m: float, noise_m: float, points: int
) -> FloatArray:
    """(6, 6) of (x, y, z, rx, ry, rz) in ``world``.

    Edges are known to ``noise_px`` each; height and tilt to the depth's noise over the top; calibration adds a floor.
    Where several directions explain the thing, the variance of rz is that of all of them.
    """
    one = found.fit
    edges = np.linalg.pinv(one.information + np.diag([1e-9, 1e-9, 1e-12])) * config.noise_px**2
    full = np.zeros((6, 6))
    index = np.array([0, 1, 5])
    full[np.ix_(index, index)] = edges
    x, y, _ = one.template.size_m
    height = (noise_m**2 + (0.1 * pixel_m) ** 2) / max(points, 1)
    floor, turn = config.floor_m**2, np.radians(config.floor_deg) ** 2
    full[2, 2] = height
    full[3, 3], full[4, 4] = 12 * height / y**2, 12 * height / x**2
    full[5, 5] += found.turn_variance
    return full + np.diag([floor, floor, floor, turn, turn, turn])


def known_kinds(
    parts: Sequence[tuple[str, int]], templates: Templates
) -> tuple[dict[str, frozenset[int]], list[str]]:
    """Listed (part, colour) pairs by part, and the parts of which nothing is known."""
    kinds: dict[str, set[int]] = {}
    unknown: list[str] = []
    for part, colour in parts:
        try:
            templates.geometry(part)
        except BadInputError:
            unknown.append(part)
        else:
            kinds.setdefault(part, set()).add(colour)
    return {part: frozenset(colours) for part, colours in kinds.items()}, sorted(set(unknown))
