"""Many tasks of one model: the same as one at a time, and the same hash without writing the task down."""

import dataclasses
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from jarvis_bricks.connectivity import Connection
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_tasks.filters import loose_bricks, loose_counts
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.segment import TaskMaker, make_task
from jarvis_tasks.store import task_hash

import jarvis_bricks


@pytest.fixture(scope="module")
def model(catalogue):

    path = Path(jarvis_bricks.__file__).parent / "models" / "house.mpd"
    return place_on_plate(read_assembly(path, library=None), catalogue, (48, 48))


@settings(deadline=None, max_examples=30)
@given(segments=st.lists(st.tuples(st.integers(1, 11), st.integers(0, 10)), min_size=1, max_size=8))
def test_the_order_of_asking_changes_nothing(model, segments):
    shared = TaskMaker(model)
    for first, length in segments:
        last = min(first + length, 11)
        task = shared.task(first, last)
        assert task == make_task(model, first, last)
        assert shared.digest(first, last) == task_hash(task)
        assert shared.n_pages(first, last) == 1 + max(b.step for b in task.targets)


def test_a_brick_is_only_joined_to_what_is_there(model):
    maker = TaskMaker(model)
    for last in range(1, 12):
        task = maker.task(1, last)
        present = {"plate", *(b.id for b in task.targets)}
        for brick in task.targets:
            assert {brick.support, *brick.connections} <= present
    joined = {b.id: len(b.connections) for b in maker.task(1, 11).targets}
    early = {b.id: len(b.connections) for b in maker.task(1, 1).targets}
    assert any(joined[name] > count for name, count in early.items())


@settings(deadline=None, max_examples=60)
@given(pairs=st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=14))
def test_bricks_counted_as_loose_are_those_that_do_not_hang_together_with_the_plate(model, pairs):
    names = ["plate", *(b.id for b in model.bricks[:8])]
    joints = tuple(Connection(names[upper], names[lower], 1) for upper, lower in pairs if upper != lower)
    made_up = dataclasses.replace(model, bricks=model.bricks[:8], joints=joints)
    counts = loose_counts(made_up)
    assert len(counts) == 9
    for n, count in enumerate(counts):
        assert count == len(loose_bricks(made_up.bricks[:n], joints))
