"""The tool layers: what they ask of the tools, what they answer, and what is said about them."""

from __future__ import annotations

import json
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from agent_bench import BUILT, LOOSE, PLATE, brick, config, fake_tools
from jarvis_agent.api import studs
from jarvis_agent.api.answers import Answer
from jarvis_agent.api.common import AgentFinished
from jarvis_agent.api.docs import EXAMPLES, documentation
from jarvis_agent.api.layer import calls_of
from jarvis_agent.api.transcript import Transcript
from jarvis_agent.check import check_program
from jarvis_agent.toolbox import LAYERS, Layer, Toolbox
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillResult
from jarvis_core.status import Status
from jarvis_episode.tools import EpisodeOverError

CELL = load_default("cell", CellConfig)
POSE = [0.5, 0.1, 0.05, 0.0, 0.0, 0.0, 1.0]


def box(tools: Any = None, layer: Layer = Layer.PRIMITIVES, transcript: Transcript | None = None) -> Toolbox:
    return Toolbox(fake_tools() if tools is None else tools, layer, CELL, config(), transcript)


# -- every call of every layer

CALLS = [(layer, call) for layer, kind in LAYERS.items() for call in calls_of(kind).values()]
ARGUMENTS: dict[str, Any] = {
    "step": 1, "brick_id": "red", "pose": POSE, "width_m": 0.03, "message": "done", "every": 1, "speed": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(("layer", "call"), CALLS, ids=lambda value: getattr(value, "name", str(value)))
class TestEveryCall:
    def test_is_described(self, layer: Layer, call: Any) -> None:
        assert call.summary.endswith((".", ":"))
        assert issubclass(call.returns, Answer)
        for parameter in call.signature.parameters:
            assert parameter in {
                **ARGUMENTS,
                "part": 0,
                "colour": 0,
                "where": 0,
                "support": 0,
            } or parameter in (
                "x_studs",
                "y_studs",
                "quarter_turns",
            )
        words = documentation(LAYERS[layer], max_calls=7, imports=("numpy",))
        assert f"### {call.name}\n" in words
        assert f"### {call.returns.__name__}\n" in words

    def test_answers_with_data(self, layer: Layer, call: Any) -> None:
        toolbox = box(layer=layer)
        arguments = {name: ARGUMENTS[name] for name in call.signature.parameters if name in ARGUMENTS}
        jsonschema.validate(arguments, call.schema)
        if call.name == "finish":
            with pytest.raises(AgentFinished, match="done"):
                toolbox.call("finish", arguments)
            return
        answer = toolbox.call(call.name, arguments)
        assert list(answer)[:3] == ["ok", "status", "reason"]
        assert answer["ok"] is (answer["status"] == "SUCCEEDED")
        assert set(answer) == {"ok", *call.returns.__struct_fields__}
        json.dumps(answer, default=lambda value: value.tolist())

    def test_refuses_unknown_arguments(self, layer: Layer, call: Any) -> None:
        toolbox = box(layer=layer)
        with pytest.raises(BadInputError, match=rf"{call.name}\(.*unknown field|missing required"):
            toolbox.call(call.name, {"nonsense": 1})
        assert toolbox.usage.bad == toolbox.usage.calls == 1

    def test_failing_tools_are_an_answer_not_an_error(self, layer: Layer, call: Any) -> None:
        tools = fake_tools()
        refused = SkillResult(Status.PLANNING_FAILED, "no way", {"held": False})
        for name in ("remove", "press", "pick", "place", "pick_and_place", "move_to", "home", "grip"):
            getattr(tools, name).side_effect = None
            getattr(tools, name).return_value = refused
        for name in ("scene", "plan_grasp", "reach"):
            getattr(tools, name).side_effect = RefusedError("this cell has no perception")
        toolbox = box(tools, layer)
        arguments = {name: ARGUMENTS[name] for name in call.signature.parameters if name in ARGUMENTS}
        if call.name in (
            "finish",
            "task",
            "budget",
            "manual_page",
            "look",
            "image",
            "cloud",
            "state",
            "next_step",
        ):
            return
        answer = toolbox.call(call.name, arguments)
        assert not answer["ok"]
        assert answer["reason"] in (
            "no way",
            "this cell has no perception",
            "the hand is empty; pick something first",
        )
        assert toolbox.usage.failed == 1


@pytest.mark.parametrize("layer", LAYERS)
def test_the_documentation_s_example_keeps_the_rules(layer: Layer) -> None:
    example = EXAMPLES[LAYERS[layer].__name__]
    check_program(example, calls_of(LAYERS[layer]), config().imports, where="example")


# -- counting and limits


def test_calls_failures_and_mistakes_are_counted() -> None:
    toolbox = box()
    toolbox.call("budget", {})
    assert not toolbox.call("pick", {"brick_id": "nobody"})["ok"]
    with pytest.raises(BadInputError, match="there is no call 'teleport'"):
        toolbox.call("teleport", {})
    used = toolbox.usage.record()
    assert (used.calls, used.failed, used.bad) == (3, 1, 1)
    assert used.by_name == {"budget": 1, "pick": 1, "?": 1}
    told = toolbox.call("budget", {})
    assert (told["calls"], told["failed"], told["calls_left"]) == (4, 1, config().max_calls - 4)


def test_the_last_call_is_the_last() -> None:
    few = msgspec.structs.replace(config(), max_calls=2)
    toolbox = Toolbox(fake_tools(), Layer.PRIMITIVES, CELL, few)
    toolbox.call("budget", {})
    toolbox.call("budget", {})
    with pytest.raises(EpisodeOverError, match="limit of 2 calls"):
        toolbox.call("finish", {})


def test_everything_is_written_down_with_pictures(tmp_path: Path) -> None:
    transcript = Transcript(tmp_path)
    toolbox = box(transcript=transcript)
    toolbox.call("look", {})
    toolbox.call("pick", {"brick_id": "red"})
    with pytest.raises(BadInputError):
        toolbox.call("pick", {"brick_id": 7})
    with pytest.raises(AgentFinished):
        toolbox.call("finish", {"message": "enough"})
    transcript.close()
    lines = [json.loads(line) for line in (tmp_path / "transcript.jsonl").read_text().splitlines()]
    assert [line["call"] for line in lines] == ["look", "pick", "pick", "finish"]
    picture = tmp_path / lines[0]["answer"]["image"]["image"]
    assert picture.read_bytes().startswith(b"\xff\xd8")
    assert lines[2]["arguments"] == {"brick_id": 7}
    assert "Expected `str`" in lines[2]["answer"]["refused"]
    assert lines[3]["answer"] == {"ended": "enough"}


# -- bricks


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["red", "blue"]),
        ({"where": "any"}, ["red", "blue", "base"]),
        ({"where": "built"}, ["base"]),
        ({"where": "held"}, []),
        ({"part": "3001"}, ["red"]),
        ({"part": "3001.DAT"}, ["red"]),
        ({"colour": "red"}, ["red"]),
        ({"colour": "4", "where": "any"}, ["red", "base"]),
        ({"colour": "Blue", "part": "3004"}, ["blue"]),
        ({"part": "9999"}, []),
    ],
)
def test_bricks_are_found_by_part_colour_and_place(asked: dict[str, str], found: list[str]) -> None:
    answer = box().call("find_brick", asked)
    assert answer["ok"]
    assert [b["id"] for b in answer["bricks"]] == found
    assert answer["source"] == "perceived"


