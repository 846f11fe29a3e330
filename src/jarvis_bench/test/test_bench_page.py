"""The page of one episode: whole, self-contained, honest."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import cv2
import msgspec
import numpy as np
import pytest
from episode_factory import BRICKS, CONNECTIONS, PLATE, SCENE, make_record, target_pose
from jarvis_bench.page import write_episode_page
from jarvis_core.config import load_config
from jarvis_core.episode import EpisodeRecord, PolicyInfo
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual, ManualPage, PartCount
from jarvis_core.objects import GROUND
from jarvis_core.skills import SkillResult
from jarvis_core.status import Status
from jarvis_episode.recording.folder import EpisodeFolder, write_score
from jarvis_episode.recording.video import VideoWriter
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

CONFIG = load_config(Path(__file__).parents[3] / "config" / "score.yaml", ScoreConfig)
VOID = {"meta", "img", "rect", "line", "circle", "path", "br", "link", "input", "hr"}


class Page(HTMLParser):
    """Collects text and attributes; fails on tags that don't nest."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [v or "" for k, v in attrs if k in ("src", "href", "poster", "srcset", "data")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text += data


def png(value: int) -> bytes:
    ok, data = cv2.imencode(".png", np.full((24, 32, 3), value, dtype=np.uint8))
    assert ok
    return data.tobytes()


def make_task(**changes: Any) -> Task:
    placed = [
        PlacedBrick(i, part, colour, pose, step, support, connections)
        for i, (part, colour, pose, _, support, connections, step) in BRICKS.items()
    ]
    scene = PlacedBrick("s1", "3001", 4, PLATE.inverse() @ SCENE.pose, 0, GROUND, (GROUND, "b2"))
    task = Task(
        TASK_SCHEMA,
        "two-towers-s01-s03",
        "two-towers",
        "Two Towers",
        "Ada Example",
        "CC BY 4.0",
        (1, 3),
        (scene,),
        tuple(placed),
    )
    return msgspec.structs.replace(task, **changes)


def make_manual() -> Manual:
    pages = tuple(ManualPage(k, png(200 + 10 * k)) for k in range(4))
    parts = (
        PartCount("3001", "Brick  2 x  4", 1, "Blue", 1),
        PartCount("3003", "Brick  2 x  2", 14, "Yellow", 2),
        PartCount("3020", "Plate  2 x  4", 2, "Green", 1),
    )
    return Manual(pages, parts, "The page's right is the plate's +x.")


def make_folder(root: Path, record: EpisodeRecord, task: Task | None = None, *, full: bool = True) -> Path:
    folder = EpisodeFolder.create(root, record.episode_id)
    if full:
        folder.write_task(task or make_task(), make_manual())
        folder.write_before(png(90))
        folder.write_after(png(120))
        with VideoWriter(folder.video, (64, 48), 10) as video:
            for k in range(5):
                video.add(np.full((48, 64, 3), 40 * k, dtype=np.uint8))
    final = folder.finish(record)
    write_score(final, score(record, CONFIG))
    return final


def page_of(folder: Path) -> tuple[str, Page]:
    path = write_episode_page(folder)
    assert path == folder / "report.html"
    html = path.read_text(encoding="utf-8")
    return html, Page(html)


def test_everything_of_a_full_episode_is_there(tmp_path: Path) -> None:
    html, page = page_of(make_folder(tmp_path, make_record()))
    assert "Two Towers" in page.text
    assert "100.0of 100" in page.text
    assert "All 4 bricks are exactly where the manual shows" in page.text
    for brick in BRICKS:
        assert f"· {brick}" in page.text
    for words in ("Brick 2 x 4", "Blue", "Yellow", "86.2 s of 240 s", "5 calls, 1 failed", "planning failed"):
        assert words in page.text
    assert page.text.count("step 1") == page.text.count("step 3") == 1
    assert [s.split(";")[0] for s in page.sources].count("data:image/png") == 4 + 2
    assert sum(s.startswith("data:video/mp4;base64,") for s in page.sources) == 1
    assert "prefers-color-scheme: dark" in html
    assert 'name="viewport"' in html


def test_the_page_asks_for_nothing_from_outside(tmp_path: Path) -> None:
    html, page = page_of(make_folder(tmp_path, make_record()))
    assert page.sources
    assert all(s.startswith("data:") for s in page.sources)
    assert not re.search(r"https?:|//\w|@import|url\(", re.sub(r"data:[^\"]*", "", html))
    assert "script" not in page.tags


def test_what_must_be_said_is_said(tmp_path: Path) -> None:
    _, page = page_of(make_folder(tmp_path, make_record()))
    assert "not comparable with published results: other tasks, other constants" in page.text
    assert "LEGO is a trademark of the LEGO Group, which does not sponsor" in page.text
    assert "LDraw Parts Library" in page.text
    assert "“Two Towers” by Ada Example, CC BY 4.0" in page.text


