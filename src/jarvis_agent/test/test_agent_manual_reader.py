"""The manual reader on pages drawn here: cameras from words and pixels, places, whole steps, what it may import."""

from __future__ import annotations

import ast
from pathlib import Path

import cv2
import jarvis_agent.manual_reader
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_agent.manual_reader.changes import estimate_fade, unexplained
from jarvis_agent.manual_reader.columns import Columns, FootprintBook
from jarvis_agent.manual_reader.config import ManualReaderConfig
from jarvis_agent.manual_reader.page_camera import estimate_camera
from jarvis_agent.manual_reader.plan import ReadPlan, encode_plan, write_plan
from jarvis_agent.manual_reader.reader import ManualReader
from jarvis_agent.manual_reader.structure import structure_of
from jarvis_agent.manual_reader.words import cameras_in_words
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import PLATE_HEIGHT_M, STUD_PITCH_M
from jarvis_core.cell import PlateConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual, ManualPage, TaskBrief
from jarvis_core.pose import Pose
from jarvis_render.config import ManualConfig
from jarvis_render.pages import render_manual

ALLOWED = {
    "jarvis_core",
    "jarvis_bricks",
    "jarvis_render",
    "jarvis_perception",
    "jarvis_agent",
    "numpy",
    "scipy",
    "cv2",
    "msgspec",
}
#: Of drawing, as everywhere in the project.
DRAWING = {"moderngl", "PIL"}
STANDARD = {
    "__future__",
    "collections",
    "dataclasses",
    "itertools",
    "math",
    "pathlib",
    "re",
    "time",
    "typing",
}
#: Of its own package: the calls that every agent has, in one module alone.
CALLS = {"jarvis_agent.api.answers", "jarvis_agent.config", "jarvis_agent.session", "jarvis_agent.toolbox"}
#: What only declared oracles are given, under any name.
PRIVILEGED = {"true_scene", "targets", "PrivilegedTools", "OracleTools"}
STUDS = (16, 16)
PLATE = PlateConfig(pose=Pose(), studs=STUDS, thickness_m=0.0032)
RED, BLUE, YELLOW, WHITE, BLACK, GREY = 4, 1, 14, 15, 0, 71


def brick(part: str, colour: int, x: float, y: float, z_plates: int, yaw: int = 0, step: int = 0) -> Brick:
    """A brick whose part frame lies at studs x, y and so many plates up, turned by quarters."""
    pose = Pose.from_yaw((x * STUD_PITCH_M, y * STUD_PITCH_M, z_plates * PLATE_HEIGHT_M), yaw * np.pi / 2)
    return Brick(f"{part}-{x}-{y}-{z_plates}", part, colour, pose, step)


#: A wall to begin with; then one brick, two side by side, and a stack.
STEPS = [
    [brick("3001", RED, 0, 0, 3), brick("3003", WHITE, -3, 0, 3)],
    [brick("3003", YELLOW, 1, 0, 6)],
    [brick("3001", BLUE, -2, 0, 6), brick("3020", WHITE, 0, 3, 1, yaw=1)],
    [brick("3003", RED, -3, -4, 3), brick("3022", BLUE, -3, -4, 4)],
]


@pytest.fixture(scope="module")
def catalogue() -> PartCatalogue:
    return PartCatalogue(None, cache=None)


@pytest.fixture(scope="module")
def config() -> ManualReaderConfig:
    return load_default("manual_reader", ManualReaderConfig)


@pytest.fixture(scope="module")
def manual(catalogue: PartCatalogue) -> Manual:
    look = load_default("manual", ManualConfig)
    return render_manual(STEPS, PLATE, catalogue, catalogue.colours, look)


@pytest.fixture(scope="module")
def short(manual: Manual) -> Manual:
    """Its first step alone."""
    first = STEPS[1][0]
    parts = tuple(line for line in manual.parts if (line.part, line.colour) == (first.part, first.colour))
    return msgspec.structs.replace(manual, pages=manual.pages[:2], parts=parts)


def decoded(page: ManualPage) -> np.ndarray:
    image = cv2.imdecode(np.frombuffer(page.png, np.uint8), cv2.IMREAD_COLOR)
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB)


