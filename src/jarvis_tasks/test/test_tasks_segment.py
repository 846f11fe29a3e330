import math

import msgspec
import pytest
from jarvis_core.objects import GROUND
from jarvis_tasks.manual import manual_steps
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.segment import Segment, cut_segment, make_task
from jarvis_tasks.store import check_task, task_hash


@pytest.fixture
def model(tower, catalogue):
    return place_on_plate(tower, catalogue, (32, 32))


def test_before_is_scene_within_is_target_after_is_absent(model):
    task = make_task(model, 2, 3)
    assert [b.id for b in task.scene] == ["b001", "b002"]
    assert [(b.id, b.step) for b in task.targets] == [("b003", 1), ("b004", 2)]
    assert (task.id, task.steps, task.n_required) == ("toy-s02-s03", (2, 3), 2)
    assert (task.title, task.author, task.licence) == ("A toy", "someone", "CC BY 4.0")
    check_task(task, where="toy")


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 4), (2, 2), (4, 4)])
def test_no_brick_is_lost_or_doubled(model, first, last):
    task = make_task(model, first, last)
    ids = [b.id for b in (*task.scene, *task.targets)]
    assert ids == [b.id for b in model.bricks if b.step <= last]
    assert cut_segment(model, first, last) == Segment(first, last, len(task.scene), len(task.targets))


def test_supports_and_connections_are_those_of_the_finished_state(model):
    task = make_task(model, 2, 2)
    (across,) = task.targets
    assert across.support == "b001"
    assert across.connections == ("b001", "b002")
    assert task.scene[0].support == GROUND
    assert task.scene[0].connections == ("b003", GROUND)
    later = make_task(model, 3, 3)
    assert later.scene[2].connections == ("b001", "b002", "b004")


def test_steps_without_bricks_take_no_page(build, catalogue):
    gaps = build([("3001", 0, 0, 1, 1), ("3001", 0, 0, 2, 3), ("3001", 0, 0, 3, 7)])
    task = make_task(place_on_plate(gaps, catalogue, (32, 32)), 2, 7)
    assert [b.step for b in task.targets] == [1, 2]
    assert [len(page) for page in manual_steps(task)] == [1, 1, 1]


def test_poses_are_the_same_on_every_machine(tower, catalogue):
    """Noise in the last bits, which processors differ in, does not reach a task."""
    nudged = [
        msgspec.structs.replace(b, pose=b.pose.translated((3e-13, -3e-13, 1e-13) if i % 2 else (0, 0, 0)))
        for i, b in enumerate(tower.bricks)
    ]
    noisy = msgspec.structs.replace(tower, bricks=tuple(nudged))
    first, second = (make_task(place_on_plate(a, catalogue, (48, 48)), 1, 4) for a in (tower, noisy))
    assert first == second
    assert task_hash(first) == task_hash(second)
    numbers = [v for b in first.targets for v in b.pose.to_list()]
    assert not any(math.copysign(1.0, v) < 0 for v in numbers if v == 0.0)
