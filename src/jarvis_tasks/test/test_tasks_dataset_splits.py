"""Families of models, and the splits they fall into."""

import math

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given, settings
from jarvis_core.config import parse_config
from jarvis_core.errors import ConfigError
from jarvis_core.pose import Pose
from jarvis_tasks.config import DatasetConfig, SharesConfig
from jarvis_tasks.dataset.splits import families, shape_of, short_name, split_of

WORDS = frozenset({"red", "dark", "copy"})


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("House", "house"),
        ("Little_House (dark red) v2", "little-house"),
        ("house-Red", "house"),
        ("house copy", "house"),
        ("10030-1_Star", "10030-1-star"),
        ("tower_02", "tower-02"),
        ("red", "red"),
        ("___", "___"),
    ],
)
def test_words_that_tell_variants_apart_are_dropped(name, short):
    assert short_name(name, WORDS) == short


def test_one_name_or_one_shape_make_a_family():
    models = [("house", "A"), ("house_red", "B"), ("barn", "B"), ("duck", "C"), ("zoo", "C"), ("tree", "D")]
    found = families(models, WORDS)
    assert found == {"house": "barn", "house_red": "barn", "barn": "barn",
                     "duck": "duck", "zoo": "duck", "tree": "tree"}  # fmt: skip


@settings(deadline=None, max_examples=50)
@given(
    models=st.dictionaries(st.text("abc_", min_size=1, max_size=4), st.sampled_from("ABCD"), max_size=12),
    data=st.data(),
)
def test_families_do_not_depend_on_the_order(models, data):
    shuffled = data.draw(st.permutations(sorted(models.items())))
    found = families(shuffled, WORDS)
    assert found == families(models.items(), WORDS)
    for a, shape_a in models.items():
        for b, shape_b in models.items():
            if shape_a == shape_b or short_name(a, WORDS) == short_name(b, WORDS):
                assert found[a] == found[b]


def test_shares_are_about_what_is_configured(config):
    dataset = config.dataset
    counts = dict.fromkeys(("train", "validation", "test"), 0)
    for n in range(4000):
        counts[split_of(f"model-{n}", dataset)] += 1
    for split, share in (("train", 0.9), ("validation", 0.05), ("test", 0.05)):
        assert abs(counts[split] / 4000 - share) < 4 * math.sqrt(share * (1 - share) / 4000)
    salted = msgspec.structs.replace(dataset, salt="other")
    assert any(split_of(f"m{n}", salted) != split_of(f"m{n}", dataset) for n in range(100))


def test_a_split_without_a_share_stays_empty(config):
    shares = SharesConfig(train=0.5, validation=0.5, test=0.0)
    dataset = msgspec.structs.replace(config.dataset, shares=shares)
    assert {split_of(str(n), dataset) for n in range(300)} == {"train", "validation"}


def test_shares_have_to_add_up():
    shares = "{train: 0.5, validation: 0.1, test: 0.1}"
    text = f"{{salt: a, shares: {shares}, variant_words: [], rows_per_group: 1, parts_in_memory: 1}}"
    with pytest.raises(ConfigError, match=r"add up to 0\.7, not to 1"):
        parse_config(text, DatasetConfig, where="tasks.yaml")


def test_a_shape_is_the_same_in_other_colours_order_and_place(tower):
    shape = shape_of(tower)
    moved = [
        msgspec.structs.replace(b, colour=1, step=9, pose=Pose((1, 2, 3)) @ b.pose)
        for b in reversed(tower.bricks)
    ]
    assert shape_of(msgspec.structs.replace(tower, bricks=tuple(moved))) == shape
    for change in ({"part": "3003"}, {"pose": tower.bricks[0].pose.translated((0.008, 0, 0))}):
        other = (msgspec.structs.replace(tower.bricks[0], **change), *tower.bricks[1:])
        assert shape_of(msgspec.structs.replace(tower, bricks=other)) != shape
