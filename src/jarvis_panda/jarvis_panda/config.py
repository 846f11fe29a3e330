"""What config/robot_real.yaml says."""

from __future__ import annotations

from typing import Literal

from jarvis_core.config import Config


class WorkspaceBox(Config, frozen=True):
    """Where the tool may be: intervals in ``world``, metres."""

    x: tuple[float, float]
    y: tuple[float, float]
    z: tuple[float, float]


class BoardConfig(Config, frozen=True):
    """A ChArUco board.

    Attributes:
        squares: columns and rows of the chessboard.
        square_m, marker_m: edges of a square and of the marker in it, measured on the print.
        dictionary: of markers, by OpenCV's name.
    """

    squares: tuple[int, int]
    square_m: float
    marker_m: float
    dictionary: str


class RealRobotConfig(Config, frozen=True):
    """The real arm behind the adapter.

    Attributes:
        arm_action: FollowJointTrajectory of the arm's controller.
        joint_states: topics that together carry every joint.
        gripper: namespace of the gripper's actions and of its service ``stop``.
        gripper_door: which of its actions to use.
        velocity_share, acceleration_share, jerk_share: of the published limits; faster trajectories are slowed.
        max_force_n: of the gripper.
        gripper_speed_m_s: of the pads against each other.
        stall_m: pads that stop this far from their goal stalled on something.
        workspace_m: the tool stays in it.
        start_tolerance_rad: how far a trajectory may start from where the arm stands.
        confirm_first: nothing moves before a person has confirmed.
        state_rate_hz: of the merged joint states.
        board: that calibrates the camera.
    """

    arm_action: str
    joint_states: tuple[str, ...]
    gripper: str
    gripper_door: Literal["franka_msgs", "gripper_action"]
    velocity_share: float
    acceleration_share: float
    jerk_share: float
    max_force_n: float
    gripper_speed_m_s: float
    stall_m: float
    workspace_m: WorkspaceBox
    start_tolerance_rad: float
    confirm_first: bool
    state_rate_hz: float
    board: BoardConfig
