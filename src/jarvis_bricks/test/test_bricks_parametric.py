"""Built-in parts."""

import numpy as np
import pytest
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import connections, overlaps
from jarvis_bricks.geometry import BRICK_HEIGHT_M, Connectors, Mesh, PartGeometry
from jarvis_bricks.grip import FingerClearance, grip_options
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.library_part import library_geometry
from jarvis_bricks.parametric import ALIASES, PARTS, parametric_geometry
from jarvis_core.errors import BadInputError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose

#: Written in LDraw files by the thousand: they have to be there without a library.
COMMON = """
    3005 3004 3622 3010 3009 3008 3003 3002 3001 2456 3007 2357 3024 3023 3623 3710 3666 3460 3022 3021 3020 3795
    3034 3031 3032 3958 3070b 3069b 63864 2431 6636 3068b 87079 3040b 3039 3038 3037 3660 3665 3298 4286
"""


def signed_volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


def as_set(connectors: Connectors) -> set[tuple[float, ...]]:
    """Positions in tenths of a millimetre."""
    return {tuple(row) for row in (np.round(connectors.positions * 1e4) + 0.0).tolist()}


def axis_set(connectors: Connectors) -> set[tuple[float, ...]]:
    return {
        tuple(row)
        for row in (np.round(np.hstack([connectors.positions * 1e4, connectors.axes])) + 0.0).tolist()
    }


def test_the_common_parts_are_there(catalogue: PartCatalogue) -> None:
    assert all(catalogue.knows(part) for part in COMMON.split())
    assert len(PARTS) >= 40
    assert set(ALIASES.values()) <= set(PARTS)
    assert not set(ALIASES) & set(PARTS)


def test_a_two_by_four_in_numbers() -> None:
    brick = parametric_geometry("3001")
    assert brick.bounds == pytest.approx(np.array([[-0.016, -0.008, -0.0096], [0.016, 0.008, 0.0]]))
    (box,) = brick.boxes
    assert box.size_m == pytest.approx((0.032, 0.016, 0.0096))
    assert box.pose.position == pytest.approx([0, 0, -0.0048])
    places = {(x, y) for x in (-120.0, -40.0, 40.0, 120.0) for y in (-40.0, 40.0)}
    assert as_set(brick.studs) == {(x, y, 0.0) for x, y in places}
    assert as_set(brick.antistuds) == {(x, y, -96.0) for x, y in places}
    assert (brick.studs.axes == [0, 0, 1]).all()


@pytest.mark.parametrize(
    ("part", "turns"), [("3001", 2), ("3003", 4), ("3005", 4), ("3039", 1), ("2357", 1), ("3043", 2)]
)
def test_symmetries(part: str, turns: int) -> None:
    geometry = parametric_geometry(part)
    assert len(geometry.symmetries) == turns
    assert geometry.symmetries[0] == (0.0, 0.0, 0.0, 1.0)


@pytest.mark.parametrize("part", sorted(PARTS))
def test_a_symmetry_maps_the_part_onto_itself(part: str) -> None:
    geometry = parametric_geometry(part)
    centre = np.array(geometry.symmetry_centre)
    for quaternion in geometry.symmetries:
        turn = Pose(centre) @ Pose((0, 0, 0), quaternion) @ Pose(-centre)
        for connectors in (geometry.studs, geometry.antistuds):
            moved = Connectors(turn @ connectors.positions, connectors.axes)
            assert as_set(moved) == as_set(connectors)


@pytest.mark.parametrize(("part", "grams"), [("3001", 2.32), ("3003", 1.16), ("3005", 0.44), ("3020", 1.30)])
def test_masses_are_near_the_weighed_ones(part: str, grams: float) -> None:
    geometry = parametric_geometry(part)
    assert geometry.mass_kg * 1e3 == pytest.approx(grams, rel=0.17)
    assert geometry.mass_kg == pytest.approx(geometry.volume_m3 * 1050)


def test_a_slope_in_numbers() -> None:
    """45 degrees: from z = 0 at y = -4 mm down to z = -8 mm at y = -12 mm, then an upright lip."""
    slope = parametric_geometry("3040b")
    assert slope.bounds == pytest.approx(np.array([[-0.004, -0.012, -0.0096], [0.004, 0.004, 0.0]]))
    assert as_set(slope.studs) == {(0.0, 0.0, 0.0)}
    assert as_set(slope.antistuds) == {(0.0, 0.0, -96.0), (0.0, -80.0, -96.0)}
    assert slope.boxes[0].size_m == pytest.approx((0.008, 0.008, BRICK_HEIGHT_M))


def test_stair_boxes_lie_inside_the_slope_and_fill_most_of_it() -> None:
    slope = parametric_geometry("3039")
    filled = 0.0
    for box in slope.boxes:
        low = box.pose.position - np.array(box.size_m) / 2
        high = box.pose.position + np.array(box.size_m) / 2
        # Its upper front edge is under the plane from (y, z) = (-4, 0) to (-12, -8) mm.
        assert high[2] <= min(0.0, low[1] + 0.004) + 1e-7
        assert low[2] == pytest.approx(-0.0096)
        filled += float(np.prod(box.size_m))
    whole = 0.016 * (0.016 * 0.0096 - 0.008 * 0.008 / 2)
    assert 0.85 * whole < filled < whole


def test_a_corner_leaves_its_fourth_cell_free() -> None:
    corner = parametric_geometry("2357")
    assert len(corner.boxes) == 2
    for box in corner.boxes:
        low = box.pose.position - np.array(box.size_m) / 2
        high = box.pose.position + np.array(box.size_m) / 2
        assert not ((low[:2] < 0.008) & (high[:2] > 0.008)).all()


