"""Bags give back what was written, and an episode can be scored from its bag alone."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from episode_factory import make_record, target_pose
from jarvis_core.config import load_config
from jarvis_core.errors import BadInputError, MissingCapabilityError
from jarvis_core.files import decode, encode
from jarvis_core.objects import ObjectState, WorldState
from jarvis_core.pose import Pose
from jarvis_episode.recording import message_types
from jarvis_episode.recording.bag import (
    EPISODE_RECORD,
    OBJECT_STATES,
    BagWriter,
    read_episode,
    read_world_states,
)
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import ScoreInput
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability

CONFIG = load_config(Path(__file__).parents[4] / "config" / "score.yaml", ScoreConfig)
RECORD = make_record({"b4": target_pose("b4").translated((0.0011, -0.0007, 1 / 3e4))}, held="b4")


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    path = tmp_path / "bag"
    with BagWriter(path) as writer:
        writer.write_episode(0.0, encode(ScoreInput.from_record(RECORD)).decode())
        writer.write_world_state(RECORD.initial)
        for k in range(100):
            time_s = 0.5 + k * 0.02
            writer.write_clock(time_s)
            writer.write_joint_states(time_s, ["panda_joint1"], [0.1 * k], [0.5])
            writer.write_world_state(msgspec.structs.replace(RECORD.final, time_s=time_s))
        for event in RECORD.events:
            writer.write_event(event)
        writer.write_jpeg(60.0, b"\xff\xd8jpeg\xff\xd9", "top_camera_optical")
        writer.write_world_state(RECORD.final)
    return path


def test_states_come_back_bit_for_bit(bag: Path) -> None:
    states = read_world_states(bag)
    assert len(states) == 102
    assert states[0] == RECORD.initial
    assert states[-1] == RECORD.final


def test_an_episode_can_be_scored_from_its_bag_alone(bag: Path) -> None:
    given = decode(read_episode(bag).encode(), ScoreInput, where="bag")
    states = read_world_states(bag)
    given = msgspec.structs.replace(given, initial=states[0], final=states[-1])
    assert score(given, CONFIG) == score(RECORD, CONFIG)


def test_every_topic_has_its_type_its_quality_and_all_messages(bag: Path) -> None:
    with AnyReader([bag]) as reader:
        counts = {c.topic: (c.msgtype, c.msgcount) for c in reader.connections}
        quality = {c.topic: c.ext.offered_qos_profiles[0] for c in reader.connections}
        events = [
            reader.deserialize(data, c.msgtype)
            for c, _, data in reader.messages()
            if c.topic == "/sim/connection_events"
        ]
    assert counts == {
        "/clock": ("rosgraph_msgs/msg/Clock", 100),
        "/joint_states": ("sensor_msgs/msg/JointState", 100),
        "/sim/object_states": ("jarvis_interfaces/msg/ObjectStates", 102),
        "/sim/connection_events": ("jarvis_interfaces/msg/ConnectionEvent", 5),
        "/camera/color/image_raw/compressed": ("sensor_msgs/msg/CompressedImage", 1),
        "/episode/record": ("std_msgs/msg/String", 1),
    }
    assert quality[EPISODE_RECORD].durability is QosDurability.TRANSIENT_LOCAL
    assert quality[OBJECT_STATES].durability is QosDurability.VOLATILE
    assert [e.sequence for e in events] == [0, 1, 2, 3, 4]
    assert [e.error_xy_m for e in events] == [e.error_xy_m for e in RECORD.events]


def test_the_folder_is_a_rosbag2_with_mcap(bag: Path) -> None:
    assert sorted(p.name for p in bag.iterdir()) == ["bag_0.mcap", "metadata.yaml"]
    assert (bag / "bag_0.mcap").read_bytes()[:5] == b"\x89MCAP"
    assert "storage_identifier: mcap" in (bag / "metadata.yaml").read_text()


def test_raw_messages_are_copied(tmp_path: Path) -> None:
    data = b"\x00\x01\x00\x00\x03\x00\x00\x00hi\x00\x00"  # CDR, little endian: String "hi"
    with BagWriter(tmp_path / "bag") as writer:
        writer.write_raw("/said", "std_msgs/msg/String", 1.5, data)
        with pytest.raises(BadInputError, match="unknown message type"):
            writer.write_raw("/x", "nobody_msgs/msg/Nothing", 1.5, data)
        with pytest.raises(BadInputError, match="carries std_msgs"):
            writer.write_raw("/said", "sensor_msgs/msg/JointState", 1.5, data)
    with AnyReader([tmp_path / "bag"]) as reader:
        ((connection, nanoseconds, raw),) = reader.messages()
        assert (connection.topic, nanoseconds, bytes(raw)) == ("/said", 1_500_000_000, data)
        assert reader.deserialize(raw, connection.msgtype).data == "hi"


def test_lost_messages_are_reported(tmp_path: Path, bag: Path) -> None:
    with AnyReader([bag]) as reader:
        raw = [bytes(d) for c, _, d in reader.messages() if c.topic == OBJECT_STATES]
    with BagWriter(tmp_path / "gap") as writer:
        for k in (0, 1, 2, 5, 6):
            writer.write_raw(OBJECT_STATES, "jarvis_interfaces/msg/ObjectStates", 0.1 * k, raw[k])
    with pytest.raises(BadInputError, match="messages 3 to 4 of /sim/object_states are missing"):
        read_world_states(tmp_path / "gap")


def test_a_bag_is_closed_when_the_episode_crashes(tmp_path: Path) -> None:
    def crash() -> None:
        with BagWriter(tmp_path / "bag") as writer:
            writer.write_world_state(RECORD.initial)
            raise RuntimeError("the policy crashed")

    with pytest.raises(RuntimeError):
        crash()
    assert read_world_states(tmp_path / "bag") == (RECORD.initial,)


def test_bad_bags_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="can't be read"):
        read_world_states(tmp_path / "absent")
    with BagWriter(tmp_path / "bag") as writer:
        writer.write_clock(0.0)
    with pytest.raises(BadInputError, match="no message of /sim/object_states"):
        read_world_states(tmp_path / "bag")
    with pytest.raises(BadInputError, match="there already"):
        BagWriter(tmp_path / "bag")


def test_of_two_held_objects_the_first_is_named(tmp_path: Path) -> None:
    """Pads may touch two bricks; no episode may end over that."""
    both = WorldState(0.0, (ObjectState("a", Pose(), True), ObjectState("b", Pose(), True)), ())
    with BagWriter(tmp_path / "bag") as writer:
        writer.write_world_state(both)
    (read,) = read_world_states(tmp_path / "bag")
    assert [thing.held for thing in read.objects] == [True, False]


def test_message_definitions_are_found_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share = tmp_path / "share" / "jarvis_interfaces"
    (share / "msg").mkdir(parents=True)
    (share / "msg" / "Broken.msg").write_text("float64 [")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path}")
    assert message_types.interfaces_folder() == share
    with pytest.raises(BadInputError, match=r"Broken\.msg"):
        message_types.typestore()
    monkeypatch.delenv("AMENT_PREFIX_PATH")
    assert (message_types.interfaces_folder() / "msg" / "ObjectStates.msg").is_file()
    monkeypatch.setattr(message_types, "__file__", "/nowhere/recording/message_types.py")
    with pytest.raises(MissingCapabilityError):
        message_types.interfaces_folder()
