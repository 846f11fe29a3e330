"""What the stud clutch works with: bodies that have studs, and the connections between them."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from jarvis_core.objects import ConnectionEvent
from jarvis_core.pose import FloatArray, Pose

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class StudBody:
    """A brick (or GROUND) with studs or anti-studs, all with axis +z.

    Attributes:
        id: of the brick; a free one's body has the same name.
        studs, antistuds: (n, 3) and (m, 3) in the brick's frame.
        fixed: where it stands for ever, ``world``; None for a free body, that can be the upper side of a connection.
    """

    id: str
    studs: FloatArray
    antistuds: FloatArray
    fixed: Pose | None

    @property
    def loose(self) -> bool:
        return self.fixed is None

    @property
    def reach_m(self) -> float:
        """From the origin to its farthest connector."""
        points = np.concatenate([self.studs, self.antistuds])
        return float(np.linalg.norm(points, axis=1).max()) if len(points) else 0.0


class Joint(msgspec.Struct):
    """A weld of one engaged brick: to one free lower body, or to the first of all fixed ones.

    Attributes:
        slot: of the weld.
        start, snapped: pose of the upper brick in the lower one's frame, when it engaged and on the grid.
        anchor: middle of the engaged studs, upper brick's frame.
    """

    slot: int
    lower: str
    start: Pose
    snapped: Pose
    anchor: Point


class Link(msgspec.Struct):
    """All that holds one brick from below.

    Attributes:
        points: engaged anti-studs in the brick's frame, by the brick below.
        engaged_at: step of the newest engagement.
        armed: may be pulled off: the gripper has let go of all that hangs together with it.
        samples: how many in a row found it overloaded.
    """

    upper: str
    points: dict[str, list[Point]]
    joints: list[Joint]
    engaged_at: int
    armed: bool = False
    samples: int = 0

    @property
    def studs(self) -> int:
        return sum(map(len, self.points.values()))

    def all_points(self) -> FloatArray:
        """(n, 3) engaged anti-studs."""
        return np.array([point for points in self.points.values() for point in points])


class Pressing(msgspec.Struct):
    """A brick that is being pressed on at one grid position, for so many samples."""

    place: tuple[str, int, int, int]
    samples: int


class ClutchState(msgspec.Struct):
    """Everything the clutch remembers, by upper brick."""

    links: dict[str, Link]
    pressing: dict[str, Pressing]
    events: list[ConnectionEvent]


def as_points(points: FloatArray) -> list[Point]:
    return [(x, y, z) for x, y, z in points.tolist()]
