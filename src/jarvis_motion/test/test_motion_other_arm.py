"""Nothing but files says Panda: a UR5 of six joints with another gripper, planned for by every backend."""

from __future__ import annotations

from collections.abc import Iterator

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
from jarvis_motion.factory import BACKENDS, make_backend
from jarvis_robot.model import RobotModel

TABLE = Obstacle("table", Box(Pose((0.3, 0.0, -0.15)), (1.4, 1.4, 0.1)))
WALL = Obstacle("wall", Box(Pose((0.55, 0.0, 0.1)), (0.3, 0.02, 0.4)))


UR5 = RobotModel.load("ur5")
READY = np.array(UR5.config.ready_rad)


@pytest.fixture(scope="module", params=[name for name in BACKENDS if BACKENDS[name].installed])
def backend(request: pytest.FixtureRequest) -> Iterator[MotionBackend]:
    config = msgspec.structs.replace(load_default("motion", MotionConfig), backend=request.param)
    try:
        made = make_backend(UR5, config)
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    yield made
    made.close()


def test_it_plans_free_motions_lines_and_detours(backend: MotionBackend) -> None:
    tool = UR5.tool(READY)
    start, goal = (backend.inverse(Pose((0.55, y, 0.1), tool.quaternion), READY) for y in (-0.2, 0.2))
    assert start is not None
    assert goal is not None
    backend.set_obstacles([TABLE])
    direct = backend.plan_to_joints(start, goal)
    assert direct.trajectory is not None, direct.message
    backend.set_obstacles([TABLE, WALL])
    around = backend.plan_to_pose(start, UR5.tool(goal))
    assert around.trajectory is not None, around.message
    assert backend.validate(around.trajectory) == ()
    assert "would touch wall" in "; ".join(backend.validate(direct.trajectory))
    line = backend.plan_line(start, UR5.tool(start).translated((0.0, 0.0, -0.08)))
    assert line.trajectory is not None, line.message
    refused = backend.plan_line(start, UR5.tool(start).translated((0.0, 0.4, 0.0)))
    assert refused.status is Status.PLANNING_FAILED
    assert "would touch wall" in refused.message


def test_its_failures_name_its_own_joints(backend: MotionBackend) -> None:
    start = READY.copy()
    start[2] = 7.0
    assert "elbow_joint" in backend.plan_to_joints(start, READY).message
