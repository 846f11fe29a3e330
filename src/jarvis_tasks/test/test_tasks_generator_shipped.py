"""The models that come with the project: all of them can be built, all of them say who made them."""

from importlib import resources
from pathlib import Path

import pytest
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.parametric import parametric_part
from jarvis_core.config import load_default
from jarvis_tasks.filters import CellLimits, CheckedModel
from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.select import judge_segments

MODELS = sorted((Path(str(resources.files("jarvis_bricks"))) / "models").glob("*.mpd"))


def test_there_are_some():
    assert len(MODELS) >= 14


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_a_shipped_model_can_be_built_and_most_of_its_segments_are_tasks(path, catalogue, cell, config):
    assembly = read_assembly(path, library=None)
    assert assembly.title
    assert assembly.author
    assert "CC BY 4.0" in assembly.licence
    assert assembly.notes == ()
    assert all(parametric_part(brick.part) is not None for brick in assembly.bricks)
    limits = CellLimits.of(cell, load_default("generator", GeneratorConfig).fingers)
    checked = CheckedModel(place_on_plate(assembly, catalogue, cell.plate.studs), catalogue, limits, config)
    assert checked.faults == {}
    found = judge_segments(checked, config)
    assert len(found.accepted) >= 0.8 * found.considered
