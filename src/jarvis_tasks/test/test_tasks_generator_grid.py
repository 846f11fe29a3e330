"""The grid, runs and the order of building."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_bricks.build_check import check_build
from jarvis_bricks.connectivity import StudGrid
from jarvis_bricks.parametric import PARTS
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_core.seeds import generator
from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.generator.dice import Dice
from jarvis_tasks.generator.grid import BRICK, Grid, GridError
from jarvis_tasks.generator.model import finish
from jarvis_tasks.generator.runs import lay
from jarvis_tasks.generator.shapes import part_of, shape

RULES = load_default("generator", GeneratorConfig)
SETTINGS = settings(deadline=None, max_examples=25)


def new_grid(seed=1):
    return Grid(Dice(generator(seed, "test")))


@pytest.mark.parametrize(
    ("part", "turn", "size", "cells", "studs"),
    [
        ("3001", 0, (4, 2, 3), 24, 8),
        ("3001", 1, (2, 4, 3), 24, 8),
        ("3024", 0, (1, 1, 1), 1, 1),
        ("2420", 0, (2, 2, 1), 3, 3),
        ("3068b", 0, (2, 2, 1), 4, 0),
        ("54200", 0, (1, 1, 2), 2, 0),
        ("3684a", 0, (2, 2, 9), 32, 2),
    ],
)
def test_shapes_of_known_parts(part, turn, size, cells, studs):
    found = shape(part, turn)
    assert (found.size, len(found.cells), len(found.studs)) == (size, cells, studs)


def test_a_turned_shape_has_as_many_cells_studs_and_openings():
    for part, known in PARTS.items():
        for turn in range(4):
            found = shape(part, turn)
            assert len(found.cells) == len(shape(part).cells)
            assert len(found.studs) == len(known.studs)
            assert len(found.openings) == len(known.antistuds)


def test_a_slope_falls_to_the_side_that_is_named():
    grid = new_grid()
    for towards, stud in (("front", (0, 1)), ("back", (0, 0)), ("left", (1, 0)), ("right", (0, 0))):
        number = grid.slope(towards, 1, 0, 0, 10 * len(grid.parts), 4)
        assert [cell[:2] for cell in grid.parts[number].studs] == [stud]


def test_parts_are_found_by_size_in_any_order():
    assert part_of("brick", 4, 2) == part_of("brick", 2, 4) == "3001"
    assert part_of("plate", 2, 5) is None
    with pytest.raises(GridError, match="no tile of 3 x 3"):
        new_grid().tile(3, 3, 0, 0, 0, 4)


def test_two_parts_in_one_cell_are_an_error_that_names_both():
    grid = new_grid()
    grid.stage("Walls")
    grid.brick(2, 4, 0, 0, 0, 4)
    with pytest.raises(GridError, match=r"Walls: 3003 .* and 3001 .* share cell \(1, 3, 2\)"):
        grid.brick(2, 2, 1, 3, 2, 4)


@SETTINGS
@given(
    st.lists(st.sampled_from([None, 1, 4, 15]), min_size=1, max_size=24),
    st.sampled_from([(1, "brick"), (2, "brick"), (4, "plate"), (6, "plate")]),
    st.sampled_from(["x", "y"]),
)
def test_a_run_fills_just_its_cells_in_their_colours(colours, kind, along):
    depth, name = kind
    grid = new_grid()
    for number in lay(grid, along, 3, -2, 0, colours, depth=depth, kind=name):
        part = grid.parts[number]
        index = 0 if along == "x" else 1
        start = part.at[index] - (3, -2)[index]
        assert set(colours[start : start + part.shape.size[index]]) == {part.colour}
        assert part.shape.size[1 - index] == depth
    filled = {
        cell[0 if along == "x" else 1] - (3 if along == "x" else -2) for p in grid.parts for cell in p.cells
    }
    assert filled == {i for i, colour in enumerate(colours) if colour is not None}


@SETTINGS
@given(st.integers(6, 24), st.integers(0, 99))
def test_courses_are_laid_in_bond(length, seed):
    grid = new_grid(seed)
    below = {grid.parts[n].at[0] for n in lay(grid, "x", 0, 0, 0, [4] * length)}
    above = {grid.parts[n].at[0] for n in lay(grid, "x", 0, 0, BRICK, [4] * length)}
    assert len(below & above - {0}) <= 1


def test_a_lintel_rests_on_both_sides_of_an_opening():
    grid = new_grid()
    lay(grid, "x", 0, 0, 0, [4, 4, 4, None, None, 4, 4, 4])
    over = [grid.parts[n] for n in lay(grid, "x", 0, 0, BRICK, [4] * 8)]
    assert any(part.at[0] < 3 and part.at[0] + part.shape.size[0] > 5 for part in over)


def test_a_stretch_of_one_colour_over_nothing_is_an_error():
    grid = new_grid()
    lay(grid, "x", 0, 0, 0, [4, 4, None, None, 4, 4])
    with pytest.raises(GridError, match="no bricks stand at x 0"):
        lay(grid, "x", 0, 0, BRICK, [4, 4, 1, 1, 4, 4])


def test_the_designers_order_is_kept_where_the_fingers_allow_it(catalogue):
    grid = new_grid()
    for level in range(3):
        grid.brick(4, 2, 0, 0, BRICK * level, 4)
        grid.brick(4, 2, 10, 0, BRICK * level, 1)
    built = finish(grid, "towers", "Towers", catalogue, RULES)
    assert [brick.colour for brick in built.assembly.bricks] == [4, 1] * 3


def test_what_is_designed_last_is_built_first_where_there_is_no_room_later(catalogue):
    grid = new_grid()
    for x in (0, 4):
        for level in range(3):
            grid.brick(2, 8, x, 0, BRICK * level, 4)
    grid.brick(2, 2, 2, 3, 0, 1)
    built = finish(grid, "gap", "Gap", catalogue, RULES)
    assert [brick.colour for brick in built.assembly.bricks].index(1) < 6


def test_a_design_that_no_order_can_build_is_an_error(catalogue):
    grid = new_grid()
    # Nine in a square: the last one always has neighbours on all sides, or the first one is closed in.
    for x in range(3):
        for y in range(3):
            grid.brick(2, 2, 2 * x, 2 * y, 0, 4)
            grid.brick(2, 2, 2 * x, 2 * y, BRICK, 4)
    with pytest.raises(GridError, match="no room for the fingers"):
        finish(grid, "square", "Square", catalogue, RULES)


def test_parts_on_nothing_and_too_large_designs_are_errors(catalogue):
    grid = new_grid()
    grid.brick(2, 4, 0, 0, 0, 4)
    grid.brick(2, 4, 5, 0, BRICK, 4)
    with pytest.raises(GridError, match=r"3001 at .* stands on nothing"):
        finish(grid, "air", "Air", catalogue, RULES)
    wide = new_grid()
    for x in (0, 40):
        wide.brick(2, 4, x, 0, 0, 4)
    with pytest.raises(GridError, match="42 x 4 studs"):
        finish(wide, "wide", "Wide", catalogue, RULES)
    with pytest.raises(GridError, match="without parts"):
        finish(new_grid(), "none", "None", catalogue, RULES)


@settings(deadline=None, max_examples=5)
@given(st.integers(0, 10_000))
def test_any_heap_that_is_ordered_can_be_built_in_that_order(catalogue, seed):
    """Bricks dropped at random onto one another: either there is no order, or each brick is in order at its turn."""
    grid = new_grid(seed)
    for _ in range(6):
        width, depth = grid.dice.pick(((2, 4), (4, 2), (1, 4), (2, 2), (6, 1)))
        x, y = grid.dice.between(0, 8), grid.dice.between(0, 8)
        z = max(grid.top(x + i, y + j) for i in range(width) for j in range(depth))
        grid.brick(width, depth, x, y, z, 4)
    try:
        built = finish(grid, "heap", "Heap", catalogue, RULES)
    except GridError:
        return
    bricks = built.assembly.bricks
    assert all(
        check.ok for check in check_build(bricks, catalogue, RULES.fingers, ground=StudGrid(Pose(), (32, 32)))
    )
