"""Means with bootstrap intervals, and comparisons of two agents on the same episodes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec
import numpy as np
from jarvis_core.config import Config
from jarvis_core.pose import FloatArray

Bin = tuple[int, int | None]


class TablesConfig(Config, frozen=True):
    """Read from config/tables.yaml.

    Attributes:
        resamples, confidence, seed: of the bootstrap.
        most_blocks: larger samples are resampled in so many random blocks.
        strata: names of strata, in the order in which tables show them.
        act_bins, scene_bins: numbers of bricks, both ends included; null is no end.
        most_rounds: columns of rounds that the table of reflection shows; later rounds are in the final score.
        most_named: missing episodes, and episodes that changed, that are named; all are counted.
    """

    resamples: int
    confidence: float
    seed: int
    most_blocks: int
    strata: tuple[str, ...]
    act_bins: tuple[Bin, ...]
    scene_bins: tuple[Bin, ...]
    most_rounds: int
    most_named: int

    def __post_init__(self) -> None:
        if self.resamples < 1 or self.most_blocks < 2 or not 0.0 < self.confidence < 1.0:
            raise ValueError("resamples >= 1, most_blocks >= 2 and confidence between 0 and 1 are needed")
        if self.most_rounds < 1 or self.most_named < 1:
            raise ValueError("most_rounds and most_named must be >= 1")


class Estimate(msgspec.Struct, frozen=True):
    """A mean over ``n`` results and its bootstrap interval; of one result the interval is that result."""

    mean: float
    low: float
    high: float
    n: int


def estimate(values: Sequence[float] | FloatArray, config: TablesConfig) -> Estimate | None:
    """Mean and percentile bootstrap interval (Efron); None of nothing.

    A sample of more than ``most_blocks`` is first averaged in so many random blocks of equal size (a few values may be
    left out of the resampling, never of the mean): the spread of a mean of block means is that of the mean.
    """
    sample = np.asarray(values, dtype=np.float64)
    if not len(sample):
        return None
    mean = float(sample.mean())
    if len(sample) > config.most_blocks:
        size = len(sample) // config.most_blocks
        shuffled = np.random.default_rng(config.seed).permutation(sample)
        sample = shuffled[: size * config.most_blocks].reshape(-1, size).mean(axis=1)
    means = _shares(len(sample), config.resamples, config.seed) @ sample
    tail = 50.0 * (1.0 - config.confidence)
    low, high = np.percentile(means, (tail, 100.0 - tail))
    return Estimate(mean, min(float(low), mean), max(float(high), mean), len(values))


@lru_cache(maxsize=32)
def _shares(size: int, resamples: int, seed: int) -> FloatArray:
    """(resamples, size) share of each value in each resample: the same for every sample of a size."""
    drawn = np.random.default_rng(seed).integers(0, size, size=(resamples, size))
    drawn += size * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * size)
    return counts.reshape(resamples, size) / size


class Paired(msgspec.Struct, frozen=True):
    """Two agents on the same (task, seed): difference b - a, and how often b was better, equal, worse."""

    a: str
    b: str
    difference: Estimate
    better: int
    equal: int
    worse: int


def paired(
    a: tuple[str, dict[tuple[str, int], float]],
    b: tuple[str, dict[tuple[str, int], float]],
    config: TablesConfig,
) -> Paired | None:
    """Compare two agents by their scores per (task, seed); None where they have no episode in common."""
    common = sorted(a[1].keys() & b[1].keys())
    differences = np.array([b[1][key] - a[1][key] for key in common])
    found = estimate(differences, config)
    if found is None:
        return None
    better, worse = int((differences > 0).sum()), int((differences < 0).sum())
    return Paired(a[0], b[0], found, better, len(common) - better - worse, worse)
