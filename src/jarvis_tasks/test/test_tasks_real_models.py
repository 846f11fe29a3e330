"""All real models that LDRAW_MODELS names go through the search: tasks or documented refusals, no surprises."""

import itertools

import msgspec
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_render.config import ManualConfig
from jarvis_tasks.filters import Reason
from jarvis_tasks.manual import make_manual
from jarvis_tasks.placement import place_on_plate, underside
from jarvis_tasks.select import find_segments
from jarvis_tasks.store import check_task


def models(folder, pattern="*.mpd"):
    """Path, assembly and catalogue of every model."""
    library = LDrawLibrary.find()
    shared = PartCatalogue(library)
    for path in sorted(folder.glob(pattern)):
        assembly = read_assembly(path, library=library)
        known = all(shared.knows(brick.part) for brick in assembly.bricks)
        yield path, assembly, shared if known else PartCatalogue.for_model(path, library)


def test_every_model_gives_tasks_or_reasons(models_folder, limits, config):
    strict, pruned, refused_parts = {}, {}, 0
    for path, assembly, catalogue in models(models_folder):
        key = path.name.split("_")[0].split("-")[0]
        for leave_out, accepted in ((False, strict), (True, pruned)):
            style = msgspec.structs.replace(config, leave_out=leave_out)
            found = find_segments(assembly, catalogue, limits, style, (32, 32))
            accepted[key] = len(found.accepted)
            _check_search(found, path.name, assembly)
            refused_parts += any(r.reason is Reason.NOT_PHYSICAL for r in found.refused)
    assert len(strict) >= 19
    assert refused_parts >= 15
    assert strict["6071"] >= 1
    assert strict["21041"] >= 1
    assert pruned["21041"] >= 20
    assert sum(count > 0 for count in pruned.values()) >= 15


def _check_search(found, name, assembly):
    assert found.considered == len(found.accepted) + sum(r.segments for r in found.refused)
    for refusal in found.refused:
        assert refusal.example.detail
        if refusal.example.brick:
            assert refusal.example.where.startswith(name), refusal.example
    placed = [b.id for b in (*found.model.bricks, *found.model.left_out, *found.model.stand_ins)]
    assert sorted(placed) == sorted(b.id for b in assembly.bricks)
    for task in itertools.islice(found.tasks(), 3):
        check_task(task, where=name)


def test_each_brick_of_an_accepted_task_hangs_together_with_the_plate(models_folder, limits, config):
    _, assembly, catalogue = next(models(models_folder, "21041*.mpd"))
    style = msgspec.structs.replace(config, leave_out=True)
    found = find_segments(assembly, catalogue, limits, style, (32, 32))
    for task in found.tasks():
        joined = {"plate"}
        for brick in (*task.scene, *task.targets):
            assert joined.intersection((brick.support, *brick.connections)), (task.id, brick.id)
            joined.add(brick.id)


def test_the_plate_stands_in_for_a_models_own_baseplate(models_folder):
    _, assembly, catalogue = next(models(models_folder, "6071*.mpd"))
    model = place_on_plate(assembly, catalogue, (32, 32))
    assert [b.part for b in model.stand_ins] == ["3857p02"]
    on_plate = {j.upper_id for j in model.joints if j.lower_id == "plate"}
    # Step 1 of the set puts bricks onto the baseplate and onto one another.
    first = model.between(1, 1)
    assert len(on_plate.intersection(b.id for b in first)) >= 8
    assert min(underside(b, catalogue) for b in first) == pytest.approx(0, abs=1e-6)


def test_a_real_task_has_a_manual(models_folder, limits, config, cell):
    _, assembly, catalogue = next(models(models_folder, "6071*.mpd"))
    task = next(find_segments(assembly, catalogue, limits, config, (32, 32)).tasks())
    try:
        manual = make_manual(task, cell.plate, catalogue, load_default("manual", ManualConfig))
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    assert len(manual.pages) == 1 + max(b.step for b in task.targets)
    assert sum(part.count for part in manual.parts) == task.n_required
