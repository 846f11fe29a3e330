"""Controllers against an ideal arm and gripper, that are where they were told to be one step ago."""

from __future__ import annotations

import numpy as np
import pytest
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.motion import JointTrajectory
from jarvis_core.status import Status
from jarvis_robot.model import JointLimits
from jarvis_sim.config import SimConfig
from jarvis_sim.control import ArmController
from jarvis_sim.gripper_control import GripperController

SIM = load_default("sim", SimConfig)
NAMES = tuple(f"j{i}" for i in range(7))
TEN = np.full(7, 10.0)
LIMITS = JointLimits(lower=-TEN, upper=TEN / 5, velocity=TEN, acceleration=TEN, jerk=TEN, effort=TEN)
DT = 0.002


def swing(angle: float = 1.0, seconds: float = 1.0, start: float = 0.0) -> JointTrajectory:
    """All joints by ``angle``, at rest at both ends."""
    times = np.linspace(0, seconds, 51)
    u = times / seconds
    share = u**3 * (10 - 15 * u + 6 * u**2)
    rate = 30 * u**2 * (1 - u) ** 2 / seconds
    ones = np.ones((1, 7))
    positions = (start + angle * share)[:, None] * ones
    velocities = (angle * rate)[:, None] * ones
    return JointTrajectory(NAMES, times, positions, velocities, np.gradient(velocities, times, axis=0))


class IdealArm:
    def __init__(self) -> None:
        self.controller = ArmController(NAMES, LIMITS, SIM.arm, DT)
        self.joints = np.zeros(7)
        self.controller.hold(self.joints)
        self.path = [self.joints]
        self.blocked = False

    def step(self) -> None:
        last = self.path[-1]
        self.controller.update(last, (last - self.path[-2]) / DT if len(self.path) > 1 else np.zeros(7))
        self.path.append(last if self.blocked else self.controller.desired)

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            self.step()

    def speeds(self) -> np.ndarray:
        return np.diff(np.array(self.path), axis=0) / DT


def test_a_trajectory_is_followed_to_its_end() -> None:
    arm = IdealArm()
    arm.controller.command(swing())
    assert arm.controller.busy
    assert arm.controller.outcome is None
    arm.run(0.5)
    assert arm.path[-1] == pytest.approx(np.full(7, 0.5), abs=1e-6)
    arm.run(0.6)
    outcome = arm.controller.outcome
    assert outcome is not None
    assert outcome.status is Status.SUCCEEDED
    assert not arm.controller.busy
    assert arm.path[-1] == pytest.approx(np.ones(7), abs=1e-9)


@pytest.mark.parametrize("at", [0.05, 0.3, 0.5, 0.9])
def test_a_cancel_brakes_within_the_limits_and_on_the_path(at: float) -> None:
    arm = IdealArm()
    arm.controller.command(swing())
    arm.run(at)
    arm.controller.cancel()
    assert arm.controller.outcome is None
    while arm.controller.outcome is None:
        arm.step()
    assert arm.controller.outcome.status is Status.CANCELED
    speeds = arm.speeds()
    assert np.abs(speeds[-1]).max() < 1e-3
    assert np.abs(np.diff(speeds, axis=0) / DT).max() < 10.5
    arm.run(0.1)
    assert np.abs(arm.speeds()[-1]).max() == 0.0
    assert np.ptp(arm.path[-1]) < 1e-12  # all joints at the same place of their common path


def test_a_blocked_arm_stops_and_says_which_joint() -> None:
    arm = IdealArm()
    arm.controller.command(swing())
    arm.run(0.3)
    arm.blocked = True
    arm.run(0.3)
    outcome = arm.controller.outcome
    assert outcome is not None
    assert outcome.status is Status.EXECUTION_FAILED
    assert "j0" in outcome.message
    assert "blocks" in outcome.message
    assert arm.controller.desired == pytest.approx(arm.path[-1], abs=0.01)


def test_a_trajectory_that_starts_elsewhere_is_refused_as_an_outcome() -> None:
    arm = IdealArm()
    arm.controller.command(swing(start=0.1))
    outcome = arm.controller.outcome
    assert outcome is not None
    assert outcome.status is Status.EXECUTION_FAILED
    assert "0.100 rad" in outcome.message


def test_a_small_difference_at_the_start_fades_out() -> None:
    arm = IdealArm()
    arm.controller.command(swing(start=0.01))
    arm.run(1.1)
    assert arm.controller.outcome is not None
    assert arm.controller.outcome.status is Status.SUCCEEDED
    assert arm.path[-1] == pytest.approx(np.full(7, 1.01), abs=1e-9)
    assert np.abs(arm.speeds()).max() < 2.0


