"""What else a file can hold: turned views, colours, textures, embedded files, endless things, structures as text."""

import base64
from pathlib import Path

import numpy as np
import pytest
from jarvis_bricks.assembly import Assembly, StepView
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.document import ViewTurn, parse_document
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.ldraw.writing import write_assembly
from jarvis_core.errors import BadInputError

UNIT = "1 0 0 0 1 0 0 0 1"
BRICK = f"1 4 0 0 0 {UNIT} 3005.dat"


def read(folder: Path, text: str, name: str = "m.mpd") -> Assembly:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return read_assembly(path, library=None)


@pytest.mark.parametrize(
    ("line", "turn", "ends"),
    [
        ("0 ROTSTEP 30 -45.5 0 ABS", ViewTurn((30.0, -45.5, 0.0), "ABS"), False),
        ("0 rotstep 0 90 0", ViewTurn((0.0, 90.0, 0.0), "REL"), False),
        ("0 ROTSTEP END", None, True),
        ("0 ROTSTEP", None, False),
        ("0 ROTSTEP a b c REL", None, False),
    ],
)
def test_rotstep(line: str, turn: ViewTurn | None, ends: bool) -> None:
    section = parse_document(line.encode(), source="m", name="m").main
    (item,) = section.items
    assert (item.turn, item.ends_turn) == (turn, ends)
    assert bool(section.notes) == (turn is None and not ends)


def test_a_turned_view_lasts_until_the_next_one_and_not_into_submodels(tmp_path: Path) -> None:
    text = f"""0 FILE m.ldr
{BRICK}
0 ROTSTEP 0 90 0 ADD
{BRICK}
0 STEP
1 4 0 0 0 {UNIT} sub.ldr
{BRICK}
0 STEP
{BRICK}
0 ROTSTEP END
{BRICK}
0 FILE sub.ldr
{BRICK}
0 STEP
"""
    assembly = read(tmp_path, text)
    turned = (0.0, 90.0, 0.0)
    # Step 3 is the submodel's.
    assert assembly.views == tuple(StepView(step, turned, "ADD") for step in (1, 2, 4))
    for name in ("again.mpd", "again.ldr"):
        write_assembly(tmp_path / name, assembly)
        assert read_assembly(tmp_path / name, library=None).views == assembly.views


def test_a_models_own_colours(tmp_path: Path) -> None:
    text = f"""0 FILE m.ldr
0 !COLOUR Moss CODE 999 VALUE #112233 EDGE #445566 ALPHA 100 MATTE_METALLIC
1 999 0 0 0 {UNIT} sub.ldr
0 FILE sub.ldr
1 24 0 0 0 {UNIT} 3005.dat
1 16 0 0 0 {UNIT} 3005.dat
"""
    assembly = read(tmp_path, text)
    assert [brick.colour for brick in assembly.bricks] == [0x2445566, 999]
    colour = PartCatalogue.for_model(tmp_path / "m.mpd").colours.get(999)
    assert (colour.words, colour.rgb, colour.alpha, colour.material) == (
        "Moss", (0x11, 0x22, 0x33), 100, "MATTE_METALLIC",
    )  # fmt: skip
    write_assembly(tmp_path / "again.mpd", assembly)
    assert PartCatalogue.for_model(tmp_path / "again.mpd").colours.get(999) == colour
    with pytest.raises(BadInputError, match=r"m\.mpd:1.*broken !COLOUR"):
        read(tmp_path, f"0 !COLOUR Moss CODE 999\n{BRICK}")


def test_a_texture_gives_way_to_its_fallback(tmp_path: Path) -> None:
    text = f"""0 FILE m.ldr
1 4 0 0 0 {UNIT} flag.dat
0 FILE flag.dat
0 Flag
0 !TEXMAP START PLANAR 0 0 0 1 0 0 0 1 0 flag.png
0 !: 3 16 0 0 0 1 0 0 1 1 0
3 4 0 0 0 10 0 0 10 10 0
0 !TEXMAP FALLBACK
3 1 0 0 0 10 0 0 10 10 0
0 !TEXMAP END
"""
    assembly = read(tmp_path, text)
    assert len(assembly.notes) == 1
    assert assembly.notes[0].endswith("m.mpd:5: a texture (!TEXMAP) is not read, its fallback geometry is")
    mesh = PartCatalogue.for_model(tmp_path / "m.mpd").geometry("flag").mesh
    assert sorted(set(mesh.colours.tolist())) == [1, 4]


def test_embedded_files() -> None:
    digits = base64.b64encode(b"picture" * 20).decode()
    lines = [f"0 !: {digits[i : i + 40]}" for i in range(0, len(digits), 40)]
    text = "\n".join(["0 FILE m.ldr", BRICK, "0 !DATA Flag.PNG", *lines, "", "0 FILE b.ldr", BRICK])
    document = parse_document(text.encode(), source="m.mpd", name="m")
    assert document.data == {"flag.png": b"picture" * 20}
    assert list(document.sections) == ["m.ldr", "b.ldr"]
    with pytest.raises(BadInputError, match=r"m\.mpd:2: .*no base64"):
        parse_document(b"0 FILE m.ldr\n0 !DATA a.png\n0 !: ???", source="m.mpd", name="m")


