"""What a robot can know: images and its own joints."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from jarvis_core.pose import FloatArray, Pose


class CameraIntrinsics(msgspec.Struct, frozen=True):
    """A pinhole camera without distortion; pixels, pixel centres at whole numbers (ROS convention)."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    def matrix(self) -> FloatArray:
        """(3, 3) camera matrix K."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])


@dataclass(frozen=True, slots=True)
class CameraFrame:
    """One RGB-D picture.

    Attributes:
        rgb: (height, width, 3) uint8.
        depth_m: (height, width) float32, distance along the optical axis in metres, 0 where unknown.
        pose: of the optical frame (x right, y down, z forward) in ``world``.
    """

    time_s: float
    rgb: npt.NDArray[np.uint8]
    depth_m: npt.NDArray[np.float32]
    intrinsics: CameraIntrinsics
    pose: Pose


class RobotState(msgspec.Struct, frozen=True):
    """Proprioception.

    Attributes:
        joints_rad: arm joint positions.
        gripper_width_m: distance between the finger pads.
        tool: pose of the tool centre point in ``world``.
    """

    time_s: float
    joints_rad: tuple[float, ...]
    gripper_width_m: float
    tool: Pose


class Wrench(msgspec.Struct, frozen=True):
    """What the surroundings exert on the hand (and on what it holds), estimated at the tool centre point.

    Attributes:
        force_n: (3,) along the axes of ``world``; pressing down on something gives a positive z.
        torque_nm: (3,) about the tool centre point, same axes.
    """

    time_s: float
    force_n: tuple[float, float, float]
    torque_nm: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Observation:
    """What an agent is given when it looks."""

    camera: CameraFrame
    robot: RobotState
