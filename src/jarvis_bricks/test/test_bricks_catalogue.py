"""Parts from files: winding, colours, studs, what is physical."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import Mesh
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.part_mesh import StudKind, stud_kind
from jarvis_core.errors import BadInputError

UNIT = "0 0 0 1 0 0 0 1 0 0 0 1"
#: A unit cube of side 20 about the origin, wound counter-clockwise seen from outside.
CUBE = """0 Cube
0 BFC CERTIFY CCW
4 16 -10 -10 -10 10 -10 -10 10 -10 10 -10 -10 10
4 16 -10 10 -10 -10 10 10 10 10 10 10 10 -10
4 16 -10 -10 -10 -10 10 -10 10 10 -10 10 -10 -10
4 16 -10 -10 10 10 -10 10 10 10 10 -10 10 10
4 16 -10 -10 -10 -10 -10 10 -10 10 10 -10 10 -10
4 16 10 -10 -10 10 10 -10 10 10 10 10 -10 10
"""
STUD = "0 Stud\n0 BFC CERTIFY CCW\n3 16 6 0 0 0 -4 0 0 0 6\n"
TUBE = "0 Stud Tube Open\n0 BFC CERTIFY CCW\n3 16 6 0 0 0 -4 0 0 0 6\n"

Build = Callable[..., PartCatalogue]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """A catalogue over a library made of the given files."""

    def make(**files: str) -> PartCatalogue:
        for name, text in {"cube": CUBE, **files}.items():
            folder = "p" if name in ("cube", "stud", "stud4") else "parts"
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{name}.dat").write_text(text)
        return PartCatalogue(LDrawLibrary(tmp_path))

    return make


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(np.float64) for i in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6)


EIGHT_MM = 0.008**3


@pytest.mark.parametrize(
    ("lines", "cubes"),
    [
        (f"1 16 {UNIT} cube.dat", 1),
        # A mirrored placement alone keeps the outside outside.
        ("1 16 0 0 0 -1 0 0 0 1 0 0 0 1 cube.dat", 1),
        ("1 16 0 0 0 -1 0 0 0 -1 0 0 0 -1 cube.dat", 1),
        # INVERTNEXT turns it inside out, mirrored or not.
        (f"0 BFC INVERTNEXT\n1 16 {UNIT} cube.dat", -1),
        ("0 BFC INVERTNEXT\n1 16 0 0 0 1 0 0 0 -1 0 0 0 1 cube.dat", -1),
        ("1 16 0 0 0 2 0 0 0 1 0 0 0 1 cube.dat", 2),
    ],
)
def test_winding(build: Build, lines: str, cubes: int) -> None:
    mesh = build(thing=f"0 Thing\n0 BFC CERTIFY CCW\n{lines}\n").geometry("thing").mesh
    assert volume(mesh) == pytest.approx(cubes * EIGHT_MM)
    assert len(mesh.triangles) == 12


def test_faces_of_uncertified_files_are_there_twice(build: Build) -> None:
    mesh = build(thing=f"0 Thing\n1 16 {UNIT} cube.dat\n").geometry("thing").mesh
    assert len(mesh.triangles) == 24
    assert volume(mesh) == pytest.approx(0)


def test_colours_are_inherited_and_edges_follow(build: Build) -> None:
    inner = f"0 Inner\n0 BFC CERTIFY CCW\n1 16 {UNIT} cube.dat\n3 4 0 0 0 10 0 0 0 10 0\n2 24 0 0 0 10 0 0\n"
    mesh = (
        build(inner=inner, thing=f"0 Thing\n0 BFC CERTIFY CCW\n1 14 {UNIT} inner.dat\n")
        .geometry("thing")
        .mesh
    )
    assert sorted(set(mesh.colours.tolist())) == [4, 14]
    assert mesh.edge_colours.tolist() == [0x2333333]
    own = build(inner=inner).geometry("inner").mesh
    assert sorted(set(own.colours.tolist())) == [4, 16]
    assert own.edge_colours.tolist() == [24]


#: A hollow 1 x 1 brick: a roof and four walls, 4 LDU thick.
CUP = """0 Cup
0 BFC CERTIFY CCW
1 16 0 2 0 1 0 0 0 0.2 0 0 0 1 cube.dat
1 16 8 12 0 0.2 0 0 0 1.2 0 0 0 1 cube.dat
1 16 -8 12 0 0.2 0 0 0 1.2 0 0 0 1 cube.dat
1 16 0 12 8 1 0 0 0 1.2 0 0 0 0.2 cube.dat
1 16 0 12 -8 1 0 0 0 1.2 0 0 0 0.2 cube.dat
"""


def test_studs_and_openings_are_found(build: Build) -> None:
    """A cup with a stud on top and one on its front."""
    studs = "1 16 0 0 0 1 0 0 0 1 0 0 0 1 stud.dat\n1 16 0 10 -10 1 0 0 0 0 1 0 -1 0 stud.dat\n"
    geometry = build(thing=CUP + studs, stud=STUD).geometry("thing")
    assert geometry.studs.positions == pytest.approx(np.array([[0, 0, 0], [0, -0.004, -0.004]]))
    # A stud points to LDraw -y; turned by (x, z, -y) that becomes LDraw +z: our +y.
    assert geometry.studs.axes == pytest.approx(np.array([[0, 0, 1], [0, 1, 0]]), abs=1e-9)
    assert geometry.antistuds.positions == pytest.approx(np.array([[0, 0, -0.0096]]))
    assert geometry.antistuds.axes.tolist() == [[0, 0, 1]]
    assert geometry.bounds == pytest.approx(np.array([[-0.004, -0.004, -0.0096], [0.004, 0.004, 0]]))
    assert not geometry.physical
    assert "not an ordinary brick" in geometry.not_physical_reason


def test_volume_of_a_closed_surface_and_of_an_open_one(build: Build) -> None:
    stud = np.pi * 0.0024**2 * 0.0016
    solid = build(
        thing=f"0 Thing\n0 BFC CERTIFY CCW\n1 16 {UNIT} cube.dat\n1 16 {UNIT} stud.dat\n", stud=STUD
    )
    assert solid.geometry("thing").volume_m3 == pytest.approx(EIGHT_MM + stud)
    # Without its first face the cube is a shell of 5 x 64 mm^2, half of them a wall's inside.
    lid = CUBE.splitlines()
    open_box = build(thing="\n".join(lid[:2] + lid[3:])).geometry("thing")
    assert open_box.volume_m3 == pytest.approx(5 * 0.008**2 / 2 * 0.0012)


def test_a_stretched_stud_has_its_foot_below_its_top(build: Build) -> None:
    # Its top is at LDraw y = -4, so it stands on y = 0 although its file reaches down to 4.
    thing = f"0 Brick\n0 BFC CERTIFY CCW\n1 16 {UNIT} cube.dat\n1 16 0 4 0 1 0 0 0 2 0 0 0 1 stud.dat\n"
    geometry = build(thing=thing, stud=STUD).geometry("thing")
    assert geometry.studs.positions == pytest.approx(np.zeros((1, 3)), abs=1e-9)


def test_low_poly_studs_have_eight_sides_and_tubes_are_dropped(build: Build) -> None:
    thing = f"""0 Thing
