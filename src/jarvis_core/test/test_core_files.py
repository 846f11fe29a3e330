"""Files are whole or absent; bad ones are named."""

from __future__ import annotations

from pathlib import Path

import pytest
from jarvis_core.config import Config, load_config, parse_config
from jarvis_core.errors import BadInputError, ConfigError
from jarvis_core.files import atomic_path, content_hash, decode, encode, read_json, write_json
from jarvis_core.objects import Box, ObjectState
from jarvis_core.pose import Pose
from jarvis_core.skills import PickGoal, SkillGoal


class Sample(Config, frozen=True):
    size_m: float
    pose: Pose = Pose()


def test_an_interrupted_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "record.json"
    write_json(target, {"a": 1})

    def interrupted_write() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted_write()
    assert read_json(target, dict) == {"a": 1}
    assert [p.name for p in tmp_path.iterdir()] == ["record.json"]


def test_goals_keep_their_kind_in_json() -> None:
    goal: SkillGoal = PickGoal("b001", Pose((0.1, 0.2, 0.3)))
    assert decode(encode(goal), SkillGoal, where="test") == goal  # type: ignore[arg-type]


def test_errors_name_file_and_place(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    path.write_text('{"id": "b1", "pose": [1, 2]}')
    with pytest.raises(BadInputError, match=r"state\.json: not a valid ObjectState .*7 numbers"):
        read_json(path, ObjectState)
    with pytest.raises(BadInputError, match=r"absent\.json: no such file"):
        read_json(tmp_path / "absent.json", ObjectState)


def test_the_hash_sees_values_only() -> None:
    box = Box(Pose((0, 0, 1)), (1.0, 2.0, 3.0))
    assert content_hash(box) == content_hash(decode(encode(box), Box, where="test"))
    assert content_hash(box) != content_hash(Box(Pose((0, 0, 1.0000001)), (1.0, 2.0, 3.0)))


def test_configuration_is_strict(tmp_path: Path) -> None:
    path = tmp_path / "sample.yaml"
    path.write_text("size_m: 2.0\npose: [0, 0, 1, 0, 0, 0, 1]\n")
    assert load_config(path, Sample) == Sample(size_m=2.0, pose=Pose((0, 0, 1)))
    with pytest.raises(ConfigError, match=r"unknown field `colour`"):
        parse_config("size_m: 1.0\ncolour: red", Sample, where="sample.yaml")
    with pytest.raises(ConfigError, match=r"size_m"):
        parse_config("size_m: big", Sample, where="sample.yaml")
    with pytest.raises(ConfigError, match=r"sample.yaml: is no YAML"):
        parse_config("a: [", Sample, where="sample.yaml")
