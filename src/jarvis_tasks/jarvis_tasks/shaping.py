"""Drawing from a pool so that its horizons are distributed like another set's.

All runs of steps of a model make long horizons as frequent as short ones; published task sets hold mostly short
ones. Difficulty is relative to the pool, so its strata mean the same only in a pool of about the same shape.
"""

from __future__ import annotations

import bisect
import hashlib
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence

from jarvis_core.errors import BadInputError

from jarvis_tasks.rows import TaskRow
from jarvis_tasks.statistics import labels


def full_shares(known: Mapping[str, float], starts: Sequence[int]) -> list[float]:
    """The share of each bin; what is left of 1 goes to those that are not known, in equal parts.

    Raises:
        BadInputError: a share of no bin, or shares that are more than 1, or less with none unknown.
    """
    names = labels(starts)
    unknown = len(names) - len(known)
    rest = 1.0 - math.fsum(known.values())
    if not set(known) <= set(names) or rest < -1e-9 or (not unknown and rest > 1e-3):
        raise BadInputError(
            f"shares {dict(known)} are not those of {', '.join(names)}", where="shares by action bricks"
        )
    return [known.get(name, max(rest, 0.0) / max(unknown, 1)) for name in names]


def draw_like(
    rows: Sequence[TaskRow], known: Mapping[str, float], starts: Sequence[int], seed: int
) -> list[TaskRow]:
    """As many tasks as can be drawn with given shares by action bricks, in the order of ``rows``.

    Inside a bin models take turns, so that none gets more than it must; which of its tasks a model gives is decided
    by a seeded hash.

    Args:
        known: shares by label of the bin (see jarvis_tasks.statistics.labels).
        starts: first values of the bins.

    Raises:
        BadInputError: shares that are none, or a bin that should hold tasks and holds none.
    """
    names, shares = labels(starts), full_shares(known, starts)
    by_bin: dict[int, list[TaskRow]] = defaultdict(list)
    for row in rows:
        by_bin[bisect.bisect_right(starts, row.n_act) - 1].append(row)
    wanted = [number for number, share in enumerate(shares) if share > 0]
    empty = [names[number] for number in wanted if number not in by_bin]
    if empty:
        raise BadInputError(f"the pool has no task of {empty[0]} action bricks", fix="give a larger pool")
    total = min(len(by_bin[number]) / shares[number] for number in wanted)
    drawn = {
        row.id
        for number in wanted
        for row in _in_turns(by_bin[number], seed)[: round(total * shares[number])]
    }
    return [row for row in rows if row.id in drawn]


def _in_turns(rows: Sequence[TaskRow], seed: int) -> list[TaskRow]:
    """First one task of every model, then a second one of every model that has one, and so on."""
    hashes = {row.id: hashlib.sha256(f"{seed}\x1f{row.id}".encode()).digest() for row in rows}
    turns: dict[str, int] = defaultdict(int)
    ordered: list[tuple[int, bytes, TaskRow]] = []
    for row in sorted(rows, key=lambda row: hashes[row.id]):
        ordered.append((turns[row.model], hashes[row.id], row))
        turns[row.model] += 1
    return [row for _, _, row in sorted(ordered, key=lambda entry: entry[:2])]