def read(
    manual: Manual, catalogue: PartCatalogue, config: ManualReaderConfig, structure: list[Brick] | None = None
) -> ReadPlan:
    brief = TaskBrief("drawn", manual, 5, 100.0)
    standing = STEPS[0] if structure is None else structure
    return ManualReader(catalogue, config).read(brief, structure_of(standing, catalogue, STUDS))


def placed(plan: ReadPlan) -> list[set[tuple[str, int, tuple[float, ...]]]]:
    """By step: part, colour, position in tenths of a millimetre."""
    return [
        {
            (b.place.part, b.place.colour, tuple(np.round(b.place.pose.position * 1e4).tolist()))
            for b in step.bricks
        }
        for step in plan.steps
    ]


def wanted() -> list[set[tuple[str, int, tuple[float, ...]]]]:
    return [
        {(b.part, b.colour, tuple(np.round(b.pose.position * 1e4).tolist())) for b in step}
        for step in STEPS[1:]
    ]


def test_reads_single_bricks_pairs_and_stacks(
    manual: Manual, catalogue: PartCatalogue, config: ManualReaderConfig
) -> None:
    plan = read(manual, catalogue, config)
    assert placed(plan) == wanted()
    assert plan.understood
    assert not plan.unused
    assert not plan.doubts()
    assert all(0.3 < b.confidence <= 1.0 for step in plan.steps for b in step.bricks)


def test_a_brick_that_the_next_one_hides_is_read_too(
    catalogue: PartCatalogue, config: ManualReaderConfig
) -> None:
    """Of a brick under the middle of a plate little more than a corner shows."""
    base = [brick("3036", BLACK, -3, 0, 1)]
    step = [brick("3003", BLACK, -3, 0, 4), brick("3031", GREY, -3, 0, 5)]
    manual = render_manual(
        [base, step], PLATE, catalogue, catalogue.colours, load_default("manual", ManualConfig)
    )
    plan = read(manual, catalogue, config, structure=base)
    want = {(b.part, b.colour, tuple(np.round(b.pose.position * 1e4).tolist())) for b in step}
    assert placed(plan) == [want]
    assert plan.understood


def test_reads_without_the_words(short: Manual, catalogue: PartCatalogue, config: ManualReaderConfig) -> None:
    camera = msgspec.structs.replace(config.camera, words=False)
    plan = read(short, catalogue, msgspec.structs.replace(config, camera=camera))
    assert placed(plan) == wanted()[:1]
    assert "estimated" in plan.camera[0]


def test_a_page_that_shows_something_else_is_no_guess_without_a_flag(
    short: Manual, catalogue: PartCatalogue, config: ManualReaderConfig
) -> None:
    """The plate seen is bare: what the pages show standing on the wall can rest nowhere."""
    plan = read(short, catalogue, config, structure=[])
    assert not plan.steps[0].understood or placed(plan)[0] == wanted()[0]
    assert not plan.understood
    assert plan.doubts()


def test_pages_of_an_unknown_view_are_said_to_be(
    manual: Manual, catalogue: PartCatalogue, config: ManualReaderConfig
) -> None:
    blank = cv2.imencode(".png", np.full((512, 512, 3), 255, np.uint8))[1].tobytes()
    pages = tuple(ManualPage(k, blank) for k in range(2))
    plan = read(msgspec.structs.replace(manual, pages=pages, axes="not known"), catalogue, config)
    assert not plan.understood
    assert not plan.steps[0].bricks
    assert any("camera" in doubt for doubt in plan.doubts())


def test_bad_pages_are_refused(manual: Manual, catalogue: PartCatalogue, config: ManualReaderConfig) -> None:
    with pytest.raises(BadInputError, match="no image"):
        read(msgspec.structs.replace(manual, pages=(ManualPage(0, b"no picture"),)), catalogue, config)
    with pytest.raises(BadInputError, match="no pages"):
        read(msgspec.structs.replace(manual, pages=()), catalogue, config)


