"""Finding which page shows which step, on pages in another style, scale and light than what they are compared with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_bytes
from jarvis_render.config import ManualConfig
from jarvis_render.hypotheses import HypothesisRenderer, Light
from jarvis_render.layout import brick_corners
from jarvis_render.pages import encode_png
from jarvis_render.view import Direction, fit_perspective, fit_view
from jarvis_tasks.manual import make_manual
from jarvis_tasks.placement import place_on_plate
from jarvis_tasks.printed.figures import Figure, figures_of_page
from jarvis_tasks.printed.manual import Book
from jarvis_tasks.printed.matching import Side, draw_steps, find_map, match_pages, steps_of
from jarvis_tasks.printed.pages import MappedPage
from jarvis_tasks.segment import make_task
from PIL import Image, ImageDraw

HOUSE = Path(__file__).resolve().parents[2] / "jarvis_bricks/jarvis_bricks/models/house.mpd"
PAPER = (206, 222, 236)


@pytest.fixture(scope="module")
def house() -> Assembly:
    return read_assembly(HOUSE, library=None)


@pytest.fixture(scope="module")
def book(house: Assembly, catalogue: PartCatalogue) -> list[Image.Image]:
    """One page per step as a printer would: blue paper, a number, a box of parts, a pinhole camera, low light."""
    pages = []
    area = (110.0, 70.0, 410.0, 310.0)
    for step in steps_of(house):
        bricks = [b for b in house.bricks if b.step <= step]
        corners = brick_corners(bricks, catalogue).reshape(-1, 3)
        # Books zoom out as the model grows.
        ortho = fit_view(corners, (420, 320), area, Direction(27.0, 50.0), 2200.0)
        view = fit_perspective(corners, ortho, area, 24.0)
        with HypothesisRenderer(catalogue, catalogue.colours, view.intrinsics) as renderer:
            drawn = renderer.draw(bricks, view.pose, Light((0.5, -0.3, 0.8), 0.45, 0.4))
        page = Image.fromarray(np.where(drawn.numbers[:, :, None] > 0, drawn.rgb, np.array(PAPER, np.uint8)))
        pen = ImageDraw.Draw(page)
        pen.text((14, 12), str(step), fill=(20, 20, 20))
        pen.rectangle((30, 8, 100, 60), fill=(250, 245, 210), outline=(60, 60, 60))
        pen.rectangle((44, 22, 70, 46), fill=(200, 30, 30))
        pages.append(page)
    return pages


def other_page(shape: tuple[int, int, int, int]) -> Image.Image:
    page = Image.new("RGB", (420, 320), PAPER)
    ImageDraw.Draw(page).rectangle(shape, fill=(20, 20, 150))
    return page


def test_a_book_with_torn_out_pages_a_cover_and_pages_of_something_else(
    book: list[Image.Image], house: Assembly, catalogue: PartCatalogue
) -> None:
    steps = steps_of(house)
    kept = [index for index in range(len(steps)) if index not in (2, 3, 6)]
    blank = Image.new("RGB", book[0].size, PAPER)
    pages = [
        other_page((40, 150, 400, 170)),
        *(book[index] for index in kept),
        other_page((200, 10, 215, 300)),
        blank,
    ]
    figures = [figures_of_page(np.asarray(page)) for page in pages]
    found = [match.step for match in find_map(house, catalogue, figures)]
    assert found == [None, *(steps[index] for index in kept), None, None]


def test_steps_that_look_the_same_are_not_sure(house: Assembly, catalogue: PartCatalogue) -> None:
    drawings = draw_steps(house, catalogue, steps_of(house)[-2:], (Side(30.0, 45.0),))
    last = [1, 1]
    same = replace(
        drawings,
        features=drawings.features[last],
        areas=drawings.areas[last],
        aspects=drawings.aspects[last],
    )
    page = Figure(same.features[0, 0], float(same.areas[0, 0]), float(same.aspects[0, 0]))
    (match,) = match_pages([[page]], same)
    assert match.step is not None
    assert not match.sure
    (clear,) = match_pages([[page]], drawings)
    assert clear.step == steps_of(house)[-1]


def test_the_manual_of_a_task_is_made_of_the_book(
    book: list[Image.Image], house: Assembly, catalogue: PartCatalogue, tmp_path: Path
) -> None:
    cell = load_default("cell", CellConfig)
    placed = place_on_plate(house, catalogue, cell.plate.studs)
    pages = []
    for step, image in zip(steps_of(house), book, strict=True):
        write_bytes(tmp_path / f"{step}.png", encode_png(image))
        pages.append(MappedPage(f"{step}.png", step))
    task = make_task(placed, 2, 3)
    drawn = make_manual(task, cell.plate, catalogue, load_default("manual", ManualConfig))
    whole = Book(tmp_path, tuple(pages), steps_of(house))
    manual = whole.manual(task, drawn, cell.plate)
    assert [page.png for page in manual.pages] == [(tmp_path / f"{n}.png").read_bytes() for n in (1, 2, 3)]
    assert "come from elsewhere" in manual.axes
    assert sum(part.count for part in manual.parts) == len(task.targets)
    beginning = make_task(placed, 1, 2)
    assert whole.shown_steps(beginning) == [None, 1, 2]
    torn = Book(tmp_path, tuple(pages[:2]), steps_of(house))
    assert torn.shown([task, beginning]) == [beginning]
    with pytest.raises(BadInputError, match="no page shows step 3"):
        torn.shown([task])