def test_joints_of_another_robot_are_refused_as_an_outcome() -> None:
    arm = IdealArm()
    other = swing()
    arm.controller.command(
        JointTrajectory(("x",) * 7, other.times_s, other.positions, other.velocities, other.accelerations)
    )
    assert arm.controller.outcome is not None
    assert arm.controller.outcome.status is Status.EXECUTION_FAILED


def test_a_trajectory_beyond_the_limits_is_refused_as_an_outcome() -> None:
    arm = IdealArm()
    arm.controller.command(swing(2.1))
    outcome = arm.controller.outcome
    assert outcome is not None
    assert outcome.status is Status.EXECUTION_FAILED
    assert "0.100 rad beyond its limits" in outcome.message
    assert not arm.controller.busy


def test_only_one_trajectory_at_a_time() -> None:
    arm = IdealArm()
    arm.controller.command(swing())
    with pytest.raises(RefusedError, match="moving"):
        arm.controller.command(swing())


def test_an_arm_controller_goes_on_from_its_saved_state() -> None:
    arm, other = IdealArm(), IdealArm()
    arm.controller.command(swing())
    arm.run(0.3)
    other.controller.load(arm.controller.save())
    other.path = list(arm.path)
    for one in (arm, other):
        one.run(0.2)
        one.controller.cancel()
        one.run(0.5)
    assert np.array_equal(arm.path, other.path)
    assert arm.controller.outcome == other.controller.outcome


class IdealGripper:
    """Fingers of negligible mass: they are where drive and damping bring them, unless an object is between."""

    def __init__(self, width: float = 0.08) -> None:
        self.controller = GripperController(0.08, 40.0, 0.03, SIM.gripper, DT)
        self.controller.hold(width)
        self.width, self.speed, self.object, self.most = width, 0.0, 0.0, 0.08
        self.fastest, self.setpoint = 0.0, width

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds / DT)):
            self.setpoint = self.controller.update(self.width, self.speed)
            speed = SIM.gripper.kp / SIM.gripper.kv * (self.setpoint - self.width)
            width = min(max(self.width + speed * DT, self.object), self.most)
            self.speed, self.width = (width - self.width) / DT, width
            self.fastest = max(self.fastest, abs(self.speed))

    @property
    def force(self) -> float:
        return SIM.gripper.kp * (self.setpoint - self.width)


def test_the_gripper_reaches_a_width_no_faster_than_allowed() -> None:
    gripper = IdealGripper()
    gripper.controller.command(0.03, 40.0, 0.08)
    gripper.run(1.5)
    outcome = gripper.controller.outcome
    assert outcome is not None
    assert outcome.status is Status.SUCCEEDED
    assert not outcome.stalled
    assert outcome.width_m == pytest.approx(0.03, abs=0.0005)
    assert gripper.fastest <= 0.065  # both fingers at 0.03 each, and a little for catching up


def test_the_gripper_stalls_on_something_and_squeezes_it_with_the_force_asked_for() -> None:
    gripper = IdealGripper()
    gripper.object = 0.016
    gripper.controller.command(0.0, 25.0, 0.08)
    gripper.run(2.5)
    outcome = gripper.controller.outcome
    assert outcome is not None
    assert outcome.status is Status.SUCCEEDED
    assert outcome.stalled
    assert outcome.width_m == pytest.approx(0.016)
    assert gripper.force == pytest.approx(-25.0)


def test_fingers_that_can_not_open_all_the_way_stay_and_do_not_push_on() -> None:
    gripper = IdealGripper(0.02)
    gripper.most = 0.03
    gripper.controller.command(0.06, 40.0, 0.02)
    gripper.run(2.0)
    outcome = gripper.controller.outcome
    assert outcome is not None
    # As after closing: whoever asked judges by the width.
    assert outcome.status is Status.SUCCEEDED
    assert outcome.stalled
    assert outcome.width_m == pytest.approx(0.03)
    assert gripper.force == pytest.approx(0.0, abs=1e-6)


def test_a_canceled_gripper_stands_still() -> None:
    gripper = IdealGripper()
    gripper.controller.command(0.0, 40.0, 0.08)
    gripper.run(0.5)
    gripper.controller.cancel(gripper.width)
    width = gripper.width
    gripper.run(0.5)
    assert gripper.controller.outcome is not None
    assert gripper.controller.outcome.status is Status.CANCELED
    assert gripper.width == pytest.approx(width, abs=1e-6)


def test_widths_beyond_the_gripper_are_limited_to_it() -> None:
    gripper = IdealGripper(0.05)
    gripper.controller.command(0.5, 40.0, 0.05)
    gripper.run(1.5)
    assert gripper.controller.outcome is not None
    assert gripper.controller.outcome.width_m == pytest.approx(0.08, abs=0.0005)
