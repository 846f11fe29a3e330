"""A build on one page, and other fingertips."""

from pathlib import Path

import pytest
from jarvis_bricks.assembly import Assembly
from jarvis_bricks.build_check import BuildProblem
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.config import BricksConfig, Fingertips
from jarvis_bricks.grip import FingerClearance
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.summary import summarise
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.objects import GROUND

UNIT = "1 0 0 0 1 0 0 0 1"


def read(folder: Path, text: str) -> Assembly:
    path = folder / "m.mpd"
    path.write_text(text)
    return read_assembly(path, library=None)


def test_two_towers_and_a_brick_in_the_air(tmp_path: Path, catalogue: PartCatalogue) -> None:
    text = f"""0 FILE m.ldr
1 4 0 0 0 {UNIT} tower.ldr
1 1 200 0 0 {UNIT} tower.ldr
1 4 400 -96 0 {UNIT} 3001.dat
0 FILE tower.ldr
0 A tower
1 16 0 -24 0 {UNIT} 3003.dat
0 STEP
1 16 0 -48 0 {UNIT} 3003.dat
"""
    found = summarise(read(tmp_path, text), catalogue)
    assert [(line.part, line.colour_name, line.count) for line in found.parts] == [
        ("3003", "Blue", 2),
        ("3003", "Red", 2),
        ("3001", "Red", 1),
    ]
    assert found.size_studs == pytest.approx((23.0, 2.0))
    # The lowest bricks' undersides are at LDraw y = 0, the highest top at -96.
    assert found.size_m[2] == pytest.approx(96 * 0.0004)
    assert sorted(joint.studs for joint in found.joints) == [4, 4, 4, 4]
    assert sum(joint.lower_id == GROUND for joint in found.joints) == 2
    assert [len(group) for group in found.groups] == [2, 2, 1]
    assert found.loose == ("b005",)
    assert [(s.title, s.bricks, s.pieces) for s in found.subassemblies] == [("A tower", 2, 1)] * 2
    assert found.checks is None


def test_slim_fingertips_pass_where_stock_ones_do_not(
    tmp_path: Path, catalogue: PartCatalogue, fingers: FingerClearance
) -> None:
    """The last brick has neighbours flush with it on two sides and walls one stud away on the others."""
    turned = "0 0 -1 0 1 0 1 0 0"
    walls = [f"1 4 {x} {y} 0 {turned} 3001.dat" for y in (-24, -48) for x in (-60, 60)]
    flush = [f"1 4 0 {y} {z} {UNIT} 3003.dat" for y in (-24, -48) for z in (-40, 40)]
    order = read(tmp_path, "\n".join([*walls, *flush, f"1 4 0 -24 0 {UNIT} 3003.dat"]))
    config = load_default("bricks", BricksConfig)
    assert config.fingers("stock", fingers) == fingers
    slim = config.fingers("slim", fingers)
    assert slim.thickness_m < 0.008 - slim.slack_m
    last = {}
    for name in ("stock", "slim"):
        checks = summarise(order, catalogue, config.fingers(name, fingers)).checks
        assert checks is not None
        last[name] = checks[-1].problems
    assert last == {"stock": (BuildProblem.NO_GRIP,), "slim": ()}


def test_unknown_fingertips(fingers: FingerClearance) -> None:
    with pytest.raises(BadInputError, match="use one of own"):
        BricksConfig(fingertips={"own": Fingertips()}).fingers("long", fingers)
