"""Choosing an evaluation set: strata by difficulty, about uniform steps of difficulty inside each, many models.

1. All tasks are ranked by difficulty D; equal D by action bricks, scene bricks, id. The strata are runs of ranks.
2. The range of D in a stratum that gives k tasks is cut into k intervals of equal width; each chooses one task.
   Where a stratum has no range, every interval holds all of it.
3. Intervals choose one after the other: those that few models have tasks in first, as they have least choice; empty
   ones last. An interval takes a task whose model was chosen least so far; of these one that shares no build
   step with a chosen task of its model, if there is one; of these the one nearest to the interval's middle; of equally
   near ones that with the smallest seeded hash. No model is chosen beyond the cap.
4. An interval without such a task widens by half its width on both sides until it holds one (relaxation "moved").
   If all models left in the stratum are at the cap, the cap does not hold for this choice ("cap").

Nothing depends on the order in which the pool is given.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

from jarvis_tasks.config import SelectionConfig, StratumConfig
from jarvis_tasks.difficulty import DifficultyScale
from jarvis_tasks.rows import TaskRow

IntArray = npt.NDArray[np.int64]
Relaxation = Literal["", "moved", "cap"]


class Stratum(msgspec.Struct, frozen=True):
    """A part of the pool.

    Attributes:
        pool, models: tasks of the pool in it, and the models they come from.
        low, high: smallest and largest difficulty in it.
        count: tasks chosen from it.
    """

    name: str
    pool: int
    models: int
    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """A task of the evaluation set; ``relaxed`` tells which rule it needed an exception from."""

    row: TaskRow
    stratum: str
    difficulty: float
    relaxed: Relaxation


@dataclass(frozen=True, slots=True)
class Selection:
    """An evaluation set: chosen tasks by stratum, then difficulty, then id."""

    scale: DifficultyScale
    strata: tuple[Stratum, ...]
    chosen: tuple[Chosen, ...]

    def relaxations(self) -> tuple[str, ...]:
        """What could not be kept to, in words; empty where everything was."""
        words = {
            "moved": "chosen beside their interval of difficulty, which held no task of a model below the cap",
            "cap": "chosen beyond the cap of tasks per model, as all models of the stratum were at it",
        }
        counts = Counter((c.stratum, c.relaxed) for c in self.chosen if c.relaxed)
        return tuple(
            f"{stratum}: {n} task{'s' if n > 1 else ''} {words[kind]}"
            for (stratum, kind), n in counts.items()
        )


def select(rows: Sequence[TaskRow], config: SelectionConfig) -> Selection:
    """Choose an evaluation set from a pool.

    Raises:
        BadInputError: the pool is empty, holds an id twice, or has fewer tasks in a stratum than it is to give.
    """
    scale = DifficultyScale.of(rows, config.alpha)
    pool = _Pool(rows, scale, config)
    bounds = _bounds(len(rows), config.strata)
    intervals = [
        interval
        for stratum, (first, end) in zip(config.strata, bounds, strict=True)
        for interval in pool.intervals(stratum, first, end)
    ]
    taken = {rank: (interval.stratum, relaxed) for interval, rank, relaxed in pool.choose(intervals)}
    chosen = tuple(
        Chosen(pool.rows[rank], taken[rank][0], float(pool.difficulty[rank]), taken[rank][1])
        for rank in sorted(taken)
    )
    strata = tuple(
        pool.stratum(config_, first, end) for config_, (first, end) in zip(config.strata, bounds, strict=True)
    )
    return Selection(scale, strata, chosen)


def _bounds(n: int, strata: Sequence[StratumConfig]) -> list[tuple[int, int]]:
    """First rank and the rank after the last of each stratum of n tasks."""
    ends = [math.floor(math.fsum(s.share for s in strata[: i + 1]) * n + 0.5) for i in range(len(strata))]
    bounds = list(zip([0, *ends[:-1]], ends, strict=True))
    for stratum, (first, end) in zip(strata, bounds, strict=True):
        if end - first < stratum.count:
            raise BadInputError(
                f"stratum {stratum.name} holds {end - first} of the pool's {n} tasks, {stratum.count} are asked for",
                fix="give a larger pool or ask for fewer tasks",
            )
    return bounds


@dataclass(frozen=True, slots=True)
class _Interval:
    """One choice to make: ranks ``first`` to ``end`` of the stratum, ``own`` ranks inside the interval."""

    stratum: str
    first: int
    end: int
    middle: float
    half_width: float
    own: IntArray
    n_models: int


class _Pool:
    """The pool by rank, and how often each model was chosen."""

    def __init__(self, rows: Sequence[TaskRow], scale: DifficultyScale, config: SelectionConfig) -> None:
        ids = np.array([row.id for row in rows])
        names, counts = np.unique(ids, return_counts=True)
        if len(names) < len(rows):
            raise BadInputError(
                f"the pool holds task {names[counts > 1][0]} twice", fix="give each task once"
            )
        difficulty = scale.values(rows)
        scene, act = np.array([r.n_scene for r in rows]), np.array([r.n_act for r in rows])
        order = np.lexsort((ids, scene, act, difficulty)).tolist()
        self.rows = [rows[i] for i in order]
        self.difficulty: FloatArray = difficulty[order]
        models, self._models = np.unique([row.model for row in self.rows], return_inverse=True)
        self._used = np.zeros(len(models), dtype=np.int64)
        self._free = np.ones(len(rows), dtype=bool)
        self._shares_steps = np.zeros(len(rows), dtype=bool)
        self._steps = np.array([(row.first, row.last) for row in self.rows])
        self._config = config

    def stratum(self, config: StratumConfig, first: int, end: int) -> Stratum:
        part = self.difficulty[first:end]
        low, high = (float(part[0]), float(part[-1])) if len(part) else (0.0, 0.0)
        n_models = len(np.unique(self._models[first:end]))
        return Stratum(config.name, end - first, n_models, low, high, config.count)

    def intervals(self, config: StratumConfig, first: int, end: int) -> list[_Interval]:
        if config.count == 0:
            return []
        part = self.difficulty[first:end]
        low, high = float(part[0]), float(part[-1])
        width = (high - low) / config.count
        if width > 0:
            numbers = np.minimum(((part - low) / width).astype(np.int64), config.count - 1)
        found = []
        for index in range(config.count):
            own = first + (np.flatnonzero(numbers == index) if width > 0 else np.arange(len(part)))
            n_models = len(np.unique(self._models[own]))
            middle = low + (index + 0.5) * width
            found.append(_Interval(config.name, first, end, middle, width / 2, own, n_models))
        return found

    def choose(self, intervals: Sequence[_Interval]) -> list[tuple[_Interval, int, Relaxation]]:
        """One rank for each interval."""
        order = sorted(intervals, key=lambda i: (i.n_models == 0, i.n_models, len(i.own), -i.middle))
        return [(interval, *self._choose(interval)) for interval in order]

    def _choose(self, interval: _Interval) -> tuple[int, Relaxation]:
        ranks, relaxed = self._candidates(interval)
        used = self._used[self._models[ranks]]
        ranks = ranks[used == used.min()]
        shares_steps = self._shares_steps[ranks]
        ranks = ranks[shares_steps == shares_steps.min()]
        distance = np.abs(self.difficulty[ranks] - interval.middle)
        ranks = ranks[distance == distance.min()]
        rank = min(ranks.tolist(), key=lambda r: self._hash(self.rows[r].id))
        self._take(rank)
        return rank, relaxed

    def _take(self, rank: int) -> None:
        self._free[rank] = False
        self._used[self._models[rank]] += 1
        first, last = self._steps[rank]
        overlaps = (self._steps[:, 0] <= last) & (self._steps[:, 1] >= first)
        self._shares_steps |= overlaps & (self._models == self._models[rank])

    def _candidates(self, interval: _Interval) -> tuple[IntArray, Relaxation]:
        """Ranks to choose from; never empty, as a stratum has at least as many tasks as intervals."""
        below_cap = self._used < self._config.model_cap
        own = interval.own[self._free[interval.own] & below_cap[self._models[interval.own]]]
        if len(own):
            return own, ""
        everywhere = np.arange(interval.first, interval.end)
        free = everywhere[self._free[everywhere]]
        allowed = free[below_cap[self._models[free]]]
        relaxed: Relaxation = "moved" if len(allowed) else "cap"
        return self._near(allowed if len(allowed) else free, interval), relaxed

    def _near(self, ranks: IntArray, interval: _Interval) -> IntArray:
        """Those within the interval, widened by as many halves of its width as it takes to hold one."""
        distance = np.abs(self.difficulty[ranks] - interval.middle)
        if interval.half_width == 0:
            return ranks
        reach = max(1, math.ceil(float(distance.min()) / interval.half_width)) * interval.half_width
        near = ranks[distance <= reach]
        return near if len(near) else ranks[distance == distance.min()]

    def _hash(self, name: str) -> bytes:
        return hashlib.sha256(f"{self._config.seed}\x1f{name}".encode()).digest()
