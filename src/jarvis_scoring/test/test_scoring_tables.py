"""Tables count every episode; intervals cover; stages follow the rules."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import msgspec
import numpy as np
import pytest
from episode_factory import BRICKS, CONNECTIONS, make_record, start_pose, target_pose
from jarvis_core.config import load_config
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.objects import ConnectionEvent
from jarvis_core.pose import Pose
from jarvis_core.skills import PickAndPlaceGoal, SkillResult
from jarvis_core.status import Status
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.estimates import TablesConfig, estimate
from jarvis_scoring.result_tables import all_tables
from jarvis_scoring.rows import STAGES, ResultRow, read_rows, with_expected, write_rows
from jarvis_scoring.stages import counted, failure_stages_by_brick
from jarvis_scoring.tables import render

FOLDER = Path(__file__).parents[3] / "config"
CONFIG = load_config(FOLDER / "score.yaml", ScoreConfig)
TABLES = load_config(FOLDER / "tables.yaml", TablesConfig)


def row(task: str, agent: str, points: float, **fields: object) -> ResultRow:
    base = {"stratum": "easy", "n_act": 2, "n_scene": 10, "q": points / 100}
    return ResultRow(
        episode_id=f"{task}-{agent}-0", task_id=task, agent=agent, score=points, **(base | fields)
    )


ROWS = [
    row("t1", "a", 80.0, failed_calls=1, style="plain"),
    row("t2", "a", 40.0, failed_calls=2, n_act=4, n_scene=100, stratum="hard", style="sketch"),
    row("t3", "a", 90.0, complete=False, reason="cut off", n_act=20),
    row("t1", "b", 90.0, mode="reflection", rounds=((50.0, 60.0), (90.0, 95.0))),
    row("t2", "b", 30.0, mode="reflection", rounds=((20.0, 25.0),), stratum="hard"),
    row("t3", "b", 70.0, stages={"grasp": 1}),
    row("t4", "b", 30.0, disturbed_score=54.7),
    row("t4", "c", 0.0, grounding=(0.25, 16.76, True)),
]


def stages_of(record: EpisodeRecord) -> dict[str, int]:
    return counted(failure_stages_by_brick(record, score(record, CONFIG), CONFIG).values())


def table(name: str, rows: list[ResultRow] = ROWS) -> dict[str, dict[str, object]]:
    """Rows of a table, as JSON, by the first column."""
    found = next(t for t in all_tables(rows, TABLES) if t.name == name)
    (plain,) = json.loads(render([found], "json"))
    return {str(r[0]): dict(zip(plain["columns"], r, strict=True)) for r in plain["rows"]}


def mean(cell: object) -> float:
    assert isinstance(cell, dict)
    return float(cell["mean"])


def test_the_tables_by_hand() -> None:
    composition = table("table1-composition")
    assert (composition["easy"]["tasks"], composition["all"]["tasks"]) == (2, 3)
    agents = table("table2-agents")
    # t3 of a is incomplete: (80 + 0) / 2 easy, 40 hard, 120 / 3 in all.
    assert [mean(agents["a"][k]) for k in ("easy", "hard", "overall")] == [40.0, 40.0, 40.0]
    assert agents["a"]["failed actions per task"] == 1.0
    assert mean(table("table3a-styles")["a"]["sketch"]) == 40.0
    bins = table("table3b-bins")
    assert mean(bins["1-2"]["0-29"]) == pytest.approx((80 + 90 + 30 + 70) / 4)
    assert mean(bins["3-5"]["79+"]) == 40.0
    assert mean(bins["11+"]["0-29"]) == 0.0
    grounding = table("table4-grounding")["c"]
    assert (mean(grounding["steps covered %"]), mean(grounding["position error mm"])) == (25.0, 16.76)
    assert table("table7-stages")["a"]["no record"] == 20
    assert table("table7-stages")["b"]["grasp"] == 1
    recovery = table("table6-recovery")["b"]
    assert recovery["largest loss"] == pytest.approx(-24.7)
    assert recovery["largest gain"] is None
    pair = table("paired")["b"]
    # b - a: +10, -10, +70 (a counts 0 there)
    assert (mean(pair["difference"]), pair["better"], pair["worse"]) == (pytest.approx(70 / 3), 2, 1)
    missing = table("incomplete")
    assert list(missing) == ["t3-a-0"]


def test_rounds_go_on_with_the_last_score() -> None:
    found = next(t for t in all_tables(ROWS, TABLES) if t.name == "table5-reflection")
    body = {(r[0], r[1], r[2]): r for r in found.rows}
    with_penalty = body["b", "reflection", "with"]
    assert [cell.mean for cell in with_penalty[4:]] == [35.0, 55.0]  # type: ignore[union-attr]
    without = body["b", "reflection", "without"]
    assert [cell.mean for cell in without[4:]] == [42.5, 60.0]  # type: ignore[union-attr]


def test_a_configured_number_of_rounds_is_shown() -> None:
    config = msgspec.structs.replace(TABLES, most_rounds=1)
    found = next(t for t in all_tables(ROWS, config) if t.name == "table5-reflection")
    assert found.columns[-2:] == ("final", "R1")


def test_missing_episodes_count_zero_and_doubled_ones_are_refused() -> None:
    planned = [row(f"t{k}", "a", 0.0, stratum="hard") for k in range(1, 6)]
    rows, missing = with_expected(ROWS[:2], planned)
    assert missing == 3
    assert mean(table("table2-agents", rows)["a"]["overall"]) == 120 / 5
    assert {r.stratum for r in rows} == {"hard"}
    assert all("missing" in r.reason for r in rows[2:])
    with pytest.raises(BadInputError, match="t1-a-0 has two rows"):
        with_expected([ROWS[0], msgspec.structs.replace(ROWS[0], score=1.0)], [])


def test_every_format_holds_every_table() -> None:
    tables = all_tables(ROWS, TABLES)
    for form in ("text", "latex", "json"):
        assert all(t.title.split(":")[0] in render(tables, form) for t in tables), form
    lines = list(csv.reader(io.StringIO(render(tables, "csv"))))
    for name in {line[0] for line in lines if line} - {"table"}:
        widths = {len(line) for line in lines if line and line[0] == name}
        assert len(widths) == 1, name
    assert r"\%" in render(tables, "latex")


def test_rows_survive_a_file_and_a_bad_line_is_named(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.jsonl", ROWS)
    assert read_rows(tmp_path / "rows.jsonl") == ROWS
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write('{"episode_id": 3}\n')
    with pytest.raises(BadInputError, match=r"rows.jsonl:9: is no result row"):
        read_rows(tmp_path / "rows.jsonl")


@pytest.mark.parametrize("size", [40, 3000])
def test_intervals_cover_the_mean_as_often_as_they_say(size: int) -> None:
    """Small samples and large ones, which are resampled in blocks, of a lopsided distribution."""
    config = msgspec.structs.replace(TABLES, resamples=300)
    random = np.random.default_rng(4)
    covered = 0
    for _ in range(150):
        found = estimate(random.exponential(size=size), config)
        assert found is not None
        covered += found.low <= 1.0 <= found.high
    # 95 % of 150 is 142; fewer than 127 or all of them would be far outside of chance.
    assert 127 <= covered < 150


def test_an_interval_of_few() -> None:
    assert estimate([], TABLES) is None
    one = estimate([5.0], TABLES)
    assert one is not None
    assert (one.mean, one.low, one.high, one.n) == (5.0, 5.0, 5.0, 1)
    assert estimate([1.0, 2.0, 4.0], TABLES) == estimate([1.0, 2.0, 4.0], TABLES)


FAR = target_pose("b1").translated((0.2, 0.0, 0.0))
STUD = target_pose("b1").translated((0.008, 0.0, 0.0))


@pytest.mark.parametrize(
    ("end", "status", "aim", "outcome", "expected"),
    [
        (None, None, None, "finished", "not attempted"),
        (None, None, None, "crashed", "code error"),
        (STUD, Status.SUCCEEDED, STUD, "finished", "grounding"),
        (None, Status.PLANNING_FAILED, target_pose("b1"), "finished", "planning"),
        (None, Status.EXECUTION_FAILED, target_pose("b1"), "finished", "grasp"),
        (FAR, Status.EXECUTION_FAILED, target_pose("b1"), "finished", "transport"),
        (STUD, Status.VERIFICATION_FAILED, target_pose("b1"), "finished", "placement"),
        (STUD, Status.SUCCEEDED, target_pose("b1"), "finished", "placement"),
    ],
)
def test_stages_by_rule(
    end: Pose | None, status: Status | None, aim: Pose | None, outcome: str, expected: str
) -> None:
    base = make_record()
    calls = [c for c in base.calls if getattr(c.goal, "object_id", "") != "b1"]
    if status is not None and aim is not None:
        result = SkillResult(status, "", {})
        calls.append(msgspec.structs.replace(base.calls[0], goal=PickAndPlaceGoal("b1", aim), result=result))
    events = tuple(e for e in base.events if e.upper != "b1")
    record = make_record(
        {"b1": end or start_pose("b1")},
        calls=tuple(calls),
        events=events,
        outcome=outcome,
        connections=tuple(c for c in CONNECTIONS if c != ("b1", "plate")),
    )
    found = stages_of(record)
    assert found[expected] >= 1
    assert list(found) == [stage for stage in STAGES if stage in found]


def test_a_brick_knocked_off_later() -> None:
    without = tuple(c for c in CONNECTIONS if "b4" not in c)
    fallen = {"b4": start_pose("b4").translated((0.03, 0.0, 0.0))}
    event = ConnectionEvent(90.0, "released", "b4", "b2", 0.0, 0.0, 0.0, 8.0, 4)
    base = make_record(fallen, connections=without)
    record = msgspec.structs.replace(base, events=(*base.events, event))
    assert stages_of(record)["disturbed later"] == 1
    perfect = make_record()
    assert stages_of(perfect) == {}
    assert len(BRICKS) == len(perfect.targets)
