"""A folder of views: pictures, and ``views.yaml`` with the joints at each and the camera's lens.

camera: {width: 640, height: 480, fx: 890.0, fy: 885.0, cx: 322.0, cy: 236.0, distortion: [0.01, -0.02, 0, 0, 0]}
views:
  - {picture: view-00.png, joints_rad: [0.0, -0.1, 0.0, -2.35, 0.0, 2.25, 0.785]}
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from jarvis_core.config import Config, load_config
from jarvis_core.errors import BadInputError
from jarvis_core.observation import CameraIntrinsics
from jarvis_robot.model import RobotModel

from jarvis_panda.calibration import Calibration, View, find_corners, make_board
from jarvis_panda.config import BoardConfig

VIEWS = "views.yaml"


class LensConfig(Config, frozen=True):
    """A pinhole camera in pixels, and OpenCV's coefficients of distortion."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    distortion: tuple[float, ...]

    def intrinsics(self) -> CameraIntrinsics:
        """Without the distortion."""
        return CameraIntrinsics(self.width, self.height, self.fx, self.fy, self.cx, self.cy)


class ViewConfig(Config, frozen=True):
    """A picture, by its name in the folder, and the (n,) arm positions at which it was taken."""

    picture: str
    joints_rad: tuple[float, ...]


class FolderConfig(Config, frozen=True):
    """What ``views.yaml`` says."""

    camera: LensConfig
    views: tuple[ViewConfig, ...]


@dataclass(frozen=True, slots=True)
class Folder:
    """Views in which the board is seen, the names of their pictures, and of the pictures in which it is not."""

    lens: LensConfig
    views: tuple[View, ...]
    pictures: tuple[str, ...]
    without_board: tuple[str, ...]


def read_folder(folder: Path, robot: RobotModel, board: BoardConfig) -> Folder:
    """Read a folder and look for the board in its pictures.

    Raises:
        ConfigError, BadInputError: a file is absent or wrong.
    """
    said = load_config(folder / VIEWS, FolderConfig)
    known = make_board(board)
    views, seen, unseen = [], [], []
    for view in said.views:
        path = folder / view.picture
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        if picture is None:
            raise BadInputError("is no picture", where=str(path))
        if picture.shape != (said.camera.height, said.camera.width):
            raise BadInputError(
                f"has {picture.shape[1]} x {picture.shape[0]} pixels, the camera {said.camera.width} x "
                f"{said.camera.height}",
                where=str(path),
            )
        if len(view.joints_rad) != robot.n_joints:
            raise BadInputError(
                f"{len(view.joints_rad)} joints for an arm of {robot.n_joints}", where=f"{folder / VIEWS}"
            )
        corners = find_corners(picture.astype(np.uint8), known)
        if corners is None:
            unseen.append(view.picture)
            continue
        seen.append(view.picture)
        views.append(View(robot.tool(np.array(view.joints_rad)), *corners))
    return Folder(said.camera, tuple(views), tuple(seen), tuple(unseen))


def cell_lines(found: Calibration, lens: LensConfig) -> str:
    """The camera as config/cell.yaml has it: eye, a point 1 m along its view, up in the picture, vertical angle."""
    eye = found.camera.position
    target, up = eye + found.camera.rotation[:, 2], -found.camera.rotation[:, 1]
    angle = 2 * np.degrees(np.arctan(lens.height / 2 / lens.fy))
    numbers = {
        name: ", ".join(f"{v:.5f}" for v in value)
        for name, value in (("eye", eye), ("target", target), ("up", up))
    }
    return "\n".join(
        [
            "top_camera:",
            f"  width: {lens.width}",
            f"  height: {lens.height}",
            f"  fov_y_deg: {angle:.4f}",
            *(f"  {name}: [{value}]" for name, value in numbers.items()),
        ]
    )
