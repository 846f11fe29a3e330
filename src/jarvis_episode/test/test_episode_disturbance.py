"""Builds begun and spoilt: the choice of what befalls whom, and one whole episode."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import create_autospec

import msgspec
import pytest
from episode_bench import Scripted, catalogue, house, manual, settings
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import TargetObject, WorldState
from jarvis_core.skills import HomeGoal, PickAndPlaceGoal, SkillGoal, SkillResult
from jarvis_core.status import Status
from jarvis_episode.disturbance import KINDS, RecoveryConfig, Spoiler
from jarvis_episode.recording.scored import Scored, score_all
from jarvis_episode.runner import run_episode
from jarvis_scoring.brick_score import score
from jarvis_sim.perturb import Perturbations
from jarvis_sim.world import SimWorld
from jarvis_tasks.targets import target_objects

CONFIG = load_default("recovery", RecoveryConfig)
STATE = WorldState(9.0, (), (("b2", "b1"),))
DONE = SkillResult(Status.SUCCEEDED, "done", {})


def three() -> list[TargetObject]:
    """Three bricks of which the first bears the second, and all differ in colour."""
    (first, *_) = target_objects(house(), catalogue(), settings().cell.plate.pose)
    return [
        msgspec.structs.replace(first, object=msgspec.structs.replace(first.object, id=f"b{k}", colour=k))
        for k in (1, 2, 3)
    ]


def cell_with() -> Any:
    world = create_autospec(SimWorld, instance=True)
    world.perturb = Perturbations(world)
    world.state.return_value = STATE
    world.snapshot.return_value = b"before"
    return SimpleNamespace(world=world)


def spoil(kind: str, prefix: int = 3, seed: int = 0) -> tuple[Any, list[SkillGoal], Any]:
    """What came of it, the goals that were run, and the cell."""
    goals: list[SkillGoal] = []

    def run(goal: SkillGoal) -> SkillResult:
        goals.append(goal)
        return DONE

    cell = cell_with()
    return Spoiler(kind, prefix, CONFIG).spoil(cell, three(), seed, run), goals, cell


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What is asked of the perturbations."""
    asked: list[tuple[str, dict[str, Any]]] = []
    for kind in KINDS:
        monkeypatch.setattr(
            Perturbations, kind, lambda _, _kind=kind, **values: asked.append((_kind, values))
        )
    return asked


@pytest.mark.parametrize("kind", KINDS)
def test_a_prefix_is_built_and_one_brick_with_nothing_on_it_suffers(
    kind: str, told: list[tuple[str, dict[str, Any]]]
) -> None:
    found, goals, cell = spoil(kind, prefix=3)
    assert [g.object_id for g in goals if isinstance(g, PickAndPlaceGoal)] == ["b1", "b2", "b3"]
    assert goals[-1] == HomeGoal()
    assert (found.kind, found.prefix, found.after) == (kind, 3, STATE)
    # b1 bears b2.
    assert set(found.bricks) <= {"b2", "b3"}
    assert len(found.bricks) == (2 if kind == "swap" else 1)
    assert [name for name, _ in told] == [kind]
    cell.world.advance.assert_called_once_with(CONFIG.settle_s)


def test_the_seed_decides_and_another_seed_differs(told: list[tuple[str, dict[str, Any]]]) -> None:
    a, b, c = (spoil("knock_off", seed=seed)[0] for seed in (4, 4, 5))
    assert a == b
    assert a.values != c.values
    assert told[0][1]["heading_rad"] == a.values["heading_rad"]


def test_a_place_that_is_refused_is_taken_back_and_another_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[dict[str, Any]] = []

    def shift(_: Perturbations, **values: Any) -> None:
        tries.append(values)
        if len(tries) < 3:
            raise RefusedError("would stand in something")

    monkeypatch.setattr(Perturbations, "shift", shift)
    found, _, cell = spoil("shift")
    assert cell.world.restore.call_count == 2
    assert found.values["x_m"] == tries[2]["offset_m"][0]


def test_what_can_not_be_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInputError, match="no disturbance"):
        Spoiler("earthquake", 1, CONFIG)
    with pytest.raises(BadInputError, match="needs 2 placed bricks"):
        Spoiler("swap", 1, CONFIG)
    with pytest.raises(BadInputError, match="fewer than a prefix of 4"):
        spoil("remove", prefix=4)
    failed = SkillResult(Status.PLANNING_FAILED, "no grasp", {})
    with pytest.raises(RefusedError, match="can't be built: b1: no grasp"):
        Spoiler("remove", 1, CONFIG).spoil(cell_with(), three(), 0, lambda goal: failed)

    def refuse(_: Perturbations, **values: Any) -> None:
        raise RefusedError("is baked into the world")

    monkeypatch.setattr(Perturbations, "remove", refuse)
    with pytest.raises(RefusedError, match="baked into the world"):
        spoil("remove")


def test_an_episode_from_a_spoilt_build_counts_from_there(tmp_path: Path) -> None:
    result = run_episode(
        house(),
        manual(),
        Scripted(lambda tools: None),
        3,
        settings(),
        catalogue(),
        tmp_path,
        spoiler=Spoiler("remove", 1, CONFIG),
    )
    record = result.record
    assert record.episode_id == result.folder.name == "house-s01-s01-remove1-scripted-3"
    assert (record.calls, record.time_s) == ((), 0.0)
    assert record.disturbance is not None
    assert record.disturbance.after.time_s > 1.0
    for source in (result.folder, result.folder / "bag"):
        (found,) = score_all([source])
        assert isinstance(found, Scored)
        assert found.faults == ()
        given = found.evidence.disturbed()
        assert given is not None
        # A policy that does nothing ends with what it found.
        assert score(given, found.evidence.constants).score == pytest.approx(result.score.score, abs=1e-3)
