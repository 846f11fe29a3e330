"""How fast episodes are scored, replayed and put into tables, in processor time.

Machines differ and are shared: a loop of additions is timed too, and the targets hold for a core on which it takes
USUAL_LOOP_S; the last column is scaled to such a core.

./jarvis shell -c 'python benchmarks/bench_scoring.py'
./jarvis shell -c 'python benchmarks/bench_scoring.py --bricks 43 200 --rows 50000'
./jarvis shell -c 'python benchmarks/bench_scoring.py --bag results/my-episode'
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from jarvis_core.cell import Region
from jarvis_core.config import load_default
from jarvis_core.objects import GROUND, Box, ObjectState, RigidObject, TargetObject, WorldState
from jarvis_core.pose import Pose
from jarvis_episode.recording.scored import Scored, score_all
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.estimates import TablesConfig
from jarvis_scoring.inputs import ScoreInput
from jarvis_scoring.result_tables import all_tables
from jarvis_scoring.rows import STAGES, ResultRow, read_rows, write_rows
from rich.console import Console
from rich.table import Table

ROUNDS = 50
TARGET_MS = 2.0
#: Ten million additions in a plain Python loop on a usual core.
USUAL_LOOP_S = 0.6
#: Result rows: as many as the largest published task set has tasks.
ROWS, TARGET_S = 236_679, 10.0
AGENTS = ("oracle", "a", "b", "c", "noop")
#: A 2x2 brick looks the same after every quarter turn.
_HALF = 0.5**0.5
QUARTERS = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, _HALF, _HALF), (0.0, 0.0, -_HALF, _HALF))


def slowness() -> float:
    """How much longer this core takes than a usual one."""
    times = []
    for _ in range(3):
        began, total = time.process_time(), 0
        for k in range(1_000_000):
            total += k
        times.append(10 * (time.process_time() - began))
    return min(times) / USUAL_LOOP_S


def stacks(count: int, kinds: int) -> ScoreInput:
    """A perfect build of stacks of three 2x2 bricks in so many colours: bricks of one colour can be exchanged."""
    box = Box(Pose((0, 0, -0.0048)), (0.016, 0.016, 0.0096))
    targets, starts, joined = [], [], []
    for k in range(count):
        place = Pose((0.3 + 0.02 * (k // 3), 0.2, 0.0128 + 0.0096 * (k % 3)))
        below = f"b{k - 1}" if k % 3 else GROUND
        above = (f"b{k + 1}",) if k % 3 < 2 and k + 1 < count else ()
        thing = RigidObject(f"b{k}", "3003", k % kinds, place, (box,))
        targets.append(TargetObject(thing, below, (below, *above), QUARTERS, k + 1))
        starts.append(ObjectState(f"b{k}", Pose((0.3 + 0.02 * k, -0.3, 0.0096))))
        joined.append((f"b{k}", below))
    final = tuple(ObjectState(t.object.id, t.object.pose) for t in targets)
    return ScoreInput(
        objects=tuple(t.object for t in targets),
        targets=tuple(targets),
        initial=WorldState(0.0, tuple(starts), ()),
        final=WorldState(100.0, final, tuple(joined)),
        time_s=100.0,
        budget_s=60.0 + 45.0 * count,
        table=Region(x=(-1.0, 8.0), y=(-1.0, 1.0)),
    )


def made_up(count: int) -> list[ResultRow]:
    """Results of five agents on tasks of every size, some of them incomplete."""
    random = np.random.default_rng(0)
    act = np.minimum(43, random.geometric(0.22, count)).tolist()
    scene = np.minimum(740, random.lognormal(4, 1, count).astype(int)).tolist()
    points, failed = (100 * random.random(count)).tolist(), random.integers(0, 5, count).tolist()
    return [
        ResultRow(
            episode_id=f"t{k // 5}-{AGENTS[k % 5]}-0",
            task_id=f"t{k // 5}",
            agent=AGENTS[k % 5],
            stratum=("easy", "medium", "hard")[k // 5 % 3],
            style=("plain", "sketch")[k // 5 % 2],
            n_scene=scene[k],
            n_act=act[k],
            score=points[k],
            q=points[k] / 100,
            failed_calls=failed[k],
            complete=k % 97 != 0,
            stages={STAGES[k % len(STAGES)]: 1},
        )
        for k in range(count)
    ]


def tables_table(count: int) -> Table:
    """Read a file of rows, make all tables with their intervals."""
    scaled = f"both, usual core (target: {TARGET_S:g} s)"
    table = Table("rows", "read s", "tables s", "both s", scaled, title="result tables")
    factor = slowness()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        write_rows(path, made_up(count))
        began = time.process_time()
        rows = read_rows(path)
        read = time.process_time() - began
        all_tables(rows, load_default("tables", TablesConfig))
        both = time.process_time() - began
    table.add_row(f"{count:,}", f"{read:.2f}", f"{both - read:.2f}", f"{both:.2f}", f"{both / factor:.2f}")
    return table


def replay_table(source: Path) -> Table:
    """An episode's record with its bag, or a bag alone; the second time the message types are known."""
    table = Table("source", "first s", "again s", "state", title="replay")
    times = []
    for _ in range(2):
        began = time.perf_counter()
        (found,) = score_all([source])
        times.append(f"{time.perf_counter() - began:.2f}")
    if isinstance(found, Scored):
        state = "; ".join(found.faults) or f"complete, {found.score.score:.2f}"
    else:
        state = found.error.line()
    table.add_row(source.name, *times, state)
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bricks", type=int, nargs="+", default=[5, 43, 200], help="to place (default 5 43 200)"
    )
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of results (default {ROWS})")
    parser.add_argument("--bag", type=Path, help="an episode's folder or a bag to replay")
    options = parser.parse_args()
    config = load_default("score", ScoreConfig)
    scaled = f"ms, usual core (target: {TARGET_MS:g} at 43)"
    table = Table("bricks", "colours", "score", "ms", scaled, title="brick-score-1")
    factor = slowness()
    for count in options.bricks:
        for kinds in sorted({1, count}):
            given = stacks(count, kinds)
            result = score(given, config)
            times = []
            for _ in range(ROUNDS):
                began = time.process_time()
                score(given, config)
                times.append(1e3 * (time.process_time() - began))
            best = min(times)
            table.add_row(
                str(count), str(kinds), f"{result.score:.1f}", f"{best:.2f}", f"{best / factor:.2f}"
            )
    console = Console()
    console.print(table)
    console.print(tables_table(options.rows))
    if options.bag is not None:
        console.print(replay_table(options.bag))


if __name__ == "__main__":
    main()