def test_a_brick_is_described() -> None:
    top = brick("top", "3003", 4, (0.016, 0.016, 0.0096), PLATE @ Pose((0.008, 0.008, 0.0192)))
    side = brick("side", "3003", 4, (0.016, 0.016, 0.0096), PLATE @ Pose((0.024, 0.008, 0.0096)))
    told = box(fake_tools(BUILT, top, side, LOOSE)).call("describe_brick", {"brick_id": "base"})
    assert told["centre_studs"] == pytest.approx((1.0, 1.0))
    assert told["quarter_turns"] == 0
    assert (told["under"], told["above"], told["beside"]) == ([GROUND], ["top"], ["side"])
    assert told["bottom_m"] == pytest.approx(0.0032)
    assert told["top_m"] == pytest.approx(0.0128)
    missing = box().call("describe_brick", {"brick_id": "nobody"})
    assert missing["status"] == "PRECONDITION_FAILED"
    assert "seen: red, blue, base" in missing["reason"]


@cache
def one_brick() -> Any:
    return fake_tools(LOOSE)


@settings(deadline=None, max_examples=60)
@given(x=st.integers(-10, 10), y=st.integers(-10, 10), turns=st.integers(-5, 9), half=st.booleans())
def test_poses_on_the_plate_stand_where_they_are_counted(x: int, y: int, turns: int, half: bool) -> None:
    """Footprint, height and grid of a 2x4 brick, whatever its turn."""
    x_studs = x + (0.5 if half else 0.0)
    told = box(one_brick()).call(
        "pose_on", {"brick_id": "red", "x_studs": x_studs, "y_studs": y, "quarter_turns": turns}
    )
    pose = Pose.from_list(told["pose"])
    placed = msgspec.structs.replace(LOOSE, pose=pose)
    assert studs.centre_studs(placed, PLATE) == pytest.approx((x_studs, y), abs=1e-9)
    assert studs.quarter_turns(placed, PLATE) == turns % 4
    low, high = studs.extent(placed, PLATE)
    assert low[2] == pytest.approx(0.0, abs=1e-12)
    assert high[2] == pytest.approx(0.0096)
    assert told["on_grid"] is not half
    assert told["rests_on"] == [GROUND]


