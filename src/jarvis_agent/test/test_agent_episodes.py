"""Baselines in real episodes: the ends of every table of scores."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "jarvis_episode" / "test"))

from episode_bench import Scripted, house, play
from jarvis_agent.registry import make_policy
from jarvis_core.ports import PrivilegedTools, Tools
from jarvis_core.status import Status


def test_the_oracle_builds_everything_exactly(tmp_path: Path) -> None:
    result = play(make_policy("oracle"), tmp_path)
    assert result.record.outcome == "finished"
    assert result.score.s_exact == 1.0
    assert result.score.score > 95.0
    assert result.score.failed_calls == 0
    # One call a brick, and home.
    assert result.score.calls == house().n_required + 1


def test_noop_scores_nothing(tmp_path: Path) -> None:
    result = play(make_policy("noop"), tmp_path)
    assert result.record.outcome == "finished"
    assert result.score.score == 0.0
    assert result.record.calls == ()
    assert not result.record.policy.privileged


@pytest.mark.parametrize("seed", [0, 1])
def test_nudge_moves_every_brick_and_scores_next_to_nothing(seed: int, tmp_path: Path) -> None:
    result = play(make_policy("nudge"), tmp_path, seed)
    assert result.record.outcome == "finished"
    assert result.score.score < 2.0
    before = {o.id: o.pose for o in result.record.initial.objects}
    moved = {o.id: o.pose.distance_to(before[o.id]) for o in result.record.final.objects}
    assert all(distance > 0.005 for distance in moved.values()), moved


def test_the_oracle_copes_with_a_brick_in_the_way(tmp_path: Path) -> None:
    """The first brick stands where the second belongs."""
    oracle = make_policy("oracle")

    def disturbed(tools: Tools) -> None:
        assert isinstance(tools, PrivilegedTools)
        first, second = tools.targets()
        assert tools.pick_and_place(first.object.id, second.object.pose).ok
        oracle.run(tools)

    result = play(Scripted(disturbed, privileged=True), tmp_path)
    assert result.score.s_exact == 1.0
    assert all(call.result.status is Status.SUCCEEDED for call in result.record.calls)
