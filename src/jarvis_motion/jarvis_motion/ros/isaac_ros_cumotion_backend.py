"""Isaac ROS cuMotion behind its action: its planner node runs elsewhere, with a GPU.

Written against isaac_ros_cumotion 3.2, https://github.com/NVIDIA-ISAAC-ROS/isaac_ros_cumotion, ``cumotion_planner.py``:
the node reads start state, goal joints and the scene's collision objects from a MoveGroup goal, and answers with a
trajectory to the goal joints' tool pose. Not run on this project's machines.
"""

from __future__ import annotations

import rclpy
from jarvis_core.pose import FloatArray
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import require_server, wait_for
from moveit_msgs.action import MoveGroup
from moveit_msgs.msg import Constraints, JointConstraint, MoveItErrorCodes
from rclpy.action import ActionClient
from rclpy.context import Context

from jarvis_motion.ros.moveit_messages import held_object, obstacle_objects, robot_state, way_from_ros
from jarvis_motion.way_planner import WayPlanner

ACTION = "cumotion/move_group"
#: Wall-clock limits; the first goal waits for CUDA kernels to be compiled.
SERVER_TIMEOUT_S = 10.0
ANSWER_TIMEOUT_S = 60.0
#: How exactly the goal joints are asked for.
GOAL_TOLERANCE_RAD = 1e-3


class IsaacRosCumotionBackend(WayPlanner):
    """The MotionBackend of Isaac ROS cuMotion. Kinematics, timing and the last check are this project's.

    Its planner chooses joint positions for the goal's tool pose; from there to the asked ones the way goes straight,
    if that is free. What the tool carries is sent, though the planner of release 3.2 looks at the world only: it
    learns of held objects by an action of its own, ``AttachObject``, which wants depth images.
    """

    @property
    def name(self) -> str:
        return "isaac_ros_cumotion"

    def _prepare(self) -> None:
        super()._prepare()
        # A context of its own: whether the caller's process uses ROS is not this backend's business.
        self._context = Context()
        rclpy.init(context=self._context)
        self._node = rclpy.create_node("jarvis_cumotion_client", context=self._context)
        self._client: ActionClient = ActionClient(self._node, MoveGroup, ACTION)
        self._executor = BackgroundExecutor(self._node, context=self._context, name="cumotion client")
        try:
            require_server(self._client, ACTION, SERVER_TIMEOUT_S)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """End the client's node."""
        self._executor.close()
        self._node.destroy_node()
        rclpy.try_shutdown(context=self._context)

    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        handle = wait_for(
            self._client.send_goal_async(self._goal(start, goal, close)), ANSWER_TIMEOUT_S, ACTION
        )
        if not handle.accepted:
            return None
        result = wait_for(handle.get_result_async(), ANSWER_TIMEOUT_S, ACTION).result
        points = result.planned_trajectory.joint_trajectory.points
        if result.error_code.val != MoveItErrorCodes.SUCCESS or not points:
            return None
        way = way_from_ros(result.planned_trajectory.joint_trajectory, self._names)
        return self._tidied(start, way, goal, close, attempt)

    def _goal(self, start: FloatArray, goal: FloatArray, close: frozenset[str]) -> MoveGroup.Goal:
        config, world = self._robot.config, self._world
        message = MoveGroup.Goal()
        request = message.request
        request.start_state = robot_state(start, world.width_m, config)
        request.goal_constraints = [Constraints(joint_constraints=self._joints(goal))]
        request.num_planning_attempts = 1
        request.max_velocity_scaling_factor = request.max_acceleration_scaling_factor = 1.0
        scene = message.planning_options.planning_scene_diff
        scene.is_diff = True
        scene.world.collision_objects = obstacle_objects(world.padded(close).boxes(), config)
        if world.held:
            touching = world.contacts.near_the_tool()
            scene.robot_state.is_diff = True
            scene.robot_state.attached_collision_objects = [held_object(world.held, config, touching)]
        message.planning_options.plan_only = True
        return message

    def _joints(self, goal: FloatArray) -> list[JointConstraint]:
        return [
            JointConstraint(
                joint_name=name,
                position=float(q),
                tolerance_above=GOAL_TOLERANCE_RAD,
                tolerance_below=GOAL_TOLERANCE_RAD,
                weight=1.0,
            )
            for name, q in zip(self._names, goal, strict=True)
        ]
