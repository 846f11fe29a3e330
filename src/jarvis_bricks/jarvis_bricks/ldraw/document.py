"""LDraw text parsed into sections: what a .ldr, .dat or .mpd file says, before any reference is followed.

File format: https://www.ldraw.org/article/218.html; MPD and !DATA: https://www.ldraw.org/article/47.html; BFC:
https://www.ldraw.org/article/415.html; !TEXMAP: https://www.ldraw.org/texmap-spec.html.

Textures are not read: what a file draws without them (the FALLBACK geometry and the lines not marked ``0 !:``) is.
Such places, and other metas that change nothing here, are noted (``Section.notes``).
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
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
    r"(!|//|STEP\b|ROTSTEP\b|WRITE\b|PRINT\b|CLEAR\b|PAUSE\b|SAVE\b|BFC\b|NAME:|AUTHOR:|FILE\b|NOFILE\b)",
    re.I,
)
#: Not str.splitlines: it also splits at characters that latin-1 and Windows files hold within a line.
_LINE_END = re.compile(r"\r\n|\r|\n")
#: Codes end with the direct colours 0x2RRGGBB and 0x3RRGGBB.
_COLOUR_LIMIT = 0x4000000
_NUMBERS = {1: 12, 2: 6, 3: 9, 4: 12, 5: 12}
#: Larger numbers are a broken file: products of a few of them overflow. 1e8 LDU are 40 km.
_LARGEST = 1e8
#: Files larger than this are none that a person made.
MAX_BYTES = 256 * 2**20


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
class ViewTurn:
    """What a ROTSTEP line says: angles about x, y, z in degrees and ``REL``, ``ABS`` or ``ADD``."""

    angles_deg: tuple[float, float, float]
    kind: str


@dataclass(frozen=True, slots=True)
class StepEnd:
    """A STEP or ROTSTEP line.

    Attributes:
        turn: of a ROTSTEP: the view from this step on; of ``ROTSTEP END`` and STEP: None.
        ends_turn: a ``ROTSTEP END``.
    """

    line: int
    turn: ViewTurn | None = None
    ends_turn: bool = False


@dataclass(frozen=True, slots=True)
class Note:
    """Something in a file that is left out or read in a simpler way."""

    line: int
    text: str


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
        digest: of the text, as hexadecimal digits.
        text: the lines themselves, kept for parts inside a model file; else "".
        colour_lines: ``!COLOUR`` definitions with their line numbers.
        notes: what is not read.
    """

    name: str
    source: str
    line: int
    title: str
    header: Mapping[str, str]
    items: tuple[Reference | StepEnd, ...]
    shapes: Shapes
    certified: bool
    digest: str
    text: str = ""
    colour_lines: tuple[tuple[int, str], ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(item for item in self.items if isinstance(item, Reference))

    @property
    def moved_to(self) -> str | None:
        """Name of the file this one was renamed to (``~Moved to``), normalised."""
        return moved_to(self.title)

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
    """A file's sections by normalised name; the first is the main model.

    Attributes:
        data: embedded files (``0 !DATA``) by their normalised names.
    """

    path: str
    sections: Mapping[str, Section]
    data: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def main(self) -> Section:
        return next(iter(self.sections.values()))

    @property
    def notes(self) -> tuple[str, ...]:
        """What is not read, as ``file:line: text``."""
        return tuple(f"{s.where(note.line)}: {note.text}" for s in self.sections.values() for note in s.notes)


@lru_cache(4096)
def normalise(name: str) -> str:
    """The form in which LDraw file names are compared: lower case, forward slashes, single spaces."""
    return " ".join(name.lower().replace("\\", "/").split())


def moved_to(title: str) -> str | None:
    """The name in a ``~Moved to`` title, normalised; None for any other title."""
    if not title.lower().startswith("~moved to"):
        return None
    name = normalise(title[len("~moved to") :])
    return name if name.endswith(".dat") else f"{name}.dat"


def title_of(data: bytes) -> str:
    """The title of a file without parsing the rest of it."""
    for line in _LINE_END.split(decode_text(data[:1000])):
        if line.strip():
            words = line.split(None, 1)
            return words[1].strip() if len(words) == 2 and words[0] == "0" else ""
    return ""


def read_model_bytes(path: Path) -> bytes:
    """The bytes of a model file.

    Raises:
        BadInputError: absent, unreadable, no regular file, or larger than any model.
    """
    if path.exists() and not path.is_file():
        raise BadInputError("is no file", where=str(path), fix="name a .ldr, .mpd or .dat file")
    if path.exists() and path.stat().st_size > MAX_BYTES:
        raise BadInputError(
            f"larger than {MAX_BYTES // 2**20} MiB", where=str(path), fix="no LDraw file is that large"
        )
    return read_bytes(path)


def read_document(path: Path) -> Document:
    """Parse a file from disk; errors as for ``parse_document``."""
    return parse_document(read_model_bytes(path), source=str(path), name=path.name, keep_text=True)


def parse_document(data: bytes, *, source: str, name: str, keep_text: bool = False) -> Document:
    """Parse the bytes of a .ldr, .dat or .mpd file: UTF-8 (with or without BOM), UTF-16 with BOM or latin-1, any
    line ends.

    Args:
        source: for messages. ``name``: of the section if the file has no FILE lines.
        keep_text: keep the lines of sections that are parts.

    Raises:
        BadInputError: binary data, a broken line, a line outside all sections, two sections of one name; with
            file:line.
    """
    text = decode_text(data)
    if "\0" in text:
        number = text[: text.index("\0")].count("\n") + 1
        raise BadInputError(
            "is no LDraw text, but binary data", where=f"{source}:{number}", fix="check the file"
        )
    lines = _LINE_END.split(text)
    splitter = _Splitter(source, name, lines, keep_text)
    for number, line in enumerate(lines, start=1):
        splitter.feed(line, number)
    splitter.close(len(lines) + 1)
    return Document(source, splitter.sections, splitter.data)


def decode_text(data: bytes) -> str:
    """UTF-8, UTF-16 with a byte order mark, else latin-1."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


class _Splitter:
    """Deals the lines of a file out to its FILE and !DATA sections."""

    def __init__(self, source: str, name: str, lines: list[str], keep_text: bool) -> None:
        self.sections: dict[str, Section] = {}
        self.data: dict[str, bytes] = {}
        self._source = source
        self._lines = lines
        self._keep_text = keep_text
        self._parser: _SectionParser | None = _SectionParser(name, source, 1)
        self._embedded: _EmbeddedFile | None = None
        self._multi = False

    def feed(self, line: str, number: int) -> None:
        words = line.split(None, 2) if line.lstrip()[:1] == "0" else []
        command = words[1].upper() if len(words) > 1 and words[0] == "0" else ""
        if command in ("FILE", "!DATA") and len(words) == 3:
            self._open(command, words[2], number)
        elif command == "NOFILE" and self._multi:
            self.close(number)
        elif self._embedded is not None:
            self._embedded.feed(line, number)
        elif self._parser is not None:
            self._parser.feed(line, number)
        elif line.strip() and not words:
            raise BadInputError("a line outside all FILE sections", where=f"{self._source}:{number}")

    def _open(self, command: str, name: str, number: int) -> None:
        if not self._multi and self._parser is not None:
            if command == "FILE" and self._parser.drew:
                raise BadInputError("lines before the first FILE", where=f"{self._source}:{number}")
            # What stands before the first FILE is a comment; before the first !DATA it is the model.
            if command == "FILE":
                self._parser = None
        self.close(number)
        self._multi = True
        if command == "FILE":
            self._parser = _SectionParser(name, self._source, number)
        else:
            self._embedded = _EmbeddedFile(normalise(name), self._source, number)

    def close(self, number: int) -> None:
        """End the open section; it does not hold line ``number``."""
        if self._embedded is not None:
            self.data[self._embedded.name] = self._embedded.finish()
        elif self._parser is not None:
            text = "\n".join(self._lines[self._parser.start - 1 : number - 1])
            section = self._parser.finish(text, self._keep_text)
            if section.name in self.sections:
                raise BadInputError(
                    f"a second section named {section.name}", where=section.where(section.line)
                )
            self.sections[section.name] = section
        self._embedded = self._parser = None


@dataclass(slots=True)
class _EmbeddedFile:
    """A !DATA block: lines ``0 !: BASE64``."""

    name: str
    source: str
    start: int
    digits: list[str] = field(default_factory=list)

    def feed(self, line: str, number: int) -> None:
        words = line.split(None, 2)
        if words[:2] == ["0", "!:"] and len(words) == 3:
            self.digits.append(words[2].strip())
        elif words and words[0] != "0":
            raise BadInputError("a line outside all FILE sections", where=f"{self.source}:{number}")

    def finish(self) -> bytes:
        try:
            return base64.b64decode("".join(self.digits), validate=True)
        except ValueError as error:
            raise BadInputError(
                f"the embedded file {self.name} is no base64 ({error})", where=f"{self.source}:{self.start}"
            ) from error


@dataclass(slots=True)
class _Lines:
    """Lines of one type, their numbers still words: turned into an array all at once."""

    kind: int
    words: list[str] = field(default_factory=list)
    colours: list[int] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    def values(self, source: str) -> FloatArray:
        """(n, count); raises BadInputError naming the first line with a word that is no number."""
        count = _NUMBERS[self.kind]
        if not self.words:
            return np.zeros((0, count))
        try:
            found = np.array(list(map(float, self.words)), dtype=np.float64).reshape(-1, count)
        except ValueError:
            found = np.array([_number(word) for word in self.words]).reshape(-1, count)
        bad = np.flatnonzero(~(np.abs(found) <= _LARGEST).all(axis=1))
        if len(bad):
            raise _broken(self.kind, source, self.numbers[int(bad[0])])
        return found


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _broken(kind: int, source: str, number: int) -> BadInputError:
    tail = " and a file name" if kind == 1 else ""
    return BadInputError(
        f"a broken line: type {kind} takes a colour, {_NUMBERS[kind]} numbers{tail}",
        where=f"{source}:{number}",
    )


@dataclass(slots=True)
class _SectionParser:
    """Collects one section line by line."""

    name: str
    source: str
    start: int
    title: str = ""
    header: dict[str, str] = field(default_factory=dict)
    #: References as (line, colour, name, inverted, clipped), in order with step ends.
    items: list[tuple[int, int, str, bool, bool] | StepEnd] = field(default_factory=list)
    lines: dict[int, _Lines] = field(default_factory=lambda: {kind: _Lines(kind) for kind in _NUMBERS})
    #: For each polygon in order: 3 or 4 corners, clockwise, two-sided.
    polygons: list[tuple[int, bool, bool]] = field(default_factory=list)
    colour_lines: list[tuple[int, str]] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    certified: bool = False
    clockwise: bool = False
    clipped: bool = True
    invert_next: bool = False

    @property
    def drew(self) -> bool:
        return bool(self.items) or any(lines.numbers for lines in self.lines.values())

    def feed(self, line: str, number: int) -> None:
        words = line.split(None, 14)
        if not words:
            return
        kind = words[0]
        if kind == "0":
            self._comment(line.strip()[1:].strip(), number)
        elif kind in ("1", "2", "3", "4", "5"):
            self._draw(int(kind), words, number)
        else:
            raise BadInputError(f"an unknown line type {kind[:20]!r}", where=f"{self.source}:{number}")

    def _comment(self, text: str, number: int) -> None:
        words = text.split()
        command = words[0].upper() if words else ""
        if command in ("STEP", "ROTSTEP"):
            self.items.append(self._step_end(words, number))
        elif command == "BFC":
            self._bfc({word.upper() for word in words[1:]})
        elif command in ("AUTHOR:", "!LICENSE", "!LDRAW_ORG"):
            key = command.strip("!:").lower()
            self.header.setdefault(key, text[len(command) :].strip())
        elif command == "!COLOUR":
            self.colour_lines.append((number, f"0 {text}"))
        elif command == "!TEXMAP" and words[1:2] != ["END"] and words[1:2] != ["FALLBACK"]:
            self.notes.append(Note(number, "a texture (!TEXMAP) is not read, its fallback geometry is"))
        elif text and not self.title and not _META.match(text) and not self.drew:
            self.title = text

    def _step_end(self, words: list[str], number: int) -> StepEnd:
        if words[0].upper() == "STEP":
            return StepEnd(number)
        upper = [word.upper() for word in words[1:]]
        if upper == ["END"]:
            return StepEnd(number, ends_turn=True)
        angles = [_number(word) for word in upper[:3]]
        kind = "".join(upper[3:]) or "REL"
        if len(angles) != 3 or not np.isfinite(angles).all() or kind not in ("REL", "ABS", "ADD"):
            self.notes.append(Note(number, "a broken ROTSTEP ends the step, but turns nothing"))
            return StepEnd(number)
        return StepEnd(number, ViewTurn((angles[0], angles[1], angles[2]), kind))

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

    def _draw(self, kind: int, words: list[str], number: int) -> None:
        lines = self.lines[kind]
        if len(words) != _NUMBERS[kind] + (3 if kind == 1 else 2):
            raise _broken(kind, self.source, number)
        try:
            colour = _colour(words[1])
        except ValueError as error:
            raise _broken(kind, self.source, number) from error
        lines.words += words[2:14]
        lines.colours.append(colour)
        lines.numbers.append(number)
        inverted, self.invert_next = self.invert_next, False
        if kind == 1:
            self.items.append((number, colour, normalise(words[14]), inverted, self.clipped))
        elif kind in (3, 4):
            self.polygons.append((kind, self.clockwise, not self.clipped))

    def finish(self, text: str, keep_text: bool) -> Section:
        section = Section(
            normalise(self.name),
            self.source,
            self.start,
            self.title,
            self.header,
            self._items(),
            self._shapes(),
            self.certified,
            hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=16).hexdigest(),
            "",
            tuple(self.colour_lines),
            tuple(self.notes),
        )
        return replace(section, text=text) if keep_text and section.is_part else section

    def _items(self) -> tuple[Reference | StepEnd, ...]:
        values = self.lines[1].values(self.source)
        matrices = np.zeros((len(values), 4, 4))
        matrices[:, :3, 3] = values[:, :3]
        matrices[:, :3, :3] = values[:, 3:].reshape(-1, 3, 3)
        matrices[:, 3, 3] = 1.0
        placed = iter(matrices)
        return tuple(
            item
            if isinstance(item, StepEnd)
            else Reference(item[0], item[1], next(placed), item[2], item[3], item[4])
            for item in self.items
        )

    def _shapes(self) -> Shapes:
        kinds = np.array([kind for kind, _, _ in self.polygons], dtype=np.int32)
        corners = np.zeros((len(kinds), 4, 3))
        colours = np.zeros(len(kinds), dtype=np.int32)
        for kind in (3, 4):
            corners[kinds == kind, :kind] = self.lines[kind].values(self.source).reshape(-1, kind, 3)
            colours[kinds == kind] = self.lines[kind].colours
        clockwise = np.array([cw for _, cw, _ in self.polygons], dtype=bool)
        two_sided = np.array([two for _, _, two in self.polygons], dtype=bool) | (not self.certified)
        # A clockwise polygon is turned about its first corner, so that a quad is split along the same diagonal.
        for kind, order in ((3, [0, 2, 1]), (4, [0, 3, 2, 1])):
            turned = clockwise & (kinds == kind)
            corners[turned, :kind] = corners[turned][:, order]
        both = np.stack([corners[:, [0, 1, 2]], corners[:, [0, 2, 3]]], axis=1)
        there = np.column_stack([np.ones(len(kinds), dtype=bool), kinds == 4])
        return Shapes(
            triangles=both[there],
            triangle_colours=np.repeat(colours, there.sum(axis=1)).astype(np.int32),
            two_sided=np.repeat(two_sided, there.sum(axis=1)),
            edges=self.lines[2].values(self.source).reshape(-1, 2, 3),
            edge_colours=np.array(self.lines[2].colours, dtype=np.int32),
            conditional=self.lines[5].values(self.source).reshape(-1, 4, 3),
        )


@lru_cache(4096)
def _colour(word: str) -> int:
    """A colour code, decimal or 0x…; ValueError if it is none."""
    code = int(word, 16) if word[:2].lower() == "0x" else int(word)
    if not 0 <= code < _COLOUR_LIMIT:
        raise ValueError(f"{word} is no colour")
    return code
