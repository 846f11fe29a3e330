"""Which bricks explain a page: a beam search over parts, colours and places, judged by drawing them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import numpy.typing as npt
from jarvis_render.view import project

from jarvis_agent.manual_reader.columns import Footprint, FootprintBook, Place, Places
from jarvis_agent.manual_reader.config import BrickSearch
from jarvis_agent.manual_reader.hypotheses import Candidate, Changes, Float32, Kind, Laid, Reading
from jarvis_agent.manual_reader.sprites import Sprite, SpriteMaker, neighbours

#: What lies so little behind something else touches it and counts as seen.
_IN_FRONT_M = 2e-4
#: Of the channels.
_MEAN = np.full(3, 1 / 3, dtype=np.float32)
#: A pixel that earlier pages explain so well shows nothing new.
_OLD = 0.3


class PageSearch:
    """Looks for the new bricks of one page."""

    def __init__(
        self,
        page: npt.NDArray[np.uint8],
        start: Reading,
        maker: SpriteMaker,
        footprints: FootprintBook,
        search: BrickSearch,
    ) -> None:
        self._page = page.astype(np.float32)
        self._low, self._high = neighbours(self._page)
        self._maker = maker
        self._footprints = footprints
        self._first = start
        self._search = search
        self._unit = page.shape[1] / 512.0
        self._start = start.cost
        self._known: dict[tuple[Kind, int, int, int], Laid | None] = {}

    def read(self, most: int, *, hidden: bool = False) -> Reading:
        """The reading that explains the page best, of at most ``most`` bricks.

        Args:
            hidden: if fewer are found, look also for bricks of which the next one leaves little to see.
        """
        best = self._followed(most, hidden=False)
        if not hidden or len(best.bricks) == most:
            return best
        return max(best, self._followed(most, hidden=True), key=self._worth)

    def _worth(self, reading: Reading) -> float:
        found_px: float = self._search.missing_px * self._unit**2 * len(reading.bricks)
        return reading.gain + found_px

    def _followed(self, most: int, *, hidden: bool) -> Reading:
        beam, finished = [self._first], [self._first]
        for _ in range(most):
            grown: dict[tuple[object, ...], Reading] = {}
            for reading in beam:
                found = sorted(self.candidates(reading), key=lambda c: -c.gain)
                for candidate in self._best(found):
                    after = self._with(reading, candidate, self._rivals(candidate, found))
                    grown.setdefault(_content(after), after)
                pairs = self._stacked(reading, found)
                if hidden:
                    pairs += self._half_hidden(reading, found)
                for after in pairs:
                    grown.setdefault(_content(after), after)
            if not grown:
                break
            ranked = sorted(grown.values(), key=lambda r: -r.gain)
            clean = sorted(ranked, key=lambda r: r.wrong_share - 0.02 * r.gain / ranked[0].gain)
            beam = _first(self._search.beam, clean, ranked)
            finished.append(ranked[0])
            finished += beam
        return max(finished, key=self._worth)

    def _best(self, found: Sequence[Candidate]) -> list[Candidate]:
        """The next bricks worth following up, of all candidates, the one that explains most first.

        Besides those that explain most, those that are least wrong: the frontmost of bricks that hide each other.
        """
        good = self._paying(found)
        clean = sorted(good, key=lambda c: c.wrong / c.shown - 0.02 * c.gain / good[0].gain)
        return _first(self._search.beam, clean, good)

    def _paying(self, found: Sequence[Candidate]) -> list[Candidate]:
        least = self._search.least_gain_px * self._unit**2
        return [c for c in found if c.gain > least and c.gain > self._search.least_share * c.shown]

    def _rivals(self, candidate: Candidate, found: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Other readings of the same brick, the best first."""
        rivals = (c for c in found if c is not candidate and _meets(c, candidate))
        return tuple(islice(rivals, self._search.alternatives))

    def _stacked(self, reading: Reading, found: Sequence[Candidate]) -> list[Reading]:
        """Pairs of new bricks, one on the other: alone, the lower one may show too little to be followed up."""
        if sum(reading.left.values()) < 2:
            return []
        pairs: list[tuple[float, Candidate, Candidate]] = []
        for lower in self._paying(found)[: self._search.stacks]:
            after = self._with(reading, lower, ())
            upper = max(self.candidates(after, lower), key=lambda c: c.gain, default=None)
            if upper is not None and self._paying([upper]):
                pairs.append((lower.gain + upper.gain, lower, upper))
        pairs.sort(key=lambda pair: -pair[0])
        readings = []
        for _, lower, upper in pairs[: self._search.beam]:
            base = self._with(reading, lower, self._rivals(lower, found))
            readings.append(self._with(base, upper, ()))
        return readings

    def _half_hidden(self, reading: Reading, found: Sequence[Candidate]) -> list[Reading]:
        """Pairs again, from above: what explains the page in mid-air, and what may stand right under it."""
        kinds = [kind for kind, count in reading.left.items() if count]
        heights = {f.height for kind in kinds for f in self._footprints.of(kind[0])}
        raised = [c for height in heights for c in self.candidates(reading, raised=height)]
        pairs: list[Reading] = []
        for upper in self._best(sorted(raised, key=lambda c: -c.gain)):
            for lower in found:
                if lower.top != upper.bottom or not _meets(lower, upper):
                    continue
                if lower.kind == upper.kind and reading.left[upper.kind] < 2:
                    continue
                base = self._with(reading, lower, self._rivals(lower, found))
                stands = self._at(base, upper)
                if stands is not None:
                    pairs.append(self._with(base, stands, ()))
        return sorted(pairs, key=lambda r: -r.gain)[: self._search.beam]

    def _at(self, reading: Reading, candidate: Candidate) -> Candidate | None:
        """The same brick at the same place, judged with what stands now; None: it does not rest there."""
        places = reading.columns.places(candidate.footprint)
        cell, level = candidate.place.cell, candidate.place.level
        if not ((places.cells == cell).all(axis=1) & (places.levels == level)).any():
            return None
        pixel = project(self._maker.view, candidate.position)[0]
        half = np.floor(pixel * 2).astype(np.int64).tolist()
        laid = self._laid(candidate.kind, candidate.footprint.yaw, half)
        depth = float(np.asarray(candidate.position) @ self._maker.view.axes[2])
        judged = None if laid is None else self._judge(reading, laid, depth)
        return (
            None if judged is None else replace(candidate, gain=judged[0], shown=judged[1], wrong=judged[2])
        )

    def candidates(
        self, reading: Reading, lower: Candidate | None = None, raised: int = 0
    ) -> list[Candidate]:
        """Every loose kind at every place where it may rest and where the page has changed.

        Args:
            lower: only what rests on this brick.
            raised: so many plates above where it may rest.
        """
        changes = Changes.of(reading.cost)
        found: list[Candidate] = []
        for kind, count in reading.left.items():
            if count > 0:
                for footprint in self._footprints.of(kind[0]):
                    found += self._of(reading, kind, footprint, changes, lower, raised)
        return found

    def _of(
        self,
        reading: Reading,
        kind: Kind,
        footprint: Footprint,
        changes: Changes,
        lower: Candidate | None,
        raised: int,
    ) -> list[Candidate]:
        places = reading.columns.places(footprint).raised(raised)
        model = self._maker.sprite(*kind, footprint.yaw, np.zeros(2))
        if len(places.cells) == 0 or model is None:
            return []
        view = self._maker.view
        pixels, depths = project(view, places.positions), places.positions @ view.axes[2]
        corners = np.floor(pixels).astype(np.int64) + np.array(model.corner)
        worth = changes.worth(corners, model.mask.shape) >= self._search.least_gain_px * self._unit**2
        found = []
        if lower is not None:
            worth &= _rests_on(places, footprint, lower)
        halves = np.floor(pixels * 2).astype(np.int64).tolist()
        for index in np.flatnonzero(worth).tolist():
            laid = self._laid(kind, footprint.yaw, halves[index])
            judged = self._judge(reading, laid, float(depths[index])) if laid is not None else None
            if judged is not None:
                i, j = places.cells[index].tolist()
                place = Place((i, j), int(places.levels[index]))
                position = tuple(places.positions[index].tolist())
                found.append(Candidate(kind, footprint, place, position, *judged))
        return found

    def _laid(self, kind: Kind, yaw: int, half: Sequence[int]) -> Laid | None:
        """A sprite on the page, its origin at whole half pixels; None where the page does not look like it at all."""
        key = (kind, yaw, half[0], half[1])
        if key not in self._known:
            sprite = self._maker.sprite(*kind, yaw, np.array(half) / 2)
            assert sprite is not None
            left, top = half[0] // 2 + sprite.corner[0], half[1] // 2 + sprite.corner[1]
            self._known[key] = self._lay(sprite, left, top)
        return self._known[key]

    def _lay(self, sprite: Sprite, left: int, top: int) -> Laid | None:
        height, width = sprite.mask.shape
        if left < 0 or top < 0 or left + width > self._page.shape[1] or top + height > self._page.shape[0]:
            return None
        # A quarter of the pixels tells whether the rest is worth looking at.
        coarse = (slice(top, top + height, 2), slice(left, left + width, 2))
        off = np.abs(self._page[coarse] - sprite.rgb[::2, ::2]) @ _MEAN
        good = (off < 0.5 * self._search.tolerance) & sprite.mask[::2, ::2]
        new = good & (self._start[coarse] > _OLD)
        if 4 * int(new.sum()) < self._search.least_gain_px * self._unit**2 or 4 * int(
            good.sum()
        ) < self._search.least_match * float(sprite.mask.sum()):
            return None
        area = (slice(top, top + height), slice(left, left + width))
        # Lines may lie a pixel off; but a line that only one of the two has counts.
        unlike = np.maximum(
            _outside(self._page[area], sprite.low, sprite.high),
            _outside(sprite.rgb, self._low[area], self._high[area]),
        )
        return Laid(area, sprite, np.minimum(unlike / self._search.tolerance, 1.0))

    def _judge(self, reading: Reading, laid: Laid, depth: float) -> tuple[float, int, float] | None:
        """Gain and shown pixels of a sprite laid on the page; None: it cannot pay."""
        before = reading.cost[laid.area]
        seen = laid.sprite.mask & (laid.sprite.depth_m + depth > reading.depth[laid.area] - _IN_FRONT_M)
        shown = int(seen.sum())
        # A brick of which next to nothing shows is a guess.
        if shown < self._search.least_shown * float(laid.sprite.mask.sum()):
            return None
        wrong = float(laid.mismatch[seen].sum())
        return float(before[seen].sum()) - wrong, shown, wrong

    def _with(self, reading: Reading, candidate: Candidate, others: tuple[Candidate, ...]) -> Reading:
        view = self._maker.view
        pixel = project(view, candidate.position)[0]
        half = np.floor(pixel * 2).astype(np.int64).tolist()
        laid = self._laid(candidate.kind, candidate.footprint.yaw, half)
        assert laid is not None
        area, sprite = laid.area, laid.sprite
        cost, nearest = reading.cost.copy(), reading.depth.copy()
        covered = np.zeros(cost.shape, dtype=bool) if reading.covered is None else reading.covered.copy()
        own = sprite.depth_m + float(np.asarray(candidate.position) @ view.axes[2])
        seen = sprite.mask & (own > nearest[area] - _IN_FRONT_M)
        cost[area][seen] = laid.mismatch[seen]
        nearest[area][seen] = own[seen]
        covered[area] |= seen
        return replace(
            reading,
            columns=reading.columns.with_brick(candidate.footprint, candidate.place),
            cost=cost,
            depth=nearest,
            left={**reading.left, candidate.kind: reading.left[candidate.kind] - 1},
            bricks=(*reading.bricks, candidate),
            others=(*reading.others, others),
            covered=covered,
        )


