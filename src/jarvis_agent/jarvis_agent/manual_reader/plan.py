"""What was read from a manual: steps as data, how sure each is, and what was not understood."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
from jarvis_core.files import atomic_path
from jarvis_core.pose import Pose


class ReadPlace(msgspec.Struct, frozen=True):
    """One reading of a brick.

    Attributes:
        part, colour: number of the part, LDraw code.
        pose: of the part frame in frame ``plate``.
        gain_px: pixels of the page that it explains better than nothing new, less those it explains worse.
    """

    part: str
    colour: int
    pose: Pose
    gain_px: float


class ReadBrick(msgspec.Struct, frozen=True):
    """A new brick.

    Attributes:
        place: the best reading.
        confidence: 0 to 1: how much of the brick the page confirms, less where another reading is nearly as good.
        alternatives: other readings, the best first.
    """

    place: ReadPlace
    confidence: float
    alternatives: tuple[ReadPlace, ...] = ()


class ReadStep(msgspec.Struct, frozen=True):
    """What a page adds, in an order in which it can be built.

    Attributes:
        page: its number.
        explained: share of the changed pixels that the bricks explain.
        understood: False: what is in ``bricks`` is a guess; ``doubts`` says why, a sentence each.
        seconds: time it took to read.
    """

    page: int
    bricks: tuple[ReadBrick, ...]
    explained: float
    understood: bool
    doubts: tuple[str, ...] = ()
    seconds: float = 0.0


class ReadPlan(msgspec.Struct, frozen=True):
    """A whole manual as read.

    Attributes:
        camera: how the pages' camera was found.
        unused: loose bricks (part, colour, count) that no step uses.
    """

    task_id: str
    steps: tuple[ReadStep, ...]
    camera: tuple[str, ...] = ()
    unused: tuple[tuple[str, int, int], ...] = ()

    @property
    def understood(self) -> bool:
        """Whether every step was."""
        return all(step.understood for step in self.steps)

    def doubts(self) -> Sequence[str]:
        """All doubts, each with its page."""
        return [f"page {step.page}: {doubt}" for step in self.steps for doubt in step.doubts]


def write_plan(plan: ReadPlan, path: Path) -> None:
    """As JSON, whole or not at all; poses are x, y, z in metres and the quaternion x, y, z, w in frame ``plate``."""
    with atomic_path(path) as scratch:
        scratch.write_bytes(msgspec.json.format(encode_plan(plan), indent=2))


def encode_plan(plan: ReadPlan) -> bytes:
    """The plan's JSON."""
    return msgspec.json.encode(plan, enc_hook=_encode_pose)


def _encode_pose(value: object) -> object:
    if isinstance(value, Pose):
        return value.to_list()
    raise NotImplementedError(f"can't write a {type(value).__name__}")
