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
        stretch: of a mirrored or scaled brick: nine numbers, row by row, of the matrix that deforms the part in its
            own frame before it is posed; else None.
    """

    id: str
    part: str
    colour: int
    pose: Pose
    step: int
    mirrored: bool = False
    where: str = ""
    stretch: tuple[float, ...] | None = None


class StepView(msgspec.Struct, frozen=True):
    """How the view is turned at a step (ROTSTEP), as the file says it.

    Attributes:
        step: global build step.
        angles_deg: about LDraw's x, y, z axes.
        kind: ``REL`` (to the manual's usual view), ``ABS`` (instead of it) or ``ADD`` (to the view before).
    """

    step: int
    angles_deg: tuple[float, float, float]
    kind: str


class SubmodelUse(msgspec.Struct, frozen=True):
    """A submodel at one of its places; its bricks, those of nested submodels included, follow each other.

    Attributes:
        name: of the section or file, normalised.
        title: its first comment line.
        first, count: its bricks are ``bricks[first : first + count]``.
        parent: index of the use it lies in, -1 for the main model.
        placement: LDraw placement in the main model: x y z a b c d e f g h i, LDU.
        colour: what colour 16 is in it.
    """

    name: str
    title: str
    first: int
    count: int
    parent: int
    placement: tuple[float, ...]
    colour: int


class InlinePart(msgspec.Struct, frozen=True):
    """A part whose file lies inside the model file: normalised name and lines."""

    name: str
    text: str


class Assembly(msgspec.Struct, frozen=True):
    """A build: bricks in build order.

    Attributes:
        name: file stem.
        title: first comment line of the model.
        author, licence: from the header, "" if absent; they travel with everything exported.
        has_steps: the file holds STEPs; else all bricks are of step 1.
        views: steps drawn from a turned view; a step that is not there has the usual one.
        submodels: the file's structure: a use comes after the use it lies in.
        inline_parts: parts inside the file.
        colours: ``!COLOUR`` lines of the file.
        notes: what was not read, as ``file:line: text``.
    """

    name: str
    title: str
    author: str
    licence: str
    has_steps: bool
    bricks: tuple[Brick, ...]
    views: tuple[StepView, ...] = ()
    submodels: tuple[SubmodelUse, ...] = ()
    inline_parts: tuple[InlinePart, ...] = ()
    colours: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_steps(self) -> int:
        return max((b.step for b in self.bricks), default=0)

    def cut(self, first: int, last: int) -> Assembly:
        """The bricks of the global steps ``first`` to ``last``, with what is left of submodels and views."""
        kept = [i for i, brick in enumerate(self.bricks) if first <= brick.step <= last]
        start, end = (kept[0], kept[-1] + 1) if kept else (0, 0)
        number = {-1: -1}
        uses: list[SubmodelUse] = []
        for index, use in enumerate(self.submodels):
            low, high = max(use.first, start), min(use.first + use.count, end)
            if low < high:
                number[index] = len(uses)
                parent = number[use.parent]
                uses.append(msgspec.structs.replace(use, first=low - start, count=high - low, parent=parent))
        return msgspec.structs.replace(
            self,
            bricks=self.bricks[start:end],
            views=tuple(view for view in self.views if first <= view.step <= last),
            submodels=tuple(uses),
        )
