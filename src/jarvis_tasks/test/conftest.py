"""Small builds of built-in parts, and real models where LDRAW_MODELS and LDRAWDIR name them."""

import math
import os
from pathlib import Path

import pytest
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.grip import FingerClearance
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits


@pytest.fixture(scope="session")
def catalogue():
    return PartCatalogue(None)


@pytest.fixture(scope="session")
def cell():
    return load_default("cell", CellConfig)


@pytest.fixture(scope="session")
def fingers():
    """Of a gripper like the Franka Hand."""
    return FingerClearance(
        max_width_m=0.08,
        thickness_m=0.015,
        width_m=0.018,
        length_m=0.0463,
        pad_below_tcp_m=0.0089,
        hand_size_m=(0.0634, 0.208),
    )


@pytest.fixture(scope="session")
def limits(cell, fingers):
    return CellLimits.of(cell, fingers)


@pytest.fixture(scope="session")
def config():
    return load_default("tasks", TasksConfig)


@pytest.fixture
def build():
    """build([(part, x, y, level, step, yaw in degrees), ...]): positions in studs and brick heights, the last two
    optional; all anywhere in space."""

    def built(rows, name="toy", origin=(0.123, -0.456, 0.789)):
        bricks = []
        for number, row in enumerate(rows, start=1):
            part, x, y, level, step, yaw = (*row, *(1, 0.0)[len(row) - 4 :])
            position = (x * STUD_PITCH_M, y * STUD_PITCH_M, level * BRICK_HEIGHT_M)
            pose = Pose.from_yaw(position, math.radians(yaw)).translated(origin)
            bricks.append(Brick(f"b{number:03d}", part, 4, pose, step, False, f"{name}.ldr:{number}"))
        return Assembly(name, "A toy", "someone", "CC BY 4.0", True, tuple(bricks))

    return built


@pytest.fixture
def tower(build):
    """Four steps: two bricks side by side, one across them, one on top, one beside."""
    return build(
        [
            ("3001", 0, 0, 1),
            ("3001", 4, 0, 1),
            ("3001", 2, 0, 2, 2),
            ("3003", 2, 0, 3, 3),
            ("3003", 10, 0, 1, 4),
        ]
    )


@pytest.fixture(scope="session")
def models_folder():
    named = os.environ.get("LDRAW_MODELS")
    if not named or not os.environ.get("LDRAWDIR"):
        pytest.skip("LDRAW_MODELS and LDRAWDIR name no real models and no parts library")
    return Path(named)
