"""The seams: what skills, policies and the episode need, whoever provides it.

The embedded simulator, Isaac Sim and a real arm each provide Robot and Camera; a policy sees Tools only.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from jarvis_core.manual import PartCount, TaskBrief
from jarvis_core.motion import Cancellation, ForceLimit, GripperOutcome, JointTrajectory, MotionOutcome
from jarvis_core.objects import ConnectionEvent, RigidObject, Scene, TargetObject, WorldState
from jarvis_core.observation import CameraFrame, Observation, RobotState, Wrench
from jarvis_core.planning import GraspPlan, ReachAnswer
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenScene
from jarvis_core.skills import SkillResult


class Clock(Protocol):
    """Time of the cell: simulated, or the wall clock of a real robot."""

    @property
    def time_s(self) -> float: ...


class Robot(Protocol):
    """An arm with a parallel gripper. Calls block until the motion ended; none raises for a failed motion."""

    @property
    def time_s(self) -> float:
        """The cell's clock."""

    def state(self) -> RobotState:
        """Measured joints, gripper width and tool pose."""

    def wrench(self) -> Wrench | None:
        """The estimated external wrench now; None where the robot tells none."""

    def follow(
        self,
        trajectory: JointTrajectory,
        cancel: Cancellation | None = None,
        *,
        goal_tolerance_rad: float | None = None,
        force_limit: ForceLimit | None = None,
    ) -> MotionOutcome:
        """Run a trajectory that starts where the arm stands. After a cancel the arm stands still.

        ``goal_tolerance_rad``: how far from the goal a joint may come to rest, instead of the controller's own
        tolerance: a motion that presses on something ends before its goal, and that is no failure.
        ``force_limit``: where it is reached the arm stops, which is a success (``guarded``); EXECUTION_FAILED where
        the robot tells no wrench.
        """

    def grip(self, width_m: float, force_n: float, cancel: Cancellation | None = None) -> GripperOutcome:
        """Bring the pads to ``width_m``, with at most ``force_n``; ends on arrival or when stalled."""

    def wait(self, seconds: float) -> None:
        """Hold still for a time of the cell's clock."""


class Camera(Protocol):
    """A calibrated RGB-D camera."""

    def capture(self) -> CameraFrame: ...


class SceneSource(Protocol):
    """Where skills learn what lies where: perception, or the simulator's own state (declared privileged)."""

    def scene(self) -> Scene: ...


class Perception(Protocol):
    """Makes bricks with poses of a picture, from what a robot may know."""

    def perceive(
        self,
        frame: CameraFrame,
        *,
        parts: Sequence[PartCount] = (),
        robot: RobotState | None = None,
        now_s: float | None = None,
    ) -> SeenScene:
        """Look at one picture of the top camera. Ids of bricks stay the same from call to call.

        Args:
            parts: what may lie there (the task's list); none: any part of the catalogue, any colour.
            robot: where the arm was when the picture was taken; its pixels are left out.
            now_s: the cell's clock; a picture older than configured is refused.

        Raises:
            PerceptionRefusedError: nothing can be told from this picture; says why.
        """


class World(Protocol):
    """A simulated cell as the episode sees it."""

    @property
    def time_s(self) -> float: ...

    def advance(self, seconds: float) -> None:
        """Let time pass, the robot holding its commands."""

    def state(self) -> WorldState:
        """True poses, held flags and connections."""

    def objects(self) -> tuple[RigidObject, ...]:
        """Every object with its shape, at its present pose."""

    def events(self) -> Sequence[ConnectionEvent]:
        """All connection events since the reset."""


@runtime_checkable
class Tools(Protocol):
    """What an agent may call. Every call returns data; none raises for a failed action.

    ``scene``, ``plan_grasp`` and ``reach`` raise RefusedError in a cell that can't answer them.
    """

    def brief(self) -> TaskBrief: ...
    def time_s(self) -> float:
        """Simulated seconds used so far."""

    def observe(self) -> Observation: ...
    def scene(self) -> Scene:
        """What is seen where; ``source`` says by whom."""

    def plan_grasp(self, object_id: str, place_pose: Pose | None = None) -> GraspPlan: ...
    def reach(self, pose: Pose) -> ReachAnswer: ...
    def pick(self, object_id: str, place_pose: Pose | None = None) -> SkillResult: ...
    def place(self, pose: Pose) -> SkillResult: ...
    def pick_and_place(self, object_id: str, pose: Pose) -> SkillResult: ...
    def move_to(self, pose: Pose, *, straight: bool = False, speed: float = 1.0) -> SkillResult: ...
    def push(self, object_id: str, offset_m: tuple[float, float]) -> SkillResult: ...
    def home(self) -> SkillResult: ...
    def grip(self, width_m: float) -> SkillResult: ...
    def remove(self, object_id: str) -> SkillResult: ...
    def press(self, object_id: str) -> SkillResult: ...


@runtime_checkable
class PrivilegedTools(Tools, Protocol):
    """Tools of a declared oracle: ground truth too. Never handed to an agent that is not declared privileged."""

    def true_scene(self) -> Scene: ...
    def targets(self) -> tuple[TargetObject, ...]: ...


class Policy(Protocol):
    """An agent: a program, a chat loop or a graph of skills alike."""

    @property
    def name(self) -> str: ...

    @property
    def privileged(self) -> bool:
        """Needs PrivilegedTools; every record and table says so."""

    def run(self, tools: Tools) -> None:
        """Do the task with the tools, then return. An exception ends the episode as ``crashed``."""


@runtime_checkable
class ReportingPolicy(Policy, Protocol):
    """A policy that says more about itself, and leaves files of its own with the record."""

    @property
    def caged(self) -> bool:
        """Runs under isolation by the operating system; every record and table says so."""

    def keep_in(self, folder: Path) -> None:
        """Told before the run: where its files (transcript, program, report) go; the folder may not exist yet."""
