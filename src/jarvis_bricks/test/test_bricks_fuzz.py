"""Damaged models: read or refused with a place, never a crash or a hang.

JARVIS_FUZZ_EXAMPLES sets how many damaged files are tried (default 150; leave it running with 100000).
"""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.ldraw.writing import write_assembly
from jarvis_bricks.summary import summarise
from jarvis_core.errors import BadInputError

import jarvis_bricks

EXAMPLES = int(os.environ.get("JARVIS_FUZZ_EXAMPLES", "150"))

UNIT = "1 0 0 0 1 0 0 0 1"
#: One of everything.
ZOO = f"""0 FILE main.ldr
0 Zoo
0 !COLOUR Moss CODE 999 VALUE #112233 EDGE #445566
1 999 0 0 0 {UNIT} sub.ldr
1 4 20 -24 0 {UNIT} flag.dat
0 ROTSTEP 10 20 30 REL
1 16 0 -8 0 -1 0 0 0 1 0 0 0 1 3001.dat
0 STEP
0 FILE sub.ldr
1 16 0 -24 0 0 0 1 0 1 0 -1 0 0 3003.dat
0 STEP
1 24 0 -48 0 {UNIT} s\\inner.ldr
0 FILE s/inner.ldr
1 0x2FF8000 0 0 0 2 0 0 0 1 0 0 0 1 3024.dat
0 FILE flag.dat
0 Flag
0 BFC CERTIFY CCW
0 !TEXMAP START PLANAR 0 0 0 1 0 0 0 1 0 flag.png
3 16 0 0 0 10 0 0 10 10 0
0 !TEXMAP END
4 16 0 0 0 10 0 0 10 10 0 0 10 0
0 BFC INVERTNEXT
1 16 0 0 0 {UNIT} pole.dat
5 24 0 0 0 0 10 0 1 0 0 -1 0 0
0 FILE pole.dat
0 Pole
2 24 0 0 0 0 10 0
3 16 0 0 0 0 10 0 1 0 0
0 !DATA flag.png
0 !: aGVsbG8=
"""

SEEDS = [
    ZOO,
    *(
        (Path(jarvis_bricks.__file__).parent / "models" / f"{name}.mpd").read_text()
        for name in ("bridge", "duck", "house")
    ),
]
WORDS = st.sampled_from(
    ["0", "1", "2", "3", "4", "5", "16", "24", "-1", "1e300", "1e-300", "nan", "inf", "0x2FFFFFF", "0x", "99999999999",
     "FILE", "NOFILE", "STEP", "ROTSTEP", "END", "!DATA", "!:", "!COLOUR", "BFC", "CERTIFY", "INVERTNEXT", "NOCLIP",
     "main.ldr", "sub.ldr", "flag.dat", "3001.dat", "~Moved to", "\x00", "\ufeff", "é", "", " ", "\t", "\r"]
)  # fmt: skip


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A model after a few changes: lines moved, doubled and lost, words changed, bytes flipped, an end cut off."""
    lines = draw(st.sampled_from(SEEDS)).split("\n")
    for _ in range(draw(st.integers(1, 6))):
        index = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(("word", "word", "word", "drop", "double", "swap", "insert")))
        if kind == "word":
            words = lines[index].split(" ")
            words[draw(st.integers(0, len(words) - 1))] = draw(WORDS)
            lines[index] = " ".join(words)
        elif kind == "drop" and len(lines) > 1:
            del lines[index]
        elif kind == "double":
            lines.insert(index, lines[index])
        elif kind == "swap":
            other = draw(st.integers(0, len(lines) - 1))
            lines[index], lines[other] = lines[other], lines[index]
        else:
            lines.insert(index, " ".join(draw(st.lists(WORDS, max_size=16))))
    data = (
        draw(st.sampled_from(("\n", "\r\n", "\r")))
        .join(lines)
        .encode(draw(st.sampled_from(("utf-8", "utf-16"))))
    )
    if draw(st.booleans()):
        data = data[: draw(st.integers(0, len(data)))]
    if data and draw(st.booleans()):
        at = draw(st.integers(0, len(data) - 1))
        data = data[:at] + bytes([draw(st.integers(0, 255))]) + data[at + 1 :]
    return data


@given(damaged(), st.sampled_from((".mpd", ".ldr", ".dat", ".txt")))
@settings(
    max_examples=EXAMPLES,
    deadline=timedelta(seconds=5),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_damaged_models(tmp_path: Path, data: bytes, suffix: str) -> None:
    path = tmp_path / f"m{suffix}"
    path.write_bytes(data)
    try:
        assembly = read_assembly(path, library=None)
        catalogue = PartCatalogue.for_model(path)
        summarise(assembly, catalogue)
    except BadInputError:
        return
    # What was read can be written and read again.
    write_assembly(tmp_path / "again.mpd", assembly)
    again = read_assembly(tmp_path / "again.mpd", library=None)
    assert [(b.part, b.colour, b.step) for b in again.bricks] == [
        (b.part, b.colour, b.step) for b in assembly.bricks
    ]


@pytest.mark.parametrize("seed", SEEDS, ids=["zoo", "bridge", "duck", "house"])
def test_the_seeds_themselves_are_read(tmp_path: Path, seed: str) -> None:
    path = tmp_path / "m.mpd"
    path.write_text(seed)
    assembly = read_assembly(path, library=None)
    assert summarise(assembly, PartCatalogue.for_model(path)).parts
