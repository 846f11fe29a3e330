"""Stand-ins for MoveIt's messages and Python bindings that know the published names and no others.

Names: moveit_msgs (https://github.com/moveit/moveit_msgs, branch ros2), shape_msgs (common_interfaces, jazzy),
moveit_py (https://github.com/moveit/moveit2/tree/main/moveit_py/src/moveit: moveit_cpp.cpp, planning_component.cpp,
planning_scene.cpp, robot_state.cpp, robot_trajectory.cpp, planning_scene_monitor.cpp, planning_response.cpp).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
from geometry_msgs.msg import Pose
from jarvis_core.objects import Box
from jarvis_core.ros.conversions import pose_from_ros
from jarvis_motion.backend import Obstacle
from jarvis_motion.ompl_backend import OmplBackend
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint


def message(name: str, fields: dict[str, Callable[[], Any]], **constants: Any) -> type:
    """A message class: its fields by makers of their first values; another name is an error."""

    def init(self: Any, **values: Any) -> None:
        assert set(values) <= set(fields), (name, values)
        for field, make in fields.items():
            setattr(self, field, values[field] if field in values else make())

    return type(name, (), {"__slots__": tuple(fields), "__init__": init, **constants})


SolidPrimitive = message("SolidPrimitive", {"type": int, "dimensions": list}, BOX=1, SPHERE=2)
CollisionObject = message(
    "CollisionObject",
    {
        "header": Header,
        "pose": Pose,
        "id": str,
        "primitives": list,
        "primitive_poses": list,
        "operation": bytes,
    },
    ADD=b"\x00",
    REMOVE=b"\x01",
)
AttachedCollisionObject = message(
    "AttachedCollisionObject",
    {"link_name": str, "object": CollisionObject, "touch_links": list, "weight": float},
)
RobotStateMsg = message(
    "RobotState", {"joint_state": JointState, "attached_collision_objects": list, "is_diff": bool}
)
JointConstraint = message(
    "JointConstraint",
    dict.fromkeys(("position", "tolerance_above", "tolerance_below", "weight"), float) | {"joint_name": str},
)
Constraints = message("Constraints", {"name": str, "joint_constraints": list})
MoveItErrorCodes = message("MoveItErrorCodes", {"val": int}, SUCCESS=1, FAILURE=99999)
PlanningSceneWorld = message("PlanningSceneWorld", {"collision_objects": list})
PlanningSceneMsg = message(
    "PlanningScene", {"robot_state": RobotStateMsg, "world": PlanningSceneWorld, "is_diff": bool}
)
PlanningOptions = message("PlanningOptions", {"planning_scene_diff": PlanningSceneMsg, "plan_only": bool})
MotionPlanRequest = message(
    "MotionPlanRequest",
    {
        "start_state": RobotStateMsg,
        "goal_constraints": list,
        "group_name": str,
        "num_planning_attempts": int,
        "allowed_planning_time": float,
        "max_velocity_scaling_factor": float,
        "max_acceleration_scaling_factor": float,
    },
)
RobotTrajectoryMsg = message("RobotTrajectory", {"joint_trajectory": JointTrajectory})
MoveGroup = SimpleNamespace(
    Goal=message("MoveGroup_Goal", {"request": MotionPlanRequest, "planning_options": PlanningOptions}),
    Result=message(
        "MoveGroup_Result", {"error_code": MoveItErrorCodes, "planned_trajectory": RobotTrajectoryMsg}
    ),
)


def answer(
    planner: OmplBackend,
    start: dict[str, float],
    goal: dict[str, float],
    objects: list[Any],
    attached: list[Any],
) -> JointTrajectory | None:
    """What a planner that knows no more than these messages says: OMPL's way around the objects as they came."""
    config = planner._robot.config
    boxes = [Obstacle(o.id, box) for o in objects for box in boxes_of(o, config.base_link)]
    planner.set_obstacles(boxes)
    planner.detach()
    for thing in attached:
        assert thing.link_name == config.tool_link
        assert set(thing.touch_links) == planner._world.contacts.near_the_tool()
        planner.attach(thing.object.id, boxes_of(thing.object, config.tool_link))
    planner.set_gripper_width(2 * start[config.finger_joints[0]])
    ends = [np.array([values[name] for name in config.arm_joints]) for values in (start, goal)]
    way = planner._search(ends[0], ends[1], frozenset(o.id for o in boxes), 0)
    if way is None:
        return None
    names = list(reversed(config.arm_joints))  # a planner's order is its own
    points = [JointTrajectoryPoint(positions=[float(q) for q in reversed(row)]) for row in way]
    return JointTrajectory(joint_names=names, points=points)


def boxes_of(thing: Any, frame: str) -> list[Box]:
    assert thing.header.frame_id == frame
    assert thing.operation == CollisionObject.ADD
    assert thing.pose.orientation.w == 1.0
    assert all(p.type == SolidPrimitive.BOX for p in thing.primitives)
    places = [pose_from_ros(pose) for pose in thing.primitive_poses]
    return [Box(pose, tuple(p.dimensions)) for pose, p in zip(places, thing.primitives, strict=True)]