def test_utf16_with_a_byte_order_mark() -> None:
    for encoding in ("utf-16", "utf-16-be"):
        data = f"\ufeff0 Stra\xdfe\n{BRICK}".encode(encoding)
        mark = data if encoding == "utf-16-be" else data[2:]
        section = parse_document(mark, source="m", name="m").main
        assert (section.title, len(section.references)) == ("Straße", 1)


def test_binary_data_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.ldr"
    path.write_bytes(b"0 x\n\x89PNG\0\0\0")
    with pytest.raises(BadInputError, match=r"m\.ldr:2: is no LDraw text"):
        read_assembly(path, library=None)
    with pytest.raises(BadInputError, match="is no file"):
        read_assembly(tmp_path, library=None)


def test_submodels_that_multiply_without_end_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_bricks.ldraw.reading.MAX_BRICKS", 5000)
    empty = [f"0 FILE s{i}.ldr\n" + f"1 4 0 0 0 {UNIT} s{i + 1}.ldr\n" * 10 for i in range(30)]
    for last in ("0 nothing", BRICK):
        with pytest.raises(BadInputError, match="more than 5000 bricks or submodels"):
            read(tmp_path, "".join([*empty, f"0 FILE s30.ldr\n{last}\n"]))
    deep = [f"0 FILE s{i}.ldr\n1 4 0 0 0 {UNIT} s{i + 1}.ldr\n" for i in range(5000)]
    with pytest.raises(BadInputError, match="more than 100 deep"):
        read(tmp_path, "".join([*deep, f"0 FILE s5000.ldr\n{BRICK}\n"]))


def test_faces_that_multiply_without_end_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_bricks.part_mesh.MAX_SHAPES", 4_000)
    face = "3 16 0 0 0 1 0 0 1 1 0\n"
    for depth in (12, 500):
        parts = [f"0 FILE s{i}.dat\n{face}" + f"1 4 0 0 0 {UNIT} s{i + 1}.dat\n" * 10 for i in range(depth)]
        text = f"0 FILE m.ldr\n1 4 0 0 0 {UNIT} s0.dat\n" + "".join([*parts, f"0 FILE s{depth}.dat\n{face}"])
        (brick,) = read(tmp_path, text).bricks
        with pytest.raises(BadInputError, match=r"more than \d+ (triangles|deep)"):
            PartCatalogue.for_model(tmp_path / "m.mpd").geometry(brick.part)


def test_a_part_file_is_a_model_of_one_part(tmp_path: Path) -> None:
    text = "0 Sign\n3 16 0 0 0 10 0 0 0 10 0\n"
    (brick,) = read(tmp_path, text, "sign.dat").bricks
    assert brick.part == "sign"
    assert len(PartCatalogue.for_model(tmp_path / "sign.dat").geometry("sign").mesh.triangles)
    # The same in a model is left out, and said.
    assembly = read(tmp_path, text + BRICK, "sign.ldr")
    assert [b.part for b in assembly.bricks] == ["3005"]
    assert "are not read" in assembly.notes[0]


def test_mirrored_and_scaled_bricks_keep_their_matrix(tmp_path: Path) -> None:
    lines = ["-1 0 0 0 1 0 0 0 1", "2 0 0 0 1 0 0 0 1", "0 0 3 0 -1 0 1 0 0"]
    assembly = read(tmp_path, "".join(f"1 4 10 20 30 {m} 3001.dat\n" for m in [UNIT, *lines]))
    assert [brick.mirrored for brick in assembly.bricks] == [False, True, True, True]
    write_assembly(tmp_path / "again.ldr", assembly)
    section = parse_document((tmp_path / "again.ldr").read_bytes(), source="", name="").main
    for reference, wanted in zip(section.references, [UNIT, *lines], strict=True):
        matrix = np.array(wanted.split(), dtype=float).reshape(3, 3)
        assert reference.matrix[:3, :3] == pytest.approx(matrix, abs=1e-8)
        assert reference.matrix[:3, 3] == pytest.approx([10, 20, 30])


def test_brick_text(tmp_path: Path) -> None:
    assembly = read(tmp_path, "2x4 (10,8,0)\n\n6x1 (0,0,1)\n1x1 (0, 0, 2)\n", "tower.txt")
    assert [b.part for b in assembly.bricks] == ["3001", "3009", "3005"]
    assert [b.step for b in assembly.bricks] == [1, 2, 3]
    first, second, third = (b.pose for b in assembly.bricks)
    assert first.position == pytest.approx([0.088, 0.080, 0.0096])
    assert first.yaw == pytest.approx(np.pi / 2)
    assert second.position == pytest.approx([0.024, 0.004, 0.0192])
    assert second.yaw == 0
    assert third.position == pytest.approx([0.004, 0.004, 0.0288])
    assert PartCatalogue.for_model(tmp_path / "tower.txt").knows("3001")


@pytest.mark.parametrize(
    ("text", "what"),
    [("2x4 10,8,0", r":1: '2x4 10,8,0' is no brick"), ("1x1 (0,0,0)\n5x7 (0,0,0)", r":2: there is no brick of 5 x 7"),
     ("\n", "without bricks")],
)  # fmt: skip
def test_bad_brick_text(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(BadInputError, match=what):
        read(tmp_path, text, "t.txt")
