"""LDraw text parsed into sections: what a .ldr, .dat or .mpd file says, before any reference is followed.

File format: https://www.ldraw.org/article/218.html; MPD: https://www.ldraw.org/article/47.html; BFC:
https://www.ldraw.org/article/415.html.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes
from jarvis_core.pose import FloatArray

#: A part's or model's own colour, and its edge colour: inherited from the line that references it.
MAIN_COLOUR = 16
EDGE_COLOUR = 24

IntArray = npt.NDArray[np.int32]

_META = re.compile(
    r"(!|//|STEP\b|ROTSTEP\b|WRITE\b|PRINT\b|CLEAR\b|PAUSE\b|SAVE\b|BFC\b|NAME:|AUTHOR:|FILE\b)", re.I
)
#: Not str.splitlines: it also splits at characters that latin-1 and Windows files hold within a line.
_LINE_END = re.compile(r"\r\n|\r|\n")
#: Codes end with the direct colours 0x2RRGGBB and 0x3RRGGBB.
_COLOUR_LIMIT = 0x4000000
_NUMBERS = {1: 12, 2: 6, 3: 9, 4: 12, 5: 12}


@dataclass(frozen=True, slots=True)
class Reference:
    """A type 1 line.

    Attributes:
        line: line number in the physical file, from 1.
        colour: as written; 16 is the colour of whatever references this section.
        matrix: (4, 4) placement in LDU, maps the referenced file's frame into this section's.
        name: normalised: lower case, forward slashes.
        inverted: preceded by BFC INVERTNEXT.
        clipped: back faces may be culled here (BFC CLIP).
    """

    line: int
    colour: int
    matrix: FloatArray
    name: str
    inverted: bool
    clipped: bool


@dataclass(frozen=True, slots=True)
class StepEnd:
    """A STEP or ROTSTEP line."""

    line: int


@dataclass(frozen=True, slots=True)
class Shapes:
    """Lines of type 2 to 5 in LDU, LDraw frame. Quads are split in two.

    Attributes:
        triangles: (m, 3, 3), counter-clockwise from outside if the section is BFC-certified.
        triangle_colours: (m,) codes as written.
        two_sided: (m,) bool: outside unknown, or culling switched off.
        edges: (e, 2, 3); ``edge_colours``: (e,).
        conditional: (c, 4, 3): segment ends, then control points.
    """

    triangles: FloatArray
    triangle_colours: IntArray
    two_sided: npt.NDArray[np.bool_]
    edges: FloatArray
    edge_colours: IntArray
    conditional: FloatArray


@dataclass(frozen=True, slots=True)
class Section:
    """One file, or one FILE section of an .mpd.

    Attributes:
        name: normalised; for a whole file its file name.
        source: path (or path inside an archive) of the physical file, for messages.
        title: first comment line.
        header: ``author``, ``license`` and ``ldraw_org`` lines, if there.
        items: references and step ends in file order.
        certified: BFC-certified.
    """

    name: str
    source: str
    line: int
    title: str
    header: Mapping[str, str]
    items: tuple[Reference | StepEnd, ...]
    shapes: Shapes
    certified: bool

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(item for item in self.items if isinstance(item, Reference))

    @property
    def moved_to(self) -> str | None:
        """Name of the file this one was renamed to (``~Moved to``), normalised."""
        if not self.title.lower().startswith("~moved to"):
            return None
        name = normalise(self.title[len("~moved to") :])
        return name if name.endswith(".dat") else f"{name}.dat"

    @property
    def is_part(self) -> bool:
        """Holds faces itself, or its header calls it a part: it is one piece, not an assembly of pieces."""
        kind = self.header.get("ldraw_org", "").lower().removeprefix("unofficial_")
        drawn = len(self.shapes.triangles) or len(self.shapes.conditional)
        return bool(drawn) or kind.split()[:1] in (
            ["part"],
            ["subpart"],
            ["primitive"],
            ["shortcut"],
        )

    def where(self, line: int) -> str:
        return f"{self.source}:{line}"


@dataclass(frozen=True, slots=True)
class Document:
    """A file's sections by normalised name; the first is the main model."""

    path: str
    sections: Mapping[str, Section]

    @property
    def main(self) -> Section:
        return next(iter(self.sections.values()))


def normalise(name: str) -> str:
    """The form in which LDraw file names are compared: lower case, forward slashes, single spaces."""
    return " ".join(name.lower().replace("\\", "/").split())


def read_document(path: Path) -> Document:
    """Parse a file from disk; errors as for ``parse_document``."""
    return parse_document(read_bytes(path), source=str(path), name=path.name)


def parse_document(data: bytes, *, source: str, name: str) -> Document:
    """Parse the bytes of a .ldr, .dat or .mpd file: UTF-8 (with or without BOM) or latin-1, any line ends.

    Args:
        source: for messages. ``name``: of the section if the file has no FILE lines.

    Raises:
        BadInputError: a broken line, a line outside all sections, two sections of one name; with file:line.
    """
    parser = _SectionParser(name, source, 1)
    sections: dict[str, Section] = {}
    multi, inside = False, True

    def close(parser: _SectionParser) -> None:
        section = parser.finish()
        if section.name in sections:
            raise BadInputError(f"a second section named {section.name}", where=section.where(section.line))
        sections[section.name] = section

    for number, line in enumerate(_LINE_END.split(_decode(data)), start=1):
        words = line.split(None, 2)
        command = words[1].upper() if len(words) > 1 and words[0] == "0" else ""
        if command == "FILE" and len(words) == 3:
            if multi and inside:
                close(parser)
            elif not multi and parser.drew:
                raise BadInputError("lines before the first FILE", where=f"{source}:{number}")
            multi, inside = True, True
            parser = _SectionParser(words[2], source, number)
        elif command == "NOFILE" and multi:
            if inside:
                close(parser)
            inside = False
        elif inside:
            parser.feed(line, number)
        elif words and words[0] != "0":
            raise BadInputError("a line outside all FILE sections", where=f"{source}:{number}")
    if inside:
        close(parser)
    return Document(source, sections)


