"""What tables compare episodes by and a record does not say: given by people and tools, or derived by rule.

::

    EPISODE/
      labels.json       given: by a run (stratum, style), by whoever knows better; overrides what is derived
      labels.auto.json  derived by ``jarvis label``, may be written again at any time
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_json, write_json
from jarvis_core.skills import PickAndPlaceGoal, PlaceGoal
from jarvis_scoring.brick_score import score
from jarvis_scoring.evidence import Evidence
from jarvis_scoring.protocol import EpisodeScore
from jarvis_scoring.rows import STAGES
from jarvis_scoring.stages import failure_stages_by_brick

from jarvis_episode.recording.bag import STATE_TOPICS
from jarvis_episode.recording.folder import AGENT_FOLDER, BAG_FOLDER
from jarvis_episode.recording.replay import read_state
from jarvis_episode.recording.scored import Scored
from jarvis_episode.recording.storage import RawMessage, Storage

LABELS_FILE = "labels.json"
AUTO_FILE = "labels.auto.json"
Mode = Literal["none", "reflection", "lessons"]

_AGENT_REPORT = "report.json"
#: How an agent was connected: through these it sees what came of a call before it decides on the next.
_REFLECTING_DOORS = ("steps", "repl", "mcp")
#: Of a serialised message that begins with a header: byte order, seconds, nanoseconds.
_STAMP = {0: struct.Struct(">4xiI"), 1: struct.Struct("<4xiI")}


class Labels(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """One episode; None is "not said".

    Attributes:
        origin: ``auto`` where a program derived them.
        stratum: of the task within its suite.
        style: of the manual's pages.
        api: layer of functions: ``primitives`` or ``generic``.
        mode: of reflection.
        rounds: score after each round R1, R2, ... with and without the time penalty.
        failures: by required brick the first stage at which it failed (see jarvis_scoring.stages).
        note: whatever else somebody wants to say.
    """

    origin: Literal["auto", "given"] = "given"
    stratum: str | None = None
    style: str | None = None
    api: Literal["primitives", "generic"] | None = None
    mode: Mode | None = None
    rounds: tuple[tuple[float, float], ...] | None = None
    failures: dict[str, str] = {}
    note: str = ""


class _AgentReport(msgspec.Struct, frozen=True):
    """What of an agent's own report is of interest here."""

    door: str
    layer: Literal["primitives", "generic"]


def read_labels(folder: Path, name: str = LABELS_FILE) -> Labels:
    """Labels beside a record; empty ones where there is no such file.

    Raises:
        BadInputError: it holds no labels, or names a stage that is none.
    """
    path = folder / name
    if not path.is_file():
        return Labels()
    labels = read_json(path, Labels)
    unknown = sorted(set(labels.failures.values()) - set(STAGES))
    if unknown:
        raise BadInputError(
            f"{unknown[0]!r} is no stage", where=str(path), fix=f"use one of {', '.join(STAGES)}"
        )
    return labels


def write_auto_labels(scored: Scored) -> Path:
    """Derive the labels of an episode's folder and write them there.

    Raises:
        BadInputError: it has no record, its bag holds no state at a round's end, or its agent's report is none.
    """
    if scored.record is None:
        raise BadInputError(
            "is no episode's folder", where=str(scored.source), fix="label episodes, not bags"
        )
    path = scored.source / AUTO_FILE
    write_json(path, derive(scored.source, scored.record, scored.evidence, scored.score))
    return path


def derive(folder: Path, record: EpisodeRecord, evidence: Evidence, result: EpisodeScore) -> Labels:
    """What an episode's files say by rule.

    The layer of functions and whether the agent saw what came of its calls are told by its own report; a baseline has
    none. A round ends with each call that was to set a brick down.
    """
    report = folder / AGENT_FOLDER / _AGENT_REPORT
    agent = read_json(report, _AgentReport) if report.is_file() else None
    mode: Mode = "reflection" if agent is not None and agent.door in _REFLECTING_DOORS else "none"
    return Labels(
        origin="auto",
        api=agent.layer if agent is not None else None,
        mode=mode,
        rounds=round_scores(folder / BAG_FOLDER, record, evidence) if mode != "none" else None,
        failures=failure_stages_by_brick(record, result, evidence.constants),
    )


def round_scores(bag: Path, record: EpisodeRecord, evidence: Evidence) -> tuple[tuple[float, float], ...]:
    """Scores of the recorded states at the end of each round, with and without the time penalty.

    Raises:
        BadInputError: no bag, or no state in it.
    """
    ends = [call for call in record.calls if isinstance(call.goal, PlaceGoal | PickAndPlaceGoal)]
    disturbed = evidence.disturbance
    start_s = disturbed.after.time_s if disturbed is not None else evidence.initial.time_s
    states = _first_after(bag, STATE_TOPICS[record.states], [call.end_s for call in ends])
    found = []
    for call, raw in zip(ends, states, strict=True):
        given = msgspec.structs.replace(
            evidence, final=read_state(raw, str(bag)), time_s=call.end_s - start_s, calls=call.index + 1
        )
        result = score(given, evidence.constants)
        found.append((result.score, 100.0 * result.q))
    return tuple(found)


def _first_after(bag: Path, topic: str, times_s: Sequence[float]) -> list[RawMessage]:
    """For each of some growing times the first recorded state that is not before it, else the last of all."""
    found: list[RawMessage] = []
    last: RawMessage | None = None
    for message in Storage.open(bag).messages((topic,)):
        last = message
        stamp_s = _stamp_s(message.data)
        while len(found) < len(times_s) and stamp_s >= times_s[len(found)] - 1e-6:
            found.append(message)
    if last is None:
        raise BadInputError(f"holds no states ({topic})", where=str(bag))
    return found + [last] * (len(times_s) - len(found))


def _stamp_s(data: bytes) -> float:
    """Time of a serialised message (CDR) from its header alone; the second byte tells the order of the others."""
    seconds, nanoseconds = _STAMP[data[1] & 1].unpack_from(data)
    return float(seconds) + 1e-9 * float(nanoseconds)
