"""The bag of an episode: an MCAP rosbag2 directory, written and read without ROS.

In one process a bag's numbers of skill calls begin at 0; over ROS they are those of the skill node, which goes on
counting. All times are the cell's clock. ``ros2 bag play BAG --clock`` replays it.

=========================== ==================================== ======================================
topic                       type                                 what
=========================== ==================================== ======================================
/clock                      rosgraph_msgs/msg/Clock              the cell's clock
/joint_states               sensor_msgs/msg/JointState           arm and fingers
/sim/object_states          jarvis_interfaces/msg/ObjectStates   true poses, held, connections; counted
/perceived/object_states    jarvis_interfaces/msg/ObjectStates   in its place where no simulator is: poses as seen
/sim/connection_events      jarvis_interfaces/msg/ConnectionEvent connections made and broken; counted
/camera/color/image_raw/compressed sensor_msgs/msg/CompressedImage JPEG pictures of the top camera
/skills/goals               jarvis_interfaces/msg/SkillGoal      skills that begin; counted
/skills/feedback            jarvis_interfaces/msg/SkillFeedback  phases they go through; counted
/skills/calls               jarvis_interfaces/msg/SkillCall      what came of them; counted
/agent/calls                jarvis_interfaces/msg/AgentCall      what the agent asked and was answered; counted
/episode/record             std_msgs/msg/String, latched         JSON: what else a score needs
=========================== ==================================== ======================================
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from jarvis_core.episode import CallRecord, ToolCall
from jarvis_core.errors import BadInputError
from jarvis_core.objects import ConnectionEvent, ObjectState, StateSource, WorldState
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillGoal
from rosbags.highlevel import AnyReader
from rosbags.highlevel.anyreader import AnyReaderError
from rosbags.interfaces import (
    Connection,
    Qos,
    QosDurability,
    QosHistory,
    QosLiveliness,
    QosReliability,
    QosTime,
)

from jarvis_episode.recording import messages
from jarvis_episode.recording.messages import Messages
from jarvis_episode.recording.split import SplitLimits, SplitWriter

CLOCK = "/clock"
JOINT_STATES = "/joint_states"
OBJECT_STATES = "/sim/object_states"
#: What a record's states are made of, and where they are published.
STATE_TOPICS: dict[StateSource, str] = {"true": OBJECT_STATES, "perceived": "/perceived/object_states"}
CONNECTION_EVENTS = "/sim/connection_events"
TOP_CAMERA = "/camera/color/image_raw/compressed"
SKILL_GOALS = "/skills/goals"
SKILL_FEEDBACK = "/skills/feedback"
SKILL_CALLS = "/skills/calls"
AGENT_CALLS = "/agent/calls"
EPISODE_RECORD = "/episode/record"

_FOREVER = QosTime(0, 0)
_NANOSECONDS = 1_000_000_000


def _quality(depth: int, durability: QosDurability) -> Qos:
    return Qos(
        QosHistory.KEEP_LAST,
        depth,
        QosReliability.RELIABLE,
        durability,
        _FOREVER,
        _FOREVER,
        QosLiveliness.AUTOMATIC,
        _FOREVER,
        avoid_ros_namespace_conventions=False,
    )


#: A stream: late subscribers get what comes next.
STREAM = _quality(10, QosDurability.VOLATILE)
#: A latched topic: late subscribers get the last message.
LATCHED = _quality(1, QosDurability.TRANSIENT_LOCAL)


class BagWriter:
    """Writes a bag. May be used from several threads. Closes cleanly however the block ends.

    Args:
        path: folder to create.
        interfaces: folder with msg/ of jarvis_interfaces; found by itself where None.
        limits: when a further file begins; None: never.
        states: what the states are made of.

    Raises:
        BadInputError: the folder exists.
    """

    def __init__(
        self,
        path: Path,
        interfaces: Path | None = None,
        limits: SplitLimits | None = None,
        states: StateSource = "true",
    ) -> None:
        self._states_topic = STATE_TOPICS[states]
        if path.exists():
            raise BadInputError("a bag is there already", where=str(path))
        self._messages = Messages(interfaces)
        self._lock = threading.Lock()
        self._connections: dict[str, Connection] = {}
        self._sequences: dict[str, int] = {}
        self._writer = SplitWriter(path, limits)
        self._writer.open()
        self._open = True

    def write_clock(self, time_s: float) -> None:
        self._write(CLOCK, messages.CLOCK_TYPE, time_s, self._messages.clock(time_s))

    def write_joint_states(
        self,
        time_s: float,
        names: Sequence[str],
        positions: Sequence[float],
        velocities: Sequence[float] = (),
    ) -> None:
        """Joint positions in rad (arm) and m (fingers), velocities per second."""
        message = self._messages.joint_state(time_s, names, positions, velocities)
        self._write(JOINT_STATES, messages.JOINT_STATE_TYPE, time_s, message)

    def write_world_state(self, state: WorldState) -> None:
        """Every object's state. The message has room for one held object: of several (pads may touch two) the first."""
        self._write_counted(
            self._states_topic,
            messages.OBJECT_STATES_TYPE,
            state.time_s,
            lambda number: self._messages.object_states(number, state),
        )

    def write_event(self, event: ConnectionEvent) -> None:
        """A connection made or broken."""
        self._write_counted(
            CONNECTION_EVENTS,
            messages.EVENT_TYPE,
            event.time_s,
            lambda number: self._messages.event(number, event),
        )

    def write_goal(self, time_s: float, goal: SkillGoal) -> None:
        """A skill begins; goals are numbered in the order of writing, from 0."""
        self._write_counted(
            SKILL_GOALS,
            messages.GOAL_TYPE,
            time_s,
            lambda number: self._messages.goal(number, time_s, goal),
        )

    def write_feedback(self, time_s: float, call: int, phase: str) -> None:
        """A phase of the skill whose goal has the number ``call``."""
        self._write_counted(
            SKILL_FEEDBACK,
            messages.FEEDBACK_TYPE,
            time_s,
            lambda number: self._messages.feedback(number, time_s, call, phase),
        )

    def write_call(self, call: CallRecord) -> None:
        """A skill ended; its ``index`` is the number of its goal."""
        self._write_counted(
            SKILL_CALLS, messages.CALL_TYPE, call.end_s, lambda number: self._messages.call(number, call)
        )

    def write_agent_call(self, call: ToolCall) -> None:
        """What an agent asked and was answered; its ``index`` is the sequence number."""
        self._write(AGENT_CALLS, messages.AGENT_CALL_TYPE, call.end_s, self._messages.agent_call(call))

    def write_jpeg(self, time_s: float, jpeg: bytes, frame_id: str, topic: str = TOP_CAMERA) -> None:
        """A picture, already encoded."""
        self._write(topic, messages.IMAGE_TYPE, time_s, self._messages.jpeg(time_s, jpeg, frame_id))

    def write_episode(self, time_s: float, json: str) -> None:
        """What else a score needs (targets, shapes, budget), as JSON; latched."""
        self._write(EPISODE_RECORD, messages.STRING_TYPE, time_s, self._messages.string(json), LATCHED)

    def write_raw(self, topic: str, kind: str, time_s: float, cdr: bytes, *, latched: bool = False) -> None:
        """A message that is serialised already (CDR), as a ROS recorder gets it.

        Raises:
            BadInputError: ``kind`` is a type that neither ROS nor jarvis_interfaces/msg defines.
        """
        with self._lock:
            connection = self._connection(topic, kind, LATCHED if latched else STREAM)
            self._writer.write(connection, messages.nanoseconds(time_s), cdr)

    def close(self) -> None:
        """Write index and metadata. May be called again."""
        with self._lock:
            if self._open:
                self._open = False
                self._writer.close()

    def abort(self) -> None:
        """Let the file go without index or metadata: the disk has no room for them. May be called after ``close``."""
        self._open = False
        if self._writer.storage is not None:
            with contextlib.suppress(OSError):  # what is left in the file's buffer
                self._writer.storage.abort()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _write(self, topic: str, kind: str, time_s: float, message: Any, quality: Qos = STREAM) -> None:
        with self._lock:
            self._write_locked(topic, kind, time_s, message, quality)

    def _write_counted(self, topic: str, kind: str, time_s: float, make: Callable[[int], Any]) -> None:
        """``make`` is given the message's sequence number."""
        with self._lock:
            number = self._sequences.get(topic, 0)
            self._sequences[topic] = number + 1
            self._write_locked(topic, kind, time_s, make(number), STREAM)

    def _write_locked(self, topic: str, kind: str, time_s: float, message: Any, quality: Qos) -> None:
        connection = self._connection(topic, kind, quality)
        data = self._messages.serialized(kind, message)
        self._writer.write(connection, messages.nanoseconds(time_s), data)

    def _connection(self, topic: str, kind: str, quality: Qos) -> Connection:
        known = self._connections.get(topic)
        if known is None:
            if kind not in self._messages.types.fielddefs:
                raise BadInputError(f"unknown message type {kind}", where=topic)
            known = self._writer.add_connection(
                topic, kind, typestore=self._messages.types, offered_qos_profiles=[quality]
            )
            self._connections[topic] = known
        elif known.msgtype != kind:
            raise BadInputError(f"carries {known.msgtype}, not {kind}", where=topic)
        return known


