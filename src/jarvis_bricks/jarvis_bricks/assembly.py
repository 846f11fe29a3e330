"""A build as a flat, ordered list of bricks."""

from __future__ import annotations

import msgspec
from jarvis_core.pose import Pose


class Brick(msgspec.Struct, frozen=True):
    """One brick of a build.

    Attributes:
        id: unique in its assembly, stable for the same file: ``b001``, ``b002``, … in build order.
        part: part number without ``.dat``, lower case.
        colour: LDraw code (direct colours 0x2RRGGBB as they are).
        pose: of the part frame in the assembly's frame (z up, metres).
        step: global build step, from 1.
        mirrored: the file's matrix was mirrored or scaled; ``pose`` is then its closest rotation.
        where: ``file:line`` it was read from.
    """

    id: str
    part: str
    colour: int
    pose: Pose
    step: int
    mirrored: bool = False
    where: str = ""


class Assembly(msgspec.Struct, frozen=True):
    """A build: bricks in build order.

    Attributes:
        name: file stem.
        title: first comment line of the model.
        author, licence: from the header, "" if absent; they travel with everything exported.
        has_steps: the file holds STEPs; else all bricks are of step 1.
    """

    name: str
    title: str
    author: str
    licence: str
    has_steps: bool
    bricks: tuple[Brick, ...]

    @property
    def n_steps(self) -> int:
        return max((b.step for b in self.bricks), default=0)
