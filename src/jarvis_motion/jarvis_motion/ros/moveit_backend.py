"""MoveIt 2 by its Python bindings (moveit_py): OMPL's RRT-Connect in MoveIt's planning scene.

Written against moveit_py of MoveIt 2.12 (Jazzy), https://github.com/moveit/moveit2/tree/jazzy/moveit_py; not run on
this project's machines. No move_group is needed, and nothing is executed by it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from jarvis_core.pose import FloatArray
from jarvis_robot.model import RobotModel
from moveit.core.robot_state import RobotState
from moveit.planning import MoveItPy, PlanRequestParameters

from jarvis_motion.config import MotionConfig
from jarvis_motion.ros.moveit_messages import (
    dropped_object,
    held_object,
    joint_values,
    obstacle_objects,
    srdf_with_group,
    urdf_without_base,
    way_from_ros,
)
from jarvis_motion.way_planner import WayPlanner

#: The bindings write the parameters for a node of this name, whatever name the node gets.
NODE = "moveit_py"
GROUP = "planned_arm"
PIPELINE = "ompl"
PLANNER = "RRTConnect"
#: Of one search, wall clock: MoveIt knows no other limit.
PLANNING_TIME_S = 5.0


class MoveItBackend(WayPlanner):
    """The MotionBackend of MoveIt. Kinematics, timing and the last check are this project's."""

    @property
    def name(self) -> str:
        return "moveit"

    def _prepare(self) -> None:
        super()._prepare()
        self._moveit = MoveItPy(node_name=NODE, config_dict=parameters(self._robot, self._config))
        self._arm = self._moveit.get_planning_component(GROUP)
        self._scenes = self._moveit.get_planning_scene_monitor()
        self._request = PlanRequestParameters(self._moveit, "")
        self._request.planning_pipeline = PIPELINE
        self._request.planner_id = PLANNER
        self._request.planning_attempts = 1
        self._request.planning_time = PLANNING_TIME_S
        self._request.max_velocity_scaling_factor = 1.0
        self._request.max_acceleration_scaling_factor = 1.0
        self._holding = False

    def close(self) -> None:
        """End MoveIt's node."""
        self._moveit.shutdown()

    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        with self._scenes.read_write() as scene:
            self._fill(scene, close)
        self._arm.set_start_state(robot_state=self._state(start))
        self._arm.set_goal_state(robot_state=self._state(goal))
        found = self._arm.plan(single_plan_parameters=self._request)
        if not found:
            return None
        message = found.trajectory.get_robot_trajectory_msg()
        way = way_from_ros(message.joint_trajectory, self._names)
        return self._tidied(start, way, goal, close, attempt)

    def _fill(self, scene: Any, close: frozenset[str]) -> None:
        config, world = self._robot.config, self._world
        if self._holding:
            # What is dropped becomes an obstacle in MoveIt, which it is not here: all of them go next.
            scene.process_attached_collision_object(dropped_object(config))
        scene.remove_all_collision_objects()
        for message in obstacle_objects(world.padded(close).boxes(), config):
            scene.apply_collision_object(message)
        self._holding = bool(world.held)
        if self._holding:
            touching = world.contacts.near_the_tool()
            scene.process_attached_collision_object(held_object(world.held, config, touching))
        scene.current_state = self._state(np.array(config.ready_rad))
        scene.current_state.update()

    def _state(self, joints: FloatArray) -> RobotState:
        state = RobotState(self._moveit.get_robot_model())
        state.joint_positions = joint_values(joints, self._world.width_m, self._robot.config)
        state.update()
        return state


def parameters(robot: RobotModel, config: MotionConfig) -> dict[str, Any]:
    """The parameters of MoveIt's node: robot, scene, one pipeline with one planner.

    Responses are neither timed nor judged there: that happens here.
    """
    return {
        "robot_description": urdf_without_base(robot.urdf_with_files(), robot.config.base_link),
        "robot_description_semantic": srdf_with_group(robot.srdf, GROUP, robot.config),
        "planning_scene_monitor_options": {
            "name": "planning_scene_monitor",
            "robot_description": "robot_description",
            "joint_state_topic": "/joint_states",
            "wait_for_initial_state_timeout": 0.0,
        },
        "planning_pipelines": {"pipeline_names": [PIPELINE]},
        "plan_request_params": {"planning_pipeline": PIPELINE, "planner_id": PLANNER, "planning_attempts": 1},
        PIPELINE: {
            "planning_plugins": ["ompl_interface/OMPLPlanner"],
            "request_adapters": [
                "default_planning_request_adapters/ResolveConstraintFrames",
                "default_planning_request_adapters/ValidateWorkspaceBounds",
                "default_planning_request_adapters/CheckStartStateBounds",
                "default_planning_request_adapters/CheckStartStateCollision",
            ],
            "planner_configs": {PLANNER: {"type": "geometric::RRTConnect", "range": config.rrt.connect_rad}},
            GROUP: {
                "planner_configs": [PLANNER],
                # A share of the space's extent; finer than rrt.step_rad for joints that turn by 2 pi.
                "longest_valid_segment_fraction": config.rrt.step_rad / (2 * np.pi * np.sqrt(robot.n_joints)),
            },
        },
    }
