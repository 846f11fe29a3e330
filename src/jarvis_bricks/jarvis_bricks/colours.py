"""LDraw colours: from a library's LDConfig.ldr, or the built-in table of common ones."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

from jarvis_core.errors import BadInputError

from jarvis_bricks.ldraw.document import Document
from jarvis_bricks.library import LDrawLibrary

#: Direct colours: 0x2RRGGBB opaque, 0x3RRGGBB transparent.
_DIRECT_OPAQUE = 0x2000000
_DIRECT_TRANSPARENT = 0x3000000


@dataclass(frozen=True, slots=True)
class Colour:
    """One colour.

    Attributes:
        rgb, edge: red, green, blue, 0-255: of the surface and of its edge lines.
        alpha: 255 opaque, 0 invisible.
        material: ``SOLID``, ``CHROME``, ``PEARLESCENT``, ``RUBBER``, ``MATTE_METALLIC``, ``METAL`` or the word
            after MATERIAL (``GLITTER``, ``SPECKLE``, …).
    """

    code: int
    name: str
    rgb: tuple[int, int, int]
    edge: tuple[int, int, int]
    alpha: int = 255
    material: str = "SOLID"

    @property
    def words(self) -> str:
        """The name as people say it: ``Dark Bluish Grey``."""
        return self.name.replace("_", " ")


class ColourTable:
    """Colours by code. Direct colours (0x2RRGGBB, 0x3RRGGBB) are always known."""

    def __init__(self, colours: Iterable[Colour]) -> None:
        self.colours: Mapping[int, Colour] = MappingProxyType({c.code: c for c in colours})

    @cached_property
    def digest(self) -> str:
        """Of all colours, as hexadecimal digits."""
        listed = repr([self.colours[code] for code in sorted(self.colours)])
        return hashlib.blake2b(listed.encode(), digest_size=16).hexdigest()

    @classmethod
    def load(cls, library: LDrawLibrary | None) -> ColourTable:
        """The library's own table, or the built-in one without library or LDConfig.ldr."""
        data = library.text("ldconfig.ldr") if library is not None else None
        if library is None or data is None:
            return builtin_colours()
        return _library_table(data.decode("utf-8-sig", errors="replace"), str(library.root / "LDConfig.ldr"))

    @classmethod
    def for_model(cls, document: Document, library: LDrawLibrary | None) -> ColourTable:
        """The library's table and the colours that a model file defines itself, which go first."""
        table = cls.load(library)
        own = [
            _parse_line(text, section.where(line))
            for section in document.sections.values()
            for line, text in section.colour_lines
        ]
        return cls([*table.colours.values(), *own]) if own else table

    @classmethod
    def parse(cls, text: str, *, where: str) -> ColourTable:
        """From the ``0 !COLOUR`` lines of an LDConfig.ldr. Raises BadInputError naming file and line."""
        lines = enumerate(text.splitlines(), start=1)
        found = [
            _parse_line(line, f"{where}:{n}") for n, line in lines if line.split()[:2] == ["0", "!COLOUR"]
        ]
        if not found:
            raise BadInputError("no !COLOUR lines", where=where)
        return cls(found)

    def __contains__(self, code: int) -> bool:
        return code in self.colours or _DIRECT_OPAQUE <= code < _DIRECT_OPAQUE + 0x2000000

    def get(self, code: int) -> Colour:
        """Raises BadInputError: an unknown code."""
        known = self.colours.get(code)
        if known is not None:
            return known
        if code in self:
            rgb = ((code >> 16) & 0xFF, (code >> 8) & 0xFF, code & 0xFF)
            alpha = 128 if code >= _DIRECT_TRANSPARENT else 255
            return Colour(code, f"Direct_{code & 0xFFFFFF:06X}", rgb, _contrast(rgb), alpha)
        raise BadInputError(
            f"unknown colour {code}", fix="give an LDraw library with a newer LDConfig.ldr (--ldraw-library)"
        )

    def edge_code(self, code: int) -> int:
        """The edge colour of ``code`` as a direct colour code."""
        red, green, blue = self.get(code).edge
        return _DIRECT_OPAQUE | red << 16 | green << 8 | blue


