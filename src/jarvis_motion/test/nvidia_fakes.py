"""Stand-ins for NVIDIA's lula and cumotion that know the published names and no others.

Names: ``lula.pyi`` (lula 0.10.1) and ``_cumotion.pyi`` (cumotion 1.1.0a2) of the wheel isaacsim-robot-motion 6.0.1.
"""

from __future__ import annotations

from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import yaml
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_motion.backend import Obstacle
from jarvis_motion.ompl_backend import OmplBackend

#: What the backends use of each library: names of the module, and of its classes.
LULA = {
    "LogLevel": ("ERROR",),
    "Obstacle": ("Attribute", "AttributeValue", "Type", "set_attribute"),
    "Pose3": (),
    "RmpFlow": (
        "eval_accel",
        "set_cspace_attractor",
        "set_end_effector_orientation_attractor",
        "set_end_effector_position_attractor",
    ),
    "Rotation3": (),
    "World": ("add_obstacle", "add_world_view"),
    "create_obstacle": (),
    "create_rmpflow": (),
    "create_rmpflow_config_from_memory": (),
    "create_world": (),
    "generate_collision_spheres": (),
    "load_robot_from_memory": (),
    "set_log_level": (),
}
CUMOTION = {
    "LogLevel": ("ERROR",),
    "MotionPlanner": ("plan_to_cspace_target",),
    "MotionPlannerConfig": ("ParamValue", "set_param"),
    "Obstacle": ("Attribute", "AttributeValue", "Type", "set_attribute"),
    "Pose3": (),
    "World": ("add_obstacle", "add_world_view"),
    "create_default_motion_planner_config": (),
    "create_motion_planner": (),
    "create_obstacle": (),
    "create_world": (),
    "generate_collision_spheres": (),
    "load_robot_from_memory": (),
    "set_log_level": (),
}


class _Obstacle:
    Attribute = Enum("Attribute", ["HEIGHT", "RADIUS", "SIDE_LENGTHS"])
    AttributeValue = staticmethod(lambda value: value)

    def set_attribute(self, attribute: Any, value: Any) -> None:
        assert attribute is self.Attribute.SIDE_LENGTHS
        self.size = tuple(float(v) for v in value)


class _World:
    """Boxes as they were added; it is its own view."""

    def __init__(self) -> None:
        self.boxes: list[Obstacle] = []

    def add_obstacle(self, obstacle: _Obstacle, pose: FloatArray) -> None:
        self.boxes.append(Obstacle(f"box {len(self.boxes)}", Box(Pose.from_matrix(pose), obstacle.size)))

    def add_world_view(self) -> _World:
        return self


def _library(name: str, box_type: str, robots: list[dict[str, Any]]) -> ModuleType:
    """What both libraries have; ``robots`` keeps the descriptions they were given."""
    module = ModuleType(name)
    obstacle = type("Obstacle", (_Obstacle,), {"Type": Enum("Type", [box_type])})

    def load_robot_from_memory(description: str, robot_urdf: str) -> dict[str, Any]:
        robots.append(yaml.safe_load(description))
        return robots[-1]

    def generate_collision_spheres(
        vertices: list[FloatArray], triangles: list[Any], max_overshoot: float = 0.05
    ) -> list[SimpleNamespace]:
        corners = np.array(vertices)
        centre = (corners.min(axis=0) + corners.max(axis=0)) / 2
        return [SimpleNamespace(center=centre, radius=float(np.ptp(corners, axis=0).min()) / 2)]

    vars(module).update(
        LogLevel=Enum("LogLevel", ["ERROR"]),
        Obstacle=obstacle,
        Pose3=np.array,
        World=_World,
        create_obstacle=lambda type: obstacle(),
        create_world=_World,
        generate_collision_spheres=generate_collision_spheres,
        load_robot_from_memory=load_robot_from_memory,
        set_log_level=lambda level: None,
    )
    return module


def fake_cumotion(planner: OmplBackend, robots: list[dict[str, Any]]) -> ModuleType:
    """cuMotion whose motion planner is OMPL, among the boxes that it was given."""
    module = _library("cumotion", "CUBOID", robots)

    class MotionPlannerConfig:
        ParamValue = staticmethod(lambda value: value)

        def __init__(self, robot_description: Any, tool_frame_name: str, world_view: _World) -> None:
            assert robot_description["tool_frames"] == [tool_frame_name]
            self.world = world_view

        def set_param(self, param_name: str, value: float) -> bool:
            return param_name in {"seed", "step_size", "max_iterations", "max_sampling"}

    class MotionPlanner:
        def __init__(self, config: MotionPlannerConfig) -> None:
            self._world = config.world

        def plan_to_cspace_target(self, q_initial: FloatArray, q_target: FloatArray) -> SimpleNamespace:
            planner.set_obstacles(self._world.boxes)
            names = frozenset(box.id for box in self._world.boxes)
            way = planner._search(q_initial, q_target, names, 0)
            return SimpleNamespace(path_found=way is not None, path=[] if way is None else list(way))

    vars(module).update(
        MotionPlanner=MotionPlanner,
        MotionPlannerConfig=MotionPlannerConfig,
        create_default_motion_planner_config=MotionPlannerConfig,
        create_motion_planner=MotionPlanner,
    )
    return module


def fake_lula(robots: list[dict[str, Any]], settings: list[dict[str, Any]]) -> ModuleType:
    """lula whose policy goes straight to its joints' attractor, blind to obstacles."""
    module = _library("lula", "CUBE", robots)

    class RmpFlow:
        def set_cspace_attractor(self, cspace_position: FloatArray) -> None:
            self._goal = cspace_position

        def set_end_effector_position_attractor(self, position: FloatArray) -> None: ...

        def set_end_effector_orientation_attractor(self, orientation: FloatArray) -> None: ...

        def eval_accel(self, cspace_position: Any, cspace_velocity: Any, cspace_accel: Any) -> None:
            cspace_accel[:] = 100.0 * (self._goal - cspace_position) - 20.0 * cspace_velocity

    def create_rmpflow_config_from_memory(
        rmpflow_config: str, robot_description: Any, end_effector_frame: str, world_view: _World
    ) -> dict[str, Any]:
        settings.append(yaml.safe_load(rmpflow_config) | {"boxes": len(world_view.boxes)})
        return settings[-1]

    vars(module).update(
        RmpFlow=RmpFlow,
        Rotation3=np.array,
        create_rmpflow=lambda config: RmpFlow(),
        create_rmpflow_config_from_memory=create_rmpflow_config_from_memory,
    )
    return module
