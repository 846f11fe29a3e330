"""MP4 files that any browser plays and anyone may ship.

The encoder is VP9, as found in the wheels of opencv-python-headless on PyPI. Licences along the way: the wheel is
Apache-2.0; it links an FFmpeg that was built without GPL parts (LGPL-2.1, as shared libraries that can be
exchanged) and libvpx (BSD-3-Clause), and VP9 is a royalty-free format. Rejected: PyAV (its wheels contain
libx264 and libx265, GPL), imageio-ffmpeg (a GPL ffmpeg), MPEG-4 part 2 (``mp4v``: no browser plays it), H.264 of
this wheel (only through hardware). ``.mp4`` with VP9 plays in Chromium, Firefox and Safari 16+.

Measured (640x480, a picture of the cell, one core): 26 ms and 1.8 kB a frame. Frames are therefore encoded by a
thread of their own while the caller goes on; OpenCV releases the interpreter lock, but lets nobody choose a faster
setting of the encoder.
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError, MissingCapabilityError
from jarvis_core.files import atomic_path

#: Frames waiting for the encoder (1 MB each); beyond it ``add`` waits.
_QUEUED = 64
_STOP = None


class VideoWriter:
    """Writes one file; it appears, whole, when the writer is closed.

    Args:
        path: ends in ``.mp4``.
        size: width and height in pixels, both even.
        fps: frames per second of playback.

    Raises:
        BadInputError: an odd size, another suffix, frames that don't fit or none at all.
        MissingCapabilityError: this OpenCV has no VP9 encoder.
    """

    def __init__(self, path: Path, size: tuple[int, int], fps: float) -> None:
        if path.suffix != ".mp4":
            raise BadInputError(f"a video is written as .mp4, not {path.suffix!r}", where=str(path))
        if size[0] % 2 or size[1] % 2 or min(size) <= 0:
            raise BadInputError(f"width and height must be even, not {size}", where=str(path))
        self._path = path
        self._size = size
        self._fps = fps
        self._frames: queue.Queue[npt.NDArray[np.uint8] | None] = queue.Queue(_QUEUED)
        self._error: Exception | None = None
        self._count = 0
        self._unwanted = False
        self._thread: threading.Thread | None = None

    @property
    def count(self) -> int:
        """Frames added so far."""
        return self._count

    def add(self, rgb: npt.NDArray[np.uint8]) -> None:
        """Append a frame, (height, width, 3) RGB; it is copied."""
        if rgb.shape != (self._size[1], self._size[0], 3) or rgb.dtype != np.uint8:
            raise BadInputError(
                f"a frame of shape {rgb.shape} and type {rgb.dtype} doesn't fit a video of {self._size}",
                where=str(self._path),
            )
        if self._thread is None:
            self._thread = threading.Thread(target=self._encode, name="video", daemon=True)
            self._thread.start()
        self._raise_error()
        self._frames.put(np.ascontiguousarray(rgb[:, :, ::-1]))
        self._count += 1

    def close(self) -> Path:
        """Encode what is left and put the file in its place; returns its path."""
        if self._thread is None:
            raise BadInputError("a video without frames", where=str(self._path))
        if self._thread.is_alive():
            self._frames.put(_STOP)
            self._thread.join()
        self._raise_error()
        return self._path

    def discard(self, timeout_s: float) -> None:
        """End without a file, as far as a disk that hangs lets go of it within ``timeout_s``."""
        if self._thread is None:
            return
        self._unwanted = True
        with contextlib.suppress(queue.Full):
            self._frames.put(_STOP, timeout=timeout_s)
            self._thread.join(timeout_s)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def _encode(self) -> None:
        """The thread: all frames up to the end mark. After an error it goes on emptying the queue."""
        frames = self._until_stop()
        try:
            with atomic_path(self._path) as temporary:
                self._encode_to(temporary, frames)
                if self._unwanted:
                    raise InterruptedError("the video was discarded")
        except Exception as error:  # noqa: BLE001 - add and close raise it in the caller's thread
            self._error = error
            # Nothing is left to wait for if the end mark was seen: the same iterator knows.
            for _ in frames:
                pass

    def _until_stop(self) -> Iterator[npt.NDArray[np.uint8]]:
        while (frame := self._frames.get()) is not _STOP:
            yield frame

    def _encode_to(self, path: Path, frames: Iterator[npt.NDArray[np.uint8]]) -> None:
        fourcc = cv2.VideoWriter.fourcc(*"vp09")
        writer = cv2.VideoWriter(str(path), cv2.CAP_FFMPEG, fourcc, self._fps, self._size)
        if not writer.isOpened():
            raise MissingCapabilityError(
                "this OpenCV can't encode VP9", fix="pip install opencv-python-headless (from PyPI)"
            )
        try:
            for frame in frames:
                writer.write(frame)
        finally:
            writer.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # What was filmed before a failure is worth as much as the rest.
        if self._thread is not None:
            self.close()