@lru_cache(4)
def _library_table(text: str, where: str) -> ColourTable:
    """Asked for with every model of a collection."""
    return ColourTable.parse(text, where=where)


def _parse_line(line: str, where: str) -> Colour:
    words = line.split()
    # What follows MATERIAL describes the grains in it, with the same keywords.
    upper = [word.upper() for word in words]
    end = upper.index("MATERIAL") if "MATERIAL" in upper else len(words)
    values = {upper[i]: words[i + 1] for i in range(3, end - 1)}
    try:
        edge = values["EDGE"]
        rgb = _rgb(values["VALUE"])
        return Colour(
            code=int(values["CODE"], 0),
            name=words[2],
            rgb=rgb,
            edge=_rgb(edge) if edge[:1] == "#" or edge[:2].lower() == "0x" else _contrast(rgb),
            alpha=int(values.get("ALPHA", "255")),
            material=_material(words),
        )
    except (KeyError, ValueError, IndexError) as error:
        raise BadInputError(f"a broken !COLOUR line ({error})", where=where) from error


def _material(words: list[str]) -> str:
    upper = [word.upper() for word in words[3:]]
    if "MATERIAL" in upper[:-1]:
        return upper[upper.index("MATERIAL") + 1]
    finishes = ("CHROME", "PEARLESCENT", "RUBBER", "MATTE_METALLIC", "METAL")
    return next((finish for finish in finishes if finish in upper), "SOLID")


def _rgb(text: str) -> tuple[int, int, int]:
    match = re.fullmatch(r"(?:#|0x)([0-9a-f]{6})", text, re.IGNORECASE)
    if match is None:
        raise ValueError(f"{text!r} is no colour value")
    value = int(match[1], 16)
    return (value >> 16, (value >> 8) & 0xFF, value & 0xFF)


def _contrast(rgb: tuple[int, int, int]) -> tuple[int, int, int]:
    """Black on light colours, grey on dark ones."""
    luma = 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]
    return (0x33, 0x33, 0x33) if luma > 80 else (0x80, 0x80, 0x80)


def builtin_colours() -> ColourTable:
    """The common colours, for use without a library."""
    return ColourTable(
        Colour(code, name, _rgb(f"#{value}"), _rgb(f"#{edge}"), alpha)
        for code, name, value, edge, alpha in _BUILTIN
    )


