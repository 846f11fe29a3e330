"""Bags of every kind are scored alone, cut off anywhere, and whatever is wrong with them is told."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import msgspec
import numpy as np
import pytest
from episode_factory import make_record, start_pose, target_pose
from jarvis_core.config import load_config
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import encode, write_json
from jarvis_core.objects import GROUND, WorldState
from jarvis_episode.recording.bag import EPISODE_RECORD, OBJECT_STATES, BagWriter
from jarvis_episode.recording.message_types import typestore
from jarvis_episode.recording.replay import replay_bag
from jarvis_episode.recording.scored import Scored, Unusable, find_sources, score_all
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.evidence import Evidence
from jarvis_scoring.protocol import EpisodeScore
from rosbags.highlevel import AnyReader
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer

CONFIG = load_config(Path(__file__).parents[4] / "config" / "score.yaml", ScoreConfig)
STATES = 120
PERIOD_S = 0.5
STRING = "std_msgs/msg/String"
TOPIC_TYPES = {OBJECT_STATES: "jarvis_interfaces/msg/ObjectStates", EPISODE_RECORD: STRING}


def episode(episode_id: str = "two-towers-0007") -> EpisodeRecord:
    """b4 ends a little off; everything in between is the straight way there."""
    wrong = {"b4": target_pose("b4").translated((0.0031, -0.0007, 1 / 3e4))}
    record = make_record(wrong, episode_id=episode_id, time_s=STATES * PERIOD_S - 1.0)
    return msgspec.structs.replace(
        record, final=msgspec.structs.replace(record.final, time_s=STATES * PERIOD_S)
    )


RECORD = episode()
EVIDENCE = Evidence.of_record(RECORD, CONFIG)


def state_at(k: int) -> WorldState:
    """Halfway the bricks are where they belong, but nothing is joined yet."""
    if k == 0:
        return RECORD.initial
    if k == STATES:
        return RECORD.final
    states = RECORD.final.objects if k > STATES // 2 else RECORD.initial.objects
    return WorldState(k * PERIOD_S, states, (("s1", GROUND),))


def write_own(path: Path, *, closing: bool = True, states: range = range(STATES + 1)) -> Path:
    """As the episode's recorder writes it."""
    with BagWriter(path) as writer:
        writer.write_episode(0.0, encode(EVIDENCE.opening()).decode())
        for k in states:
            writer.write_world_state(state_at(k))
        if closing:
            writer.write_episode(RECORD.final.time_s, encode(EVIDENCE).decode())
    return path


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_own(tmp_path_factory.mktemp("own") / "bag")


Raw = tuple[str, int, bytes]
stores = cache(typestore)


@pytest.fixture(scope="module")
def raw(own: Path) -> list[Raw]:
    """topic, nanoseconds, CDR of every message."""
    with AnyReader([own]) as reader:
        return [(c.topic, t, bytes(d)) for c, t, d in reader.messages()]


def write_bag(
    path: Path,
    messages: list[Raw],
    plugin: StoragePlugin = StoragePlugin.SQLITE3,
    mode: CompressionMode = CompressionMode.NONE,
) -> Path:
    """As ``ros2 bag record`` lays it out."""
    types = stores()
    writer = Writer(path, version=8, storage_plugin=plugin)
    writer.set_compression(mode, CompressionFormat.ZSTD)
    with writer:
        connections = {
            topic: writer.add_connection(topic, kind, typestore=types) for topic, kind in TOPIC_TYPES.items()
        }
        for topic, nanoseconds, data in messages:
            writer.write(connections[topic], nanoseconds, data)
    return path


def expected() -> EpisodeScore:
    return score(RECORD, CONFIG)


def sound(path: Path) -> None:
    (found,) = replay_bag(path).replays
    assert found.faults == ()
    assert found.complete
    assert abs(found.score.score - expected().score) < 1e-9
    assert found.score == expected()


