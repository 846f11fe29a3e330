"""Stamps: small files, written last, that say what a step was made from. None, or another: do it again."""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from bootstrap.paths import Layout


def digest(parts: Iterable[str | bytes]) -> str:
    """A hash over the parts in order; the parts' borders count."""
    total = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        total.update(len(data).to_bytes(8, "big"))
        total.update(data)
    return total.hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write `text` so that a reader, or a kill, sees the old file or the new one and never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


class Stamp:
    """The stamp of one named step."""

    def __init__(self, layout: Layout, name: str) -> None:
        self._path = layout.stamps / name

    def read(self) -> str | None:
        """What the step was last finished with; None where it never was, or was interrupted."""
        try:
            return self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def is_current(self, fingerprint: str) -> bool:
        return self.read() == fingerprint

    def clear(self) -> None:
        """To be called before a step starts to change things."""
        self._path.unlink(missing_ok=True)

    def write(self, fingerprint: str) -> None:
        """To be called when the step is finished, and not before."""
        write_atomically(self._path, fingerprint)
