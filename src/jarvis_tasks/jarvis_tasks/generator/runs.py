"""Runs: straight rows of parts of one depth, laid in bond.

A run is told by its colours, cell by cell; parts are chosen so that they don't cross a change of colour, have a
stud to stand on (so what spans an opening is a lintel that rests on both sides), and cover the joints below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jarvis_tasks.generator.grid import Grid, GridError
from jarvis_tasks.generator.shapes import lengths

#: What a part of a run costs: each one, more for one stud, for a joint over a joint, and for an end in the air.
_PART, _SINGLE, _JOINT, _LOOSE_END, _TIE = 1.0, 1.2, 1.5, 0.8, 0.3
#: A part that rests on one stud only, though it is longer than this.
_BALANCED, _TIPPING = 3, 4.0


@dataclass(frozen=True, slots=True)
class _Run:
    """Where cells of a run lie: ``along`` x or y."""

    grid: Grid
    along: str
    x: int
    y: int
    z: int
    depth: int
    kind: str

    def cells(self, index: int) -> list[tuple[int, int]]:
        if self.along == "x":
            return [(self.x + index, self.y + row) for row in range(self.depth)]
        return [(self.x + row, self.y + index) for row in range(self.depth)]

    def below(self, index: int) -> list[int | None]:
        """What is under the cells of one index."""
        return [self.grid.stud_under(x, y, self.z) for x, y in self.cells(index)]

    def put(self, start: int, length: int, colour: int) -> int:
        x, y = self.cells(start)[0]
        width, depth = (length, self.depth) if self.along == "x" else (self.depth, length)
        return self.grid.block(self.kind, width, depth, x, y, self.z, colour)


def lay(
    grid: Grid,
    along: str,
    x: int,
    y: int,
    z: int,
    colours: Sequence[int | None],
    *,
    depth: int = 1,
    kind: str = "brick",
    longest: int = 12,
) -> list[int]:
    """Lay a run; returns the numbers of its parts.

    Args:
        along: ``x`` or ``y``; ``x``, ``y``, ``z`` are its first cell.
        colours: by cell; None leaves it open.
        longest: no part is longer than this.

    Raises:
        GridError: a stretch of one colour that stands on nothing.
    """
    run = _Run(grid, along, x, y, z, depth, kind)
    numbers: list[int] = []
    for start, end in _stretches(colours):
        colour = colours[start]
        assert colour is not None
        cuts = _cuts(run, start, end, longest)
        numbers += [run.put(a, b - a, colour) for a, b in cuts]
    return numbers


def _stretches(colours: Sequence[int | None]) -> list[tuple[int, int]]:
    """Maximal ranges [start, end) of one colour."""
    found: list[tuple[int, int]] = []
    start = 0
    for index in range(1, len(colours) + 1):
        if index == len(colours) or colours[index] != colours[start]:
            if colours[start] is not None:
                found.append((start, index))
            start = index
    return found


def _cuts(run: _Run, start: int, end: int, longest: int) -> list[tuple[int, int]]:
    """The cheapest parts [from, to) that fill a stretch, by dynamic programming over their ends."""
    sizes = [n for n in lengths(run.kind, run.depth) if n <= longest]
    below = {index: run.below(index) for index in range(start, end)}
    best: dict[int, tuple[float, int]] = {start: (0.0, start)}
    for to in range(start + 1, end + 1):
        options = []
        for size in sizes:
            since = to - size
            if since not in best:
                continue
            cost = _cost([below[i] for i in range(since, to)])
            if cost is None:
                continue
            joint = _JOINT if since > start and _is_joint(below[since - 1], below[since]) else 0.0
            options.append((best[since][0] + cost + joint + _TIE * run.grid.dice.jitter(), since))
        if options:
            best[to] = min(options)
    if end not in best:
        raise GridError(
            f"no {run.kind}s stand at x {run.x}, y {run.y}, z {run.z} along {run.along}, {start} to {end}",
            where=run.grid.stages[-1] if run.grid.stages else "",
        )
    cuts = []
    while end > start:
        since = best[end][1]
        cuts.append((since, end))
        end = since
    return cuts[::-1]


def _cost(below: Sequence[Sequence[int | None]]) -> float | None:
    """Of a part over some cells; None if it stands on nothing."""
    held = [any(number is not None for number in cell) for cell in below]
    if not any(held):
        return None
    loose_ends = (not held[0]) + (not held[-1])
    tipping = _TIPPING if len(held) > _BALANCED and sum(held) == 1 else 0.0
    return _PART + (_SINGLE if len(held) == 1 else 0.0) + _LOOSE_END * loose_ends + tipping


def _is_joint(left: Sequence[int | None], right: Sequence[int | None]) -> bool:
    """Whether nothing below spans the border between two cells. The build plate spans all."""
    return all(a != b or a is None for a, b in zip(left, right, strict=True)) and any(
        number is not None for number in (*left, *right)
    )
