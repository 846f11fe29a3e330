"""What every motion backend must do; run on each one in BACKENDS whose library is on this machine."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jarvis_core.config import load_default
from jarvis_core.errors import ConfigError, MissingCapabilityError
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.status import Status
from jarvis_motion.backend import MotionBackend, Obstacle, Plan
from jarvis_motion.checks import dense_positions, limit_faults, peaks, stretched
from jarvis_motion.config import MotionConfig
from jarvis_motion.contacts import ContactFinder
from jarvis_motion.factory import BACKENDS, make_backend
from jarvis_robot.model import RobotModel

PANDA = RobotModel.load("panda")
CONFIG = load_default("motion", MotionConfig)
HOME = np.array(PANDA.config.home_rad)
READY = np.array(PANDA.config.ready_rad)
FINDER = ContactFinder(PANDA)
TABLE = Obstacle("table", Box(Pose((0.35, 0.0, -0.05)), (1.3, 1.2, 0.1)))
WALL = Obstacle("wall", Box(Pose((0.5, 0.0, 0.2)), (0.3, 0.02, 0.4)))
BRICK = Obstacle("brick", Box(Pose((0.5, -0.2, 0.0048)), (0.0318, 0.0158, 0.0096)))


def down(x: float, y: float, z: float, yaw: float = 0.0) -> Pose:
    """A tool pose looking straight down, its x axis turned by ``yaw``."""
    return Pose.from_yaw((x, y, z), yaw) @ Pose((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))


@pytest.fixture(scope="module", params=[name for name in BACKENDS if BACKENDS[name].installed])
def made(request: pytest.FixtureRequest) -> Iterator[MotionBackend]:
    try:
        made = make_backend(PANDA, msgspec.structs.replace(CONFIG, backend=request.param))
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    yield made
    made.close()


@pytest.fixture
def backend(made: MotionBackend) -> MotionBackend:
    """One for all tests: what was before must not matter."""
    made.detach()
    made.set_obstacles([])
    made.set_gripper_width(PANDA.config.gripper.max_width_m)
    return made


def again(backend: MotionBackend) -> MotionBackend:
    """Another one of the same kind."""
    return make_backend(PANDA, msgspec.structs.replace(CONFIG, backend=backend.name))


def trajectory_of(plan: Plan) -> JointTrajectory:
    assert plan.status is Status.SUCCEEDED, plan.message
    assert plan.trajectory is not None
    return plan.trajectory


def spaced(trajectory: JointTrajectory, step_rad: float) -> FloatArray:
    """(m, n) joint positions along a trajectory, each as soon as a joint has moved by ``step_rad``."""
    dense = dense_positions(trajectory, step_rad / 10)
    moved = np.abs(np.diff(dense, axis=0)).max(axis=1).cumsum() // (0.9 * step_rad)
    return dense[[0, *(np.flatnonzero(np.diff(moved)) + 2), -1]]


def assert_sound(
    trajectory: JointTrajectory, start: FloatArray, obstacles: list[Obstacle], held: tuple[Box, ...] = ()
) -> None:
    """From rest at ``start`` to rest, within limits, touching nothing by an independent check."""
    np.testing.assert_allclose(trajectory.positions[0], start, atol=1e-9)
    np.testing.assert_allclose(trajectory.velocities[[0, -1]], 0.0, atol=1e-6)
    limits = PANDA.limits
    assert limit_faults(trajectory, limits) == []
    boxes = {o.id: (o.box,) for o in obstacles}
    for joints in spaced(trajectory, 0.05):
        assert FINDER.find(joints, PANDA.config.gripper.max_width_m, boxes, held) == []


tool_poses = st.builds(
    down,
    st.floats(0.34, 0.64),
    st.floats(-0.33, 0.27),
    st.floats(0.01, 0.35),
    st.floats(-np.pi, np.pi),
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tool=tool_poses)
def test_inverse_reaches_what_it_says(backend: MotionBackend, tool: Pose) -> None:
    joints = backend.inverse(tool, READY)
    assert joints is not None
    assert (joints >= PANDA.limits.lower).all()
    assert (joints <= PANDA.limits.upper).all()
    reached = PANDA.tool(joints)
    assert reached.distance_to(tool) < 1e-5
    assert reached.angle_to(tool) < 1e-4
    assert backend.forward(joints).is_close(reached, 1e-9, 1e-7)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(shift=st.lists(st.floats(-0.02, 0.02), min_size=7, max_size=7))
def test_inverse_stays_close_to_its_seed(backend: MotionBackend, shift: list[float]) -> None:
    there = READY + np.array(shift)
    joints = backend.inverse(PANDA.tool(there), READY)
    assert joints is not None
    assert np.abs(joints - READY).max() < 0.1


def test_inverse_of_a_pose_out_of_reach_is_none(backend: MotionBackend) -> None:
    assert backend.inverse(down(1.2, 0.0, 0.3), READY) is None


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tool=tool_poses, speed=st.sampled_from([0.1, 0.5, 1.0]))
def test_random_plans_keep_their_limits(backend: MotionBackend, tool: Pose, speed: float) -> None:
    backend.set_obstacles([TABLE])
    plan = backend.plan_to_pose(HOME, tool, speed=speed)
    trajectory = trajectory_of(plan)
    assert_sound(trajectory, HOME, [TABLE])
    slowed = PANDA.limits.velocity * speed * CONFIG.velocity_scale
    assert (np.abs(trajectory.velocities) <= slowed * 1.001).all()
    assert PANDA.tool(trajectory.positions[-1]).is_close(tool, 1e-5, 1e-4)


def test_an_obstacle_is_avoided(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.1), READY)
    goal = backend.inverse(down(0.5, 0.2, 0.1), READY)
    assert start is not None
    assert goal is not None
    direct = trajectory_of(backend.plan_to_joints(start, goal))
    backend.set_obstacles([TABLE, WALL])
    around = trajectory_of(backend.plan_to_joints(start, goal))
    assert_sound(around, start, [TABLE, WALL])
    np.testing.assert_allclose(around.positions[-1], goal, atol=1e-9)
    assert around.duration_s > direct.duration_s


def test_no_way_through_is_a_failure_that_names_what_is_in_the_way(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.1), READY)
    assert start is not None
    cage = [
        Obstacle("roof", Box(Pose((0.5, 0.2, 0.26)), (0.5, 0.24, 0.02))),
        Obstacle("left", Box(Pose((0.5, 0.32, 0.1)), (0.5, 0.02, 0.3))),
    ]
    backend.set_obstacles([TABLE, WALL, *cage])
    plan = backend.plan_to_pose(start, down(0.5, 0.2, 0.1))
    assert plan.status is Status.PLANNING_FAILED
    assert plan.trajectory is None
    assert "panda_" in plan.message
    assert any(o.id in plan.message for o in [WALL, *cage])


def test_a_start_in_collision_is_refused_and_named(backend: MotionBackend) -> None:
    hand = PANDA.forward(READY)["panda_hand"].position
    backend.set_obstacles([TABLE, Obstacle("lamp", Box(Pose(hand), (0.05, 0.05, 0.05)))])
    for plan in (
        backend.plan_to_joints(READY, HOME),
        backend.plan_to_pose(READY, down(0.4, 0.0, 0.3)),
        backend.plan_line(READY, down(0.4, 0.0, 0.3)),
    ):
        assert plan.status is Status.PRECONDITION_FAILED
        assert "panda_hand" in plan.message
        assert "lamp" in plan.message


def test_a_start_out_of_range_is_refused_and_named(backend: MotionBackend) -> None:
    start = READY.copy()
    start[3] = 0.2
    plan = backend.plan_to_joints(start, HOME)
    assert plan.status is Status.PRECONDITION_FAILED
    assert "joint limit: panda_joint4" in plan.message


def test_a_goal_out_of_range_is_refused_and_named(backend: MotionBackend) -> None:
    goal = HOME.copy()
    goal[1] = 2.0
    plan = backend.plan_to_joints(HOME, goal)
    assert plan.status is Status.PLANNING_FAILED
    assert "joint limit" in plan.message
    assert "panda_joint2" in plan.message


def test_a_goal_in_collision_is_refused_and_named(backend: MotionBackend) -> None:
    backend.set_obstacles([TABLE, BRICK])
    plan = backend.plan_to_pose(HOME, down(0.5, -0.2, -0.02))
    assert plan.status is Status.PLANNING_FAILED
    assert "finger would touch table" in plan.message


@pytest.mark.parametrize(
    ("tool", "reason"), [(down(1.2, 0.0, 0.3), "out of reach"), (Pose((0.6, 0.0, 0.0)), "joint limit")]
)
def test_an_unreachable_pose_says_why(backend: MotionBackend, tool: Pose, reason: str) -> None:
    plan = backend.plan_to_pose(HOME, tool)
    assert plan.status is Status.PLANNING_FAILED
    assert plan.message.startswith(reason)


def test_a_held_object_collides_with_the_wall(backend: MotionBackend) -> None:
    """A long rod in the gripper can't be turned where an empty gripper can."""
    start = backend.inverse(down(0.5, -0.2, 0.2), READY)
    assert start is not None
    rod = (Box(Pose((0.0, 0.0, 0.0)), (0.4, 0.01, 0.01)),)
    backend.set_obstacles([TABLE, WALL, Obstacle("rod", Box(Pose((0.5, -0.2, 0.2)), (0.4, 0.01, 0.01)))])
    turned = down(0.5, -0.2, 0.2, np.pi / 2)
    backend.attach("rod", rod)
    plan = backend.plan_line(start, turned)
    assert plan.status is Status.PLANNING_FAILED
    assert "the held object would touch wall" in plan.message
    away = trajectory_of(backend.plan_line(start, down(0.5, -0.2, 0.3)))
    assert_sound(away, start, [TABLE, WALL], rod)
    backend.detach()
    assert_sound(trajectory_of(backend.plan_line(start, turned)), start, [TABLE, WALL])


