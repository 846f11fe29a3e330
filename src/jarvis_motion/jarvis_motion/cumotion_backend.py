"""NVIDIA cuMotion's graph planner: an RRT, the robot as spheres. Its worlds need CUDA.

Its trajectory optimiser is not used: a search is only asked for where the straight way is blocked.
Names: cumotion 1.1, ``_cumotion.pyi`` of the wheel; https://nvidia-isaac.github.io/cumotion/api/python_api.html.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import yaml
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.pose import FloatArray
from jarvis_robot.model import RobotModel

from jarvis_motion.boxes import BoxArray
from jarvis_motion.prebundled import import_prebundled
from jarvis_motion.spheres import Sphere, box_spheres, link_spheres
from jarvis_motion.way_planner import WayPlanner

cumotion: Any = import_prebundled("cumotion")

#: How far the spheres of a mesh may stick out of it.
_OVERSHOOT_M = 0.01


class CumotionBackend(WayPlanner):
    """The MotionBackend of cuMotion."""

    @property
    def name(self) -> str:
        return "cumotion"

    def _prepare(self) -> None:
        super()._prepare()
        cumotion.set_log_level(cumotion.LogLevel.ERROR)
        try:
            cumotion.create_world().add_world_view()
        except RuntimeError as error:
            raise MissingCapabilityError(
                "motion backend cumotion has no CUDA",
                where=_plain(error),
                fix="an NVIDIA GPU with a current driver",
            ) from error
        self._spheres = link_spheres(self._robot, _cover_mesh)

    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        world = cumotion.create_world()
        _fill(world, self._world.padded(close))
        description = cumotion.load_robot_from_memory(self._xrdf(), self._robot.urdf)
        config = cumotion.create_default_motion_planner_config(
            description, self._robot.config.tool_link, world.add_world_view()
        )
        rrt = self._config.rrt
        for name, value in {
            "seed": self._config.seed + attempt + 1,
            "step_size": rrt.step_rad / 2**attempt,
            "max_iterations": rrt.max_nodes,
            "max_sampling": rrt.max_nodes,
        }.items():
            config.set_param(name, cumotion.MotionPlannerConfig.ParamValue(value))
        found = cumotion.create_motion_planner(config).plan_to_cspace_target(start, goal)
        if not found.path_found:
            return None
        return self._tidied(start, np.array(found.path), goal, close, attempt)

    def _xrdf(self) -> str:
        held = box_spheres(self._world.held)
        tool = self._robot.config.tool_link
        spheres = {**self._spheres, tool: [*self._spheres.get(tool, []), *held]}
        return robot_xrdf(self._robot, spheres, self._world.width_m)


def robot_xrdf(robot: RobotModel, spheres: dict[str, list[Sphere]], width_m: float) -> str:
    """The robot in NVIDIA's Extended Robot Description Format 2.0, spheres as its shape against the world.

    Against itself it has none: spheres of neighbouring links always overlap, and the final check looks at the links
    themselves. https://nvidia-isaac-ros.github.io/concepts/manipulation/xrdf.html
    """
    config = robot.config
    joints = dict(zip(config.arm_joints, config.ready_rad, strict=True))
    joints.update((joint.name, width_m / 2) for joint in robot.finger_joints if joint.mimic is None)
    shapes = {
        link: [{"center": [float(v) for v in centre], "radius": float(radius)} for centre, radius in kept]
        for link, kept in spheres.items()
        if kept
    }
    return yaml.safe_dump(
        {
            "format": "xrdf",
            "format_version": 2.0,
            "default_joint_positions": joints,
            "cspace": {
                "joint_names": list(config.arm_joints),
                "acceleration_limits": list(config.max_acceleration_rad_s2),
                "jerk_limits": list(config.max_jerk_rad_s3),
            },
            "tool_frames": [config.tool_link],
            "world_collision": {"geometry": "spheres"},
            "geometry": {"spheres": {"spheres": shapes}},
        }
    )


def _plain(error: RuntimeError) -> str:
    """A message without the library's colours, its first line."""
    return re.sub(r"\x1b\[\d*m", "", str(error)).strip().partition("\n")[0]


def _cover_mesh(vertices: FloatArray, triangles: FloatArray) -> list[Sphere]:
    found = cumotion.generate_collision_spheres(
        list(vertices), list(triangles.astype(np.int32)), max_overshoot=_OVERSHOOT_M
    )
    return [(np.array(sphere.center), float(sphere.radius)) for sphere in found]


def _fill(world: Any, boxes: BoxArray) -> None:
    """The boxes as obstacles: the base link's frame is ``world``."""
    obstacle = cumotion.Obstacle
    for centre, rotation, half in zip(boxes.centre, boxes.rotation, boxes.half, strict=True):
        cuboid = cumotion.create_obstacle(obstacle.Type.CUBOID)
        cuboid.set_attribute(obstacle.Attribute.SIDE_LENGTHS, obstacle.AttributeValue(2 * half))
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = rotation, centre
        world.add_obstacle(cuboid, cumotion.Pose3(matrix))