#: code, name, value, edge, alpha: the values published in LDConfig.ldr of LDraw.org.
_BUILTIN: tuple[tuple[int, str, str, str, int], ...] = (
    (16, "Main_Colour", "FFFF80", "333333", 255),
    (24, "Edge_Colour", "7F7F7F", "333333", 255),
    (0, "Black", "1B2A34", "808080", 255),
    (1, "Blue", "1E5AA8", "333333", 255),
    (2, "Green", "00852B", "333333", 255),
    (3, "Dark_Turquoise", "069D9F", "333333", 255),
    (4, "Red", "B40000", "333333", 255),
    (5, "Dark_Pink", "D3359D", "333333", 255),
    (6, "Brown", "543324", "1E1E1E", 255),
    (7, "Light_Grey", "8A928D", "333333", 255),
    (8, "Dark_Grey", "545955", "333333", 255),
    (9, "Light_Blue", "97CBD9", "333333", 255),
    (10, "Bright_Green", "58AB41", "333333", 255),
    (11, "Light_Turquoise", "00AAA4", "333333", 255),
    (12, "Salmon", "F06D61", "333333", 255),
    (13, "Pink", "F6A9BB", "333333", 255),
    (14, "Yellow", "FAC80A", "333333", 255),
    (15, "White", "F4F4F4", "333333", 255),
    (17, "Light_Green", "ADD9A8", "333333", 255),
    (18, "Light_Yellow", "FFD67F", "333333", 255),
    (19, "Tan", "B0A06F", "333333", 255),
    (20, "Light_Violet", "AFBED6", "333333", 255),
    (22, "Purple", "671F81", "333333", 255),
    (25, "Orange", "D67923", "333333", 255),
    (26, "Magenta", "901F76", "333333", 255),
    (27, "Lime", "A5CA18", "333333", 255),
    (28, "Dark_Tan", "897D62", "333333", 255),
    (29, "Bright_Pink", "FF9ECD", "333333", 255),
    (30, "Medium_Lavender", "A06EB9", "333333", 255),
    (31, "Lavender", "CDA4DE", "333333", 255),
    (33, "Trans_Dark_Blue", "0020A0", "000B38", 128),
    (34, "Trans_Green", "237841", "174F2B", 128),
    (35, "Trans_Bright_Green", "56E646", "27AF18", 128),
    (36, "Trans_Red", "C91A09", "660D05", 128),
    (40, "Trans_Black", "635F52", "2A2823", 128),
    (41, "Trans_Medium_Blue", "559AB7", "326276", 128),
    (42, "Trans_Neon_Green", "C0FF00", "739900", 128),
    (43, "Trans_Light_Blue", "AEE9EF", "59D1DE", 128),
    (46, "Trans_Yellow", "F5CD2F", "B49208", 128),
    (47, "Trans_Clear", "FCFCFC", "C9C9C9", 128),
    (57, "Trans_Orange", "F08F1C", "9E5C0A", 128),
    (70, "Reddish_Brown", "5F3109", "808080", 255),
    (71, "Light_Bluish_Grey", "969696", "333333", 255),
    (72, "Dark_Bluish_Grey", "646464", "333333", 255),
    (73, "Medium_Blue", "7396C8", "333333", 255),
    (74, "Medium_Green", "7FC475", "333333", 255),
    (77, "Light_Pink", "FECCCF", "333333", 255),
    (84, "Medium_Nougat", "AA7D55", "333333", 255),
    (85, "Medium_Lilac", "441A91", "333333", 255),
    (86, "Medium_Brown", "7B5D41", "333333", 255),
    (110, "Violet", "26469A", "333333", 255),
    (115, "Medium_Lime", "B7D425", "333333", 255),
    (118, "Aqua", "9CD6CC", "333333", 255),
    (120, "Light_Lime", "DEEA92", "333333", 255),
    (151, "Very_Light_Bluish_Grey", "C8C8C8", "333333", 255),
    (179, "Flat_Silver", "898788", "333333", 255),
    (191, "Bright_Light_Orange", "FCAC00", "333333", 255),
    (212, "Bright_Light_Blue", "9DC3F7", "333333", 255),
    (226, "Bright_Light_Yellow", "FFEC6C", "333333", 255),
    (232, "Sky_Blue", "77C9D8", "333333", 255),
    (272, "Dark_Blue", "19325A", "333333", 255),
    (288, "Dark_Green", "00451A", "808080", 255),
    (297, "Pearl_Gold", "AA7F2E", "333333", 255),
    (308, "Dark_Brown", "352100", "808080", 255),
    (320, "Dark_Red", "720012", "333333", 255),
    (321, "Dark_Azure", "469BC3", "333333", 255),
    (322, "Medium_Azure", "68C3E2", "333333", 255),
    (323, "Light_Aqua", "D3F2EA", "333333", 255),
    (326, "Yellowish_Green", "E2F99A", "333333", 255),
    (330, "Olive_Green", "77774E", "333333", 255),
    (335, "Sand_Red", "88605E", "333333", 255),
    (353, "Coral", "FF6D77", "333333", 255),
    (366, "Earth_Orange", "D86D2C", "333333", 255),
    (378, "Sand_Green", "708E7C", "333333", 255),
    (379, "Sand_Blue", "70819A", "333333", 255),
    (450, "Fabuland_Brown", "D27744", "333333", 255),
    (462, "Medium_Orange", "F58624", "333333", 255),
    (484, "Dark_Orange", "91501C", "333333", 255),
)