@pytest.mark.parametrize("style", ["classic", "faded", "line_art"])
def test_the_camera_is_found_in_the_page(
    style: str, catalogue: PartCatalogue, config: ManualReaderConfig
) -> None:
    look = load_default("manual", ManualConfig).styled(style)
    manual = render_manual(STEPS[:1], PLATE, catalogue, catalogue.colours, look)
    told = cameras_in_words(manual.axes, len(manual.pages))[0]
    found = estimate_camera(decoded(manual.pages[0]), config.camera)
    assert told is not None
    assert found is not None
    corners = np.array([[x, y, z] for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (0.0, 0.05)])
    off = np.abs(found.view.project(corners) - told.view.project(corners))
    assert off.max() < 1.5, f"{style}: {off.max():.2f} px off"


def test_nothing_is_new_on_the_same_page(manual: Manual, config: ManualReaderConfig) -> None:
    page = decoded(manual.pages[1])
    assert unexplained(page, [page], 0.3, config.search.tolerance).max() == 0.0


def test_the_fade_of_earlier_bricks_is_found(manual: Manual) -> None:
    assert estimate_fade(decoded(manual.pages[1]), decoded(manual.pages[0])) == pytest.approx(0.3, abs=0.051)


@settings(deadline=None, max_examples=25)
@given(
    x=st.integers(-4, 3),
    y=st.integers(-4, 3),
    yaw=st.integers(0, 1),
    under=st.sampled_from(["3001", "3003", "3004", "3022"]),
)
def test_a_brick_rests_on_what_stands_below(x: int, y: int, yaw: int, under: str) -> None:
    """Put down on a plate with one brick, any brick rests on the plate or on top of that brick, never inside."""
    catalogue = PartCatalogue(None, cache=None)
    shape = next(
        f for f in FootprintBook(catalogue).of(under) if f.yaw == (yaw if under in ("3001", "3004") else 0)
    )
    bare = Columns.of(structure_of([], catalogue, STUDS))
    places = bare.places(shape)
    index = int(np.flatnonzero((places.cells == (x + 8, y + 8)).all(axis=1))[0])
    standing = brick(under, RED, 0, 0, 0)
    pose = Pose(
        tuple(places.positions[index].tolist()), Pose.from_yaw((0, 0, 0), shape.yaw * np.pi / 2).quaternion
    )
    columns = Columns.of(structure_of([msgspec.structs.replace(standing, pose=pose)], catalogue, STUDS))
    height = round(float(-catalogue.geometry(under).bounds[0, 2] / PLATE_HEIGHT_M))
    assert set(np.unique(columns.heights)) == {0, height}
    assert int((columns.heights > 0).sum()) == len(shape.cells)
    for other in FootprintBook(catalogue).of("3003"):
        found = columns.places(other)
        assert set(found.levels.tolist()) <= {3, 3 + height}


def test_plans_are_written_as_data(
    short: Manual, catalogue: PartCatalogue, config: ManualReaderConfig, tmp_path: Path
) -> None:
    plan = read(short, catalogue, config)
    write_plan(plan, tmp_path / "plan.json")
    document = msgspec.json.decode((tmp_path / "plan.json").read_bytes())
    assert document == msgspec.json.decode(encode_plan(plan))
    assert [len(step["bricks"]) for step in document["steps"]] == [len(step) for step in STEPS[1:2]]
    assert len(document["steps"][0]["bricks"][0]["place"]["pose"]) == 7


def test_the_reader_knows_neither_tasks_nor_the_simulator_nor_the_score() -> None:
    folder = Path(next(iter(jarvis_agent.manual_reader.__path__)))
    found: dict[str, set[str]] = {}
    said: set[str] = set()
    for file in folder.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                found.setdefault(name, set()).add(file.name)
            if isinstance(node, ast.Attribute | ast.Name):
                said.add(node.attr if isinstance(node, ast.Attribute) else node.id)
            if isinstance(node, ast.ImportFrom):
                said |= {alias.name for alias in node.names}
    tops = {name.split(".")[0] for name in found}
    assert tops <= ALLOWED | DRAWING | STANDARD, found
    assert not said & PRIVILEGED
    own = {
        n for n in found if n.startswith("jarvis_agent") and not n.startswith("jarvis_agent.manual_reader")
    }
    assert own <= CALLS, own
    assert set().union(*(found[name] for name in own)) == {"policy.py"}