def test_a_line_is_straight(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.1, 0.3), READY)
    assert start is not None
    begin, goal = PANDA.tool(start), down(0.42, -0.1, 0.02, 0.9)
    trajectory = trajectory_of(backend.plan_line(start, goal))
    along = goal.position - begin.position
    length = np.linalg.norm(along)
    tools = PANDA.tool_matrices(dense_positions(trajectory, 0.002))
    offset = tools[:, :3, 3] - begin.position
    share = offset @ along / length**2
    assert np.linalg.norm(offset - share[:, None] * along, axis=1).max() < 2e-4
    assert (np.diff(share) > -1e-9).all()
    for matrix, part in zip(tools[::20], share[::20], strict=True):
        expected = down(0.0, 0.0, 0.0, 0.3 + part * 0.6)
        assert Pose.from_matrix(matrix).angle_to(expected) < 3e-3
    assert PANDA.tool(trajectory.positions[-1]).is_close(goal, 1e-5, 1e-4)


@pytest.mark.parametrize("speed", [1.0, 0.1])
def test_a_line_keeps_its_speed(backend: MotionBackend, speed: float) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.3), READY)
    assert start is not None
    trajectory = trajectory_of(backend.plan_line(start, down(0.5, -0.2, 0.05), speed=speed))
    tools = PANDA.tool_matrices(trajectory.positions)[:, :3, 3]
    speeds = np.linalg.norm(np.diff(tools, axis=0), axis=1) / np.diff(trajectory.times_s)
    assert speeds.max() == pytest.approx(CONFIG.line.speed_m_s * speed, rel=0.02)


