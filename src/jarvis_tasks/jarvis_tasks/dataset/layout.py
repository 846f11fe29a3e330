"""What a dataset's folder holds::

DATASET/
  README.md                 the dataset's card; its header tells the library ``datasets`` which files to load
  dataset.json              schema version, settings, counts, reasons, sha256 of every other file; written last: a
                            folder without it is unfinished
  index/SPLIT.parquet       one row per task (TaskRow): what is needed to choose tasks, no ground truth
  models.parquet            one row per source model (ModelRow)
  truth/MODEL.zip           ground truth, never given to agents
    model.json              what came of the model (Unit)
    truth.json              its bricks at their places and joints (Truth)
    parts.mpd               parts and colours that the model file held itself; only where there are any
  manuals/MODEL.zip         only with pictures: what an agent may see
    TASK/page-00.png ...    page-00 is the initial structure
    TASK/axes.txt           how the pages relate to the build plate
    TASK/parts.json         the loose bricks
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from jarvis_tasks.rows import TaskRow

#: Version of everything above; a reader refuses any other.
DATASET_SCHEMA = 1
SPLITS = ("train", "validation", "test")

CARD = "README.md"
INFO = "dataset.json"
MODELS = "models.parquet"
LOCK = ".build.lock"
UNIT, TRUTH, PARTS = "model.json", "truth.json", "parts.mpd"
#: All that lies in a dataset's folder: a build refuses a folder that holds anything else.
KNOWN = frozenset({CARD, INFO, MODELS, LOCK, "index", "truth", "manuals", ".cache"})


def index_path(split: str) -> str:
    return f"index/{split}.parquet"


def truth_path(model: str) -> str:
    return f"truth/{model}.zip"


def manuals_path(model: str) -> str:
    return f"manuals/{model}.zip"


class RefusedRuns(msgspec.Struct, frozen=True):
    """How many runs of steps a reason refuses (each counts for its most important one), and the first example."""

    reason: str
    segments: int
    example: str


class UnitTask(msgspec.Struct, frozen=True):
    """A task of a model; names as in TaskRow."""

    first: int
    last: int
    n_scene: int
    n_act: int
    n_pages: int
    left_out: int
    hash: str


class Unit(msgspec.Struct, frozen=True):
    """What came of one source model: finished work that a later run of the same build takes over.

    Attributes:
        key: hash of all that the unit was made from: files and settings.
        source: name of the model's file.
        shape: hash of the model's parts and places, whatever their colours and order.
        n_bricks, n_steps: of the model as it was read.
        layers: its file has no STEP: its steps are its layers from low to high.
        n_placed, n_left_out, n_stand_ins: of its bricks, those on the plate, those that the cell can't build with,
            baseplates that the build plate stands in for.
        empty_steps: steps that have no bricks on the plate.
        considered, too_long, too_short: runs of steps that were looked at, and those that were not.
        refused: the most frequent reason first.
        not_chosen: possible tasks that were left aside by the limit of tasks per model.
        notes: what was not read of the file.
        pictures_sha256, pictures_bytes: of the archive of manuals; empty without pictures.
    """

    schema: int
    key: str
    name: str
    source: str
    title: str
    author: str
    licence: str
    shape: str
    n_bricks: int
    n_steps: int
    layers: bool
    n_placed: int
    n_left_out: int
    n_stand_ins: int
    empty_steps: int
    considered: int
    too_long: int
    too_short: int
    refused: tuple[RefusedRuns, ...]
    not_chosen: int
    notes: tuple[str, ...]
    tasks: tuple[UnitTask, ...]
    pictures_sha256: str = ""
    pictures_bytes: int = 0

    def rows(self, split: str) -> list[TaskRow]:
        """Its lines of the index."""
        return [
            TaskRow(
                id=f"{self.name}-s{task.first:02d}-s{task.last:02d}",
                model=self.name,
                title=self.title,
                author=self.author,
                licence=self.licence,
                split=split,
                first=task.first,
                last=task.last,
                n_scene=task.n_scene,
                n_act=task.n_act,
                n_pages=task.n_pages,
                left_out=task.left_out,
                hash=task.hash,
            )
            for task in self.tasks
        ]


class ModelRow(msgspec.Struct, frozen=True):
    """A line of models.parquet; names as in Unit.

    Attributes:
        family: models of one family are in one split (see jarvis_tasks.dataset.splits).
        accepted: runs of steps that can be tasks; ``tasks`` of them are in the dataset.
        refused: JSON: a list of {reason, segments, example}.
        notes: JSON: a list of texts.
    """

    model: str
    source: str
    title: str
    author: str
    licence: str
    family: str
    split: str
    bricks: int
    steps: int
    layers: bool
    placed: int
    left_out: int
    stand_ins: int
    empty_steps: int
    considered: int
    too_long: int
    too_short: int
    accepted: int
    tasks: int
    refused: str
    notes: str


class FailedModel(msgspec.Struct, frozen=True):
    """A model that could not be read or judged: the kind of failure and the line that says why."""

    source: str
    kind: str
    line: str


class Copy(msgspec.Struct, frozen=True):
    """A file that is byte for byte the same as another one; only that one is used."""

    source: str
    same_as: str


class Counts(msgspec.Struct, frozen=True):
    """Of everything in and left out of a dataset.

    Attributes:
        models: read and judged; ``with_tasks`` of them give tasks, ``in_layers`` have no STEP in their file.
        failed, copies, other_texts: files that gave nothing: unreadable, the same as another one, no model text.
        tasks: by split.
        refused: runs of steps by reason, the most frequent first.
        Others: sums over the models, as in Unit.
    """

    models: int
    with_tasks: int
    in_layers: int
    failed: int
    copies: int
    other_texts: int
    bricks: int
    left_out: int
    stand_ins: int
    empty_steps: int
    considered: int
    too_long: int
    too_short: int
    accepted: int
    not_chosen: int
    tasks: dict[str, int]
    refused: dict[str, int]

    @property
    def n_tasks(self) -> int:
        return sum(self.tasks.values())


class DatasetInfo(msgspec.Struct, frozen=True):
    """dataset.json.

    Attributes:
        settings: all that decides what is in the dataset, as it was configured.
        files: sha256 by path, of all other files.
    """

    schema: int
    settings: dict[str, Any]
    counts: Counts
    failed: tuple[FailedModel, ...]
    copies: tuple[Copy, ...]
    files: dict[str, str]


def model_of(task: str) -> str:
    """The model's name in a task's id; "" if it is no id."""
    head, _, last = task.rpartition("-s")
    model, _, first = head.rpartition("-s")
    return model if first.isdigit() and last.isdigit() else ""


def archives(folder: Path, kind: str) -> dict[str, Path]:
    """By model: the archives in ``truth`` or ``manuals`` of a dataset."""
    return {path.stem: path for path in sorted((folder / kind).glob("[!.]*.zip"))}
