"""What a pool of tasks looks like, beside the figures published about the task sets of the benchmark."""

from __future__ import annotations

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
from jarvis_core.config import Config, load_config
from jarvis_core.errors import BadInputError

from jarvis_tasks.config import BinsConfig
from jarvis_tasks.rows import TaskRow


class PublishedCounts(Config, frozen=True):
    """Published figures of one number of bricks; None: not published. Shares are by label of the bin."""

    shares: dict[str, float]
    minimum: int | None = None
    mean: float | None = None
    median: float | None = None
    p95: int | None = None
    maximum: int | None = None


class PublishedSet(Config, frozen=True):
    """A published task set."""

    name: str
    tasks: int
    models: int
    act: PublishedCounts
    scene: PublishedCounts
    pearson_r: float | None = None


class Published(Config, frozen=True):
    """Published task sets, where the figures are from, and why ours differ."""

    source: str
    note: str
    sets: tuple[PublishedSet, ...]


class Bin(msgspec.Struct, frozen=True):
    """Tasks whose number of bricks lies in a bin, as a count and as a share of all tasks."""

    label: str
    tasks: int
    share: float


class Counts(msgspec.Struct, frozen=True):
    """How a number of bricks is distributed over the tasks of a pool.

    Attributes:
        p95: the smallest number that at least 95 % of the tasks do not exceed.
    """

    minimum: int
    mean: float
    median: float
    p95: int
    maximum: int
    bins: tuple[Bin, ...]


class PoolStatistics(msgspec.Struct, frozen=True):
    """Figures of a pool.

    Attributes:
        models: number of source models.
        largest_share: of the tasks, that of the model with most of them.
        act, scene: action bricks (the horizon) and scene bricks.
        pearson_r: of scene and action bricks; None where one of them does not vary.
        joint: tasks by bin, ``joint[scene bin][action bin]``.
    """

    tasks: int
    models: int
    largest_share: float
    act: Counts
    scene: Counts
    pearson_r: float | None
    joint: tuple[tuple[int, ...], ...]


class TableRow(msgspec.Struct, frozen=True):
    """One figure of a pool and of the published sets, as text; "–" where there is none."""

    section: str
    figure: str
    ours: str
    published: tuple[str, ...]


def load_published() -> Published:
    """The figures that come with the package."""
    return load_config(Path(__file__).with_name("published.yaml"), Published)


def labels(starts: Sequence[int]) -> tuple[str, ...]:
    """Names of bins by their first values: ``1-2``, ``3-5``, ``>5``."""
    inner = [f"{low}-{end - 1}" if end - low > 1 else str(low) for low, end in itertools.pairwise(starts)]
    return (*inner, f">{starts[-1] - 1}")


def pool_statistics(rows: Sequence[TaskRow], bins: BinsConfig) -> PoolStatistics:
    """Figures of a pool.

    Raises:
        BadInputError: the pool is empty, or a task has fewer bricks than the first bin.
    """
    if not rows:
        raise BadInputError("the pool holds no tasks, so there is nothing to count")
    act = np.array([row.n_act for row in rows])
    scene = np.array([row.n_scene for row in rows])
    per_model = Counter(row.model for row in rows)
    act_bins, scene_bins = _numbers(act, bins.act), _numbers(scene, bins.scene)
    joint = np.zeros((len(bins.scene), len(bins.act)), dtype=np.int64)
    np.add.at(joint, (scene_bins, act_bins), 1)
    varied = np.ptp(act) > 0 and np.ptp(scene) > 0
    return PoolStatistics(
        tasks=len(rows),
        models=len(per_model),
        largest_share=max(per_model.values()) / len(rows),
        act=_counts(act, joint.sum(axis=0).tolist(), bins.act),
        scene=_counts(scene, joint.sum(axis=1).tolist(), bins.scene),
        pearson_r=float(np.corrcoef(scene, act)[0, 1]) if varied else None,
        joint=tuple(tuple(line) for line in joint.tolist()),
    )


type _Array = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


def _numbers(values: _Array, starts: Sequence[int]) -> _Array:
    """Number of the bin of each value, from 0."""
    if values.min() < starts[0]:
        raise BadInputError(
            f"a task has {values.min()} bricks, the first bin begins at {starts[0]}", where="tasks.bins"
        )
    return np.searchsorted(np.asarray(starts), values, side="right") - 1


def _counts(values: _Array, per_bin: Sequence[int], starts: Sequence[int]) -> Counts:
    return Counts(
        minimum=int(values.min()),
        mean=float(values.mean()),
        median=float(np.median(values)),
        p95=int(np.quantile(values, 0.95, method="inverted_cdf")),
        maximum=int(values.max()),
        bins=tuple(
            Bin(label, count, count / len(values))
            for label, count in zip(labels(starts), per_bin, strict=True)
        ),
    )


def comparison(found: PoolStatistics, published: Published) -> tuple[TableRow, ...]:
    """The pool's figures beside the published ones, as text."""
    sets = published.sets
    head = [
        TableRow("pool", "tasks", f"{found.tasks:,}", tuple(f"{s.tasks:,}" for s in sets)),
        TableRow("pool", "source models", f"{found.models:,}", tuple(f"{s.models:,}" for s in sets)),
        TableRow("pool", "largest share of one model", _percent(found.largest_share), ("–",) * len(sets)),
        TableRow(
            "pool",
            "Pearson r of scene and action bricks",
            _number(found.pearson_r, 3),
            tuple(_number(s.pearson_r, 3) for s in sets),
        ),
    ]
    act = _count_rows("action bricks", found.act, [s.act for s in sets])
    return (*head, *act, *_count_rows("scene bricks", found.scene, [s.scene for s in sets]))


def _count_rows(section: str, ours: Counts, published: Sequence[PublishedCounts]) -> Iterator[TableRow]:
    for name, digits in (("minimum", 0), ("mean", 2), ("median", 1), ("p95", 0), ("maximum", 0)):
        others = tuple(_number(getattr(p, name), digits) for p in published)
        figure = "95 % have at most" if name == "p95" else name
        yield TableRow(section, figure, _number(getattr(ours, name), digits), others)
    for part in ours.bins:
        others = tuple(_percent(p.shares.get(part.label)) for p in published)
        yield TableRow(section, f"share of {part.label}", _percent(part.share), others)


def to_csv(rows: Sequence[TableRow], published: Published) -> str:
    """The table as CSV; the last column names where the published figures are from."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["section", "figure", "ours", *(f"published {s.name}" for s in published.sets), "source"])
    source = f"{published.source}; {published.note}"
    for row in rows:
        writer.writerow([row.section, row.figure, row.ours, *row.published, source])
    return out.getvalue()


def _number(value: float | None, digits: int) -> str:
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if digits == 1 else text


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.2f} %"