def test_a_line_through_an_obstacle_needs_permission(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.08), READY)
    assert start is not None
    wide = Obstacle("wide", Box(Pose((0.5, -0.2, 0.0048)), (0.0318, 0.1, 0.0096)))
    backend.set_obstacles([TABLE, wide])
    goal = down(0.5, -0.2, 0.012)
    refused = backend.plan_line(start, goal)
    assert refused.status is Status.PLANNING_FAILED
    assert "finger would touch wide" in refused.message
    assert_sound(trajectory_of(backend.plan_line(start, goal, allow_contact=["wide"])), start, [TABLE])
    # The permission ends with the plan.
    assert backend.plan_line(start, goal).status is Status.PLANNING_FAILED


def test_the_gripper_s_width_counts(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.08), READY)
    assert start is not None
    backend.set_obstacles([TABLE, BRICK])
    goal = down(0.5, -0.2, 0.0095)
    backend.set_gripper_width(0.03)
    assert_sound(trajectory_of(backend.plan_line(start, goal)), start, [TABLE, BRICK])
    backend.set_gripper_width(0.01)
    assert "finger would touch brick" in backend.plan_line(start, goal).message


def test_a_line_that_ends_out_of_reach_says_how_far_it_came(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.6, 0.0, 0.2), READY)
    assert start is not None
    plan = backend.plan_line(start, down(1.1, 0.0, 0.2))
    assert plan.status is Status.PLANNING_FAILED
    assert "% of it" in plan.message


def test_no_motion_is_a_plan(backend: MotionBackend) -> None:
    plans = (
        backend.plan_to_joints(READY, READY),
        backend.plan_to_pose(READY, PANDA.tool(READY)),
        backend.plan_line(READY, PANDA.tool(READY)),
    )
    for plan in plans:
        np.testing.assert_allclose(trajectory_of(plan).positions[-1], READY, atol=1e-4)


def test_a_free_motion_can_start_and_end_close_to_something(backend: MotionBackend) -> None:
    """4 mm from a finger, where free motions keep 6 mm."""
    finger = (PANDA.config.gripper.max_width_m / 2) + PANDA.config.gripper.finger_thickness_m
    brick = Obstacle("brick", Box(Pose((0.5, -0.2 + finger + 0.004 + 0.05, 0.01)), (0.1, 0.1, 0.02)))
    assert CONFIG.padding_m > 0.004
    backend.set_obstacles([TABLE, brick])
    low = backend.inverse(down(0.5, -0.2, 0.0095), READY)
    assert low is not None
    assert_sound(trajectory_of(backend.plan_to_joints(low, HOME)), low, [TABLE, brick])
    assert_sound(trajectory_of(backend.plan_to_joints(HOME, low)), HOME, [TABLE, brick])


