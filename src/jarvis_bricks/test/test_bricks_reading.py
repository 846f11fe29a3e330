"""Model files to assemblies and back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.ldraw.writing import write_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.pose import Pose

UNIT = "1 0 0 0 1 0 0 0 1"


def write(folder: Path, text: str, name: str = "m.mpd") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def read(folder: Path, text: str) -> Assembly:
    return read_assembly(write(folder, text), library=None)


def order(assembly: Assembly) -> str:
    """Colour letters by step: ``A BC`` for one brick of colour A, then two."""
    steps: dict[int, str] = {}
    for brick in assembly.bricks:
        steps[brick.step] = steps.get(brick.step, "") + chr(ord("A") + brick.colour)
    return " ".join(steps[step] for step in sorted(steps))


def line(letter: str, name: str = "3005.dat") -> str:
    return f"1 {ord(letter) - ord('A')} 0 0 0 {UNIT} {name}"


def test_hand_computed_positions(tmp_path: Path) -> None:
    assembly = read(
        tmp_path,
        f"""0 FILE main.ldr
0 Two towers
0 Author: Somebody
0 !LICENSE CC BY 4.0
1 4 0 -24 0 {UNIT} 3001.dat
1 1 100 0 40 0 0 1 0 1 0 -1 0 0 tower.ldr
0 FILE tower.ldr
1 16 0 -24 0 {UNIT} 3005.dat
1 2 20 -48 0 {UNIT} 3005.dat
""",
    )
    assert (assembly.title, assembly.author, assembly.licence) == ("Two towers", "Somebody", "CC BY 4.0")
    assert (assembly.name, assembly.has_steps, assembly.n_steps) == ("m", False, 1)
    by_colour = {brick.colour: brick for brick in assembly.bricks}
    assert by_colour[4].pose.is_close(Pose((0.0, 0.0, 0.0096)))
    # The tower's x axis points to LDraw -z: 20 LDU along it are 8 mm towards our -y.
    assert by_colour[1].pose.position == pytest.approx([0.040, 0.016, 0.0096])
    assert by_colour[2].pose.position == pytest.approx([0.040, 0.008, 0.0192])
    assert by_colour[2].pose.yaw == pytest.approx(-np.pi / 2)
    assert by_colour[2].where == "m.mpd:9"
    assert [brick.id for brick in assembly.bricks] == ["b001", "b002", "b003"]


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        ("A B", "AB"),
        ("A STEP B", "A B"),
        ("A STEP B STEP", "A B"),
        ("A STEP STEP B", "A B"),
        ("STEP A ROTSTEP B", "A B"),
        # A submodel's steps come first, whole, whatever stands before its reference in the step.
        ("A sub B STEP C", "D E AB C"),
        ("sub STEP A", "D E A"),
        ("A STEP sub", "A D E"),
        # Every copy is built anew.
        ("sub STEP A sub B", "D E D E AB"),
        # Nested: sup holds F, then sub and G in one step.
        ("A sup B", "F D E G AB"),
    ],
)
def test_order_of_steps_across_submodels(tmp_path: Path, main: str, expected: str) -> None:
    words = {
        "STEP": "0 STEP",
        "ROTSTEP": "0 ROTSTEP 30 45 0 ABS",
        "sub": line("Z", "Sub.ldr"),
        "sup": line("Z", "SUP.LDR"),
    }
    text = ["0 FILE main.ldr", *(words.get(word) or line(word) for word in main.split())]
    text += ["0 FILE sub.ldr", line("D"), "0 STEP", line("E"), "0 STEP"]
    text += ["0 FILE sup.ldr", line("F"), "0 STEP", line("Z", "sub.ldr"), line("G")]
    if "s" not in main:
        text = text[: 1 + len(main.split())]
    assert order(read(tmp_path, "\n".join(text))) == expected


def test_colours_are_inherited_through_submodels(tmp_path: Path) -> None:
    text = f"""0 FILE main.ldr
1 4 0 0 0 {UNIT} outer.ldr
1 0x2123456 0 0 0 {UNIT} inner.ldr
0 FILE outer.ldr
1 16 0 0 0 {UNIT} inner.ldr
1 1 0 0 0 {UNIT} inner.ldr
0 FILE inner.ldr
1 16 0 0 0 {UNIT} 3005.dat
1 2 0 0 0 {UNIT} 3005.dat
"""
    assert [brick.colour for brick in read(tmp_path, text).bricks] == [4, 2, 1, 2, 0x2123456, 2]


def test_the_edge_colour_becomes_a_direct_colour(tmp_path: Path) -> None:
    text = f"0 FILE a.ldr\n1 0 0 0 0 {UNIT} b.ldr\n0 FILE b.ldr\n1 24 0 0 0 {UNIT} 3005.dat"
    assert read(tmp_path, text).bricks[0].colour == 0x2808080


def test_a_section_with_faces_is_a_part(tmp_path: Path) -> None:
    text = f"""0 FILE main.ldr