class RobotState:
    """moveit.core.robot_state.RobotState."""

    def __init__(self, robot_model: Any) -> None:
        self.joint_positions: dict[str, float] = {}

    def update(self, force: bool = False, type: str = "all") -> None: ...


class PlanningScene:
    """moveit.core.planning_scene.PlanningScene."""

    def __init__(self) -> None:
        self.objects: dict[str, Any] = {}
        self.attached: dict[str, Any] = {}
        self.current_state = RobotState(None)

    def remove_all_collision_objects(self) -> None:
        self.objects = {}

    def apply_collision_object(self, collision_object_msg: Any, color_msg: Any = None) -> None:
        assert color_msg is None
        self.objects[collision_object_msg.id] = collision_object_msg

    def process_attached_collision_object(self, object: Any) -> None:
        name = object.object.id
        if object.object.operation == CollisionObject.REMOVE:
            self.objects[name] = self.attached.pop(name).object  # it falls into the world
        else:
            self.attached[name] = object


class PlanningSceneMonitor:
    def __init__(self, scene: PlanningScene) -> None:
        self._scene = scene

    def read_write(self) -> PlanningSceneMonitor:
        return self

    def __enter__(self) -> PlanningScene:
        return self._scene

    def __exit__(self, *_: object) -> None: ...


class PlanRequestParameters:
    __slots__ = (
        "max_acceleration_scaling_factor",
        "max_velocity_scaling_factor",
        "planner_id",
        "planning_attempts",
        "planning_pipeline",
        "planning_time",
    )

    def __init__(self, moveit_cpp: Any, ns: str) -> None: ...


class PlanningComponent:
    def __init__(self, scene: PlanningScene, planner: OmplBackend) -> None:
        self._scene, self._planner = scene, planner

    def set_start_state(self, configuration_name: None = None, robot_state: Any = None) -> None:
        self._start = copy.deepcopy(robot_state.joint_positions)

    def set_goal_state(self, configuration_name: None = None, robot_state: Any = None) -> bool:
        self._goal = copy.deepcopy(robot_state.joint_positions)
        return True

    def plan(self, single_plan_parameters: Any = None) -> Any:
        scene = self._scene
        attached = list(scene.attached.values())
        found = answer(self._planner, self._start, self._goal, list(scene.objects.values()), attached)
        return found and SimpleNamespace(trajectory=RobotTrajectory(found))


class RobotTrajectory:
    def __init__(self, trajectory: JointTrajectory) -> None:
        self._trajectory = trajectory

    def get_robot_trajectory_msg(self, joint_filter: list[str] | None = None) -> Any:
        return RobotTrajectoryMsg(joint_trajectory=self._trajectory)


class MoveItPy:
    """moveit.planning.MoveItPy; ``planner`` answers, ``made`` keeps all there were."""

    planner: OmplBackend
    made: list[MoveItPy]

    def __init__(
        self,
        node_name: str = "moveit_py",
        launch_params_filepath: str = "",
        config_dict: dict[str, Any] | None = None,
        provide_planning_service: bool = True,
    ) -> None:
        self.node_name, self.config_dict = node_name, config_dict or {}
        self.scene = PlanningScene()
        self.shut = False
        self.made.append(self)

    def get_planning_component(self, planning_component_name: str) -> PlanningComponent:
        return PlanningComponent(self.scene, self.planner)

    def get_planning_scene_monitor(self) -> PlanningSceneMonitor:
        return PlanningSceneMonitor(self.scene)

    def get_robot_model(self) -> object:
        return object()

    def shutdown(self) -> None:
        self.shut = True


def modules() -> dict[str, ModuleType]:
    """The fake modules by name."""

    def module(name: str, **names: Any) -> ModuleType:
        made = ModuleType(name)
        vars(made).update(names)
        return made

    messages = {
        "AttachedCollisionObject": AttachedCollisionObject,
        "CollisionObject": CollisionObject,
        "Constraints": Constraints,
        "JointConstraint": JointConstraint,
        "MoveItErrorCodes": MoveItErrorCodes,
        "RobotState": RobotStateMsg,
    }
    planning = {"MoveItPy": MoveItPy, "PlanRequestParameters": PlanRequestParameters}
    return {
        "moveit": module("moveit"),
        "moveit.core": module("moveit.core"),
        "moveit.core.robot_state": module("moveit.core.robot_state", RobotState=RobotState),
        "moveit.planning": module("moveit.planning", **planning),
        "moveit_msgs": module("moveit_msgs"),
        "moveit_msgs.action": module("moveit_msgs.action", MoveGroup=MoveGroup),
        "moveit_msgs.msg": module("moveit_msgs.msg", **messages),
        "shape_msgs": module("shape_msgs"),
        "shape_msgs.msg": module("shape_msgs.msg", SolidPrimitive=SolidPrimitive),
    }
