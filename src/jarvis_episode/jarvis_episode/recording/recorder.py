"""Everything that is written while an episode runs, whoever delivers it: a world in this process or ROS topics."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_core.cell import CameraConfig
from jarvis_core.episode import CallRecord, EpisodeRecord, ToolCall
from jarvis_core.errors import RefusedError
from jarvis_core.files import encode
from jarvis_core.objects import ConnectionEvent, StateSource, WorldState
from jarvis_core.observation import CameraFrame
from jarvis_core.skills import SkillGoal
from jarvis_scoring.evidence import Evidence

from jarvis_episode.config import EpisodeConfig
from jarvis_episode.recording.bag import BagWriter
from jarvis_episode.recording.folder import EpisodeFolder
from jarvis_episode.recording.pump import Pump
from jarvis_episode.recording.split import SplitLimits
from jarvis_episode.recording.video import VideoWriter

Rgb = npt.NDArray[np.uint8]

CAMERA_FRAME_ID = "camera_optical_frame"
JPEG_QUALITY = 85
_RESERVE_FILE = ".reserve"

logger = logging.getLogger(__name__)


class EpisodeRecorder:
    """Writes bag and video into an episode's folder. Calls must not overlap; close before ``finish``.

    A disk that is full or hangs ends the recording, not the episode: ``judged`` then marks the record as incomplete.
    Room for that record is kept from the start.

    Args:
        states: what the states are made of.

    Raises:
        RefusedError: not even that room is there.
    """

    def __init__(
        self,
        folder: EpisodeFolder,
        overview: CameraConfig,
        config: EpisodeConfig,
        states: StateSource = "true",
    ) -> None:
        self._folder = folder
        self._reserve = folder.path / _RESERVE_FILE
        reserve(self._reserve, config.record_reserve_bytes)
        limits = SplitLimits(config.bag_split_bytes, config.bag_split_s)
        self._bag = BagWriter(folder.bag, limits=limits, states=states)
        self._patience_s = config.record_patience_s
        self._pump = Pump(config.record_queue, config.record_patience_s)
        self._video = VideoWriter(folder.video, (overview.width, overview.height), config.video_fps)
        self._events: list[ConnectionEvent] = []
        self._stopped = ""

    @property
    def events(self) -> tuple[ConnectionEvent, ...]:
        """All connection events so far."""
        return tuple(self._events)

    @property
    def stopped(self) -> str:
        """Why nothing is recorded any more; empty while all is well."""
        return self._pump.stopped or self._stopped

    def state(self, state: WorldState) -> None:
        """Poses of all objects; also stamps the bag's clock."""
        self._pump.put(lambda: self._bag.write_clock(state.time_s))
        self._pump.put(lambda: self._bag.write_world_state(state))

    def joints(self, time_s: float, names: Sequence[str], positions: Sequence[float]) -> None:
        self._pump.put(lambda: self._bag.write_joint_states(time_s, names, positions))

    def event(self, event: ConnectionEvent) -> None:
        self._events.append(event)
        self._pump.put(lambda: self._bag.write_event(event))

    def goal(self, time_s: float, goal: SkillGoal) -> None:
        """A skill begins; goals are numbered from 0."""
        self._pump.put(lambda: self._bag.write_goal(time_s, goal))

    def feedback(self, time_s: float, call: int, phase: str) -> None:
        """A phase of the skill whose goal has the number ``call``."""
        self._pump.put(lambda: self._bag.write_feedback(time_s, call, phase))

    def call(self, call: CallRecord) -> None:
        """A skill ended; its ``index`` is the number of its goal."""
        self._pump.put(lambda: self._bag.write_call(call))

    def agent_call(self, call: ToolCall) -> None:
        """What the agent asked and was answered."""
        self._pump.put(lambda: self._bag.write_agent_call(call))

    def raw(self, topic: str, kind: str, time_s: float, cdr: bytes) -> None:
        """A message as another node sent it."""
        self._pump.put(lambda: self._bag.write_raw(topic, kind, time_s, cdr))

    def camera(self, time_s: float, rgb: Rgb) -> None:
        """A picture of the top camera, kept as JPEG."""
        jpeg = to_jpeg(rgb)
        self._pump.put(lambda: self._bag.write_jpeg(time_s, jpeg, CAMERA_FRAME_ID))

    def video_frame(self, rgb: Rgb) -> None:
        self._unless_full(lambda: self._video.add(rgb))

    def before(self, frame: CameraFrame) -> None:
        self._unless_full(lambda: self._folder.write_before(to_png(frame.rgb)))

    def after(self, frame: CameraFrame) -> None:
        self._unless_full(lambda: self._folder.write_after(to_png(frame.rgb)))

    def opening(self, record: EpisodeRecord) -> None:
        """Before the first state: what a score needs to know, should nothing else ever be written."""
        self._evidence(Evidence.of_record(record).opening(), record.initial.time_s)

    def truth(self, record: EpisodeRecord) -> None:
        """After the last state: what else a score needs, so that the bag can be scored alone."""
        self._evidence(Evidence.of_record(record), record.final.time_s)

    def judged(self, record: EpisodeRecord) -> EpisodeRecord:
        """After ``close``: the record as it is kept; one whose recording stopped early is incomplete and says why."""
        if not self.stopped:
            return record
        why = f"the recording stopped: {self.stopped}; {self._pump.lost} messages are missing"
        return msgspec.structs.replace(record, outcome="cell_error", outcome_message=why)

    def close(self) -> None:
        """Finish both files and give the room back. A video without a frame is no file."""
        try:
            if self._video.count:
                self._unless_full(lambda: self._video.close())
        finally:
            try:
                self._pump.put(self._bag.close)
                self._pump.close()
            finally:
                if self.stopped:
                    self._video.discard(self._patience_s)
                    # Whoever hangs in a write holds on to the file.
                    if not self._pump.hangs:
                        self._bag.abort()
                    logger.error("the recording of %s stopped: %s", self._folder.path.name, self.stopped)
                self._reserve.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _evidence(self, evidence: Evidence, time_s: float) -> None:
        text = encode(evidence).decode()
        self._pump.put(lambda: self._bag.write_episode(time_s, text))

    def _unless_full(self, write: Callable[[], object]) -> None:
        """Pictures are of no use to a score, but a disk that has no room for them has none for the rest."""
        if self.stopped:
            return
        try:
            write()
        except OSError as error:
            self._stopped = error.strerror or str(error)


def reserve(path: Path, size: int) -> None:
    """Make a file that takes so much room; raises RefusedError where it is not there."""
    try:
        with path.open("wb") as file:
            os.posix_fallocate(file.fileno(), 0, size)
    except OSError as error:
        raise RefusedError(
            f"has no room for the {size:,} bytes that are kept for a record ({error.strerror})",
            where=str(path.parent),
            fix="free some room, or choose another output folder",
        ) from error


def to_png(rgb: Rgb) -> bytes:
    """(height, width, 3) RGB as PNG."""
    return _encoded(".png", rgb, [])


def to_jpeg(rgb: Rgb) -> bytes:
    """(height, width, 3) RGB as JPEG."""
    return _encoded(".jpg", rgb, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])


def _encoded(suffix: str, rgb: Rgb, options: list[int]) -> bytes:
    ok, data = cv2.imencode(suffix, rgb[:, :, ::-1], options)
    if not ok:
        raise ValueError(f"OpenCV could not encode an image of shape {rgb.shape} as {suffix}")
    return bytes(data)
