"""Which part a thing is: those of about its size are laid over it, and the best explanation wins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.geometry import STUD_HEIGHT_M
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray
from jarvis_core.seen import PartGuess, SideUp

from jarvis_perception.config import FitConfig
from jarvis_perception.fit import Fit, fit
from jarvis_perception.patch import Patch
from jarvis_perception.templates import Template, Templates

#: Sides of the smallest rectangle that differ by less than this may be mistaken for each other.
_SQUARE_M = 0.004
#: A part that the list has in the colour that is seen is so much likelier (natural logarithm).
_COLOUR_BONUS = 3.0
#: Directions tried where the smallest rectangle misled.
_TURNS = 12
#: Scores below this are not worth telling.
_LEAST_SCORE = 0.005


@dataclass(frozen=True, slots=True)
class Identified:
    """The best fit of the best part, and all parts worth telling with their scores, the best first."""

    fit: Fit
    guesses: tuple[PartGuess, ...]


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
        return self._ranked(fits, colour) if fits else None

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
        return Identified(best[parts[int(order[0])]], guesses)

    def _log(self, one: Fit, colour: int) -> float:
        colours = self._kinds[one.template.part]
        bonus = _COLOUR_BONUS if colour in colours else 0.0
        return bonus - one.cost_m / self._config.score_m


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
    kept = []
    for quarter in quarters:
        # Alike: quarter and quarter + n for every n that is missing in template.turns.
        if len(template.turns) == 1 and quarter > 0:
            continue
        if len(template.turns) == 2 and quarter > 1:
            continue
        kept.append(straight + quarter * np.pi / 2)
    return kept


def covariance_of(one: Fit, config: FitConfig, pixel_m: float, noise_m: float, points: int) -> FloatArray:
    """(6, 6) of (x, y, z, rx, ry, rz) in ``world``.

    Edges are known to ``noise_px`` each; height and tilt to the depth's noise over the top; calibration adds a floor.
    """
    edges = np.linalg.pinv(one.information + np.diag([1e-9, 1e-9, 1e-12])) * config.noise_px**2
    full = np.zeros((6, 6))
    index = np.array([0, 1, 5])
    full[np.ix_(index, index)] = edges
    x, y, _ = one.template.size_m
    height = (noise_m**2 + (0.1 * pixel_m) ** 2) / max(points, 1)
    floor, turn = config.floor_m**2, np.radians(config.floor_deg) ** 2
    full[2, 2] = height
    full[3, 3], full[4, 4] = 12 * height / y**2, 12 * height / x**2
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
