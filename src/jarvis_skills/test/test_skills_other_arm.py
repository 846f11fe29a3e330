"""Nothing but model files and configuration says Panda: the skills on a UR5 with another gripper, simulated."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
import skill_bench
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_core.skills import HomeGoal, MoveToGoal, PickAndPlaceGoal, PickGoal, PlaceGoal
from jarvis_core.status import Status
from skill_bench import Bench, make_bench


def other_arm(name: str, kind: Any) -> Any:
    """The settings, with another robot in the cell."""
    loaded = load_default(name, kind)
    return msgspec.structs.replace(loaded, robot="ur5") if name == "cell" else loaded


@pytest.fixture(scope="module")
def ur5_bench() -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(skill_bench, "load_default", other_arm)
        bench = make_bench()
    yield bench
    bench.backend.close()
    bench.world.close()


@pytest.fixture
def ur5(ur5_bench: Bench) -> Bench:
    ur5_bench.reset()
    return ur5_bench


def test_a_brick_is_picked_and_placed_on_the_plate(ur5: Bench) -> None:
    assert ur5.ctx.robot_config.name == "ur5"
    target = ur5.on_plate(2.0, 8.0)
    result = ur5.run(PickAndPlaceGoal("a", target))
    assert result.ok, result.message
    assert ur5.pose("a").distance_to(target) < 5e-4
    assert ur5.pose("a").angle_to(target) < 0.02


def test_pick_hold_carry_and_put_down(ur5: Bench) -> None:
    assert ur5.run(PickGoal("flat")).ok
    above = ur5.robot.state().tool.translated((0.0, 0.1, 0.05))
    assert ur5.run(MoveToGoal(above, straight=False, speed=0.5)).ok
    assert [o.id for o in ur5.world.objects() if o.held] == ["flat"]
    result = ur5.run(PlaceGoal(ur5.on_plate(2.0, 8.0, 0.0032)))
    assert result.ok, result.message
    assert ur5.run(HomeGoal()).ok


def test_out_of_reach_is_said_before_anything_moves(ur5: Bench) -> None:
    far = Pose((0.9, 0.5, 0.3), ur5.robot.state().tool.quaternion)
    ur5.refuse(MoveToGoal(far), Status.PLANNING_FAILED, "out of reach")