1 4 0 0 0 {UNIT} flag.dat
1 4 0 0 0 {UNIT} pole.ldr
0 FILE flag.dat
3 16 0 0 0 10 0 0 0 -10 0
1 16 0 0 0 {UNIT} 3005.dat
0 FILE pole.ldr
2 24 0 0 0 0 100 0
1 16 0 0 0 {UNIT} 3005.dat
"""
    assert [brick.part for brick in read(tmp_path, text).bricks] == ["3005", "flag"]


def test_aliases_of_built_in_parts(tmp_path: Path) -> None:
    assert read(tmp_path, f"1 4 0 0 0 {UNIT} 3069.DAT").bricks[0].part == "3069b"


def test_mirrored_bricks_are_flagged(tmp_path: Path) -> None:
    assembly = read(tmp_path, "1 4 0 0 0 -1 0 0 0 1 0 0 0 1 3001.dat\n" + line("A"))
    assert [brick.mirrored for brick in assembly.bricks] == [True, False]


def test_submodels_beside_the_file(tmp_path: Path) -> None:
    write(tmp_path, line("B") + "\n" + line("C"), "Wheel.LDR")
    assert order(read(tmp_path, line("Z", "wheel.ldr") + "\n" + line("A"))) == "BCA"


@pytest.mark.parametrize(
    ("text", "what", "where"),
    [
        (f"0 x\n1 4 0 0 0 {UNIT} 99999.dat", "99999.dat", ":2"),
        (f"0 FILE a.ldr\n1 4 0 0 0 {UNIT} b.ldr", "b.ldr", ":2"),
        ("0 nothing here", "without bricks", ""),
        (
            f"0 FILE a.ldr\n{line('A', 'b.ldr')}\n0 FILE b.ldr\n{line('A', 'a.ldr')}",
            "a.ldr -> b.ldr -> a.ldr",
            ":1",
        ),
        ("1 4 0 0 0 1 0 0 0 0 0 0 0 1 3005.dat", "singular", ":1"),
    ],
)
def test_bad_models(tmp_path: Path, text: str, what: str, where: str) -> None:
    with pytest.raises(BadInputError) as caught:
        read(tmp_path, text)
    assert what in caught.value.what
    assert caught.value.where == f"{tmp_path / 'm.mpd'}{where}"


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such file"):
        read_assembly(tmp_path / "none.ldr", library=None)


bricks = st.builds(
    lambda part, colour, place, turn: (part, colour, place, turn),
    st.sampled_from(["3001", "3024", "3039", "2357", "3070b"]),
    st.sampled_from([0, 4, 14, 0x2FF8000]),
    st.tuples(*[st.floats(-1, 1)] * 3),
    st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: np.linalg.norm(q) > 0.1),
)


@given(st.lists(st.lists(bricks, min_size=1, max_size=4), min_size=1, max_size=4), st.booleans())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_written_and_read_again(tmp_path: Path, steps: list[list[tuple]], has_steps: bool) -> None:
    flat = [(number, brick) for number, step in enumerate(steps, start=1) for brick in step]
    assembly = Assembly(
        name="m",
        title="A thing",
        author="Somebody",
        licence="CC BY 4.0",
        has_steps=has_steps,
        bricks=tuple(
            Brick(f"b{i:03d}", part, colour, Pose(place, turn), number if has_steps else 1)
            for i, (number, (part, colour, place, turn)) in enumerate(flat, start=1)
        ),
    )
    path = tmp_path / "m.ldr"
    write_assembly(path, assembly)
    again = read_assembly(path, library=None)
    assert (again.name, again.title, again.author, again.licence, again.has_steps) == (
        "m",
        "A thing",
        "Somebody",
        "CC BY 4.0",
        has_steps,
    )
    assert len(again.bricks) == len(assembly.bricks)
    for old, new in zip(assembly.bricks, again.bricks, strict=True):
        assert (new.id, new.part, new.colour, new.step, new.mirrored) == (
            old.id, old.part, old.colour, old.step, False,
        )  # fmt: skip
        assert new.pose.is_close(old.pose, 1e-8, 1e-7)


def count_leaves(sections: dict[str, list[list[str]]], name: str) -> int:
    """An independent count of the parts under a section: no parser, no steps, no geometry."""
    total = 0
    for words in sections[name]:
        if words[0] != "1":
            continue
        child = " ".join(words[14:]).lower().replace("\\", "/")
        kind = [w for w in sections.get(child, []) if w[:2] == ["0", "!LDRAW_ORG"]]
        is_part = any(w[0] in "345" for w in sections.get(child, [])) or any("Part" in w[2] for w in kind)
        total += count_leaves(sections, child) if child in sections and not is_part else 1
    return total


def test_no_brick_is_lost_in_real_models(library: LDrawLibrary, models: list[Path]) -> None:
    for path in models:
        sections: dict[str, list[list[str]]] = {}
        current: list[list[str]] = []
        for text in path.read_text(encoding="latin-1").splitlines():
            words = text.split()
            if words[:2] == ["0", "FILE"]:
                current = sections.setdefault(" ".join(words[2:]).lower(), [])
            elif words:
                current.append(words)
        assembly = read_assembly(path, library=library)
        assert len(assembly.bricks) == count_leaves(sections, next(iter(sections))), path.name
        steps = [brick.step for brick in assembly.bricks]
        assert steps == sorted(steps)
        assert set(steps) == set(range(1, assembly.n_steps + 1))


def test_poses_of_a_real_model_are_products_of_its_matrices(
    library: LDrawLibrary, models: list[Path]
) -> None:
    """Every line of the main section that names a part: its pose is that line's own matrix."""
    path = next(path for path in models if path.name.startswith("6071"))
    assembly = read_assembly(path, library=library)
    placed = {brick.where.rpartition(":")[2]: brick for brick in assembly.bricks}
    lines = path.read_text(encoding="latin-1").splitlines()
    # "1 4 -360 -64 -120 ... 4491a.dat" of the main section
    number = next(i for i, text in enumerate(lines, start=1) if text.endswith("4491a.dat"))
    assert placed[str(number)].pose.position == pytest.approx([-0.144, -0.048, 0.0256])
