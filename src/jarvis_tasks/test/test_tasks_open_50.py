"""The shipped suite: whole, varied, and the same with and without a parts library."""

import os
from collections import Counter
from pathlib import Path

import pytest
from jarvis_bricks.library import LDrawLibrary
from jarvis_tasks.store import check_task
from jarvis_tasks.suite import load_suite, shipped_suites


@pytest.fixture(scope="module")
def suite():
    return load_suite("open-50")


def test_it_is_shipped_and_every_hash_holds(suite):
    assert "open-50" in shipped_suites()
    assert len(suite.tasks) == len(suite.index.tasks) == 50
    for name, task in suite.tasks.items():
        check_task(task, where=name)


def test_its_strata(suite):
    assert Counter(task.stratum for task in suite.index.tasks) == {"Easy": 20, "Medium": 15, "Hard": 15}
    assert suite.index.scale.alpha == 0.3
    difficulties = [task.difficulty for task in suite.index.tasks]
    assert difficulties == sorted(difficulties)


def test_its_pool_was_large(suite):
    assert sum(stratum.pool for stratum in suite.index.strata) >= 2000
    assert suite.index.scale.act == (1, 29)


def test_it_holds_long_horizons_and_large_scenes(suite):
    assert sum(task.n_act > 10 for task in suite.index.tasks) >= 5
    assert sum(task.n_scene > 79 for task in suite.index.tasks) >= 2


def test_no_model_dominates(suite):
    per_model = Counter(task.model for task in suite.index.tasks)
    assert max(per_model.values()) <= 2
    assert len(per_model) >= 40


def test_every_model_says_whose_it_is(suite):
    for model in suite.index.models:
        assert model.title
        assert model.author
        assert "CC BY" in model.licence


def test_a_parts_library_changes_nothing(suite):
    """Built-in parts have meshes in a library; tasks must not depend on whether one is there."""
    if not os.environ.get("LDRAWDIR"):
        pytest.skip("LDRAWDIR names no parts library")
    some = [task.id for task in suite.index.tasks][::7]
    again = load_suite("open-50", LDrawLibrary.find(Path(os.environ["LDRAWDIR"])), only=some)
    assert list(again.tasks) == some
