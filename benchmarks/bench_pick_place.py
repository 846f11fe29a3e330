"""How well the cell picks and places, through the skills: accepted, refused and failed trials with their causes,
planning time, and what was touched that should not be. Prints tables.

./jarvis shell -c 'python benchmarks/bench_pick_place.py --trials 100 --store pick-place.jsonl'
./jarvis shell -c 'python benchmarks/bench_pick_place.py --trials 100 --structures 10 --store pick-place.jsonl'

Random parts go onto an empty plate; with --structures N they are bricks of a suite's tasks and of long walls, where 30
to 400 bricks stand already. Each trial is one brick in a world of its own, so none depends on another. The store holds
a line for each finished trial: what stands in it is not tried again, and an unfinished last line is left out.

Planning time is processor time in the motion backend during one pick and place, scaled to a core that does ten million
additions of a Python loop in 0.6 s.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np
from contact_watch import ContactWatch, Touch
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.skills import PickAndPlaceGoal
from jarvis_core.status import Status
from jarvis_episode.cell import EmbeddedCell
from jarvis_episode.settings import Settings
from jarvis_motion.backend import MotionBackend
from jarvis_robot.model import RobotModel
from pick_place_trials import Trial, random_trials, structure_trials
from rich.console import Console
from rich.table import Table

WITHIN_M, WITHIN_RAD = 0.001, np.radians(3.0)
#: Time that a brick has to fall off again before it is looked where it is.
SETTLE_S = 0.2
LOOP, USUAL_LOOP_S = 10_000_000, 0.6
REFUSALS = (Status.PRECONDITION_FAILED, Status.PLANNING_FAILED)


class Outcome(msgspec.Struct, forbid_unknown_fields=True):
    """What became of one trial; a line of the store.

    Attributes:
        trial, layout: what was tried; together unique.
        verdict: ``right``, ``refused`` (before anything moved), ``failed``, or ``not built`` (no world for it).
        cause: of all but ``right``: the message without its names and numbers.
        plan_s: processor time in the motion backend, scaled to a usual core.
        error_mm: of the placed brick, where the skill succeeded.
        snaps_mm, press_n: of each connection made: error before it, and force per stud.
        touches: unexpected contacts.
    """

    trial: str
    layout: str
    structure: str
    standing: int
    verdict: str
    cause: str = ""
    message: str = ""
    plan_s: float = 0.0
    error_mm: float | None = None
    snaps_mm: list[float] = []
    press_n: list[float] = []
    touches: list[Touch] = []


class Stopwatch:
    """Stands before a motion backend and adds up the processor time of its calls."""

    def __init__(self, backend: MotionBackend) -> None:
        self._backend = backend
        self.cpu_s = 0.0

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._backend, name)
        return self._timed(value) if callable(value) else value

    def _timed(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **options: Any) -> Any:
            begin_s = time.process_time()
            try:
                return call(*args, **options)
            finally:
                self.cpu_s += time.process_time() - begin_s

        return timed


def run_trial(trial: Trial, settings: Settings, layout: str, scale: float) -> Outcome:
    """Build the trial's world, place its brick, measure."""
    head = (trial.name, layout, trial.structure, trial.standing)
    try:
        cell = EmbeddedCell.build(trial.task, settings, trial.catalogue, trial.seed)
    except RefusedError as error:
        return Outcome(*head, "not built", cause_of(error.line()), error.line())
    watch_time = Stopwatch(cell.skills.context.backend)
    cell.skills.context.backend = cast(MotionBackend, watch_time)
    brick = trial.task.targets[0]
    goal = settings.cell.plate.pose @ brick.pose
    links = RobotModel.load(settings.robot).links
    with ContactWatch(cell.world, links, brick.id, brick.connections) as watch:
        result = cell.skills.run(PickAndPlaceGoal(brick.id, goal), watch.on_phase)
        cell.world.advance(SETTLE_S)
    engaged = [event for event in cell.world.events() if event.kind == "engaged"]
    outcome = Outcome(
        *head,
        "failed",
        cause_of(f"{result.status.name}: {result.message}"),
        result.message,
        plan_s=watch_time.cpu_s * scale,
        snaps_mm=[1000 * event.error_xy_m for event in engaged],
        press_n=[event.force_n / event.studs for event in engaged],
        touches=list(watch.found.values()),
    )
    if result.ok:
        pose = cell.world.pose(brick.id)
        outcome.error_mm = 1000 * pose.distance_to(goal)
        if pose.distance_to(goal) <= WITHIN_M and pose.angle_to(goal) <= WITHIN_RAD:
            outcome.verdict, outcome.cause = "right", ""
        else:
            outcome.cause = "succeeded, but elsewhere"
    elif result.status in REFUSALS and not watch.moved:
        outcome.verdict = "refused"
    cell.close()
    return outcome


