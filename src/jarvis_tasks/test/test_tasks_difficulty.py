import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.errors import BadInputError
from jarvis_tasks.difficulty import DifficultyScale
from jarvis_tasks.rows import TaskRow


def row(n_scene, n_act, name="m-s01-s01", model="m"):
    return TaskRow(name, model, "", "", "", "test", 1, 1, n_scene, n_act, 2, 0, "00")


def test_the_published_formula():
    pool = [row(0, 1), row(100, 11), row(50, 6), row(100, 1)]
    values = DifficultyScale.of(pool, 0.3).values(pool)
    assert values.tolist() == pytest.approx([0.0, 1.0, 0.5, 0.3])


def test_what_does_not_vary_counts_for_nothing():
    pool = [row(5, 1), row(5, 3)]
    assert DifficultyScale.of(pool, 0.3).values(pool).tolist() == pytest.approx([0.0, 0.7])
    same = [row(5, 3), row(5, 3)]
    assert DifficultyScale.of(same, 0.3).values(same).tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("pool", "alpha"), [([], 0.3), ([row(0, 1)], 1.2)])
def test_no_difficulty_without_a_pool_or_a_weight(pool, alpha):
    with pytest.raises(BadInputError):
        DifficultyScale.of(pool, alpha)


counts = st.tuples(st.integers(0, 800), st.integers(1, 43))


@settings(deadline=None, max_examples=60)
@given(st.lists(counts, min_size=1, max_size=40), st.floats(0, 1))
def test_it_lies_between_0_and_1_and_grows_with_either_number(pairs, alpha):
    pool = [row(*pair) for pair in pairs]
    values = DifficultyScale.of(pool, alpha).values(pool)
    assert ((values >= 0) & (values <= 1 + 1e-12)).all()
    for (scene, act), value in zip(pairs, values, strict=True):
        for (other_scene, other_act), other in zip(pairs, values, strict=True):
            if scene <= other_scene and act <= other_act:
                assert value <= other
