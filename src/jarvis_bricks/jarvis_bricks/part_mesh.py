"""Part geometry from LDraw files: references followed, colours and winding resolved, studs and tubes found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

from jarvis_bricks.colours import ColourTable
from jarvis_bricks.geometry import Connectors, Mesh
from jarvis_bricks.ldraw.document import EDGE_COLOUR, MAIN_COLOUR, IntArray, Reference, Section
from jarvis_bricks.ldraw.frame import directions_from_ldraw, points_from_ldraw
from jarvis_bricks.mesh_builder import make_mesh

#: Gives the section behind a referenced name, or None.
Lookup = Callable[[str], Section | None]


#: A part with more triangles and lines than this multiplies without end; the largest real ones have a tenth.
MAX_SHAPES = 1_000_000
#: Files inside files.
MAX_DEPTH = 50


class StudKind(Enum):
    """What a stud primitive is: something to push a part on, or the inside of one that studs enter."""

    STUD = "stud"
    TUBE = "tube"
    OTHER = "other"


def stud_kind(name: str, title: str) -> StudKind | None:
    """What a primitive is, by its file name and title; None: no stud primitive.

    Groups (``stug…``) are no primitives themselves: their studs are found by following them. Duplo studs and
    things that only extend a stud are OTHER.
    """
    if not name.startswith("stud"):
        return None
    words = title.lower()
    if not words.startswith("stud") or "duplo" in words or "quatro" in words:
        return StudKind.OTHER
    return StudKind.TUBE if "tube" in words or "underside" in words else StudKind.STUD


@dataclass(frozen=True, slots=True)
class StudPlacement:
    """A stud primitive in a part: its name, kind and (4, 4) LDraw placement."""

    name: str
    kind: StudKind
    matrix: FloatArray


@dataclass(frozen=True, slots=True)
class FlatPart:
    """A file with all references followed, LDU, LDraw frame; fields as in ``Shapes``.

    Attributes:
        stud_triangles: (m,) bool: the triangle belongs to an upright stud.
    """

    triangles: FloatArray
    triangle_colours: IntArray
    two_sided: npt.NDArray[np.bool_]
    stud_triangles: npt.NDArray[np.bool_]
    edges: FloatArray
    edge_colours: IntArray
    conditional: FloatArray
    studs: tuple[StudPlacement, ...]

    @property
    def count(self) -> int:
        """Triangles and lines."""
        return len(self.triangles) + len(self.edges) + len(self.conditional)

    def mesh(self) -> Mesh:
        """In the part frame, metres. Triangles whose outside is unknown are there twice, facing both ways."""
        triangles = points_from_ldraw(self.triangles)
        back = triangles[self.two_sided][:, ::-1]
        return make_mesh(
            np.concatenate([triangles, back]),
            np.concatenate([self.triangle_colours, self.triangle_colours[self.two_sided]]),
            points_from_ldraw(self.edges),
            self.edge_colours,
            points_from_ldraw(self.conditional),
        )

    def body_points(self) -> FloatArray:
        """(n, 3) metres: corners of all triangles but those of studs; of edges if there are no triangles."""
        body = self.triangles[~self.stud_triangles].reshape(-1, 3)
        return points_from_ldraw(body if len(body) else self.edges.reshape(-1, 3))

    def upright_studs(self) -> Connectors:
        """Where studs stand, whatever way they point."""
        found = [s.matrix for s in self.studs if s.kind is StudKind.STUD]
        axes = np.array([-m[:3, 1] for m in found]).reshape(-1, 3)
        # Some parts stretch the primitive below their surface: the foot is where an ordinary stud with this top has it.
        tops = np.array([m[:3, 3] for m in found]).reshape(-1, 3) + 4.0 * axes
        feet = tops - 4.0 * _unit(axes)
        return Connectors(points_from_ldraw(feet), _unit(directions_from_ldraw(axes)))

    def tubes(self) -> tuple[Connectors, list[str]]:
        """The open ends of tubes and pins (axis: inwards), and the primitives' names."""
        found = [s for s in self.studs if s.kind is StudKind.TUBE]
        # The primitive reaches from its origin to y = -4; the origin's end is the closed one.
        ends = np.array([s.matrix[:3, 3] - 4.0 * s.matrix[:3, 1] for s in found]).reshape(-1, 3)
        axes = np.array([s.matrix[:3, 1] for s in found]).reshape(-1, 3)
        return Connectors(points_from_ldraw(ends), _unit(directions_from_ldraw(axes))), [
            s.name for s in found
        ]


