"""Where a fixed camera stands, seen from the robot: hand-eye calibration with a ChArUco board in the gripper.

The camera looks at the board while the arm shows it from several sides. Unknown are the camera in ``world`` and the
board in the tool frame; both are found together, by the least squares of what matters, the distance in pixels between
corners seen and expected. The start is that of Park and Martin, Robot Sensor Calibration, IEEE T-RA 10(5), 1994.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError
from jarvis_core.observation import CameraIntrinsics
from jarvis_core.pose import FloatArray, Pose
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from jarvis_panda.config import BoardConfig

#: A view with fewer corners says little about its pose.
_FEWEST_CORNERS = 6
#: So many views at least, turned about two axes by this much: else some directions stay unknown.
_FEWEST_VIEWS = 5
_LEAST_TURN_RAD = 0.15


def make_board(config: BoardConfig) -> cv2.aruco.CharucoBoard:
    """OpenCV's board. Its frame: origin in a corner, x along columns, y along rows, z into the board.

    Raises:
        BadInputError: OpenCV has no such dictionary.
    """
    known = getattr(cv2.aruco, config.dictionary, None)
    if not isinstance(known, int):
        raise BadInputError(f"OpenCV has no dictionary {config.dictionary!r}", fix="for example DICT_5X5_100")
    dictionary = cv2.aruco.getPredefinedDictionary(known)
    return cv2.aruco.CharucoBoard(config.squares, config.square_m, config.marker_m, dictionary)


def board_picture(config: BoardConfig, dots_per_inch: float) -> npt.NDArray[np.uint8]:
    """(height, width) grey picture that prints at its true size."""
    size = [round(n * config.square_m / 0.0254 * dots_per_inch) for n in config.squares]
    return np.asarray(make_board(config).generateImage(size), np.uint8)


@dataclass(frozen=True, slots=True)
class View:
    """One picture's corners, and where the tool was.

    Attributes:
        tool: in ``world``.
        corners: (k, 3) in the board's frame, metres.
        pixels: (k, 2) where they are seen.
    """

    tool: Pose
    corners: FloatArray
    pixels: FloatArray


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was found.

    Attributes:
        camera: optical frame in ``world``.
        board: in the tool frame.
        error_px: root of the mean square distance between corners seen and expected.
        worst_px: that of the worst view, whose index is ``worst_view``.
        camera_sigma_m, camera_sigma_rad: largest standard deviation of the camera's position and angles, as far as
            the scatter of the corners tells.
    """

    camera: Pose
    board: Pose
    error_px: float
    worst_px: float
    worst_view: int
    camera_sigma_m: float
    camera_sigma_rad: float


def find_corners(
    picture: npt.NDArray[np.uint8], board: cv2.aruco.CharucoBoard
) -> tuple[FloatArray, FloatArray] | None:
    """(k, 3) corners in the board's frame and (k, 2) pixels of a (height, width[, 3]) picture; None: too few seen."""
    grey = picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY)
    pixels, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(grey)
    if ids is None or len(ids) < _FEWEST_CORNERS:
        return None
    corners = np.asarray(board.getChessboardCorners(), np.float64)[ids.ravel()]
    return corners, np.asarray(pixels, np.float64).reshape(-1, 2)


