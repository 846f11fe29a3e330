"""Parts made by hand, so that the renderer is tested without a parts library."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M, Connectors, Mesh, PartGeometry
from jarvis_core.cell import PlateConfig
from jarvis_core.config import load_default
from jarvis_core.errors import MissingCapabilityError
from jarvis_core.objects import Box
from jarvis_core.pose import Pose
from jarvis_render.config import ManualConfig
from jarvis_render.gl import GlContext, shared_context

SIDES = 12
#: Name -> studs along x and y.
SIZES = {"3001": (4, 2), "3003": (2, 2), "3004": (2, 1), "3005": (1, 1), "3008": (8, 1)}


@dataclass(frozen=True)
class HandBrick:
    part: str
    colour: int
    pose: Pose


def brick(part: str, colour: int, x: float, y: float, level: int = 1, yaw: float = 0.0) -> HandBrick:
    """A brick whose middle is x, y studs from the plate's middle; level 1 stands on the plate."""
    return HandBrick(
        part, colour, Pose.from_yaw((x * STUD_PITCH_M, y * STUD_PITCH_M, level * BRICK_HEIGHT_M), yaw)
    )


class HandParts:
    """Blocks with studs."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def geometry(self, part: str) -> PartGeometry:
        self.asked.append(part)
        nx, ny = SIZES[part]
        half = np.array([nx, ny]) * STUD_PITCH_M / 2
        mesh = block_mesh(nx, ny)
        low, high = np.array([-half[0], -half[1], -BRICK_HEIGHT_M]), np.array([half[0], half[1], 0.0])
        box = Box(Pose((low + high) / 2), (float(2 * half[0]), float(2 * half[1]), BRICK_HEIGHT_M))
        none = Connectors(np.zeros((0, 3)), np.zeros((0, 3)))
        return PartGeometry(
            part=part,
            description=f"Brick {ny} x {nx}",
            source="parametric",
            mesh=mesh,
            low_poly=mesh,
            bounds=np.array([low, high]),
            boxes=(box,),
            studs=none,
            antistuds=none,
            symmetries=((0.0, 0.0, 0.0, 1.0),),
            symmetry_centre=(0.0, 0.0, 0.0),
            volume_m3=1e-6,
            mass_kg=1e-3,
            physical=True,
        )


def block_mesh(nx: int, ny: int) -> Mesh:
    x, y, h = nx * STUD_PITCH_M / 2, ny * STUD_PITCH_M / 2, BRICK_HEIGHT_M
    corners = np.array(
        [[sx * x, sy * y, z] for z in (-h, 0.0) for sx, sy in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    )
    quads = [[4, 5, 6, 7], [3, 2, 1, 0], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]]
    vertices = [corners]
    triangles = [[q[i] for i in order] for q in quads for order in ((0, 1, 2), (0, 2, 3))]
    ring = [(i, (i + 1) % 4) for i in range(4)]
    edges = [corners[[a + k, b + k]] for a, b in ring for k in (0, 4)] + [
        corners[[i, i + 4]] for i in range(4)
    ]
    conditional = []
    angles = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    circle = np.stack([0.0024 * np.cos(angles), 0.0024 * np.sin(angles), np.zeros(SIDES)], axis=1)
    up = np.array([0, 0, 0.0016])
    count = 8
    for i in range(nx):
        for j in range(ny):
            middle = np.array([(i + 0.5) * STUD_PITCH_M - x, (j + 0.5) * STUD_PITCH_M - y, 0.0])
            foot, head = circle + middle, circle + middle + up
            vertices += [foot, head]
            for k in range(SIDES):
                n, p = (k + 1) % SIDES, (k - 1) % SIDES
                a, b, c, d = count + k, count + n, count + SIDES + n, count + SIDES + k
                triangles += [[a, b, c], [a, c, d]]
                if 0 < k < SIDES - 1:
                    triangles.append([count + SIDES, d, c])
                edges += [foot[[k, n]], head[[k, n]]]
                conditional.append([foot[k], head[k], foot[p], foot[n]])
            count += 2 * SIDES
    return Mesh(
        np.concatenate(vertices).astype(np.float32),
        np.array(triangles, dtype=np.int32),
        np.full(len(triangles), 16, dtype=np.int32),
        np.array(edges, dtype=np.float32),
        np.full(len(edges), 24, dtype=np.int32),
        np.array(conditional, dtype=np.float32),
    )


@pytest.fixture
def parts() -> HandParts:
    return HandParts()


@pytest.fixture
def put() -> Callable[..., HandBrick]:
    """put(part, colour, x, y, level, yaw): see ``brick``."""
    return brick


@pytest.fixture
def plate() -> PlateConfig:
    return PlateConfig(pose=Pose(), studs=(32, 32), thickness_m=0.0032)


@pytest.fixture
def config() -> ManualConfig:
    return load_default("manual", ManualConfig)


@pytest.fixture
def gl() -> GlContext:
    """The shared context; skips where nothing can draw."""
    try:
        return shared_context()
    except MissingCapabilityError as error:
        pytest.skip(error.line())
