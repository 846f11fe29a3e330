"""What a model file says about its pages: turned views and submodels."""

import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_render.config import ManualConfig
from jarvis_render.view import view_axes
from jarvis_tasks.manual import model_hints, model_on_plate, model_steps, rotstep_matrix

MODEL = """0 FILE main.ldr
0 Main
0 Name: main.ldr
1 4 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat
0 STEP
1 16 0 -24 0 1 0 0 0 1 0 0 0 1 tower.ldr
1 16 200 -24 0 1 0 0 0 1 0 0 0 1 tower.ldr
0 STEP
1 15 0 -24 80 1 0 0 0 1 0 0 0 1 3001.dat
0 ROTSTEP 0 90 0 REL
1 15 0 -24 160 1 0 0 0 1 0 0 0 1 3001.dat
1 15 0 -24 240 1 0 0 0 1 0 0 0 1 3001.dat
1 15 0 -24 320 1 0 0 0 1 0 0 0 1 3001.dat
0 FILE tower.ldr
0 A Tower
0 Name: tower.ldr
1 1 0 -24 0 1 0 0 0 1 0 0 0 1 3003.dat
0 STEP
1 2 0 -48 0 1 0 0 0 1 0 0 0 1 3003.dat
"""


@pytest.fixture
def placed(tmp_path):
    path = tmp_path / "main.mpd"
    path.write_text(MODEL)
    assembly = read_assembly(path, library=None)
    plate = load_default("cell", CellConfig).plate
    return model_on_plate(assembly, PartCatalogue.for_model(path), plate)


def test_a_model_larger_than_the_plate_gets_a_larger_one(placed):
    model, plate = placed
    config = load_default("cell", CellConfig).plate
    assert plate.studs[0] % 2 == plate.studs[1] % 2 == 0
    assert all(a >= b for a, b in zip(plate.studs, config.studs, strict=True))
    assert len(model_steps(model)) == model.source.n_steps + 1
    assert sum(len(step) for step in model_steps(model)) == len(model.bricks) == 9


def test_a_submodel_is_shown_by_itself_while_it_is_built(placed):
    model, _ = placed
    hints = model_hints(model, load_default("manual", ManualConfig))
    towers = {page: callout for page, callout in hints.callouts.items() if callout.title == "A Tower"}
    assert len(towers) == 4  # two towers of two steps
    assert {callout.count for callout in towers.values()} == {2}
    assert [len(towers[page].built) for page in sorted(towers)] == [0, 1, 0, 1]
    assert set(hints.callouts) == set(towers)


def test_a_turned_step_is_seen_from_where_the_file_says(placed):
    model, _ = placed
    config = load_default("manual", ManualConfig)
    turns = [turn for turn in model_hints(model, config).turns if turn is not None]
    assert turns
    # ROTSTEP 0 90 0 turns the model's right side away from the viewer of the front: x goes to -z in LDraw, which
    # points to the front. So the camera ends at its left.
    expected = view_axes(config.latitude_deg, config.longitude_deg - 90.0)
    opposite = view_axes(config.latitude_deg, config.longitude_deg + 90.0)
    assert np.allclose(turns[0].axes, expected) or np.allclose(turns[0].axes, opposite)
    # The part of the model at LDraw +x is then nearer to the viewer than that at -x, by LDraw's own numbers.
    x_after = rotstep_matrix((0.0, 90.0, 0.0)) @ [1.0, 0.0, 0.0]
    assert x_after[2] == pytest.approx(-1.0)
    straight = view_axes(0.0, 0.0) @ np.array(turns[0].turn).reshape(3, 3)
    assert straight[2] @ [1.0, 0.0, 0.0] == pytest.approx(1.0)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_one_angle_is_a_rotation_about_its_axis(axis):
    angles = [0.0, 0.0, 0.0]
    angles[axis] = 37.0
    matrix = rotstep_matrix(tuple(angles))
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(matrix @ np.eye(3)[axis], np.eye(3)[axis], atol=1e-12)
    assert np.degrees(np.arccos((np.trace(matrix) - 1) / 2)) == pytest.approx(37.0)
