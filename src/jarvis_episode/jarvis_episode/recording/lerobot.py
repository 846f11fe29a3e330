"""Episodes as a dataset for LeRobot, layout v3.0, without its library: https://huggingface.co/docs/lerobot/lerobot-dataset-v3.

::

    meta/info.json                            features, counts, where the files are
    meta/stats.json                           min, max, mean, std, count of every feature
    meta/tasks.parquet                        task_index, by the task's sentence
    meta/episodes/chunk-000/file-000.parquet  one row an episode
    data/chunk-000/file-000.parquet           one file an episode, one row a frame
    videos/KEY/chunk-000/file-000.mp4         one file an episode
    README.md                                 what it is, and whose models were built

========================== ======= =========================================================
feature                    shape   what
========================== ======= =========================================================
observation.state          j       positions of arm (rad) and fingers (m)
action                     j       the state of the next frame
observation.images.top     h, w, 3 the top camera
observation.picture_age_s  1       how old that picture is
========================== ======= =========================================================

An episode's row tells id, agent, seed and score besides (``jarvis/...``), so that a learner can choose.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from jarvis_core.config import Config
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_json, write_text
from jarvis_tasks.store import TASK_FILE, load_task

from jarvis_episode.recording.folder import BAG_FOLDER
from jarvis_episode.recording.frames import Frames, Rgb, decode_jpeg, read_frames
from jarvis_episode.recording.scored import Scored
from jarvis_episode.recording.video import VideoWriter

LAYOUT = "v3.0"
STATE, ACTION, AGE = "observation.state", "action", "observation.picture_age_s"
PICTURES = "observation.images.top"
ROBOT = "panda"
#: Files in a folder.
_CHUNK = 1000
_FILE = "chunk-{chunk_index:03d}/file-{file_index:03d}"
_DATA = f"data/{_FILE}.parquet"
_VIDEO = f"videos/{{video_key}}/{_FILE}.mp4"
_EPISODES = f"meta/episodes/{_FILE}.parquet"
_INDICES = ("frame_index", "episode_index", "index", "task_index")

type Statistics = dict[str, npt.NDArray[np.float64]]


class ExportConfig(Config, frozen=True):
    """Read from config/export.yaml.

    Attributes:
        fps: frames a second of simulated time.
        statistics_pictures: pictures of an episode that go into the statistics, evenly spaced.
        statistics_stride: step between their pixels that do.
    """

    fps: int
    statistics_pictures: int
    statistics_stride: int

    def __post_init__(self) -> None:
        if min(self.fps, self.statistics_pictures, self.statistics_stride) < 1:
            raise ValueError("fps, statistics_pictures and statistics_stride must be >= 1")


class DatasetWriter:
    """Writes a dataset; the folder appears, whole, when the block ends without an error and holds an episode.

    Raises:
        BadInputError: the folder exists.
    """

    def __init__(self, out: Path, config: ExportConfig) -> None:
        if out.exists():
            raise BadInputError("is there already", where=str(out), fix="choose another folder with --out")
        self._out = out
        self._config = config
        self._folder = out.with_name(f".{out.name}.partial")
        shutil.rmtree(self._folder, ignore_errors=True)
        self._rows: list[dict[str, Any]] = []
        self._statistics: list[dict[str, Statistics]] = []
        self._tasks: dict[str, int] = {}
        self._credits: dict[str, None] = {}
        self._joints: tuple[str, ...] = ()
        self._size = (0, 0)

    @property
    def episodes(self) -> int:
        return len(self._rows)

    @property
    def frames(self) -> int:
        return int(self._rows[-1]["dataset_to_index"]) if self._rows else 0

    def add(self, scored: Scored) -> Frames:
        """Append an episode; of a build that was begun and spoilt what came after.

        Raises:
            BadInputError: its bag lacks joints or pictures, or they are not like those of the episodes before.
        """
        evidence, bag = scored.evidence, _bag_of(scored.source)
        start = evidence.disturbance.after if evidence.disturbance is not None else evidence.initial
        frames = read_frames(bag, self._config.fps, start.time_s, evidence.final.time_s)
        pictures = {k: decode_jpeg(frames.jpegs[k], str(bag)) for k in np.unique(frames.picture).tolist()}
        self._check_alike(frames, pictures, bag)
        number, sentence = len(self._rows), f"Build {evidence.task_id} as its manual shows."
        place = dict(zip(("chunk_index", "file_index"), divmod(number, _CHUNK), strict=True))
        task = self._tasks.setdefault(sentence, len(self._tasks))
        self._write_video(frames, pictures, self._folder / _VIDEO.format(video_key=PICTURES, **place))
        columns = self._write_data(frames, number, task, self._folder / _DATA.format(**place))
        statistics = {name: _statistics(values) for name, values in columns.items()}
        statistics[PICTURES] = self._picture_statistics(frames, pictures)
        self._statistics.append(statistics)
        self._rows.append(self._row(scored, sentence, len(frames), place, statistics))
        if (scored.source / TASK_FILE).is_file():
            model = load_task(scored.source)
            self._credits[f"{model.title} ({model.model}), {model.author}, {model.licence}"] = None
        return frames

    def _check_alike(self, frames: Frames, pictures: dict[int, Rgb], bag: Path) -> None:
        """All episodes share their features, so what differs can't be in one dataset."""
        sizes = {picture.shape[:2] for picture in pictures.values()}
        joints, size = (self._joints, self._size) if self._rows else (frames.joints, next(iter(sizes)))
        if frames.joints != joints:
            names = ", ".join(frames.joints)
            raise BadInputError(f"has other joints than the episodes before ({names})", where=str(bag))
        if sizes != {size}:
            raise BadInputError(f"has pictures of another size than {size[1]} x {size[0]}", where=str(bag))
        self._joints, self._size = joints, size

    def _write_data(self, frames: Frames, number: int, task: int, path: Path) -> dict[str, npt.NDArray[Any]]:
        """Returns the columns."""
        count = len(frames)
        columns: dict[str, npt.NDArray[Any]] = {
            STATE: frames.state,
            ACTION: frames.action,
            AGE: frames.picture_age_s,
            "timestamp": (np.arange(count) / frames.fps).astype(np.float32),
            "frame_index": np.arange(count),
            "episode_index": np.full(count, number),
            "index": self.frames + np.arange(count),
            "task_index": np.full(count, task),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.table({name: _arrow(values) for name, values in columns.items()}), path)
        return columns

    def _write_video(self, frames: Frames, pictures: dict[int, Rgb], path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with VideoWriter(path, self._size[::-1], frames.fps) as video:
            for k in frames.picture.tolist():
                video.add(pictures[k])

    def _picture_statistics(self, frames: Frames, pictures: dict[int, Rgb]) -> Statistics:
        """By channel, (3, 1, 1) each, of values between 0 and 1."""
        chosen = np.linspace(0, len(frames) - 1, min(self._config.statistics_pictures, len(frames)))
        step = self._config.statistics_stride
        pixels = [pictures[int(frames.picture[k])][::step, ::step] for k in chosen.round().astype(int)]
        found = _statistics(np.concatenate([p.reshape(-1, 3) for p in pixels]) / 255.0)
        shaped = {name: values.reshape(3, 1, 1) for name, values in found.items() if name != "count"}
        return shaped | {"count": np.array([len(pixels)])}

    def _row(
        self,
        scored: Scored,
        sentence: str,
        length: int,
        place: dict[str, int],
        statistics: dict[str, Statistics],
    ) -> dict[str, Any]:
        evidence, first = scored.evidence, self.frames
        row: dict[str, Any] = {
            "episode_index": len(self._rows),
            "tasks": [sentence],
            "length": length,
            "dataset_from_index": first,
            "dataset_to_index": first + length,
        }
        for part in ("data", f"videos/{PICTURES}"):
            row |= {f"{part}/{name}": value for name, value in place.items()}
        row |= {
            f"videos/{PICTURES}/from_timestamp": 0.0,
            f"videos/{PICTURES}/to_timestamp": length / self._config.fps,
            "meta/episodes/chunk_index": 0,
            "meta/episodes/file_index": 0,
            "jarvis/episode_id": evidence.episode_id,
            "jarvis/agent": evidence.policy.name,
            "jarvis/seed": evidence.seed,
            "jarvis/score": scored.score.score,
            "jarvis/exact": scored.score.s_exact,
        }
        for feature, values in statistics.items():
            row |= {f"stats/{feature}/{name}": value.tolist() for name, value in values.items()}
        return row

    def _features(self) -> dict[str, Any]:
        height, width = self._size
        vector = {"dtype": "float32", "shape": [len(self._joints)], "names": list(self._joints)}
        video = {
            "video.height": height,
            "video.width": width,
            "video.codec": "vp9",
            "video.pix_fmt": "yuv420p",
            "video.is_depth_map": False,
            "video.fps": self._config.fps,
            "video.channels": 3,
            "has_audio": False,
        }
        return {
            STATE: vector,
            ACTION: vector,
            PICTURES: {
                "dtype": "video",
                "shape": [height, width, 3],
                "names": ["height", "width", "channels"],
                "info": video,
            },
            AGE: {"dtype": "float32", "shape": [1], "names": None},
            "timestamp": {"dtype": "float32", "shape": [1], "names": None},
            **{name: {"dtype": "int64", "shape": [1], "names": None} for name in _INDICES},
        }

    def _finish(self) -> None:
        """The files of the whole, then the folder's name."""
        count = len(self._rows)
        info = {
            "codebase_version": LAYOUT,
            "robot_type": ROBOT,
            "total_episodes": count,
            "total_frames": self.frames,
            "total_tasks": len(self._tasks),
            "chunks_size": _CHUNK,
            "data_files_size_in_mb": 100,
            "video_files_size_in_mb": 200,
            "fps": self._config.fps,
            "splits": {"train": f"0:{count}"},
            "data_path": _DATA,
            "video_path": _VIDEO,
            "features": self._features(),
        }
        write_json(self._folder / "meta/info.json", info)
        merged = {name: merge([s[name] for s in self._statistics]) for name in self._statistics[0]}
        plain = {f: {name: v.tolist() for name, v in found.items()} for f, found in merged.items()}
        write_json(self._folder / "meta/stats.json", plain)
        pq.write_table(_tasks_table(self._tasks), self._folder / "meta/tasks.parquet")
        path = self._folder / _EPISODES.format(chunk_index=0, file_index=0)
        path.parent.mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(self._rows), path)
        write_text(self._folder / "README.md", _card(info, list(self._credits)))
        self._folder.rename(self._out)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None and self._rows:
                self._finish()
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)


