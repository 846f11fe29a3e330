"""Videos are whole, small and of the right length."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from jarvis_core.errors import BadInputError, MissingCapabilityError
from jarvis_episode.recording import video
from jarvis_episode.recording.video import VideoWriter

SIZE = (320, 240)


def frame(k: int) -> npt.NDArray[np.uint8]:
    """A dark red picture with a bright square that moves right."""
    picture = np.full((SIZE[1], SIZE[0], 3), (120, 20, 20), dtype=np.uint8)
    picture[100:140, 10 + 4 * k : 50 + 4 * k] = 230
    return picture


def test_frames_come_back_in_order_with_their_colours(tmp_path: Path) -> None:
    path = tmp_path / "video.mp4"
    with VideoWriter(path, SIZE, 20) as writer:
        for k in range(30):
            writer.add(frame(k))
        assert writer.count == 30
        assert not path.exists()
    reader = cv2.VideoCapture(str(path))
    assert reader.get(cv2.CAP_PROP_FPS) == pytest.approx(20)
    seen = []
    while True:
        ok, bgr = reader.read()
        if not ok:
            break
        seen.append(bgr[:, :, ::-1])
    assert len(seen) == 30
    for k in (0, 15, 29):
        assert np.abs(seen[k].astype(int) - frame(k)).mean() < 6
    assert [p.name for p in tmp_path.iterdir()] == ["video.mp4"]
    data = path.read_bytes()
    assert data[4:8] == b"ftyp"
    assert b"vp09" in data


def test_twenty_seconds_stay_below_three_megabytes(tmp_path: Path) -> None:
    # What matters is the rate, so half a second of a cell-like scene at full size is enough.
    rng = np.random.default_rng(0)
    scene = cv2.resize(
        rng.integers(0, 255, (12, 16, 3), dtype=np.uint8), (640, 480), interpolation=cv2.INTER_CUBIC
    )
    with VideoWriter(tmp_path / "video.mp4", (640, 480), 20) as writer:
        for k in range(10):
            picture = scene.copy()
            cv2.circle(picture, (60 + 40 * k, 240), 40, (200, 30, 30), -1)
            writer.add(picture)
    assert (tmp_path / "video.mp4").stat().st_size < 3_000_000 / 40


def test_what_was_filmed_before_a_failure_is_kept(tmp_path: Path) -> None:
    def fail() -> None:
        with VideoWriter(tmp_path / "video.mp4", SIZE, 20) as writer:
            writer.add(frame(0))
            raise RuntimeError("the cell failed")

    with pytest.raises(RuntimeError):
        fail()
    assert (tmp_path / "video.mp4").stat().st_size > 0


def test_bad_frames_and_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="even"):
        VideoWriter(tmp_path / "video.mp4", (321, 240), 20)
    with pytest.raises(BadInputError, match=r"\.mp4"):
        VideoWriter(tmp_path / "video.webm", SIZE, 20)
    writer = VideoWriter(tmp_path / "video.mp4", SIZE, 20)
    with pytest.raises(BadInputError, match="doesn't fit"):
        writer.add(np.zeros((10, 10, 3), dtype=np.uint8))
    with pytest.raises(BadInputError, match="without frames"):
        writer.close()


def test_a_missing_encoder_is_said_and_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Closed:
        def isOpened(self) -> bool:  # noqa: N802 - OpenCV's name
            return False

        @staticmethod
        def fourcc(*letters: str) -> int:
            return 0

    monkeypatch.setattr(video.cv2, "VideoWriter", lambda *_: Closed())
    monkeypatch.setattr(video.cv2.VideoWriter, "fourcc", Closed.fourcc, raising=False)
    writer = VideoWriter(tmp_path / "video.mp4", SIZE, 20)
    # The encoder's thread finds out; who comes after that is told.
    with pytest.raises(MissingCapabilityError, match="VP9"):  # noqa: PT012
        writer.add(frame(0))
        writer.close()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_vanished_is_an_error_at_the_end_not_a_hang(tmp_path: Path) -> None:
    folder = tmp_path / "episode"
    folder.mkdir()
    writer = VideoWriter(folder / "video.mp4", SIZE, 20)
    writer.add(frame(0))
    while not list(folder.iterdir()):
        time.sleep(0.01)
    shutil.rmtree(folder)
    with pytest.raises(FileNotFoundError):
        writer.close()


def test_a_discarded_video_leaves_nothing(tmp_path: Path) -> None:
    writer = VideoWriter(tmp_path / "video.mp4", (64, 48), 10)
    writer.discard(60.0)
    writer.add(np.zeros((48, 64, 3), dtype=np.uint8))
    writer.discard(60.0)
    assert list(tmp_path.iterdir()) == []
