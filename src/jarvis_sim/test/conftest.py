"""Small worlds, and a hand-made way to move the arm: numeric inverse kinematics and timed straight lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
import pytest
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.motion import JointTrajectory, MotionOutcome
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_robot.model import RobotModel
from jarvis_sim.config import SimConfig
from jarvis_sim.robot import SimRobot
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from scipy.spatial.transform import Rotation

HEIGHTS = {"3001": 0.0096, "3003": 0.0096, "3005": 0.0096, "3023": 0.0032, "3020": 0.0032}


@lru_cache
def robot_model() -> RobotModel:
    return RobotModel.load("panda")


@pytest.fixture(scope="session")
def cell() -> CellConfig:
    return load_default("cell", CellConfig)


@pytest.fixture(scope="session")
def sim() -> SimConfig:
    return load_default("sim", SimConfig)


def placed(
    brick: str, part: str, x: float = 0.0, y: float = 0.0, layer: float = 0.0, yaw: float = 0.0
) -> PlacedBrick:
    """A brick in frame ``plate``, x and y in studs, its underside ``layer`` brick heights above the plate."""
    pose = Pose.from_yaw((0.008 * x, 0.008 * y, 0.0096 * layer + HEIGHTS[part]), yaw)
    return PlacedBrick(brick, part, 4, pose, 1, "plate", ("plate",))


@pytest.fixture(scope="session")
def place() -> Callable[..., PlacedBrick]:
    return placed


@pytest.fixture(scope="session")
def make_world(cell: CellConfig, sim: SimConfig) -> Callable[..., SimWorld]:
    def make(
        targets: Sequence[PlacedBrick],
        scene: Sequence[PlacedBrick] = (),
        *,
        seed: int = 1,
        config: SimConfig = sim,
        cell: CellConfig = cell,
    ) -> SimWorld:
        task = Task(TASK_SCHEMA, "toy", "toy", "", "", "", (1, 1), tuple(scene), tuple(targets))
        return SimWorld(task, cell, config, PartCatalogue(), seed, robot=robot_model())

    return make


class Mover:
    """Moves a simulated robot by straight lines of the tool."""

    def __init__(self, world: SimWorld) -> None:
        self.world = world
        self.robot = SimRobot(world)
        self.model = world.arm.robot

    def ready(self) -> None:
        ready = np.array(self.model.config.ready_rad)
        outcome = self.robot.follow(self.trajectory(np.stack([self.world.arm.joints, ready]), 2.0))
        assert outcome.status is Status.SUCCEEDED, outcome

    def go(self, tool: Pose, seconds: float = 1.0) -> MotionOutcome:
        return self.robot.follow(self.line(tool, seconds))

    def line(self, tool: Pose, seconds: float, points: int = 20) -> JointTrajectory:
        start = self.model.tool(self.world.arm.controller.desired)
        turn = Rotation.from_matrix(tool.rotation @ start.rotation.T).as_rotvec()
        path = [self.world.arm.controller.desired]
        for share in np.linspace(0.0, 1.0, points + 1)[1:]:
            rotation = Rotation.from_rotvec(share * turn).as_matrix() @ start.rotation
            position = start.position + share * (tool.position - start.position)
            path.append(self.inverse(Pose.from_rotation(position, rotation), path[-1]))
        return self.trajectory(np.array(path), seconds)

    def trajectory(self, path: FloatArray, seconds: float) -> JointTrajectory:
        """Through the points of the path, starting and ending at rest without a jerk."""
        times = np.linspace(0.0, seconds, max(3 * len(path), 30))
        u = times / seconds
        share = u**3 * (10 - 15 * u + 6 * u**2)
        knots = np.linspace(0.0, 1.0, len(path))
        positions = np.stack([np.interp(share, knots, column) for column in path.T], axis=1)
        velocities = np.gradient(positions, times, axis=0)
        velocities[[0, -1]] = 0.0
        accelerations = np.gradient(velocities, times, axis=0)
        return JointTrajectory(self.model.config.arm_joints, times, positions, velocities, accelerations)

    def inverse(self, tool: Pose, seed: FloatArray) -> FloatArray:
        joints = np.array(seed)
        for _ in range(50):
            matrix = self.model.tool_matrices(joints)
            turn = Rotation.from_matrix(tool.rotation @ matrix[:3, :3].T).as_rotvec()
            error = np.concatenate([tool.position - matrix[:3, 3], turn])
            if np.abs(error).max() < 1e-7:
                return joints
            moved = self.model.tool_matrices(joints + 1e-6 * np.eye(self.model.n_joints))
            jacobian = np.concatenate(
                [
                    (moved[:, :3, 3] - matrix[:3, 3]).T / 1e-6,
                    Rotation.from_matrix(moved[:, :3, :3] @ matrix[:3, :3].T).as_rotvec().T / 1e-6,
                ]
            )
            joints = joints + np.linalg.lstsq(jacobian, error, rcond=1e-4)[0]
        raise AssertionError(f"no joint positions found for {tool}")

    def above(self, brick: str, height: float) -> Pose:
        """Tool pose for gripping a brick's long sides, ``height`` above the table."""
        pose = self.world.engine.pose(self.world.engine.body(brick))
        yaw = (pose.yaw + np.pi) % np.pi - np.pi / 2  # of the closing direction, across the brick
        closing = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        down = np.array([0.0, 0.0, -1.0])
        rotation = np.column_stack([np.cross(closing, down), closing, down])
        return Pose.from_rotation((pose.position[0], pose.position[1], height), rotation)

    def pick(self, brick: str, height: float = 0.0104) -> None:
        self.go(self.above(brick, 0.06), 1.5)
        assert self.go(self.above(brick, height)).status is Status.SUCCEEDED
        grip = self.robot.grip(0.002, 40.0)
        assert grip.stalled, grip
        self.robot.wait(0.05)
        self.lift(0.1)
        assert self.world.is_held(brick)

    def lift(self, height: float, seconds: float = 1.0) -> MotionOutcome:
        tool = self.model.tool(self.world.arm.controller.desired)
        return self.go(tool.translated((0.0, 0.0, height)), seconds)


@pytest.fixture(scope="session")
def mover() -> type[Mover]:
    return Mover
