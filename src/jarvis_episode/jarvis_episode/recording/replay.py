"""Bags scored alone: no simulator, no configuration, no task; all that is needed lies in the bag."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from jarvis_core.errors import BadInputError
from jarvis_core.objects import ObjectState, WorldState
from jarvis_core.pose import Pose
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.evidence import Evidence, read_evidence
from jarvis_scoring.replay import Replay, StateMessage, StateStream, replay
from rosbags.serde import SerdeError
from rosbags.typesys import Stores, get_types_from_idl, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from jarvis_episode.recording.bag import EPISODE_RECORD, STATE_TOPICS
from jarvis_episode.recording.message_types import typestore
from jarvis_episode.recording.messages import OBJECT_STATES_TYPE, STRING_TYPE
from jarvis_episode.recording.states import StateHead, StateSkimmer, pose_numbers, stamp_s
from jarvis_episode.recording.storage import RawMessage, Storage

#: What the reader of a serialised message raises for one that is none.
UNREADABLE = (SerdeError, struct.error, ValueError, IndexError, AssertionError)
_KINDS = {**dict.fromkeys(STATE_TOPICS.values(), OBJECT_STATES_TYPE), EPISODE_RECORD: STRING_TYPE}
#: How rosbag2 separates the definitions of a type and of the types in it.
_IDL_HEAD = "=" * 80 + "\nIDL: "


@dataclass(frozen=True, slots=True)
class BagReplay:
    """What a bag gave.

    Attributes:
        replays: its episodes in order; an ordinary bag holds one.
        damage: what is wrong with the files; a fault only where it cost something that the score needs.
        refused: episodes in it that can't be scored, and why.
    """

    replays: tuple[Replay, ...]
    damage: tuple[str, ...]
    refused: tuple[tuple[Evidence, BadInputError], ...] = ()


def replay_bag(path: Path, *, config: ScoreConfig | None = None, protocol: str | None = None) -> BagReplay:
    """As ``try_bag``; also raises BadInputError where no episode can be scored."""
    found = try_bag(path, config=config, protocol=protocol)
    if not found.replays:
        raise found.refused[0][1]
    return found


def try_bag(path: Path, *, config: ScoreConfig | None = None, protocol: str | None = None) -> BagReplay:
    """Score every episode in a bag (a folder or a single file), as far as the bag goes.

    Args:
        config: constants to use instead of the recorded ones.

    Raises:
        BadInputError: no bag, nothing of an episode in it, or another layout.
        ConfigError: an unknown protocol.
    """
    storage = Storage.open(path)
    episodes = _Episodes(str(path))
    for message in storage.messages(tuple(_KINDS)):
        episodes.add(message)
    replays: list[Replay] = []
    refused: list[tuple[Evidence, BadInputError]] = []
    for evidence, stream in episodes.finish(storage.damage):
        try:
            replays.append(replay(evidence, stream, config=config, protocol=protocol))
        except BadInputError as error:
            where = _joined(str(path), error.where)
            refused.append((evidence, type(error)(error.what, where=where, fix=error.fix)))
    return BagReplay(tuple(replays), tuple(storage.damage), tuple(refused))


def _joined(path: str, where: str) -> str:
    return where if where.startswith(path) else f"{path}: {where}" if where else path


def _topic(evidence: Evidence) -> str:
    """Where the states that an episode is scored by were published."""
    return STATE_TOPICS[evidence.states]


class _Episodes:
    """Sorts the messages of a bag by episode: the states between an opening evidence and the next."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._found: list[tuple[Evidence, StateStream]] = []
        self._skimmer = StateSkimmer()
        self._unreadable = 0

    def add(self, raw: RawMessage) -> None:
        if raw.topic != EPISODE_RECORD:
            self._state(raw)
        elif (message := self._message(raw)) is not None:
            self._evidence(read_evidence(message.data, f"{self._where}: {EPISODE_RECORD}"))

    def _message(self, raw: RawMessage) -> Any:
        """None, and counted, where it can't be read."""
        try:
            return self._types(raw).deserialize_cdr(raw.data, raw.kind)
        except UNREADABLE:
            self._unreadable += 1
            return None

    def _state(self, raw: RawMessage) -> None:
        # States before the first evidence belong to no episode that is recorded here, those on another topic than it
        # says are not what the episode is scored by.
        if not self._found or self._found[-1][0].closed or raw.topic != _topic(self._found[-1][0]):
            return
        head = self._skimmer.head(raw.data)
        if head is None:
            if (message := self._message(raw)) is None:
                return
            try:
                self._skimmer.show(raw.data, message)
                finite = all(map(math.isfinite, pose_numbers(message)))
                head = StateHead(message.sequence, stamp_s(message), finite)
            except AttributeError as error:
                raise _other_layout(raw, error, self._where) from error
        state = StateMessage(head.sequence, head.time_s, lambda: read_state(raw, self._where), head.finite)
        self._found[-1][1].add(state)

    def _evidence(self, evidence: Evidence) -> None:
        last = self._found[-1][0] if self._found else None
        if last is not None and last.episode_id == evidence.episode_id:
            # The closing one, or a latched message that was recorded twice.
            if evidence.closed or not last.closed:
                self._found[-1] = (evidence, self._found[-1][1])
            return
        if any(e.episode_id == evidence.episode_id for e, _ in self._found):
            raise BadInputError(f"holds episode {evidence.episode_id} twice", where=self._where)
        stream = StateStream(_topic(evidence), evidence.constants.max_state_gap_s)
        self._found.append((evidence, stream))

    def _types(self, raw: RawMessage) -> Typestore:
        if raw.kind != _KINDS[raw.topic]:
            raise BadInputError(
                f"{raw.topic} is of type {raw.kind!r}, not {_KINDS[raw.topic]}", where=self._where
            )
        try:
            return _types_of(raw.kind, raw.definition)
        except BadInputError as error:
            raise BadInputError(error.what, where=self._where) from error

    def finish(self, damage: list[str]) -> list[tuple[Evidence, StateStream]]:
        """The episodes; raises BadInputError where there is nothing to score."""
        if self._unreadable:
            damage.append(f"{self._unreadable} messages can't be read")
        broken = f" ({'; '.join(damage)})" if damage else ""
        if not self._found:
            raise BadInputError(
                f"holds no {EPISODE_RECORD}, so what was to be built is unknown{broken}",
                where=self._where,
                fix="record that topic from the episode's start",
            )
        for evidence, stream in self._found:
            if stream.last is None:
                raise BadInputError(
                    f"holds no states ({_topic(evidence)}) of episode {evidence.episode_id}{broken}",
                    where=self._where,
                    fix="record that topic",
                )
        return self._found


