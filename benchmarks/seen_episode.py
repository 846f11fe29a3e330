"""A task built by skills that see: everything but the targets comes from the camera.

    python benchmarks/seen_episode.py TASK_FOLDER [--seed 0]

The targets are the oracle's. Each is built with a brick that perception takes for the same part and colour; the skills'
scene (what to grip, what to keep off, whether a brick sits) is perception's too. The truth is read at the end only.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter
from pathlib import Path

import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.manual import PartCount
from jarvis_core.objects import TargetObject
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenScene
from jarvis_core.skills import HomeGoal, PickAndPlaceGoal, PlaceGoal
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.settings import Settings
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.perceiver import BrickPerception
from jarvis_perception.robot import ArmShape
from jarvis_perception.scene import PerceivedScene
from jarvis_robot.model import RobotModel
from jarvis_tasks.store import load_task
from jarvis_tasks.targets import target_objects
from rich.console import Console
from rich.table import Table


class Builder:
    """Places every target with a brick that is seen and not used yet."""

    def __init__(self, cell: EmbeddedCell, eyes: PerceivedScene) -> None:
        self._cell = cell
        self._eyes = eyes
        self._used: set[str] = set()

    def build(self, target: TargetObject) -> str:
        """What happened, in a sentence."""
        brick = self._choose(self._eyes.look(), target)
        if brick is None:
            return f"no {target.object.kind} in colour {target.object.colour} is seen"
        self._used.add(brick)
        result = self._cell.skills.run(PickAndPlaceGoal(brick, target.object.pose), lambda phase: None)
        if not result.ok and result.facts.get("held"):
            result = self._cell.skills.run(PlaceGoal(target.object.pose), lambda phase: None)
        return f"{brick}: {result.status.name.lower()} {result.message}"

    def _choose(self, seen: SeenScene, target: TargetObject) -> str | None:
        wanted = (target.object.kind, target.object.colour)
        fitting = [
            b.id
            for b in seen.bricks
            if (b.part, b.colour.code) == wanted and b.visible and b.id not in self._used
        ]
        return fitting[0] if fitting else None


def errors(cell: EmbeddedCell, target: TargetObject) -> tuple[float, float]:
    """Metres and radians (up to symmetry) from a target to the nearest brick of its kind."""
    want, centre = target.object, np.array(target.symmetry_centre)
    alike = [o for o in cell.world.objects() if (o.kind, o.colour) == (want.kind, want.colour)]
    best = min(alike, key=lambda o: float(np.linalg.norm(o.pose @ centre - want.pose @ centre)))
    away = float(np.linalg.norm(best.pose @ centre - want.pose @ centre))
    return away, min((want.pose @ Pose(quaternion=q)).angle_to(best.pose) for q in target.symmetries)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("task", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    task, settings = load_task(given.task), Settings.load()
    catalogue = PartCatalogue(LDrawLibrary.find())
    cell = EmbeddedCell.build(task, settings, catalogue, given.seed)
    eye = BrickPerception(
        settings.cell,
        load_default("perception", PerceptionConfig),
        catalogue,
        arm=ArmShape(RobotModel.load(settings.robot)),
    )
    looks: list[SeenScene] = []
    counts = Counter((brick.part, brick.colour) for brick in task.targets)
    parts = [PartCount(part, "", colour, "", number) for (part, colour), number in counts.items()]
    eyes = PerceivedScene(cell.camera, cell.robot, eye, settings.cell, parts, looks.append)
    cell.skills.context.scenes = eyes
    builder, table, start = (
        Builder(cell, eyes),
        Table("target", "mm", "deg", "what happened"),
        time.monotonic(),
    )
    exact = 0
    targets = target_objects(task, catalogue, settings.cell.plate.pose)
    said = []
    for target in targets:
        said.append(builder.build(target))
        cell.skills.run(HomeGoal(), lambda phase: None)
    for target, words in zip(targets, said, strict=True):
        away, angle = errors(cell, target)
        exact += away < 0.001 and angle < math.radians(3.0)
        name = f"{target.object.id} {target.object.kind}"
        table.add_row(name, f"{away * 1e3:.2f}", f"{math.degrees(angle):.1f}", words)
    Console(width=160).print(table)
    print(
        f"{exact} of {len(targets)} bricks exactly right; {len(looks)} looks; {cell.world.time_s:.0f} simulated s, "
        f"{time.monotonic() - start:.0f} s by the clock"
    )
    cell.close()


if __name__ == "__main__":
    main()
