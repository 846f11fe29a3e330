"""Datasets for LeRobot: what lies in the files, and what the library reads where it is installed."""

from __future__ import annotations

from pathlib import Path

import cv2
import msgspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from episode_factory import make_record
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import encode, read_json
from jarvis_episode.recording.bag import BagWriter
from jarvis_episode.recording.frames import read_frames
from jarvis_episode.recording.lerobot import ACTION, PICTURES, STATE, DatasetWriter, ExportConfig, merge
from jarvis_episode.recording.scored import Scored
from jarvis_scoring.brick_score import score
from jarvis_scoring.evidence import Evidence

CONFIG = msgspec.structs.replace(load_default("export", ExportConfig), fps=5)
JOINTS = ("a", "b")
END_S = 3.0


def write_episode(path: Path, number: int, joints: tuple[str, ...] = JOINTS) -> Scored:
    """Joint a goes up by one each second; pictures come once a second, each brighter by 40."""
    record = make_record({}, episode_id=f"towers-{number}", time_s=END_S)
    record = msgspec.structs.replace(record, final=msgspec.structs.replace(record.final, time_s=END_S))
    with BagWriter(path) as bag:
        bag.write_episode(0.0, encode(Evidence.of_record(record)).decode())
        for k in range(round(END_S * 50) + 1):
            bag.write_joint_states(k / 50, joints, [k / 50, *[number] * (len(joints) - 1)])
        for second in range(4):
            picture = np.full((48, 64, 3), 40 * second, np.uint8)
            bag.write_jpeg(second, cv2.imencode(".jpg", picture)[1].tobytes(), "camera_optical_frame")
    return Scored(path, Evidence.of_record(record), score(record, Evidence.of_record(record).constants))


def write_dataset(root: Path) -> Path:
    with DatasetWriter(root / "dataset", CONFIG) as writer:
        for number in range(2):
            writer.add(write_episode(root / f"bag{number}", number))
    return root / "dataset"


def test_frames_hold_the_last_sample_before_them(tmp_path: Path) -> None:
    write_episode(tmp_path / "bag", 7)
    frames = read_frames(tmp_path / "bag", 5, 0.5, END_S)
    assert len(frames) == 12
    np.testing.assert_allclose(frames.state[:, 0], 0.5 + np.arange(12) / 5, atol=0.02 + 1e-6)
    np.testing.assert_array_equal(frames.action[:-1], frames.state[1:])
    assert frames.picture.tolist() == [0] * 3 + [1] * 5 + [2] * 4
    np.testing.assert_allclose(frames.picture_age_s[:4], [0.5, 0.7, 0.9, 0.1], atol=1e-6)


def test_a_dataset_is_what_its_metadata_says(tmp_path: Path) -> None:
    folder = write_dataset(tmp_path)
    info = read_json(folder / "meta/info.json", dict)
    assert (info["codebase_version"], info["total_episodes"], info["total_frames"]) == ("v3.0", 2, 30)
    rows = pq.read_table(folder / "meta/episodes/chunk-000/file-000.parquet").to_pylist()
    assert [(r["dataset_from_index"], r["dataset_to_index"]) for r in rows] == [(0, 15), (15, 30)]
    assert [r["jarvis/episode_id"] for r in rows] == ["towers-0", "towers-1"]
    tasks = pq.read_table(folder / "meta/tasks.parquet").to_pandas()
    assert tasks.index.tolist() == rows[0]["tasks"]
    for number, row in enumerate(rows):
        place = {"chunk_index": row["data/chunk_index"], "file_index": row["data/file_index"]}
        data = pq.read_table(folder / info["data_path"].format(**place))
        assert set(data.column_names) == set(info["features"]) - {PICTURES}
        assert data["index"].to_pylist() == list(range(15 * number, 15 * number + 15))
        assert data[STATE].to_pylist()[5] == [1.0, number]
        assert data[ACTION].to_pylist()[4] == [1.0, number]
        video = cv2.VideoCapture(str(folder / info["video_path"].format(video_key=PICTURES, **place)))
        assert (video.get(cv2.CAP_PROP_FRAME_COUNT), video.get(cv2.CAP_PROP_FPS)) == (15, 5)
    statistics = read_json(folder / "meta/stats.json", dict)
    assert statistics[STATE]["count"] == [30]
    np.testing.assert_allclose(statistics[STATE]["mean"], [1.4, 0.5], atol=1e-6)
    assert np.shape(statistics[PICTURES]["mean"]) == (3, 1, 1)


def test_merged_statistics_are_those_of_everything_together() -> None:
    values = np.random.default_rng(0).normal(size=(50, 3))
    parts = [
        {
            "min": p.min(0),
            "max": p.max(0),
            "mean": p.mean(0),
            "std": p.std(0),
            "count": np.array([len(p)]),
        }
        for p in (values[:20], values[20:])
    ]
    found = merge(parts)
    np.testing.assert_allclose(found["mean"], values.mean(0))
    np.testing.assert_allclose(found["std"], values.std(0))


def test_what_does_not_fit_is_said_and_nothing_half_is_left(tmp_path: Path) -> None:
    odd = write_episode(tmp_path / "odd", 1, joints=("a", "b", "c"))
    with DatasetWriter(tmp_path / "out", CONFIG) as writer:
        writer.add(write_episode(tmp_path / "bag", 0))
        with pytest.raises(BadInputError, match="other joints"):
            writer.add(odd)
    assert len(list((tmp_path / "out").glob("data/*/*"))) == 1
    with pytest.raises(BadInputError, match="there already"):
        DatasetWriter(tmp_path / "out", CONFIG)
    with DatasetWriter(tmp_path / "none", CONFIG):
        pass
    assert not list(tmp_path.glob("*none*"))


def test_the_library_reads_it(tmp_path: Path) -> None:
    datasets = pytest.importorskip("lerobot.datasets.lerobot_dataset", reason="lerobot is not installed")
    dataset = datasets.LeRobotDataset("jarvis/towers", root=write_dataset(tmp_path))
    assert (len(dataset), dataset.meta.total_episodes) == (30, 2)
    assert dataset[20][STATE].tolist() == [1.0, 1.0]
    assert tuple(dataset[20][PICTURES].shape) == (3, 48, 64)
