"""A bag in several files is the same bag: scored alike, read alike, cut off alike."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import yaml
from episode_factory import make_record, target_pose
from jarvis_core.config import load_config
from jarvis_core.files import encode
from jarvis_core.objects import WorldState
from jarvis_episode.recording.bag import BagWriter
from jarvis_episode.recording.replay import replay_bag
from jarvis_episode.recording.split import SplitLimits
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.evidence import Evidence
from rosbags.highlevel import AnyReader

CONFIG = load_config(Path(__file__).parents[4] / "config" / "score.yaml", ScoreConfig)
STATES = 60
RECORD = make_record({"b4": target_pose("b4").translated((0.0031, -0.0007, 1 / 3e4))}, time_s=29.0)
RECORD = msgspec.structs.replace(RECORD, final=msgspec.structs.replace(RECORD.final, time_s=STATES / 2))
EVIDENCE = Evidence.of_record(RECORD, CONFIG)
FOREVER = 1e9


def write(path: Path, limits: SplitLimits | None, *, pictures: int = 0, whole: bool = True) -> Path:
    """Two states a second, and pictures that nothing can compress."""
    random = np.random.default_rng(0)
    writer = BagWriter(path, limits=limits)
    writer.write_episode(0.0, encode(EVIDENCE.opening()).decode())
    writer.write_world_state(RECORD.initial)
    for k in range(1, STATES):
        writer.write_clock(k / 2)
        writer.write_world_state(WorldState(k / 2, RECORD.initial.objects, ()))
        if k <= pictures:
            writer.write_jpeg(k / 2, random.bytes(600_000), "camera")
    # A topic that begins late.
    for event in RECORD.events:
        writer.write_event(msgspec.structs.replace(event, time_s=29.5))
    writer.write_world_state(RECORD.final)
    writer.write_episode(RECORD.final.time_s, encode(EVIDENCE).decode())
    if whole:
        writer.close()
    else:
        writer.abort()
    return path


def files_of(bag: Path) -> list[str]:
    information = yaml.safe_load((bag / "metadata.yaml").read_text())["rosbag2_bagfile_information"]
    assert [file["path"] for file in information["files"]] == information["relative_file_paths"]
    return list(information["relative_file_paths"])


def test_files_by_time_read_and_score_like_one(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", SplitLimits(10**12, 16.0))
    assert files_of(bag) == ["bag_0.mcap", "bag_1.mcap"]
    with AnyReader([bag]) as reader:
        assert reader.duration == RECORD.final.time_s * 1e9 + 1
        assert all(connection.ext.offered_qos_profiles for connection in reader.connections)
        counts = {c.topic: c.msgcount for c in reader.connections}
    assert counts == {
        "/episode/record": 2,
        "/clock": STATES - 1,
        "/sim/object_states": STATES + 1,
        "/sim/connection_events": len(RECORD.events),
    }
    (replay,) = replay_bag(bag).replays
    assert (replay.faults, replay.states) == ((), STATES + 1)
    assert abs(replay.score.score - score(RECORD, CONFIG).score) < 1e-9
    assert replay.score == score(RECORD, CONFIG)


def test_files_by_size(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", SplitLimits(2_000_000, FOREVER), pictures=9)
    sizes = [(bag / name).stat().st_size for name in files_of(bag)]
    assert len(sizes) == 3
    # A file may be larger by the chunk that filled it.
    assert all(2_000_000 <= size < 2_000_000 + 2_000_000 for size in sizes[:-1])
    (found,) = replay_bag(bag).replays
    assert (found.faults, found.score) == ((), score(RECORD, CONFIG))


def test_a_kill_costs_only_the_end_of_the_last_file(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", SplitLimits(10**12, 16.0), whole=False)
    # What the metadata says was written before the last file began.
    assert files_of(bag) == ["bag_0.mcap"]
    assert (bag / "bag_1.mcap").is_file()
    (replay,) = replay_bag(bag).replays
    assert replay.states == 32
    assert replay.faults == ("the recording ends at 15.50 s, before the episode did",)
    (bag / "metadata.yaml").unlink()
    assert replay_bag(bag).replays[0].states == 32


def test_a_file_that_is_gone_is_a_fault(tmp_path: Path) -> None:
    bag = write(tmp_path / "bag", SplitLimits(10**12, 10.0))
    (bag / "bag_1.mcap").unlink()
    found = replay_bag(bag)
    assert found.damage == ("bag_1.mcap is missing",)
    assert any("of /sim/object_states are missing" in fault for fault in found.replays[0].faults)
