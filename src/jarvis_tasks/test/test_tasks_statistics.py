import csv
import io
import statistics

import pytest
from jarvis_core.errors import BadInputError
from jarvis_tasks.config import BinsConfig
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.statistics import comparison, labels, load_published, pool_statistics, to_csv


def row(i, n_scene, n_act, model="m"):
    return TaskRow(f"t{i}", model, "", "", "", "test", 1, 1, n_scene, n_act, 2, 0, "00")


@pytest.fixture
def pool():
    pairs = [(0, 1), (10, 2), (29, 3), (30, 5), (78, 6), (79, 10), (149, 11), (150, 20), (301, 21), (400, 4)]
    return [row(i, *pair, model="a" if i < 6 else f"b{i}") for i, pair in enumerate(pairs)]


def test_bins_are_named_by_what_they_hold():
    assert labels([1, 3, 6, 11, 21]) == ("1-2", "3-5", "6-10", "11-20", ">20")
    assert labels([0, 1, 2]) == ("0", "1", ">1")


def test_every_task_is_in_one_bin(pool, config):
    found = pool_statistics(pool, config.bins)
    assert [b.tasks for b in found.act.bins] == [2, 3, 2, 2, 1]
    assert [b.tasks for b in found.scene.bins] == [3, 2, 2, 1, 2]
    assert sum(b.share for b in found.act.bins) == pytest.approx(1.0)
    assert found.joint[0] == (2, 1, 0, 0, 0)
    assert sum(map(sum, found.joint)) == found.tasks == 10


def test_figures(pool, config):
    found = pool_statistics(pool, config.bins)
    assert (found.act.minimum, found.act.maximum, found.act.median, found.act.mean) == (1, 21, 5.5, 8.3)
    assert (found.models, found.largest_share, found.act.p95) == (5, 0.6, 21)
    assert found.pearson_r == pytest.approx(
        statistics.correlation([r.n_scene for r in pool], [r.n_act for r in pool])
    )


def test_a_correlation_with_a_constant_is_none(config):
    assert pool_statistics([row(0, 1, 3), row(1, 5, 3)], config.bins).pearson_r is None


def test_pools_that_can_not_be_counted(config):
    with pytest.raises(BadInputError, match="no tasks"):
        pool_statistics([], config.bins)
    with pytest.raises(BadInputError, match="the first bin begins at 3"):
        pool_statistics([row(0, 1, 2)], BinsConfig(act=(3,), scene=(0,)))


def test_published_figures_stand_beside_ours_with_their_source(pool, config):
    published = load_published()
    table = comparison(pool_statistics(pool, config.bins), published)
    told = {(r.section, r.figure): (r.ours, *r.published) for r in table}
    assert told["action bricks", "mean"] == ("8.30", "4.94", "4.82")
    assert told["action bricks", "share of 3-5"] == ("30.00 %", "–", "50.70 %")
    assert told["scene bricks", "share of 79-149"] == ("20.00 %", "22.20 %", "–")
    assert told["pool", "tasks"] == ("10", "236,679", "1,067")
    lines = list(csv.reader(io.StringIO(to_csv(table, published))))
    assert lines[0][2:5] == ["ours", "published training", "published validation"]
    assert all("JARVIS" in line[5] and "other tasks" in line[5] for line in lines[1:])


def test_every_published_share_has_a_bin(config):
    """A share under a label that no bin has would silently never be shown."""
    for published in load_published().sets:
        assert set(published.act.shares) <= set(labels(config.bins.act))
        assert set(published.scene.shares) <= set(labels(config.bins.scene))