0 BFC CERTIFY CCW
1 16 {UNIT} cube.dat
1 16 0 0 0 1 0 0 0 1 0 0 0 1 stud.dat
1 16 0 4 0 1 0 0 0 -1 0 0 0 1 stud4.dat
"""
    # The stud stands on z = 0, where its missing foot has no share in the sum of signed volumes.
    low = build(thing=thing, stud=STUD, stud4=TUBE).geometry("thing").low_poly
    assert len(low.triangles) == 12 + 8 * 3
    lid = 0.5 * 8 * 0.0024**2 * np.sin(np.pi / 4)
    assert volume(low) == pytest.approx(EIGHT_MM + lid * 0.0016, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "title", "kind"),
    [
        ("stud.dat", "Stud", StudKind.STUD),
        ("stud2a.dat", "Stud Open without Base Edges", StudKind.STUD),
        ("stud4.dat", "Stud Tube Open", StudKind.TUBE),
        ("stud12.dat", "Stud Underside Cross", StudKind.TUBE),
        ("stud2s2e.dat", "Open Stud Extension with 0.5 LDU Inner Stopper Ring", StudKind.OTHER),
        ("stud8.dat", "Stud Tube Open Duplo", StudKind.OTHER),
        ("stug-2x2.dat", "Stud Group  2 x  2", None),
        ("box5.dat", "Box with 5 Faces", None),
    ],
)
def test_kinds_of_stud_primitives(name: str, title: str, kind: StudKind | None) -> None:
    assert stud_kind(name, title) is kind


def test_missing_and_circular_files_are_named(build: Build) -> None:
    catalogue = build(
        lacks=f"0 Lacks\n1 16 {UNIT} nowhere.dat\n",
        ring=f"0 Ring\n1 16 {UNIT} gnir.dat\n",
        gnir=f"0 Gnir\n1 16 {UNIT} ring.dat\n",
        empty="0 Empty\n",
    )
    with pytest.raises(BadInputError, match=r"lacks\.dat:2: lacks\.dat needs nowhere\.dat"):
        catalogue.geometry("lacks")
    with pytest.raises(BadInputError, match=r"ring\.dat -> gnir\.dat -> ring\.dat"):
        catalogue.geometry("ring")
    with pytest.raises(BadInputError, match="no geometry"):
        catalogue.geometry("empty")


def test_parts_inside_a_model(tmp_path: Path) -> None:
    path = tmp_path / "m.mpd"
    path.write_text(f"0 FILE m.ldr\n1 4 {UNIT} My Part.dat\n0 FILE my part.dat\n{CUBE}")
    (brick,) = read_assembly(path, library=None).bricks
    catalogue = PartCatalogue.for_model(path)
    assert catalogue.knows(brick.part)
    assert volume(catalogue.geometry(brick.part).mesh) == pytest.approx(EIGHT_MM)
    assert not PartCatalogue().knows(brick.part)


def test_geometry_is_computed_once(catalogue: PartCatalogue) -> None:
    assert catalogue.geometry("3001") is catalogue.geometry("3001.DAT")


def test_a_part_that_is_both_takes_its_mesh_from_the_library(library_catalogue: PartCatalogue) -> None:
    both, built_in = library_catalogue.geometry("3001"), PartCatalogue().geometry("3001")
    assert (both.source, built_in.source) == ("library", "parametric")
    assert len(both.mesh.triangles) != len(built_in.mesh.triangles)
    assert both.boxes == built_in.boxes
    np.testing.assert_array_equal(both.studs.positions, built_in.studs.positions)
    np.testing.assert_array_equal(both.studs.axes, built_in.studs.axes)


@pytest.mark.parametrize(
    ("part", "physical", "reason"),
    [
        ("3001", True, ""),
        ("3700", True, ""),
        ("2412b", True, ""),
        ("3941", True, ""),
        ("4070", True, ""),
        ("6143", False, "not box-like"),
        ("99780", False, "not an ordinary"),
        ("3937", False, "not an ordinary"),
        ("3747a", False, "not an ordinary"),
    ],
)
def test_what_is_physical(library_catalogue: PartCatalogue, part: str, physical: bool, reason: str) -> None:
    geometry = library_catalogue.geometry(part)
    assert geometry.physical is physical, geometry.not_physical_reason
    assert reason in geometry.not_physical_reason


@pytest.mark.slow
def test_every_part_of_the_real_models_has_geometry(library: LDrawLibrary, models: list[Path]) -> None:
    seen: set[str] = set()
    for path in models:
        catalogue = PartCatalogue.for_model(path, library)
        parts = {brick.part for brick in read_assembly(path, library=library).bricks} - seen
        seen |= parts
        for part in parts:
            geometry = catalogue.geometry(part)
            assert np.isfinite(geometry.mesh.vertices).all(), part
            assert geometry.mass_kg > 0 or len(geometry.mesh.triangles) == 0, part
            assert geometry.physical == (geometry.not_physical_reason == ""), part
            if geometry.physical:
                assert len(geometry.antistuds), part
