"""One picture of a run: score by agent, by size of the task, and where bricks failed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jarvis_core.files import atomic_path
from jarvis_scoring.estimates import Estimate, TablesConfig
from jarvis_scoring.result_tables import agents, bins, stages
from jarvis_scoring.rows import STAGES, ResultRow
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

_TEXT, _FAINT, _GOOD = "#22252a", "#6d7078", "#1d5fb4"
#: Agents by score; with more the bars would be lines.
_MOST_AGENTS = 12
#: From this score on a cell of the map is dark enough for white letters.
_DARK = 55.0


def draw_results(rows: Sequence[ResultRow], config: TablesConfig, path: Path) -> Path:
    """Write a picture; bars carry their bootstrap intervals, incomplete episodes count 0 as in the tables."""
    figure = Figure(figsize=(15.5, 5.2), dpi=110, facecolor="white")
    figure.set_layout_engine(ConstrainedLayoutEngine(w_pad=0.1, h_pad=0.1))
    FigureCanvasAgg(figure)
    left, middle, right = figure.subplots(1, 3)
    _agents(left, rows, config)
    _bins(middle, rows, config)
    _stages(right, rows)
    figure.supxlabel(
        f"{len(rows):,} episodes; not comparable with published results: other tasks, other constants",
        fontsize=9.5,
        color=_FAINT,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as temporary:
        figure.savefig(temporary, metadata={"Software": None})
    return path


def _plain(axes: Axes, title: str) -> None:
    axes.set_title(title, loc="left", fontsize=11.5, fontweight="bold", color=_TEXT)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.tick_params(colors=_TEXT, labelsize=9)


def _agents(axes: Axes, rows: Sequence[ResultRow], config: TablesConfig) -> None:
    found: list[tuple[str, Estimate]] = []
    table = agents(rows, config)
    column = table.columns.index("overall")
    for row in table.rows:
        if isinstance(cell := row[column], Estimate):
            found.append((f"{row[0]}\n{row[1]}", cell))
    found = sorted(found, key=lambda item: item[1].mean)[-_MOST_AGENTS:]
    places = np.arange(len(found))
    axes.barh(places, [e.mean for _, e in found], height=0.55, color=_GOOD)
    for place, (_, e) in zip(places, found, strict=True):
        axes.plot([e.low, e.high], [place, place], color=_TEXT, linewidth=1.4)
        axes.annotate(
            f"{e.mean:.1f}  (N {e.n:,})",
            (max(e.high, e.mean), place),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
            color=_TEXT,
        )
    axes.set_yticks(places, [name for name, _ in found])
    axes.set_xlim(0, 125)
    axes.set_ylim(-0.6, max(len(found), 3) - 0.4)
    axes.set_xticks(range(0, 101, 20))
    axes.set_xlabel(f"score, with {config.confidence:.0%} bootstrap interval", color=_TEXT)
    _plain(axes, "Score by agent")


def _bins(axes: Axes, rows: Sequence[ResultRow], config: TablesConfig) -> None:
    table = bins(rows, config)
    cells = [[c if isinstance(c, Estimate) else None for c in row[1:]] for row in table.rows]
    values = np.array([[c.mean if c is not None else np.nan for c in line] for line in cells])
    colours = colormaps["Blues"].with_extremes(bad="#f2f1ed")
    axes.imshow(np.ma.masked_invalid(values), cmap=colours, vmin=0, vmax=100, aspect="auto")
    for y, line in enumerate(cells):
        for x, cell in enumerate(line):
            said = "–" if cell is None else f"{cell.mean:.1f}\nN {cell.n:,}"
            dark = cell is not None and cell.mean > _DARK
            axes.text(x, y, said, ha="center", va="center", fontsize=9, color="white" if dark else _TEXT)
    axes.set_xticks(range(len(table.columns) - 1), table.columns[1:])
    axes.set_yticks(range(len(cells)), [str(row[0]) for row in table.rows])
    axes.set_xlabel("scene bricks", color=_TEXT)
    axes.set_ylabel("action bricks", color=_TEXT)
    _plain(axes, "Score by size of the task, all agents")


def _stages(axes: Axes, rows: Sequence[ResultRow]) -> None:
    table = stages(rows)
    body = table.rows[-_MOST_AGENTS:]
    names = ("built", *STAGES, "no record")
    colours = [_GOOD, *(colormaps["YlOrRd"](0.12 + 0.1 * k) for k in range(len(STAGES))), "#9a9ca3"]
    start = np.zeros(len(body))
    for name, colour in zip(names, colours, strict=True):
        column = table.columns.index(name)
        # A row holds its number of bricks in the third column.
        shares = np.array([100.0 * float(str(row[column])) / max(1.0, float(str(row[2]))) for row in body])
        if shares.any():
            axes.barh(np.arange(len(body)), shares, left=start, height=0.55, color=colour, label=name)
        start += shares
    axes.set_yticks(np.arange(len(body)), [f"{row[0]}\n{row[1]}" for row in body])
    axes.set_ylim(-0.6, max(len(body), 3) - 0.4)
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of the bricks to place", color=_TEXT)
    if start.any():
        axes.legend(frameon=False, fontsize=8.5, ncols=3, loc="upper left", bbox_to_anchor=(-0.1, -0.13))
    _plain(axes, "First stage at which bricks failed")
