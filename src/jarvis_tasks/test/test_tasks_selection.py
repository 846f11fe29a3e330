import itertools
from collections import Counter

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.config import parse_config
from jarvis_core.errors import BadInputError, ConfigError
from jarvis_core.seeds import generator
from jarvis_tasks.config import SelectionConfig
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.selection import select


def row(model, number, n_scene, n_act):
    name = f"{model}-s{number:02d}-s{number:02d}"
    return TaskRow(name, model, "", "", "", "test", number, number, n_scene, n_act, 2, 0, name)


def pool_of(n_models, per_model, seed=0):
    """Like a real pool: short horizons are frequent, long ones rare."""
    dice = generator(seed, "pool")
    return [
        row(f"m{m:03d}", i, int(dice.integers(0, 200)), int(1 + dice.geometric(0.25)))
        for m in range(n_models)
        for i in range(per_model)
    ]


def with_counts(config, *counts, **changes):
    strata = tuple(
        msgspec.structs.replace(s, count=n) for s, n in zip(config.selection.strata, counts, strict=True)
    )
    return msgspec.structs.replace(config.selection, strata=strata, **changes)


def test_twenty_fifteen_fifteen_spread_over_models(config):
    found = select(pool_of(80, 30), config.selection)
    assert Counter(c.stratum for c in found.chosen) == {"Easy": 20, "Medium": 15, "Hard": 15}
    assert [s.count for s in found.strata] == [20, 15, 15]
    assert [s.pool for s in found.strata] == [960, 720, 720]
    per_model = Counter(c.row.model for c in found.chosen)
    assert max(per_model.values()) == 1


def test_strata_follow_each_other_in_difficulty(config):
    found = select(pool_of(80, 30), config.selection)
    easy, medium, hard = found.strata
    assert easy.low == 0.0
    assert easy.high <= medium.low <= medium.high <= hard.low <= hard.high
    for stratum in found.strata:
        inside = [c.difficulty for c in found.chosen if c.stratum == stratum.name]
        assert stratum.low <= min(inside) <= max(inside) <= stratum.high


def test_difficulty_goes_up_in_about_equal_steps(config):
    """A dense pool: each interval gives its own task, so two neighbours are less than two intervals apart."""
    pool = [row(f"m{i % 97}", i, i % 800, 1 + i % 43) for i in range(20000)]
    found = select(pool, config.selection)
    assert found.relaxations() == ()
    for stratum in found.strata:
        width = (stratum.high - stratum.low) / stratum.count
        values = [c.difficulty for c in found.chosen if c.stratum == stratum.name]
        slots = [min(int((v - stratum.low) / width), stratum.count - 1) for v in values]
        assert slots == list(range(stratum.count))


def test_an_empty_interval_borrows_from_its_neighbours_and_says_so(config):
    gap = [row(f"m{i}", 1, 0, 1 + i % 2) for i in range(40)] + [row("far", 1, 0, 100)]
    found = select(gap, with_counts(config, 0, 0, 10))
    assert len(found.chosen) == 10
    assert any(c.row.model == "far" for c in found.chosen)
    assert found.relaxations() == (
        "Hard: 8 tasks chosen beside their interval of difficulty, which held no task of a model below the cap",
    )


def test_too_few_models_break_the_cap_evenly_and_say_so(config):
    found = select(pool_of(3, 100), config.selection)
    per_model = Counter(c.row.model for c in found.chosen)
    assert max(per_model.values()) <= 20
    assert any("beyond the cap" in line for line in found.relaxations())


def test_two_tasks_of_a_model_share_no_steps_where_they_need_not(config):
    """One model, equally hard runs of two steps: six that lie apart are there, whatever the hashes say."""
    pool = [
        TaskRow(f"m-s{a:02d}-s{a + 1:02d}", "m", "", "", "", "test", a, a + 1, 9, 2, 3, 0, "")
        for a in range(1, 41)
    ]
    for seed in range(20):
        found = select(pool, with_counts(config, 2, 2, 2, model_cap=6, seed=seed))
        steps = sorted((c.row.first, c.row.last) for c in found.chosen)
        assert all(last < first for (_, last), (first, _) in itertools.pairwise(steps))


def test_a_pool_of_equals(config):
    found = select([row(f"m{i}", 1, 3, 3) for i in range(60)], config.selection)
    assert [s.low for s in found.strata] == [s.high for s in found.strata] == [0.0, 0.0, 0.0]
    assert len({c.row.id for c in found.chosen}) == 50
    assert found.relaxations() == ()


def test_the_seed_decides_between_equals_only(config):
    equals = [row(f"m{i}", 1, 3, 3) for i in range(60)]
    first, second = (select(equals, with_counts(config, 5, 5, 5, seed=seed)).chosen for seed in (1, 2))
    assert {c.row.id for c in first} != {c.row.id for c in second}


def test_a_small_pool_is_refused_in_a_line(config):
    with pytest.raises(BadInputError, match="stratum Easy holds 16 of the pool's 40 tasks, 20 are asked for"):
        select(pool_of(4, 10), config.selection)
    with pytest.raises(BadInputError, match="twice"):
        select(pool_of(4, 10) * 2, config.selection)


def test_shares_that_do_not_add_up_are_refused():
    text = "{alpha: 0.3, strata: [{name: A, share: 0.5, count: 1}], model_cap: 1, seed: 1}"
    with pytest.raises(ConfigError, match=r"add up to 0\.5"):
        parse_config(text, SelectionConfig, where="x.yaml")


tasks = st.tuples(st.integers(0, 11), st.integers(0, 60), st.integers(1, 12))


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_whatever_the_pool(config, data):
    numbers = data.draw(st.lists(tasks, min_size=20, max_size=120))
    pool = [row(f"m{model}", i, scene, act) for i, (model, scene, act) in enumerate(numbers)]
    choice = with_counts(config, 6, 4, 3)
    found = select(pool, choice)
    ids = [c.row.id for c in found.chosen]
    assert Counter(c.stratum for c in found.chosen) == {"Easy": 6, "Medium": 4, "Hard": 3}
    assert len(set(ids)) == 13
    per_model = Counter(c.row.model for c in found.chosen)
    assert any(c.relaxed == "cap" for c in found.chosen) or max(per_model.values()) <= choice.model_cap
    # Nothing depends on the order of the pool.
    shuffled = data.draw(st.permutations(pool))
    assert [c.row.id for c in select(shuffled, choice).chosen] == ids
    # Ranks decide: no chosen task of an easier stratum is harder than any of a harder one.
    order = [c.difficulty for c in found.chosen]
    assert order == sorted(order)
