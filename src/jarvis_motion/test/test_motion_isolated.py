"""A backend in a process of its own dies and hangs without harm."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_core.status import Status
from jarvis_motion.backend import Obstacle, Plan
from jarvis_motion.config import MotionConfig
from jarvis_motion.factory import make_backend
from jarvis_motion.isolated import IsolatedBackend, PlannerDiedError
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")
CONFIG = msgspec.structs.replace(load_default("motion", MotionConfig), isolate=True)
READY, HOME = np.array(PANDA.config.ready_rad), np.array(PANDA.config.home_rad)
TABLE = Obstacle("table", Box(Pose((0.35, 0.0, -0.05)), (1.3, 1.2, 0.1)))
BELOW = PANDA.tool(READY).translated((0.0, 0.0, -0.3))


@pytest.fixture(scope="module")
def made() -> Iterator[IsolatedBackend]:
    backend = make_backend(PANDA, CONFIG)
    assert isinstance(backend, IsolatedBackend)
    yield backend
    backend.close()


@pytest.fixture
def isolated(made: IsolatedBackend) -> IsolatedBackend:
    """One for all tests, as if new; a test that ended its process leaves none, and the next question starts one."""
    made.detach()
    made.set_obstacles([])
    made.set_gripper_width(PANDA.config.gripper.max_width_m)
    assert made.inverse(PANDA.tool(READY), READY) is not None
    return made


def interrupt(backend: IsolatedBackend, number: signal.Signals) -> Plan:
    """Plan while the process is stopped, and send it a signal in the middle of that."""
    pid = backend.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # so that the plan can't be done before the signal arrives
    timer = threading.Timer(0.2, os.kill, (pid, number))
    timer.start()
    plan = backend.plan_to_joints(READY, HOME)
    timer.join()
    return plan


def test_a_killed_process_fails_one_plan_and_the_next_knows_the_world(isolated: IsolatedBackend) -> None:
    rod = (Box(Pose((0.0, 0.0, 0.0)), (0.02, 0.02, 0.3)),)
    isolated.set_obstacles([TABLE, Obstacle("rod", Box(PANDA.tool(READY), (0.02, 0.02, 0.3)))])
    isolated.set_gripper_width(0.02)
    isolated.attach("rod", rod)
    before = isolated.plan_line(READY, BELOW)
    assert "the held object would touch table" in before.message
    first = isolated.pid
    plan = interrupt(isolated, signal.SIGKILL)
    assert plan.status is Status.PLANNING_FAILED
    assert "was ended by SIGKILL" in plan.message
    assert plan.trajectory is None
    assert isolated.plan_line(READY, BELOW) == before
    assert isolated.pid != first
    isolated.detach()
    assert "the held object" not in isolated.plan_line(READY, BELOW).message


def test_a_hanging_process_is_ended_in_time() -> None:
    backend = IsolatedBackend(PANDA, msgspec.structs.replace(CONFIG, answer_within_s=1.0))
    pid = backend.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    began = time.monotonic()
    plan = backend.plan_to_joints(READY, HOME)
    assert time.monotonic() - began < 20.0
    assert plan.status is Status.PLANNING_FAILED
    assert "did not answer within 1 s" in plan.message
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    backend.close()


def test_a_question_without_side_effects_is_asked_again(isolated: IsolatedBackend) -> None:
    pid = isolated.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    joints = isolated.inverse(PANDA.tool(READY), READY)
    assert joints is not None
    np.testing.assert_allclose(joints, READY, atol=1e-5)
    plan = isolated.plan_to_joints(READY, HOME)
    assert plan.trajectory is not None
    assert isolated.validate(plan.trajectory) == ()


def test_a_process_that_always_dies_is_an_error(
    isolated: IsolatedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    exchange = isolated._exchange

    def killed_first(message: object, within_s: float) -> object:
        if isinstance(message, list):  # a question, not the start
            assert isolated.pid is not None
            os.kill(isolated.pid, signal.SIGKILL)
        return exchange(message, within_s)

    monkeypatch.setattr(isolated, "_exchange", killed_first)
    with pytest.raises(PlannerDiedError, match="twice in a row at inverse"):
        isolated.inverse(PANDA.tool(READY), READY)


def test_errors_of_the_other_side_come_through(isolated: IsolatedBackend) -> None:
    with pytest.raises(ValueError, match="speed must be"):
        isolated.plan_to_joints(READY, HOME, speed=2.0)
    with pytest.raises(ValueError, match="7 finite joint positions"):
        isolated.plan_to_joints(np.zeros(3), HOME)


def test_closing_ends_the_process_and_a_closed_one_starts_again(isolated: IsolatedBackend) -> None:
    pid = isolated.pid
    assert pid is not None
    isolated.close()
    assert isolated.pid is None
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_library_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    folder = str(tmp_path)
    with open(f"{folder}/roboplan.py", "w", encoding="utf-8") as file:
        file.write("raise ImportError('broken')\n")
    monkeypatch.syspath_prepend(folder)
    with pytest.raises(MissingCapabilityError, match="roboplan can't be loaded"):
        IsolatedBackend(PANDA, CONFIG)
