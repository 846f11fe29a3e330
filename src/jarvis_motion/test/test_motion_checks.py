"""Timing and checks of trajectories, without any planner."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jarvis_core.motion import JointTrajectory
from jarvis_core.pose import FloatArray
from jarvis_motion.checks import dense_positions, extremes, limit_faults, peaks, stretch_needed, stretched
from jarvis_motion.timing import Profile, timed
from jarvis_robot.model import JointLimits

NAMES = ("a", "b")


def limits(
    lower: float | FloatArray = -10.0,
    upper: float | FloatArray = 10.0,
    velocity: float | FloatArray = 10.0,
    acceleration: float | FloatArray = 10.0,
    jerk: float | FloatArray = 1e6,
) -> JointLimits:
    """Limits of two joints, wide where nothing is said."""
    both = (np.zeros(2) + value for value in (lower, upper, velocity, acceleration, jerk, 1.0))
    return JointLimits(*both)


def sampled(trajectory: JointTrajectory, count: int = 10001) -> tuple[FloatArray, FloatArray]:
    """Times and positions as executed."""
    times = np.linspace(0.0, trajectory.duration_s, count)
    return times, np.array([trajectory.sample(float(t)) for t in times])


def cubic() -> JointTrajectory:
    """A single segment from rest to rest: speed peaks at 1.5 / T half-way, acceleration at 6 / T^2 at the ends."""
    zeros = np.zeros((2, 2))
    return JointTrajectory(NAMES, np.array([0.0, 2.0]), np.array([[0.0, 0.0], [1.0, -0.5]]), zeros, zeros)


def test_peaks_of_a_cubic_are_those_of_the_textbook() -> None:
    found = peaks(cubic())
    np.testing.assert_allclose(found.velocity, [0.75, 0.375])
    np.testing.assert_allclose(found.acceleration, [1.5, 0.75])


def test_peaks_do_not_believe_what_is_written() -> None:
    """Accelerations of 0 beside points that demand a jump."""
    times = np.array([0.0, 0.1, 0.2])
    positions = np.array([[0.0, 0.0], [0.5, 0.0], [0.5, 0.0]])
    zeros = np.zeros((3, 2))
    trajectory = JointTrajectory(NAMES, times, positions, zeros, zeros)
    assert peaks(trajectory).acceleration[0] == pytest.approx(300.0)


def test_stretching_brings_a_trajectory_within_limits() -> None:
    velocity, acceleration = np.array([0.3, 0.3]), np.array([0.1, 1.0])
    kept = limits(velocity=velocity, acceleration=acceleration)
    factor = stretch_needed(cubic(), kept)
    assert factor == pytest.approx(np.sqrt(15.0))
    slower = stretched(cubic(), factor)
    assert limit_faults(slower, kept) == []
    assert stretch_needed(slower, kept) == pytest.approx(1.0)


def test_jerk_is_the_slope_of_acceleration_and_its_jumps() -> None:
    """Within the cubic acceleration falls from 1.5 to -1.5 in 2 s; from and to rest it jumps."""
    np.testing.assert_allclose(peaks(cubic()).jerk, [1.5, 0.75])
    times = np.array([0.0, 1.0, 2.0, 3.0])
    # Constant acceleration 1, then none: the jump of 1 at 1 s counts over one second.
    positions = np.array([[0.0, 0.0], [0.5, 0.0], [1.5, 0.0], [2.5, 0.0]])
    velocities = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    trajectory = JointTrajectory(NAMES, times, positions, velocities, np.zeros((4, 2)))
    assert peaks(trajectory).jerk[0] == pytest.approx(1.0)


def test_stretching_brings_jerk_within_limits() -> None:
    kept = limits(jerk=0.1)
    slower = stretched(cubic(), stretch_needed(cubic(), kept))
    np.testing.assert_allclose(peaks(slower).jerk.max(), 0.1)
    assert limit_faults(slower, kept) == []


def test_faults_name_the_joint_the_time_and_the_limit() -> None:
    assert limit_faults(cubic(), limits(lower=-0.25)) == ["b leaves its range: -0.5000 to 0.0000 rad"]
    assert limit_faults(cubic(), limits(velocity=0.5)) == ["a moves at 0.750 rad/s at 0.00 s, limit 0.5"]
    assert limit_faults(cubic(), limits(acceleration=1.0)) == [
        "a accelerates by 1.50 rad/s^2 at 0.00 s, limit 1"
    ]
    assert limit_faults(cubic(), limits(jerk=1.0)) == ["a jerks by 2 rad/s^3 at 0.00 s, limit 1"]


def test_a_range_that_is_left_between_two_points_is_a_fault() -> None:
    """Both points are at 0, and the joints swing out between them: to 0.25 h v = 0.5 and back."""
    positions, velocities = np.zeros((2, 2)), np.array([[1.0, 0.0], [-1.0, 0.0]])
    swing = JointTrajectory(NAMES, np.array([0.0, 2.0]), positions, velocities, np.zeros((2, 2)))
    assert limit_faults(swing, limits(upper=0.51)) == []
    assert limit_faults(swing, limits(upper=0.49)) == ["a leaves its range: 0.0000 to 0.5000 rad"]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), points=st.integers(1, 4))
def test_extremes_are_those_of_the_executed_path(seed: int, points: int) -> None:
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.1, 1.0, points))
    positions, velocities = rng.normal(size=(2, points, 2)) * rng.integers(0, 2, (2, points, 2))
    trajectory = JointTrajectory(NAMES, times - times[0], positions, velocities, np.zeros((points, 2)))
    low, high = extremes(trajectory)
    dense = dense_positions(trajectory, 1e-3)
    assert (low <= dense.min(axis=0) + 1e-12).all()
    assert (high >= dense.max(axis=0) - 1e-12).all()
    np.testing.assert_allclose((low, high), (dense.min(axis=0), dense.max(axis=0)), atol=1e-3)
    # Where limits are a little wider than this nothing leaves its range, where they are narrower all does.
    for wider, left in ((1e-5, 0), (-1e-5, 2)):
        faults = limit_faults(trajectory, limits(lower=low - wider, upper=high + wider))
        assert sum("leaves its range" in fault for fault in faults) == left


def test_dense_positions_leave_no_gap_and_lie_on_the_executed_path() -> None:
    trajectory = cubic()
    dense = dense_positions(trajectory, 0.002)
    assert np.abs(np.diff(dense, axis=0)).max() <= 0.002
    np.testing.assert_array_equal(dense[[0, -1]], trajectory.positions[[0, -1]])
    _, executed = sampled(trajectory)
    gaps = np.abs(executed[:, None, :] - dense[None, ::25, :]).max(axis=2).min(axis=0)
    assert gaps.max() < 1e-4


@settings(max_examples=50, deadline=None)
@given(max_speed=st.floats(0.05, 5.0), max_acceleration=st.floats(0.1, 20.0))
def test_a_profile_runs_from_rest_to_rest_within_its_bounds(
    max_speed: float, max_acceleration: float
) -> None:
    profile = Profile.fastest(max_speed, max_acceleration)
    times = np.linspace(0.0, profile.duration_s, 4001)
    s, v, a = profile.at(times)
    assert s[0] == pytest.approx(0.0, abs=1e-9)
    assert s[-1] == pytest.approx(1.0, abs=1e-9)
    assert v[[0, -1]] == pytest.approx(0.0, abs=1e-9)
    assert v.max() <= max_speed * (1 + 1e-9)
    assert np.abs(a).max() <= max_acceleration * (1 + 1e-9)
    # The three are each other's derivatives.
    d = 1e-3 * profile.ramp_s
    inside = times[(times > d) & (times < profile.duration_s - d)]
    (s0, v0, _), (_, v, a), (s1, v1, _) = (profile.at(inside + shift) for shift in (-d, 0.0, d))
    np.testing.assert_allclose((s1 - s0) / (2 * d), v, atol=1e-4 * profile.speed)
    np.testing.assert_allclose((v1 - v0) / (2 * d), a, atol=1e-2 * np.abs(a).max())


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), points=st.integers(2, 12))
def test_timed_paths_pass_through_their_points_within_limits(seed: int, points: int) -> None:
    rng = np.random.default_rng(seed)
    path = np.cumsum(rng.normal(0.0, 0.05, (points, 2)) + [0.1, -0.05], axis=0)
    velocity, acceleration = np.array([1.0, 0.5]), np.array([2.0, 4.0])
    trajectory = timed(
        NAMES, path, max_velocity=velocity, max_acceleration=acceleration, sample_s=0.01, max_speed=0.9
    )
    found = peaks(trajectory)
    assert (found.velocity <= velocity * 1.02).all()
    assert (found.acceleration <= acceleration * 1.1).all()
    np.testing.assert_array_equal(trajectory.positions[[0, -1]], path[[0, -1]])
    dense = dense_positions(trajectory, 1e-3)
    for point in path:
        assert np.linalg.norm(dense - point, axis=1).min() < 2e-3