def _unit(vectors: FloatArray) -> FloatArray:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: FloatArray = vectors / np.maximum(length, 1e-12)
    return unit


class PartFlattener:
    """Follows references and remembers every file it has flattened.

    Args:
        lookup: sections by name, ``~Moved to`` already followed.
        colours: for edge colours of coloured references.
        simple: studs with eight sides, tubes left out, 8-segment primitives where ``low_resolution`` has them.
    """

    def __init__(
        self,
        lookup: Lookup,
        colours: ColourTable,
        *,
        simple: bool = False,
        low_resolution: Lookup | None = None,
    ) -> None:
        self._lookup = lookup
        self._low_resolution = low_resolution
        self._colours = colours
        self._simple = simple
        self._known: dict[str, FlatPart] = {}
        self._open: list[str] = []

    def flatten(self, section: Section) -> FlatPart:
        """Raises BadInputError: a missing file, a circle or something without end, with file:line."""
        if section.name in self._known:
            return self._known[section.name]
        if section.name in self._open:
            raise BadInputError(
                f"a circle of references: {' -> '.join([*self._open, section.name])}", where=section.source
            )
        if len(self._open) >= MAX_DEPTH:
            raise BadInputError(f"references more than {MAX_DEPTH} deep", where=section.where(section.line))
        self._open.append(section.name)
        pieces = [self._own(section)]
        count = pieces[0].count
        try:
            for reference in section.references:
                pieces.append(self._placed(section, reference))
                count += pieces[-1].count
                if count > MAX_SHAPES:
                    raise BadInputError(
                        f"more than {MAX_SHAPES} triangles and lines", where=section.where(reference.line)
                    )
        finally:
            self._open.pop()
        flat = _join(pieces)
        self._known[section.name] = flat
        return flat

    def _own(self, section: Section) -> FlatPart:
        shapes = section.shapes
        return FlatPart(
            shapes.triangles,
            shapes.triangle_colours,
            shapes.two_sided,
            np.zeros(len(shapes.triangles), dtype=bool),
            shapes.edges,
            shapes.edge_colours,
            shapes.conditional,
            (),
        )

    def _placed(self, section: Section, reference: Reference) -> FlatPart:
        child = self._lookup(reference.name)
        if child is None:
            raise BadInputError(
                f"{section.name} needs {reference.name}, which is missing",
                where=section.where(reference.line),
                fix="complete the LDraw library",
            )
        kind = stud_kind(child.name, child.title)
        flat = self._simplified(child, kind) if self._simple else self.flatten(child)
        if kind is not None:
            placement = StudPlacement(child.name, kind, np.eye(4))
            flat = FlatPart(
                flat.triangles,
                flat.triangle_colours,
                flat.two_sided,
                np.full(len(flat.triangles), kind is StudKind.STUD),
                flat.edges,
                flat.edge_colours,
                flat.conditional,
                (placement,),
            )
        return self._moved(flat, reference, two_sided=not (section.certified and reference.clipped))

    def _simplified(self, child: Section, kind: StudKind | None) -> FlatPart:
        if kind is StudKind.STUD:
            return _SIMPLE_STUD
        if kind is StudKind.TUBE:
            return _NOTHING
        low = self._low_resolution(child.name) if self._low_resolution is not None else None
        return self.flatten(low if low is not None else child)

    def _moved(self, flat: FlatPart, reference: Reference, *, two_sided: bool) -> FlatPart:
        linear, offset = reference.matrix[:3, :3], reference.matrix[:3, 3]
        triangles = _placed_points(flat.triangles, linear, offset)
        if (_determinant(linear) < 0) != reference.inverted:
            triangles = triangles[:, ::-1]
        triangle_colours, edge_colours = flat.triangle_colours, flat.edge_colours
        if reference.colour != MAIN_COLOUR:
            triangle_colours = np.where(triangle_colours == MAIN_COLOUR, reference.colour, triangle_colours)
            edge = (
                EDGE_COLOUR if reference.colour == EDGE_COLOUR else self._colours.edge_code(reference.colour)
            )
            edge_colours = np.where(edge_colours == EDGE_COLOUR, edge, edge_colours)
        return FlatPart(
            triangles,
            triangle_colours.astype(np.int32),
            flat.two_sided | two_sided,
            flat.stud_triangles,
            _placed_points(flat.edges, linear, offset),
            edge_colours.astype(np.int32),
            _placed_points(flat.conditional, linear, offset),
            tuple(StudPlacement(s.name, s.kind, reference.matrix @ s.matrix) for s in flat.studs),
        )


