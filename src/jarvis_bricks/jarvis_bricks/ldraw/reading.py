"""Model files to assemblies.

Order of building, across submodels (the convention of LPub): the bricks of a section between two STEP lines are
one step. A submodel is built where it is referenced: when the step that holds the reference comes, first all
steps of the submodels referenced in it are built, in order of reference, each whole, and then the bricks of the
step itself. Every copy of a submodel is built anew. A step without bricks of its own (only submodels, or nothing)
takes no number. ROTSTEP ends a step like STEP; what follows the last STEP is a step too::

    main: A, sub, B, STEP, C        sub: D, STEP, E, STEP
    order: D | E | A B | C          steps 1 | 2 | 3 | 4

A ROTSTEP turns the view of the step it ends and of those after it in the same section, until the next one or
ROTSTEP END (as LPub has it); a submodel begins with the usual view.

Comments (so also ``0 GHOST`` lines of MLCad) place nothing. A referenced name is looked for in the file itself,
beside the file (submodels only), among the library's parts, then among the built-in parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

from jarvis_bricks.assembly import Assembly, Brick, InlinePart, StepView, SubmodelUse
from jarvis_bricks.catalogue import part_name
from jarvis_bricks.colours import ColourTable
from jarvis_bricks.ldraw.brick_text import read_brick_text
from jarvis_bricks.ldraw.document import (
    EDGE_COLOUR,
    MAIN_COLOUR,
    Document,
    Reference,
    Section,
    StepEnd,
    ViewTurn,
    read_document,
)
from jarvis_bricks.ldraw.frame import poses_from_ldraw
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.parametric import parametric_part

#: More bricks or references than this are no model, but submodels that multiply without end.
MAX_BRICKS = 200_000
#: Submodels inside submodels.
MAX_DEPTH = 100


class MissingPartError(BadInputError):
    """A part that is neither in the model's file, in a library nor built in."""


def read_assembly(path: Path, *, library: LDrawLibrary | None) -> Assembly:
    """Read a .ldr, .mpd or .dat file as a build; the order of steps is described above. A .txt file is read as
    lines of bricks on a grid (see ``ldraw.brick_text``).

    Raises:
        BadInputError: an unreadable file, a broken line, a circle of submodels, a part that is neither in the
            file, the library nor built in, a model without bricks or one beyond all limits; the message names
            file, line and part.
    """
    if path.suffix.lower() == ".txt":
        return read_brick_text(path)
    document = read_document(path)
    reader = _Reader(path, library, document)
    reader.walk()
    if not reader.leaves:
        raise BadInputError("a model without bricks", where=str(path))
    main = document.main
    return Assembly(
        name=path.stem,
        title=main.title,
        author=main.header.get("author", ""),
        licence=main.header.get("license", ""),
        has_steps=reader.has_steps,
        bricks=tuple(_bricks(reader.leaves, has_steps=reader.has_steps)),
        views=tuple(reader.views) if reader.has_steps else (),
        submodels=tuple(reader.submodels),
        inline_parts=tuple(InlinePart(s.name, s.text) for s in document.sections.values() if s.text),
        colours=tuple(text for s in document.sections.values() for _, text in s.colour_lines),
        notes=(*document.notes, *_loose_faces(document, reader.leaves)),
    )


def _loose_faces(document: Document, leaves: Sequence[_Leaf]) -> list[str]:
    """A main model with faces of its own, beside its bricks."""
    main = document.main
    if not main.is_part or leaves[0].part == part_name(main.name):
        return []
    return [f"{main.where(main.line)}: faces in the main model belong to no brick and are not read"]


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part at its place: placement (4, 4) in LDU in the main model's LDraw frame."""

    part: str
    colour: int
    matrix: FloatArray
    step: int
    source: str
    line: int


