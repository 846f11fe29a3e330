"""roboplan (Pinocchio and Coal underneath): inverse kinematics, RRT-Connect and TOPP-RA."""

from __future__ import annotations

import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from roboplan import core, rrt, simple_ik, toppra

from jarvis_motion.box_world import BoxWorld
from jarvis_motion.planner import ArmPlanner
from jarvis_motion.world import grown

#: Accuracy of inverse kinematics: ten times better than promised.
_IK_POSITION_M = 1e-6
_IK_ANGLE_RAD = 1e-5
#: A search looks at obstacles this close to the direct way first, and adds those that its result runs into.
_REACH_M = 0.1
_ROUNDS = 6


class RoboplanBackend(ArmPlanner):
    """The MotionBackend of roboplan."""

    @property
    def name(self) -> str:
        return "roboplan"

    def _prepare(self) -> None:
        self._bare = self._new_world()
        self._limits_yaml = _acceleration_limits(self._robot)
        options = simple_ik.SimpleIkOptions(
            group_name=BoxWorld.group,
            max_iters=60,
            max_time=10.0,  # a limit in seconds would make results depend on the machine's load
            max_restarts=0,
            step_size=1.0,
            max_linear_error_norm=_IK_POSITION_M,
            max_angular_error_norm=_IK_ANGLE_RAD,
            check_collisions=False,
        )
        self._ik = simple_ik.SimpleIk(self._bare.scene, options)

    def close(self) -> None:
        """Nothing to give back: the library lives in this process."""

    @cached_property
    def _searched_world(self) -> BoxWorld:
        """Made when a search is needed: most motions go straight."""
        return self._new_world()

    def _new_world(self) -> BoxWorld:
        return BoxWorld(self._robot, self._world.contacts.near_the_tool(), self._config.rebuild_above)

    def _solve(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        config, names = self._robot.config, list(self._names)
        goal = core.CartesianConfiguration(config.base_link, config.tool_link, np.asfortranarray(tool.matrix))
        start = core.JointConfiguration(names, np.asarray(seed, dtype=np.float64))
        solution = core.JointConfiguration(names, np.zeros(len(names)))
        if not self._ik.solveIk(goal, start, solution):
            return None
        q: FloatArray = np.array(solution.positions)
        return q

    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        """RRT-Connect among the obstacles that matter: the scene's checks take time for every box in it."""
        padding = self._config.padding_m
        matter = self._world.near_way(start, goal, _REACH_M)
        for _ in range(_ROUNDS):
            boxes = {
                name: kept if name in close else grown(kept, padding)
                for name, kept in self._world.obstacles.items()
                if name in matter
            }
            self._searched_world.place(boxes)
            corners = self._searched_path(start, goal, attempt)
            if corners is None:
                return None
            blocking = self._world.blocking(corners, close)
            if blocking <= matter:
                return corners
            matter = matter | blocking
        return None

    def _searched_path(self, start: FloatArray, goal: FloatArray, attempt: int) -> FloatArray | None:
        config, world = self._config.rrt, self._searched_world
        world.hold(self._world.held)
        world.set_gripper_width(self._world.width_m)
        step = config.step_rad / 2**attempt
        options = rrt.RRTOptions(
            group_name=BoxWorld.group,
            max_nodes=config.max_nodes,
            max_connection_distance=config.connect_rad,
            collision_check_step_size=step,
            rrt_connect=True,
        )
        planner = rrt.RRT(world.scene, options)
        planner.setRngSeed(self._config.seed + attempt)
        begin, end = (core.JointConfiguration(list(self._names), q) for q in (start, goal))
        try:
            path = planner.plan(begin, end)
        except RuntimeError:  # the library's way to say that it found none
            return None
        shortcuts = core.PathShortcuttingOptions(
            group_name=BoxWorld.group,
            max_step_size=step,
            max_iters=config.shortcut_iterations,
            seed=self._config.seed + attempt,
        )
        short = core.PathShortcutter(world.scene, shortcuts).shortcut(path)
        return np.array(short.positions)

    def _around(self, corners: FloatArray, speed: float) -> JointTrajectory:
        """Timed by TOPP-RA, which also rounds the corners where that touches nothing."""
        scene = self._searched_world.scene
        scene.importJointLimitsFromConfig(self._limits_yaml)
        joint_path = core.JointPath()
        joint_path.joint_names = list(self._names)
        joint_path.positions = list(corners)
        options = toppra.TOPPRAOptions(
            dt=self._config.sample_s,
            mode=toppra.SplineFittingMode.Adaptive,
            velocity_scale=speed * self._config.velocity_scale,
            acceleration_scale=self._config.acceleration_scale,
        )
        raw = toppra.PathParameterizerTOPPRA(scene, BoxWorld.group).generate(joint_path, options)
        arrays = (raw.times, raw.positions, raw.velocities, raw.accelerations)
        return self._within_limits(JointTrajectory(self._names, *(np.array(a) for a in arrays)), speed)


def _acceleration_limits(robot: RobotModel) -> Any:
    """The library reads acceleration and jerk limits from a file only."""
    limits = {
        name: {"max_acceleration": [float(a)], "max_jerk": [float(j)]}
        for name, a, j in zip(
            robot.config.arm_joints, robot.limits.acceleration, robot.limits.jerk, strict=True
        )
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "limits.yaml"
        path.write_text(yaml.safe_dump({"joint_limits": limits}), encoding="utf-8")
        return core.loadJointLimitsConfig(path)