@pytest.mark.parametrize("part", sorted(PARTS))
def test_meshes_are_closed_outwards_and_within_bounds(part: str) -> None:
    geometry = parametric_geometry(part)
    for mesh in (geometry.mesh, geometry.low_poly):
        assert signed_volume(mesh) > 0
        # Studs stand out of the body by their height.
        tips = geometry.studs.positions + 0.0016 * geometry.studs.axes
        low, high = (
            np.vstack([geometry.bounds, tips]).min(axis=0),
            np.vstack([geometry.bounds, tips]).max(axis=0),
        )
        assert mesh.vertices.min(axis=0) == pytest.approx(low, abs=1e-5)
        assert mesh.vertices.max(axis=0) == pytest.approx(high, abs=1e-5)
        assert (mesh.colours == 16).all()
        assert mesh.triangles.max() < len(mesh.vertices)
    assert len(geometry.low_poly.triangles) <= len(geometry.mesh.triangles)


def test_a_solid_mesh_has_the_volume_of_the_body() -> None:
    # A tile has no studs: low-poly is exactly its box.
    assert signed_volume(parametric_geometry("3069b").low_poly) == pytest.approx(
        0.016 * 0.008 * 0.0032, rel=1e-5
    )


def test_unknown_parts(catalogue: PartCatalogue) -> None:
    assert not catalogue.knows("99999")
    with pytest.raises(BadInputError, match="unknown part 99999"):
        catalogue.geometry("99999")


def library_view(catalogue: PartCatalogue, part: str) -> PartGeometry | None:
    """What the library alone says of a part, the built-in definition left out."""
    section = catalogue.library.resolve(f"{part}.dat") if catalogue.library else None
    if section is None:
        return None
    flat = catalogue.flat(section)
    return library_geometry(part, section, flat, flat.mesh())


def test_built_in_parts_agree_with_the_library(
    library: LDrawLibrary, library_catalogue: PartCatalogue
) -> None:
    compared = 0
    for part in PARTS:
        theirs = library_view(library_catalogue, part)
        if theirs is None:
            continue
        compared += 1
        ours = parametric_geometry(part)
        assert theirs.bounds == pytest.approx(ours.bounds, abs=5e-5), part
        assert as_set(theirs.studs) == as_set(ours.studs), part
        assert as_set(theirs.antistuds) == as_set(ours.antistuds), part
        assert axis_set(theirs.studs) == axis_set(ours.studs), part
        assert theirs.symmetries == ours.symmetries, part
        # Slopes have to fall to the same side.
        for level in (0.0, ours.bounds[0, 2]):
            assert middle_of_plane(theirs.mesh, level) == pytest.approx(
                middle_of_plane(ours.low_poly, level), abs=5e-5
            ), part
    assert compared >= 60


def middle_of_plane(mesh: Mesh, level: float) -> np.ndarray:
    """Middle in x and y of the corners at one height."""
    there = mesh.vertices[np.abs(mesh.vertices[:, 2] - level) < 1e-5]
    return (there.min(axis=0) + there.max(axis=0))[:2] / 2


def test_mesh_volumes_agree_with_the_library(library_catalogue: PartCatalogue) -> None:
    for part in ("3001", "3003", "3004", "3020", "3068b"):
        theirs = library_view(library_catalogue, part)
        assert theirs is not None
        assert signed_volume(theirs.mesh) == pytest.approx(
            signed_volume(parametric_geometry(part).mesh), rel=0.08
        ), part


def test_a_stud_on_a_side_has_a_collision_box_and_no_share_in_overlaps(catalogue: PartCatalogue) -> None:
    geometry = parametric_geometry("87087")
    body, stud = geometry.boxes
    assert geometry.body_boxes == (body,)
    assert stud.size_m == pytest.approx((0.0048, 0.0016, 0.0048))
    assert stud.pose.position == pytest.approx([0.0, -0.0048, -0.004])
    # A headlight brick is a block with a lip.
    assert (len(parametric_geometry("4070").boxes), len(parametric_geometry("4070").body_boxes)) == (3, 2)
    # A plate pushed on the side stud: joined, and nothing shares space but the stud and its opening.
    turned = Pose.from_rotation((0, -0.0072, -0.004), [[1, 0, 0], [0, 0, -1], [0, 1, 0]])
    bricks = [Brick("brick", "87087", 4, Pose(), 1), Brick("plate", "3024", 4, turned, 2)]
    assert [(j.upper_id, j.studs) for j in connections(bricks, catalogue)] == [("plate", 1)]
    assert overlaps(bricks, catalogue) == []


def test_a_finger_does_not_take_the_side_with_a_stud(
    catalogue: PartCatalogue, fingers: FingerClearance
) -> None:
    boxes = [Box(b.pose.translated((0, 0, 0.0096)), b.size_m) for b in catalogue.geometry("87087").boxes]
    options = grip_options(boxes, [], fingers, floor_z_m=0.0)
    assert {option.key.axis for option in options if option.ok} == {0}


@pytest.mark.parametrize("part", ["54200", "3941", "4150", "60481", "99206"])
def test_new_shapes_can_be_gripped_and_stand_within_their_outline(
    part: str, catalogue: PartCatalogue, fingers: FingerClearance
) -> None:
    geometry = catalogue.geometry(part)
    lift = (0.0, 0.0, -float(geometry.bounds[0, 2]))
    boxes = [Box(b.pose.translated(lift), b.size_m) for b in geometry.boxes]
    assert any(option.ok for option in grip_options(boxes, [], fingers, floor_z_m=0.0))
    for box in geometry.body_boxes:
        assert (np.abs(box.pose.position - geometry.bounds.mean(axis=0)) + np.array(box.size_m) / 2
                <= np.ptp(geometry.bounds, axis=0) / 2 + 1e-9).all()  # fmt: skip
