"""The page of one task: whole, self-contained, without false zeros."""

import io
import math
import re
from pathlib import Path

import pytest
from jarvis_bench.task_page import (
    Pictures,
    Standing,
    degrees,
    draw_pictures,
    millimetres,
    placed_rows,
    write_task_page,
)
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.colours import ColourTable
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.manual import Manual, ManualPage, PartCount
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_render.config import ManualConfig
from jarvis_tasks.difficulty import DifficultyScale
from jarvis_tasks.selection import Stratum
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from PIL import Image


def brick(name: str, step: int, x: float, z: float, support: str = GROUND) -> PlacedBrick:
    pose = Pose((x, -1e-9, z), (0, 0, -math.sqrt(0.5), math.sqrt(0.5)))
    return PlacedBrick(name, "3001", 4, pose, step, support, (support,))


@pytest.fixture
def task() -> Task:
    scene = (brick("b001", 0, 0.0, 0.0096),)
    targets = (brick("b002", 1, 0.0, 0.0192, "b001"), brick("b003", 2, 0.048, 0.0096))
    words = ("toy-s02-s03", "toy", "A <b>toy</b>", "me & you", "CC BY 4.0")
    return Task(TASK_SCHEMA, *words, (2, 3), scene, targets)


@pytest.fixture
def manual() -> Manual:
    pages = tuple(ManualPage(n, b"png") for n in range(3))
    return Manual(pages, (PartCount("3001", "Brick  2 x  4", 4, "Red", 2),), "x goes right")


def page_of(tmp_path: Path, task: Task, manual: Manual, standing: Standing | None = None) -> str:
    path = tmp_path / "page.html"
    write_task_page(path, task, manual, Pictures(b"start", b"target"), ColourTable.load(None), standing)
    return path.read_text(encoding="utf-8")


def test_everything_of_a_task_is_there(tmp_path: Path, task: Task, manual: Manual) -> None:
    html = page_of(tmp_path, task, manual)
    assert html.count("<img ") == 2 + 3
    for words in ("toy-s02-s03", "Brick 2 x 4", "b003", "the plate", "x goes right", "step 2", "CC BY 4.0"):
        assert words in html
    assert "-0.0" not in html
    assert "<b>toy</b>" not in html
    assert "difficulty D" not in html


def test_the_page_asks_for_nothing_from_outside(tmp_path: Path, task: Task, manual: Manual) -> None:
    html = page_of(tmp_path, task, manual)
    assert all(source.startswith("data:") for source in re.findall(r'(?:src|href)="([^"]*)"', html))
    assert "url(" not in html
    assert "@import" not in html


def test_a_suite_tells_how_hard_it_is(tmp_path: Path, task: Task, manual: Manual) -> None:
    strata = (Stratum("Easy", 4, 2, 0.0, 0.4, 1), Stratum("Hard", 4, 2, 0.5, 1.0, 1))
    standing = Standing("toys", "Hard", 0.625, DifficultyScale(0.3, (0, 4), (1, 3)), strata)
    html = page_of(tmp_path, task, manual, standing)
    assert "0.625" in html
    assert "Hard in <code>toys</code>" in html
    assert re.findall(r'fill" style="width:([\d.]+)%', html) == ["50.00", "25.00"]


def test_figures_have_no_false_zeros() -> None:
    assert [millimetres(v) for v in (-1e-9, -0.0, 0.0096, -0.0004)] == ["0.0", "0.0", "9.6", "-0.4"]
    assert [degrees(math.radians(v)) for v in (-0.2, 90, -180, 179.9)] == ["0", "90", "180", "180"]


def test_rows_are_in_millimetres_and_degrees(task: Task, manual: Manual) -> None:
    first, second = placed_rows(task, manual, ColourTable.load(None))
    assert (first.x, first.y, first.z, first.yaw, first.support) == ("0.0", "0.0", "19.2", "-90", "b001")
    assert (second.x, second.support, second.joined) == ("48.0", "the plate", "–")


def test_both_pictures_are_from_one_side_at_one_scale(task: Task) -> None:
    plate = load_default("cell", CellConfig).plate
    drawn = draw_pictures(task, plate, PartCatalogue(None), load_default("manual", ManualConfig))
    start, target = (Image.open(io.BytesIO(png)).convert("RGB") for png in (drawn.start, drawn.target))
    assert start.size == target.size
    # The plate's corners look the same in both: only bricks differ.
    corner = (0, start.height * 3 // 4, start.width // 3, start.height)
    assert start.crop(corner).tobytes() == target.crop(corner).tobytes()
    assert start.tobytes() != target.tobytes()
