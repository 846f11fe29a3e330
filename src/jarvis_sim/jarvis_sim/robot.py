"""The ports of jarvis_core on a simulated cell: robot, camera and the true scene.

Blocking calls step the world until the motion has ended, so they belong to the thread that owns the world. A
server that steps the world itself uses ``start_follow``, ``start_grip``, the outcomes and ``cancel`` instead.
"""

from __future__ import annotations

from jarvis_core.motion import (
    Cancellation,
    ForceLimit,
    GripperOutcome,
    JointTrajectory,
    MotionOutcome,
    no_wrench,
    stopped_by_force,
)
from jarvis_core.objects import Scene
from jarvis_core.observation import CameraFrame, RobotState, Wrench

from jarvis_sim.world import TOP_CAMERA, SimWorld


class SimRobot:
    """``jarvis_core.ports.Robot`` on a simulated arm."""

    def __init__(self, world: SimWorld) -> None:
        self._world = world
        self._arm = world.arm

    @property
    def time_s(self) -> float:
        """The cell's clock."""
        return self._world.time_s

    def state(self) -> RobotState:
        """Measured joints, gripper width and tool pose."""
        return self._arm.state()

    def wrench(self) -> Wrench | None:
        """The estimated external wrench at the tool; None from a simulator that tells none."""
        return self._arm.wrench()

    def follow(
        self,
        trajectory: JointTrajectory,
        cancel: Cancellation | None = None,
        *,
        goal_tolerance_rad: float | None = None,
        force_limit: ForceLimit | None = None,
    ) -> MotionOutcome:
        """Run a trajectory that starts where the arm stands; ends when the arm stands still.

        CANCELED after a cancel; EXECUTION_FAILED when something blocks the arm, or the start is elsewhere.
        """
        if force_limit is not None and self.wrench() is None:
            return no_wrench()
        self.start_follow(trajectory, goal_tolerance_rad)
        guarded = False
        while (outcome := self._arm.controller.outcome) is None:
            wanted = cancel is not None and cancel.requested
            if force_limit is not None and not guarded:
                wrench = self.wrench()
                guarded = wrench is not None and force_limit.reached(wrench)
            if wanted or guarded:
                self.cancel_follow()
            self._world.step()
        return stopped_by_force(outcome, guarded, cancel)

    def grip(self, width_m: float, force_n: float, cancel: Cancellation | None = None) -> GripperOutcome:
        """Bring the pads to ``width_m`` or until they stall on something, which they go on squeezing."""
        self.start_grip(width_m, force_n)
        while (outcome := self._arm.gripper.outcome) is None:
            if cancel is not None and cancel.requested:
                self.cancel_grip()
            else:
                self._world.step()
        return outcome

    def wait(self, seconds: float) -> None:
        """Hold still for a time of the cell's clock."""
        self._world.advance(seconds)

    def start_follow(self, trajectory: JointTrajectory, goal_tolerance_rad: float | None = None) -> None:
        """Start a trajectory and return; raises RefusedError while another one runs."""
        self._arm.controller.command(trajectory, goal_tolerance_rad)

    def follow_outcome(self) -> MotionOutcome | None:
        """How the last trajectory ended; None while it runs."""
        return self._arm.controller.outcome

    def cancel_follow(self) -> None:
        """Begin to brake; the outcome follows at standstill."""
        self._arm.controller.cancel()

    def start_grip(self, width_m: float, force_n: float) -> None:
        """Start a gripper motion and return; raises RefusedError while another one runs."""
        self._arm.gripper.command(width_m, force_n, self._arm.width_m)

    def grip_outcome(self) -> GripperOutcome | None:
        """How the last gripper motion ended; None while it runs."""
        return self._arm.gripper.outcome

    def cancel_grip(self) -> None:
        """Stop the fingers where they are."""
        self._arm.gripper.cancel(self._arm.width_m)


class SimCamera:
    """``jarvis_core.ports.Camera``: the top camera, or another one of the cell by name."""

    def __init__(self, world: SimWorld, name: str = TOP_CAMERA) -> None:
        self._world = world
        self._name = name

    def capture(self) -> CameraFrame:
        """Take a picture, from the thread that owns the world."""
        return self._world.cameras.capture(self._name)


class SimSceneSource:
    """``jarvis_core.ports.SceneSource`` that reads the simulator's own state: privileged, and says so."""

    def __init__(self, world: SimWorld) -> None:
        self._world = world

    def scene(self) -> Scene:
        return Scene(self._world.time_s, "true", self._world.objects())
