"""Episode folders are whole or not there."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from episode_factory import make_record
from jarvis_core.config import load_config
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_json, write_json
from jarvis_episode.recording.folder import (
    EpisodeFolder,
    Owner,
    finished,
    read_score,
    remove_stale,
    write_score,
)
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import read_record

CONFIG = load_config(Path(__file__).parents[4] / "config" / "score.yaml", ScoreConfig)
RECORD = make_record()


def test_a_folder_appears_with_its_record(tmp_path: Path) -> None:
    folder = EpisodeFolder.create(tmp_path, RECORD.episode_id)
    folder.write_before(b"png")
    assert finished(tmp_path) == ()
    final = folder.finish(RECORD)
    assert final == tmp_path / RECORD.episode_id == folder.path
    assert finished(tmp_path) == (final,)
    assert sorted(p.name for p in final.iterdir()) == ["before.png", "record.json"]
    assert [p.name for p in tmp_path.iterdir()] == [RECORD.episode_id]
    assert read_record(final / "record.json") == RECORD
    folder.discard()
    assert final.is_dir()


def test_score_is_written_after_the_record(tmp_path: Path) -> None:
    final = EpisodeFolder.create(tmp_path, RECORD.episode_id).finish(RECORD)
    result = score(read_record(final / "record.json"), CONFIG)
    write_score(final, result)
    assert read_score(final) == result


def test_an_episode_is_never_recorded_twice(tmp_path: Path) -> None:
    EpisodeFolder.create(tmp_path, RECORD.episode_id).finish(RECORD)
    with pytest.raises(BadInputError, match="recorded before"):
        EpisodeFolder.create(tmp_path, RECORD.episode_id)


def test_two_processes_do_not_record_one_episode(tmp_path: Path) -> None:
    EpisodeFolder.create(tmp_path, RECORD.episode_id)
    with pytest.raises(BadInputError, match="another process"):
        EpisodeFolder.create(tmp_path, RECORD.episode_id)


def test_a_record_of_another_episode_is_refused(tmp_path: Path) -> None:
    folder = EpisodeFolder.create(tmp_path, "other")
    with pytest.raises(BadInputError, match=RECORD.episode_id):
        folder.finish(RECORD)
    assert finished(tmp_path) == ()


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".hidden", "a b", "x" * 200])
def test_ids_that_are_no_folder_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInputError):
        EpisodeFolder.create(tmp_path / "root", name)


def test_a_killed_process_leaves_nothing_but_a_partial_folder(tmp_path: Path) -> None:
    program = textwrap.dedent(
        """
        import sys, time
        from pathlib import Path
        from jarvis_episode.recording.folder import EpisodeFolder
        folder = EpisodeFolder.create(Path(sys.argv[1]), "killed")
        folder.write_before(b"png")
        print("ready", flush=True)
        time.sleep(60)
        """
    )
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    # It still runs: nobody may touch its folder.
    assert remove_stale(tmp_path) == ()
    with pytest.raises(BadInputError, match="another process"):
        EpisodeFolder.create(tmp_path, "killed")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert finished(tmp_path) == ()
    # The next start clears it away and records the episode.
    folder = EpisodeFolder.create(tmp_path, "killed")
    assert not (folder.path / "before.png").exists()


def test_only_folders_of_dead_processes_are_removed(tmp_path: Path) -> None:
    mine = Owner.this_process()
    dead = {
        "reused-number": Owner(mine.host, mine.pid, mine.started - 1000.0),
        "no-such-process": Owner(mine.host, 2**22 + 1, 0.0),
    }
    alive = {"mine": mine, "other-host": Owner("elsewhere", 2**22 + 1, 0.0)}
    for name, owner in (dead | alive).items():
        (tmp_path / f".{name}.partial").mkdir()
        write_json(tmp_path / f".{name}.partial" / "owner.json", owner)
    (tmp_path / ".just-made.partial").mkdir()
    (tmp_path / ".orphan.partial").mkdir()
    os.utime(tmp_path / ".orphan.partial", (0, 0))
    removed = {p.name for p in remove_stale(tmp_path)}
    assert removed == {".reused-number.partial", ".no-such-process.partial", ".orphan.partial"}
    assert read_json(tmp_path / ".mine.partial" / "owner.json", Owner) == mine


def test_discarding_leaves_nothing(tmp_path: Path) -> None:
    folder = EpisodeFolder.create(tmp_path, "x")
    folder.write_after(b"png")
    folder.discard()
    assert list(tmp_path.iterdir()) == []
