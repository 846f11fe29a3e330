"""Every leaf's count, colour and pose survives reading, cutting and writing."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.ldraw.frame import pose_to_ldraw
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.ldraw.writing import write_assembly
from jarvis_bricks.library import LDrawLibrary

PARTS = ("3001", "3024", "3039", "3070b")
#: Rotations by a right angle, a mirror, a stretch and one of no special angle.
MATRICES = (
    "1 0 0 0 1 0 0 0 1",
    "0 0 -1 0 1 0 1 0 0",
    "1 0 0 0 0 -1 0 1 0",
    "-1 0 0 0 1 0 0 0 1",
    "1 0 0 0 2.5 0 0 0 1",
    "0.6 0 0.8 0 1 0 -0.8 0 0.6",
)


def placement(brick: Brick) -> np.ndarray:
    return pose_to_ldraw(brick.pose, brick.stretch)


def assert_same(old: tuple[Brick, ...], new: tuple[Brick, ...], first_step: int = 1) -> None:
    assert [(b.part, b.colour, b.step - first_step + 1, b.mirrored) for b in old] == [
        (b.part, b.colour, b.step, b.mirrored) for b in new
    ]
    ours, theirs = (np.array([placement(b) for b in bricks]) for bricks in (old, new))
    assert np.abs(ours - theirs).max() < 1e-4


def written(folder: Path, assembly: Assembly, library: LDrawLibrary | None, suffix: str) -> Assembly:
    path = folder / f"again{suffix}"
    write_assembly(path, assembly)
    return read_assembly(path, library=library)


@st.composite
def documents(draw: st.DrawFn) -> list[list[str]]:
    """Sections of a model; section i refers only to later ones, so that there is no circle."""
    count = draw(st.integers(1, 4))
    sections = []
    for index in range(count):
        lines = []
        for _ in range(draw(st.integers(1, 6))):
            word = draw(st.sampled_from(("part", "part", "sub", "STEP", "ROTSTEP")))
            if word in ("part", "sub"):
                later = draw(st.integers(index + 1, count))
                name = (
                    f"s{later}.ldr"
                    if word == "sub" and later < count
                    else f"{draw(st.sampled_from(PARTS))}.dat"
                )
                place = " ".join(str(draw(st.integers(-200, 200))) for _ in range(3))
                colour = draw(st.sampled_from((16, 4, 15, 0x2112233)))
                lines.append(f"1 {colour} {place} {draw(st.sampled_from(MATRICES))} {name}")
            else:
                lines.append("0 STEP" if word == "STEP" else "0 ROTSTEP 10 20 30 ABS")
        sections.append(lines)
    sections[-1].append(f"1 4 0 0 0 {MATRICES[0]} 3005.dat")
    sections[0].append(f"1 1 0 0 0 {MATRICES[0]} 3004.dat")
    return sections


def leaves(sections: list[list[str]], index: int, colour: int, matrix: np.ndarray) -> list[tuple]:
    """(part, colour, matrix) of all leaves by plain recursion, without steps."""
    found: list[tuple] = []
    for words in (line.split() for line in sections[index]):
        if words[0] != "1":
            continue
        numbers = [float(w) for w in words[2:14]]
        local = np.eye(4)
        local[:3, 3], local[:3, :3] = numbers[:3], np.reshape(numbers[3:], (3, 3))
        own = colour if words[1] == "16" else int(words[1])
        if words[14].startswith("s"):
            found += leaves(sections, int(words[14][1:-4]), own, matrix @ local)
        else:
            found.append((words[14][:-4], own, tuple(np.round(matrix @ local, 3).ravel() + 0.0)))
    return found


@given(documents())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_generated_models(tmp_path: Path, sections: list[list[str]]) -> None:
    text = "\n".join(line for i, s in enumerate(sections) for line in (f"0 FILE s{i}.ldr", "0 Title", *s))
    path = tmp_path / "m.mpd"
    path.write_text(text)
    assembly = read_assembly(path, library=None)
    read = [(b.part, b.colour, tuple(np.round(placement(b), 3).ravel() + 0.0)) for b in assembly.bricks]
    wanted = leaves(sections, 0, 16, np.eye(4))
    assert sorted((p, c) for p, c, _ in read) == sorted((p, c) for p, c, _ in wanted)
    ours, theirs = (np.array(sorted(m for _, _, m in found)) for found in (read, wanted))
    assert ours == pytest.approx(theirs, abs=0.05)
    for suffix in (".mpd", ".ldr"):
        again = written(tmp_path, assembly, None, suffix)
        assert_same(assembly.bricks, again.bricks)
        assert again.views == assembly.views
        if suffix == ".mpd":
            shape = [(u.first, u.count, u.parent) for u in assembly.submodels if u.count]
            assert [(u.first, u.count) for u in again.submodels] == [s[:2] for s in shape]
    half = assembly.n_steps // 2
    pieces = [assembly.cut(1, half), assembly.cut(half + 1, assembly.n_steps)]
    assert pieces[0].bricks + pieces[1].bricks == assembly.bricks


def test_real_models(library: LDrawLibrary, models: list[Path], tmp_path: Path) -> None:
    for path in models:
        assembly = read_assembly(path, library=library)
        for suffix in (".mpd", ".ldr"):
            again = written(tmp_path, assembly, library, suffix)
            assert_same(assembly.bricks, again.bricks)
            assert again.views == assembly.views
            assert len(again.inline_parts) == len(assembly.inline_parts)
        middle = (assembly.n_steps + 1) // 2
        first, second = assembly.cut(1, middle), assembly.cut(middle + 1, assembly.n_steps)
        assert first.bricks + second.bricks == assembly.bricks
        for piece, start in ((first, 1), (second, middle + 1)):
            if piece.bricks:
                assert_same(piece.bricks, written(tmp_path, piece, library, ".mpd").bricks, start)