def calibrate(
    views: Sequence[View], intrinsics: CameraIntrinsics, distortion: Sequence[float] = ()
) -> Calibration:
    """The camera in ``world``.

    Args:
        distortion: OpenCV's coefficients (k1, k2, p1, p2, k3 ...); none for a rectified picture.

    Raises:
        BadInputError: too few views, or all of them about one axis.
    """
    _check(views)
    matrix = np.array(
        [[intrinsics.fx, 0.0, intrinsics.cx], [0.0, intrinsics.fy, intrinsics.cy], [0.0, 0.0, 1.0]]
    )
    lens = np.array(distortion, dtype=np.float64)
    camera, board = _start(views, matrix, lens)

    def errors(x: FloatArray) -> FloatArray:
        to_camera, in_tool = _pose(x[:6]).inverse(), _pose(x[6:])
        return np.concatenate([_gaps(v, to_camera @ v.tool @ in_tool, matrix, lens).ravel() for v in views])

    found = least_squares(errors, np.concatenate([_vector(camera), _vector(board)]), x_scale="jac")
    squares = [float((_view_errors(found.fun, views, i) ** 2).mean()) for i in range(len(views))]
    variance = float(found.fun @ found.fun) / max(len(found.fun) - 12, 1)
    jacobian = np.asarray(found.jac, np.float64)
    sigma = np.sqrt(np.diag(variance * np.linalg.inv(jacobian.T @ jacobian)))
    return Calibration(
        camera=_pose(found.x[:6]),
        board=_pose(found.x[6:]),
        error_px=float(np.sqrt(2 * (found.fun**2).mean())),
        worst_px=float(np.sqrt(2 * max(squares))),
        worst_view=int(np.argmax(squares)),
        camera_sigma_m=float(sigma[3:6].max()),
        camera_sigma_rad=float(sigma[:3].max()),
    )


def _check(views: Sequence[View]) -> None:
    if len(views) < _FEWEST_VIEWS:
        raise BadInputError(
            f"{len(views)} views show the board", fix=f"take {_FEWEST_VIEWS} at least, 15 or more are better"
        )
    first = views[0].tool.inverse()
    turns = _turns([first @ view.tool for view in views[1:]])
    spread = np.linalg.svd(turns, compute_uv=False) / np.sqrt(len(turns))
    if spread[1] < _LEAST_TURN_RAD:
        raise BadInputError(
            "the views turn the board about one axis only",
            fix="tilt it about two axes, by 20 degrees and more",
        )


def _start(views: Sequence[View], matrix: FloatArray, lens: FloatArray) -> tuple[Pose, Pose]:
    """Camera in ``world`` and board in the tool, from each view's own pose of the board (Park and Martin)."""
    boards = []
    for view in views:
        _, vector, move = cv2.solvePnP(view.corners, view.pixels, matrix, lens)
        rotation = Rotation.from_rotvec(np.asarray(vector, np.float64).ravel()).as_matrix()
        boards.append(Pose.from_rotation(np.asarray(move, np.float64).ravel(), rotation))
    # Between two views the same motion is seen in ``world`` and by the camera.
    pairs = [(i, j) for i in range(len(views)) for j in range(i)]
    in_world = [views[i].tool @ views[j].tool.inverse() for i, j in pairs]
    seen = [boards[i] @ boards[j].inverse() for i, j in pairs]
    turn, _ = Rotation.align_vectors(_turns(in_world), _turns(seen))
    left = np.vstack([a.rotation - np.eye(3) for a in in_world])
    right = np.concatenate([turn.apply(b.position) - a.position for a, b in zip(in_world, seen, strict=True)])
    camera = Pose.from_rotation(np.linalg.lstsq(left, right)[0], turn.as_matrix())
    return camera, views[0].tool.inverse() @ camera @ boards[0]


def _turns(poses: Sequence[Pose]) -> FloatArray:
    """(k, 3) rotation vectors."""
    return np.array([Rotation.from_quat(pose.quaternion).as_rotvec() for pose in poses])


def _gaps(view: View, board: Pose, matrix: FloatArray, lens: FloatArray) -> FloatArray:
    """(k, 2) pixels between corners seen and expected for a pose of the board in the camera's frame."""
    turn = Rotation.from_quat(board.quaternion).as_rotvec()
    expected, _ = cv2.projectPoints(view.corners, turn, board.position, matrix, lens)
    gaps: FloatArray = expected.reshape(-1, 2) - view.pixels
    return gaps


def _view_errors(errors: FloatArray, views: Sequence[View], index: int) -> FloatArray:
    counts = np.cumsum([0, *(2 * len(view.pixels) for view in views)])
    return errors[counts[index] : counts[index + 1]]


def _vector(pose: Pose) -> FloatArray:
    """(6,) rotation vector and position."""
    return np.concatenate([Rotation.from_quat(pose.quaternion).as_rotvec(), pose.position])


def _pose(vector: FloatArray) -> Pose:
    return Pose.from_rotation(vector[3:], Rotation.from_rotvec(vector[:3]).as_matrix())
