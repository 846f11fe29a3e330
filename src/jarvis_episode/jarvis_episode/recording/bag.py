"""The bag of an episode: an MCAP rosbag2 directory, written and read without ROS.

All times are the cell's clock. ``ros2 bag play BAG --clock`` replays it.

=========================== ==================================== ======================================
topic                       type                                 what
=========================== ==================================== ======================================
/clock                      rosgraph_msgs/msg/Clock              the cell's clock
/joint_states               sensor_msgs/msg/JointState           arm and fingers
/sim/object_states          jarvis_interfaces/msg/ObjectStates   true poses, held, connections; counted
/sim/connection_events      jarvis_interfaces/msg/ConnectionEvent connections made and broken; counted
/camera/color/image_raw/compressed sensor_msgs/msg/CompressedImage JPEG pictures of the top camera
/episode/record             std_msgs/msg/String, latched         JSON: what else a score needs
=========================== ==================================== ======================================
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.objects import ConnectionEvent, ObjectState, WorldState
from jarvis_core.pose import Pose
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
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

from jarvis_episode.recording.message_types import typestore

CLOCK = "/clock"
JOINT_STATES = "/joint_states"
OBJECT_STATES = "/sim/object_states"
CONNECTION_EVENTS = "/sim/connection_events"
TOP_CAMERA = "/camera/color/image_raw/compressed"
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

    Raises:
        BadInputError: the folder exists.
    """

    def __init__(self, path: Path, interfaces: Path | None = None) -> None:
        if path.exists():
            raise BadInputError("a bag is there already", where=str(path))
        self._types = typestore(interfaces)
        self._lock = threading.Lock()
        self._connections: dict[str, Connection] = {}
        self._sequences: dict[str, int] = {}
        self._writer = Writer(path, version=Writer.VERSION_LATEST, storage_plugin=StoragePlugin.MCAP)
        # Chunks are compressed, not the file: what a killed process leaves can still be read chunk by chunk.
        self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        self._writer.open()
        self._open = True

    def write_clock(self, time_s: float) -> None:
        kind = "rosgraph_msgs/msg/Clock"
        self._write(CLOCK, kind, time_s, self._make(kind, clock=self._time(time_s)))

    def write_joint_states(
        self,
        time_s: float,
        names: Sequence[str],
        positions: Sequence[float],
        velocities: Sequence[float] = (),
    ) -> None:
        """Joint positions in rad (arm) and m (fingers), velocities per second."""
        kind = "sensor_msgs/msg/JointState"
        message = self._make(
            kind,
            header=self._header(time_s, ""),
            name=list(names),
            position=np.asarray(positions, dtype=np.float64),
            velocity=np.asarray(velocities, dtype=np.float64),
            effort=np.zeros(0),
        )
        self._write(JOINT_STATES, kind, time_s, message)

    def write_world_state(self, state: WorldState) -> None:
        """The true state. The message has room for one held object: of several (pads may touch two) the first."""
        held = [thing.id for thing in state.objects if thing.held]
        kind = "jarvis_interfaces/msg/ObjectStates"
        pair = "jarvis_interfaces/msg/Connection"
        with self._lock:
            message = self._make(
                kind,
                header=self._header(state.time_s, "world"),
                sequence=self._next(OBJECT_STATES),
                ids=[thing.id for thing in state.objects],
                poses=[self._pose(thing.pose) for thing in state.objects],
                held=held[0] if held else "",
                connections=[
                    self._make(pair, upper=upper, lower=lower) for upper, lower in state.connections
                ],
            )
            self._write_locked(OBJECT_STATES, kind, state.time_s, message, STREAM)

    def write_event(self, event: ConnectionEvent) -> None:
        """A connection made or broken."""
        kind = "jarvis_interfaces/msg/ConnectionEvent"
        with self._lock:
            message = self._make(
                kind,
                header=self._header(event.time_s, "world"),
                sequence=self._next(CONNECTION_EVENTS),
                kind=event.kind,
                upper=event.upper,
                lower=event.lower,
                error_xy_m=event.error_xy_m,
                error_z_m=event.error_z_m,
                error_yaw_rad=event.error_yaw_rad,
                force_n=event.force_n,
                studs=event.studs,
            )
            self._write_locked(CONNECTION_EVENTS, kind, event.time_s, message, STREAM)

    def write_jpeg(self, time_s: float, jpeg: bytes, frame_id: str, topic: str = TOP_CAMERA) -> None:
        """A picture, already encoded."""
        kind = "sensor_msgs/msg/CompressedImage"
        message = self._make(
            kind,
            header=self._header(time_s, frame_id),
            format="jpeg",
            data=np.frombuffer(jpeg, dtype=np.uint8),
        )
        self._write(topic, kind, time_s, message)

    def write_episode(self, time_s: float, json: str) -> None:
        """What else a score needs (targets, shapes, budget), as JSON; latched."""
        kind = "std_msgs/msg/String"
        self._write(EPISODE_RECORD, kind, time_s, self._make(kind, data=json), LATCHED)

    def write_raw(self, topic: str, kind: str, time_s: float, cdr: bytes, *, latched: bool = False) -> None:
        """A message that is serialised already (CDR), as a ROS recorder gets it.

        Raises:
            BadInputError: ``kind`` is a type that neither ROS nor jarvis_interfaces/msg defines.
        """
        with self._lock:
            connection = self._connection(topic, kind, LATCHED if latched else STREAM)
            self._writer.write(connection, _nanoseconds(time_s), cdr)

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

    def _write_locked(self, topic: str, kind: str, time_s: float, message: Any, quality: Qos) -> None:
        connection = self._connection(topic, kind, quality)
        self._writer.write(connection, _nanoseconds(time_s), self._types.serialize_cdr(message, kind))

    def _connection(self, topic: str, kind: str, quality: Qos) -> Connection:
        known = self._connections.get(topic)
        if known is None:
            if kind not in self._types.fielddefs:
                raise BadInputError(f"unknown message type {kind}", where=topic)
            known = self._writer.add_connection(
                topic, kind, typestore=self._types, offered_qos_profiles=[quality]
            )
            self._connections[topic] = known
        elif known.msgtype != kind:
            raise BadInputError(f"carries {known.msgtype}, not {kind}", where=topic)
        return known

    def _next(self, topic: str) -> int:
        sequence = self._sequences.get(topic, 0)
        self._sequences[topic] = sequence + 1
        return sequence

    def _make(self, type_name: str, /, **fields: Any) -> Any:
        return self._types.types[type_name](**fields)

    def _time(self, time_s: float) -> Any:
        seconds, nanoseconds = divmod(_nanoseconds(time_s), _NANOSECONDS)
        return self._make("builtin_interfaces/msg/Time", sec=seconds, nanosec=nanoseconds)

    def _header(self, time_s: float, frame_id: str) -> Any:
        return self._make("std_msgs/msg/Header", stamp=self._time(time_s), frame_id=frame_id)

    def _pose(self, pose: Pose) -> Any:
        x, y, z, qx, qy, qz, qw = pose.to_list()
        return self._make(
            "geometry_msgs/msg/Pose",
            position=self._make("geometry_msgs/msg/Point", x=x, y=y, z=z),
            orientation=self._make("geometry_msgs/msg/Quaternion", x=qx, y=qy, z=qz, w=qw),
        )


def _nanoseconds(time_s: float) -> int:
    return round(time_s * _NANOSECONDS)


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
