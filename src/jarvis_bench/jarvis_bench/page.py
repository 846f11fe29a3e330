"""A page that shows one episode: one HTML file that needs nothing else.

It is made from the files of the episode's folder alone (see jarvis_episode.recording.folder): record.json and
score.json must be there; task and manual, pictures and video are shown where they are.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import jinja2
from jarvis_bricks.colours import ColourTable
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import encode, write_text
from jarvis_core.manual import Manual
from jarvis_core.objects import GROUND
from jarvis_episode.recording.folder import (
    AFTER_FILE,
    BEFORE_FILE,
    RECORD_FILE,
    REPORT_FILE,
    VIDEO_FILE,
    read_score,
)
from jarvis_scoring.inputs import read_record
from jarvis_scoring.protocol import BrickScore, EpisodeScore
from jarvis_scoring.text import fault, headline
from jarvis_tasks.store import TASK_FILE, load_manual, load_task
from jarvis_tasks.task import Task

from jarvis_bench import timeline

#: Position errors relative to support and world that differ by less are shown once.
_NOTABLE_M = 0.0005


@dataclass(frozen=True, slots=True)
class Meter:
    """One of the fractions that describe a build; ``counted``: it is part of the score."""

    name: str
    value: float
    meaning: str
    counted: bool


@dataclass(frozen=True, slots=True)
class BrickRow:
    """One line of the table by brick; errors as text, "–" where there is none.

    ``on_support`` is the position error relative to ``support``, "" where it tells nothing new.
    """

    step: int
    id: str
    matched_id: str
    part: str
    description: str
    colour_name: str
    swatch: str
    position: str
    on_support: str
    support: str
    height: str
    angle: str
    pose: str
    complete: bool
    exact: bool
    fault: str


@dataclass(frozen=True, slots=True)
class CallRow:
    number: int
    name: str
    start: str
    took: str
    kind: str
    status: str
    message: str


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a reader must know before the score. ``kind``: ``warn`` or ``bad``."""

    kind: str
    head: str
    text: str


def write_episode_page(folder: Path) -> Path:
    """Write report.html into an episode's folder; returns its path.

    Raises:
        BadInputError: record.json or score.json is absent or broken, or they are of different episodes' sizes;
            a task or manual that is there can't be read.
    """
    record = read_record(folder / RECORD_FILE)
    score = read_score(folder)
    if score.n_required != len(record.targets):
        raise BadInputError(
            "is not the score of this folder's record", where=str(folder), fix="score it again"
        )
    task = load_task(folder) if (folder / TASK_FILE).is_file() else None
    manual = load_manual(folder) if task is not None else None
    page = environment().get_template("episode.html.j2").render(_context(folder, record, score, task, manual))
    write_text(folder / REPORT_FILE, page)
    return folder / REPORT_FILE