def _bricks(leaves: Sequence[_Leaf], *, has_steps: bool) -> Iterator[Brick]:
    digits = max(3, len(str(len(leaves))))
    poses = poses_from_ldraw(np.array([leaf.matrix for leaf in leaves]))
    names = {source: Path(source).name for source in {leaf.source for leaf in leaves}}
    for number, (leaf, found) in enumerate(zip(leaves, poses, strict=True), start=1):
        if found is None:
            raise BadInputError(
                f"a placement with a singular matrix ({leaf.part})", where=f"{leaf.source}:{leaf.line}"
            )
        pose, stretch = found
        yield Brick(
            f"b{number:0{digits}d}",
            leaf.part,
            leaf.colour,
            pose,
            leaf.step if has_steps else 1,
            stretch is not None,
            f"{names[leaf.source]}:{leaf.line}",
            tuple(stretch.reshape(-1).tolist()) if stretch is not None else None,
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a section is being built.

    Attributes:
        use: index of the submodel's use, -1 for the main model.
    """

    document: Document
    section: Section
    matrix: FloatArray
    colour: int
    use: int


class _Reader:
    """Follows the references of one model."""

    def __init__(self, path: Path, library: LDrawLibrary | None, document: Document) -> None:
        self.path = path
        self.library = library
        self.has_steps = False
        self.leaves: list[_Leaf] = []
        self.views: list[StepView] = []
        self.submodels: list[SubmodelUse] = []
        self._document = document
        self._colours = ColourTable.for_model(document, library)
        self._neighbours: dict[str, Document | None] = {}
        self._targets: dict[tuple[int, str], str | tuple[Document, Section]] = {}
        self._open: list[str] = []
        self._visits = 0
        self._step = 0

    def walk(self) -> None:
        """Collect all parts in build order. A part file is a model of one part."""
        main = self._document.main
        if main.is_part and self.path.suffix.lower() == ".dat":
            self.leaves.append(_Leaf(part_name(main.name), MAIN_COLOUR, np.eye(4), 1, main.source, main.line))
            return
        self._walk(_Place(self._document, self._document.main, np.eye(4), MAIN_COLOUR, -1))

    def _walk(self, place: _Place) -> None:
        section = place.section
        self._check(section)
        self._open.append(section.name)
        own: list[tuple[Reference, str]] = []
        turn: ViewTurn | None = None
        for item in (*section.items, StepEnd(0)):
            if isinstance(item, StepEnd):
                self.has_steps |= item.line > 0
                if item.turn is not None or item.ends_turn:
                    turn = item.turn
                self._close_step(place, own, turn)
                own = []
                continue
            target = self._target(place, item)
            if isinstance(target, str):
                own.append((item, target))
            else:
                self._enter(place, item, *target)
        self._open.pop()

    def _check(self, section: Section) -> None:
        """Raises BadInputError for what would never end."""
        self._visits += 1
        if section.name in self._open:
            circle = " -> ".join([*self._open[self._open.index(section.name) :], section.name])
            raise BadInputError(f"a circle of submodels: {circle}", where=section.where(section.line))
        if len(self._open) >= MAX_DEPTH:
            raise BadInputError(
                f"submodels more than {MAX_DEPTH} deep",
                where=section.where(section.line),
                fix="flatten the model",
            )
        if max(self._visits, len(self.leaves)) > MAX_BRICKS:
            raise BadInputError(
                f"more than {MAX_BRICKS} bricks or submodels", where=str(self.path), fix="split the model"
            )

    def _enter(self, place: _Place, reference: Reference, document: Document, section: Section) -> None:
        """Build a submodel, and note which bricks are its own."""
        matrix = place.matrix @ reference.matrix
        colour = self._inherit(reference.colour, place.colour)
        index, first = len(self.submodels), len(self.leaves)
        placement = (*matrix[:3, 3].tolist(), *matrix[:3, :3].reshape(-1).tolist())
        use = SubmodelUse(section.name, section.title, first, 0, place.use, placement, colour)
        self.submodels.append(use)
        self._walk(_Place(document, section, matrix, colour, index))
        self.submodels[index] = msgspec.structs.replace(use, count=len(self.leaves) - first)

    def _close_step(self, place: _Place, own: Sequence[tuple[Reference, str]], turn: ViewTurn | None) -> None:
        if not own:
            return
        self._step += 1
        if turn is not None:
            self.views.append(StepView(self._step, turn.angles_deg, turn.kind))
        for reference, part in own:
            self.leaves.append(
                _Leaf(
                    part,
                    self._inherit(reference.colour, place.colour),
                    place.matrix @ reference.matrix,
                    self._step,
                    place.section.source,
                    reference.line,
                )
            )

    def _inherit(self, code: int, parent: int) -> int:
        if code == MAIN_COLOUR:
            return parent
        if code == EDGE_COLOUR:
            return self._colours.edge_code(parent)
        return code

    def _target(self, place: _Place, reference: Reference) -> str | tuple[Document, Section]:
        key = (id(place.document), reference.name)
        if key not in self._targets:
            self._targets[key] = self._resolve(place.document, place.section, reference)
        return self._targets[key]

    def _resolve(
        self, document: Document, section: Section, reference: Reference
    ) -> str | tuple[Document, Section]:
        """The number of a part, or the submodel that a name stands for."""
        name = reference.name
        inside = document.sections.get(name)
        if inside is not None:
            return part_name(name) if inside.is_part else (document, inside)
        beside = self._beside(name)
        if beside is not None and not beside.main.is_part:
            return beside, beside.main
        found = self.library.final_name(name) if self.library is not None else None
        if found is not None:
            return part_name(found)
        built_in = parametric_part(part_name(name))
        if built_in is not None:
            return built_in.part
        raise MissingPartError(
            f"part {name} is neither in the file, in an LDraw library nor built in",
            where=section.where(reference.line),
            fix="complete the library"
            if self.library
            else "give an LDraw library (--ldraw-library or LDRAWDIR)",
        )

    def _beside(self, name: str) -> Document | None:
        """A model file in the same folder as the one being read, whatever its case."""
        if name.endswith((".ldr", ".mpd")) and name not in self._neighbours:
            paths = (p for p in self.path.parent.iterdir() if p.name.lower() == name)
            path = next(paths, None)
            self._neighbours[name] = read_document(path) if path is not None else None
        return self._neighbours.get(name)
