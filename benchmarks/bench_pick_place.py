"""How well the cell picks and places: random parts, yaws and clutter, through the skills. Prints a table with causes.

./jarvis shell -c 'python benchmarks/bench_pick_place.py --trials 100 --store pick-place.jsonl'
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_core.seeds import generator
from jarvis_core.skills import HomeGoal, PickAndPlaceGoal
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.settings import Settings
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from rich.console import Console
from rich.table import Table

#: Bricks, plates and slopes of 1 to 8 studs.
PARTS = ("3001", "3003", "3004", "3005", "3010", "3020", "3022", "3023", "3039", "3710")
WITHIN_M, WITHIN_RAD = 0.001, np.radians(3.0)
#: Loose bricks of one world; each is placed once, then a new world is made.
BATCH = 5


@dataclass
class Outcome:
    """What became of trials."""

    refused: Counter[str] = field(default_factory=Counter)
    failed: Counter[str] = field(default_factory=Counter)
    errors_mm: list[float] = field(default_factory=list)
    snaps_mm: list[float] = field(default_factory=list)
    press_n: list[float] = field(default_factory=list)
    right: int = 0

    @property
    def accepted(self) -> int:
        return self.right + sum(self.failed.values())

    def add(self, other: Outcome) -> None:
        self.refused.update(other.refused)
        self.failed.update(other.failed)
        self.errors_mm += other.errors_mm
        self.snaps_mm += other.snaps_mm
        self.press_n += other.press_n
        self.right += other.right


def stored(path: Path | None) -> dict[str, Outcome]:
    """Outcomes of batches that an earlier run finished, by number."""
    if path is None or not path.is_file():
        return {}
    return {
        line["batch"]: Outcome(
            **line["outcome"] | {k: Counter(line["outcome"][k]) for k in ("refused", "failed")}
        )
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    }


def batch_task(number: int, rng: np.random.Generator, catalogue: PartCatalogue) -> Task:
    """Five random parts, each to go onto the plate in a place of its own, turned by quarters."""
    loose = []
    for k in range(BATCH):
        part = PARTS[int(rng.integers(len(PARTS)))]
        low, high = catalogue.geometry(part).bounds
        quarter = int(rng.integers(4))
        # Even and odd numbers of studs lie on different lattices; which edge lies along x, the turn decides.
        studs = np.round((high - low)[:2] / 0.008).astype(int)[:: 1 if quarter % 2 == 0 else -1]
        centre = np.array([(-8.0, 8.0)[k % 2], (-10.0, -2.0, 6.0)[k // 2]]) + rng.integers(-2, 3, 2)
        middle = 0.008 * (centre + np.where(studs % 2, 0.5, 0.0))
        turn = Pose.from_yaw((0.0, 0.0, 0.0), quarter * np.pi / 2)
        origin = middle - (turn @ np.array([*(low + high)[:2] / 2, 0.0]))[:2]
        pose = Pose((origin[0], origin[1], -float(low[2])), turn.quaternion)
        loose.append(PlacedBrick(f"t{k}", part, (4, 1, 14, 2, 15)[k], pose, 1, GROUND, (GROUND,)))
    return Task(TASK_SCHEMA, f"pick-place-{number}", "random", "", "", "", (1, 1), (), tuple(loose))


def run_batch(task: Task, settings: Settings, catalogue: PartCatalogue, seed: int) -> Outcome:
    outcome = Outcome()
    cell = EmbeddedCell.build(task, settings, catalogue, seed)
    plate = settings.cell.plate.pose
    for brick in task.targets:
        goal = plate @ brick.pose
        result = cell.skills.run(PickAndPlaceGoal(brick.id, goal))
        if result.status.name in ("PRECONDITION_FAILED", "PLANNING_FAILED"):
            outcome.refused[result.message.split(":")[0][:70]] += 1
        elif not result.ok:
            outcome.failed[f"{result.status.name}: {result.message[:70]}"] += 1
        else:
            pose = cell.world.pose(brick.id)
            if pose.distance_to(goal) <= WITHIN_M and pose.angle_to(goal) <= WITHIN_RAD:
                outcome.right += 1
            else:
                outcome.failed["succeeded, but elsewhere"] += 1
            outcome.errors_mm.append(1000 * pose.distance_to(goal))
        if cell.skills.context.held is not None:
            break  # a brick that is stuck in the hand ends the batch
    engaged = [event for event in cell.world.events() if event.kind == "engaged"]
    outcome.snaps_mm += [1000 * event.error_xy_m for event in engaged]
    outcome.press_n += [event.force_n / event.studs for event in engaged]
    cell.skills.run(HomeGoal())
    cell.close()
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layout", choices=("random", "sorted", "cluttered", "hard"), default="random")
    parser.add_argument("--distractors", type=int, default=4)
    parser.add_argument("--store", type=Path, help="file of finished batches, to go on after a stop")
    options = parser.parse_args()
    settings, catalogue, outcome = Settings.load(), PartCatalogue(), Outcome()
    done = stored(options.store)
    layout = msgspec.structs.replace(
        settings.sim.layout, kind=options.layout, distractors=options.distractors
    )
    settings = msgspec.structs.replace(settings, sim=msgspec.structs.replace(settings.sim, layout=layout))
    rng = generator(options.seed, "pick-place")
    for number in range(-(-options.trials // BATCH)):
        name = f"{options.layout}-{options.distractors}-{options.seed}-{number}"
        task = batch_task(number, rng, catalogue)
        if name not in done:
            done[name] = run_batch(task, settings, catalogue, options.seed + number)
            if options.store is not None:
                with options.store.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"batch": name, "outcome": asdict(done[name])}) + "\n")
        outcome.add(done[name])
    share = outcome.right / max(1, outcome.accepted)
    table = Table(title=f"pick and place, layout {options.layout}, {options.distractors} distractors")
    for column in ("what", "value", "target"):
        table.add_column(column, justify="left" if column == "what" else "right")
    table.add_row(
        "accepted by the checks",
        f"{outcome.accepted} of {outcome.accepted + sum(outcome.refused.values())}",
        "",
    )
    table.add_row("of these within 1 mm and 3 deg", f"{100 * share:.1f} %", ">= 98 %")
    for name, values in (
        ("error of the placed brick, mm, median and most", outcome.errors_mm),
        ("error before the snap, mm, median and most", outcome.snaps_mm),
        ("pressing force per stud at the snap, N, median and most", outcome.press_n),
    ):
        if values:
            table.add_row(name, f"{np.median(values):.2f}, {max(values):.2f}", "")
    for why, times in outcome.failed.most_common():
        table.add_row(f"failed: {why}", str(times), "")
    for why, times in outcome.refused.most_common():
        table.add_row(f"refused: {why}", str(times), "")
    Console().print(table)


if __name__ == "__main__":
    main()
