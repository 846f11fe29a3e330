"""Lines and sections of LDraw files."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_bricks.ldraw.document import Document, Reference, StepEnd, parse_document
from jarvis_core.errors import BadInputError

LINE = "1 4 10 -24 0 1 0 0 0 1 0 0 0 1 3001.dat"


def parse(text: str | bytes, name: str = "m.ldr") -> Document:
    data = text.encode() if isinstance(text, str) else text
    return parse_document(data, source=f"folder/{name}", name=name)


def test_header_and_reference() -> None:
    section = parse("0 A red car\n0 Name: m.ldr\n0 Author: Somebody\n0 !LICENSE CC BY 4.0\n\n" + LINE).main
    assert (section.title, section.header["author"], section.header["license"]) == (
        "A red car",
        "Somebody",
        "CC BY 4.0",
    )
    (reference,) = section.references
    assert (reference.colour, reference.name, reference.line) == (4, "3001.dat", 6)
    assert reference.matrix[:3, 3].tolist() == [10, -24, 0]


def test_matrix_is_read_row_by_row() -> None:
    (reference,) = parse("1 4 1 2 3 11 12 13 21 22 23 31 32 33 x.dat").main.references
    assert reference.matrix.tolist() == [[11, 12, 13, 1], [21, 22, 23, 2], [31, 32, 33, 3], [0, 0, 0, 1]]


@pytest.mark.parametrize(
    "data",
    [
        LINE.encode() + b"\r\n0 STEP\r\n",
        b"\xef\xbb\xbf" + LINE.encode() + b"\n0 STEP\n",
        b"0 Stra\xdfe in latin-1\n" + LINE.encode() + b"\n0 STEP",
        b"  " + LINE.replace(" ", "\t").encode() + b"\n  0 step  \n",
    ],
    ids=["CRLF", "BOM", "latin-1", "tabs and lower case"],
)
def test_encodings_and_line_ends(data: bytes) -> None:
    reference, step = parse(data).main.items
    assert isinstance(reference, Reference)
    assert reference.name == "3001.dat"
    assert isinstance(step, StepEnd)


def test_odd_characters_do_not_end_a_line() -> None:
    section = parse(b"0 wait\x85 then go\n" + LINE.encode()).main
    assert [reference.line for reference in section.references] == [2]


def test_latin1_title() -> None:
    assert parse(b"0 Stra\xdfe\n" + LINE.encode()).main.title == "Straße"


def test_names_are_compared_without_case_and_with_one_kind_of_slash() -> None:
    (reference,) = parse("1 16 0 0 0 1 0 0 0 1 0 0 0 1 S\\My Part 1.DAT").main.references
    assert reference.name == "s/my part 1.dat"


def test_direct_colours() -> None:
    (reference,) = parse("1 0x2FF8000 0 0 0 1 0 0 0 1 0 0 0 1 a.dat").main.references
    assert reference.colour == 0x2FF8000


def test_sections() -> None:
    document = parse(
        f"0 FILE Main.ldr\n0 Main\n{LINE}\n0 STEP\n0 NOFILE\n0 a comment between\n"
        f"0 FILE sub a.ldr\n0 Sub\n{LINE}\n{LINE}\n"
    )
    assert list(document.sections) == ["main.ldr", "sub a.ldr"]
    assert document.main.title == "Main"
    assert [len(s.references) for s in document.sections.values()] == [1, 2]
    assert document.sections["sub a.ldr"].references[1].line == 10


def test_quads_become_two_triangles_and_clockwise_files_are_turned() -> None:
    quad = "4 16 0 0 0 1 0 0 1 1 0 0 1 0"
    ccw = parse(f"0 BFC CERTIFY CCW\n{quad}").main.shapes
    cw = parse(f"0 BFC CERTIFY CW\n{quad}").main.shapes
    normal = np.cross(ccw.triangles[:, 1] - ccw.triangles[:, 0], ccw.triangles[:, 2] - ccw.triangles[:, 0])
    assert len(ccw.triangles) == 2
    assert (normal[:, 2] == 1).all()
    back = np.cross(cw.triangles[:, 1] - cw.triangles[:, 0], cw.triangles[:, 2] - cw.triangles[:, 0])
    assert (back[:, 2] == -1).all()
    assert not ccw.two_sided.any()


def test_uncertified_and_unclipped_faces_have_two_sides() -> None:
    triangle = "3 16 0 0 0 1 0 0 1 1 0"
    assert parse(triangle).main.shapes.two_sided.all()
    text = f"0 BFC CERTIFY CCW\n0 BFC NOCLIP\n{triangle}\n0 BFC CLIP\n{triangle}"
    assert parse(text).main.shapes.two_sided.tolist() == [True, False]


def test_invertnext_is_for_the_next_line_only() -> None:
    section = parse(f"0 BFC CERTIFY CCW\n0 BFC INVERTNEXT\n{LINE}\n{LINE}").main
    assert [r.inverted for r in section.references] == [True, False]


def test_moved_to() -> None:
    assert parse("0 ~Moved to s\\3665as01\n" + LINE).main.moved_to == "s/3665as01.dat"
    assert parse("0 Moved\n" + LINE).main.moved_to is None


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("0 x\n1 4 10 -24 0 1 0 0 0 1 0 0 0 1", ":2"),
        ("1 4 10 -24 zero 1 0 0 0 1 0 0 0 1 3001.dat", ":1"),
        ("1 4 nan -24 0 1 0 0 0 1 0 0 0 1 3001.dat", ":1"),
        ("1 red 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat", ":1"),
        ("1 99999999999 0 -24 0 1 0 0 0 1 0 0 0 1 3001.dat", ":1"),
        ("3 16 0 0 0 1 0 0 1 1", ":1"),
        ("3 16 0 0 0 1 0 0 1 1 0 7", ":1"),
        ("0\n0\nhello world", ":3"),
        (f"{LINE}\n0 FILE a.ldr\n{LINE}", ":2"),
        (f"0 FILE a.ldr\n0 NOFILE\n{LINE}", ":3"),
        (f"0 FILE a.ldr\n{LINE}\n0 FILE A.LDR\n{LINE}", ":3"),
    ],
)
def test_broken_input_names_file_and_line(text: str, where: str) -> None:
    with pytest.raises(BadInputError) as caught:
        parse(text)
    assert caught.value.where == f"folder/m.ldr{where}"


def fault(text: str | bytes) -> str:
    """Where a file is refused; empty if it is read."""
    try:
        document = parse(text)
    except BadInputError as error:
        return error.where
    assert document.sections
    return ""


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    where = fault(data)
    assert where == "" or where.startswith("folder/m.ldr:")


@given(st.text(alphabet="0123459 .-xabFILESTP\n\r\t", max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    where = fault(text)
    assert where == "" or where.startswith("folder/m.ldr:")