def cause_of(message: str) -> str:
    """A message without what differs from trial to trial: names of bricks, numbers."""
    words = re.sub(r"\b[btwd]\d+\b", "BRICK", message)
    words = re.sub(r"-?\d+(\.\d+)?", "N", words)
    return re.sub(r"BRICK(, BRICK)+", "BRICKS", words).split(";")[0]


def stored(path: Path | None) -> dict[tuple[str, str], Outcome]:
    """Outcomes of an earlier run, by trial and layout. An unfinished last line is cut off, so that others can follow.

    Raises:
        BadInputError: any other line is none of this benchmark's.
    """
    if path is None or not path.is_file():
        return {}
    whole, _, torn = path.read_bytes().rpartition(b"\n")
    if torn:
        os.truncate(path, len(whole) + 1 if whole else 0)
        print(f"{path}: the last line was unfinished ({len(torn)} bytes); its trial is run again")
    outcomes = {}
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            outcome = msgspec.json.decode(line, type=Outcome)
        except msgspec.DecodeError as error:
            raise BadInputError(
                f"is no outcome of a trial ({error})", where=f"{path}:{number}", fix="give another --store"
            ) from error
        outcomes[outcome.trial, outcome.layout] = outcome
    return outcomes


def run_all(
    trials: Iterator[Trial], settings: Settings, layout: str, store: Path | None, until_s: float
) -> list[Outcome]:
    """Outcomes in the order of the trials; those not in the store are run and written there one by one."""
    done, scale = stored(store), USUAL_LOOP_S / loop_s()
    outcomes, left, found = [], 0, 0
    for trial in trials:
        outcome = done.get((trial.name, layout))
        found += outcome is not None
        if outcome is None and time.monotonic() >= until_s:
            left += 1
            continue
        if outcome is None:
            outcome = run_trial(trial, settings, layout, scale)
            if store is not None:
                with store.open("ab") as file:
                    file.write(msgspec.json.encode(outcome) + b"\n")
        outcomes.append(outcome)
    print(f"{len(outcomes)} trials ({found} from the store), {left} left for want of time; "
          f"{len(done) - found} of the store belong to other options")  # fmt: skip
    return outcomes


def loop_s() -> float:
    """Processor time of ten million additions."""
    begin_s, total = time.process_time(), 0
    for i in range(LOOP):
        total += i
    return time.process_time() - begin_s


def structures_table(outcomes: Sequence[Outcome]) -> Table:
    """A line for each structure, and one for all."""
    title = "pick and place by what stands on the plate; planning in ms; trials with unexpected contacts"
    table = Table(title=title)
    for column in ("structure", "bricks", "trials", "accepted", "right", "refused", "failed", "not built",
                   "planning, median", "95 %", "touched"):  # fmt: skip
        table.add_column(column, justify="left" if column == "structure" else "right")
    for name in dict.fromkeys(outcome.structure for outcome in outcomes):
        table.add_row(name, *figures([o for o in outcomes if o.structure == name]))
    table.add_section()
    table.add_row("all", *figures(outcomes))
    return table