@pytest.mark.parametrize(
    ("privileged", "caged", "source", "said", "unsaid"),
    [
        (True, False, "true", ("Privileged", "Uncaged"), ("True scene",)),
        (False, True, "perceived", (), ("Privileged", "Uncaged", "True scene")),
        (False, False, "perceived", ("Uncaged",), ("Privileged",)),
        (False, True, "true", ("True scene",), ("Privileged", "Uncaged")),
    ],
)
def test_privileges_are_labelled(
    tmp_path: Path,
    privileged: bool,
    caged: bool,
    source: str,
    said: tuple[str, ...],
    unsaid: tuple[str, ...],
) -> None:
    record = make_record(policy=PolicyInfo("someone", privileged, caged), scene_source=source)
    _, page = page_of(make_folder(tmp_path, record, full=False))
    header = page.text.split("beside the score")[0]
    assert all(word in header for word in said)
    assert not any(word in header for word in unsaid)


@pytest.mark.parametrize(
    ("outcome", "head"),
    [("crashed", "The policy crashed"), ("cell_error", "The cell failed"), ("stopped", "Stopped at a limit")],
)
def test_how_it_ended_is_said_first(tmp_path: Path, outcome: str, head: str) -> None:
    record = make_record(outcome=outcome, outcome_message="ZeroDivisionError: division by zero")
    _, page = page_of(make_folder(tmp_path, record, full=False))
    assert f"{head} ZeroDivisionError" in page.text


def test_faults_stand_beside_their_bricks(tmp_path: Path) -> None:
    final = {
        "b1": target_pose("b1").translated((0.008, 0, 0)),
        "b2": None,
        "b4": target_pose("b4").translated((0.3, 0, 0)),
    }
    _, page = page_of(make_folder(tmp_path, make_record(final, connections=CONNECTIONS[:2])))
    assert "+8.0 mm in x; not joined to b3" in page.text
    assert "missing at the end" in page.text
    assert "300 mm from its place" in page.text
    # b3 stands where it should in the world, but not on b1.
    assert "0.008.00 on b1" in page.text


def test_only_the_record_and_the_score_are_needed(tmp_path: Path) -> None:
    _, page = page_of(make_folder(tmp_path, make_record(calls=(), events=(), time_s=0.0), full=False))
    assert "two-towers-s01-s03" in page.text
    assert "The manual" not in page.text
    assert "The video" not in page.text
    assert "part 3001" in page.text


def test_hostile_words_stay_words(tmp_path: Path) -> None:
    evil = '"><script>alert(1)</script><img src=x>'
    calls = tuple(
        msgspec.structs.replace(c, result=SkillResult(Status.EXECUTION_FAILED, evil, {}))
        for c in make_record().calls
    )
    record = make_record(
        calls=calls, outcome="crashed", outcome_message=evil, policy=PolicyInfo(evil, False, True)
    )
    html, page = page_of(make_folder(tmp_path, record, make_task(title=evil, author=evil)))
    assert "script" not in page.tags
    assert "<script" not in html
    assert page.text.count(evil) >= 4


def test_a_folder_without_score_or_with_another_one_is_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path, make_record(), full=False)
    fewer = make_record(targets=make_record().targets[:2])
    write_score(folder, score(fewer, CONFIG))
    with pytest.raises(BadInputError, match="not the score of"):
        write_episode_page(folder)
    (folder / "score.json").unlink()
    with pytest.raises(BadInputError, match="no such file"):
        write_episode_page(folder)
    assert not (folder / "report.html").exists()


def test_unknown_colours_and_parts_do_not_stop_the_page(tmp_path: Path) -> None:
    record = make_record()
    targets = tuple(
        msgspec.structs.replace(t, object=msgspec.structs.replace(t.object, colour=4242, kind="x99"))
        if t.object.id == "b1"
        else t
        for t in record.targets
    )
    _, page = page_of(make_folder(tmp_path, make_record(targets=targets)))
    assert "part x99colour 4242" in page.text


def test_a_late_episode_shows_its_loss(tmp_path: Path) -> None:
    html, page = page_of(make_folder(tmp_path, make_record(time_s=480.0), full=False))
    assert "less 20 % for time" in page.text
    assert "20 % lost for the time beyond the budget" in page.text
    widths = [float(w) for w in re.findall(r'class="(?:fill|late)" style="width:([\d.]+)%', html)]
    assert widths[-2:] == [50.0, 50.0]
    assert not any(math.isnan(w) or not 0 <= w <= 100 for w in widths)
