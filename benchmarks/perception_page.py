"""The page of a perception run: tables, plots, the commonest mistakes, and the pictures with most of them."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

import matplotlib as mpl
import numpy as np
from jarvis_core.files import atomic_path, write_text
from perception_store import Looked, Store, Tally

GOALS = {"mm": (0.5, 1.0), "deg": (1.0, 2.0)}
MOST_PICTURES = 60
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 1180px; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: .5rem 0 1.5rem }
th, td { padding: .2rem .7rem; border-bottom: 1px solid #ddd }
td + td, th + th { text-align: right } td:first-child, th:first-child { text-align: left }
figure { margin: 0; border: 1px solid #ddd; border-radius: 4px; overflow: hidden } img { width: 100%; display: block }
figcaption { padding: .4rem .6rem; font-size: 13px } figcaption b { display: block }
.gallery { display: grid; grid-template-columns: repeat(auto-fill, minmax(360px, 1fr)); gap: 1rem }
"""


def plot(tallies: dict[str, Tally], path: Path) -> None:
    """Cumulative shares of position and angle errors, with the goals as crosses."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), constrained_layout=True)
    for axis, (unit, goals) in zip(axes, GOALS.items(), strict=True):
        for name in ("simulator", "second"):
            values = np.sort(getattr(tallies[name], unit)) if name in tallies else np.zeros(0)
            if len(values):
                shares = np.arange(1, len(values) + 1) / len(values)
                axis.plot(values, shares, label=f"{name} ({len(values)})")
        for goal, share in zip(goals, (0.5, 0.95), strict=True):
            axis.plot([goal], [share], "k+", markersize=10)
        axis.set(xlabel=f"error, {unit}", ylabel="share of bricks", xlim=(0, goals[1] * 2), ylim=(0, 1.01))
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
    plt.close(figure)


def write_page(
    path: Path,
    tables: Iterable[tuple[str, Sequence[str], Sequence[Sequence[str]]]],
    results: Sequence[Looked],
    store: Store,
    errors: Path,
) -> None:
    """One HTML file that needs no other."""
    failed = sorted((one for one in results if one.wrong), key=lambda one: (-len(one.wrong), one.number))
    bad = Counter(words for one in failed for words in one.wrong)
    parts = [f"<h2>{escape(title)}</h2>{_table(head, rows)}" for title, head, rows in tables]
    parts.append(f"<h2>Errors of position and angle</h2>{_image(errors, 'png')}")
    parts.append("<h2>Commonest mistakes</h2>" + _table(("what", "times"), _texts(bad.most_common(25))))
    shown = [one for one in failed if store.file(one.number, ".jpg").is_file()][:MOST_PICTURES]
    count = f"{len(failed)} of {len(results)} pictures have a mistake; the {len(shown)} worst of them:"
    figures = "".join(_figure(one, store) for one in shown)
    parts.append(f"<h2>Gallery of failures</h2><p>{count}</p><div class=gallery>{figures}</div>")
    head = f"<!doctype html><html lang=en><meta charset=utf-8><title>Perception</title><style>{STYLE}</style>"
    write_text(path, f"{head}<h1>What perception sees</h1>{''.join(parts)}</html>\n")


def _figure(one: Looked, store: Store) -> str:
    words = f"{one.number} {one.model}, {one.renderer}, {one.layout}, noise {one.noise_mm:.1f} mm, {one.loose} loose"
    wrong = escape("; ".join(f"{text} x{n}" if n > 1 else text for text, n in Counter(one.wrong).items()))
    picture = _image(store.file(one.number, ".jpg"), "jpeg")
    return f"<figure>{picture}<figcaption><b>{escape(words)}</b>{wrong}</figcaption></figure>"


def _texts(rows: Iterable[tuple[str, int]]) -> list[list[str]]:
    return [[text, str(times)] for text, times in rows]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{top}</tr>{body}</table>"


def _image(path: Path, kind: str) -> str:
    return f'<img alt="" src="data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}">'
