"""Rendered pictures with truth: bricks of real models loose on the table and stacked on the plate, by two renderers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_bricks.parametric import PARTS
from jarvis_cli.sources import read_model
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.manual import PartCount
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose
from jarvis_perception.config import PerceptionConfig
from jarvis_robot.model import RobotModel
from jarvis_sim.config import CameraLooks, SimConfig
from jarvis_sim.depth_noise import noisy
from jarvis_sim.layout import LooseItem, lay_out
from jarvis_sim.robot import SimCamera
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from second_renderer import SecondRenderer, Weather

LAYOUTS = ("random", "sorted", "cluttered", "hard")
LOOSE = (1, 4, 8, 12, 20, 20, 35, 57)
STANDING = (0, 0, 5, 20, 50, 100, 200, 400)
NOISE_M = (0.0, 0.0, 0.0005, 0.001)
#: Share of the depth beside edges that is lost where there is noise.
EDGE_LOSS = 0.3
#: The structure stands on so many studs along each side.
BUILT_STUDS = 24
#: Structures end here: higher things count as the robot.
HIGHEST_M = 0.12
BUILT_IN_COLOURS = (0, 1, 2, 4, 14, 15, 19, 25, 27, 70, 71, 72)

#: Model name, and the (part, colour) pairs of its bricks.
Kinds = tuple[str, Sequence[tuple[str, int]]]


@dataclass(frozen=True)
class Picture:
    """One picture with its truth: poses of ``loose`` in ``world``."""

    number: int
    model: str
    renderer: str
    layout: str
    noise_m: float
    frame: CameraFrame
    loose: tuple[PlacedBrick, ...]
    standing: int

    @property
    def parts(self) -> tuple[PartCount, ...]:
        """The list that a manual would give."""
        kinds = sorted({(brick.part, brick.colour) for brick in self.loose})
        return tuple(PartCount(part, "", colour, "", 1) for part, colour in kinds)


class Scenes:
    """Makes pictures; the number alone decides what is in one."""

    def __init__(self, catalogue: PartCatalogue, kinds: Sequence[Kinds]) -> None:
        self.cell = load_default("cell", CellConfig)
        self.config = load_default("perception", PerceptionConfig)
        self._sim = load_default("sim", SimConfig)
        self._catalogue = catalogue
        self._kinds = kinds
        self._robot = RobotModel.load(self.cell.robot)
        self._second = SecondRenderer(self.cell, self.config.reference, catalogue)

    def picture(self, number: int) -> Picture:
        rng = np.random.default_rng(20_000 + number)
        model, kinds = self._kinds[int(rng.integers(len(self._kinds)))]
        layout, count = str(rng.choice(LAYOUTS)), int(rng.choice(LOOSE))
        noise, number_standing = float(rng.choice(NOISE_M)), int(rng.choice(STANDING))
        loose, layout = self._loose(rng, layout, kinds, count)
        standing = self._standing(rng, kinds, number_standing)
        second = number % 2 == 1
        if second:
            frame = self._second.frame((*loose, *standing), Weather.by_chance(rng), rng)
        else:
            frame = self._simulated(loose, standing)
        if noise > 0.0:
            looks = CameraLooks(
                shadows=False, supersample=1, people=False, depth_noise_m=noise, depth_edge_loss=EDGE_LOSS
            )
            frame = replace(frame, depth_m=noisy(frame.depth_m, looks, rng))
        renderer = "second" if second else "simulator"
        return Picture(number, model, renderer, layout, noise, frame, loose, len(standing))

    def _loose(
        self, rng: np.random.Generator, layout: str, kinds: Sequence[tuple[str, int]], count: int
    ) -> tuple[tuple[PlacedBrick, ...], str]:
        """Bricks on the table, as many as find room."""
        while True:
            chosen = [kinds[int(i)] for i in rng.integers(len(kinds), size=count)]
            items = [
                LooseItem(f"b{i:03d}", self._catalogue.geometry(part).bounds, colour=colour)
                for i, (part, colour) in enumerate(chosen)
            ]
            config = msgspec.structs.replace(self._sim.layout, kind=layout)
            try:
                poses = lay_out(items, np.zeros((0, 2)), self.cell.supply, config, rng)
            except RefusedError:
                # No room: closer together first, then fewer.
                layout, count = ("cluttered", count) if layout != "cluttered" else (layout, count * 3 // 4)
                continue
            placed = [
                PlacedBrick(item.id, part, colour, poses[item.id], 1, "plate", ())
                for item, (part, colour) in zip(items, chosen, strict=True)
            ]
            return tuple(placed), layout

    def _standing(
        self, rng: np.random.Generator, kinds: Sequence[tuple[str, int]], count: int
    ) -> tuple[PlacedBrick, ...]:
        """Bricks set down on the plate and on each other, each as low as it goes; poses in ``world``."""
        heights = np.zeros((BUILT_STUDS, BUILT_STUDS))
        found = []
        for number in range(count):
            part, colour = kinds[int(rng.integers(len(kinds)))]
            low, high = self._catalogue.geometry(part).bounds
            studs = np.maximum(np.ceil((high - low)[:2] / STUD_PITCH_M - 0.1).astype(int), 1)
            i, j = (int(rng.integers(BUILT_STUDS - n + 1)) for n in studs)
            under = heights[i : i + studs[0], j : j + studs[1]]
            z = float(under.max())
            if z + float(high[2] - low[2]) > HIGHEST_M:
                continue
            middle = (np.array([i, j]) + studs / 2 - BUILT_STUDS / 2) * STUD_PITCH_M
            corner = middle - (low + high)[:2] / 2
            pose = self.cell.plate.pose @ Pose((*corner, z - low[2]))
            found.append(PlacedBrick(f"s{number:03d}", part, colour, pose, 0, "plate", ("plate",)))
            under[:] = z + float(high[2] - low[2])
        return tuple(found)

    def _simulated(self, loose: Sequence[PlacedBrick], standing: Sequence[PlacedBrick]) -> CameraFrame:
        to_plate = self.cell.plate.pose.inverse()
        scene = tuple(msgspec.structs.replace(b, pose=to_plate @ b.pose) for b in standing)
        # The simulator lays bricks out itself; they are put where they belong afterwards.
        some = tuple(msgspec.structs.replace(b, pose=Pose((0.1, 0.1, 0.05))) for b in loose)
        task = Task(TASK_SCHEMA, "bench", "bench", "", "", "", (1, 1), scene, some)
        config = msgspec.structs.replace(
            self._sim, layout=msgspec.structs.replace(self._sim.layout, kind="cluttered")
        )
        world = SimWorld(task, self.cell, config, self._catalogue, 0, robot=self._robot)
        for brick in loose:
            world.move(brick.id, brick.pose)
        frame = SimCamera(world).capture()
        world.close()
        return frame


def real_kinds(catalogue: PartCatalogue, first: int, most: int) -> list[Kinds]:
    """Models from ``first`` on, by name, with the (part, colour) pairs that the cell can handle, as often as there."""
    folder = os.environ.get("LDRAW_MODELS")
    found: list[Kinds] = []
    for path in sorted(Path(folder).glob("*.mpd"))[first : first + most] if folder else ():
        bricks = read_model(str(path), None).assembly.bricks
        usable = [(b.part, b.colour) for b in bricks if _usable(catalogue, b.part, b.colour)]
        if len(set(usable)) >= 3:
            found.append((path.stem[:16], usable))
    if not found:
        plain = [part for part in PARTS if catalogue.geometry(part).physical]
        found = [("built-in", [(part, colour) for part in plain for colour in BUILT_IN_COLOURS])]
    return found


def _usable(catalogue: PartCatalogue, part: str, colour: int) -> bool:
    if (
        not catalogue.knows(part)
        or colour not in catalogue.colours
        or catalogue.colours.get(colour).alpha < 255
    ):
        return False
    geometry = catalogue.geometry(part)
    return geometry.physical and float(np.ptp(geometry.bounds[:, :2], axis=0).max()) < 0.1
