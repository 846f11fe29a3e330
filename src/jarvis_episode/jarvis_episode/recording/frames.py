"""A recording as evenly spaced frames, as datasets for learning want it: joints and the top camera's picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError

from jarvis_episode.recording.bag import JOINT_STATES, TOP_CAMERA
from jarvis_episode.recording.replay import UNREADABLE, decoded
from jarvis_episode.recording.storage import Storage

FloatArray = npt.NDArray[np.float32]
IntArray = npt.NDArray[np.intp]
Rgb = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames k = 0 .. n - 1, at ``start_s + k / fps`` on the cell's clock.

    Attributes:
        joints: names of the j joints.
        state: (n, j) the last recorded position before each frame, rad (arm) and m (fingers).
        action: (n, j) the state of the next frame, that of the last frame for itself: what an absolute position
            controller would have been told.
        picture: (n,) index into ``jpegs`` of the last picture before each frame.
        picture_age_s: (n,) how old that is: the camera may be recorded at a lower rate than ``fps``.
        jpegs: as recorded.
    """

    fps: int
    start_s: float
    joints: tuple[str, ...]
    state: FloatArray
    action: FloatArray
    picture: IntArray
    picture_age_s: FloatArray
    jpegs: tuple[bytes, ...]

    def __len__(self) -> int:
        return len(self.state)


def read_frames(bag: Path, fps: int, start_s: float, end_s: float) -> Frames:
    """Frames of a bag from the first moment at which both joints and a picture are known.

    Args:
        bag: folder or file.
        start_s, end_s: on the cell's clock, the part that is wanted.

    Raises:
        BadInputError: no bag, no joints or no pictures in it, joints that change, or a time without a whole frame.
    """
    stamps, positions, joints = _joints(bag)
    pictures, jpegs = _pictures(bag)
    first = max(start_s, stamps[0], pictures[0])
    count = int((min(end_s, stamps[-1]) - first) * fps + 1e-6)
    if count < 1:
        raise BadInputError(
            f"has no frame of 1/{fps} s between {first:.2f} and {end_s:.2f} s", where=str(bag)
        )
    times = first + np.arange(count + 1) / fps
    states = positions[_last_before(stamps, times)].astype(np.float32)
    picture = _last_before(pictures, times[:-1])
    age = np.maximum(times[:-1] - pictures[picture], 0.0).astype(np.float32)
    return Frames(fps, first, joints, states[:-1], states[1:], picture, age, jpegs)


def decode_jpeg(jpeg: bytes, where: str) -> Rgb:
    """(height, width, 3) RGB; raises BadInputError for what is no picture."""
    bgr = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    if bgr is None:
        raise BadInputError("holds a camera picture that can't be decoded", where=where)
    return np.ascontiguousarray(bgr[:, :, ::-1], dtype=np.uint8)


def _last_before(stamps: npt.NDArray[np.float64], times: npt.NDArray[np.float64]) -> IntArray:
    # Clocks are recorded in nanoseconds: what lies that close was meant to be simultaneous.
    return np.maximum(np.searchsorted(stamps, times + 1e-6, side="right") - 1, 0)


def _joints(bag: Path) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], tuple[str, ...]]:
    """Times, positions and names."""
    messages = _messages(bag, JOINT_STATES)
    names = tuple(messages[0].name)
    if odd := next((m for m in messages if tuple(m.name) != names or len(m.position) != len(names)), None):
        raise BadInputError(f"joints change at {_time_s(odd):.2f} s", where=f"{bag}: {JOINT_STATES}")
    positions = np.array([m.position for m in messages])
    if not np.isfinite(positions).all():
        raise BadInputError("holds a position that is no number", where=f"{bag}: {JOINT_STATES}")
    return _growing([_time_s(m) for m in messages], f"{bag}: {JOINT_STATES}"), positions, names


def _pictures(bag: Path) -> tuple[npt.NDArray[np.float64], tuple[bytes, ...]]:
    """Times and JPEG files."""
    messages = _messages(bag, TOP_CAMERA)
    stamps = _growing([_time_s(m) for m in messages], f"{bag}: {TOP_CAMERA}")
    return stamps, tuple(bytes(m.data) for m in messages)


def _messages(bag: Path, topic: str) -> list[Any]:
    found = []
    for raw in Storage.open(bag).messages((topic,)):
        try:
            found.append(decoded(raw))
        except UNREADABLE as error:
            raise BadInputError(
                f"holds a message that can't be read ({error})", where=f"{bag}: {topic}"
            ) from error
    if not found:
        raise BadInputError(f"holds no message of {topic}", where=str(bag), fix="record that topic")
    return found


def _growing(stamps: Sequence[float], where: str) -> npt.NDArray[np.float64]:
    times = np.array(stamps)
    if (np.diff(times) < 0).any():
        raise BadInputError("its clock goes back", where=where, fix="export recordings of one episode each")
    return times


def _time_s(message: Any) -> float:
    return float(message.header.stamp.sec) + 1e-9 * float(message.header.stamp.nanosec)