def _rests_on(places: Places, footprint: Footprint, lower: Candidate) -> npt.NDArray[np.bool_]:
    """(n,) whether a place is on the level of a brick's top and above one of its columns."""
    held = {(int(i), int(j)) for i, j in lower.footprint.cells + lower.place.cell}
    level = places.levels + int(footprint.bottoms.min()) == lower.top
    for index in np.flatnonzero(level).tolist():
        own = (footprint.cells + places.cells[index]).tolist()
        level[index] = any((i, j) in held for i, j in own)
    return np.asarray(level)


def _first[T](count: int, *rankings: Sequence[T]) -> list[T]:
    """The first ones of several rankings, each thing once."""
    return list({id(item): item for ranking in rankings for item in ranking[:count]}.values())


def _outside(image: Float32, low: Float32, high: Float32) -> Float32:
    """(height, width) how far pixels lie outside of bounds, mean of the channels."""
    distance: Float32 = np.maximum(np.maximum(low - image, image - high), 0.0) @ _MEAN
    return distance


def _content(reading: Reading) -> tuple[object, ...]:
    return tuple(sorted((c.kind, c.footprint.yaw, c.place.cell, c.place.level) for c in reading.bricks))


def _meets(one: Candidate, other: Candidate) -> bool:
    """Whether two candidates would share room: readings of the same brick."""
    cells = [
        {(int(i) + c.place.cell[0], int(j) + c.place.cell[1]) for i, j in c.footprint.cells}
        for c in (one, other)
    ]
    return bool(cells[0] & cells[1])
