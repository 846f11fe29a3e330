"""Reading datasets, sound and broken; with this code and without it."""

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import pytest
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.errors import BadInputError
from jarvis_tasks.dataset.archive import write_archive
from jarvis_tasks.dataset.build import build_dataset
from jarvis_tasks.dataset.index import RowWriter, count_rows, read_rows
from jarvis_tasks.dataset.layout import ModelRow, model_of
from jarvis_tasks.dataset.reader import TaskDataset
from jarvis_tasks.dataset.sources import collect
from jarvis_tasks.dataset.truth import Truth
from jarvis_tasks.dataset.units import UnitSettings
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.rows import TaskRow
from msgspec.structs import replace

import jarvis_bricks

SHIPPED = Path(jarvis_bricks.__file__).parent / "models"


@pytest.fixture(scope="module")
def built(tmp_path_factory, config, limits, cell):
    """The shipped duck and bridge as a dataset."""
    out = tmp_path_factory.mktemp("dataset") / "birds"
    settings = UnitSettings(config, limits, cell.plate, None, 0, None, "")
    found = collect([SHIPPED / "duck.mpd", SHIPPED / "bridge.mpd"])
    build_dataset(found, out, settings, None, jobs=1)
    return out


@pytest.fixture
def dataset(built, tmp_path):
    """A copy that a test may break."""
    return Path(shutil.copytree(built, tmp_path / "dataset"))


def flip(path, place=-40):
    data = bytearray(path.read_bytes())
    data[place] ^= 0x55
    path.write_bytes(data)


def test_the_card_says_how_to_make_a_task_and_that_gives_the_same(built):
    """Step by step what README.md says, with nothing of this project but the files."""
    index = {row.id: row for row in TaskDataset.open(built).rows()}
    with zipfile.ZipFile(built / "truth" / "duck.zip") as archive:
        truth = json.loads(archive.read("truth.json"))
    for name in ("duck-s01-s03", "duck-s03-s07", "duck-s09-s09"):
        first, last = index[name].first, index[name].last
        present = [b for b in truth["bricks"] if b["step"] <= last]
        ids = {b["id"] for b in present} | {"plate"}
        joints = [j for j in truth["joints"] if j[0] in ids and j[1] in ids]
        numbers = sorted({b["step"] for b in present if b["step"] >= first})
        task = TaskDataset.open(built).task(name)
        for brick, made in zip(present, (*task.scene, *task.targets), strict=True):
            under = sorted((-studs, low) for up, low, studs in joints if up == brick["id"])
            around = sorted({a if b == brick["id"] else b for a, b, _ in joints if brick["id"] in (a, b)})
            assert (made.id, made.part, made.colour) == (brick["id"], brick["part"], brick["colour"])
            assert made.pose.to_list() == brick["pose"]
            assert made.step == (numbers.index(brick["step"]) + 1 if brick["step"] >= first else 0)
            assert list(made.connections) == around
            assert made.support == (under[0][1] if under else around[0])


def test_truth_survives_its_file(catalogue):
    model = place_on_plate(read_assembly(SHIPPED / "house.mpd", library=None), catalogue, (32, 32))
    truth = Truth.of(model)
    assert Truth.of(truth.placed()) == truth
    assert truth.placed().joints == model.joints


