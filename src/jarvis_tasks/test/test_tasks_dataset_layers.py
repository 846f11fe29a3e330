"""Models without STEP: their layers are their steps."""

import itertools

import hypothesis.strategies as st
import msgspec
from hypothesis import HealthCheck, given, settings
from jarvis_tasks.layers import in_layers
from jarvis_tasks.placement import LEVEL_M, underside
from jarvis_tasks.select import find_segments


def test_a_model_with_steps_stays_as_it_is(tower, catalogue):
    assert in_layers(tower, catalogue) is tower


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(levels=st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_steps_follow_the_undersides(build, catalogue, levels):
    rows = [("3001", 4 * i, 0, level) for i, level in enumerate(levels)]
    model = msgspec.structs.replace(build(rows), has_steps=False)
    layered = in_layers(model, catalogue)
    assert sorted(b.id for b in layered.bricks) == sorted(b.id for b in model.bricks)
    assert [b.step for b in layered.bricks] == sorted(b.step for b in layered.bricks)
    assert {b.step for b in layered.bricks} == set(range(1, len(set(levels)) + 1))
    heights = {}
    for brick in layered.bricks:
        heights.setdefault(brick.step, []).append(underside(brick, catalogue))
    assert all(max(same) - min(same) <= LEVEL_M for same in heights.values())
    firsts = [min(heights[step]) for step in sorted(heights)]
    assert all(low + LEVEL_M < high for low, high in itertools.pairwise(firsts))
    assert "no STEP" in layered.notes[-1]


def test_a_wall_without_steps_gives_tasks(build, catalogue, limits, config):
    # Written from top to bottom.
    rows = [("3001", 0, 0, level) for level in (4, 3, 2, 1)]
    model = msgspec.structs.replace(build(rows), has_steps=False)
    found = find_segments(in_layers(model, catalogue), catalogue, limits, config, (32, 32))
    assert len(found.accepted) == 4 * 5 / 2
    assert len(find_segments(model, catalogue, limits, config, (32, 32)).accepted) == 1
