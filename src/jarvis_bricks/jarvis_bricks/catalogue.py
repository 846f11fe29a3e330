"""Everything known of parts, by number: built-in definitions and an LDraw library together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from jarvis_core.errors import BadInputError

from jarvis_bricks.colours import ColourTable
from jarvis_bricks.geometry import PartGeometry
from jarvis_bricks.ldraw.document import Section, normalise, read_document
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.library_part import library_geometry
from jarvis_bricks.parametric import parametric_geometry, parametric_part
from jarvis_bricks.part_cache import DEFAULT_CACHE, PartCache, make_key
from jarvis_bricks.part_mesh import FlatPart, PartFlattener


class PartCatalogue:
    """Geometry of parts, computed once each.

    Where a part is both built in and in the library, the library gives the meshes, the built-in definition gives
    connectors, boxes, symmetries and mass.

    Args:
        library: None: only built-in parts are known.
        inline: parts that a model file holds itself, by section name (see ``for_model``).
        colours: the model's own table; default: the library's.
        cache: where geometry made from files is kept between processes; default: the user's (see ``part_cache``).
    """

    def __init__(
        self,
        library: LDrawLibrary | None = None,
        *,
        inline: Mapping[str, Section] | None = None,
        colours: ColourTable | None = None,
        cache: PartCache | None = DEFAULT_CACHE,
    ) -> None:
        self.library = library
        self.colours = colours or ColourTable.load(library)
        self._inline = dict(inline or {})
        self._cache = PartCache.default() if cache is DEFAULT_CACHE else cache
        self._geometry: dict[str, PartGeometry] = {}
        self._exact = PartFlattener(self._section, self.colours)
        low = library.low_resolution if library is not None else None
        self._simple = PartFlattener(self._section, self.colours, simple=True, low_resolution=low)

    @classmethod
    def for_model(cls, path: Path, library: LDrawLibrary | None = None) -> PartCatalogue:
        """A catalogue that also knows the parts and colours inside a model file."""
        if path.suffix.lower() == ".txt":
            return cls(library)
        document = read_document(path)
        return cls(library, inline=document.sections, colours=ColourTable.for_model(document, library))

    def knows(self, part: str) -> bool:
        """Whether ``geometry`` has an answer. Takes the part number with or without ``.dat``."""
        name = part_name(part)
        return parametric_part(name) is not None or self._section(f"{name}.dat") is not None

    @property
    def n_met(self) -> int:
        """Number of parts whose geometry is in memory."""
        return len(self._geometry)

    def geometry(self, part: str) -> PartGeometry:
        """Raises BadInputError: unknown part, or a library file that lacks something it refers to."""
        name = part_name(part)
        if name not in self._geometry:
            self._geometry[name] = self._make(name)
        return self._geometry[name]

    def section(self, part: str) -> Section | None:
        """The file of a part, in the model or the library; None for a built-in part without one."""
        return self._section(f"{part_name(part)}.dat")

    def flat(self, section: Section) -> FlatPart:
        """A library or inline file with all references followed; errors as ``geometry``."""
        return self._exact.flatten(section)

    def _make(self, name: str) -> PartGeometry:
        section = self._section(f"{name}.dat")
        if section is not None:
            return self._from_file(name, section)
        known = parametric_part(name)
        if known is not None:
            return parametric_geometry(known.part)
        raise BadInputError(
            f"unknown part {name}", fix="give an LDraw library that holds it (--ldraw-library or LDRAWDIR)"
        )

    def _from_file(self, name: str, section: Section) -> PartGeometry:
        """From the cache or the file; a new entry goes into the cache."""
        if self._cache is None:
            return self._compute(name, section)
        key = make_key(name, section.name, section.digest, self.colours.digest)
        geometry = self._cache.load(key, self._digest)
        if geometry is None:
            geometry = self._compute(name, section)
            self._cache.store(key, geometry, {file: self._digest(file) for file in self._files(section)})
        return geometry

    def _compute(self, name: str, section: Section) -> PartGeometry:
        known = parametric_part(part_name(section.name)) or parametric_part(name)
        flat = self.flat(section)
        if known is None:
            return library_geometry(name, section, flat, self._simple.flatten(section).mesh())
        built_in = parametric_geometry(known.part)
        return replace(built_in, description=section.title, source="library", mesh=flat.mesh())

    def _files(self, section: Section) -> set[str]:
        """Names of all files a part is made of but its own, and of simpler ones that could stand in for them."""
        found: set[str] = set()
        waiting = [section]
        while waiting:
            for reference in waiting.pop().references:
                for file in (reference.name, f"8/{reference.name}"):
                    child = self._section(file) if file not in found else None
                    found.add(file)
                    if child is not None:
                        waiting.append(child)
        return found

    def _digest(self, name: str) -> str | None:
        key = normalise(name)
        inline = self._inline.get(key) or self._inline.get(key.removesuffix(".dat"))
        if inline is not None or self.library is None:
            return inline.digest if inline is not None else None
        return self.library.digest(key)

    def _section(self, name: str) -> Section | None:
        key = normalise(name)
        inline = self._inline.get(key) or self._inline.get(key.removesuffix(".dat"))
        if inline is not None or self.library is None:
            return inline
        return self.library.resolve(key)


def part_name(reference: str) -> str:
    """The part number of a referenced file name: lower case, without ``.dat``."""
    return normalise(reference).removesuffix(".dat")
