"""Scores in words."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from episode_factory import BRICKS, CONNECTIONS, make_record, start_pose, target_pose
from jarvis_core.config import load_config
from jarvis_core.files import decode
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.protocol import EpisodeScore
from jarvis_scoring.text import fault, headline, table, to_json

CONFIG = load_config(Path(__file__).parents[3] / "config" / "score.yaml", ScoreConfig)
GROUND_ONLY = (("s1", GROUND),)
WITHOUT_B4 = tuple(pair for pair in CONNECTIONS if "b4" not in pair)


@pytest.mark.parametrize(
    ("final", "held", "connections", "words"),
    [
        ({}, "", CONNECTIONS, ""),
        ({}, "b4", CONNECTIONS, "still in the gripper"),
        ({"b4": None}, "", WITHOUT_B4, "missing at the end"),
        ({"b4": start_pose("b4")}, "", WITHOUT_B4, "not moved from where it lay"),
        ({}, "b4", WITHOUT_B4, "still in the gripper"),
        ({"b4": target_pose("b4").translated((0.3, 0, 0.4))}, "", WITHOUT_B4, "500 mm from its place"),
        (
            {"b4": target_pose("b4").translated((0.008, -0.002, 0)) @ Pose.from_yaw((0, 0, 0), math.pi / 2)},
            "",
            CONNECTIONS,
            "+8.0 mm in x, -2.0 mm in y, turned by 90°",
        ),
        ({}, "", WITHOUT_B4, "not joined to b2, b3"),
        ({}, "", (*CONNECTIONS, ("b4", GROUND)), "wrongly joined to the plate"),
        ({"b4": target_pose("b4").translated((0.0011, 0, 0))}, "", CONNECTIONS, "+1.1 mm in x"),
    ],
)
def test_faults_are_named(
    final: dict[str, Pose | None], held: str, connections: tuple[tuple[str, str], ...], words: str
) -> None:
    result = score(make_record(final, held=held, connections=connections), CONFIG)
    assert fault(result.bricks[3]) == words


def test_a_small_error_is_a_fault_where_the_tolerance_is_smaller() -> None:
    strict = msgspec.structs.replace(CONFIG, exact_m=0.0001)
    result = score(make_record({"b4": target_pose("b4").translated((0.0002, 0, 0))}), strict)
    assert fault(result.bricks[3]) == "just outside the tolerance"


def test_headlines() -> None:
    assert headline(score(make_record(), CONFIG)).startswith("All 4 bricks are exactly where")
    start = {i: start_pose(i) for i in BRICKS}
    assert (
        headline(score(make_record(start, connections=GROUND_ONLY), CONFIG)) == "No required brick was moved."
    )
    late = score(make_record({"b4": target_pose("b4").translated((0.008, 0, 0))}, time_s=360.0), CONFIG)
    assert headline(late) == (
        "3 of 4 bricks exactly right, 4 of 4 near their places; 10 % lost for the time beyond the budget."
    )


def test_table_has_a_line_for_every_brick() -> None:
    text = table(score(make_record({"b3": None}), CONFIG))
    assert "not comparable with published results" in text
    rows = {line.split()[1]: line for line in text.splitlines() if line.strip()[:1] in ("1", "2", "3")}
    assert set(BRICKS) <= set(rows)
    assert rows["b3"].endswith("missing at the end")
    assert text.endswith("\n")


def test_json_gives_the_score_back() -> None:
    result = score(make_record({"b3": None}), CONFIG)
    assert decode(to_json(result).encode(), EpisodeScore, where="test") == result
