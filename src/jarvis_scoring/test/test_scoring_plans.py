"""Plans without a robot: by hand, and what must change nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import pytest
from episode_factory import make_targets
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.errors import BadInputError
from jarvis_core.pose import Pose
from jarvis_scoring.plans import Grid, Plan, PlanScore, PlanStep, plan_of, read_plan_file, score_plan

GRID = Grid(0.008, 0.0032)
TARGETS = make_targets()
TRUTH = plan_of(TARGETS, GRID, task="two-towers", agent="truth")


def scored(*steps: PlanStep) -> PlanScore:
    plan = msgspec.structs.replace(TRUTH, steps=steps)
    return score_plan(plan, TARGETS, GRID, exact_m=0.001, exact_deg=3.0)


def changed(index: int, **fields: Any) -> list[PlanStep]:
    """The true steps, but for one."""
    steps = list(TRUTH.steps)
    steps[index] = msgspec.structs.replace(steps[index], **fields)
    return steps


def test_the_true_plan_is_perfect() -> None:
    found = scored(*TRUTH.steps)
    assert (found.coverage, found.exact_share, found.extra, found.n_required) == (1.0, 1.0, 0, 4)
    assert found.position_mm == pytest.approx(0.0, abs=1e-3)
    assert found.angle_deg == pytest.approx(0.0, abs=1e-3)


def test_one_stud_off_one_turned_one_of_another_colour_one_missing() -> None:
    b1, b2, _, b4 = TRUTH.steps
    found = scored(
        msgspec.structs.replace(b1, x_studs=b1.x_studs + 1),
        msgspec.structs.replace(b2, colour=1),
        msgspec.structs.replace(b4, quarter_turns=b4.quarter_turns + 0.5),
    )
    by_id = {s.id: s for s in found.steps}
    assert by_id["b1"].position_mm == pytest.approx(8.0)
    assert by_id["b4"].angle_deg == pytest.approx(45.0)
    # b2 and b3 are equal bricks of one step: the one that was planned has another colour, the other is missing.
    assert (by_id["b2"].planned, by_id["b3"].planned) == (None, None)
    assert (found.coverage, found.part_share, found.colour_share) == (0.5, 0.75, 0.5)
    assert (found.extra, found.n_planned) == (1, 3)


def test_another_step_covers_nothing_but_is_told() -> None:
    found = scored(*changed(3, step=1))
    assert (found.coverage, found.coverage_any_step) == (0.75, 1.0)


def test_nothing_planned_and_too_much() -> None:
    nothing = scored()
    assert (nothing.coverage, nothing.position_mm, nothing.angle_deg) == (0.0, None, None)
    much = scored(*TRUTH.steps, *TRUTH.steps)
    assert (much.coverage, much.extra) == (1.0, 4)
    assert much.position_mm == pytest.approx(0.0, abs=1e-3)


@settings(deadline=None, max_examples=40)
@given(st.permutations(range(4)), st.integers(-4, 4))
def test_order_and_symmetry_change_nothing(order: list[int], turns: int) -> None:
    """b2 and b3 are 2x2 bricks: a quarter turn looks the same; so does half a turn of the others."""
    steps = [
        msgspec.structs.replace(
            step, quarter_turns=step.quarter_turns + (turns if step.part == "3003" else 2 * turns)
        )
        for step in TRUTH.steps
    ]
    found = scored(*(steps[k] for k in order))
    assert (found.coverage, found.exact_share) == (1.0, 1.0)
    assert found.position_mm == pytest.approx(0.0, abs=1e-3)


@settings(deadline=None, max_examples=40)
@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 4))
def test_a_common_offset_is_the_error(x: float, y: float, level: float) -> None:
    steps = [
        msgspec.structs.replace(
            s, x_studs=s.x_studs + x, y_studs=s.y_studs + y, level_plates=s.level_plates + level
        )
        for s in TRUTH.steps
        if s.part != "3003"  # equal bricks: another assignment may be nearer
    ]
    found = scored(*steps)
    assert found.position_mm == pytest.approx(
        1e3 * math.hypot(0.008 * x, 0.008 * y, 0.0032 * level), abs=1e-3
    )


def test_a_brick_on_its_side_is_given_by_a_quaternion() -> None:
    on_side = Pose((0.0, 0.0, 0.02), (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)))
    first = TARGETS[0]
    targets = [msgspec.structs.replace(first, object=msgspec.structs.replace(first.object, pose=on_side))]
    plan = plan_of(targets, GRID, task="t", agent="a")
    assert plan.steps[0].quaternion is not None
    found = score_plan(plan, targets, GRID, exact_m=0.001, exact_deg=3.0)
    assert found.exact_share == 1.0


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"schema": 2}, "plan layout 2"),
        ({"steps": [{"step": 0}]}, "steps count from 1"),
        ({"steps": [{"quaternion": [1, 1, 0, 0]}]}, "no unit quaternion"),
        ({"steps": [{"x_studs": "left"}]}, "x_studs"),
        ({"steps": [{"z": 1}]}, "unknown field `z`"),
    ],
)
def test_what_is_no_plan_is_said_in_one_line(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    plain = json.loads(msgspec.json.encode(TRUTH))
    steps = change.pop("steps", [{}])
    plain |= change | {"steps": [plain["steps"][0] | step for step in steps]}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plain))
    with pytest.raises(BadInputError) as refused:
        read_plan_file(path)
    assert said in refused.value.line()
    assert str(path) in refused.value.line()


def test_a_plan_survives_its_file(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(msgspec.json.encode(TRUTH))
    assert read_plan_file(path) == TRUTH
    assert isinstance(TRUTH, Plan)