def test_the_same_inputs_give_the_same_plan(backend: MotionBackend) -> None:
    start = backend.inverse(down(0.5, -0.2, 0.1), READY)
    assert start is not None
    goals = [down(0.5, 0.2, 0.1, yaw) for yaw in (0.0, 0.8)]
    backend.set_obstacles([TABLE, WALL])
    first = [trajectory_of(backend.plan_to_pose(start, goal)) for goal in goals]
    other = again(backend)
    # Another past must not matter.
    other.set_obstacles([BRICK])
    other.plan_to_pose(READY, down(0.4, 0.1, 0.2))
    other.set_obstacles([TABLE, WALL])
    for goal, expected in reversed(list(zip(goals, first, strict=True))):
        repeated = trajectory_of(other.plan_to_pose(start, goal))
        np.testing.assert_array_equal(repeated.positions, expected.positions)
        np.testing.assert_array_equal(repeated.times_s, expected.times_s)


def test_obstacles_come_and_go_in_any_number(backend: MotionBackend) -> None:
    """Grown, shrunk and moved worlds answer like fresh ones."""
    rng = np.random.default_rng(3)
    sizes = [(0.0158, 0.0318, 0.0096), (0.0078, 0.0158, 0.0032), (0.0158, 0.0158, 0.0096)]
    start = backend.inverse(down(0.5, -0.1, 0.1), READY)
    assert start is not None
    goal = down(0.5, -0.1, 0.012)
    for count in (5, 60, 3, 8, 40, 41):
        boxes = [
            Obstacle(
                f"b{i}",
                Box(Pose((rng.uniform(0.4, 0.6), rng.uniform(-0.2, 0.0), 0.005)), sizes[i % 3]),
            )
            for i in range(count)
        ]
        backend.set_obstacles([TABLE, *boxes])
        fresh = again(backend)
        fresh.set_obstacles([TABLE, *boxes])
        assert backend.plan_line(start, goal).message == fresh.plan_line(start, goal).message


def test_a_sound_trajectory_has_no_faults(backend: MotionBackend) -> None:
    backend.set_obstacles([TABLE])
    assert backend.validate(trajectory_of(backend.plan_to_joints(HOME, READY))) == ()


def test_faults_name_joint_time_and_obstacle(backend: MotionBackend) -> None:
    backend.set_obstacles([TABLE])
    plan = trajectory_of(backend.plan_to_joints(HOME, READY))
    post = Obstacle("post", Box(Pose(PANDA.tool(READY).position), (0.02, 0.2, 0.02)))
    backend.set_obstacles([TABLE, post])
    (fault,) = backend.validate(plan)
    assert "panda_leftfinger would touch post" in fault
    assert "s with the tool at" in fault
    when = float(fault.split(" at ")[1].split(" s ")[0])
    assert 0.5 * plan.duration_s < when <= plan.duration_s
    assert backend.validate(plan, allow_contact=["post"]) == ()
    rushed = stretched(plan, 0.1)
    words = "; ".join(backend.validate(rushed, allow_contact=["post"]))
    for kind in ("moves at", "accelerates by", "jerks by"):
        assert kind in words
    assert "joint limit: panda_joint" in words


def test_a_trajectory_of_another_arm_is_a_fault(backend: MotionBackend) -> None:
    plan = trajectory_of(backend.plan_to_joints(HOME, READY))
    other = dataclasses.replace(plan, joint_names=tuple(f"other{i}" for i in range(7)))
    assert "it moves other0" in backend.validate(other)[0]


@pytest.mark.parametrize("scale", [0.5, 0.001])
def test_plans_keep_the_configured_share_of_jerk(backend: MotionBackend, scale: float) -> None:
    config = msgspec.structs.replace(CONFIG, backend=backend.name, jerk_scale=scale)
    plan = trajectory_of(make_backend(PANDA, config).plan_to_joints(HOME, READY))
    assert (peaks(plan).jerk <= PANDA.limits.jerk * scale * 1.001).all()


def test_wrong_arguments_are_errors(backend: MotionBackend) -> None:
    with pytest.raises(ValueError, match="7 finite joint positions"):
        backend.plan_to_joints(np.zeros(6), HOME)
    with pytest.raises(ValueError, match="speed must be"):
        backend.plan_to_joints(READY, HOME, speed=0.0)
    with pytest.raises(ConfigError, match="one of cumotion, isaac_ros_cumotion, moveit, ompl, rmpflow"):
        make_backend(PANDA, msgspec.structs.replace(CONFIG, backend="none"))
