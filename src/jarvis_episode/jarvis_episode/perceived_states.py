"""States of a cell that no simulator knows: the task's bricks where perception sees them, for the evaluator alone.

Perception calls bricks by names of its own. Here the task's names are given to what is seen: at the start by part and
colour, after that by perception's own following. Equal bricks may get each other's name, which costs nothing: a score
matches them anew.

What a camera can't know is taken as follows, and a score made of it is named ``perceived``:

- The structure that stood at the start stands where the task says, for ever.
- Bricks are joined if their studs sit in openings by the poses seen; whether somebody pressed is not seen.
- A brick that is hidden, by the arm or under others, is where it was seen last. One that should be seen and is not is
  missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec
import numpy as np
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import StudGrid, connections
from jarvis_bricks.geometry import PLATE_HEIGHT_M
from jarvis_core.cell import CellConfig
from jarvis_core.errors import RefusedError
from jarvis_core.objects import ObjectState, RigidObject, TargetObject, WorldState
from jarvis_core.seen import UNSEEN, SeenBrick, SeenScene, SeenStructure
from jarvis_perception.structure import cells_under
from scipy.optimize import linear_sum_assignment

#: A brick that can't be the one asked for.
_NEVER = 1e6
#: Between bricks that are equally likely the nearer one, a metre counting as much as certainty of the part.
_PER_METRE = 1.0


class PerceivedStates:
    """The task's bricks by name, from one look to the next.

    Args:
        targets: the bricks to place, which lie loose at the start.
        structure: what stands on the plate at the start, in ``world``.
        cell: for the plate.
    """

    def __init__(
        self,
        targets: Sequence[TargetObject],
        structure: Sequence[RigidObject],
        catalogue: PartCatalogue,
        cell: CellConfig,
    ) -> None:
        self._wanted = tuple(target.object for target in targets)
        self._structure = tuple(msgspec.structs.replace(thing, fixed=True) for thing in structure)
        self._catalogue = catalogue
        self._ground = StudGrid(cell.plate.pose, cell.plate.studs)
        self._cell = cell
        self._seen_as: dict[str, str] = {}
        self._bricks: dict[str, SeenBrick] = {}
        self._joined: tuple[tuple[str, str], ...] = ()

    @property
    def objects(self) -> tuple[RigidObject, ...]:
        """The structure, and the loose bricks that are seen, under the task's names."""
        loose = (
            msgspec.structs.replace(thing, pose=brick.pose, held=brick.held)
            for thing in self._wanted
            if (brick := self._bricks.get(thing.id)) is not None
        )
        return (*self._structure, *loose)

    def begin(self, seen: SeenScene) -> None:
        """Give the task's names to what lies there before an episode.

        Raises:
            RefusedError: not all of the task's bricks are seen; says which are not.
        """
        self._seen_as, self._bricks = {}, {}
        self.update(seen)
        missing = [thing for thing in self._wanted if thing.id not in self._bricks]
        if missing:
            raise RefusedError(
                f"{len(self._bricks)} of the task's {len(self._wanted)} loose bricks are seen; missing: "
                f"{self._named(missing)}",
                where="what perception sees",
                fix="lay them where the camera sees them, studs up, and load again",
            )

    def update(self, seen: SeenScene) -> None:
        """A further look."""
        there = {brick.id: brick for brick in seen.bricks}
        last = self._bricks
        self._bricks = {name: there[own] for name, own in self._seen_as.items() if own in there}
        claimed = {brick.id for brick in self._bricks.values()}
        lost = [thing for thing in self._wanted if thing.id not in self._bricks]
        free = [brick for brick in seen.bricks if brick.id not in claimed]
        for thing, brick in _assigned(lost, free, last):
            self._seen_as[thing.id] = brick.id
            self._bricks[thing.id] = brick
        self._joined = self._joints()

    def state(self, time_s: float) -> WorldState:
        """As of the last look; ``time_s`` is now. Missing bricks are left out."""
        objects = tuple(ObjectState(thing.id, thing.pose, thing.held) for thing in self.objects)
        return WorldState(time_s, objects, self._joined)

    def odd_cells(self, structure: SeenStructure) -> tuple[tuple[int, int, int, int], ...]:
        """Cells of the plate (i, j, plates expected, plates seen) that are not as high as the task's structure is."""
        expected = np.zeros(self._cell.plate.studs, int)
        floor = float(self._cell.plate.pose.position[2])
        for thing in self._structure:
            for box in thing.world_boxes():
                top = float(box.pose.position[2] + box.size_m[2] / 2)
                for i, j in cells_under((box,), self._cell):
                    expected[i, j] = max(expected[i, j], round((top - floor) / PLATE_HEIGHT_M))
        heights = np.array(structure.heights_plates)
        odd = np.argwhere((heights != UNSEEN) & (np.abs(heights - expected) > 1))
        return tuple((int(i), int(j), int(expected[i, j]), int(heights[i, j])) for i, j in odd)

    def _joints(self) -> tuple[tuple[str, str], ...]:
        build = [
            Brick(thing.id, thing.kind, thing.colour, thing.pose, 1)
            for thing in self.objects
            if not thing.held
        ]
        return tuple(
            (joint.upper_id, joint.lower_id)
            for joint in connections(build, self._catalogue, ground=self._ground)
        )

    def _named(self, things: Iterable[RigidObject]) -> str:
        counts = Counter((thing.kind, thing.colour) for thing in things)
        return ", ".join(
            f"{count} x {part} {self._catalogue.colours.get(colour).name}"
            for (part, colour), count in counts.items()
        )


def _assigned(
    things: Sequence[RigidObject], bricks: Sequence[SeenBrick], last: dict[str, SeenBrick]
) -> list[tuple[RigidObject, SeenBrick]]:
    """Which brick seen is which of the things, by part and colour, then by where each was seen last."""
    if not things or not bricks:
        return []
    cost = np.array([[_cost(thing, brick, last.get(thing.id)) for brick in bricks] for thing in things])
    return [
        (things[int(row)], bricks[int(column)])
        for row, column in zip(*linear_sum_assignment(cost), strict=True)
        if cost[row, column] < _NEVER
    ]


def _cost(thing: RigidObject, brick: SeenBrick, last: SeenBrick | None) -> float:
    likely = next((guess.score for guess in brick.candidates if guess.part == thing.kind), 0.0)
    if likely == 0.0 or brick.colour.code != thing.colour:
        return _NEVER
    away = brick.pose.distance_to(last.pose) if last is not None else 0.0
    return 1.0 - likely + _PER_METRE * away
