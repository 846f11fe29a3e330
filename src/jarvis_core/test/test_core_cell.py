"""The cell's cameras look where they are told."""

from __future__ import annotations

import numpy as np
import pytest
from jarvis_core.cell import CameraConfig, CellConfig, Region
from jarvis_core.config import load_default


def camera() -> CameraConfig:
    return CameraConfig(
        width=640, height=480, fov_y_deg=90.0, eye=(0.5, 0.0, 1.0), target=(0.5, 0.0, 0.0), up=(1.0, 0.0, 0.0)
    )


def test_a_camera_over_the_table_sees_forward_as_up() -> None:
    optical = camera().pose().inverse()
    k = camera().intrinsics()
    # A point straight below lies in the picture's middle; one further forward (+x) lies higher (smaller row);
    # one to the left of the robot (+y) lies left.
    for point, (column, row) in {
        (0.5, 0.0, 0.0): (319.5, 239.5),
        (0.7, 0.0, 0.0): (319.5, 239.5 - 0.2 * 240),
        (0.5, 0.1, 0.0): (319.5 - 0.1 * 240, 239.5),
    }.items():
        x, y, z = optical @ np.array(point)
        assert k.fx * x / z + k.cx == pytest.approx(column)
        assert k.fy * y / z + k.cy == pytest.approx(row)


def test_regions_keep_a_margin() -> None:
    region = Region(x=(0.0, 1.0), y=(-1.0, 0.0))
    assert region.contains(0.1, -0.1, margin=0.1)
    assert not region.contains(0.05, -0.5, margin=0.1)


def test_the_default_cell_is_consistent() -> None:
    cell = load_default("cell", CellConfig)
    assert cell.plate.pose.position[2] == pytest.approx(cell.plate.thickness_m)
    x, y, _ = cell.plate.pose.position
    assert cell.table.contains(float(x), float(y), margin=0.2)
    assert cell.supply.region.y[1] < y - cell.plate.studs[1] * 0.004
