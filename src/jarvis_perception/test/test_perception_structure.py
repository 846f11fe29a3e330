from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_core.seen import UNSEEN, SeenScene, SeenStructure
from jarvis_perception.scene import to_scene
from jarvis_perception.structure import cells_under, changed_cells, did_place, remembered, structure_boxes
from perception_bench import STANDING, catalogue, cell, height


def stand_boxes(part: str, x: float, y: float, plates: int) -> list[Box]:
    pose = cell().plate.pose @ Pose((0.008 * x, 0.008 * y, 0.0032 * plates + height(part)))
    return [Box(pose @ box.pose, box.size_m) for box in catalogue().geometry(part).boxes]


def structure(heights: np.ndarray) -> SeenStructure:
    colours = np.where(heights > 0, 4, -1)
    return SeenStructure(tuple(map(tuple, heights.tolist())), tuple(map(tuple, colours.tolist())), ())


def test_heights_colours_and_free_studs_of_what_stands(seen: SeenScene) -> None:
    expected = np.zeros(cell().plate.studs, int)
    colours = np.full(cell().plate.studs, -1)
    for part, colour, x, y, plates in STANDING:
        for i, j in cells_under(stand_boxes(part, x, y, plates), cell()):
            expected[i, j] = plates + round(height(part) / 0.0032)
            colours[i, j] = colour
    assert np.array_equal(np.array(seen.structure.heights_plates), expected)
    assert np.array_equal(np.array(seen.structure.colours), colours)
    studs = {(i, j): plates for i, j, plates in seen.structure.free_studs}
    assert studs == {(i, j): int(expected[i, j]) for i, j in np.argwhere(expected > 0).tolist()}


def test_a_layer_is_what_reaches_it(seen: SeenScene) -> None:
    assert np.array(seen.structure.layer(4)).sum() == 4  # the 2 x 2 brick on top
    assert np.array(seen.structure.layer(1)).sum() == 8 + 4


def test_a_brick_that_was_placed_is_told_from_one_that_was_not() -> None:
    before = np.zeros(cell().plate.studs, int)
    boxes = stand_boxes("3003", 3.0, -5.0, 0)
    cells = cells_under(boxes, cell())
    assert len(cells) == 4
    after = before.copy()
    after[cells[:, 0], cells[:, 1]] = 3
    assert did_place(structure(before), structure(after), boxes, cell()).placed
    assert not did_place(structure(before), structure(before), boxes, cell()).placed
    shifted = np.roll(after, 1, axis=0)
    answer = did_place(structure(before), structure(shifted), boxes, cell())
    assert not answer.placed
    assert (answer.rose, answer.expected) == (2, 4)
    hidden = after.copy()
    hidden[cells[0, 0], cells[0, 1]] = UNSEEN
    assert "hidden" in did_place(structure(before), structure(hidden), boxes, cell()).message
    away = [msgspec.structs.replace(box, pose=box.pose.translated((0.0, -0.4, 0.0))) for box in boxes]
    assert "not on the build plate" in did_place(structure(before), structure(after), away, cell()).message


def test_hidden_cells_are_remembered() -> None:
    before = np.zeros(cell().plate.studs, int)
    before[3:5, 7] = 6
    now = before.copy()
    now[3, :] = UNSEEN
    assert np.array_equal(np.array(remembered(structure(now), structure(before)).heights_plates), before)
    assert changed_cells(structure(before), structure(now)) == ()


@settings(deadline=None, max_examples=25)
@given(
    st.lists(
        st.tuples(st.integers(0, 28), st.integers(0, 28), st.integers(1, 3), st.integers(1, 9)), max_size=6
    )
)
def test_boxes_cover_exactly_the_cells_that_are_built_on(blocks: list[tuple[int, int, int, int]]) -> None:
    heights = np.zeros(cell().plate.studs, int)
    for i, j, size, plates in blocks:
        heights[i : i + size, j : j + size + 1] = plates
    again = np.zeros_like(heights)
    for thing in structure_boxes(structure(heights), cell()):
        (box,) = thing.world_boxes()
        cells = cells_under([box], cell())
        assert (again[cells[:, 0], cells[:, 1]] == 0).all()
        again[cells[:, 0], cells[:, 1]] = round(box.size_m[2] / 0.0032)
    assert np.array_equal(again, heights)


def test_the_skills_scene_holds_bricks_and_the_structure_as_fixed_boxes(seen: SeenScene) -> None:
    scene = to_scene(seen, cell())
    assert scene.source == "perceived"
    assert {o.id for o in scene.objects if not o.fixed} == {b.id for b in seen.bricks}
    fixed = [o for o in scene.objects if o.fixed]
    assert sum(o.boxes[0].size_m[0] * o.boxes[0].size_m[1] for o in fixed) == pytest.approx(12 * 0.008**2)
    for thing in fixed:
        low = thing.world_boxes()[0].pose.position[2] - thing.boxes[0].size_m[2] / 2
        assert low == pytest.approx(cell().plate.pose.position[2])