def test_poses_on_bricks_stand_on_what_is_there() -> None:
    told = box().call("pose_on", {"brick_id": "red", "support": "base", "x_studs": 1})
    pose = Pose.from_list(told["pose"])
    assert told["rests_on"] == ["base"]
    np.testing.assert_allclose((PLATE.inverse() @ pose).position, (0.016, 0.008, 0.0192), atol=1e-12)
    odd = box().call("pose_on", {"brick_id": "blue", "support": "base"})
    assert not odd["on_grid"]
    assert "half a stud" in odd["reason"]
    assert math.hypot(*odd["off_grid_m"]) == pytest.approx(0.004)


def test_what_is_held_is_placed_and_checked() -> None:
    tools = fake_tools()
    toolbox = box(tools)
    assert toolbox.call("place_on", {"x_studs": 3})["reason"] == "the hand is empty; pick something first"
    assert toolbox.call("pick", {"brick_id": "red"})["ok"]
    assert toolbox.call("look", {})["holding"] == "red"
    assert toolbox.call("place_on", {"x_studs": 3, "quarter_turns": 1})["ok"]
    assert toolbox.call("look", {})["holding"] == ""
    wanted = tools.place.call_args.args[0]
    missed = toolbox.call("check_step", {})
    assert missed["status"] == "VERIFICATION_FAILED"
    assert missed["placements"][0]["error_m"] == pytest.approx(wanted.distance_to(LOOSE.pose))
    tools.scene.return_value = fake_tools(msgspec.structs.replace(LOOSE, pose=wanted)).scene()
    assert toolbox.call("check_step", {})["ok"]
    toolbox.call("next_step", {})
    assert toolbox.call("check_step", {})["placements"] == []


def test_the_manual_goes_one_step_on() -> None:
    toolbox = box()
    step = toolbox.call("next_step", {})
    assert (step["step"], step["left"]) == (1, 0)
    assert step["before"].shape == step["after"].shape == (2, 2, 3)
    assert toolbox.call("next_step", {})["step"] == 0
    assert "there is no page 5; pages: 0, 1" in toolbox.call("manual_page", {"step": 5})["reason"]


def test_the_cloud_lies_where_the_camera_sees_it() -> None:
    """The camera looks straight down from one metre at a table in its depth picture."""
    cloud = box(layer=Layer.GENERIC).call("cloud", {"every": 1})
    points = cloud["points"]
    assert points.shape == (23, 3)
    assert cloud["colours"].shape == (23, 3)
    np.testing.assert_allclose(points[:, 2], 0.0, atol=1e-6)
    np.testing.assert_allclose(points[-1, :2], (0.75, -0.15), atol=1e-6)