def _decode(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


@dataclass(slots=True)
class _SectionParser:
    """Collects one section line by line."""

    name: str
    source: str
    start: int
    title: str = ""
    header: dict[str, str] = field(default_factory=dict)
    items: list[Reference | StepEnd] = field(default_factory=list)
    triangles: list[list[float]] = field(default_factory=list)
    triangle_colours: list[int] = field(default_factory=list)
    two_sided: list[bool] = field(default_factory=list)
    edges: list[list[float]] = field(default_factory=list)
    edge_colours: list[int] = field(default_factory=list)
    conditional: list[list[float]] = field(default_factory=list)
    certified: bool = False
    clockwise: bool = False
    clipped: bool = True
    invert_next: bool = False

    @property
    def drew(self) -> bool:
        return bool(self.items or self.triangles or self.edges or self.conditional)

    def feed(self, line: str, number: int) -> None:
        text = line.strip()
        if not text:
            return
        kind, _, rest = text.partition(" ") if " " in text else text.partition("\t")
        if kind == "0":
            self._comment(rest.strip(), number)
            return
        if kind not in ("1", "2", "3", "4", "5"):
            raise BadInputError(f"an unknown line type {kind[:20]!r}", where=f"{self.source}:{number}")
        self._draw(int(kind), text, number)

    def _comment(self, text: str, number: int) -> None:
        words = text.split()
        command = words[0].upper() if words else ""
        if command in ("STEP", "ROTSTEP"):
            self.items.append(StepEnd(number))
        elif command == "BFC":
            self._bfc({word.upper() for word in words[1:]})
        elif command in ("AUTHOR:", "!LICENSE", "!LDRAW_ORG"):
            key = command.strip("!:").lower()
            self.header.setdefault(key, text[len(command) :].strip())
        elif text and not self.title and not _META.match(text) and not self.drew:
            self.title = text

    def _bfc(self, words: set[str]) -> None:
        if "CERTIFY" in words:
            self.certified = True
        if "NOCERTIFY" in words:
            self.certified = False
        if words & {"CW", "CCW"}:
            self.clockwise = "CW" in words
        if words & {"CLIP", "NOCLIP"}:
            self.clipped = "CLIP" in words
        if "INVERTNEXT" in words:
            self.invert_next = True

    def _draw(self, kind: int, text: str, number: int) -> None:
        count = _NUMBERS[kind]
        words = text.split(None, count + 2)
        try:
            colour = _colour(words[1])
            values = [float(word) for word in words[2 : count + 2]]
        except (ValueError, IndexError) as error:
            raise self._broken(kind, count, number) from error
        if len(values) != count or not np.isfinite(values).all() or (kind == 1) != (len(words) == count + 3):
            raise self._broken(kind, count, number)
        inverted, self.invert_next = self.invert_next, False
        if kind == 1:
            self.items.append(
                Reference(number, colour, _matrix(values), normalise(words[-1]), inverted, self.clipped)
            )
        elif kind == 2:
            self.edges.append(values)
            self.edge_colours.append(colour)
        elif kind == 5:
            self.conditional.append(values)
        else:
            self._polygon(values, colour)

    def _polygon(self, values: list[float], colour: int) -> None:
        corners = [values[i : i + 3] for i in range(0, len(values), 3)]
        if self.clockwise:
            corners.reverse()
        for i in range(1, len(corners) - 1):
            self.triangles.append(corners[0] + corners[i] + corners[i + 1])
            self.triangle_colours.append(colour)
            self.two_sided.append(not self.clipped)

    def _broken(self, kind: int, count: int, number: int) -> BadInputError:
        tail = " and a file name" if kind == 1 else ""
        return BadInputError(
            f"a broken line: type {kind} takes a colour, {count} numbers{tail}",
            where=f"{self.source}:{number}",
        )

    def finish(self) -> Section:
        shapes = Shapes(
            triangles=np.array(self.triangles, dtype=np.float64).reshape(-1, 3, 3),
            triangle_colours=np.array(self.triangle_colours, dtype=np.int32),
            two_sided=np.array(self.two_sided, dtype=bool) | (not self.certified),
            edges=np.array(self.edges, dtype=np.float64).reshape(-1, 2, 3),
            edge_colours=np.array(self.edge_colours, dtype=np.int32),
            conditional=np.array(self.conditional, dtype=np.float64).reshape(-1, 4, 3),
        )
        return Section(
            normalise(self.name),
            self.source,
            self.start,
            self.title,
            self.header,
            tuple(self.items),
            shapes,
            self.certified,
        )


def _colour(word: str) -> int:
    """A colour code, decimal or 0x…; ValueError if it is none."""
    code = int(word, 16) if word[:2].lower() == "0x" else int(word)
    if not 0 <= code < _COLOUR_LIMIT:
        raise ValueError(f"{word} is no colour")
    return code


def _matrix(values: list[float]) -> FloatArray:
    matrix = np.eye(4)
    matrix[:3, 3] = values[:3]
    matrix[:3, :3] = np.reshape(values[3:], (3, 3))
    return matrix
