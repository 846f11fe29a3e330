"""Every family gives models that the cell can build, always the same for the same seed."""

import msgspec
import pytest
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_tasks.filters import CellLimits, CheckedModel
from jarvis_tasks.generator import registry
from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.generator.grid import GridError
from jarvis_tasks.generator.pool import ModelPool
from jarvis_tasks.generator.registry import FAMILIES, generate
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.select import judge_segments


@pytest.fixture(scope="module")
def rules():
    return load_default("generator", GeneratorConfig)


@pytest.fixture(scope="module")
def make(catalogue, rules):
    """make(family, size, seed): one model."""

    def made(family, size="small", seed=1):
        return generate(family, size, seed, catalogue, rules)

    return made


@pytest.fixture(scope="module")
def judged(catalogue, cell, config, rules):
    """judged(assembly): its faults, and its segments."""
    limits = CellLimits.of(cell, rules.fingers)

    def judge(assembly):
        checked = CheckedModel(
            place_on_plate(assembly, catalogue, cell.plate.studs), catalogue, limits, config
        )
        return checked.faults, judge_segments(checked, config)

    return judge


SMALL = [(family, "small", 1) for family in FAMILIES]
MEDIUM = [(family, "medium", 3) for family in ("house", "tower", "bridge", "vehicle", "animal", "furniture")]


@pytest.mark.parametrize(("family", "size", "seed"), SMALL + MEDIUM)
def test_every_brick_can_be_built_and_most_segments_are_tasks(family, size, seed, make, judged):
    model = make(family, size, seed)
    faults, found = judged(model.assembly)
    assert faults == {}
    share = len(found.accepted) / found.considered
    print(f"{model.name}: {len(model.assembly.bricks)} bricks, {share:.0%} of {found.considered} segments")
    assert share >= 0.8
    assert 5 <= len(model.assembly.bricks) <= 150
    assert (
        max(
            sum(b.step == step for b in model.assembly.bricks)
            for step in range(1, model.assembly.n_steps + 1)
        )
        <= 6
    )


def test_large_models_hold_long_tasks_in_large_scenes(make, judged):
    model = make("castle", "large", 1)
    faults, found = judged(model.assembly)
    assert faults == {}
    assert max(segment.n_targets for segment in found.accepted) > 10
    assert sum(b.step < found.accepted[-1].first for b in model.assembly.bricks) > 79


@pytest.mark.parametrize("family", ["house", "animal", "word"])
def test_a_seed_means_one_model_and_the_file_says_the_same(family, make, tmp_path):
    model, again, other = make(family), make(family), make(family, seed=5)
    assert model.text == again.text
    assert model.text.splitlines()[8:] != other.text.splitlines()[8:]
    path = tmp_path / f"{model.name}.mpd"
    path.write_text(model.text)
    read = read_assembly(path, library=None)
    assert read.bricks == model.assembly.bricks
    assert (read.title, read.author, read.licence) == (
        model.assembly.title,
        model.assembly.author,
        model.assembly.licence,
    )
    assert read.notes == ()


def test_a_pool_has_no_repeats_and_goes_through_families_and_sizes(catalogue, rules):
    pool = ModelPool(1, ("rocket", "boat"), ("small",), catalogue, rules)
    models = list(pool.models(6))
    assert [model.family for model in models] == ["rocket", "boat"] * 3
    assert len({tuple((b.part, b.colour, b.pose) for b in model.assembly.bricks) for model in models}) == 6
    seeds = [model.seed for model in models if model.family == "rocket"]
    assert seeds == sorted(set(seeds))
    again = ModelPool(1, ("rocket", "boat"), ("small",), catalogue, rules)
    assert [model.text for model in again.models(2)] == [model.text for model in models[:2]]


def test_a_family_without_further_designs_is_told(catalogue, rules, monkeypatch):
    def only(grid, size):
        grid.brick(2, 2, 0, 0, 0, 4)
        return "A Brick"

    monkeypatch.setattr(registry, "FAMILIES", {"one": only})
    pool = ModelPool(1, ("one",), ("small",), catalogue, msgspec.structs.replace(rules, repeats=3))
    with pytest.raises(RefusedError, match="family one, size small: no further designs"):
        list(pool.models(2))


def test_an_impossible_design_is_drawn_anew_and_at_last_an_error(catalogue, rules, monkeypatch):
    def lucky(grid, size):
        grid.brick(2, 2, 0, 0, 0 if grid.dice.chance(0.3) else 1, 4)
        return "A Brick, perhaps in the Air"

    def hopeless(grid, size):
        grid.brick(2, 2, 0, 0, 1, 4)
        return "A Brick in the Air"

    monkeypatch.setattr(registry, "FAMILIES", {"lucky": lucky, "hopeless": hopeless})
    drawn = [generate("lucky", "small", seed, catalogue, rules).drawn for seed in range(8)]
    assert max(drawn) > 1
    with pytest.raises(GridError, match="stands on nothing"):
        generate("hopeless", "small", 1, catalogue, rules)


def test_unknown_families_and_sizes_are_told_with_the_known_ones(make):
    with pytest.raises(BadInputError, match="use one of house"):
        make("hovel")
    with pytest.raises(BadInputError, match="small, medium, large"):
        make("house", "huge")
