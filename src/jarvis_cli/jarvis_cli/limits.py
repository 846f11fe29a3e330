"""What the configured cell allows a task to be."""

from __future__ import annotations

import msgspec
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_robot.config import load_robot_config
from jarvis_skills.config import SkillsConfig
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits

from jarvis_cli.sources import parse_range


def cell_limits() -> tuple[CellConfig, CellLimits]:
    """The configured cell and the limits of its gripper, supply area and workspace."""
    cell = load_default("cell", CellConfig)
    gripper = load_robot_config(cell.robot).gripper
    slack = load_default("skills", SkillsConfig).finger_slack_m
    return cell, CellLimits.of(cell, gripper.clearance(slack))


def task_rules(bricks: str | None, *, leave_out: bool) -> TasksConfig:
    """The configured rules, with what the command line says.

    Args:
        bricks: fewest and most bricks to place, like ``4-6``; None: as configured.
        leave_out: leave out bricks that the cell can't build with, even where the configuration doesn't say so.
    """
    config = load_default("tasks", TasksConfig)
    config = msgspec.structs.replace(config, leave_out=leave_out or config.leave_out)
    if bricks is None:
        return config
    fewest, most = parse_range(bricks, "--bricks")
    return msgspec.structs.replace(config, min_bricks=fewest, max_bricks=most)
