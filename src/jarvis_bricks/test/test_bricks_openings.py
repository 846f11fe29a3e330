"""Openings found from surfaces."""

import numpy as np
import pytest
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import connections
from jarvis_bricks.geometry import LDU_M, Connectors
from jarvis_bricks.openings import find_openings
from jarvis_bricks.parametric import PARTS, parametric_geometry
from jarvis_core.pose import Pose

HOLLOW = sorted(part for part, shape in PARTS.items() if shape.hollow is not None)


@pytest.mark.parametrize("part", HOLLOW)
def test_of_built_in_parts(part: str) -> None:
    geometry = parametric_geometry(part)
    triangles = geometry.mesh.vertices[geometry.mesh.triangles].astype(np.float64) / LDU_M
    body = triangles[triangles[..., 2].max(axis=1) < 1e-3]
    found = find_openings(body, geometry.bounds[0, 2] / LDU_M, geometry.bounds[:, :2] / LDU_M)
    for ring, known in ((False, geometry.antistuds), (True, geometry.bores)):
        places = {(round(o.x), round(o.y)) for o in found if o.ring == ring}
        assert places == {(round(x), round(y)) for x, y in known.positions[:, :2] / LDU_M}


def test_nothing_fits_a_solid_block() -> None:
    geometry = parametric_geometry("3039")
    triangles = geometry.mesh.vertices[geometry.mesh.triangles].astype(np.float64) / LDU_M
    assert find_openings(triangles, -24.0, geometry.bounds[:, :2] / LDU_M) == []


def flat_places(connectors: Connectors) -> list[tuple[int, ...]]:
    """Positions (LDU) and axes as whole numbers."""
    rows = np.hstack([connectors.positions / LDU_M, connectors.axes])
    return sorted(tuple(int(n) for n in np.round(row)) for row in rows)


@pytest.mark.parametrize(
    ("part", "places"),
    [
        ("54200", [(0, 0, 0)]),
        ("85984", [(-10, 0, 0), (10, 0, 0)]),
        ("3794b", [(-10, 0, -8), (10, 0, -8)]),
        ("3937", [(-10, 0, -24), (10, 0, -24)]),
        ("60481", [(0, -20, -48), (0, 0, -48)]),
        ("4150", [(-10, -10, -8), (-10, 10, -8), (10, -10, -8), (10, 10, -8)]),
    ],
)
def test_of_parts_without_tubes(
    library_catalogue: PartCatalogue, part: str, places: list[tuple[int, ...]]
) -> None:
    assert flat_places(library_catalogue.geometry(part).antistuds) == [(*p, 0, 0, 1) for p in places]


def test_a_tube_takes_a_stud_half_a_pitch_off(library_catalogue: PartCatalogue) -> None:
    """A 2 x 2 plate centred on the one stud of a jumper of the same size."""
    height = 0.0032
    bricks = [Brick("low", "87580", 4, Pose(), 1), Brick("high", "3022", 4, Pose((0, 0, height)), 2)]
    assert connections(bricks, library_catalogue) == []
    (joint,) = connections(bricks, library_catalogue, bores=True)
    assert (joint.upper_id, joint.lower_id, joint.studs) == ("high", "low", 1)
    # Half a pitch off along one side only, a 1 x 2 plate has an opening over the stud of a 1 x 2 jumper.
    bricks = [Brick("low", "3794b", 4, Pose(), 1), Brick("high", "3023", 4, Pose((0.004, 0, height)), 2)]
    (joint,) = connections(bricks, library_catalogue)
    assert joint.studs == 1


def test_a_plate_on_the_side_of_a_brick(library_catalogue: PartCatalogue) -> None:
    """87087 has a stud on its front; a 1 x 1 plate is pushed on it, its underside to the brick."""
    studs = library_catalogue.geometry("87087").studs
    (side,) = np.flatnonzero(studs.axes[:, 2] < 0.5)
    axis, foot = studs.axes[side], studs.positions[side]
    z, x = axis, np.array([1.0, 0.0, 0.0])
    turned = Pose.from_rotation(foot + 0.0032 * axis, np.column_stack([x, np.cross(z, x), z]))
    bricks = [Brick("brick", "87087", 4, Pose(), 1), Brick("plate", "3024", 4, turned, 2)]
    (joint,) = connections(bricks, library_catalogue)
    assert (joint.upper_id, joint.lower_id, joint.studs) == ("plate", "brick", 1)
