"""How the manual reader builds: order, what carries what, mending, giving up. The calls answer without a robot."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from agent_bench import fake_tools
from jarvis_agent.manual_reader.builder import Builder, BuiltBrick
from jarvis_agent.manual_reader.config import ManualReaderConfig
from jarvis_agent.manual_reader.plan import ReadBrick, ReadPlace, ReadPlan, ReadStep
from jarvis_agent.manual_reader.policy import PLAN_FILE, READING_FILE, ManualReaderPolicy
from jarvis_agent.manual_reader.structure import structure_of
from jarvis_agent.registry import make_policy
from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.manual import TaskBrief
from jarvis_core.objects import Box, RigidObject
from jarvis_core.ports import PrivilegedTools
from jarvis_core.pose import Pose
from jarvis_render.config import ManualConfig
from jarvis_render.pages import render_manual

PLATE = Pose((0.5, 0.1, 0.0))
RED, BLUE = 4, 1
STUD, PLATE_HIGH = 0.008, 0.0032


def place(x: int, level: int, *, part: str = "3001", colour: int = RED, gain: float = 100.0) -> ReadPlace:
    """A brick so many studs from the plate's middle, its underside so many plates up."""
    return ReadPlace(part, colour, Pose((x * STUD, 0.0, (level + 3) * PLATE_HIGH)), gain)


def plan(*steps: list[ReadBrick]) -> ReadPlan:
    return ReadPlan(
        "drawn", tuple(ReadStep(k + 1, tuple(bricks), 1.0, True) for k, bricks in enumerate(steps))
    )


def read(best: ReadPlace, *others: ReadPlace) -> ReadBrick:
    return ReadBrick(best, 1.0, others)


class Cell:
    """Answers as the primitives layer does: bricks by id, and what happens to them as the test says.

    Args:
        fails: told a call's name, brick and pose; the facts of a failed action, or None where it goes well.
    """

    def __init__(
        self,
        *loose: tuple[str, str, int],
        fails: Callable[[str, str, Pose], dict[str, Any] | None] = lambda *_: None,
        fallen: tuple[str, ...] = (),
    ) -> None:
        self.bricks = {name: (part, colour, Pose((0.3, -0.2, 0.0096))) for name, part, colour in loose}
        self.fails = fails
        self.fallen = set(fallen)
        self.held = ""
        self.looks: dict[str, dict[str, Any]] = {}
        self.standing: dict[str, Pose] = {}
        self.log: list[tuple[str, str]] = []

    def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        answer: dict[str, Any] = getattr(self, name)(**arguments)
        return {"ok": True, "reason": "", "facts": {}} | answer

    def next_step(self) -> dict[str, Any]:
        return {}

    def home(self) -> dict[str, Any]:
        return {}

    def find_brick(self, part: str) -> dict[str, Any]:
        found = [
            {"id": name, "colour": colour, "pose": pose.to_list()}
            for name, (kind, colour, pose) in self.bricks.items()
            if kind == part and name not in self.standing
        ]
        return {"bricks": found}

    def plan_grasp(self, brick_id: str, pose: Pose) -> dict[str, Any]:
        return {"ok": self.fails("plan_grasp", brick_id, pose) is None}

    def describe_brick(self, brick_id: str) -> dict[str, Any]:
        brick = self.bricks.get(brick_id)
        return {"ok": brick is not None, "brick": brick and {"pose": brick[2].to_list()}}

    def pick_and_place(self, brick_id: str, pose: Pose) -> dict[str, Any]:
        return self._act("pick_and_place", brick_id, pose)

    def place(self, pose: Pose) -> dict[str, Any]:
        return self._act("place", self.held, pose)

    def remove(self, brick_id: str) -> dict[str, Any]:
        self.log.append(("remove", brick_id))
        self.held = brick_id
        self.fallen.discard(brick_id)
        return {"facts": {"held": True}}

    def check_step(self) -> dict[str, Any]:
        return {"placements": [self.seen(name) for name in self.standing]}

    def seen(self, name: str) -> dict[str, Any]:
        bad = name in self.fallen
        error = {"error_m": 0.1 if bad else 0.0, "error_rad": 0.0}
        return {"id": name, "seen": True, "ok": not bad} | error | self.looks.get(name, {})

    def _act(self, name: str, brick: str, pose: Pose) -> dict[str, Any]:
        self.log.append((name, brick))
        facts = self.fails(name, brick, pose)
        self.held = brick if facts and facts.get("held") else ""
        if facts is not None:
            return {"ok": False, "reason": "it was told to fail", "facts": facts}
        self.standing[brick] = pose
        return {}


def build(cell: Cell, what: ReadPlan) -> tuple[list[BuiltBrick], str]:
    config = load_default("manual_reader", ManualReaderConfig).building
    return Builder(cell, PLATE, PartCatalogue(None, cache=None), config).build(what)


def states(bricks: list[BuiltBrick]) -> list[str]:
    return [brick.state for brick in bricks]


