"""NVIDIA's RMPflow (library lula, on the processor): a motion policy, rolled out until it comes to the goal.

A policy is no search: it can stop in front of an obstacle. Later attempts pass over the obstacles on their way.
Ratliff et al., Riemannian Motion Policies, arXiv:1801.02854; Cheng et al., RMPflow, arXiv:1811.07049. Names: lula 0.10,
``lula.pyi`` of the wheel; https://docs.isaacsim.omniverse.nvidia.com/latest/manipulators/manipulators_lula_python_api.html.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import yaml
from jarvis_core.config import load_default
from jarvis_core.pose import FloatArray
from jarvis_robot.model import RobotModel

from jarvis_motion.boxes import BoxArray
from jarvis_motion.config import RmpflowConfig
from jarvis_motion.prebundled import import_prebundled
from jarvis_motion.spheres import Sphere, box_spheres, link_spheres
from jarvis_motion.way_planner import WayPlanner

lula: Any = import_prebundled("lula")


class RmpflowBackend(WayPlanner):
    """The MotionBackend of RMPflow."""

    @property
    def name(self) -> str:
        return "rmpflow"

    def _prepare(self) -> None:
        super()._prepare()
        lula.set_log_level(lula.LogLevel.ERROR)
        self._policy_config = load_default("rmpflow", RmpflowConfig)
        self._spheres = link_spheres(self._robot, self._cover_mesh)

    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        policy = self._policy(close)
        step = self._config.rrt.step_rad
        way = [start[None, :]]
        for target in [*self._over(start, goal, attempt), goal]:
            here = way[-1][-1]
            straight = self._world.way_is_free(here, target, close, step)
            leg = target[None, :] if straight else self._rolled_out(policy, here, target)
            if leg is None:
                return None
            way.append(leg)
        return self._tidied(start, np.vstack(way), goal, close, attempt)

    def _over(self, start: FloatArray, goal: FloatArray, attempt: int) -> list[FloatArray]:
        """Joint positions to pass: none at first, later above start and goal, near and far, as far as in reach."""
        if not attempt:
            return []
        config = self._policy_config
        lifts = (config.near_m, config.lift_m * attempt)
        up, down = (
            [self._solve(self._robot.tool(q).translated((0.0, 0.0, lift)), q) for lift in lifts]
            for q in (start, goal)
        )
        return [q for q in (*up, *reversed(down)) if q is not None]

    def _rolled_out(self, policy: Any, start: FloatArray, goal: FloatArray) -> FloatArray | None:
        """(k, n) joint positions from ``start`` on until the policy stands at ``goal``; None: it does not get there."""
        config = self._policy_config
        tool = self._robot.tool(goal)
        policy.set_cspace_attractor(goal)
        policy.set_end_effector_position_attractor(tool.position)
        policy.set_end_effector_orientation_attractor(lula.Rotation3(tool.rotation))
        q, speed, push = start.copy(), np.zeros(len(start)), np.zeros(len(start))
        way = []
        for _ in range(config.steps):
            policy.eval_accel(q, speed, push)
            speed = speed + push * config.step_s
            q = np.clip(q + speed * config.step_s, self._robot.limits.lower, self._robot.limits.upper)
            way.append(q)
            if np.abs(q - goal).max() < config.arrived_rad:
                return np.array(way)
        return None

    def _policy(self, close: frozenset[str]) -> Any:
        world = lula.create_world()
        _fill(world, self._world.padded(close))
        held = box_spheres(self._world.held)
        tool = self._robot.config.tool_link
        spheres = {**self._spheres, tool: [*self._spheres.get(tool, []), *held]}
        text = robot_description(self._robot, spheres, self._world.width_m)
        description = lula.load_robot_from_memory(text, self._robot.urdf)
        settings = lula.create_rmpflow_config_from_memory(
            self._settings(), description, tool, world.add_world_view()
        )
        return lula.create_rmpflow(settings)

    def _settings(self) -> str:
        config = self._policy_config
        return yaml.safe_dump(
            {
                "joint_limit_buffers": [config.joint_limit_buffer_rad] * len(self._names),
                "rmp_params": config.rmp_params,
                "canonical_resolve": config.canonical_resolve,
                # Against the arm itself: the final check looks at the links themselves.
                "body_cylinders": [],
                "body_collision_controllers": [],
            }
        )

    def _cover_mesh(self, vertices: FloatArray, triangles: FloatArray) -> list[Sphere]:
        found = lula.generate_collision_spheres(
            list(vertices), list(triangles.astype(np.int32)), max_overshoot=self._policy_config.overshoot_m
        )
        return [(np.array(sphere.center), float(sphere.radius)) for sphere in found]


def robot_description(robot: RobotModel, spheres: dict[str, list[Sphere]], width_m: float) -> str:
    """The robot as lula's file of robot descriptions has it."""
    config = robot.config
    fixed = [joint.name for joint in robot.finger_joints if joint.mimic is None]
    return yaml.safe_dump(
        {
            "api_version": 1.0,
            "cspace": list(config.arm_joints),
            "root_link": config.base_link,
            "default_q": list(config.ready_rad),
            "acceleration_limits": list(config.max_acceleration_rad_s2),
            "jerk_limits": list(config.max_jerk_rad_s3),
            "cspace_to_urdf_rules": [{"name": name, "rule": "fixed", "value": width_m / 2} for name in fixed],
            "collision_spheres": [
                {
                    link: [
                        {"center": [float(v) for v in centre], "radius": float(radius)}
                        for centre, radius in kept
                    ]
                }
                for link, kept in spheres.items()
                if kept
            ],
        }
    )


def _fill(world: Any, boxes: BoxArray) -> None:
    """The boxes as obstacles: the base link's frame is ``world``."""
    obstacle = lula.Obstacle
    for centre, rotation, half in zip(boxes.centre, boxes.rotation, boxes.half, strict=True):
        cuboid = lula.create_obstacle(obstacle.Type.CUBE)
        cuboid.set_attribute(obstacle.Attribute.SIDE_LENGTHS, obstacle.AttributeValue(2 * half))
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rotation, centre
        world.add_obstacle(cuboid, lula.Pose3(matrix))