def _placed_points(points: FloatArray, linear: FloatArray, offset: FloatArray) -> FloatArray:
    """One product for all (…, 3) points: numpy would make one for each triangle."""
    if len(points) == 0:
        return points
    moved: FloatArray = (points.reshape(-1, 3) @ linear.T + offset).reshape(points.shape)
    return moved


def _determinant(linear: FloatArray) -> float:
    a, b, c = linear.tolist()
    return float(
        a[0] * (b[1] * c[2] - b[2] * c[1])
        - a[1] * (b[0] * c[2] - b[2] * c[0])
        + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


def _join(pieces: list[FlatPart]) -> FlatPart:
    return FlatPart(
        np.concatenate([p.triangles for p in pieces]),
        np.concatenate([p.triangle_colours for p in pieces]),
        np.concatenate([p.two_sided for p in pieces]),
        np.concatenate([p.stud_triangles for p in pieces]),
        np.concatenate([p.edges for p in pieces]),
        np.concatenate([p.edge_colours for p in pieces]),
        np.concatenate([p.conditional for p in pieces]),
        tuple(stud for p in pieces for stud in p.studs),
    )


def _make_simple_stud() -> FlatPart:
    """A stud of radius 6 and height 4 LDU with eight sides and a lid, LDraw frame (towards -y)."""
    angle = np.arange(8) * (np.pi / 4)
    foot = np.column_stack([6 * np.cos(angle), np.zeros(8), 6 * np.sin(angle)])
    top = foot - [0.0, 4.0, 0.0]
    foot2, top2 = np.roll(foot, -1, axis=0), np.roll(top, -1, axis=0)
    centre = np.tile([0.0, -4.0, 0.0], (8, 1))
    triangles = np.concatenate(
        [
            np.stack(corners, axis=1)
            for corners in ((foot, foot2, top2), (foot, top2, top), (top, top2, centre))
        ]
    )
    edges = np.concatenate([np.stack([foot, foot2], axis=1), np.stack([top, top2], axis=1)])
    conditional = np.stack([foot, top, np.roll(foot, 1, axis=0), foot2], axis=1)
    return FlatPart(
        triangles,
        np.full(len(triangles), MAIN_COLOUR, dtype=np.int32),
        np.zeros(len(triangles), dtype=bool),
        np.ones(len(triangles), dtype=bool),
        edges,
        np.full(len(edges), EDGE_COLOUR, dtype=np.int32),
        conditional,
        (),
    )


_SIMPLE_STUD = _make_simple_stud()
_NOTHING = FlatPart(
    np.zeros((0, 3, 3)),
    np.zeros(0, dtype=np.int32),
    np.zeros(0, dtype=bool),
    np.zeros(0, dtype=bool),
    np.zeros((0, 2, 3)),
    np.zeros(0, dtype=np.int32),
    np.zeros((0, 4, 3)),
    (),
)
