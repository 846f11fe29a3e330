import msgspec
import pytest
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual, ManualPage, PartCount
from jarvis_tasks.manual import task_brief
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.segment import make_task
from jarvis_tasks.store import load_manual, load_task, save_task, task_hash

MANUAL = Manual(
    (ManualPage(0, b"png 0"), ManualPage(1, b"png 1"), ManualPage(2, b"png 2")),
    (PartCount("3001", "Brick  2 x  4", 4, "Red", 2),),
    "x goes right.\nSo does y.",
)


@pytest.fixture
def task(tower, catalogue):
    return make_task(place_on_plate(tower, catalogue, (32, 32), 1), 2, 3)


def test_a_task_folder_gives_back_what_was_put_in_bit_for_bit(task, tmp_path):
    file = save_task(tmp_path / "toy", task, MANUAL)
    assert load_task(tmp_path / "toy") == load_task(file) == task
    assert load_manual(tmp_path / "toy") == load_manual(file) == MANUAL
    assert sorted(p.relative_to(tmp_path / "toy").as_posix() for p in (tmp_path / "toy").rglob("*.*")) == [
        "manual/axes.txt",
        "manual/manual.json",
        "manual/page-00.png",
        "manual/page-01.png",
        "manual/page-02.png",
        "task.json",
    ]


def test_the_hash_changes_with_the_content_only(task, tmp_path):
    save_task(tmp_path, task, MANUAL)
    assert task_hash(load_task(tmp_path)) == task_hash(task)
    assert task_hash(msgspec.structs.replace(task, author="else")) != task_hash(task)
    nudged = msgspec.structs.replace(task.targets[0], pose=task.targets[0].pose.translated((1e-9, 0.0, 0.0)))
    changed = msgspec.structs.replace(task, targets=(nudged, *task.targets[1:]))
    assert task_hash(changed) != task_hash(task)


def test_an_unfinished_or_strange_folder_is_told(task, tmp_path):
    with pytest.raises(BadInputError, match=r"task\.json: no such file"):
        load_task(tmp_path)
    (tmp_path / "task.json").write_text("{]")
    with pytest.raises(BadInputError, match=r"task\.json: not a valid"):
        load_task(tmp_path)
    (tmp_path / "task.json").write_text('{"schema": 99}')
    with pytest.raises(BadInputError, match="task layout 99"):
        load_task(tmp_path)
    (tmp_path / "task.json").write_text('{"schema": 1}')
    with pytest.raises(BadInputError, match="missing required field"):
        load_task(tmp_path)


def test_the_manual_of_another_task_is_told(task, tmp_path):
    save_task(tmp_path / "one", task, MANUAL)
    save_task(tmp_path / "two", msgspec.structs.replace(task, title="another"), MANUAL)
    (tmp_path / "one" / "task.json").write_bytes((tmp_path / "two" / "task.json").read_bytes())
    with pytest.raises(BadInputError, match="another task"):
        load_manual(tmp_path / "one")
    (tmp_path / "two" / "manual" / "page-01.png").unlink()
    with pytest.raises(BadInputError, match=r"page-01\.png: no such file"):
        load_manual(tmp_path / "two")


def _changed(task, **changes):
    return msgspec.structs.replace(task, **changes)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda t: _changed(t, targets=()), "no brick to place"),
        (lambda t: _changed(t, scene=()), "joined to b001"),
        (lambda t: _changed(t, targets=(*t.targets, t.targets[0])), "two bricks with the id b003"),
        (lambda t: _changed(t, targets=t.targets[::-1]), "steps are not numbered"),
        (lambda t: _changed(t, targets=(_changed(t.targets[0], step=3), t.targets[1])), "steps are not"),
        (lambda t: _changed(t, scene=(_changed(t.scene[0], step=1), t.scene[1])), "has a step"),
        (
            lambda t: _changed(t, scene=(_changed(t.scene[0], id="plate"), t.scene[1])),
            "two bricks with the id",
        ),
    ],
)
def test_a_task_that_contradicts_itself_is_refused(task, tmp_path, fault, words):
    save_task(tmp_path, fault(task), MANUAL)
    with pytest.raises(BadInputError, match=words):
        load_task(tmp_path)


def test_the_brief_tells_nothing_of_the_truth(task):
    brief = task_brief(task, MANUAL, 150.0)
    assert (brief.task_id, brief.n_required, brief.budget_s) == (task.id, 2, 150.0)
    told = msgspec.json.encode(brief)
    assert all(brick.id.encode() not in told for brick in (*task.scene, *task.targets))