def figures(outcomes: Sequence[Outcome]) -> list[str]:
    """Numbers of standing bricks, verdicts, planning times and contacts of some trials."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    standing = [outcome.standing for outcome in outcomes]
    accepted = [o for o in outcomes if o.verdict in ("right", "failed")]
    times_ms = [1000 * outcome.plan_s for outcome in accepted]
    return [
        f"{min(standing)}" if min(standing) == max(standing) else f"{min(standing)}-{max(standing)}",
        str(len(outcomes)),
        f"{len(accepted)} ({100 * len(accepted) / len(outcomes):.0f} %)",
        *(str(verdicts[name]) for name in ("right", "refused", "failed", "not built")),
        f"{np.median(times_ms):.0f}" if times_ms else "",
        f"{np.percentile(times_ms, 95):.0f}" if times_ms else "",
        str(sum(bool(outcome.touches) for outcome in outcomes)),
    ]


def measures_table(outcomes: Sequence[Outcome]) -> Table:
    """Shares, errors, forces, and every cause with its count."""
    table = Table(title="measures and causes")
    for column in ("what", "value", "target"):
        table.add_column(column, justify="left" if column == "what" else "right", overflow="fold")
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    accepted = verdicts["right"] + verdicts["failed"]
    table.add_row("accepted by the checks", f"{accepted} of {len(outcomes)}")
    table.add_row(
        "of these within 1 mm and 3 deg", f"{100 * verdicts['right'] / max(1, accepted):.1f} %", ">= 98 %"
    )
    for name, values in (
        ("error of the placed brick, mm, median and most", [e for o in outcomes if (e := o.error_mm) is not None]),
        ("error before the snap, mm, median and most", [e for o in outcomes for e in o.snaps_mm]),
        ("pressing force per stud at the snap, N, median and most", [f for o in outcomes for f in o.press_n]),
    ):  # fmt: skip
        if values:
            table.add_row(name, f"{np.median(values):.2f}, {max(values):.2f}")
    for verdict in ("failed", "refused", "not built"):
        causes = Counter(outcome.cause for outcome in outcomes if outcome.verdict == verdict)
        for cause, times in causes.most_common():
            table.add_row(f"{verdict}: {cause}", str(times))
    touches = [touch for outcome in outcomes for touch in outcome.touches]
    kinds = Counter(touch.what for touch in touches)
    for what, times in kinds.most_common():
        most_n = max(touch.force_n for touch in touches if touch.what == what)
        table.add_row(f"touched: {what}", f"{times} ({most_n:.1f} N at most)", "0")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument(
        "--structures", type=int, default=0, help="so many structures instead of an empty plate"
    )
    parser.add_argument("--suite", default="open-50", help="whose tasks the structures are (default open-50)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--layout", choices=("random", "sorted", "cluttered", "hard"), default="random")
    parser.add_argument("--distractors", type=int, default=4)
    parser.add_argument("--store", type=Path, help="file of finished trials, to go on after a stop")
    parser.add_argument("--minutes", type=float, default=np.inf, help="begin no trial after so long")
    options = parser.parse_args()
    settings = Settings.load()
    layout = msgspec.structs.replace(
        settings.sim.layout, kind=options.layout, distractors=options.distractors
    )
    settings = msgspec.structs.replace(settings, sim=msgspec.structs.replace(settings.sim, layout=layout))
    if options.structures > 0:
        each = -(-options.trials // options.structures)
        trials = structure_trials(options.structures, each, options.seed, options.suite)
    else:
        trials = islice(random_trials(options.seed, PartCatalogue()), options.trials)
    until_s = time.monotonic() + 60 * options.minutes
    name = f"{options.layout}, {options.distractors} distractors"
    outcomes = run_all(trials, settings, name, options.store, until_s)
    console = Console(width=None if sys.stdout.isatty() else 130)
    console.print(structures_table(outcomes))
    console.print(measures_table(outcomes))


if __name__ == "__main__":
    main()
