"""``jarvis isaac``: the cell of a task as a scene for Isaac Sim."""

from __future__ import annotations

import argparse
from pathlib import Path

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_sim.config import SimConfig
from jarvis_sim.isaac.config import IsaacConfig

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.sources import add_library_option, read_task

EXAMPLES = """
jarvis isaac scene tasks/house-s02-s04
jarvis isaac scene tasks/house-s02-s04 --seed 7 --out cell.usda --robot-usd ASSETS/Isaac/Robots/…/franka.usd
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "isaac", "the cell in Isaac Sim 6 (see docs/isaac-sim.md)", EXAMPLES)
    verbs = parser.add_subparsers(metavar="VERB", required=True)
    scene = add_command(verbs, "scene", "write a task's cell as a USD scene", EXAMPLES)
    scene.add_argument("task", type=Path, help="task folder")
    scene.add_argument("--seed", type=int, default=0, help="decides the initial state (default 0)")
    scene.add_argument(
        "--out", type=Path, default=Path("scene.usda"), help="file to write (default scene.usda)"
    )
    scene.add_argument(
        "--robot-usd",
        default="",
        metavar="ADDRESS",
        help="full address of the robot's asset (default: the robot's place stays empty)",
    )
    add_library_option(scene)
    scene.set_defaults(run=write)


def write(options: argparse.Namespace) -> int:
    from jarvis_sim.isaac.scene import write_scene  # without pxr this says how to get it

    task, _ = read_task(options.task)
    placement = write_scene(
        options.out,
        task,
        load_default("cell", CellConfig),
        load_default("sim", SimConfig),
        load_default("isaac", IsaacConfig),
        PartCatalogue(LDrawLibrary.find(options.ldraw_library)),
        options.seed,
        robot_usd=options.robot_usd,
    )
    print(
        f"{options.out}: {len(placement.fixed)} fixed and {len(placement.loose)} loose bricks, seed {options.seed}"
    )
    return 0
