"""Motion planning with roboplan (Pinocchio and Coal underneath): inverse kinematics, RRT-Connect and TOPP-RA.

The library is trusted for speed, not for promises: every trajectory is stretched until it keeps its limits and
checked densely for collisions here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seeds import generator
from jarvis_core.status import Status
from jarvis_robot.model import RobotModel
from roboplan import core, rrt, simple_ik, toppra

from jarvis_motion.backend import Obstacle, Plan
from jarvis_motion.box_world import BoxWorld
from jarvis_motion.checks import dense_positions, limit_faults, stretch_needed, stretched
from jarvis_motion.config import MotionConfig
from jarvis_motion.contacts import ContactFinder
from jarvis_motion.lines import LineFault, ToolLine, follow_line, tool_deviation
from jarvis_motion.reach import explain_unreachable
from jarvis_motion.timing import timed

#: Measured joint positions may lie this far outside the limits.
_START_TOLERANCE_RAD = 2e-3
#: Accuracy of inverse kinematics: ten times better than promised.
_IK_POSITION_M = 1e-6
_IK_ANGLE_RAD = 1e-5
#: Turns of the tool for which seeds of inverse kinematics are prepared, and random starts for each.
_TURNS = 8
_TRIES = 8


class RoboplanBackend:
    """The MotionBackend of roboplan; what its methods promise stands in ``jarvis_motion.backend``."""

    def __init__(self, robot: RobotModel, config: MotionConfig) -> None:
        self._robot = robot
        self._config = config
        self._names = list(robot.config.arm_joints)
        self._contacts = ContactFinder(robot)
        near_the_tool = self._contacts.near_the_tool()
        # Three worlds: the robot alone, obstacles with padding for free motions, and obstacles as they are.
        self._bare = BoxWorld(robot, near_the_tool, config.rebuild_above)
        self._padded = BoxWorld(robot, near_the_tool, config.rebuild_above)
        self._exact = BoxWorld(robot, near_the_tool, config.rebuild_above)
        self._obstacles: dict[str, tuple[Box, ...]] = {}
        self._margins: dict[str, tuple[Box, ...]] = {}
        self._held: tuple[Box, ...] = ()
        self._width_m = 0.0
        self._limits_yaml = _acceleration_limits(robot)
        self._ik = self._inverse_solver()
        self._ik_seeds = [(seed, robot.tool(seed)) for seed in self._spread_positions()]
        self.set_gripper_width(robot.config.gripper.max_width_m)

    @property
    def name(self) -> str:
        return "roboplan"

    # -- world

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Replace the collision world. Obstacles of the same id form one."""
        merged: dict[str, tuple[Box, ...]] = {}
        for obstacle in obstacles:
            merged[obstacle.id] = (*merged.get(obstacle.id, ()), obstacle.box)
        self._obstacles = merged
        self._margins = {name: _grown(boxes, self._config.padding_m) for name, boxes in merged.items()}
        self._exact.place(self._obstacles)
        self._padded.place(self._margins)

    def attach(self, object_id: str, boxes: Sequence[Box]) -> None:
        """Carry boxes given in the tool frame; the obstacle of that id vanishes."""
        self._held = _grown(tuple(boxes), -self._config.held_shrink_m)
        self._exact.hold(self._held)
        self._padded.hold(self._held)
        self.set_obstacles(
            [
                Obstacle(name, box)
                for name, kept in self._obstacles.items()
                if name != object_id
                for box in kept
            ]
        )

    def detach(self) -> None:
        """Carry nothing. The object is no obstacle until ``set_obstacles`` says where it lies."""
        self._held = ()
        self._exact.hold(())
        self._padded.hold(())

    def set_gripper_width(self, width_m: float) -> None:
        """Distance between the pads that later plans assume; clipped to what the gripper can do."""
        self._width_m = min(max(width_m, 0.0), self._robot.config.gripper.max_width_m)
        for world in (self._bare, self._padded, self._exact):
            world.set_gripper_width(self._width_m)

    def close(self) -> None:
        """Nothing to give back: the library lives in this process."""

    # -- kinematics

    def forward(self, joints: FloatArray) -> Pose:
        """Tool pose in ``world`` of (n,) joint positions."""
        return self._robot.tool(joints)

    def inverse(self, tool: Pose, seed: FloatArray) -> FloatArray | None:
        """(n,) joint positions that reach ``tool``, near ``seed`` if there are such; None when none was found.

        Collisions are not considered. About 0.1 ms when reachable from ``seed``, 3 ms when not at all.
        """
        goal = self._goal(tool)
        found = self._solve(goal, seed)
        if found is not None:
            return found
        return next((q for s in self._seeds_for(tool) if (q := self._solve(goal, s)) is not None), None)

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
        goals = self._goals(begin, tool)
        if not goals:
            return _failed(explain_unreachable(self._robot, tool, [begin, *self._seeds_for(tool)[:2]]))
        return self._plan_free(begin, goals, _checked_speed(speed))

    def plan_line(
        self, start: FloatArray, tool: Pose, *, speed: float = 1.0, allow_contact: Sequence[str] = ()
    ) -> Plan:
        """Straight line of the tool. Obstacles in ``allow_contact`` are left out of the collision world."""
        begin, fault = self._checked_start(start, allow_contact)
        if fault is not None:
            return fault
        line = ToolLine(self._robot.tool(begin), tool)
        with self._exact.without(allow_contact):
            return self._plan_line(begin, line, _checked_speed(speed), allow_contact)

    # -- lines

    def _plan_line(self, start: FloatArray, line: ToolLine, speed: float, allowed: Sequence[str]) -> Plan:
        config = self._config.line
        if line.length_m < 1e-6 and line.angle_rad < 1e-5:
            return self._still(start)
        refinement = 1
        while True:
            poses = line.poses(config.step_m / refinement, config.turn_step_rad / refinement)
            path = follow_line(poses, start, self._step_solver(), config.max_joint_step_rad)
            if isinstance(path, LineFault):
                return _failed(self._line_message(path, poses, line))
            trajectory = self._timed_line(path, line, speed)
            gap_m, gap_rad = tool_deviation(self._robot, trajectory, line)
            if gap_m <= config.tolerance_m and gap_rad <= config.tolerance_rad:
                return self._checked(trajectory, allowed)
            if refinement == 8:
                return _failed(f"the tool would leave the straight line by {gap_m * 1000:.2f} mm")
            refinement *= 2

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
        near_start = self._close_to(start)
        free: list[tuple[FloatArray, frozenset[str]]] = []
        refusal = ""
        for goal in goals:
            if self._exact.collides(goal):
                refusal = refusal or f"the goal is in collision: {self._what_touches(goal)}"
            else:
                free.append((goal, near_start | self._close_to(goal)))
        for planner in (self._straight, self._searched):
            for goal, near in free:
                self._padded.place({**self._margins, **{name: self._obstacles[name] for name in near}})
                for trajectory in planner(start, goal, speed):
                    plan = self._checked(trajectory, ())
                    if plan.status is Status.SUCCEEDED:
                        return plan
                    refusal = refusal or plan.message
        return _failed(
            refusal or f"no way around the obstacles was found ({self._what_blocks(start, goals[0])})"
        )

    def _straight(self, start: FloatArray, goal: FloatArray, speed: float) -> Iterable[JointTrajectory]:
        world = self._padded
        step = self._config.rrt.step_rad
        if not core.hasCollisionsAlongPath(world.scene, world.full(start), world.full(goal), step):
            yield self._smooth(np.array([start, goal]), speed)

    def _searched(self, start: FloatArray, goal: FloatArray, speed: float) -> Iterable[JointTrajectory]:
        """By RRT-Connect, shortcut; each attempt with its own seed and a finer step than the last."""
        config = self._config.rrt
        scene = self._padded.scene
        begin, end = (core.JointConfiguration(self._names, q) for q in (start, goal))
        for attempt in range(config.attempts):
            step = config.step_rad / 2**attempt
            options = rrt.RRTOptions(
                group_name=BoxWorld.group,
                max_nodes=config.max_nodes,
                max_connection_distance=config.connect_rad,
                collision_check_step_size=step,
                rrt_connect=True,
            )
            planner = rrt.RRT(scene, options)
            planner.setRngSeed(self._config.seed + attempt)
            try:
                path = planner.plan(begin, end)
            except RuntimeError:  # the library's way to say that it found none
                continue
            shortcuts = core.PathShortcuttingOptions(
                group_name=BoxWorld.group,
                max_step_size=step,
                max_iters=config.shortcut_iterations,
                seed=self._config.seed + attempt,
            )
            short = core.PathShortcutter(scene, shortcuts).shortcut(path)
            yield self._parametrized(np.array(short.positions), speed)

    def _goals(self, start: FloatArray, tool: Pose) -> list[FloatArray]:
        """Different joint positions for a tool pose, best first: near the start, far from joint limits."""
        goal = self._goal(tool)
        found: list[FloatArray] = []
        for seed in (start, *self._seeds_for(tool)):
            q = self._solve(goal, seed)
            if q is not None and all(np.abs(q - other).max() > 0.05 for other in found):
                found.append(q)
            if len(found) == self._config.ik_candidates:
                break
        return sorted(found, key=lambda q: self._cost_s(start, q))

    def _cost_s(self, start: FloatArray, goal: FloatArray) -> float:
        penalty = self._config.limit_penalty_s if self._room(goal) < self._config.limit_margin_rad else 0.0
        return float((np.abs(goal - start) / self._robot.limits.velocity).max()) + penalty

    # -- timing and checks

    def _smooth(
        self, path: FloatArray, speed: float, *, max_speed: float = np.inf, max_speed_change: float = np.inf
    ) -> JointTrajectory:
        """A path of evenly spaced points, timed with smooth ramps."""
        velocity, acceleration = self._planning_limits(speed)
        trajectory = timed(
            tuple(self._names),
            path,
            max_velocity=velocity,
            max_acceleration=acceleration,
            sample_s=self._config.sample_s,
            max_speed=max_speed,
            max_speed_change=max_speed_change,
        )
        return self._within_limits(trajectory, speed)

    def _parametrized(self, path: FloatArray, speed: float) -> JointTrajectory:
        """A path with corners, timed by TOPP-RA in the padded world, which also rounds the corners."""
        scene = self._padded.scene
        scene.importJointLimitsFromConfig(self._limits_yaml)
        joint_path = core.JointPath()
        joint_path.joint_names = self._names
        joint_path.positions = list(path)
        options = toppra.TOPPRAOptions(
            dt=self._config.sample_s,
            mode=toppra.SplineFittingMode.Adaptive,
            velocity_scale=speed * self._config.velocity_scale,
            acceleration_scale=self._config.acceleration_scale,
        )
        raw = toppra.PathParameterizerTOPPRA(scene, BoxWorld.group).generate(joint_path, options)
        trajectory = JointTrajectory(
            tuple(self._names),
            np.array(raw.times),
            np.array(raw.positions),
            np.array(raw.velocities),
            np.array(raw.accelerations),
        )
        return self._within_limits(trajectory, speed)

    def _planning_limits(self, speed: float) -> tuple[FloatArray, FloatArray]:
        """(n,) velocity and acceleration that plans may use at a speed."""
        limits, config = self._robot.limits, self._config
        return (
            limits.velocity * config.velocity_scale * speed,
            limits.acceleration * config.acceleration_scale,
        )

    def _within_limits(self, trajectory: JointTrajectory, speed: float) -> JointTrajectory:
        factor = stretch_needed(trajectory, *self._planning_limits(speed))
        return stretched(trajectory, factor) if factor > 1.0 else trajectory

    def _checked(self, trajectory: JointTrajectory, allowed: Sequence[str]) -> Plan:
        """The plan, if the trajectory keeps all limits and touches nothing."""
        limits = self._robot.limits
        faults = limit_faults(trajectory, limits.lower, limits.upper, limits.velocity, limits.acceleration)
        if faults:
            return _failed("joint limit: " + "; ".join(faults))
        positions = dense_positions(trajectory, self._config.check_step_rad)
        bad = self._exact.first_collision(positions)
        if bad is not None:
            tool = self._robot.tool(positions[bad]).position
            where = ", ".join(f"{v:.3f}" for v in tool)
            return _failed(f"{self._what_touches(positions[bad], allowed)} with the tool at ({where})")
        return Plan(Status.SUCCEEDED, f"{trajectory.duration_s:.2f} s", trajectory)

    def _still(self, joints: FloatArray) -> Plan:
        zeros = np.zeros((1, len(joints)))
        trajectory = JointTrajectory(tuple(self._names), np.zeros(1), joints[None, :].copy(), zeros, zeros)
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
        with self._exact.without(allowed):
            if self._exact.collides(q):
                message = f"the start is in collision: {self._what_touches(q, allowed)}"
                return q, Plan(Status.PRECONDITION_FAILED, message)
        return q, None

    def _close_to(self, joints: FloatArray) -> frozenset[str]:
        """Obstacles closer than the padding at (n,) joint positions."""
        self._padded.place(self._margins)
        if not self._padded.collides(joints):
            return frozenset()
        contacts = self._contacts.find(joints, self._width_m, self._margins, self._held)
        return frozenset(c.second for c in contacts if c.obstacle)

    def _what_touches(self, joints: FloatArray, allowed: Sequence[str] = ()) -> str:
        obstacles = {name: boxes for name, boxes in self._obstacles.items() if name not in allowed}
        contacts = self._contacts.find(joints, self._width_m, obstacles, self._held)
        return ", ".join(str(c) for c in contacts[:4]) or "the arm would touch something"

    def _what_blocks(self, start: FloatArray, goal: FloatArray) -> str:
        steps = int(np.ceil(np.abs(goal - start).max() / self._config.rrt.step_rad)) + 1
        between = np.linspace(start, goal, steps)
        bad = self._padded.first_collision(between)
        if bad is None:
            return "the direct way is free"
        contacts = self._contacts.find(between[bad], self._width_m, self._margins, self._held)
        return "on the direct way " + (", ".join(str(c) for c in contacts[:4]) or "the arm is blocked")

    # -- inverse kinematics

    def _inverse_solver(self) -> Any:
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
        return simple_ik.SimpleIk(self._bare.scene, options)

    def _spread_positions(self) -> list[FloatArray]:
        """Seeds for inverse kinematics: the named positions, and the ready one with the tool turned about its axis.

        Of several joint positions for one turn the one farthest from joint limits is kept.
        """
        limits, config = self._robot.limits, self._robot.config
        rng = generator(self._config.seed, "motion", "ik-seeds")
        ready, tool = np.array(config.ready_rad), self._robot.tool(np.array(config.ready_rad))
        seeds = [ready, np.array(config.home_rad)]
        for turn in np.arange(1, _TURNS) * 2 * np.pi / _TURNS:
            goal = self._goal(tool @ Pose.from_yaw((0.0, 0.0, 0.0), float(turn)))
            starts = [ready, *(ready + rng.normal(0.0, 0.7, (_TRIES, len(ready))))]
            found = [self._solve(goal, np.clip(s, limits.lower, limits.upper)) for s in starts]
            seeds += sorted((q for q in found if q is not None), key=self._room)[-1:]
        return seeds

    def _seeds_for(self, tool: Pose) -> list[FloatArray]:
        """The seeds, those with a similar orientation of the tool first."""
        return [seed for seed, _ in sorted(self._ik_seeds, key=lambda s: s[1].angle_to(tool))]

    def _room(self, joints: FloatArray) -> float:
        """Distance of the joint closest to a limit from it, rad."""
        limits = self._robot.limits
        return float(np.minimum(joints - limits.lower, limits.upper - joints).min())

    def _goal(self, tool: Pose) -> Any:
        config = self._robot.config
        return core.CartesianConfiguration(config.base_link, config.tool_link, np.asfortranarray(tool.matrix))

    def _solve(self, goal: Any, seed: FloatArray) -> FloatArray | None:
        start = core.JointConfiguration(self._names, np.asarray(seed, dtype=np.float64))
        solution = core.JointConfiguration(self._names, np.zeros(len(self._names)))
        if not self._ik.solveIk(goal, start, solution):
            return None
        q: FloatArray = np.array(solution.positions)
        return q

    def _step_solver(self) -> Any:
        return lambda pose, seed: self._solve(self._goal(pose), seed)


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


def _grown(boxes: tuple[Box, ...], margin_m: float) -> tuple[Box, ...]:
    """Boxes larger by a margin on every side; smaller if negative, but never thinner than 0.1 mm."""
    return tuple(
        Box(box.pose, (max(x + 2 * margin_m, 1e-4), max(y + 2 * margin_m, 1e-4), max(z + 2 * margin_m, 1e-4)))
        for box in boxes
        for x, y, z in (box.size_m,)
    )


def _failed(message: str) -> Plan:
    return Plan(Status.PLANNING_FAILED, message)


def _checked_speed(speed: float) -> float:
    if not 0.0 < speed <= 1.0:
        raise ValueError(f"speed must be in (0, 1], got {speed}")
    return speed
