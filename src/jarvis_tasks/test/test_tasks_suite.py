"""Suites: written and read back, every hash checked, tampering told in a line."""

import json
import shutil
from importlib import resources
from pathlib import Path

import msgspec
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.errors import BadInputError
from jarvis_core.files import encode, read_json, write_json
from jarvis_tasks.dataset.archive import write_archive
from jarvis_tasks.dataset.layout import TRUTH
from jarvis_tasks.dataset.truth import Truth
from jarvis_tasks.freezing import freeze_suite
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.segment import TaskMaker
from jarvis_tasks.select import find_segments
from jarvis_tasks.selection import select
from jarvis_tasks.store import task_hash
from jarvis_tasks.suite import SUITE_FILE, SuiteIndex, load_suite, task_maker

STUDS = (48, 48)


@pytest.fixture(scope="module")
def models():
    folder = Path(str(resources.files("jarvis_bricks"))) / "models"
    return {name: (f"{name}.mpd", (folder / f"{name}.mpd").read_bytes()) for name in ("bridge", "house")}


@pytest.fixture(scope="module")
def pool(models, limits, config):
    folder = Path(str(resources.files("jarvis_bricks"))) / "models"
    found = []
    for name in models:
        assembly = read_assembly(folder / f"{name}.mpd", library=None)
        search = find_segments(assembly, PartCatalogue(None), limits, config, STUDS)
        maker = TaskMaker(search.model)
        for s in search.accepted:
            task = maker.task(s.first, s.last)
            head = (task.id, name, task.title, task.author, task.licence, "test", s.first, s.last)
            pages = maker.n_pages(s.first, s.last)
            found.append(TaskRow(*head, s.n_scene, s.n_targets, pages, 0, task_hash(task)))
    return found


@pytest.fixture(scope="module")
def choice(config):
    strata = tuple(msgspec.structs.replace(s, count=2) for s in config.selection.strata)
    return msgspec.structs.replace(config.selection, strata=strata)


def freeze(folder, pool, models, choice):
    return freeze_suite(
        folder,
        name="toy-6",
        description="Six toys",
        pool="two shipped models",
        selection=select(pool, choice),
        models=models,
        plate_studs=STUDS,
    )


@pytest.fixture
def folder(tmp_path, pool, models, choice):
    freeze(tmp_path / "toy", pool, models, choice)
    return tmp_path / "toy"


def test_a_suite_gives_back_what_was_frozen(folder, pool):
    suite = load_suite(str(folder))
    by_id = {row.id: row for row in pool}
    assert [row.id for row in suite.rows()] == [entry.id for entry in suite.index.tasks]
    for row in suite.rows():
        assert row == by_id[row.id]
        assert task_hash(suite.task(row.id)) == row.hash
        assert suite.model_file(row.id).is_file()
    assert [s.count for s in suite.index.strata] == [2, 2, 2]
    with pytest.raises(BadInputError, match="holds no task nothing"):
        suite.task("nothing")


def test_only_the_tasks_that_are_asked_for_are_cut(folder):
    names = list(load_suite(str(folder)).tasks)
    part = load_suite(str(folder), only=[names[4], names[1]])
    assert list(part.tasks) == [row.id for row in part.rows()] == [names[1], names[4]]
    with pytest.raises(BadInputError, match="holds no task nothing"):
        load_suite(str(folder), only=[names[0], "nothing"])


def test_the_same_pool_gives_the_same_bytes(folder, tmp_path, pool, models, choice):
    freeze(tmp_path / "again", list(reversed(pool)), models, choice)
    files = {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    again = tmp_path / "again"
    assert {p.relative_to(again): p.read_bytes() for p in again.rglob("*") if p.is_file()} == files


def resealed(folder, change):
    """Someone who changes the index and its hash too."""
    index = read_json(folder / SUITE_FILE, SuiteIndex)
    write_json(folder / SUITE_FILE, change(index).sealed())


def first_task(index, **changes):
    tasks = (msgspec.structs.replace(index.tasks[0], **changes), *index.tasks[1:])
    return msgspec.structs.replace(index, tasks=tasks)


def of_index(folder):
    document = json.loads((folder / SUITE_FILE).read_text())
    document["tasks"][0]["stratum"] = "Hard"
    (folder / SUITE_FILE).write_text(json.dumps(document))


def of_model(folder):
    file = sorted((folder / "models").iterdir())[0]
    file.write_bytes(file.read_bytes().replace(b"1 71 ", b"1 72 ", 1) + b"0\n")


@pytest.mark.parametrize(
    ("tamper", "told"),
    [
        (of_index, "was changed after it was frozen"),
        (of_model, "is not the model that was frozen"),
        (lambda f: sorted((f / "models").iterdir())[0].unlink(), "no such file"),
        (lambda f: (f / SUITE_FILE).unlink(), "is no suite"),
        (lambda f: (f / SUITE_FILE).write_text("{"), "not a valid"),
        (lambda f: resealed(f, lambda i: msgspec.structs.replace(i, schema=2)), "suite layout 2, this version reads 1"),
        (lambda f: resealed(f, lambda i: first_task(i, hash="0" * 64)), "otherwise than it was frozen"),
        (lambda f: resealed(f, lambda i: first_task(i, n_act=99)), "otherwise than it was frozen"),
        (lambda f: resealed(f, lambda i: first_task(i, model="../../x.mpd")), "not in its models folder"),
    ],
)  # fmt: skip
def test_tampering_is_one_clear_line(folder, tamper, told):
    tamper(folder)
    with pytest.raises(BadInputError, match=told) as caught:
        load_suite(str(folder))
    assert "\n" not in caught.value.line()
    assert str(folder) in caught.value.line()


def test_nothing_half_written_is_left(tmp_path, pool, models, choice):
    wrong = [msgspec.structs.replace(row, hash="0" * 64) for row in pool]
    with pytest.raises(BadInputError, match=r"does not come out of bridge\.mpd as the pool says"):
        freeze(tmp_path / "toy", wrong, models, choice)
    with pytest.raises(BadInputError, match="the model house is not given"):
        freeze(tmp_path / "toy", pool, {"bridge": models["bridge"]}, choice)
    assert list(tmp_path.iterdir()) == []
    freeze(tmp_path / "toy", pool, models, choice)
    with pytest.raises(BadInputError, match="exists already"):
        freeze(tmp_path / "toy", pool, models, choice)


def test_a_suite_moves(folder, tmp_path):
    shutil.move(folder, tmp_path / "elsewhere")
    assert len(load_suite(str(tmp_path / "elsewhere")).tasks) == 6


def test_a_suite_can_hold_archives_of_a_dataset(tmp_path, pool, models, choice):
    """They need neither parts library nor cell: what was left out and how bricks are joined is in them."""
    archives = {}
    for name, (file, data) in models.items():
        (tmp_path / file).write_bytes(data)
        placed = task_maker(tmp_path / file, STUDS, None).model
        write_archive(tmp_path / "truth.zip", [(TRUTH, encode(Truth.of(placed)))])
        archives[name] = (f"{name}.zip", (tmp_path / "truth.zip").read_bytes())
    freeze(tmp_path / "toy", pool, archives, choice)
    suite = load_suite(str(tmp_path / "toy"))
    name = next(iter(suite.tasks))
    assert suite.model_file(name).suffix == ".zip"
    assert all(suite.catalogue(name).knows(brick.part) for brick in suite.task(name).targets)
    resealed(tmp_path / "toy", lambda i: msgspec.structs.replace(i, plate_studs=(32, 32)))
    with pytest.raises(BadInputError, match="was made for a plate of"):
        load_suite(str(tmp_path / "toy"))
