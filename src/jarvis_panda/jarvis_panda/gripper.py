"""What one gripper command means to the Franka Hand, which moves and grasps by different actions.

``Move`` goes to a width with little force; ``Grasp`` closes with a force and fails where the width it ends at is not
within ``epsilon`` of the one asked for. A width is what nobody can know who grips for the first time: here every width
counts, and the caller judges. https://github.com/frankaemika/franka_ros2, franka_msgs/action.
"""

from __future__ import annotations

from dataclasses import dataclass

from jarvis_robot.gripper import GripperConfig

from jarvis_panda.config import RealRobotConfig


@dataclass(frozen=True, slots=True)
class Move:
    """Fields of franka_msgs/action/Move: metres between the pads, metres a second."""

    width: float
    speed: float


@dataclass(frozen=True, slots=True)
class Grasp:
    """Fields of franka_msgs/action/Grasp: as Move, newtons, and tolerances below and above the width, metres."""

    width: float
    speed: float
    force: float
    inner: float
    outer: float


def command(
    width_m: float, now_m: float, force_n: float, gripper: GripperConfig, config: RealRobotConfig
) -> Move | Grasp:
    """Opening is a Move, closing a Grasp that takes whatever it finds."""
    width = min(max(width_m, 0.0), gripper.max_width_m)
    speed = config.gripper_speed_m_s
    if width >= now_m:
        return Move(width, min(speed, gripper.open_speed_m_s))
    return Grasp(width, speed, force_n, gripper.max_width_m, gripper.max_width_m)


def stalled(wanted_m: float, ended_m: float, config: RealRobotConfig) -> bool:
    """Whether pads that stopped are held apart by something."""
    return ended_m - wanted_m > config.stall_m
