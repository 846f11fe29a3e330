"""States of a recording, read in a hurry: of most nothing but number, time and whether their poses are numbers."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Serialised with the low byte first, as every machine that runs ROS 2 today does.
_LITTLE_ENDIAN = b"\x00\x01\x00\x00"
#: Alignment counts from behind those four bytes.
_BODY = len(_LITTLE_ENDIAN)
_STAMP = struct.Struct("<iI")
_COUNT = struct.Struct("<I")
_SEQUENCE = struct.Struct("<Q")
_NUMBERS_OF_A_POSE = 7


@dataclass(frozen=True, slots=True)
class StateHead:
    """What a replay needs of a state that is not the last.

    Attributes:
        finite: every number of its poses is one.
    """

    sequence: int
    time_s: float
    finite: bool


@dataclass(frozen=True, slots=True)
class _Pattern:
    """A message that was read as a whole, and where in it that lies which changes from one to the next.

    ::

        head | stamp | frame_id | sequence | ids, number of poses | poses | held, connections
                  4  12         at                            first     last
    """

    data: bytes
    at: int
    first: int
    last: int

    def fits(self, data: bytes) -> bool:
        """Whether a message differs in stamp, sequence and poses only."""
        known, behind = self.data, self.at + _SEQUENCE.size
        return (
            len(data) == len(known)
            and data[self.last :] == known[self.last :]
            and data[behind : self.first] == known[behind : self.first]
            and data[12 : self.at] == known[12 : self.at]
            and data.startswith(_LITTLE_ENDIAN)
        )

    def head(self, data: bytes) -> StateHead:
        seconds, nanoseconds = _STAMP.unpack_from(data, _BODY)
        (sequence,) = _SEQUENCE.unpack_from(data, self.at)
        count = (self.last - self.first) // 8
        poses = np.frombuffer(data, "<f8", count, self.first)
        return StateHead(sequence, _time_s(seconds, nanoseconds), bool(np.isfinite(poses).all()))


class StateSkimmer:
    """Reads heads of ObjectStates messages like those that it was shown whole."""

    def __init__(self) -> None:
        self._pattern: _Pattern | None = None

    def head(self, data: bytes) -> StateHead | None:
        """None for a message that has to be read whole: other objects, other connections, another layout."""
        if self._pattern is None or not self._pattern.fits(data):
            return None
        return self._pattern.head(data)

    def show(self, data: bytes, message: Any) -> None:
        """A message and what it says; it is the pattern for the next ones if its layout is the usual one."""
        self._pattern = None
        if not data.startswith(_LITTLE_ENDIAN):
            return
        at = _aligned(12 + _COUNT.size + len(message.header.frame_id.encode()) + 1, 8)
        end = at + _SEQUENCE.size + _COUNT.size
        for name in message.ids:
            end = _aligned(end, 4) + _COUNT.size + len(name.encode()) + 1
        first = _aligned(_aligned(end, 4) + _COUNT.size, 8)
        last = first + 8 * _NUMBERS_OF_A_POSE * len(message.poses)
        if last > len(data):
            return
        pattern = _Pattern(data, at, first, last)
        poses = np.frombuffer(data, "<f8", (last - first) // 8, first)
        if pattern.head(data).sequence == message.sequence and np.array_equal(
            poses, pose_numbers(message), equal_nan=True
        ):
            self._pattern = pattern


def stamp_s(message: Any) -> float:
    """Seconds of the stamp in a message's header."""
    return _time_s(message.header.stamp.sec, message.header.stamp.nanosec)


def _time_s(seconds: int, nanoseconds: int) -> float:
    return (seconds * 1_000_000_000 + nanoseconds) / 1_000_000_000


def _aligned(at: int, size: int) -> int:
    return at + (_BODY - at) % size


def pose_numbers(message: Any) -> list[float]:
    """All of its poses, one after another."""
    numbers: list[float] = []
    for pose in message.poses:
        p, q = pose.position, pose.orientation
        numbers += (p.x, p.y, p.z, q.x, q.y, q.z, q.w)
    return numbers
