"""MoveIt and Isaac ROS cuMotion, neither of which is here: what is said to them, and what becomes of their answers.

The stand-ins know the published names only, and answer with a plan made from the messages alone.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_motion.backend import MotionBackend, Obstacle
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import make_plain
from jarvis_motion.ompl_backend import OmplBackend
from jarvis_robot.model import RobotModel

pytest.importorskip("rclpy", reason="no ROS 2 here (see ./jarvis doctor)")
import moveit_fakes as fakes

PANDA = RobotModel.load("panda")
CONFIG = load_default("motion", MotionConfig)
READY = np.array(PANDA.config.ready_rad)
TABLE = Obstacle("table", Box(Pose((0.35, 0.0, -0.05)), (1.3, 1.2, 0.1)))
WALL = Obstacle("wall", Box(Pose((0.5, 0.0, 0.2)), (0.3, 0.02, 0.4)))
MODULES = ("moveit_messages", "moveit_backend", "isaac_ros_cumotion_backend")


def down(x: float, y: float, z: float) -> Pose:
    return Pose((x, y, z), (1.0, 0.0, 0.0, 0.0))


class FakeClient:
    """An action client of rclpy whose server is ``fakes.answer``."""

    goals: list[Any]
    planner: OmplBackend

    def __init__(self, node: Any, action_type: Any, action_name: str) -> None:
        assert (action_type, action_name) == (fakes.MoveGroup, "cumotion/move_group")

    def wait_for_server(self, timeout_sec: float | None = None) -> bool:
        return True

    def send_goal_async(self, goal: Any) -> Any:
        self.goals.append(goal)
        state = goal.request.start_state.joint_state
        (constraints,) = goal.request.goal_constraints
        scene = goal.planning_options.planning_scene_diff
        found = fakes.answer(
            self.planner,
            dict(zip(state.name, state.position, strict=True)),
            {c.joint_name: c.position for c in constraints.joint_constraints},
            scene.world.collision_objects,
            scene.robot_state.attached_collision_objects,
        )
        result = fakes.MoveGroup.Result()
        if found is not None:
            result.error_code.val = fakes.MoveItErrorCodes.SUCCESS
            result.planned_trajectory.joint_trajectory = found
        return done(
            SimpleNamespace(accepted=True, get_result_async=lambda: done(SimpleNamespace(result=result)))
        )


def done(value: Any) -> Any:
    """A future that is done."""
    return SimpleNamespace(add_done_callback=lambda call: call(None), result=lambda: value)


@pytest.fixture
def stand_ins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, module in fakes.modules().items():
        monkeypatch.setitem(sys.modules, name, module)
    few = msgspec.structs.replace(CONFIG.rrt, max_nodes=300)
    planner = OmplBackend(PANDA, msgspec.structs.replace(CONFIG, padding_m=0.0, held_shrink_m=0.0, rrt=few))
    monkeypatch.setattr(fakes.MoveItPy, "planner", planner, raising=False)
    monkeypatch.setattr(fakes.MoveItPy, "made", [], raising=False)
    for name in MODULES:
        monkeypatch.delitem(sys.modules, f"jarvis_motion.ros.{name}", raising=False)
    isaac = import_module("jarvis_motion.ros.isaac_ros_cumotion_backend")
    monkeypatch.setattr(isaac, "ActionClient", FakeClient)
    monkeypatch.setattr(FakeClient, "planner", planner, raising=False)
    monkeypatch.setattr(FakeClient, "goals", [], raising=False)
    yield
    for name in MODULES:  # they hold the stand-ins
        sys.modules.pop(f"jarvis_motion.ros.{name}", None)


@pytest.fixture(params=["moveit", "isaac_ros_cumotion"])
def backend(request: pytest.FixtureRequest, stand_ins: None) -> Iterator[MotionBackend]:
    made = make_plain(PANDA, msgspec.structs.replace(CONFIG, backend=request.param))
    yield made
    made.close()


def ends(backend: MotionBackend) -> tuple[Any, Any]:
    found = [backend.inverse(down(0.5, y, 0.1), READY) for y in (-0.2, 0.2)]
    assert all(q is not None for q in found)
    return found[0], found[1]


def test_a_way_around_the_obstacles_it_was_told_of(backend: MotionBackend) -> None:
    start, goal = ends(backend)
    backend.set_obstacles([TABLE, WALL])
    plan = backend.plan_to_joints(start, goal)
    assert plan.trajectory is not None, plan.message
    np.testing.assert_allclose(plan.trajectory.positions[[0, -1]], [start, goal], atol=1e-9)
    assert backend.validate(plan.trajectory) == ()


def test_what_is_held_is_told_until_it_is_put_down(backend: MotionBackend) -> None:
    start, goal = ends(backend)
    plate = Box(Pose((0.0, 0.0, 0.02)), (0.1, 0.06, 0.02))
    backend.set_obstacles([TABLE, WALL])
    backend.attach("plate", [plate])
    assert [thing.link_name for thing in attached_after(backend, start, goal)] == ["panda_hand_tcp"]
    backend.detach()
    assert attached_after(backend, start, goal) == []


def attached_after(backend: MotionBackend, start: Any, goal: Any) -> list[Any]:
    """Attached objects that the planner knows of when it was asked again."""
    plan = backend.plan_to_joints(start, goal)
    assert plan.trajectory is not None, plan.message
    if backend.name == "moveit":
        scene = fakes.MoveItPy.made[-1].scene
        assert set(scene.objects) == {"table", "wall"}
        return list(scene.attached.values())
    state = FakeClient.goals[-1].planning_options.planning_scene_diff.robot_state
    return list(state.attached_collision_objects)


def test_no_way_is_a_failure_in_words(backend: MotionBackend) -> None:
    start, _ = ends(backend)
    lid = Obstacle("lid", Box(Pose((0.35, 0.0, 0.6)), (1.3, 1.2, 0.02)))
    high = Obstacle("wall", Box(Pose((0.35, 0.0, 0.35)), (1.3, 0.02, 0.7)))
    backend.set_obstacles([TABLE, high, lid])
    plan = backend.plan_to_pose(start, down(0.5, 0.2, 0.1))
    assert plan.status is not Status.SUCCEEDED
    assert plan.trajectory is None


def test_moveit_is_given_robot_group_and_planner(stand_ins: None) -> None:
    made = make_plain(PANDA, msgspec.structs.replace(CONFIG, backend="moveit"))
    (moveit,) = fakes.MoveItPy.made
    parameters = moveit.config_dict
    assert moveit.node_name == "moveit_py"
    urdf = ET.fromstring(parameters["robot_description"])
    shapes = {link.get("name"): len(link.findall("collision")) for link in urdf.findall("link")}
    assert shapes["panda_link0"] == 0
    assert shapes["panda_link1"] > 0
    assert "package://" not in parameters["robot_description"]
    (chain,) = ET.fromstring(parameters["robot_description_semantic"]).findall(
        "./group[@name='planned_arm']/chain"
    )
    assert chain.attrib == {"base_link": "panda_link0", "tip_link": "panda_hand_tcp"}
    pipeline = parameters["ompl"]
    assert pipeline["planned_arm"]["planner_configs"] == list(pipeline["planner_configs"])
    made.close()
    assert moveit.shut


def test_a_planner_that_nobody_runs_is_missed(stand_ins: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeClient, "wait_for_server", lambda self, timeout_sec=None: False)
    with pytest.raises(MissingCapabilityError, match="nobody serves cumotion/move_group"):
        make_plain(PANDA, msgspec.structs.replace(CONFIG, backend="isaac_ros_cumotion"))