def test_the_library_datasets_reads_it_without_a_network(built, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    datasets = pytest.importorskip("datasets")
    opened = TaskDataset.open(built)
    loaded = datasets.load_dataset(str(built), cache_dir=str(tmp_path / "cache"))
    for split, rows in loaded.items():
        assert [row["id"] for row in rows] == [row.id for row in opened.rows(split)]
    assert sum(len(rows) for rows in loaded.values()) == opened.info.counts.n_tasks
    split = next(iter(loaded))
    streamed = datasets.load_dataset(str(built), split=split, streaming=True)
    assert next(iter(streamed))["id"] == next(opened.rows(split)).id
    models = datasets.load_dataset(str(built), "models", split="models", cache_dir=str(tmp_path / "cache"))
    assert models["model"] == ["bridge", "duck"]


def test_rows_come_a_piece_at_a_time(built):
    opened = TaskDataset.open(built)
    rows = list(opened.rows())
    assert len(rows) == opened.info.counts.n_tasks == 62 + 45
    assert rows == [row for split in ("train", "validation", "test") for row in opened.rows(split)]
    with pytest.raises(BadInputError, match="no split 'dev'"):
        next(opened.rows("dev"))
    assert {model_of(row.id) for row in rows} == {"duck", "bridge"}


@pytest.mark.parametrize("name", ["duck-s09-s01", "swan-s01-s02", "duck", "", "../duck-s01-s02"])
def test_an_unknown_task(built, name):
    with pytest.raises(BadInputError, match="no task"):
        TaskDataset.open(built).task(name)


def test_a_changed_archive_is_not_read(dataset):
    flip(dataset / "truth" / "duck.zip")
    opened = TaskDataset.open(dataset)
    with pytest.raises(BadInputError, match=r"duck\.zip: has been changed since it was written"):
        opened.task("duck-s01-s02")
    assert opened.task("bridge-s01-s02").n_required
    assert opened.verify() == ["truth/duck.zip: changed since it was written (sha256)"]


def test_a_missing_archive(dataset):
    (dataset / "truth" / "duck.zip").unlink()
    opened = TaskDataset.open(dataset)
    with pytest.raises(BadInputError, match=r"duck\.zip: is missing"):
        opened.task("duck-s01-s02")
    assert opened.verify() == ["truth/duck.zip: missing"]


def test_other_truth_under_the_same_name_is_found_even_with_its_hash_replaced(dataset):
    """Someone who also changes dataset.json still contradicts the index."""
    with zipfile.ZipFile(dataset / "truth" / "duck.zip") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    truth = json.loads(members["truth.json"])
    truth["bricks"][0]["pose"][0] += 0.008
    members["truth.json"] = json.dumps(truth).encode()
    write_archive(dataset / "truth" / "duck.zip", members.items())
    rehash(dataset, "truth/duck.zip")
    with pytest.raises(BadInputError, match="the task's hash is another one"):
        TaskDataset.open(dataset).task("duck-s01-s02")


def rehash(dataset, path):
    info = json.loads((dataset / "dataset.json").read_text())
    info["files"][path] = hashlib.sha256((dataset / path).read_bytes()).hexdigest()
    (dataset / "dataset.json").write_text(json.dumps(info))


def test_rows_that_do_not_fit_the_archives(dataset, tmp_path):
    split = next(row.split for row in TaskDataset.open(dataset).rows() if row.model == "duck")
    rows = list(TaskDataset.open(dataset).rows(split))
    with RowWriter(dataset / "index" / f"{split}.parquet", TaskRow, 10) as writer:
        for row in rows:
            writer.write(replace(row, n_act=99) if row.id == "duck-s01-s01" else row)
    rehash(dataset, f"index/{split}.parquet")
    assert TaskDataset.open(dataset).verify() == [
        f"index/{split}.parquet: duck-s01-s01 is not as in truth/duck.zip"
    ]


def test_a_truncated_index(dataset):
    path = dataset / "index" / "train.parquet"
    path.write_bytes(path.read_bytes()[:-100])
    opened = TaskDataset.open(dataset)
    with pytest.raises(BadInputError, match=r"train\.parquet: a damaged parquet file"):
        list(opened.rows())
    with pytest.raises(BadInputError, match="a damaged parquet file"):
        count_rows(path)
    assert opened.verify() == ["index/train.parquet: changed since it was written (sha256)"]
    path.unlink()
    with pytest.raises(BadInputError, match=r"train\.parquet: no such file"):
        list(opened.rows())


def test_a_file_of_other_columns(dataset):
    with pytest.raises(BadInputError, match="has not the columns of a TaskRow"):
        list(read_rows(dataset / "models.parquet", TaskRow))
    assert [row.model for row in read_rows(dataset / "models.parquet", ModelRow)] == ["bridge", "duck"]


def test_strangers_in_the_folder(dataset):
    (dataset / "truth" / "swan.zip").write_bytes(b"")
    (dataset / "notes.txt").write_text("")
    assert TaskDataset.open(dataset).verify() == [
        "truth/swan.zip: not listed in dataset.json",
        "notes.txt: does not belong to the dataset",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [('{"schema": 99}', "schema 99, this version reads 1"), ("{}", "not a valid"), ("{", "not a valid")],
)
def test_another_schema(dataset, text, words):
    (dataset / "dataset.json").write_text(text)
    with pytest.raises(BadInputError, match=words):
        TaskDataset.open(dataset)


def test_no_dataset_and_an_unfinished_one(dataset, tmp_path):
    with pytest.raises(BadInputError, match="is no dataset"):
        TaskDataset.open(tmp_path)
    (dataset / "dataset.json").unlink()
    with pytest.raises(BadInputError, match="is an unfinished dataset"):
        TaskDataset.open(dataset)


def test_archives_are_the_same_whenever_they_are_written(tmp_path):
    members = [("a.json", b"{}" * 100), ("page-00.png", b"\x89PNG")]
    for name in ("one.zip", "two.zip"):
        write_archive(tmp_path / name, members)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