def environment() -> jinja2.Environment:
    """How templates of this package are filled: escaped, every name must be known."""
    return jinja2.Environment(
        loader=jinja2.PackageLoader("jarvis_bench"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _context(
    folder: Path, record: EpisodeRecord, score: EpisodeScore, task: Task | None, manual: Manual | None
) -> dict[str, Any]:
    return {
        "record": record,
        "score": score,
        "task": task,
        "title": (task.title or task.model) if task is not None else record.task_id,
        "headline": headline(score),
        "notices": _notices(record),
        "meters": _meters(score),
        "budget": _budget(score, record),
        "pages": manual_pages(manual),
        "axes": manual.axes if manual is not None else "",
        "before": _data_uri(folder / BEFORE_FILE, "image/png"),
        "after": _data_uri(folder / AFTER_FILE, "image/png"),
        "video": _data_uri(folder / VIDEO_FILE, "video/mp4"),
        "bricks": _brick_rows(score, manual),
        "timeline": timeline.timeline(record),
        "layout": timeline,
        "calls": _call_rows(record),
        "started": _day(record.started_at),
        "config": encode(record.config).decode(),
        "versions": encode(record.versions).decode(),
    }


def _notices(record: EpisodeRecord) -> list[Notice]:
    notices = []
    if record.policy.privileged:
        notices.append(
            Notice(
                "warn",
                "Privileged",
                "this policy reads true poses and targets. Its score says what the cell can do, not what an "
                "agent can.",
            )
        )
    elif record.scene_source == "true":
        notices.append(
            Notice("warn", "True scene", "the skills were told the true poses instead of perceiving them.")
        )
    if record.policy.sees == "true" and not record.policy.privileged:
        notices.append(
            Notice(
                "warn",
                "True bricks",
                "the agent was told where the bricks truly lie; a stand-in for perception.",
            )
        )
    if not record.policy.caged:
        notices.append(Notice("warn", "Uncaged", "it ran without isolation by the operating system."))
    if (spoilt := record.disturbance) is not None:
        told = (
            f"{spoilt.prefix} bricks were placed by an oracle, then {', '.join(spoilt.bricks)} suffered "
            f"{spoilt.kind}: the policy went on from there."
        )
        notices.append(Notice("warn", "Spoilt before", told))
    if record.outcome != "finished":
        heads = {
            "stopped": "Stopped at a limit",
            "crashed": "The policy crashed",
            "cell_error": "The cell failed",
        }
        notices.append(Notice("bad", heads.get(record.outcome, record.outcome), record.outcome_message))
    return notices


def _meters(score: EpisodeScore) -> list[Meter]:
    return [
        Meter(
            "Exact", score.s_exact, "within 1 mm and 3°, joined as it should be and to nothing else", False
        ),
        Meter("Complete", score.s_comp, "moved, near its place and let go", True),
        Meter("Pose", score.s_pose, "how close position, height and angle come, on average", True),
        Meter("Valid", score.s_valid, "moved, on the table and let go", False),
    ]


def _budget(score: EpisodeScore, record: EpisodeRecord) -> dict[str, float]:
    """Widths in percent of a bar that is as long as the larger of time and budget."""
    full = max(score.time_s, score.budget_s)
    return {
        "used": 100.0 * min(score.time_s, score.budget_s) / full,
        "late": 100.0 * max(score.time_s - score.budget_s, 0.0) / full,
        "wall_s": record.wall_s,
    }


def manual_pages(manual: Manual | None) -> list[dict[str, Any]]:
    """``src`` and ``name`` of each page of a manual, for templates."""
    if manual is None:
        return []
    return [
        {
            "src": f"data:image/png;base64,{base64.b64encode(page.png).decode()}",
            "name": "start" if page.step == 0 else f"step {page.step}",
        }
        for page in manual.pages
    ]


def _data_uri(file: Path, kind: str) -> str:
    """The file's content as a URI, "" where it is absent."""
    if not file.is_file():
        return ""
    return f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"


def _brick_rows(score: EpisodeScore, manual: Manual | None) -> list[BrickRow]:
    colours = ColourTable.load(None)
    descriptions = {p.part: p.description for p in manual.parts} if manual is not None else {}
    names = {p.colour: p.colour_name for p in manual.parts} if manual is not None else {}
    rows = [_brick_row(brick, colours, descriptions, names) for brick in score.bricks]
    return sorted(rows, key=lambda row: row.step)


def _brick_row(
    brick: BrickScore, colours: ColourTable, descriptions: Mapping[str, str], names: Mapping[int, str]
) -> BrickRow:
    known = colours.get(brick.colour) if brick.colour in colours else None
    name = names.get(brick.colour) or (known.words if known is not None else f"colour {brick.colour}")
    # The library pads its numbers with blanks: "Brick  2 x  4".
    description = " ".join(descriptions.get(brick.kind, "").split())
    return BrickRow(
        step=brick.step,
        id=brick.id,
        matched_id=brick.matched_id,
        part=brick.kind,
        description=description or f"part {brick.kind}",
        colour_name=name.replace("_", " "),
        swatch="#{:02x}{:02x}{:02x}{:02x}".format(*known.rgb, known.alpha) if known is not None else "",
        position=_number(brick.e_pos_world_m, 1000.0, 2),
        on_support=_number(brick.e_pos_m, 1000.0, 2) if _differ(brick) else "",
        support=brick.support_id,
        height=_number(brick.e_z_m, 1000.0, 2),
        angle=_number(brick.e_theta_rad, 180.0 / math.pi, 1),
        pose=f"{brick.pose_score:.3f}",
        complete=brick.complete,
        exact=brick.exact,
        fault=fault(brick),
    )


def _differ(brick: BrickScore) -> bool:
    if brick.support_id == GROUND or brick.e_pos_m is None or brick.e_pos_world_m is None:
        return False
    return abs(brick.e_pos_m - brick.e_pos_world_m) > _NOTABLE_M


def _number(value: float | None, scale: float, digits: int) -> str:
    if value is None:
        return "–"
    scaled = value * scale
    return f"{scaled:.0f}" if scaled >= 100 else f"{scaled:.{digits}f}"


def _call_rows(record: EpisodeRecord) -> list[CallRow]:
    start = record.initial.time_s
    return [
        CallRow(
            number=call.index + 1,
            name=timeline.call_name(call),
            start=f"{call.start_s - start:.1f}",
            took=f"{call.end_s - call.start_s:.1f}",
            kind=timeline.status_kind(call.result.status),
            status=timeline.status_words(call.result.status),
            message=call.result.message,
        )
        for call in record.calls
    ]


def _day(started_at: str) -> str:
    """``30 November 2026, 20:05``; a time that is no ISO 8601 as it is."""
    try:
        return datetime.fromisoformat(started_at).strftime("%-d %B %Y, %H:%M")
    except ValueError:
        return started_at
