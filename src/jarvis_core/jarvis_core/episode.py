"""The record of one episode: everything a score is computed from, and everything that led there."""

from __future__ import annotations

from typing import Any

import msgspec

from jarvis_core.objects import ConnectionEvent, RigidObject, StateSource, TargetObject, WorldState
from jarvis_core.skills import SkillGoal, SkillResult

#: Version of the record's layout; a reader refuses any other.
RECORD_SCHEMA = 1


class CallRecord(msgspec.Struct, frozen=True):
    """One call of a skill: goal, result and when (cell clock); ``wall_s`` is what it took on the wall clock."""

    index: int
    goal: SkillGoal
    result: SkillResult
    start_s: float
    end_s: float
    wall_s: float


class ToolCall(msgspec.Struct, frozen=True):
    """One call of an agent's tools as the cell answered it: also one that moves nothing, and one that was refused.

    Attributes:
        arguments: JSON object, by name.
        answer: JSON of the answer without its pictures; the reason where it was refused.
        refused: bad arguments, a limit, or nothing in the cell that could answer; a skill that failed was not refused.
        start_s, end_s: of the cell's clock; ``wall_s`` is what it took on the wall clock.
    """

    index: int
    tool: str
    arguments: str
    answer: str
    refused: bool
    start_s: float
    end_s: float
    wall_s: float


class PolicyInfo(msgspec.Struct, frozen=True):
    """Who ran.

    Attributes:
        privileged: reads true poses and targets.
        caged: ran under isolation by the operating system.
        sees: source of the scene it may ask for: ``perceived``, ``true`` (a privileged stand-in for perception) or
            ``nothing``.
    """

    name: str
    privileged: bool
    caged: bool
    sees: str = "nothing"


class Disturbance(msgspec.Struct, frozen=True, kw_only=True):
    """What befell a partly finished build before the policy took over.

    Attributes:
        kind: ``knock_off``, ``shift``, ``remove`` or ``swap``.
        bricks: whom it befell: one, or two that changed places.
        prefix: bricks that were placed before, the first so many in build order, by a declared oracle.
        values: how far, how fast, whereto; the unit is in the name.
        after: what the policy found, everything at rest again.
    """

    kind: str
    bricks: tuple[str, ...]
    prefix: int
    values: dict[str, float]
    after: WorldState


class EpisodeRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Written whole, before anything is computed from it.

    Attributes:
        outcome: ``finished`` (the policy ended), ``stopped`` (a limit), ``crashed`` (an exception in the policy)
            or ``cell_error`` (the cell failed: not the policy's fault, still a row in every table).
        outcome_message: one sentence.
        transport: ``in-process`` or ``ros``.
        states: what initial and final are made of; a score of perceived ones is named so.
        time_s: simulated seconds while actions ran.
        budget_s: the soft budget B.
        objects: every object at its initial pose.
        config: every configured value, by file.
        versions: of Python, the engine and the libraries that matter.
        disturbance: of an episode that goes on from a build that was begun and spoilt; calls and time count from there.
    """

    schema: int = RECORD_SCHEMA
    episode_id: str
    task_id: str
    task_hash: str
    seed: int
    policy: PolicyInfo
    transport: str
    scene_source: str
    outcome: str
    outcome_message: str
    started_at: str
    wall_s: float
    time_s: float
    budget_s: float
    initial: WorldState
    final: WorldState
    objects: tuple[RigidObject, ...]
    targets: tuple[TargetObject, ...]
    calls: tuple[CallRecord, ...]
    events: tuple[ConnectionEvent, ...]
    config: dict[str, Any]
    versions: dict[str, str]
    states: StateSource = "true"
    disturbance: Disturbance | None = None
