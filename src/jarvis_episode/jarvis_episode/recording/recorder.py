"""Everything that is written while an episode runs, whoever delivers it: a world in this process or ROS topics."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.cell import CameraConfig
from jarvis_core.episode import EpisodeRecord
from jarvis_core.files import encode
from jarvis_core.objects import ConnectionEvent, WorldState
from jarvis_core.observation import CameraFrame
from jarvis_scoring.evidence import Evidence

from jarvis_episode.config import EpisodeConfig
from jarvis_episode.recording.bag import BagWriter
from jarvis_episode.recording.folder import EpisodeFolder
from jarvis_episode.recording.video import VideoWriter

Rgb = npt.NDArray[np.uint8]

CAMERA_FRAME_ID = "camera_optical_frame"
JPEG_QUALITY = 85


class EpisodeRecorder:
    """Writes bag and video into an episode's folder. Calls must not overlap; close before ``finish``."""

    def __init__(self, folder: EpisodeFolder, overview: CameraConfig, config: EpisodeConfig) -> None:
        self._folder = folder
        self._bag = BagWriter(folder.bag)
        self._video = VideoWriter(folder.video, (overview.width, overview.height), config.video_fps)
        self._events: list[ConnectionEvent] = []

    @property
    def events(self) -> tuple[ConnectionEvent, ...]:
        """All connection events so far."""
        return tuple(self._events)

    def state(self, state: WorldState) -> None:
        """True poses; also stamps the bag's clock."""
        self._bag.write_clock(state.time_s)
        self._bag.write_world_state(state)

    def joints(self, time_s: float, names: Sequence[str], positions: Sequence[float]) -> None:
        self._bag.write_joint_states(time_s, names, positions)

    def event(self, event: ConnectionEvent) -> None:
        self._events.append(event)
        self._bag.write_event(event)

    def camera(self, time_s: float, rgb: Rgb) -> None:
        """A picture of the top camera, kept as JPEG."""
        self._bag.write_jpeg(time_s, to_jpeg(rgb), CAMERA_FRAME_ID)

    def video_frame(self, rgb: Rgb) -> None:
        self._video.add(rgb)

    def before(self, frame: CameraFrame) -> None:
        self._folder.write_before(to_png(frame.rgb))

    def after(self, frame: CameraFrame) -> None:
        self._folder.write_after(to_png(frame.rgb))

    def opening(self, record: EpisodeRecord) -> None:
        """Before the first state: what a score needs to know, should nothing else ever be written."""
        evidence = Evidence.of_record(record).opening()
        self._bag.write_episode(evidence.initial.time_s, encode(evidence).decode())

    def truth(self, record: EpisodeRecord) -> None:
        """After the last state: what else a score needs, so that the bag can be scored alone."""
        self._bag.write_episode(record.final.time_s, encode(Evidence.of_record(record)).decode())

    def close(self) -> None:
        """Finish both files. A video without a frame is no file."""
        try:
            if self._video.count:
                self._video.close()
        finally:
            self._bag.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


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
