"""Hand-eye calibration on pictures drawn with a known truth."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pytest
import yaml
from jarvis_core.cell import CameraConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.observation import CameraIntrinsics
from jarvis_core.pose import FloatArray, Pose
from jarvis_panda.calibration import View, board_picture, calibrate, find_corners, make_board
from jarvis_panda.calibration_folder import cell_lines, read_folder
from jarvis_panda.config import RealRobotConfig
from jarvis_robot.model import RobotModel
from scipy.spatial.transform import Rotation

BOARD = load_default("robot_real", RealRobotConfig).board
CAMERA = CameraIntrinsics(640, 480, 890.0, 885.0, 322.0, 236.0)
#: Looking down from above the table.
TRUE_CAMERA = Pose.from_rotation(
    (0.49, -0.02, 0.95), Rotation.from_euler("xyz", [178.0, 3.0, 88.0], degrees=True).as_matrix()
)
#: Held by the fingers, facing the camera above.
TRUE_BOARD = Pose.from_rotation(
    (-0.09, -0.06, 0.03), Rotation.from_euler("xyz", [4.0, -3.0, 2.0], degrees=True).as_matrix()
)
SUPERSAMPLING = 3


def matrix() -> FloatArray:
    return np.array([[CAMERA.fx, 0.0, CAMERA.cx], [0.0, CAMERA.fy, CAMERA.cy], [0.0, 0.0, 1.0]])


def drawn(tool: Pose, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
    """What the camera sees of the board: a plane's picture is a homography of it."""
    board = TRUE_CAMERA.inverse() @ tool @ TRUE_BOARD
    flat = board_picture(BOARD, 300)
    # Pixel centres of the flat picture to metres on the board, and pixel centres of the camera's to a finer grid.
    scale = BOARD.square_m * BOARD.squares[0] / flat.shape[1]
    metres = np.array([[scale, 0.0, scale / 2], [0.0, scale, scale / 2], [0.0, 0.0, 1.0]])
    seen = matrix() @ np.column_stack([board.rotation[:, 0], board.rotation[:, 1], board.position])
    s = SUPERSAMPLING
    finer = np.array([[s, 0.0, (s - 1) / 2], [0.0, s, (s - 1) / 2], [0.0, 0.0, 1.0]])
    size = (CAMERA.width * s, CAMERA.height * s)
    large = cv2.warpPerspective(flat, finer @ seen @ metres, size, borderValue=180, flags=cv2.INTER_AREA)
    small = cv2.resize(large, (CAMERA.width, CAMERA.height), interpolation=cv2.INTER_AREA)
    noisy = small + rng.normal(0.0, 2.0, small.shape)
    return np.clip(noisy, 0, 255).astype(np.uint8)


def tools(count: int, rng: np.random.Generator, tilt: float) -> list[Pose]:
    """Tool poses that show the board to the camera from several sides."""
    found = []
    for _ in range(count):
        turn = Rotation.from_euler("xyz", rng.uniform(-tilt, tilt, 3)) * Rotation.from_euler("z", np.pi / 2)
        # The board faces the camera where the tool points down: z of the tool is -z of the world.
        down = Rotation.from_euler("x", np.pi)
        centre = np.array([0.49, -0.02, 0.35]) + rng.uniform(-0.05, 0.05, 3)
        found.append(Pose.from_rotation(centre, (turn * down).as_matrix()))
    return found


def views(count: int, tilt: float = 0.45) -> list[View]:
    rng = np.random.default_rng(5)
    board = make_board(BOARD)
    made = []
    for tool in tools(count, rng, tilt):
        corners = find_corners(drawn(tool, rng), board)
        if corners is not None:
            made.append(View(tool, *corners))
    return made


def test_the_camera_is_found_within_a_millimetre() -> None:
    seen = views(14)
    assert len(seen) >= 10
    found = calibrate(seen, CAMERA)
    assert found.error_px < 0.3
    assert found.camera.distance_to(TRUE_CAMERA) < 1e-3
    assert found.camera.angle_to(TRUE_CAMERA) < np.radians(0.1)
    assert found.board.distance_to(TRUE_BOARD) < 1e-3
    assert found.camera_sigma_m < 1e-3


def test_a_view_with_a_wrong_tool_pose_is_the_worst() -> None:
    seen = views(12)
    wrong = seen[4]
    seen[4] = View(wrong.tool.translated((0.01, 0.0, 0.0)), wrong.corners, wrong.pixels)
    found = calibrate(seen, CAMERA)
    assert found.worst_view == 4
    assert found.worst_px > 1.5 * found.error_px


def test_a_picture_without_the_board_gives_no_corners() -> None:
    assert find_corners(np.full((480, 640), 128, np.uint8), make_board(BOARD)) is None


def test_too_few_views_and_views_about_one_axis_are_refused() -> None:
    seen = views(4)
    with pytest.raises(BadInputError, match="take 5 at least"):
        calibrate(seen, CAMERA)
    turned = [
        View(Pose.from_yaw((0.5, 0.0, 0.3), 0.2 * i) @ Pose((0, 0, 0), (1, 0, 0, 0)), v.corners, v.pixels)
        for i, v in enumerate([*seen, *seen])
    ]
    with pytest.raises(BadInputError, match="about one axis only"):
        calibrate(turned, CAMERA)


def test_a_folder_of_views_gives_lines_for_the_cell(tmp_path: Path) -> None:
    """Pictures and joints in, the camera as config/cell.yaml has it out."""
    rng = np.random.default_rng(2)
    panda = RobotModel.load("panda")
    ready = np.array(panda.config.ready_rad)
    said = []
    for i in range(9):
        joints = ready + rng.uniform(-0.25, 0.25, 7)
        joints[6] += np.pi / 2  # so that the board's long side lies along the picture's
        name = f"view-{i:02d}.png"
        cv2.imwrite(str(tmp_path / name), drawn(panda.tool(joints), rng))
        said.append({"picture": name, "joints_rad": [float(q) for q in joints]})
    cv2.imwrite(str(tmp_path / "empty.png"), np.full((480, 640), 128, np.uint8))
    said.append({"picture": "empty.png", "joints_rad": [0.0] * 7})
    lens = {**{name: getattr(CAMERA, name) for name in ("width", "height", "fx", "fy", "cx", "cy")}}
    text = yaml.safe_dump({"camera": {**lens, "distortion": []}, "views": said})
    (tmp_path / "views.yaml").write_text(text)
    folder = read_folder(tmp_path, panda, BOARD)
    assert "empty.png" in folder.without_board
    assert len(folder.views) >= 6
    found = calibrate(folder.views, folder.lens.intrinsics(), folder.lens.distortion)
    lines = yaml.safe_load(cell_lines(found, folder.lens))["top_camera"]
    pose = CameraConfig(**lines).pose()
    assert pose.distance_to(TRUE_CAMERA) < 2e-3
    assert pose.angle_to(TRUE_CAMERA) < np.radians(0.2)


def test_a_picture_of_another_size_is_refused(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "a.png"), np.zeros((10, 10), np.uint8))
    lens = "{width: 640, height: 480, fx: 890, fy: 885, cx: 322, cy: 236, distortion: []}"
    (tmp_path / "views.yaml").write_text(
        f"camera: {lens}\nviews: [{{picture: a.png, joints_rad: [0, 0, 0, 0, 0, 0, 0]}}]\n"
    )
    with pytest.raises(BadInputError, match="has 10 x 10 pixels, the camera 640 x 480"):
        read_folder(tmp_path, RobotModel.load("panda"), BOARD)