def read_world_states(path: Path) -> tuple[WorldState, ...]:
    """All true states of a bag, in order; poses bit for bit as written, times rounded to nanoseconds.

    Raises:
        BadInputError: no bag, none of these messages, or a gap in their sequence numbers (lost messages).
    """
    states = []
    expected: int | None = None
    for message in _messages(path, OBJECT_STATES):
        if expected is not None and message.sequence != expected:
            raise BadInputError(
                f"messages {expected} to {message.sequence - 1} of {OBJECT_STATES} are missing",
                where=str(path),
                fix="this episode can't be scored from its bag",
            )
        expected = message.sequence + 1
        states.append(_world_state(message))
    return tuple(states)


def read_episode(path: Path) -> str:
    """The JSON that ``write_episode`` wrote last; raises BadInputError where there is none."""
    return str(list(_messages(path, EPISODE_RECORD))[-1].data)


def _messages(path: Path, topic: str) -> Iterator[Any]:
    """All messages of a topic, from the file's start (a latched message may come long before the rest)."""
    try:
        with AnyReader([path]) as reader:
            connections = [c for c in reader.connections if c.topic == topic]
            # The reader takes an empty list for "all topics".
            if not connections:
                raise BadInputError(f"holds no message of {topic}", where=str(path))
            for connection, _, data in reader.messages(connections=connections):
                yield reader.deserialize(data, connection.msgtype)
    except (AnyReaderError, OSError) as error:
        raise BadInputError(f"can't be read as a bag ({error})", where=str(path)) from error


def _world_state(message: Any) -> WorldState:
    stamp = message.header.stamp
    return WorldState(
        time_s=(stamp.sec * _NANOSECONDS + stamp.nanosec) / _NANOSECONDS,
        objects=tuple(
            ObjectState(thing, _pose_of(pose), thing == message.held)
            for thing, pose in zip(message.ids, message.poses, strict=True)
        ),
        connections=tuple((c.upper, c.lower) for c in message.connections),
    )


def _pose_of(pose: Any) -> Pose:
    p, q = pose.position, pose.orientation
    return Pose((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))
