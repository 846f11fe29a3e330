"""The work cell: what is fixed for every agent and read from config/cell.yaml."""

from __future__ import annotations

import math

import numpy as np

from jarvis_core.config import Config
from jarvis_core.observation import CameraIntrinsics
from jarvis_core.pose import Pose


class Region(Config, frozen=True):
    """An axis-aligned rectangle on the tabletop, metres in ``world``: x and y intervals."""

    x: tuple[float, float]
    y: tuple[float, float]

    def contains(self, x: float, y: float, margin: float = 0.0) -> bool:
        return self.x[0] + margin <= x <= self.x[1] - margin and self.y[0] + margin <= y <= self.y[1] - margin


class PlateConfig(Config, frozen=True):
    """The studded build plate fixed to the table.

    Attributes:
        pose: of frame ``plate`` in ``world``: origin in the middle of its top surface, axes along the studs.
        studs: number of studs along x and y (even numbers, so that the origin lies between four studs).
        thickness_m: height of the top surface above the tabletop (pose z has the same number).
    """

    pose: Pose
    studs: tuple[int, int]
    thickness_m: float


class CameraConfig(Config, frozen=True):
    """A camera looking from ``eye`` to ``target``, ``up`` pointing up in the image.

    Metres; in ``world`` for a camera fixed in the cell, in the frame of the link that carries it for one on the robot.
    """

    width: int
    height: int
    fov_y_deg: float
    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    up: tuple[float, float, float]

    def pose(self) -> Pose:
        """Pose of the optical frame (x right, y down, z forward), in the frame ``eye`` is given in."""
        eye = np.array(self.eye)
        forward = np.array(self.target) - eye
        forward = forward / np.linalg.norm(forward)
        right = np.cross(forward, np.array(self.up))
        right = right / np.linalg.norm(right)
        return Pose.from_rotation(eye, np.column_stack([right, np.cross(forward, right), forward]))

    def intrinsics(self) -> CameraIntrinsics:
        """Pinhole parameters; square pixels, principal point in the image's middle."""
        focal = self.height / 2 / math.tan(math.radians(self.fov_y_deg) / 2)
        return CameraIntrinsics(
            self.width, self.height, focal, focal, (self.width - 1) / 2, (self.height - 1) / 2
        )


class SupplyConfig(Config, frozen=True):
    """Where loose bricks lie at the start.

    Attributes:
        region: on the tabletop.
        clearance_m: free space around each brick's bounding circle (fingers must fit).
        target_distance_m: smallest distance of a loose brick from any target.
    """

    region: Region
    clearance_m: float
    target_distance_m: float


class CellConfig(Config, frozen=True):
    """Everything fixed in the cell.

    Attributes:
        table: the tabletop, z = 0.
        workspace_z_m: lowest and highest allowed tool height.
        gripper_camera: carried by the robot's hand link, in whose frame it is given.
    """

    table: Region
    workspace_z_m: tuple[float, float]
    plate: PlateConfig
    supply: SupplyConfig
    top_camera: CameraConfig
    overview_camera: CameraConfig
    gripper_camera: CameraConfig
    robot: str
