"""A disk that is full, hangs or breaks: the recording ends, the episode does not, and it says so."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import numpy as np
import pytest
from episode_factory import BRICKS, SCENE, make_record, start_pose, target_pose
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import RefusedError
from jarvis_core.objects import ObjectState, WorldState
from jarvis_episode.config import EpisodeConfig
from jarvis_episode.recording.folder import EpisodeFolder
from jarvis_episode.recording.pump import Pump
from jarvis_episode.recording.recorder import EpisodeRecorder
from jarvis_episode.recording.scored import Scored, score_all
from jarvis_scoring.config import ScoreConfig

#: Bytes that a file of the child process may have.
LIMIT = 2_000_000
OVERVIEW = load_default("cell", CellConfig).overview_camera
CONFIG = msgspec.structs.replace(load_default("episode", EpisodeConfig), record_reserve_bytes=100_000)


def no_space() -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_what_comes_after_a_full_disk_is_counted() -> None:
    written: list[int] = []
    pump = Pump(10, 60.0)
    pump.put(lambda: written.append(1))
    pump.put(no_space)
    for _ in range(3):
        pump.put(lambda: written.append(2))
    pump.close()
    pump.close()
    assert written == [1]
    assert pump.stopped == "No space left on device"
    assert pump.lost == 4
    assert not pump.hangs


def test_a_disk_that_hangs_stops_the_recording_and_nobody_waits_for_ever() -> None:
    gate = threading.Event()
    pump = Pump(1, 0.05)
    pump.put(lambda: gate.wait(60.0) and None)
    for _ in range(3):
        pump.put(lambda: None)
    assert pump.stopped == "the disk took nothing for 0.05 s"
    pump.close()
    assert pump.hangs
    assert pump.lost >= 1
    gate.set()


def test_a_slow_disk_is_waited_for_as_long_as_it_takes_something() -> None:
    written: list[int] = []
    pump = Pump(100, 2.0)
    for k in range(30):
        pump.put(lambda k=k: written.append(k) or time.sleep(0.1))  # type: ignore[misc]
    pump.close()
    assert written == list(range(30))
    assert pump.stopped == ""


def test_a_bug_is_not_taken_for_a_full_disk() -> None:
    pump = Pump(10, 60.0)
    pump.put(lambda: [][0])
    with pytest.raises(IndexError):
        pump.close()
    with pytest.raises(IndexError):
        pump.put(lambda: None)
    assert pump.stopped == ""


def record() -> EpisodeRecord:
    score = msgspec.to_builtins(load_default("score", ScoreConfig))
    made = make_record()
    return msgspec.structs.replace(made, config=made.config | {"score": score})


def recorded(root: Path, states: int, *, breaks_at: int = -1) -> Path:
    """An episode with pictures that don't compress; ``breaks_at``: from this state on the disk is full."""
    made = record()
    folder = EpisodeFolder.create(root, made.episode_id)
    random = np.random.default_rng(0)
    with EpisodeRecorder(folder, OVERVIEW, CONFIG) as recorder:
        recorder.opening(made)
        for k in range(states):
            if k == breaks_at:
                recorder._bag._writer.write = lambda *args: no_space()  # type: ignore[method-assign]
            poses = [ObjectState(b, target_pose(b) if k > 50 else start_pose(b)) for b in BRICKS]
            recorder.state(WorldState(k / 10, (ObjectState("s1", SCENE.pose), *poses), ()))
            if k % 10 == 0:
                recorder.camera(k / 10, random.integers(0, 255, (256, 256, 3), dtype=np.uint8))
        recorder.state(made.final)
        recorder.truth(made)
    return folder.finish(recorder.judged(made))


def test_a_sound_disk_changes_nothing(tmp_path: Path) -> None:
    folder = recorded(tmp_path, 861)
    assert sorted(p.name for p in folder.iterdir()) == ["bag", "record.json"]
    (found,) = score_all([folder])
    assert isinstance(found, Scored)
    assert (found.faults, found.remarks) == ((), ())


def test_a_full_disk_leaves_an_incomplete_episode(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = recorded(tmp_path, 100, breaks_at=60)
    assert sorted(p.name for p in folder.iterdir()) == ["bag", "record.json"]
    (found,) = score_all([folder])
    assert isinstance(found, Scored)
    assert "the recording stopped: No space left on device" in found.faults[0]
    assert found.counted == 0.0
    assert len([r for r in caplog.records if "stopped" in r.message]) == 1


def test_no_room_at_all_is_said_before_anything_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: int) -> None:
        no_space()

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RefusedError, match=r"has no room for the 100,000 bytes .*No space left"):
        EpisodeRecorder(EpisodeFolder.create(tmp_path, "one"), OVERVIEW, CONFIG)


def test_a_file_that_may_not_grow_any_more(tmp_path: Path) -> None:
    """The system's own refusal, in a process of its own; its bag is as good as that of a killed recorder."""
    child = subprocess.run(
        [sys.executable, __file__, str(tmp_path)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert child.returncode == 0, child.stderr
    folder = tmp_path / record().episode_id
    (found,) = score_all([folder])
    assert isinstance(found, Scored)
    assert "the recording stopped: File too large" in found.faults[0]
    (alone,) = score_all([folder / "bag"])
    assert isinstance(alone, Scored)
    assert "before the episode did" in alone.faults[0]


if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))
    recorded(Path(sys.argv[1]), 861)
