"""Colour tables."""

import pytest
from jarvis_bricks.colours import ColourTable, builtin_colours
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError

TEXT = """0 // a table
0 !COLOUR Red          CODE   4   VALUE #B40000   EDGE #333333
0 !COLOUR Trans_Clear  CODE  47   VALUE #FCFCFC   EDGE #C3C3C3   ALPHA 128
0 !COLOUR Chrome_Gold  CODE 334   VALUE #BBA53D   EDGE #BBA53D   CHROME
0 !COLOUR Glitter_Pink CODE 114   VALUE #DF6695   EDGE #B9275F   ALPHA 128 MATERIAL GLITTER VALUE #B92790 FRACTION 0.17 VFRACTION 0.2 SIZE 1
"""  # noqa: E501


def test_lines_of_ldconfig() -> None:
    table = ColourTable.parse(TEXT, where="LDConfig.ldr")
    assert len(table.colours) == 4
    red = table.get(4)
    assert (red.name, red.rgb, red.edge, red.alpha, red.material) == (
        "Red", (0xB4, 0, 0), (0x33, 0x33, 0x33), 255, "SOLID",
    )  # fmt: skip
    assert (table.get(47).alpha, table.get(47).words) == (128, "Trans Clear")
    assert table.get(334).material == "CHROME"
    assert (table.get(114).material, table.get(114).rgb) == ("GLITTER", (0xDF, 0x66, 0x95))


def test_direct_colours_are_always_known() -> None:
    table = builtin_colours()
    assert table.get(0x2FF8000).rgb == (255, 128, 0)
    assert table.get(0x2FF8000).alpha == 255
    assert table.get(0x3FF8000).alpha == 128
    assert 0x2000000 in table
    assert 12345 not in table


def test_edge_of_a_colour_as_a_code() -> None:
    assert ColourTable.parse(TEXT, where="x").edge_code(47) == 0x2C3C3C3


@pytest.mark.parametrize(
    "text", ["0 !COLOUR Red CODE 4 VALUE red EDGE #333333", "0 !COLOUR Red CODE 4", "0 no colours"]
)
def test_broken_tables_name_the_line(text: str) -> None:
    with pytest.raises(BadInputError, match=r"LDConfig\.ldr"):
        ColourTable.parse(text, where="LDConfig.ldr")


def test_unknown_codes_are_errors() -> None:
    with pytest.raises(BadInputError, match="unknown colour 9999"):
        builtin_colours().get(9999)


def test_the_built_in_table_says_what_the_library_says(library: LDrawLibrary) -> None:
    table = ColourTable.load(library)
    assert len(table.colours) > 150
    for code, colour in builtin_colours().colours.items():
        assert (colour.name, colour.rgb, colour.alpha) == (
            table.get(code).name, table.get(code).rgb, table.get(code).alpha,
        )  # fmt: skip
