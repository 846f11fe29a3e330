"""Datasets from models to files: complete, repeatable, and going on after any kill."""

import dataclasses
import fcntl
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, MissingCapabilityError
from jarvis_render.config import ManualConfig
from jarvis_tasks.dataset import pool
from jarvis_tasks.dataset.build import build_dataset
from jarvis_tasks.dataset.reader import TaskDataset
from jarvis_tasks.dataset.sources import Source, collect
from jarvis_tasks.dataset.units import UnitSettings
from jarvis_tasks.select import find_segments
from jarvis_tasks.store import task_hash

#: A stack of bricks, one a step: so many bricks, the highest so many brick heights above the first.
STEP = "0 STEP\n"
BRICK = "1 {colour} {x} {y} 0 1 0 0 0 1 0 0 0 1 {part}.dat\n"


def stack(height, *, x=0, colour=4, part="3003", step=STEP):
    rows = [BRICK.format(colour=colour, x=x, y=-24 * level, part=part) + step for level in range(height)]
    return f"0 A stack of {height}\n0 Author: somebody\n0 !LICENSE CC BY 4.0\n" + "".join(rows)


@pytest.fixture
def models(tmp_path):
    """Four good models, three bad ones, a copy and a text."""
    folder = tmp_path / "models"
    folder.mkdir()
    for name, text in {
        "stack.ldr": stack(3),
        "stack_red.ldr": stack(3, colour=1),
        "tower.ldr": stack(5, part="3001"),
        "layers.ldr": stack(4, part="3001", step=""),
        "copy.ldr": stack(3),
        "missing.ldr": stack(2, part="nosuch"),
        "broken.ldr": "1 4 0 0\n",
        "empty.ldr": "0 Nothing\n",
        "README.txt": "Read me.\n",
    }.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def unit_settings(config, limits, cell):
    return UnitSettings(config, limits, cell.plate, None, 0, None, "")


@pytest.fixture
def make(models, unit_settings, tmp_path):
    """make(changes of the settings...): a build into tmp_path/out in this process."""

    def made(out="out", paths=None, **changes):
        settings = dataclasses.replace(unit_settings, **changes)
        prune = bool(paths)
        return build_dataset(collect(paths or [models]), tmp_path / out, settings, None, jobs=1, prune=prune)

    return made


