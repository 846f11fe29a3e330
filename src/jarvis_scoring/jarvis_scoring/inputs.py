"""What a score is computed from, checked once so that the arithmetic needs no doubts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from jarvis_core.cell import Region
from jarvis_core.episode import RECORD_SCHEMA, EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, decode_hook, read_bytes
from jarvis_core.objects import GROUND, RigidObject, StateSource, TargetObject, WorldState


class ScoreInput(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a record that a score depends on; may be made without one, to score the state at hand.

    Attributes:
        objects: every object, for the shapes.
        targets: the required bricks.
        table: the tabletop.
        states: what initial and final are made of; the score's name tells where they are not true.
    """

    objects: tuple[RigidObject, ...]
    targets: tuple[TargetObject, ...]
    initial: WorldState
    final: WorldState
    time_s: float
    budget_s: float
    table: Region
    calls: int = 0
    failed_calls: int = 0
    states: StateSource = "true"

    @classmethod
    def from_record(cls, record: EpisodeRecord, table: Region | None = None) -> ScoreInput:
        """Take from a record what a score needs; ``table`` defaults to that of the record's cell.

        Raises:
            BadInputError: the record has another layout, or names no tabletop.
        """
        _check_schema(record.schema, record.episode_id)
        return cls(
            objects=record.objects,
            targets=record.targets,
            initial=record.initial,
            final=record.final,
            time_s=record.time_s,
            budget_s=record.budget_s,
            table=table if table is not None else _table_of(record),
            calls=len(record.calls),
            failed_calls=sum(not call.result.ok for call in record.calls),
            states=record.states,
        )

    def check(self) -> None:
        """Raises BadInputError, naming the object and the fault, where ids or numbers don't fit together."""
        if not self.targets:
            raise BadInputError("no required brick", where="targets")
        if not (math.isfinite(self.time_s) and self.time_s >= 0):
            raise BadInputError(f"must be a finite number >= 0, not {self.time_s}", where="time_s")
        if not (math.isfinite(self.budget_s) and self.budget_s > 0):
            raise BadInputError(f"must be a finite number > 0, not {self.budget_s}", where="budget_s")
        known = _unique((o.id for o in self.objects), "objects")
        _within(_unique((s.id for s in self.initial.objects), "initial.objects"), known, "initial.objects")
        _within(_unique((s.id for s in self.final.objects), "final.objects"), known, "final.objects")
        _within({i for pair in self.final.connections for i in pair}, known | {GROUND}, "final.connections")
        self._check_targets(known)

    def _check_targets(self, known: set[str]) -> None:
        _within(_unique((t.object.id for t in self.targets), "targets"), known, "targets")
        started = {s.id for s in self.initial.objects} | {GROUND}
        for target in self.targets:
            where = f"targets[{target.object.id}]"
            if not started.issuperset((target.object.id, target.support, *target.connections)):
                _within({target.object.id, target.support, *target.connections}, started, where)
            if target.support == target.object.id:
                raise BadInputError("is its own support", where=where)
            if not target.object.boxes:
                raise BadInputError("has no boxes, so its footprint is unknown", where=where)


def read_record(path: Path) -> EpisodeRecord:
    """Read a record.json.

    Raises:
        BadInputError: absent, no record, or one of another layout.
    """
    data = read_bytes(path)
    _check_schema(decode(data, RecordOfAnyLayout, where=str(path)).schema, str(path))
    return decode(data, EpisodeRecord, where=str(path))


class RecordOfAnyLayout(msgspec.Struct, frozen=True):
    schema: int


def _check_schema(schema: Any, where: str) -> None:
    if schema != RECORD_SCHEMA:
        raise BadInputError(
            f"has record layout {schema}, this version reads {RECORD_SCHEMA}",
            where=where,
            fix="score it with the version that wrote it",
        )


def _table_of(record: EpisodeRecord) -> Region:
    cell = record.config.get("cell")
    if not isinstance(cell, dict) or "table" not in cell:
        raise BadInputError(
            "config.cell.table is absent", where=record.episode_id, fix="give the tabletop's region"
        )
    try:
        return msgspec.convert(cell["table"], Region, dec_hook=decode_hook)
    except msgspec.ValidationError as error:
        raise BadInputError(f"config.cell.table: {error}", where=record.episode_id) from error


def _unique(ids: Iterable[str], where: str) -> set[str]:
    given = list(ids)
    seen = set(given)
    if len(seen) < len(given):
        doubled = next(i for i, count in Counter(given).items() if count > 1)
        raise BadInputError(f"holds {doubled!r} twice", where=where)
    return seen


def _within(ids: set[str], known: set[str], where: str) -> None:
    if not ids <= known:
        raise BadInputError(f"names unknown objects: {', '.join(sorted(ids - known))}", where=where)
