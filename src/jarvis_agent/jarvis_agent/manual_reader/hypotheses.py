"""What a search goes through: a brick somewhere, some of them put down, and how a page's pixels agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.pose import Pose

from jarvis_agent.manual_reader.columns import Columns, Footprint, Place
from jarvis_agent.manual_reader.sprites import Sprite

Float32 = npt.NDArray[np.float32]
Kind = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A brick somewhere, and what it does for the page.

    Attributes:
        position: of the part's origin on the plate, metres.
        gain: pixels it explains better, less those it explains worse.
        shown: pixels of it that can be seen.
        wrong: of them, those that contradict the page.
    """

    kind: Kind
    footprint: Footprint
    place: Place
    position: tuple[float, ...]
    gain: float
    shown: int
    wrong: float

    @property
    def bottom(self) -> int:
        """Level of its underside, plates."""
        return self.place.level + int(self.footprint.bottoms.min())

    @property
    def top(self) -> int:
        """Level of its top, plates."""
        return self.place.level + int(self.footprint.tops.max())

    @property
    def pose(self) -> Pose:
        """Of the part frame in frame ``plate``."""
        turn = self.footprint.yaw * np.pi / 4
        x, y, z = self.position
        return Pose((x, y, z), (0.0, 0.0, float(np.sin(turn)), float(np.cos(turn))))


@dataclass(frozen=True, slots=True)
class Changes:
    """Sums of a page's cost over rectangles: (height + 1, width + 1) of all pixels above and to the left."""

    sums: npt.NDArray[np.float64]

    @classmethod
    def of(cls, cost: Float32) -> Changes:
        return cls(cv2.integral(cost).astype(np.float64))

    def worth(self, corners: npt.NDArray[np.int64], shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
        """(n,) cost within rectangles of (height, width) at (n, 2) left and top; 0 for those that leave the page."""
        height, width = self.sums.shape[0] - 1, self.sums.shape[1] - 1
        left, top = corners.T
        right, bottom = left + shape[1], top + shape[0]
        inside = (left >= 0) & (top >= 0) & (right <= width) & (bottom <= height)
        left, right = np.clip(left, 0, width), np.clip(right, 0, width)
        top, bottom = np.clip(top, 0, height), np.clip(bottom, 0, height)
        total = (
            self.sums[bottom, right] - self.sums[top, right] - self.sums[bottom, left] + self.sums[top, left]
        )
        return np.where(inside, total, 0.0)


@dataclass(frozen=True, slots=True)
class Reading:
    """Some bricks put down: what stands then, the page's cost pixel by pixel, and what is nearest to the camera."""

    columns: Columns
    cost: Float32
    depth: Float32
    left: Mapping[Kind, int]
    bricks: tuple[Candidate, ...] = ()
    others: tuple[tuple[Candidate, ...], ...] = ()
    covered: npt.NDArray[np.bool_] | None = None

    @property
    def gain(self) -> float:
        return sum(brick.gain for brick in self.bricks)

    @property
    def wrong_share(self) -> float:
        """Of the pixels shown, how many contradict the page."""
        return sum(b.wrong for b in self.bricks) / max(1, sum(b.shown for b in self.bricks))


@dataclass(frozen=True, slots=True)
class Laid:
    """A sprite on the page: the rectangle it takes, and how badly each of its pixels agrees, 0 to 1."""

    area: tuple[slice, slice]
    sprite: Sprite
    mismatch: Float32
