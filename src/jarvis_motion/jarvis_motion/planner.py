"""What all backends of this process share: the world, goals, lines, timing, checks and reasons.

A backend adds inverse kinematics and a search for ways around obstacles. It is trusted for speed, not for promises:
every trajectory is stretched until it keeps its limits and checked densely for collisions here.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_robot.model import JointLimits, RobotModel

from jarvis_motion.backend import Obstacle, Plan
from jarvis_motion.checks import dense_positions, limit_faults, stretch_needed, stretched
from jarvis_motion.config import MotionConfig
from jarvis_motion.goals import GoalSeeds
from jarvis_motion.lines import LineFault, ToolLine, deviation_message, follow_line, tool_deviation
from jarvis_motion.reach import explain_unreachable
from jarvis_motion.timing import timed
from jarvis_motion.world import MotionWorld

#: Measured joint positions may lie this far outside the limits.
_START_TOLERANCE_RAD = 2e-3


class ArmPlanner(ABC):
    """A MotionBackend but for inverse kinematics and search; its methods' promises stand in ``backend``."""

    def __init__(self, robot: RobotModel, config: MotionConfig) -> None:
        self._robot = robot
        self._config = config
        self._names = tuple(robot.config.arm_joints)
        self._world = MotionWorld(robot, config)
        self._prepare()
        self._seeds = GoalSeeds(robot, config, self._solve)
        self.set_gripper_width(robot.config.gripper.max_width_m)

    # -- what a backend adds

    @property
    @abstractmethod
    def name(self) -> str: ...

    @abstractmethod
    def _prepare(self) -> None:
        """Load what the library needs."""

    @abstractmethod
    def _solve(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        """(n,) joint positions within limits that reach ``tool``, by iteration from ``seed``."""

    @abstractmethod
    def _search(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], attempt: int
    ) -> FloatArray | None:
        """(k, n) corners of a way around the padded obstacles (those of ``close`` as they are); None: none found.

        ``attempt`` counts from 0: later ones use other random numbers and finer steps.
        """

    @abstractmethod
    def _around(self, corners: FloatArray, speed: float) -> JointTrajectory:
        """A searched way, timed within ``_planning_limits``. Where it cuts corners is checked afterwards."""

    # -- world

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Replace the collision world. Obstacles of the same id form one."""
        self._world.set_obstacles(obstacles)

    def attach(self, object_id: str, boxes: Sequence[Box]) -> None:
        """Carry boxes given in the tool frame; the obstacle of that id vanishes."""
        self._world.attach(object_id, boxes)

    def detach(self) -> None:
        """Carry nothing. The object is no obstacle until ``set_obstacles`` says where it lies."""
        self._world.detach()

    def set_gripper_width(self, width_m: float) -> None:
        """Distance between the pads that later plans assume; clipped to what the gripper can do."""
        self._world.width_m = min(max(width_m, 0.0), self._robot.config.gripper.max_width_m)

    @abstractmethod
    def close(self) -> None: ...

    # -- kinematics

    def forward(self, joints: FloatArray) -> Pose:
        """Tool pose in ``world`` of (n,) joint positions."""
        return self._robot.tool(joints)

    def inverse(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        """(n,) joint positions that reach ``tool``, near ``seed`` if there are such; None when none was found.

        Collisions are not considered.
        """
        found = self._solve(tool, seed)
        if found is not None:
            return found
        return next((q for s in self._seeds.near(tool) if (q := self._solve(tool, s)) is not None), None)

    # -- plans

    def plan_to_joints(self, start: FloatArray, goal: FloatArray, *, speed: float = 1.0) -> Plan:
        """Collision-free motion to (n,) joint positions."""
        begin, fault = self._checked_start(start, ())
        if fault is not None:
            return fault
        limits = self._robot.limits
        outside = (goal < limits.lower - _START_TOLERANCE_RAD) | (goal > limits.upper + _START_TOLERANCE_RAD)
        if outside.any():
            names = ", ".join(name for name, bad in zip(self._names, outside, strict=True) if bad)
            return _failed(f"joint limit: the goal is out of the range of {names}")
        return self._plan_free(begin, [np.clip(goal, limits.lower, limits.upper)], _checked_speed(speed))

    def plan_to_pose(self, start: FloatArray, tool: Pose, *, speed: float = 1.0) -> Plan:
        """Collision-free motion to a tool pose: of several joint positions the quickest is tried first."""
        begin, fault = self._checked_start(start, ())
        if fault is not None:
            return fault
        goals = self._seeds.goals(begin, tool)
        if not goals:
            return _failed(explain_unreachable(self._robot, tool, [begin, *self._seeds.near(tool)[:2]]))
        return self._plan_free(begin, goals, _checked_speed(speed))

    def plan_line(
        self, start: FloatArray, tool: Pose, *, speed: float = 1.0, allow_contact: Sequence[str] = ()
    ) -> Plan:
        """Straight line of the tool. Obstacles in ``allow_contact`` are left out of the collision world."""
        begin, fault = self._checked_start(start, allow_contact)
        if fault is not None:
            return fault
        return self._plan_line(
            begin, ToolLine(self._robot.tool(begin), tool), _checked_speed(speed), allow_contact
        )

    def validate(self, trajectory: JointTrajectory, *, allow_contact: Sequence[str] = ()) -> tuple[str, ...]:
        """Why a trajectory should not run in this world: joint, time and obstacle; nothing if it may."""
        if trajectory.joint_names != self._names:
            return (f"it moves {', '.join(trajectory.joint_names)}, the arm has {', '.join(self._names)}",)
        faults = [f"joint limit: {fault}" for fault in limit_faults(trajectory, self._robot.limits)]
        positions = dense_positions(trajectory, self._config.check_step_rad)
        bad = self._world.first_contact(positions, allow_contact)
        if bad is not None:
            where = ", ".join(f"{v:.3f}" for v in self._robot.tool(positions[bad]).position)
            when = self._time_of(trajectory, positions[bad])
            what = self._world.what_touches(positions[bad], allow_contact)
            faults.append(f"{what} at {when:.2f} s with the tool at ({where})")
        return tuple(faults)

    # -- lines

    def _plan_line(self, start: FloatArray, line: ToolLine, speed: float, allowed: Sequence[str]) -> Plan:
        config = self._config.line
        if line.length_m < 1e-6 and line.angle_rad < 1e-5:
            return self._still(start)
        faulted, why = False, ""
        for step_m, step_rad, telling in config.steps():
            if faulted and not telling:
                continue
            poses = line.poses(step_m, step_rad)
            path = follow_line(poses, start, self._solve, config.max_joint_step_rad)
            faulted = isinstance(path, LineFault)
            if isinstance(path, LineFault):
                why = self._line_message(path, poses, line)
                if telling:
                    break
                continue
            trajectory = self._timed_line(path, line, speed)
            why = deviation_message(
                *tool_deviation(self._robot, trajectory, line), config.tolerance_m, config.tolerance_rad
            )
            if not why:
                return self._checked(trajectory, allowed)
        return _failed(why)

    def _timed_line(self, path: FloatArray, line: ToolLine, speed: float) -> JointTrajectory:
        config = self._config.line
        length, angle = max(line.length_m, 1e-9), max(line.angle_rad, 1e-9)
        return self._smooth(
            path,
            speed,
            max_speed=speed * min(config.speed_m_s / length, config.turn_rad_s / angle),
            max_speed_change=min(config.acceleration_m_s2 / length, config.turn_acceleration_rad_s2 / angle),
        )

    def _line_message(self, fault: LineFault, poses: Sequence[Pose], line: ToolLine) -> str:
        done = 100.0 * fault.index / (len(poses) - 1)
        if fault.jump is not None:
            return (
                f"the straight line can't be followed beyond {done:.0f} % of it: {self._names[fault.jump]} "
                f"would have to jump (singular position); reach the same place by a free motion"
            )
        why = explain_unreachable(self._robot, poses[fault.index], [fault.last])
        return f"the straight line of {line.length_m * 1000:.0f} mm ends after {done:.0f} % of it: {why}"

    # -- free motions

    def _plan_free(self, start: FloatArray, goals: Sequence[FloatArray], speed: float) -> Plan:
        """To the first of ``goals`` that can be reached, straight in joint space if possible."""
        at_goal = self._world.contact(np.array(goals))
        free = [goal for goal, bad in zip(goals, at_goal, strict=True) if not bad]
        blocked = next((goal for goal, bad in zip(goals, at_goal, strict=True) if bad), None)
        refusal = (
            f"the goal is in collision: {self._world.what_touches(blocked)}" if blocked is not None else ""
        )
        for planner in (self._straight, self._searched):
            for goal in free:
                close = self._world.close_to(start, goal)
                for trajectory in planner(start, goal, close, speed):
                    plan = self._checked(trajectory, ())
                    if plan.status is Status.SUCCEEDED:
                        return plan
                    refusal = refusal or plan.message
        return _failed(
            refusal or f"no way around the obstacles was found ({self._world.what_blocks(start, goals[0])})"
        )

    def _straight(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], speed: float
    ) -> Iterable[JointTrajectory]:
        if self._world.way_is_free(start, goal, close, self._config.rrt.step_rad):
            yield self._smooth(np.array([start, goal]), speed)

    def _searched(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], speed: float
    ) -> Iterable[JointTrajectory]:
        for attempt in range(self._config.rrt.attempts):
            corners = self._search(start, goal, close, attempt)
            if corners is not None:
                yield self._around(corners, speed)

    # -- timing and checks

    def _smooth(
        self, path: FloatArray, speed: float, *, max_speed: float = np.inf, max_speed_change: float = np.inf
    ) -> JointTrajectory:
        """A path of evenly spaced points, timed with smooth ramps."""
        limits = self._planning_limits(speed)
        trajectory = timed(
            self._names,
            path,
            max_velocity=limits.velocity,
            max_acceleration=limits.acceleration,
            sample_s=self._config.sample_s,
            max_speed=max_speed,
            max_speed_change=max_speed_change,
        )
        return self._within_limits(trajectory, speed)

    def _planning_limits(self, speed: float) -> JointLimits:
        """What plans may use at a speed."""
        limits, config = self._robot.limits, self._config
        return dataclasses.replace(
            limits,
            velocity=limits.velocity * config.velocity_scale * speed,
            acceleration=limits.acceleration * config.acceleration_scale,
            jerk=limits.jerk * config.jerk_scale,
        )

    def _within_limits(self, trajectory: JointTrajectory, speed: float) -> JointTrajectory:
        factor = stretch_needed(trajectory, self._planning_limits(speed))
        return stretched(trajectory, factor) if factor > 1.0 else trajectory

    def _checked(self, trajectory: JointTrajectory, allowed: Sequence[str]) -> Plan:
        """The plan, if the trajectory keeps all limits and touches nothing."""
        faults = self.validate(trajectory, allow_contact=allowed)
        if faults:
            return _failed("; ".join(faults))
        return Plan(Status.SUCCEEDED, f"{trajectory.duration_s:.2f} s", trajectory)

    @staticmethod
    def _time_of(trajectory: JointTrajectory, joints: FloatArray) -> float:
        """When a trajectory comes nearest to (n,) joint positions, to the nearest of its points."""
        return float(trajectory.times_s[np.abs(trajectory.positions - joints).max(axis=1).argmin()])

    def _still(self, joints: FloatArray) -> Plan:
        zeros = np.zeros((1, len(joints)))
        trajectory = JointTrajectory(self._names, np.zeros(1), joints[None, :].copy(), zeros, zeros)
        return Plan(Status.SUCCEEDED, "already there", trajectory)

    def _checked_start(self, start: FloatArray, allowed: Sequence[str]) -> tuple[FloatArray, Plan | None]:
        """Start positions clipped into the limits, or the reason why no plan can start there."""
        limits = self._robot.limits
        q = np.asarray(start, dtype=np.float64)
        if q.shape != limits.lower.shape or not np.isfinite(q).all():
            raise ValueError(f"start must be {len(limits.lower)} finite joint positions, got {start!r}")
        outside = np.maximum(limits.lower - q, q - limits.upper)
        if outside.max() > _START_TOLERANCE_RAD:
            name = self._names[int(outside.argmax())]
            message = f"joint limit: {name} starts {outside.max():.4f} rad out of its range"
            return q, Plan(Status.PRECONDITION_FAILED, message)
        q = np.clip(q, limits.lower, limits.upper)
        if self._world.first_contact(q[None, :], allowed) is not None:
            message = f"the start is in collision: {self._world.what_touches(q, allowed)}"
            return q, Plan(Status.PRECONDITION_FAILED, message)
        return q, None


def _failed(message: str) -> Plan:
    return Plan(Status.PLANNING_FAILED, message)


def _checked_speed(speed: float) -> float:
    if not 0.0 < speed <= 1.0:
        raise ValueError(f"speed must be in (0, 1], got {speed}")
    return speed
