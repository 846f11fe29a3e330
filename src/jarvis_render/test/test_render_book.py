import io

import pytest
from jarvis_bricks.colours import builtin_colours
from jarvis_core.errors import BadInputError
from jarvis_core.manual import PartCount
from jarvis_render.book import colour_chart, contact_sheet, cover, parts_pages, write_pdf
from jarvis_render.pages import encode_png
from PIL import Image

COLOURS = builtin_colours()


def page(rgb):
    return Image.new("RGB", (120, 90), rgb)


def test_a_pdf_has_all_pages_and_the_same_bytes_each_time(tmp_path):
    pages = [page((i * 5, 0, 0)) for i in range(30)]
    for name in ("a.pdf", "b.pdf"):
        write_pdf(tmp_path / name, pages, "House", "Ann")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") + data.count(b"/Type /Page/") >= 30
    assert data == (tmp_path / "b.pdf").read_bytes()


def test_a_pdf_that_fails_leaves_nothing(tmp_path):
    def broken():
        yield page((0, 0, 0))
        raise BadInputError("no more")

    with pytest.raises(BadInputError):
        write_pdf(tmp_path / "a.pdf", broken(), "", "")
    assert list(tmp_path.iterdir()) == []


def test_a_contact_sheet_shows_all_pages_in_order():
    pages = [encode_png(page(rgb)) for rgb in ((255, 0, 0), (0, 255, 0), (0, 0, 255))]
    sheet = contact_sheet(pages, 60, 3)
    colours = [sheet.getpixel((5 + i * 62, 20)) for i in range(3)]
    assert [max(range(3), key=c.__getitem__) for c in colours] == [0, 1, 2]


def test_the_list_of_parts_takes_as_many_pages_as_it_needs(parts, config, gl):
    counts = [
        PartCount("3001", "Brick 2 x 4", code, COLOURS.get(code).words, 2)
        for code in list(COLOURS.colours)[2:32]
    ]
    pages = parts_pages(counts, parts, COLOURS, config, gl)
    assert len(pages) == 2
    assert all(p.size == (config.width, config.height) for p in pages)
    assert parts_pages([], parts, COLOURS, config, gl) == []


def test_a_cover_of_any_length_of_title(config):
    front = cover(
        encode_png(page((9, 9, 9))), "A very long title " * 20, "Ann", "CC BY 4.0", "1 brick", config
    )
    assert front.size == (config.width, config.height)


def test_the_colour_chart_has_a_row_for_every_eight_colours(parts, config, gl):
    chart = Image.open(io.BytesIO(colour_chart(parts, COLOURS, config, "3003", gl)))
    assert chart.height == -(-(len(COLOURS.colours) - 2) // 8) * 138
