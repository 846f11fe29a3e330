from collections import Counter

import pytest
from jarvis_core.errors import BadInputError
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.shaping import draw_like, full_shares
from jarvis_tasks.statistics import load_published, pool_statistics

STARTS = (1, 3, 6)


def row(model, number, n_act):
    name = f"{model}-s{number:02d}"
    return TaskRow(name, model, "", "", "", "test", 1, 1, 0, n_act, 2, 0, "")


@pytest.fixture
def pool():
    """Every horizon as often as any other; one model with half of the tasks."""
    return [row(f"m{i % 10}" if i % 2 else "big", i, 1 + i % 7) for i in range(700)]


def test_shares_come_out_as_asked(pool):
    drawn = draw_like(pool, {"1-2": 0.25, "3-5": 0.5}, STARTS, 1)
    counts = Counter("1-2" if r.n_act < 3 else "3-5" if r.n_act < 6 else ">5" for r in drawn)
    assert counts == {"1-2": 150, "3-5": 300, ">5": 150}


def test_models_take_turns(pool):
    drawn = draw_like(pool, {"1-2": 0.1, "3-5": 0.8, ">5": 0.1}, STARTS, 1)
    short = Counter(r.model for r in drawn if r.n_act < 3)
    assert max(short.values()) - min(short.values()) <= 1


def test_only_seed_and_pool_decide(pool):
    known = {"1-2": 0.3, "3-5": 0.6}
    drawn = draw_like(pool, known, STARTS, 1)
    assert {r.id for r in draw_like(pool[::-1], known, STARTS, 1)} == {r.id for r in drawn}
    assert {r.id for r in draw_like(pool, known, STARTS, 2)} != {r.id for r in drawn}


def test_the_published_horizons(config):
    pool = [row(f"m{i % 40}", i, 1 + i % 29) for i in range(8000)]
    validation = next(s for s in load_published().sets if s.name == "validation")
    drawn = draw_like(pool, validation.act.shares, config.bins.act, 1)
    found = pool_statistics(drawn, config.bins)
    told = {b.label: b.share for b in found.act.bins}
    for label, share in validation.act.shares.items():
        assert told[label] == pytest.approx(share, abs=0.001)


@pytest.mark.parametrize(
    "known", [{"1-4": 0.5}, {"1-2": 0.7, "3-5": 0.7}, {"1-2": 0.1, "3-5": 0.1, ">5": 0.1}]
)
def test_shares_that_are_none(known):
    with pytest.raises(BadInputError, match="are not those of 1-2, 3-5, >5"):
        full_shares(known, STARTS)


def test_a_bin_without_tasks():
    with pytest.raises(BadInputError, match="no task of >5 action bricks"):
        draw_like([row("m", 1, 1), row("m", 2, 4)], {"1-2": 0.5, "3-5": 0.2}, STARTS, 1)