def merge(parts: list[Statistics]) -> Statistics:
    """Statistics of several episodes together, each weighed by its count."""
    counts = np.array([float(p["count"][0]) for p in parts])
    means, deviations = np.stack([p["mean"] for p in parts]), np.stack([p["std"] for p in parts])
    mean = np.tensordot(counts, means, 1) / counts.sum()
    variance = np.tensordot(counts, deviations**2 + (means - mean) ** 2, 1) / counts.sum()
    return {
        "min": np.min([p["min"] for p in parts], axis=0),
        "max": np.max([p["max"] for p in parts], axis=0),
        "mean": mean,
        "std": np.sqrt(variance),
        "count": np.sum([p["count"] for p in parts], axis=0),
    }


def _statistics(values: npt.NDArray[Any]) -> Statistics:
    """Of the first axis."""
    rows = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    found = {name: getattr(rows, name)(axis=0) for name in ("min", "max", "mean", "std")}
    return found | {"count": np.array([len(rows)])}


def _arrow(values: npt.NDArray[Any]) -> pa.Array:
    flat = pa.array(values.ravel())
    return flat if values.ndim == 1 else pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def _tasks_table(tasks: dict[str, int]) -> pa.Table:
    """LeRobot reads it by pandas and finds a task by the index, which a note in the file's schema tells."""
    table = pa.table(
        {"task_index": pa.array(tasks.values(), pa.int64()), "task": pa.array(tasks, pa.string())}
    )
    column = {"metadata": None}
    note = {
        "index_columns": ["task"],
        "column_indexes": [],
        "columns": [
            column
            | {
                "name": "task_index",
                "field_name": "task_index",
                "pandas_type": "int64",
                "numpy_type": "int64",
            },
            column | {"name": "task", "field_name": "task", "pandas_type": "unicode", "numpy_type": "object"},
        ],
    }
    return table.replace_schema_metadata({"pandas": json.dumps(note)})


def _bag_of(source: Path) -> Path:
    return source / BAG_FOLDER if (source / BAG_FOLDER).is_dir() else source


def _card(info: dict[str, Any], credits: list[str]) -> str:
    models = "".join(f"- {line}\n" for line in credits) or "- not told by the recordings\n"
    return f"""---
task_categories: [robotics]
tags: [LeRobot]
configs: [{{config_name: default, data_files: data/*/*.parquet}}]
---
A simulated Panda that builds with bricks: {info["total_episodes"]} episodes, {info["total_frames"]} frames at
{info["fps"]} a second, in LeRobot's layout {LAYOUT}. `action` is the next frame's state; the camera may have been
recorded at a lower rate, `{AGE}` tells how old a picture is.

Models, their authors and licences:

{models}
LEGO is a trademark of the LEGO Group, which does not sponsor, authorise or endorse this.
"""
