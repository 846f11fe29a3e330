"""``jarvis calibrate``: where the camera of a real cell stands, by a board that the arm shows it."""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.files import atomic_path
from jarvis_panda.calibration import board_picture, calibrate
from jarvis_panda.calibration_folder import VIEWS, cell_lines, read_folder
from jarvis_panda.config import RealRobotConfig
from jarvis_robot.model import RobotModel
from PIL import Image

from jarvis_cli.parser import Commands, add_command

BOARD_EXAMPLES = """
jarvis calibrate board --out board.png"""
CAMERA_EXAMPLES = """
jarvis calibrate camera views/"""


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "calibrate", "find where a real cell's camera stands", BOARD_EXAMPLES + CAMERA_EXAMPLES
    )
    parts = parser.add_subparsers(dest="part", metavar="PART", required=True)
    board = add_command(
        parts, "board", "draw the ChArUco board of config/robot_real.yaml for printing", BOARD_EXAMPLES
    )
    board.add_argument(
        "--out", type=Path, default=Path("board.png"), help="PNG to write (default: %(default)s)"
    )
    board.add_argument("--dpi", type=int, default=300, help="dots per inch (default: %(default)s)")
    board.set_defaults(run=run_board)
    camera = add_command(parts, "camera", "find the camera from a folder of views", CAMERA_EXAMPLES)
    camera.add_argument("folder", type=Path, help=f"pictures and {VIEWS} (see docs/real-panda.md)")
    camera.set_defaults(run=run_camera)


def run_board(options: argparse.Namespace) -> int:
    config = load_default("robot_real", RealRobotConfig).board
    picture = board_picture(config, options.dpi)
    with atomic_path(options.out) as path:
        Image.fromarray(picture).save(path, format="PNG", dpi=(options.dpi, options.dpi))
    print(
        f"{options.out}: print without scaling, glue it to something flat, and measure a square: "
        f"{config.square_m * 1000:g} mm"
    )
    return 0


def run_camera(options: argparse.Namespace) -> int:
    robot = RobotModel.load(load_default("cell", CellConfig).robot)
    folder = read_folder(options.folder, robot, load_default("robot_real", RealRobotConfig).board)
    for name in folder.without_board:
        print(f"{name}: the board is not seen well enough; left out")
    found = calibrate(folder.views, folder.lens.intrinsics(), folder.lens.distortion)
    print(f"{len(folder.views)} views, {len(folder.without_board)} left out")
    print(
        f"corners are {found.error_px:.2f} px off (root mean square), {found.worst_px:.2f} px in the worst view, "
        f"{folder.pictures[found.worst_view]}"
    )
    print(
        f"the camera's place is known to {found.camera_sigma_m * 1000:.2f} mm and "
        f"{np.degrees(found.camera_sigma_rad):.3f} deg (one standard deviation)"
    )
    print(f"\nFor config/cell.yaml:\n\n{cell_lines(found, folder.lens)}")
    return 0
