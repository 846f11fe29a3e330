"""Baselines against tools that do nothing but answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import call, create_autospec

import msgspec
import pytest
from jarvis_agent.baselines.noop import Noop
from jarvis_agent.baselines.nudge import NUDGE_M, Nudge
from jarvis_agent.baselines.oracle import Oracle
from jarvis_agent.registry import POLICIES, make_policy
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import GROUND, Box, RigidObject, Scene, TargetObject
from jarvis_core.ports import Policy, PrivilegedTools, Tools
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillResult
from jarvis_core.status import Status

DONE = SkillResult(Status.SUCCEEDED, "done", {"held": False})
DROPPED = SkillResult(Status.VERIFICATION_FAILED, "it was lost", {"held": False})
STUCK = SkillResult(Status.PLANNING_FAILED, "no way", {"held": True})


def thing(name: str, x: float, *, fixed: bool = False) -> RigidObject:
    box = Box(Pose((0.0, 0.0, -0.0048)), (0.032, 0.016, 0.0096))
    return RigidObject(name, "3001", 4, Pose((x, 0.0, 0.0096)), (box,), fixed=fixed)


BRICKS = (thing("wall", 0.5, fixed=True), thing("b1", 0.40), thing("b2", 0.45))
GOALS = {"b1": Pose((0.5, 0.1, 0.0096)), "b2": Pose((0.5, 0.1, 0.0192))}
TARGETS = tuple(
    TargetObject(msgspec.structs.replace(brick, pose=GOALS[brick.id]), GROUND, (GROUND,), ((0, 0, 0, 1),), 1)
    for brick in BRICKS[1:]
)


@pytest.fixture
def tools() -> Any:
    """Privileged tools whose every call succeeds; a call that PrivilegedTools lacks is an error."""
    fake = create_autospec(PrivilegedTools, instance=True)
    fake.true_scene.return_value = Scene(0.0, "true", BRICKS)
    fake.targets.return_value = TARGETS
    for name in ("pick", "place", "pick_and_place", "push", "home", "move_to"):
        getattr(fake, name).return_value = DONE
    return fake


def calls(tools: Any) -> list[Any]:
    """The actions, without what only looks."""
    return [c for c in tools.mock_calls if c[0] not in ("true_scene", "targets", "brief", "observe")]


def answers(*results: SkillResult) -> Callable[..., SkillResult]:
    left: Iterator[SkillResult] = iter(results)
    return lambda *_, **__: next(left, DONE)


@pytest.mark.parametrize("name", POLICIES)
def test_policies_are_made_by_name(name: str) -> None:
    policy: Policy = make_policy(name)
    assert policy.name == name
    assert policy is not make_policy(name)


def test_an_unknown_policy_is_told_the_names() -> None:
    with pytest.raises(
        BadInputError, match="unknown agent 'gpt' - choose one of manual_reader, noop, nudge, oracle"
    ):
        make_policy("gpt")


@pytest.mark.parametrize("policy", [Oracle(), Nudge()], ids=lambda policy: policy.name)
def test_privileged_policies_refuse_other_tools(policy: Policy) -> None:
    plain = create_autospec(Tools, instance=True)
    assert policy.privileged
    with pytest.raises(RefusedError, match="privileged tools"):
        policy.run(plain)
    assert plain.mock_calls == []


def test_noop_does_nothing(tools: Any) -> None:
    assert not Noop().privileged
    Noop().run(tools)
    assert calls(tools) == []


def test_the_oracle_builds_in_order_and_goes_home(tools: Any) -> None:
    Oracle().run(tools)
    assert calls(tools) == [
        call.pick_and_place("b1", GOALS["b1"]),
        call.pick_and_place("b2", GOALS["b2"]),
        call.home(),
    ]


def test_the_oracle_tries_a_dropped_brick_again(tools: Any) -> None:
    tools.pick_and_place.side_effect = answers(DROPPED)
    Oracle().run(tools)
    assert calls(tools)[:3] == [
        call.pick_and_place("b1", GOALS["b1"]),
        call.pick_and_place("b1", GOALS["b1"]),
        call.pick_and_place("b2", GOALS["b2"]),
    ]


def test_the_oracle_gives_up_after_two_attempts(tools: Any) -> None:
    tools.pick_and_place.side_effect = answers(DROPPED, DROPPED, DROPPED, DROPPED)
    Oracle().run(tools)
    assert [c.args[0] for c in tools.pick_and_place.mock_calls] == ["b1", "b1", "b2", "b2"]
    assert calls(tools)[-1] == call.home()


def test_the_oracle_places_what_it_holds_without_a_second_grasp(tools: Any) -> None:
    tools.pick_and_place.side_effect = answers(STUCK)
    Oracle().run(tools)
    assert calls(tools)[:3] == [
        call.pick_and_place("b1", GOALS["b1"]),
        call.place(GOALS["b1"]),
        call.pick_and_place("b2", GOALS["b2"]),
    ]


def test_a_brick_that_can_not_be_placed_goes_back_and_the_others_are_built(tools: Any) -> None:
    """A full hand refuses every further brick."""
    tools.pick_and_place.side_effect = answers(STUCK)
    tools.place.side_effect = answers(STUCK)
    Oracle().run(tools)
    assert calls(tools)[:5] == [
        call.pick_and_place("b1", GOALS["b1"]),
        call.place(GOALS["b1"]),
        call.place(BRICKS[1].pose),
        call.pick_and_place("b1", GOALS["b1"]),
        call.pick_and_place("b2", GOALS["b2"]),
    ]


def test_nudge_pushes_every_loose_brick_once_and_goes_home(tools: Any) -> None:
    Nudge().run(tools)
    assert calls(tools) == [call.push("b1", (NUDGE_M, 0.0)), call.push("b2", (NUDGE_M, 0.0)), call.home()]


def test_nudge_tries_other_directions(tools: Any) -> None:
    tools.push.side_effect = answers(*[STUCK] * 3)
    Nudge().run(tools)
    ways = [c.args for c in tools.push.mock_calls]
    assert [name for name, _ in ways] == ["b1"] * 4 + ["b2"]
    assert len({way for _, way in ways[:4]}) == 4
    assert all(max(map(abs, way)) == NUDGE_M for _, way in ways)
