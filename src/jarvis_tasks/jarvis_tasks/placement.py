"""A build put onto the build plate: its bricks in frame ``plate``, and who is joined to whom.

The lowest underside of the build comes to lie on the plate's top surface, its openings over the plate's studs,
the build centred as well as the studs allow. A flat baseplate at the bottom of a build does what the build plate
does, so the build plate stands in for it: it is left out, and what stood on its studs stands on the plate's.
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import Connection, StudGrid, connections
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.pose import FloatArray, Pose

#: Undersides closer to the ground than this lie on it.
LEVEL_M = 0.0004
#: A baseplate no thicker than this is flat.
_FLAT_M = 0.004
#: Points closer than this are the same point of the stud grid.
_TICK_M = 1e-7


@dataclass(frozen=True, slots=True)
class PlacedModel:
    """A build on the plate.

    Attributes:
        source: as it was read.
        bricks: in frame ``plate``, by step, within a step from low to high (so that each step can be built in this
            order), otherwise in the file's order; without stand-ins.
        joints: all joints of the finished build, the plate's included.
        stand_ins: baseplates of the model that the build plate stands in for.
        plate_studs: of the build plate, along x and y.
        left_out: bricks that were taken away because the cell can't build with them (see jarvis_tasks.pruning).
    """

    source: Assembly
    bricks: tuple[Brick, ...]
    joints: tuple[Connection, ...]
    stand_ins: tuple[Brick, ...]
    plate_studs: tuple[int, int]
    left_out: tuple[Brick, ...] = ()

    def between(self, first: int, last: int) -> tuple[Brick, ...]:
        """The bricks of steps ``first`` to ``last``, both included, in build order."""
        start, end = self._range(first, last)
        return self.bricks[start:end]

    def count(self, first: int, last: int) -> int:
        """The number of ``between``."""
        start, end = self._range(first, last)
        return max(0, end - start)

    def _range(self, first: int, last: int) -> tuple[int, int]:
        start = bisect.bisect_left(self.bricks, first, key=_step)
        return start, bisect.bisect_right(self.bricks, last, lo=start, key=_step)


def _step(brick: Brick) -> int:
    return brick.step


def place_on_plate(
    assembly: Assembly, catalogue: PartCatalogue, plate_studs: tuple[int, int], quarter_turns: int = 0
) -> PlacedModel:
    """Put a build onto a plate.

    Args:
        catalogue: knows all parts of the build.
        plate_studs: along x and y, even numbers.
        quarter_turns: how often to turn the build by 90 degrees about z, counter-clockwise seen from above. A
            build that is askew in its file as a whole is turned to lie along the studs first.
    """
    turn = Pose.from_yaw((0.0, 0.0, 0.0), quarter_turns % 4 * math.pi / 2 - _common_skew(assembly.bricks))
    turned = [msgspec.structs.replace(b, pose=turn @ b.pose) for b in assembly.bricks]
    bases = _baseplates(turned, catalogue)
    base_ids = {base.id for base in bases}
    standing = [b for b in turned if b.id not in base_ids]
    shift = _shift(standing or bases, bases, catalogue)
    moved = [msgspec.structs.replace(b, pose=b.pose.translated(shift)) for b in standing]
    moved.sort(key=lambda b: (b.step, round(underside(b, catalogue), 4)))
    joints = connections(moved, catalogue, ground=StudGrid(Pose(), plate_studs))
    return PlacedModel(assembly, tuple(moved), tuple(joints), tuple(bases), plate_studs)


def extent(brick: Brick, catalogue: PartCatalogue) -> FloatArray:
    """(2, 3) smallest and largest corner of a brick's body, metres, in the frame its pose is given in."""
    low, high = catalogue.geometry(brick.part).bounds
    box = [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    corners = brick.pose @ np.array(box)
    return np.stack([corners.min(axis=0), corners.max(axis=0)])


def underside(brick: Brick, catalogue: PartCatalogue) -> float:
    """Height of a brick's lowest point."""
    return float(extent(brick, catalogue)[0, 2])


def _common_skew(bricks: Sequence[Brick]) -> float:
    """The angle (rad, from -45 to 45 degrees) by which most upright bricks are turned away from the axes."""
    upright = [b.pose.yaw for b in bricks if b.pose.rotation[2, 2] > 0.9999]
    skews = [round(math.degrees(yaw + math.pi / 4) % 90 - 45, 2) for yaw in upright]
    return math.radians(Counter(skews).most_common(1)[0][0]) if skews else 0.0


def _baseplates(bricks: Sequence[Brick], catalogue: PartCatalogue) -> list[Brick]:
    """The flat baseplates that carry the build: all those on the lowest level."""
    flat = [b for b in bricks if _is_flat_baseplate(b, catalogue)]
    if not flat:
        return []
    heights = [_stud_height(b, catalogue) for b in flat]
    return [b for b, height in zip(flat, heights, strict=True) if height - min(heights) < LEVEL_M]


def _is_flat_baseplate(brick: Brick, catalogue: PartCatalogue) -> bool:
    geometry = catalogue.geometry(brick.part)
    if "baseplate" not in geometry.description.lower() or len(geometry.studs) == 0:
        return False
    level = np.ptp(geometry.studs.positions[:, 2]) < LEVEL_M
    thin = float(np.ptp(geometry.bounds[:, 2])) <= _FLAT_M
    upright = bool(brick.pose.rotation[2, 2] > 0.9999)
    return bool(level and thin and upright)


def _stud_height(brick: Brick, catalogue: PartCatalogue) -> float:
    feet = brick.pose @ catalogue.geometry(brick.part).studs.positions
    return float(feet[0, 2])


def _shift(standing: Sequence[Brick], bases: Sequence[Brick], catalogue: PartCatalogue) -> FloatArray:
    """(3,) what to add to positions so that the build stands in the plate's middle, on its studs."""
    extents = np.array([extent(b, catalogue) for b in standing])
    middle = (extents[:, 0].min(axis=0) + extents[:, 1].max(axis=0)) / 2
    if bases:
        ground = _stud_height(bases[0], catalogue)
        marks = [b.pose @ catalogue.geometry(b.part).studs.positions for b in bases]
    else:
        ground = float(extents[:, 0, 2].min())
        lowest = [b for b, e in zip(standing, extents, strict=True) if e[0, 2] - ground < LEVEL_M]
        openings = [(b, catalogue.geometry(b.part).antistuds.positions) for b in lowest]
        marks = [b.pose @ positions for b, positions in openings if len(positions)]
    shift = np.array([-middle[0], -middle[1], -ground])
    if marks:
        shift[:2] += _to_grid(np.concatenate(marks)[:, :2] + shift[:2])
    return shift


def _to_grid(points: FloatArray) -> FloatArray:
    """(2,) the smallest move that brings most of (n, 2) points over studs, half a pitch from the middle."""
    off = STUD_PITCH_M / 2 - points
    # Counted in whole ticks: half a pitch off is to the same side on every machine.
    ticks = np.rint(off / _TICK_M).astype(np.int64)
    per_pitch = round(STUD_PITCH_M / _TICK_M)
    off = off - (ticks + per_pitch // 2) // per_pitch * STUD_PITCH_M
    common = Counter(map(tuple, np.round(off, 5).tolist())).most_common(1)[0][0]
    near = np.abs(off - common).max(axis=1) < 2e-5
    move: FloatArray = off[near].mean(axis=0)
    return move
