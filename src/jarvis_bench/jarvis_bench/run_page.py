"""The report of a run: one HTML file with its tables, plots and a card for every episode.

It needs nothing but itself; the pages of the episodes are linked, where they lie.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes, write_text
from jarvis_episode.recording.folder import AFTER_FILE
from jarvis_episode.recording.folder import REPORT_FILE as EPISODE_PAGE
from jarvis_scoring.estimates import Estimate
from jarvis_scoring.rows import ResultRow
from jarvis_scoring.tables import Cell, ResultTable

from jarvis_bench.page import environment
from jarvis_bench.suite_run.plan import EPISODES_FOLDER, REPORT_FILE, RunPlan

#: Width of an episode's picture; 200 of them are about 2 MB.
THUMBNAIL_PX = 240
_JPEG_QUALITY = 80


@dataclass(frozen=True, slots=True)
class EpisodeCard:
    """An episode in the grid; ``link`` and ``picture`` are "" where there is none."""

    row: ResultRow
    link: str
    picture: str
    fault: str


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table with its cells as text; ``numeric`` columns stand to the right."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Leader:
    """An agent's line at the head of the page."""

    agent: str
    score: str
    exact: str
    episodes: str
    share: float


def write_run_page(
    run: Path, plan: RunPlan, rows: Sequence[ResultRow], tables: Sequence[ResultTable], plot_png: bytes
) -> Path:
    """Write index.html into a run's folder; returns its path.

    Args:
        rows: one for every planned episode.
        plot_png: the picture of the whole run.
    """
    cards = [_card(run, row) for row in sorted(rows, key=lambda r: (r.agent, r.counted, r.task_id, r.seed))]
    page = (
        environment()
        .get_template("run.html.j2")
        .render(
            plan=plan,
            leaders=_leaders(rows),
            plot=_data_uri(plot_png, "png"),
            tables=[_page_table(table) for table in tables if table.rows],
            cards=cards,
            strata=sorted({row.stratum for row in rows if row.stratum}),
            lost=sum(not row.complete for row in rows),
        )
    )
    write_text(run / REPORT_FILE, page)
    return run / REPORT_FILE


def _leaders(rows: Sequence[ResultRow]) -> list[Leader]:
    """The best first."""
    found = []
    for agent in {row.agent for row in rows}:
        own = [row for row in rows if row.agent == agent]
        score = float(np.mean([row.counted for row in own]))
        exact = float(np.mean([row.s_exact if row.complete else 0.0 for row in own]))
        there = sum(row.complete for row in own)
        found.append(
            (score, Leader(agent, f"{score:.1f}", f"{exact:.0%}", f"{there} of {len(own)}", score / 100))
        )
    return [leader for _, leader in sorted(found, key=lambda item: (-item[0], item[1].agent))]


def _card(run: Path, row: ResultRow) -> EpisodeCard:
    folder = Path(EPISODES_FOLDER) / row.episode_id
    page, picture = run / folder / EPISODE_PAGE, run / folder / AFTER_FILE
    worst = max(((count, stage) for stage, count in row.stages.items() if stage and count), default=(0, ""))
    fault = f"{worst[0]}× {worst[1]}" if worst[0] else ""
    return EpisodeCard(
        row,
        f"{folder.as_posix()}/{EPISODE_PAGE}" if page.is_file() else "",
        _thumbnail(picture) if picture.is_file() else "",
        fault if row.complete else row.reason,
    )


def _thumbnail(path: Path) -> str:
    image = cv2.imdecode(np.frombuffer(read_bytes(path), np.uint8), cv2.IMREAD_COLOR)
    if image is None:
        raise BadInputError("is no picture", where=str(path))
    height = round(image.shape[0] * THUMBNAIL_PX / image.shape[1])
    small = cv2.resize(image, (THUMBNAIL_PX, height), interpolation=cv2.INTER_AREA)
    done, data = cv2.imencode(".jpg", small, [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    assert done
    return _data_uri(data.tobytes(), "jpeg")


def _data_uri(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"


def _page_table(table: ResultTable) -> PageTable:
    numeric = tuple(not any(isinstance(r[k], str) for r in table.rows) for k in range(len(table.columns)))
    rows = tuple(tuple(_text(cell) for cell in row) for row in table.rows)
    return PageTable(table.name, table.title, table.columns, rows, numeric, table.notes)


def _text(cell: Cell) -> str:
    if cell is None:
        return "–"
    if isinstance(cell, Estimate):
        return f"{cell.mean:.1f} [{cell.low:.1f}, {cell.high:.1f}] ({cell.n})"
    return f"{cell:.2f}" if isinstance(cell, float) else str(cell)
