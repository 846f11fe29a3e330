"""Trials of picking and placing: each is one brick to place, in a world of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_core.seeds import generator
from jarvis_tasks.suite import load_suite
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task

RANDOM = "random parts"
#: Bricks, plates and slopes of 1 to 8 studs.
PARTS = ("3001", "3003", "3004", "3005", "3010", "3020", "3022", "3023", "3039", "3710")
#: Bricks that lie on the table together: the one to place and those that would follow.
BATCH = 5
#: Fewer standing bricks than this are no structure.
FEWEST = 30
#: Sizes of the structures that are built here, because no model of the suite is that large.
WALLS = (200, 300, 400)
_BRICK, _BRICK_M, _STUD_M = "3001", 0.0096, 0.008
#: Number of walls, bricks along each, and from one to the next in studs: three are free, so that a finger has room.
_WALLS, _WALL_BRICKS, _WALL_PITCH = 6, 7, 5


@dataclass(frozen=True, slots=True)
class Trial:
    """The first target of ``task`` is to be placed; the others lie beside it.

    Attributes:
        name: unique among all trials of all options but the layout's.
        structure: what stands there, in words.
        seed: of the layout of the loose bricks.
    """

    name: str
    structure: str
    task: Task
    catalogue: PartCatalogue
    seed: int

    @property
    def standing(self) -> int:
        """Number of bricks that stand on the plate."""
        return len(self.task.scene)


def random_trials(seed: int, catalogue: PartCatalogue) -> Iterator[Trial]:
    """Random parts onto the plate, beside those of the same five that came before; without end."""
    number = 0
    while True:
        task = random_task(number, generator(seed, "pick-place", str(number)), catalogue)
        for k in range(BATCH):
            yield Trial(
                f"random-{seed}-{number}-{k}", RANDOM, after(task, k), catalogue, seed + BATCH * number + k
            )
        number += 1


def random_task(number: int, rng: np.random.Generator, catalogue: PartCatalogue) -> Task:
    """Five random parts, each to go onto the plate in a place of its own, turned by quarters."""
    loose = []
    for k in range(BATCH):
        part = PARTS[int(rng.integers(len(PARTS)))]
        low, high = catalogue.geometry(part).bounds
        quarter = int(rng.integers(4))
        # Even and odd numbers of studs lie on different lattices; which edge lies along x, the turn decides.
        studs = np.round((high - low)[:2] / _STUD_M).astype(int)[:: 1 if quarter % 2 == 0 else -1]
        centre = np.array([(-8.0, 8.0)[k % 2], (-10.0, -2.0, 6.0)[k // 2]]) + rng.integers(-2, 3, 2)
        middle = _STUD_M * (centre + np.where(studs % 2, 0.5, 0.0))
        turn = Pose.from_yaw((0.0, 0.0, 0.0), quarter * np.pi / 2)
        origin = middle - (turn @ np.array([*(low + high)[:2] / 2, 0.0]))[:2]
        pose = Pose((origin[0], origin[1], -float(low[2])), turn.quaternion)
        loose.append(PlacedBrick(f"t{k}", part, (4, 1, 14, 2, 15)[k], pose, 1, GROUND, (GROUND,)))
    return task_of(f"pick-place-{number}", (), loose)


def structure_trials(count: int, each: int, seed: int, suite_name: str) -> Iterator[Trial]:
    """``each`` trials on every one of ``count`` structures: walls of 200 to 400 bricks, the others a suite's tasks.

    The trials of a structure place its targets in their order, each onto all that should stand by then; where
    there are fewer, they come again with the loose bricks laid otherwise. One of each structure comes after the other.
    """
    chosen = list(structures(count, suite_name))
    for number in range(each):
        for task, catalogue in chosen:
            turn, k = divmod(number, len(task.targets))
            name = f"{task.id}-{seed}-{number}"
            yield Trial(name, task.id, after(task, k), catalogue, seed + turn)


def structures(count: int, suite_name: str) -> Iterator[tuple[Task, PartCatalogue]]:
    """From the smallest to the largest."""
    suite = load_suite(suite_name)
    large = sorted(
        (task for task in suite.tasks.values() if len(task.scene) >= FEWEST),
        key=lambda task: (len(task.scene), task.id),
    )
    walls_wanted = min(len(WALLS), count // 3)
    chosen = np.unique(np.linspace(0, len(large) - 1, count - walls_wanted).round().astype(int))
    for index in chosen.tolist():
        yield large[index], suite.catalogue(large[index].id)
    for bricks in WALLS[len(WALLS) - walls_wanted :]:
        yield walls(bricks), PartCatalogue()


def walls(bricks: int) -> Task:
    """Walls of 2x4 bricks, three studs apart, with so many bricks in all; the next one of each wall is a target."""
    placed = [_wall_brick(index, int(index >= bricks)) for index in range(bricks + _WALLS)]
    return task_of(f"{_WALLS}-walls-{bricks}", placed[:bricks], placed[bricks:])


def _wall_brick(index: int, step: int) -> PlacedBrick:
    """Bricks are laid across all walls, then along them, then upwards."""
    wall, along = index % _WALLS, index // _WALLS % _WALL_BRICKS
    layer = index // (_WALLS * _WALL_BRICKS)
    x, y = 4 * along - 2 * (_WALL_BRICKS - 1), _WALL_PITCH * wall - _WALL_PITCH * (_WALLS - 1) // 2
    pose = Pose((_STUD_M * x, _STUD_M * y, _BRICK_M * (layer + 1)))
    below = GROUND if layer == 0 else f"w{index - _WALLS * _WALL_BRICKS}"
    return PlacedBrick(f"w{index}", _BRICK, (4, 1, 14, 2)[wall % 4], pose, step, below, (below,))


def task_of(name: str, scene: Sequence[PlacedBrick], targets: Sequence[PlacedBrick]) -> Task:
    """A task that no model is the source of."""
    return Task(TASK_SCHEMA, name, name, "", "", "", (1, 1), tuple(scene), tuple(targets))


def after(task: Task, placed: int) -> Task:
    """The same task when its first ``placed`` targets stand, with the next few of the others."""
    standing = tuple(msgspec.structs.replace(brick, step=0) for brick in task.targets[:placed])
    following = tuple(islice(task.targets, placed, placed + BATCH))
    return msgspec.structs.replace(
        task, id=f"{task.id}-{placed}", scene=task.scene + standing, targets=following
    )
