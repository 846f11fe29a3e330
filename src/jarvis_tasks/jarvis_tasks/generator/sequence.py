"""In what order a gripper can build a design: the designer's own wherever that is possible.

The finished model is taken apart, and that order reversed: always the last part, in the designer's order, that
nothing covers and that the fingers can hold with everything left around it. Taking a part away only makes room, so
this finds an order whenever there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jarvis_bricks.assembly import Brick
from jarvis_bricks.build_check import placed_boxes
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_HEIGHT_M
from jarvis_bricks.grip import FingerClearance, GripOption, Obstacles, common_grips, grip_options
from jarvis_core.objects import Box

from jarvis_tasks.generator.grid import GridError, Part
from jarvis_tasks.generator.shapes import Cell

#: What is further from a part than this, in x or y, is not in a hand's way.
_NEAR_M = 0.2


def building_order(
    parts: Sequence[Part], bricks: Sequence[Brick], catalogue: PartCatalogue, fingers: FingerClearance
) -> list[int]:
    """Numbers of the parts in an order in which each can be put down from above.

    Args:
        parts, bricks: the same things, on the grid and in metres on a plate at z = 0; the designer's order.

    Raises:
        GridError: a part on nothing, or no such order.
    """
    _check_support(parts)
    taking = _TakingApart(parts, bricks, catalogue, fingers)
    order: list[int] = []
    while taking.left:
        number = taking.next()
        if number is None:
            stuck = [f"{parts[n].part} at {parts[n].at}" for n in sorted(taking.left)[-3:]]
            raise GridError("no room for the fingers at any of the parts left", where="; ".join(stuck))
        order.append(number)
        taking.take(number)
    return order[::-1]


def _check_support(parts: Sequence[Part]) -> None:
    studs = {cell for part in parts for cell in part.studs}
    for part in parts:
        if not any(cell[2] == 0 or cell in studs for cell in part.openings):
            raise GridError(f"{part.part} at {part.at} stands on nothing")


class _TakingApart:
    """What is left of a model. ``left``: numbers of the parts that are still there."""

    def __init__(
        self,
        parts: Sequence[Part],
        bricks: Sequence[Brick],
        catalogue: PartCatalogue,
        fingers: FingerClearance,
    ) -> None:
        self.left = set(range(len(parts)))
        self._parts, self._fingers = parts, fingers
        self._boxes = [placed_boxes(brick, catalogue) for brick in bricks]
        owned = [
            (i, box) for i, brick in enumerate(bricks) for box in placed_boxes(brick, catalogue, studs=True)
        ]
        self._owner = np.array([i for i, _ in owned])
        self._obstacles = Obstacles.of((str(i), box) for i, box in owned)
        self._there = np.ones(len(owned), dtype=bool)
        self._columns: dict[tuple[int, int], set[Cell]] = {}
        for part in parts:
            for cell in part.cells:
                self._columns.setdefault(cell[:2], set()).add(cell)
        self._on_table = {
            name: _table_grips(name, catalogue, fingers) for name in {brick.part for brick in bricks}
        }
        #: By number: those in the way when it was last tried. As long as all are there, so is the answer.
        self._blockers: dict[int, frozenset[int]] = {}

    def next(self) -> int | None:
        return next((n for n in sorted(self.left, reverse=True) if self._can_be_taken(n)), None)

    def take(self, number: int) -> None:
        self.left.remove(number)
        self._there[self._owner == number] = False
        for cell in self._parts[number].cells:
            self._columns[cell[:2]].discard(cell)

    def _can_be_taken(self, number: int) -> bool:
        if self._blockers.get(number, frozenset()) - self.left or number not in self._blockers:
            return not self._is_covered(number) and self._is_gripped(number)
        return False

    def _is_covered(self, number: int) -> bool:
        part = self._parts[number]
        own = set(part.cells)
        highest: dict[tuple[int, int], int] = {}
        for x, y, z in own:
            highest[(x, y)] = min(z, highest.get((x, y), z))
        return any(
            cell[2] > low and cell not in own
            for column, low in highest.items()
            for cell in self._columns[column]
        )

    def _is_gripped(self, number: int) -> bool:
        at = np.array([box.pose.position for box in self._boxes[number]]).mean(axis=0)
        near = (np.abs(self._obstacles.boxes.centres[:, :2] - at[:2]) < _NEAR_M).all(axis=1)
        others = self._obstacles.select(self._there & near & (self._owner != number))
        options = grip_options(self._boxes[number], others, self._fingers, floor_z_m=STUD_HEIGHT_M)
        if common_grips(self._on_table[self._parts[number].part], [o for o in options if o.ok]):
            return True
        self._blockers[number] = frozenset(int(name) for option in options for name in option.blockers)
        return False


def _table_grips(part: str, catalogue: PartCatalogue, fingers: FingerClearance) -> tuple[GripOption, ...]:
    """Grips of a brick that stands on the table by itself."""
    geometry = catalogue.geometry(part)
    return _grips_alone(geometry.boxes, float(geometry.bounds[0, 2]), fingers)


@lru_cache(512)
def _grips_alone(
    boxes: tuple[Box, ...], floor_z_m: float, fingers: FingerClearance
) -> tuple[GripOption, ...]:
    return tuple(grip_options(boxes, [], fingers, floor_z_m=floor_z_m))


def building_steps(order: Sequence[int], parts: Sequence[Part], most: int) -> list[list[int]]:
    """Cut an order into steps: parts of one stage, from low to high, at most ``most``; a new level begins a new
    step if the one before it has half as many."""
    found: list[list[int]] = []
    for number in order:
        part = parts[number]
        last = parts[found[-1][-1]] if found else None
        if (
            last is None
            or part.stage != last.stage
            or part.at[2] < last.at[2]
            or len(found[-1]) >= most
            or (part.at[2] > last.at[2] and len(found[-1]) >= most / 2)
        ):
            found.append([])
        found[-1].append(number)
    return found