def test_a_bag_alone_scores_like_the_record(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the configuration nor the message definitions of the source tree are needed."""
    monkeypatch.setenv("JARVIS_CONFIG", str(tmp_path / "nothing"))
    monkeypatch.setattr(
        "jarvis_episode.recording.replay.typestore", lambda: pytest.fail("definitions needed")
    )
    sound(own)
    sound(own / "bag_0.mcap")
    world = replay_bag(own, protocol="brick-score-1-world").replays[0]
    assert world.score == score(RECORD, CONFIG, protocol="brick-score-1-world")


@pytest.mark.parametrize("plugin", list(StoragePlugin))
@pytest.mark.parametrize("mode", list(CompressionMode))
def test_every_storage_and_compression(
    tmp_path: Path, raw: list[Raw], plugin: StoragePlugin, mode: CompressionMode
) -> None:
    if mode is CompressionMode.STORAGE and plugin is StoragePlugin.SQLITE3:
        pytest.skip("sqlite3 has no chunks")
    sound(write_bag(tmp_path / "bag", raw, plugin, mode))


@pytest.mark.parametrize("plugin", list(StoragePlugin))
@pytest.mark.parametrize("indexed", [True, False])
def test_split_bags(tmp_path: Path, raw: list[Raw], plugin: StoragePlugin, indexed: bool) -> None:
    """Twelve files; without the metadata their numbers tell the order (2 before 10)."""
    folder, suffix = tmp_path / "split", {StoragePlugin.MCAP: "mcap", StoragePlugin.SQLITE3: "db3"}[plugin]
    folder.mkdir()
    share = -(-len(raw) // 12)
    names = []
    for part in range(12):
        bag = write_bag(tmp_path / f"part{part}", raw[part * share : (part + 1) * share], plugin)
        names.append(f"split_{part}.{suffix}")
        shutil.move(next(bag.glob(f"*.{suffix}")), folder / names[-1])
    if indexed:
        paths = "".join(f"\n    - {name}" for name in names)
        (folder / "metadata.yaml").write_text(
            f"rosbag2_bagfile_information:\n  version: 8\n  relative_file_paths:{paths}\n"
        )
    sound(folder)
    (folder / names[5]).unlink()
    (found,) = replay_bag(folder).replays
    assert any("are missing" in fault for fault in found.faults)


@pytest.mark.parametrize("kind", ["own", "mcap", "sqlite3"])
def test_cut_off_anywhere(tmp_path: Path, own: Path, raw: list[Raw], kind: str) -> None:
    """A killed recorder leaves the beginning of a file: scored up to its last state, and said to be incomplete."""
    if kind == "own":
        file = own / "bag_0.mcap"
    else:
        bag = write_bag(tmp_path / "whole", raw, StoragePlugin[kind.upper()])
        file = next(p for p in bag.iterdir() if p.suffix != ".yaml")
    data, dice = file.read_bytes(), random.Random(7)
    reached: list[int] = []
    said: list[str] = []
    for number, cut in enumerate(sorted(dice.sample(range(1, len(data)), 12))):
        folder = tmp_path / f"{kind}{number}"
        folder.mkdir()
        (folder / file.name).write_bytes(data[:cut])
        try:
            (found,) = replay_bag(folder).replays
        except BadInputError as error:
            said.append(error.line())
            reached.append(0)
            continue
        reached.append(found.states)
        if not found.evidence.closed:
            assert found.faults[-1].startswith("the recording ends at"), found.faults
            # A database's pages do not lie in order: of one that is cut off some in the middle may be lost.
            at = round(found.last_s / PERIOD_S)
            assert found.states == at + 1 or any("are missing" in fault for fault in found.faults)
            given = msgspec.structs.replace(RECORD, final=state_at(at), time_s=at * PERIOD_S, calls=())
            assert found.score == score(given, CONFIG)
    # The more is left of a file, the farther it goes.
    assert reached == sorted(reached)
    assert reached[-1] > STATES // 4
    assert all(str(tmp_path) in line for line in said)


@pytest.mark.parametrize("kind", ["own", "mcap", "sqlite3"])
def test_corrupted_anywhere(tmp_path: Path, own: Path, raw: list[Raw], kind: str) -> None:
    """Flipped bytes are told in one line, and in a bag of our own never change a score unnoticed."""
    if kind == "own":
        file = own / "bag_0.mcap"
    else:
        bag = write_bag(tmp_path / "whole", raw, StoragePlugin[kind.upper()])
        file = next(p for p in bag.iterdir() if p.suffix != ".yaml")
    data, dice = file.read_bytes(), random.Random(5)
    said: list[str] = []
    for number in range(40):
        bad = bytearray(data)
        # Heads, schemas and channels come first.
        for _ in range(dice.choice((1, 10))):
            bad[dice.randrange(dice.choice((3000, len(bad))))] = dice.randrange(256)
        path = tmp_path / f"{number}{file.suffix}"
        path.write_bytes(bad)
        try:
            found = replay_bag(path).replays
        except BadInputError as error:
            said.append(error.line())
            continue
        if kind == "own":
            assert all(replay.faults or replay.score == expected() for replay in found)
    assert len(said) > 3
    assert all(line.startswith(str(tmp_path)) and "\n" not in line for line in said)


def test_a_database_with_its_log_beside_it(tmp_path: Path, raw: list[Raw]) -> None:
    """sqlite3 that was killed: most of it still lies in the write-ahead log."""
    source = next(write_bag(tmp_path / "bag", raw).glob("*.db3"))
    live = tmp_path / "live.db3"
    shutil.copy(source, live)
    killed = tmp_path / "killed"
    killed.mkdir()
    connection = sqlite3.connect(live, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    rows = connection.execute("SELECT topic_id, timestamp, data FROM messages").fetchall()
    connection.execute("DELETE FROM messages")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.executemany("INSERT INTO messages (topic_id, timestamp, data) VALUES (?, ?, ?)", rows)
    for name in ("live.db3", "live.db3-wal"):
        shutil.copy(tmp_path / name, killed / name)
    connection.close()
    before = {p.name: p.read_bytes() for p in killed.iterdir()}
    sound(killed)
    assert {p.name: p.read_bytes() for p in killed.iterdir()} == before


def without(raw: list[Raw], numbers: range) -> list[Raw]:
    states = [m for m in raw if m[0] == OBJECT_STATES]
    lost = {states[k] for k in numbers}
    return [m for m in raw if m not in lost]


def test_lost_messages_are_faults(tmp_path: Path, raw: list[Raw]) -> None:
    (found,) = replay_bag(write_bag(tmp_path / "lost", without(raw, range(10, 20)))).replays
    assert found.faults == (
        "messages 10 to 19 of /sim/object_states are missing",
        "nothing is known from 4.500 s to 10.000 s",
    )
    assert found.score == expected()


def write_episode(writer: BagWriter, name: str, states: Iterable[int]) -> None:
    evidence = msgspec.structs.replace(EVIDENCE, episode_id=name)
    writer.write_episode(0.0, encode(evidence.opening()).decode())
    for k in states:
        writer.write_world_state(state_at(k))
    writer.write_episode(0.0, encode(evidence).decode())


@pytest.mark.parametrize(
    ("states", "said"),
    [
        ((*range(50), *range(STATES + 1)), "the clock went back from 24.500 s to 0.000 s"),
        (
            (*range(50), *range(60, STATES + 1)),
            "the clock jumped from 24.500 s to 30.000 s, no message is missing",
        ),
    ],
)
def test_a_clock_that_jumps_is_refused_but_not_the_other_episodes_of_a_bag(
    tmp_path: Path, states: tuple[int, ...], said: str
) -> None:
    with BagWriter(tmp_path / "alone") as writer:
        write_episode(writer, "bad-0", states)
    with BagWriter(tmp_path / "both") as writer:
        write_episode(writer, "bad-0", states)
        write_episode(writer, "good-0", range(STATES + 1))
    with pytest.raises(BadInputError, match=said) as caught:
        replay_bag(tmp_path / "alone")
    assert caught.value.line().startswith(f"{tmp_path / 'alone'}: {OBJECT_STATES}: {said}")
    good, bad = score_all([tmp_path / "both"])
    assert isinstance(good, Scored)
    assert (good.evidence.episode_id, good.faults, good.score) == ("good-0", (), expected())
    assert isinstance(bad, Unusable)
    assert said in bad.error.line()
    (alone,) = score_all([tmp_path / "alone"])
    assert isinstance(alone, Unusable)
    for unusable in (bad, alone):
        assert unusable.evidence is not None
        assert unusable.evidence.episode_id == "bad-0"


def test_states_that_contradict_the_evidence(tmp_path: Path) -> None:
    with BagWriter(tmp_path / "bag") as writer:
        writer.write_episode(0.0, encode(EVIDENCE.opening()).decode())
        for k in range(STATES):
            writer.write_world_state(state_at(k))
        writer.write_world_state(msgspec.structs.replace(RECORD.initial, time_s=RECORD.final.time_s))
        writer.write_episode(0.0, encode(EVIDENCE).decode())
    (found,) = replay_bag(tmp_path / "bag").replays
    assert found.faults == ("the last state contradicts the closing evidence: b1, b2, b3, b4",)


def spoiled(change: Callable[[list[Raw]], Iterator[Raw]]) -> Callable[[list[Raw]], list[Raw]]:
    return lambda raw: list(change(raw))


@spoiled
def no_states(raw: list[Raw]) -> Iterator[Raw]:
    yield from (m for m in raw if m[0] != OBJECT_STATES)


@spoiled
def no_evidence(raw: list[Raw]) -> Iterator[Raw]:
    yield from (m for m in raw if m[0] == OBJECT_STATES)


@spoiled
def other_layout(raw: list[Raw]) -> Iterator[Raw]:
    for topic, time, data in raw:
        yield topic, time, data.replace(b'"schema": 1', b'"schema": 9') if topic == EPISODE_RECORD else data


def not_a_number(at: int) -> Callable[[list[Raw]], list[Raw]]:
    """One pose of one state is none."""

    def change(raw: list[Raw]) -> list[Raw]:
        k = [k for k, m in enumerate(raw) if m[0] == OBJECT_STATES][at]
        x = np.float64(state_at(at).objects[1].pose.position[1]).tobytes()
        topic, time, data = raw[k]
        assert x in data
        return [*raw[:k], (topic, time, data.replace(x, np.float64("nan").tobytes())), *raw[k + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (no_states, r"holds no states \(/sim/object_states\) of episode two-towers-0007"),
        (no_evidence, "holds no /episode/record"),
        (other_layout, "has evidence of layout 9, this version reads 1"),
        (not_a_number(STATES), "the pose of b1 at 60.000 s is no pose"),
        (not_a_number(40), "the pose of b1 at 20.000 s is no pose"),
    ],
)
def test_what_cannot_be_scored_says_so_in_one_line(
    tmp_path: Path, raw: list[Raw], change: Callable[[list[Raw]], list[Raw]], said: str
) -> None:
    bag = write_bag(tmp_path / "bag", change(raw))
    with pytest.raises(BadInputError, match=said) as caught:
        replay_bag(bag)
    assert caught.value.line().startswith(str(bag))
    assert "\n" not in caught.value.line()


def test_two_episodes_in_one_bag(tmp_path: Path) -> None:
    """A recorder that ran through two episodes, and a moment of the world before each."""
    with BagWriter(tmp_path / "bag") as writer:
        for name in ("first-0", "second-0"):
            writer.write_world_state(RECORD.final)
            write_episode(writer, name, range(STATES + 1))
    found = replay_bag(tmp_path / "bag").replays
    assert [r.evidence.episode_id for r in found] == ["first-0", "second-0"]
    assert [r.faults for r in found] == [(), ()]
    assert [r.score for r in found] == [expected()] * 2


def test_a_batch_goes_on_and_lists_what_it_could_not_use(tmp_path: Path, own: Path) -> None:
    """Episode folders, a bag of a dead recorder, the same episode twice, a record of another layout, a text file."""
    good = tmp_path / "results" / "good-0"
    record = msgspec.structs.replace(RECORD, episode_id="good-0")
    write_json(good / "record.json", record)
    write_json(tmp_path / "results" / "copied-0" / "record.json", record)
    write_json(
        tmp_path / "results" / "older-0" / "record.json",
        msgspec.structs.replace(record, schema=0, episode_id="older-0"),
    )
    write_own(tmp_path / "results" / ".dead-0.partial" / "bag", closing=False, states=range(80))
    (tmp_path / "notes.txt").write_text("no bag")
    sources = find_sources([tmp_path / "results", tmp_path / "notes.txt", tmp_path / "absent"])
    found = {f.source.name: f for f in score_all(sources)}
    told = {name: f.error.what for name, f in found.items() if isinstance(f, Unusable)}
    assert told == {
        "good-0": f"episode good-0 was given before ({tmp_path / 'results' / 'copied-0'})",
        "older-0": "has record layout 0, this version reads 1",
        "notes.txt": "is no rosbag2 bag (.mcap or .db3)",
        "absent": "no such file or folder",
    }
    dead, copied = found["bag"], found["copied-0"]
    assert isinstance(dead, Scored)
    assert dead.faults
    assert (dead.counted, dead.score.score > 0) == (0.0, True)
    assert isinstance(copied, Scored)
    assert copied.counted == expected().score
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match="neither an episode nor a bag"):
        find_sources([tmp_path / "empty"])


def test_a_record_and_its_bag_must_agree(tmp_path: Path) -> None:
    folder = tmp_path / "episode"
    write_own(folder / "bag")
    write_json(folder / "record.json", RECORD)
    (same,) = score_all([folder])
    assert isinstance(same, Scored)
    assert (same.faults, same.remarks) == ((), ())
    tampered = {"b4": target_pose("b4"), "b1": start_pose("b1").translated((0.0, 0.0, 1e-4))}
    write_json(folder / "record.json", make_record(tampered))
    (other,) = score_all([folder])
    assert isinstance(other, Scored)
    assert "record and bag differ by" in other.faults[0]
    assert other.counted == 0.0
