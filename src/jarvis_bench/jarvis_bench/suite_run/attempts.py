"""The diary of a run: a line for every episode that was tried. Lines are appended, never changed."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

ATTEMPTS_FILE = "attempts.jsonl"


class Attempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What became of an episode that was tried.

    Attributes:
        done: its record is there.
        score, s_exact: as scored; None of one that is not done.
        reason: why it is not done, in a sentence.
        ended_at: UTC.
    """

    episode_id: str
    done: bool
    wall_s: float
    ended_at: str
    score: float | None = None
    s_exact: float | None = None
    reason: str = ""


def append(run: Path, attempt: Attempt) -> None:
    """Add a line and see it onto the disk."""
    with (run / ATTEMPTS_FILE).open("ab") as file:
        # One write, and one line however the last one ended: a killed process may have left half of one.
        start = b"" if _ends_whole(run / ATTEMPTS_FILE) else b"\n"
        file.write(start + msgspec.json.encode(attempt) + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_attempts(run: Path) -> tuple[list[Attempt], int]:
    """All attempts in order, and how many lines could not be read (a write that was cut off)."""
    path = run / ATTEMPTS_FILE
    found: list[Attempt] = []
    broken = 0
    for line in path.read_bytes().splitlines() if path.is_file() else ():
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=Attempt))
        except (msgspec.DecodeError, UnicodeDecodeError):
            broken += 1
    return found, broken


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"
