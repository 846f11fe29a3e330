"""Model files to assemblies.

Order of building, across submodels (the convention of LPub): the bricks of a section between two STEP lines are
one step. A submodel is built where it is referenced: when the step that holds the reference comes, first all
steps of the submodels referenced in it are built, in order of reference, each whole, and then the bricks of the
step itself. Every copy of a submodel is built anew. A step without bricks of its own (only submodels, or nothing)
takes no number. ROTSTEP ends a step like STEP; what follows the last STEP is a step too::

    main: A, sub, B, STEP, C        sub: D, STEP, E, STEP
    order: D | E | A B | C          steps 1 | 2 | 3 | 4

Comments (so also ``0 GHOST`` lines of MLCad) place nothing. A referenced name is looked for in the file itself,
beside the file (submodels only), among the library's parts, then among the built-in parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import part_name
from jarvis_bricks.colours import ColourTable
from jarvis_bricks.ldraw.document import (
    EDGE_COLOUR,
    MAIN_COLOUR,
    Document,
    Reference,
    Section,
    StepEnd,
    read_document,
)
from jarvis_bricks.ldraw.frame import pose_from_ldraw
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.parametric import parametric_part


def read_assembly(path: Path, *, library: LDrawLibrary | None) -> Assembly:
    """Read a .ldr, .mpd or .dat file as a build; the order of steps is described above.

    Raises:
        BadInputError: an unreadable file, a broken line, a circle of submodels, a part that is neither in the
            file, the library nor built in, or a model without bricks; the message names file, line and part.
    """
    document = read_document(path)
    reader = _Reader(path, library)
    leaves = list(reader.leaves(document))
    if not leaves:
        raise BadInputError("a model without bricks", where=str(path))
    digits = max(3, len(str(len(leaves))))
    main = document.main
    bricks = tuple(
        reader.brick(leaf, f"b{number:0{digits}d}", leaf.step if reader.has_steps else 1)
        for number, leaf in enumerate(leaves, start=1)
    )
    return Assembly(
        name=path.stem,
        title=main.title,
        author=main.header.get("author", ""),
        licence=main.header.get("license", ""),
        has_steps=reader.has_steps,
        bricks=bricks,
    )


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A part at its place: placement (4, 4) in LDU in the main model's LDraw frame."""

    part: str
    colour: int
    matrix: FloatArray
    step: int
    where: str


class _Reader:
    """Follows the references of one model."""

    def __init__(self, path: Path, library: LDrawLibrary | None) -> None:
        self.path = path
        self.library = library
        self.has_steps = False
        self._colours = ColourTable.load(library)
        self._neighbours: dict[str, Document | None] = {}
        self._open: list[str] = []
        self._step = 0

    def leaves(self, document: Document) -> Iterator[_Leaf]:
        """All parts in build order."""
        yield from self._walk(document, document.main, np.eye(4), MAIN_COLOUR)

    def brick(self, leaf: _Leaf, name: str, step: int) -> Brick:
        try:
            pose, mirrored = pose_from_ldraw(leaf.matrix)
        except ValueError as error:
            raise BadInputError(f"{error} ({leaf.part})", where=leaf.where) from error
        source, _, line = leaf.where.rpartition(":")
        where = f"{Path(source).name}:{line}"
        return Brick(name, leaf.part, leaf.colour, pose, step, mirrored, where)

    def _walk(self, document: Document, section: Section, matrix: FloatArray, colour: int) -> Iterator[_Leaf]:
        if section.name in self._open:
            circle = " -> ".join([*self._open[self._open.index(section.name) :], section.name])
            raise BadInputError(f"a circle of submodels: {circle}", where=section.where(section.line))
        self._open.append(section.name)
        own: list[tuple[Reference, str]] = []
        for item in (*section.items, StepEnd(0)):
            if isinstance(item, StepEnd):
                self.has_steps |= item.line > 0
                yield from self._close_step(section, own, matrix, colour)
                own = []
                continue
            target = self._resolve(document, section, item)
            if isinstance(target, str):
                own.append((item, target))
            else:
                inner = target[1]
                yield from self._walk(
                    target[0], inner, matrix @ item.matrix, self._inherit(item.colour, colour)
                )
        self._open.pop()

    def _close_step(
        self, section: Section, own: list[tuple[Reference, str]], matrix: FloatArray, colour: int
    ) -> Iterator[_Leaf]:
        if own:
            self._step += 1
        for reference, part in own:
            yield _Leaf(
                part,
                self._inherit(reference.colour, colour),
                matrix @ reference.matrix,
                self._step,
                section.where(reference.line),
            )

    def _inherit(self, code: int, parent: int) -> int:
        if code == MAIN_COLOUR:
            return parent
        if code == EDGE_COLOUR:
            return self._colours.edge_code(parent)
        return code

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
        found = self.library.resolve(name) if self.library is not None else None
        if found is not None:
            return part_name(found.name)
        built_in = parametric_part(part_name(name))
        if built_in is not None:
            return built_in.part
        raise BadInputError(
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