def test_what_carries_comes_before_what_it_carries() -> None:
    cell = Cell(("top", "3003", BLUE), ("low", "3001", RED))
    bricks, said = build(cell, plan([read(place(0, 3, part="3003", colour=BLUE)), read(place(0, 0))]))
    assert states(bricks) == ["placed", "placed"]
    assert [name for _, name in cell.log] == ["low", "top"]
    assert cell.standing["top"].is_close(PLATE @ Pose((0.0, 0.0, 6 * PLATE_HIGH)))
    assert said == "2 of 2 bricks that were read are placed"


def test_of_what_could_stand_now_comes_first_what_can_be_gripped() -> None:
    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        return {} if name == "plan_grasp" and brick == "a" and "b" not in cell.standing else None

    cell = Cell(("a", "3001", RED), ("b", "3003", RED), fails=fails)
    bricks, _ = build(cell, plan([read(place(0, 0)), read(place(5, 0, part="3003"))]))
    assert [name for _, name in cell.log] == ["b", "a"]
    assert [(b.part, b.id) for b in bricks] == [("3001", "a"), ("3003", "b")]


def test_the_colour_read_is_taken_and_another_only_where_it_is_missing() -> None:
    cell = Cell(("blue", "3001", BLUE), ("red", "3001", RED))
    bricks, _ = build(cell, plan([read(place(0, 0))], [read(place(6, 0))]))
    assert [b.id for b in bricks] == ["red", "blue"]


def test_a_brick_that_nobody_sees_is_said_to_be_absent_and_what_it_carries_is_left() -> None:
    cell = Cell(("top", "3003", BLUE))
    what = plan([read(place(0, 0))], [read(place(0, 3, part="3003", colour=BLUE))])
    bricks, _ = build(cell, what)
    assert states(bricks) == ["absent", "unsupported"]
    assert not cell.log


def test_a_brick_still_in_the_hand_is_placed_again_without_a_second_grasp() -> None:
    tries: list[str] = []

    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        tries.append(name)
        return {"held": True} if name == "pick_and_place" else None

    bricks, _ = build(Cell(("a", "3001", RED), fails=fails), plan([read(place(0, 0))]))
    assert tries == ["plan_grasp", "pick_and_place", "place"]
    assert states(bricks) == ["placed"]
    assert bricks[0].mended


def test_the_next_reading_is_tried_and_one_that_explains_little_is_not() -> None:
    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        good = name == "plan_grasp" or pose.is_close(PLATE @ place(4, 0).pose)
        return None if good else {"held": True}

    readings = read(place(0, 0), place(2, 0, gain=20.0), place(4, 0, gain=90.0))
    cell = Cell(("a", "3001", RED), fails=fails)
    bricks, _ = build(cell, plan([readings]))
    assert (bricks[0].state, bricks[0].reading) == ("placed", 2)
    assert len(cell.log) == 3


def test_a_brick_that_can_be_put_nowhere_goes_back_and_the_rest_is_built() -> None:
    away = PLATE @ place(0, 0).pose

    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        return {"held": True} if name != "plan_grasp" and pose.is_close(away) else None

    cell = Cell(("a", "3001", RED), ("b", "3003", RED), fails=fails)
    bricks, _ = build(cell, plan([read(place(0, 0)), read(place(6, 0, part="3003"))]))
    assert states(bricks) == ["failed", "placed"]
    assert cell.standing["a"].is_close(Pose((0.3, -0.2, 0.0096)))


def test_a_brick_that_stays_in_the_hand_ends_the_build() -> None:
    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        return None if name == "plan_grasp" else {"held": True}

    cell = Cell(("a", "3001", RED), ("b", "3003", RED), fails=fails)
    bricks, said = build(cell, plan([read(place(0, 0))], [read(place(6, 0, part="3003"))]))
    assert states(bricks) == ["failed", "failed"]
    assert "given up: a can be put down nowhere" in said
    assert {name for _, name in cell.log} == {"a"}


def test_what_does_not_stand_where_it_was_placed_is_taken_off_and_placed_once_more() -> None:
    cell = Cell(("a", "3001", RED), fallen=("a",))
    bricks, _ = build(cell, plan([read(place(0, 0))]))
    assert cell.log == [("pick_and_place", "a"), ("remove", "a"), ("place", "a")]
    assert (bricks[0].state, bricks[0].mended) == ("placed", True)


def test_a_pose_that_looks_the_same_is_taken_where_the_first_can_not_be_reached() -> None:
    first = PLATE @ place(0, 0).pose

    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        return {} if pose.is_close(first) else None

    cell = Cell(("a", "3001", RED), fails=fails)
    bricks, _ = build(cell, plan([read(place(0, 0))]))
    assert (bricks[0].state, bricks[0].mended) == ("placed", False)
    turned = cell.standing["a"]
    assert turned.distance_to(first) < 1e-9
    assert turned.angle_to(first) == pytest.approx(np.pi)


