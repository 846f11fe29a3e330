"""The timeline of an episode: where its bars, ticks and labels lie in the drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jarvis_core.episode import CallRecord, EpisodeRecord
from jarvis_core.objects import GROUND, ConnectionEvent
from jarvis_core.skills import skill_name
from jarvis_core.status import Status

#: Size of the drawing and of its parts, in units of its view box.
WIDTH = 1000.0
LEFT, RIGHT = 8.0, 992.0
CALLS_TOP, CALLS_HEIGHT = 6.0, 30.0
SNAPS_TOP, SNAPS_HEIGHT = 58.0, 54.0
AXIS = SNAPS_TOP + SNAPS_HEIGHT
HEIGHT = AXIS + 24.0

#: Errors are drawn up to this; a clutch engages below 1.5 mm.
_FULL_ERROR_M = 0.0015
_LETTER = 6.6
_STEPS_S = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)
_WANTED_TICKS = 10


@dataclass(frozen=True, slots=True)
class Bar:
    """One call. ``kind`` is ``good``, ``bad`` or ``neutral`` (cancelled); ``label`` "" where it doesn't fit."""

    x: float
    width: float
    kind: str
    label: str
    title: str


@dataclass(frozen=True, slots=True)
class Snap:
    """A connection made (with its error before the snap as a height) or broken."""

    x: float
    y: float
    engaged: bool
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: float
    label: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """``budget_x`` is None where the budget lies beyond what is shown."""

    bars: tuple[Bar, ...]
    snaps: tuple[Snap, ...]
    ticks: tuple[Tick, ...]
    budget_x: float | None
    full_error_mm: float = _FULL_ERROR_M * 1000


def timeline(record: EpisodeRecord) -> Timeline:
    """Lay out a record's calls and connection events over simulated time, from the episode's start."""
    start = record.initial.time_s
    ends = [c.end_s - start for c in record.calls] + [e.time_s - start for e in record.events]
    span = max([record.time_s, *ends, 1e-3])

    def place(time_s: float) -> float:
        return LEFT + (RIGHT - LEFT) * min(max(time_s / span, 0.0), 1.0)

    return Timeline(
        bars=tuple(
            _bar(call, place(call.start_s - start), place(call.end_s - start)) for call in record.calls
        ),
        snaps=tuple(
            _snap(event, place(event.time_s - start), event.time_s - start) for event in record.events
        ),
        ticks=tuple(_tick(t, place(t)) for t in _tick_times(span)),
        budget_x=place(record.budget_s) if record.budget_s <= span else None,
    )


def call_name(call: CallRecord) -> str:
    """``pick b003``: the skill and, where it has one, its object."""
    words = skill_name(call.goal).replace("_", " ")
    thing = getattr(call.goal, "object_id", "")
    return f"{words} {thing}" if thing else words


def status_words(status: Status) -> str:
    return status.name.replace("_", " ").lower()


def status_kind(status: Status) -> str:
    """``good``, ``bad`` or ``neutral``: which colour a status is shown in."""
    if status is Status.SUCCEEDED:
        return "good"
    return "neutral" if status is Status.CANCELED else "bad"


def _bar(call: CallRecord, x: float, end: float) -> Bar:
    # A call that took no time (a refused one) still gets a visible mark.
    width = max(end - x, 2.5)
    name = call_name(call)
    thing = getattr(call.goal, "object_id", "")
    label = next((text for text in (name, thing) if text and len(text) * _LETTER + 8 <= width), "")
    seconds = call.end_s - call.start_s
    title = f"{call.index + 1}. {name}: {status_words(call.result.status)}, {seconds:.1f} s. {call.result.message}"
    return Bar(x, width, status_kind(call.result.status), label, title)


def _snap(event: ConnectionEvent, x: float, time_s: float) -> Snap:
    engaged = event.kind == "engaged"
    error = math.hypot(event.error_xy_m, event.error_z_m)
    lower = "the plate" if event.lower == GROUND else event.lower
    studs = f"{event.studs} stud{'s' if event.studs != 1 else ''}"
    if engaged:
        misfit = f"{event.error_xy_m * 1000:.2f} mm and {math.degrees(event.error_yaw_rad):.1f}° off before the snap"
        title = f"{time_s:.1f} s: {event.upper} onto {lower}, {studs}, {misfit}, pressed with {event.force_n:.0f} N"
    else:
        title = f"{time_s:.1f} s: {event.upper} came off {lower}, {studs}, pulled with {event.force_n:.0f} N"
    height = SNAPS_HEIGHT * min(error / _FULL_ERROR_M, 1.0)
    return Snap(x, AXIS - height if engaged else AXIS, engaged, title)


def _tick_times(span: float) -> list[float]:
    step = next((s for s in _STEPS_S if span / s <= _WANTED_TICKS), _STEPS_S[-1])
    return [float(k * step) for k in range(int(span // step) + 1)]


def _tick(time_s: float, x: float) -> Tick:
    anchor = "start" if x < LEFT + 12 else "end" if x > RIGHT - 12 else "middle"
    return Tick(x, f"{time_s:.0f} s", anchor)
