"""Can a build be put together from above, brick by brick, by a parallel gripper?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.objects import GROUND, Box
from jarvis_core.pose import Pose

from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import StudGrid, connections
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.grip import TOUCH_M, FingerClearance, GripOption, Obstacles, boxes_with_studs, grip_options
from jarvis_bricks.oriented_boxes import OrientedBoxes, meeting_pairs

#: A free path is checked this far up.
_PATH_M = 0.5


class BuildProblem(Enum):
    """Why a brick can't be placed when its turn comes."""

    NOT_PHYSICAL = "no ordinary brick"
    NOT_UPRIGHT = "does not stand upright"
    UNSUPPORTED = "sits on nothing placed before it"
    COVERED = "the way down to its place is blocked"
    NO_GRIP = "no grip leaves room for the fingers"


@dataclass(frozen=True, slots=True)
class BrickCheck:
    """What was found for one brick, at its turn in the order of building.

    Attributes:
        sits_on: earlier bricks, or GROUND, that its openings take studs of.
        hangs_from: earlier bricks whose openings take its studs (then it is usually covered too).
        covered_by: earlier bricks above it.
        grips: the possible ones, best first.
        refused: the impossible ones with their reasons.
    """

    brick_id: str
    problems: tuple[BuildProblem, ...]
    sits_on: tuple[str, ...]
    hangs_from: tuple[str, ...]
    covered_by: tuple[str, ...]
    grips: tuple[GripOption, ...]
    refused: tuple[GripOption, ...]

    @property
    def ok(self) -> bool:
        return not self.problems


def ground_under(bricks: Sequence[Brick], catalogue: PartCatalogue, margin: int = 4) -> StudGrid:
    """The studded plate that a build stands on: on the stud grid of its lowest brick, ``margin`` studs larger.

    Raises:
        BadInputError: no upright brick with openings.
    """
    standing = [b for b in bricks if len(catalogue.geometry(b.part).antistuds) and _upright(b)]
    if not standing:
        raise BadInputError("no upright brick stands on the ground")
    openings = {b.id: b.pose @ catalogue.geometry(b.part).antistuds.positions for b in standing}
    lowest = min(standing, key=lambda b: float(openings[b.id][:, 2].min()))
    everything = np.vstack(list(openings.values()))
    level = float(openings[lowest.id][:, 2].min())
    yaw = lowest.pose.yaw % (np.pi / 2)
    frame = Pose.from_yaw(openings[lowest.id][0], yaw if yaw < np.pi / 4 else yaw - np.pi / 2)
    cells = np.round((frame.inverse() @ everything)[:, :2] / STUD_PITCH_M)
    low, high = cells.min(axis=0) - margin, cells.max(axis=0) + margin
    middle = frame @ np.array([*((low + high) / 2 * STUD_PITCH_M), 0.0])
    counts = (high - low).astype(int) + 1
    return StudGrid(Pose((middle[0], middle[1], level), frame.quaternion), (int(counts[0]), int(counts[1])))


def check_build(
    bricks: Sequence[Brick], catalogue: PartCatalogue, fingers: FingerClearance, *, ground: StudGrid
) -> list[BrickCheck]:
    """Look at every brick at its turn, all earlier ones in place.

    Args:
        bricks: in build order, poses in the frame of ``ground``'s pose, z up.

    Returns:
        One check per brick, in order. A brick is in order if it is an ordinary part, stands upright, sits on the
        ground or on earlier bricks, has nothing earlier above it, and can be let go there by at least one grip.
    """
    joints = connections(bricks, catalogue, ground=ground)
    order = {brick.id: i for i, brick in enumerate(bricks)} | {GROUND: -1}
    placed = [(b.id, box) for b in bricks for box in placed_boxes(b, catalogue, studs=True)]
    everything = Obstacles.of(placed)
    turn = np.array([order[name] for name, _ in placed])
    # The studs that a brick is pushed on are inside its own boxes: its path is checked against bodies only.
    bodies = Obstacles.of((b.id, box) for b in bricks for box in placed_boxes(b, catalogue))
    body_turn = np.array([order[name] for name in bodies.ids])
    floor = float(ground.pose.position[2]) + STUD_HEIGHT_M
    found = []
    for i, brick in enumerate(bricks):
        sits_on = tuple(j.lower_id for j in joints if j.upper_id == brick.id and order[j.lower_id] < i)
        hangs_from = tuple(j.upper_id for j in joints if j.lower_id == brick.id and order[j.upper_id] < i)
        earlier = everything.select(turn < i)
        boxes = placed_boxes(brick, catalogue)
        covered_by = _covering(boxes, bodies.select(body_turn < i))
        options = grip_options(boxes, earlier, fingers, floor_z_m=floor)
        grips = tuple(option for option in options if option.ok)
        problems = {
            BuildProblem.NOT_PHYSICAL: not catalogue.geometry(brick.part).physical,
            BuildProblem.NOT_UPRIGHT: not _upright(brick),
            BuildProblem.UNSUPPORTED: not sits_on,
            BuildProblem.COVERED: bool(covered_by),
            BuildProblem.NO_GRIP: not grips,
        }
        found.append(
            BrickCheck(
                brick.id,
                tuple(problem for problem, there in problems.items() if there),
                sits_on,
                hangs_from,
                covered_by,
                grips,
                tuple(option for option in options if not option.ok),
            )
        )
    return found


def placed_boxes(brick: Brick, catalogue: PartCatalogue, *, studs: bool = False) -> tuple[Box, ...]:
    """A brick's collision boxes in the build's frame; with a flat box around its studs if ``studs``."""
    geometry = catalogue.geometry(brick.part)
    boxes = boxes_with_studs(geometry) if studs else geometry.boxes
    return tuple(Box(brick.pose @ box.pose, box.size_m) for box in boxes)


def _upright(brick: Brick) -> bool:
    return bool(brick.pose.rotation[2, 2] > 0.999)


def _covering(boxes: Sequence[Box], earlier: Obstacles) -> tuple[str, ...]:
    """Who stands in the space that the boxes sweep when lifted straight up."""
    paths = []
    for box, extent in zip(boxes, OrientedBoxes.of(boxes).extents(), strict=True):
        # Lifted by _PATH_M, an upright box covers itself and everything above.
        height = float(extent[1, 2] - extent[0, 2])
        middle = box.pose.translated((0.0, 0.0, _PATH_M / 2))
        up = int(np.argmax(np.abs(box.pose.rotation[2])))
        size = [*box.size_m]
        size[up] = height + _PATH_M
        paths.append(Box(middle, (size[0], size[1], size[2])))
    _, hit = meeting_pairs(OrientedBoxes.of(paths), earlier.boxes, TOUCH_M)
    return tuple(sorted({earlier.ids[int(j)] for j in hit}))