def test_a_brick_that_slipped_away_is_looked_for_and_another_of_its_kind_taken() -> None:
    cell = Cell(("a", "3001", RED), ("b", "3001", RED))

    def fails(name: str, brick: str, pose: Pose) -> dict[str, Any] | None:
        if name == "plan_grasp" or brick == "b":
            return None
        cell.bricks.pop("a", None)
        return {"held": False}

    cell.fails = fails
    bricks, _ = build(cell, plan([read(place(0, 0))]))
    assert cell.log == [("pick_and_place", "a"), ("pick_and_place", "b")]
    assert (bricks[0].state, bricks[0].id) == ("placed", "b")


def test_what_carries_another_is_not_taken_off_for_what_can_not_be_seen() -> None:
    cell = Cell(("top", "3003", BLUE), ("low", "3001", RED), fallen=("low",))
    bricks, _ = build(cell, plan([read(place(0, 3, part="3003", colour=BLUE)), read(place(0, 0))]))
    assert states(bricks) == ["placed", "placed"]
    assert ("remove", "low") not in cell.log


@pytest.mark.parametrize(
    ("part", "error_m", "turned_deg", "stands"),
    [
        ("3003", 0.0, 90.0, True),
        ("3003", 0.0, 45.0, False),
        ("3001", 0.0, 90.0, False),
        ("3062b", 0.0, 37.0, True),
        ("3062b", 0.004, 0.0, False),
    ],
)
def test_a_turn_that_a_part_does_not_show_is_nothing_to_mend(
    part: str, error_m: float, turned_deg: float, stands: bool
) -> None:
    cell = Cell(("a", part, RED))
    cell.looks["a"] = {"ok": False, "error_m": error_m, "error_rad": np.radians(turned_deg)}
    bricks, _ = build(cell, plan([read(place(0, 0, part=part))]))
    assert states(bricks) == ["placed" if stands else "failed"]
    assert (("remove", "a") in cell.log) != stands


@pytest.fixture(scope="module")
def drawn() -> tuple[TaskBrief, Brick]:
    """One red brick on a bare plate, as a manual of this cell shows it."""
    cell, catalogue = load_default("cell", CellConfig), PartCatalogue(None, cache=None)
    brick = Brick("b", "3001", RED, Pose((2 * STUD, STUD, 3 * PLATE_HIGH)), 1)
    look = load_default("manual", ManualConfig)
    manual = render_manual([[], [brick]], cell.plate, catalogue, catalogue.colours, look)
    return TaskBrief("drawn", manual, 1, 100.0), brick


def test_the_policy_reads_builds_and_leaves_its_plan(
    drawn: tuple[TaskBrief, Brick], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief, brick = drawn
    cell = load_default("cell", CellConfig)
    bare = structure_of([], PartCatalogue(None, cache=None), cell.plate.studs)
    monkeypatch.setattr(ManualReaderPolicy, "_structure", lambda self, tools: bare)
    box = Box(Pose((0.0, 0.0, -0.0048)), (0.032, 0.016, 0.0096))
    tools = fake_tools(RigidObject("seen-001", "3001", RED, Pose((0.4, -0.2, 0.0096)), (box,)))
    tools.brief.return_value = brief
    policy = make_policy("manual_reader")
    assert isinstance(policy, ManualReaderPolicy)
    assert (policy.privileged, policy.caged) == (False, False)
    policy.keep_in(tmp_path / "agent")
    policy.run(tools)
    name, pose = tools.pick_and_place.call_args_list[0].args
    assert name == "seen-001"
    assert np.allclose(pose.position, (cell.plate.pose @ brick.pose).position, atol=1e-6)
    step = json.loads((tmp_path / "agent" / PLAN_FILE).read_text())["steps"]
    assert [(s["part"], s["colour"], s["x_studs"], s["y_studs"], s["level_plates"]) for s in step] == [
        ("3001", RED, 2.0, 1.0, 0.0)
    ]
    assert (tmp_path / "agent" / READING_FILE).is_file()
    report = msgspec.json.decode((tmp_path / "agent" / "report.json").read_bytes())
    # These tools say that it went well, and show the brick where it lay: what is seen counts.
    assert report["message"] == "0 of 1 bricks that were read are placed"
    # Nothing that only an oracle has was so much as asked for.
    assert {call[0] for call in tools.mock_calls} & {"true_scene", "targets"} == set()
    assert not isinstance(tools, PrivilegedTools)


def test_where_nobody_sees_bricks_the_plan_is_left_and_nothing_moves(
    drawn: tuple[TaskBrief, Brick], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    studs = load_default("cell", CellConfig).plate.studs
    bare = structure_of([], PartCatalogue(None, cache=None), studs)
    monkeypatch.setattr(ManualReaderPolicy, "_structure", lambda self, tools: bare)
    tools = fake_tools()
    tools.brief.return_value = drawn[0]
    tools.scene.side_effect = RefusedError("this cell has no perception")
    policy = ManualReaderPolicy()
    policy.keep_in(tmp_path)
    policy.run(tools)
    assert (tmp_path / PLAN_FILE).is_file()
    assert "nothing was built" in json.loads((tmp_path / "report.json").read_text())["message"]
    tools.pick_and_place.assert_not_called()
