"""An LDraw parts library on disk: a folder or an archive such as complete.zip."""

from __future__ import annotations

import hashlib
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

from jarvis_core.errors import BadInputError

from jarvis_bricks.ldraw.document import Section, moved_to, normalise, parse_document, title_of

#: Where systems usually keep the library; looked at last.
USUAL_FOLDERS = (
    Path("/usr/share/ldraw"),
    Path("/usr/local/share/ldraw"),
    Path("/opt/ldraw"),
    Path.home() / "ldraw",
    Path.home() / "LDraw",
)

#: Folders searched for a referenced name, in order. ``s/…``, ``48/…`` and ``8/…`` are part of the name.
_SEARCHED = ("parts", "p", "unofficial/parts", "unofficial/p")


class LDrawLibrary:
    """Looks files up regardless of case and parses each at most once.

    Args:
        root: the folder that holds ``parts`` and ``p``, or a zip archive of it.

    Raises:
        BadInputError: ``root`` is neither.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._archive: zipfile.ZipFile | None = None
        self._files: Mapping[str, str] = self._index()
        self._sections: dict[str, Section | None] = {}
        self._final_names: dict[str, str | None] = {}
        self._digests: dict[str, str] = {}
        if not any(name.startswith("parts/") for name in self._files):
            raise BadInputError(
                "no LDraw library (no folder 'parts' with files in it)",
                where=str(root),
                fix="name the folder, or the complete.zip, of an LDraw parts library",
            )

    @classmethod
    def find(cls, explicit: Path | None = None) -> LDrawLibrary | None:
        """The library named by ``explicit`` (option --ldraw-library), by LDRAWDIR, or in a usual folder; else None.

        Raises:
            BadInputError: a library was named but isn't one.
        """
        named = explicit or (Path(os.environ["LDRAWDIR"]) if os.environ.get("LDRAWDIR") else None)
        if named is not None:
            return cls(named)
        return next((cls(folder) for folder in USUAL_FOLDERS if (folder / "parts").is_dir()), None)

    def section(self, name: str) -> Section | None:
        """The parsed file of a (normalised or not) referenced name, ``~Moved to`` not followed; None if absent."""
        key = normalise(name)
        if key not in self._sections:
            self._sections[key] = self._load(key)
        return self._sections[key]

    def resolve(self, name: str) -> Section | None:
        """Like ``section``, with ``~Moved to`` followed.

        Raises:
            BadInputError: files that were moved in a circle.
        """
        seen: list[str] = []
        section = self.section(name)
        while section is not None and section.moved_to is not None:
            if section.name in seen:
                raise BadInputError(f"moved in a circle: {' -> '.join(seen)}", where=section.source)
            seen.append(section.name)
            section = self.section(section.moved_to)
        return section

    def final_name(self, name: str) -> str | None:
        """The name that ``resolve(name)`` has, without parsing files; None if absent. Errors as ``resolve``."""
        key = normalise(name)
        if key not in self._final_names:
            self._final_names[key] = self._follow(key)
        return self._final_names[key]

    def _follow(self, key: str) -> str | None:
        seen: list[str] = []
        current: str | None = key
        while current is not None:
            found = self._find(current)
            if found is None:
                return None
            if current in seen:
                raise BadInputError(
                    f"moved in a circle: {' -> '.join(seen)}", where=str(self.root / found[0])
                )
            seen.append(current)
            target = moved_to(title_of(found[1]))
            if target is None:
                return current
            current = target
        return None

    def digest(self, name: str) -> str | None:
        """Of the name and bytes of the file that ``resolve(name)`` reads; None if absent. Errors as ``resolve``."""
        final = self.final_name(name)
        if final is None:
            return None
        if final not in self._digests:
            found = self._find(final)
            data = found[1] if found is not None else b""
            self._digests[final] = hashlib.blake2b(final.encode() + b"\0" + data, digest_size=16).hexdigest()
        return self._digests[final]

    def low_resolution(self, name: str) -> Section | None:
        """The 8-segment variant (``p/8``) of a primitive, if there is one."""
        return self.section(f"8/{name}") if f"p/8/{name}" in self._files else None

    def text(self, relative: str) -> bytes | None:
        """The bytes of a file given by its path in the library (any case), e.g. ``LDConfig.ldr``; None if absent."""
        real = self._files.get(relative.lower())
        if real is None:
            return None
        if self._archive is not None:
            return self._archive.read(real)
        return (self.root / real).read_bytes()

    def part_names(self) -> list[str]:
        """Names without ``.dat`` of all official parts, sorted."""
        return sorted(
            name[len("parts/") : -len(".dat")]
            for name in self._files
            if name.startswith("parts/") and name.endswith(".dat") and name.count("/") == 1
        )

    def _load(self, key: str) -> Section | None:
        found = self._find(key)
        if found is None:
            return None
        return parse_document(found[1], source=str(self.root / found[0]), name=key).main

    def _find(self, key: str) -> tuple[str, bytes] | None:
        """Real relative path and bytes of a referenced file."""
        for folder in _SEARCHED:
            data = self.text(f"{folder}/{key}")
            if data is not None:
                return self._files[f"{folder}/{key}"], data
        return None

    def _index(self) -> dict[str, str]:
        """Lower-case relative path -> real relative path."""
        if self.root.is_file() and zipfile.is_zipfile(self.root):
            self._archive = zipfile.ZipFile(self.root)
            names = [name for name in self._archive.namelist() if not name.endswith("/")]
            prefix = next((n[: -len("parts/")] for n in _folders(names) if n.lower().endswith("parts/")), "")
            return {n[len(prefix) :].lower(): n for n in names if n.startswith(prefix)}
        files: dict[str, str] = {}
        for folder, _, names in os.walk(self.root, followlinks=True):
            relative = Path(folder).relative_to(self.root)
            for name in names:
                path = (relative / name).as_posix()
                files[path.lower()] = path
        return files


def _folders(names: list[str]) -> list[str]:
    """Folders of archive members, shortest first."""
    return sorted({name.rpartition("/")[0] + "/" for name in names}, key=lambda n: (n.count("/"), n))