def contents(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_everything_is_counted(make, tmp_path):
    report = make()
    counts = report.info.counts
    # 3 steps give 6 runs, 5 give 15, 4 layers 10.
    assert (counts.models, counts.n_tasks) == (4, 6 + 6 + 15 + 10)
    assert (counts.failed, counts.copies, counts.other_texts, counts.in_layers) == (3, 1, 1, 1)
    assert counts.considered == counts.accepted + sum(counts.refused.values())
    assert {f.source: f.kind for f in report.info.failed} == {
        "missing.ldr": "missing part",
        "broken.ldr": "can't be read or judged",
        "empty.ldr": "can't be read or judged",
    }
    assert "missing.ldr:4" in next(f.line for f in report.info.failed if f.kind == "missing part")
    dataset = TaskDataset.open(tmp_path / "out")
    assert dataset.verify() == []
    assert set(dataset.info.files) | {"dataset.json"} == set(contents(tmp_path / "out"))
    split = {row.model: (row.family, row.split) for row in dataset.models()}
    assert split["copy"] == split["stack_red"]
    notes = {row.model: json.loads(row.notes) for row in dataset.models()}
    assert "no STEP" in notes["layers"][0]


def test_tasks_are_those_of_the_model(make, models, tmp_path, limits, config, cell):
    make()
    dataset = TaskDataset.open(tmp_path / "out")
    rows = {row.id: row for row in dataset.rows()}
    catalogue = PartCatalogue(None)
    assembly = read_assembly(models / "tower.ldr", library=None)
    tasks = list(find_segments(assembly, catalogue, limits, config, cell.plate.studs).tasks())
    assert [task.id for task in tasks] == [name for name in rows if name.startswith("tower-")]
    for task in tasks:
        row = rows[task.id]
        assert dataset.task(task.id) == task
        assert row.hash == task_hash(task)
        assert (row.n_scene, row.n_act) == (len(task.scene), task.n_required)
        assert (row.title, row.author, row.licence) == ("A stack of 5", "somebody", "CC BY 4.0")
        assert dataset.manual(task.id) is None


def test_a_second_run_finds_everything_there_and_changes_no_byte(make, tmp_path):
    make()
    before = contents(tmp_path / "out")
    stamps = {p: p.stat().st_mtime_ns for p in (tmp_path / "out" / "truth").iterdir()}
    report = make()
    assert (report.there, report.built) == (4, 0)
    assert contents(tmp_path / "out") == before
    assert {p: p.stat().st_mtime_ns for p in stamps} == stamps


def test_what_changed_is_built_again(make, models, tmp_path):
    make()
    (models / "tower.ldr").write_text(stack(6, part="3001"))
    report = make()
    assert (report.there, report.built, report.info.counts.n_tasks) == (3, 1, 6 + 6 + 21 + 10)
    # A finished unit that was damaged, and a model that can no longer be read.
    archive = tmp_path / "out" / "truth" / "layers.zip"
    archive.write_bytes(archive.read_bytes()[:200])
    (models / "tower.ldr").write_text("1 4 0 0 0\n")
    report = make()
    assert (report.there, report.built, report.info.counts.failed) == (2, 1, 4)
    assert not (tmp_path / "out" / "truth" / "tower.zip").exists()
    assert make(limit=2).there == 0
    assert TaskDataset.open(tmp_path / "out").verify() == []


def test_a_limit_draws_by_the_seed(make, tmp_path):
    rows = {}
    for seed in (0, 1, 0):
        make(limit=4, seed=seed)
        drawn = [row.id for row in TaskDataset.open(tmp_path / "out").rows()]
        assert rows.setdefault(seed, drawn) == drawn
    assert rows[0] != rows[1]
    counts = TaskDataset.open(tmp_path / "out").info.counts
    assert (counts.n_tasks, counts.accepted, counts.not_chosen) == (16, 37, 21)


def test_models_no_longer_named_are_not_lost_silently(make, models, unit_settings, tmp_path):
    make()
    fewer = collect([models / "tower.ldr"])
    with pytest.raises(BadInputError, match=r"holds 3 models that are not named now, first copy.*--prune"):
        build_dataset(fewer, tmp_path / "out", unit_settings, None, jobs=1)
    assert TaskDataset.open(tmp_path / "out").verify() == []
    assert make(paths=[models / "tower.ldr"]).removed == 3
    assert [p.name for p in (tmp_path / "out" / "truth").iterdir()] == ["tower.zip"]


def test_folders_of_other_things_are_left_alone(make, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.tex").write_text("years of work")
    with pytest.raises(BadInputError, match=r"is no dataset: it holds thesis\.tex"):
        make()
    assert contents(tmp_path / "out") == {"thesis.tex": b"years of work"}


def test_a_path_that_can_not_be_written_is_one_line(make, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInputError, match="can't be written"):
        make(out="file/out")


BUILD = """
import pickle, resource, sys
from pathlib import Path
from jarvis_core.errors import JarvisError
from jarvis_tasks.dataset.build import build_dataset
from jarvis_tasks.dataset.sources import collect
if __name__ == "__main__":
    settings, models, out = map(Path, sys.argv[1:4])
    jobs, largest = map(int, sys.argv[4:])
    found = collect([models])
    if largest:
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
    try:
        build_dataset(found, out, pickle.loads(settings.read_bytes()), None, jobs=jobs)
    except JarvisError as error:
        sys.exit(error.line())
"""


@pytest.fixture
def started(tmp_path, unit_settings):
    """started(models, out, jobs, largest file): a build in a process of its own."""
    script = tmp_path / "build.py"
    script.write_text(BUILD)
    settings = tmp_path / "settings"
    settings.write_bytes(pickle.dumps(unit_settings))
    running = []

    def start(models, out, jobs=1, largest=0):
        path = os.pathsep.join(p for p in sys.path if p)
        process = subprocess.Popen(
            [sys.executable, *map(str, (script, settings, models, out, jobs, largest))],
            env={**os.environ, "PYTHONPATH": path},
            stderr=subprocess.PIPE,
            text=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def test_a_full_disk_is_one_line(started, tmp_path):
    models = tmp_path / "many"
    models.mkdir()
    for height in range(2, 30):
        (models / f"m{height:02d}.ldr").write_text(stack(height, part="3001"))
    process = started(models, tmp_path / "out", largest=2500)
    _, told = process.communicate(timeout=120)
    assert process.returncode == 1
    assert told.count("\n") == 1
    assert "can't be written (File too large)" in told
    assert "the same command goes on" in told
    left = list((tmp_path / "out" / "truth").iterdir())
    assert left
    assert not any(".tmp" in p.name for p in left)


def children_of(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def test_a_killed_build_goes_on_to_the_same_bytes(started, unit_settings, tmp_path):
    models = tmp_path / "many"
    models.mkdir()
    for number in range(16):
        (models / f"m{number:02d}.ldr").write_text(stack(2 + number % 3, x=number))
    out, truth = tmp_path / "out", tmp_path / "out" / "truth"
    process = started(models, out, jobs=2)
    until = time.monotonic() + 120
    while not (truth.is_dir() and any(truth.glob("m*.zip"))):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.01)
    children = children_of(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while any(Path(f"/proc/{pid}").exists() and not is_zombie(pid) for pid in children):
        assert time.monotonic() < until, "workers outlive their parent"
        time.sleep(0.05)
    done = len(list(truth.glob("m*.zip")))
    assert 0 < done < 16
    with pytest.raises(
        BadInputError, match="is an unfinished dataset - the same `jarvis tasks build` goes on"
    ):
        TaskDataset.open(out)
    (truth / ".m99.123.tmp.zip").write_bytes(b"half of it")
    report = build_dataset(collect([models]), out, unit_settings, None, jobs=1)
    assert (report.there, report.built) == (done, 16 - done)
    build_dataset(collect([models]), tmp_path / "whole", unit_settings, None, jobs=1)
    assert contents(out) == contents(tmp_path / "whole")


def is_zombie(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


class Deadly(Source):
    """Ends the process that unpickles it."""

    def __reduce__(self):
        return os._exit, (1,)


def test_a_model_that_kills_its_process_fails_alone(models, unit_settings, tmp_path):
    good = [s for s in collect([models]).sources if s.name in ("tower", "layers")]
    deadly = Deadly("deadly", models / "deadly.ldr", "0" * 64)
    outcomes = list(pool.build_units([good[0], deadly, *good[1:]], unit_settings, tmp_path / "out", None, 2))
    failures = [outcome for outcome in outcomes if outcome is not None]
    assert len(outcomes) == 3
    assert [(f.source, f.kind) for f in failures] == [("deadly.ldr", "its process died")]
    assert sorted(p.stem for p in (tmp_path / "out" / "truth").iterdir()) == sorted(s.name for s in good)


def test_two_builds_do_not_share_a_folder(started, make, models, tmp_path):
    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / ".build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BadInputError, match="another build is at work here"):
            make()


def test_pictures_are_what_an_agent_may_see(make, models, tmp_path):
    style = load_default("manual", ManualConfig).changed("test", width=96, height=96)
    try:
        make(paths=[models / "stack.ldr"], manual=style)
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    dataset = TaskDataset.open(tmp_path / "out")
    assert dataset.verify() == []
    for row in dataset.rows():
        manual = dataset.manual(row.id)
        assert len(manual.pages) == row.n_pages
        assert all(page.png.startswith(b"\x89PNG") for page in manual.pages)
        assert sum(part.count for part in manual.parts) == row.n_act
        assert "pixel" in manual.axes
