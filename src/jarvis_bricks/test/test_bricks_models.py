"""The smallest models that come with the package: whole, and buildable from above by the stock gripper.

All models are looked at by the tests of jarvis_tasks.
"""

from pathlib import Path

import pytest
from jarvis_bricks.build_check import check_build, ground_under
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import connections, floating, overlaps
from jarvis_bricks.grip import FingerClearance, common_grips, grip_options
from jarvis_bricks.ldraw.document import read_document
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.parametric import PARTS
from jarvis_core.objects import Box

import jarvis_bricks

FOLDER = Path(jarvis_bricks.__file__).parent / "models"
NAMES = ("bridge", "duck", "house")

each_model = pytest.mark.parametrize("name", NAMES)


def path(name: str) -> Path:
    return FOLDER / f"{name}.mpd"


@each_model
def test_headers_steps_and_parts(name: str) -> None:
    assembly = read_assembly(path(name), library=None)
    assert assembly.author == "JARVIS assembly workspace"
    assert assembly.licence.startswith("Licensed under CC BY 4.0")
    assert assembly.title
    assert assembly.has_steps
    assert assembly.n_steps >= 8
    assert 8 <= len(assembly.bricks) <= 25
    assert all(brick.part in PARTS and not brick.mirrored for brick in assembly.bricks)


def test_the_bridge_uses_a_submodel_twice() -> None:
    references = [r.name for r in read_document(path("bridge")).main.references]
    assert references.count("bank.ldr") == 2


@each_model
def test_connected_and_free_of_overlaps(name: str, catalogue: PartCatalogue) -> None:
    bricks = read_assembly(path(name), library=None).bricks
    joints = connections(bricks, catalogue, ground=ground_under(bricks, catalogue))
    assert floating(bricks, joints) == ()
    assert overlaps(bricks, catalogue, tolerance_m=1e-5) == []


@each_model
def test_every_brick_can_be_placed_and_picked_by_the_same_grip(
    name: str, catalogue: PartCatalogue, fingers: FingerClearance
) -> None:
    bricks = read_assembly(path(name), library=None).bricks
    checks = check_build(bricks, catalogue, fingers, ground=ground_under(bricks, catalogue))
    assert {c.brick_id: c.problems for c in checks if not c.ok} == {}
    for brick, found in zip(bricks, checks, strict=True):
        # On a free table the brick stands on its underside, at z = 0.
        geometry = catalogue.geometry(brick.part)
        lift = (0.0, 0.0, -float(geometry.bounds[0, 2]))
        on_table = [Box(box.pose.translated(lift), box.size_m) for box in geometry.boxes]
        assert common_grips(grip_options(on_table, [], fingers, floor_z_m=0.0), found.grips), brick.id


@each_model
def test_the_same_with_a_library(name: str, library: LDrawLibrary) -> None:
    """All numbers are those of real parts: a library gives the same build."""
    assert read_assembly(path(name), library=library) == read_assembly(path(name), library=None)