@cache
def _types_of(kind: str, definition: str) -> Typestore:
    """The types that a message is made of: as the bag defines them, else as this version does."""
    store = get_typestore(Stores.ROS2_JAZZY)
    if kind in store.fielddefs:
        return store
    if not definition:
        return typestore()
    try:
        if definition.startswith(_IDL_HEAD):
            types: dict[str, Any] = {}
            for text in definition.split(_IDL_HEAD[:-5])[1:]:
                types |= get_types_from_idl(text.split("\n", 1)[1])
        else:
            types = dict(get_types_from_msg(definition, kind))
        store.register({name: fields for name, fields in types.items() if name not in store.fielddefs})
        store.get_msgdef(kind)  # all types in it are known
    except Exception as error:
        raise BadInputError(f"its definition of {kind} can't be read ({error})") from error
    return store


def decoded(raw: RawMessage) -> Any:
    """The message; raises UNREADABLE, or BadInputError where its definition can't be read."""
    return _types_of(raw.kind, raw.definition).deserialize_cdr(raw.data, raw.kind)


def read_state(raw: RawMessage, where: str) -> WorldState:
    """A recorded state; raises BadInputError for one that can't be read."""
    try:
        message = decoded(raw)
    except UNREADABLE as error:
        raise BadInputError(f"holds a state that can't be read ({error})", where=where) from error
    try:
        return world_state(message, stamp_s(message), where)
    except AttributeError as error:
        raise _other_layout(raw, error, where) from error


def _other_layout(raw: RawMessage, error: AttributeError, where: str) -> BadInputError:
    """The bag brings its own definition of the type, which lacks a field."""
    return BadInputError(
        f"its {raw.kind} has no field {error.name!r}",
        where=where,
        fix="score it with the version that wrote it",
    )


def world_state(message: Any, time_s: float, where: str) -> WorldState:
    """From an ObjectStates message; poses bit for bit.

    Raises:
        BadInputError: a pose is not finite, or ids and poses don't fit together.
    """
    if len(message.ids) != len(message.poses):
        raise BadInputError(f"{len(message.ids)} ids with {len(message.poses)} poses", where=where)
    objects = []
    for thing, pose in zip(message.ids, message.poses, strict=True):
        p, q = pose.position, pose.orientation
        try:
            objects.append(
                ObjectState(thing, Pose((p.x, p.y, p.z), (q.x, q.y, q.z, q.w)), thing == message.held)
            )
        except ValueError as error:
            raise BadInputError(
                f"the pose of {thing} at {time_s:.3f} s is no pose ({error})", where=where
            ) from error
    return WorldState(time_s, tuple(objects), tuple((c.upper, c.lower) for c in message.connections))
