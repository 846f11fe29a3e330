"""One picture of a pool of tasks: how many bricks, how they go together, beside the published task sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jarvis_core.files import atomic_path
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.statistics import (
    Counts,
    PoolStatistics,
    Published,
    PublishedCounts,
    comparison,
)
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import MaxNLocator

_OURS, _TEXT, _FAINT = "#1d5fb4", "#22252a", "#6d7078"
#: Of the published sets, in their order.
_PUBLISHED = ("#c9a227", "#a8452c")
#: At most so many bars or cells along a number of bricks, and how many numbers one may hold.
_MOST_CELLS = 44
_WIDTHS = (1, 2, 5, 10, 20, 50, 100, 1000)
#: With fewer tasks in the fullest cell the colours are linear.
_FEW = 20
#: Figures of the small table, as (section, figure) of the comparison; sections share a row of the picture's table.
_FIGURES = ("mean", "median", "95 % have at most", "maximum")


def draw_pool(
    rows: Sequence[TaskRow], found: PoolStatistics, published: Published, title: str, path: Path
) -> None:
    """Write a picture (.png, .svg or .pdf) with both histograms, the joint heat map, shares by bin and key figures.

    Args:
        found: statistics of ``rows``.
        title: names the pool.
    """
    figure = Figure(figsize=(15.5, 8.6), dpi=110, facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.12))
    FigureCanvasAgg(figure)
    axes = figure.subplots(2, 3)
    act, scene = [r.n_act for r in rows], [r.n_scene for r in rows]
    _histogram(axes[0, 0], act, found.act, 1, "action bricks")
    _histogram(axes[0, 1], scene, found.scene, 0, "scene bricks")
    _heat_map(axes[0, 2], scene, act, found.pearson_r)
    _shares(axes[1, 0], found.act, [s.act for s in published.sets], published, "action bricks")
    _shares(axes[1, 1], found.scene, [s.scene for s in published.sets], published, "scene bricks")
    _table(axes[1, 2], found, published)
    figure.suptitle(
        f"{title}: {found.tasks:,} tasks of {found.models:,} models",
        fontsize=16,
        fontweight="bold",
        color=_TEXT,
    )
    figure.supxlabel(f"Published figures: {published.source} – {published.note}.", fontsize=9.5, color=_FAINT)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, metadata={"Software": None} if path.suffix == ".png" else None)


def _plain(axes: Axes, title: str, x: str = "", y: str = "") -> None:
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", color=_TEXT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#b8bac0")
    axes.tick_params(colors=_FAINT, labelsize=9)
    axes.set_xlabel(x, fontsize=10, color=_TEXT)
    axes.set_ylabel(y, fontsize=10, color=_TEXT)


def _edges(values: Sequence[int], first: int) -> list[float]:
    """Edges of equally wide whole-numbered cells from ``first`` on; fewer and wider ones for few tasks."""
    span = max(values) - first + 1
    most = min(_MOST_CELLS, max(8, int(2.5 * math.sqrt(len(values)))))
    width = next((w for w in _WIDTHS if span / w <= most), _WIDTHS[-1])
    count = -(-span // width)
    return [first - 0.5 + width * i for i in range(count + 1)]


def _histogram(axes: Axes, values: Sequence[int], counts: Counts, first: int, what: str) -> None:
    edges = _edges(values, first)
    weights = np.full(len(values), 100 / len(values))
    axes.hist(values, bins=edges, weights=weights, color=_OURS, rwidth=0.88)
    for value, name, style in ((counts.median, "median", "-"), (counts.mean, "mean", ":")):
        axes.axvline(value, color=_TEXT, linestyle=style, linewidth=1.3, label=f"{name} {value:.3g}")
    _plain(axes, f"{what[0].upper()}{what[1:]}", what, "% of tasks")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, fontsize=9)


def _heat_map(axes: Axes, scene: Sequence[int], act: Sequence[int], pearson_r: float | None) -> None:
    cells, x_edges, y_edges = np.histogram2d(scene, act, bins=[_edges(scene, 0), _edges(act, 1)])
    shown = np.ma.masked_equal(cells.T, 0)
    most = float(cells.max())
    norm = LogNorm(vmin=1, vmax=most) if most > _FEW else Normalize(vmin=0, vmax=most)
    mesh = axes.pcolormesh(x_edges, y_edges, shown, cmap="viridis", norm=norm)
    title = "Both together" + ("" if pearson_r is None else f", Pearson r = {pearson_r:.3f}")
    _plain(axes, title, "scene bricks", "action bricks")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    ticks = None if most > _FEW else MaxNLocator(integer=True)
    bar = axes.figure.colorbar(mesh, ax=axes, pad=0.02, ticks=ticks)
    bar.set_label("tasks", fontsize=10, color=_TEXT)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=_FAINT, labelsize=9)


def _shares(
    axes: Axes, ours: Counts, others: Sequence[PublishedCounts], published: Published, what: str
) -> None:
    """Grouped bars: share of tasks by bin, of this pool and of the published sets (an x: not published)."""
    series = [("this pool", _OURS, [b.share for b in ours.bins])]
    for entry, counts, colour in zip(published.sets, others, _PUBLISHED, strict=True):
        if counts.shares:
            shares = [counts.shares.get(b.label) for b in ours.bins]
            series.append((f"published {entry.name}", colour, shares))  # type: ignore[arg-type]
    width = 0.82 / len(series)
    for index, (name, colour, values) in enumerate(series):
        places = np.arange(len(values)) + (index - (len(series) - 1) / 2) * width
        heights = [100 * v if v is not None else 0.0 for v in values]
        axes.bar(places, heights, width * 0.92, color=colour, label=name)
        for place, value, height in zip(places, values, heights, strict=True):
            label = "×" if value is None else _short(height)
            axes.annotate(
                label,
                (place, height),
                xytext=(0, 2),
                textcoords="offset points",
                ha="center",
                fontsize=7.5,
                color=_FAINT,
            )
    axes.set_xticks(np.arange(len(ours.bins)), [b.label for b in ours.bins])
    _plain(axes, f"Shares by {what} (× not published)", what, "% of tasks")
    axes.margins(y=0.12)
    axes.legend(frameon=False, fontsize=9)


def _short(percent: float) -> str:
    return "0" if percent == 0 else f"{percent:.0f}" if percent >= 10 else f"{percent:.2g}"


def _table(axes: Axes, found: PoolStatistics, published: Published) -> None:
    axes.axis("off")
    _plain(axes, "Key figures")
    rows = [
        (f"{row.section.split()[0]}: {row.figure}", row.ours, *row.published)
        for row in comparison(found, published)
        if row.figure in _FIGURES
    ]
    r = "–" if found.pearson_r is None else f"{found.pearson_r:.3f}"
    others = ("–" if s.pearson_r is None else f"{s.pearson_r:.3f}" for s in published.sets)
    rows.append(("Pearson r", r, *others))
    heads = ["", "this pool", *(f"published\n{s.name}" for s in published.sets)]
    table = axes.table([list(row) for row in rows], colLabels=heads, loc="upper center", edges="horizontal")
    table.auto_set_font_size(False)
    table.set_fontsize(9.5)
    table.scale(1.0, 1.7)
    for (line, column), cell in table.get_celld().items():
        cell.set_edgecolor("#e3e2dc")
        if line == 0:
            cell.set_height(1.5 * cell.get_height())
        cell.set_text_props(ha="left" if column == 0 else "right", color=_TEXT if line else _FAINT)
        cell.set_width((0.43, 0.19, 0.19, 0.19)[column])
