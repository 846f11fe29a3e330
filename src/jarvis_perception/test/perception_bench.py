"""Rendered pictures whose truth is known, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.manual import PartCount
from jarvis_core.objects import RigidObject
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenBrick, SeenScene
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.perceiver import BrickPerception
from jarvis_robot.model import RobotModel
from jarvis_sim.config import SimConfig
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

#: Part, colour and place (x, y, yaw) of loose bricks; the last two touch.
LOOSE = (
    ("3001", 4, 0.40, -0.10, 0.3),
    ("3003", 1, 0.45, -0.16, 1.0),
    ("3023", 14, 0.50, -0.10, 0.0),
    ("3020", 2, 0.55, -0.18, -0.7),
    ("3040b", 0, 0.60, -0.10, 2.0),
    ("3069b", 15, 0.42, -0.24, 0.9),
    ("3004", 25, 0.52, -0.26, 0.2),
    ("3005", 1, 0.5326, -0.2575, 0.2),
)
#: Part, colour and cell of bricks that stand on the plate, from below.
STANDING = (("3001", 4, 0.0, 0.0, 0), ("3003", 1, 1.0, 0.0, 3), ("3022", 14, -6.0, 4.0, 0))


@lru_cache(maxsize=1)
def catalogue() -> PartCatalogue:
    return PartCatalogue()


@lru_cache(maxsize=1)
def cell() -> CellConfig:
    return load_default("cell", CellConfig)


@lru_cache(maxsize=1)
def config() -> PerceptionConfig:
    return load_default("perception", PerceptionConfig)


@lru_cache(maxsize=1)
def _shared() -> BrickPerception:
    return BrickPerception(cell(), config(), catalogue())


def perception() -> BrickPerception:
    """One that knows nothing yet; what parts look like is kept from test to test."""
    shared = _shared()
    shared.forget()
    return shared


def height(part: str) -> float:
    return -float(catalogue().geometry(part).bounds[0, 2])


def brick_id(index: int) -> str:
    return f"b{index:02d}"


def make_world(
    loose: Sequence[tuple[str, int, float, float, float]] = LOOSE,
    standing: Sequence[tuple[str, int, float, float, int]] = STANDING,
) -> SimWorld:
    """A cell with loose bricks at given places and a structure; nothing moves in it."""
    targets = [
        PlacedBrick(brick_id(k), part, colour, Pose((0.1, 0.1, height(part))), 1, "plate", ("plate",))
        for k, (part, colour, *_) in enumerate(loose)
    ]
    scene = [
        PlacedBrick(
            f"s{k}",
            part,
            colour,
            Pose((0.008 * x, 0.008 * y, 0.0032 * plates + height(part))),
            0,
            "plate",
            ("plate",),
        )
        for k, (part, colour, x, y, plates) in enumerate(standing)
    ]
    task = Task(TASK_SCHEMA, "toy", "toy", "", "", "", (1, 1), tuple(scene), tuple(targets))
    world = SimWorld(
        task, cell(), load_default("sim", SimConfig), catalogue(), 1, robot=RobotModel.load(cell().robot)
    )
    for k, (part, _, x, y, yaw) in enumerate(loose):
        world.move(brick_id(k), Pose.from_yaw((x, y, height(part)), yaw))
    return world


def part_list(loose: Sequence[tuple[str, int, float, float, float]] = LOOSE) -> tuple[PartCount, ...]:
    kinds = sorted({(part, colour) for part, colour, *_ in loose})
    return tuple(PartCount(part, "", colour, "", 1) for part, colour in kinds)


def errors(brick: SeenBrick, true: RigidObject) -> tuple[float, float]:
    """Metres between the middles of the bodies, and radians up to the part's symmetries."""
    geometry = catalogue().geometry(true.kind)
    centre = np.array(geometry.symmetry_centre)
    away = float(np.linalg.norm(brick.pose @ centre - true.pose @ centre))
    turned = [true.pose @ Pose(quaternion=q) for q in geometry.symmetries]
    return away, min(brick.pose.angle_to(pose) for pose in turned)


def nearest(scene: SeenScene, true: RigidObject) -> SeenBrick:
    centre = np.array(catalogue().geometry(true.kind).symmetry_centre)

    def away(brick: SeenBrick) -> float:
        own = centre if brick.part == true.kind else np.zeros(3)
        return float(np.linalg.norm((brick.pose @ own)[:2] - (true.pose @ centre)[:2]))

    return min(scene.bricks, key=away)
