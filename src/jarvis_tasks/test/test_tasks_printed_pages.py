"""Maps of page images: read, written, and refused with the line that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jarvis_core.errors import BadInputError
from jarvis_tasks.printed.pages import MappedPage, open_page, page_files, read_map, write_map
from PIL import Image


@pytest.fixture
def book(tmp_path: Path) -> Path:
    for name in ("page-10.png", "page-2.PNG", "page-1.png", "notes.txt"):
        if name.endswith("txt"):
            (tmp_path / name).write_text("no page")
        else:
            Image.new("RGB", (60, 40), (255, 255, 255)).save(tmp_path / name, "PNG")
    return tmp_path


def test_pages_come_in_the_order_people_count(book: Path) -> None:
    assert [p.name for p in page_files(book)] == ["page-1.png", "page-2.PNG", "page-10.png"]


@given(
    st.lists(st.none() | st.integers(1, 99), min_size=3, max_size=3, unique_by=lambda step: step or object())
)
def test_a_map_survives_its_file(tmp_path_factory: pytest.TempPathFactory, steps: list[int | None]) -> None:
    folder = tmp_path_factory.mktemp("map")
    names = ["a.png", "b.png", "c, d.png"]
    for name in names:
        (folder / name).touch()
    pages = tuple(MappedPage(n, s, (1, 2, 3, 4) if s else None) for n, s in zip(names, steps, strict=True))
    write_map(folder / "map.csv", pages)
    assert read_map(folder / "map.csv", folder, 99) == pages


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("page,step\n", 1, "the first line must name"),
        ("file,step,colour\n", 1, "the first line must name"),
        ("file,step\npage-3.png,1\n", 2, "no page 'page-3.png'"),
        ("file,step\n../page-1.png,1\n", 2, "no page"),
        ("file,step\npage-1.png,one\n", 2, "whole numbers"),
        ("file,step\npage-1.png,9\n", 2, "step 9 is not in the build, which has 8"),
        ("file,step\npage-1.png,2\npage-10.png,2\n", 3, "step 2 is shown by line 2 already"),
        ("file,step,left,top,right,bottom\npage-1.png,2,1,,,\n", 2, "whole numbers"),
    ],
)
def test_a_wrong_map_is_told_by_line(book: Path, text: str, line: int, words: str) -> None:
    (book / "map.csv").write_text(text)
    with pytest.raises(BadInputError, match=words) as caught:
        read_map(book / "map.csv", book, 8)
    assert f"map.csv:{line}" in caught.value.line()


def test_two_steps_of_one_page_are_cut_out(book: Path) -> None:
    (book / "map.csv").write_text(
        "file,step,left,top,right,bottom\npage-1.png,1,0,0,30,40\npage-1.png,2,30,0,60,40\n"
    )
    first, second = read_map(book / "map.csv", book, 2)
    assert open_page(book / first.file, first.area).size == (30, 40)
    assert second.area == (30, 0, 60, 40)
    with pytest.raises(BadInputError, match="not on the page of 60 x 40"):
        open_page(book / "page-1.png", (30, 0, 61, 40))


def test_no_pages_no_images_and_damaged_ones(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="no such folder"):
        page_files(tmp_path / "absent")
    with pytest.raises(BadInputError, match="holds no page images"):
        page_files(tmp_path)
    (tmp_path / "page.png").write_bytes(b"\x89PNG\r\n\x1a\nrubbish")
    with pytest.raises(BadInputError, match="can't be read as an image"):
        open_page(tmp_path / "page.png")
