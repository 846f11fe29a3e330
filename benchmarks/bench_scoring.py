"""How fast episodes are scored, replayed and put into tables, in processor time.

Machines differ and are shared: a loop of additions is timed too, and the targets hold for a core on which it takes
USUAL_LOOP_S; the last column is scaled to such a core.

./jarvis shell -c 'python benchmarks/bench_scoring.py'
./jarvis shell -c 'python benchmarks/bench_scoring.py --bricks 43 200 --rows 50000'
./jarvis shell -c 'python benchmarks/bench_scoring.py --bag results/my-episode/bag'
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import msgspec
import numpy as np
from jarvis_core.cell import Region
from jarvis_core.config import load_default
from jarvis_core.episode import PolicyInfo
from jarvis_core.files import encode
from jarvis_core.objects import GROUND, Box, ObjectState, RigidObject, TargetObject, WorldState
from jarvis_core.pose import Pose
from jarvis_episode.recording.bag import BagWriter
from jarvis_episode.recording.replay import replay_bag
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.estimates import TablesConfig
from jarvis_scoring.evidence import Evidence
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
#: Bricks that a fast arm places in a minute.
MOVED = 10
#: A minute of a recording at the configured rate, with pictures of a usual size.
BAG_S, RATE_HZ, PICTURE_BYTES = 60.0, 50.0, 60_000
TARGET_REPLAY = 50.0
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


def made_up_bag(path: Path, count: int) -> Path:
    """A minute as the recorder writes it: a scene of so many bricks, MOVED more one after another, pictures."""
    given, random = stacks(count + MOVED, count + MOVED), np.random.default_rng(0)
    standing = given.final.objects[:count]
    given = msgspec.structs.replace(
        given,
        targets=given.targets[count:],
        initial=WorldState(0.0, (*standing, *given.initial.objects[count:]), given.final.connections[:count]),
    )
    evidence = Evidence(
        **msgspec.structs.asdict(given),
        episode_id="made-up",
        task_id="made-up",
        task_hash="",
        seed=0,
        policy=PolicyInfo("nobody", privileged=True, caged=False),
        closed=True,
        constants=load_default("score", ScoreConfig),
    )
    evidence = msgspec.structs.replace(
        evidence, final=msgspec.structs.replace(given.final, time_s=BAG_S), time_s=BAG_S
    )
    states = round(BAG_S * RATE_HZ)
    with BagWriter(path) as bag:
        bag.write_episode(0.0, encode(evidence.opening()).decode())
        for k in range(states):
            time_s, placed = k / RATE_HZ, count + k * MOVED // states
            objects = (*given.final.objects[:placed], *given.initial.objects[placed:])
            moved = msgspec.structs.replace(objects[placed], pose=Pose((0.4, 0.1, 0.3 * random.random())))
            objects = (*objects[:placed], moved, *objects[placed + 1 :])
            bag.write_clock(time_s)
            bag.write_world_state(WorldState(time_s, objects, given.final.connections[:placed]))
            bag.write_joint_states(time_s, [f"joint{n}" for n in range(9)], random.random(9).tolist())
            if k % round(RATE_HZ) == 0:
                bag.write_jpeg(time_s, random.bytes(PICTURE_BYTES), "camera")
        bag.write_world_state(evidence.final)
        bag.write_episode(BAG_S, encode(evidence).decode())
    return path


def replay_table(counts: list[int], own: Path | None) -> Table:
    """Bags alone, the first time in a process and once the message types are known; ``own``: a bag to replay too."""
    scaled = f"times real time, usual core (target: {TARGET_REPLAY:g})"
    table = Table("bag", "MB", "simulated s", "first s", "again s", scaled, "score", title="replay")
    factor = slowness()
    with tempfile.TemporaryDirectory() as folder:
        bags = [made_up_bag(Path(folder) / f"{count}-bricks", count) for count in counts]
        for bag in [*([own] if own is not None else []), *bags]:
            times = []
            for _ in range(3):
                began = time.process_time()
                (replay,) = replay_bag(bag).replays
                times.append(time.process_time() - began)
            simulated = replay.last_s - replay.evidence.initial.time_s
            size = sum(file.stat().st_size for file in bag.iterdir()) / 1e6
            table.add_row(
                bag.name,
                f"{size:.1f}",
                f"{simulated:.1f}",
                f"{times[0]:.2f}",
                f"{min(times[1:]):.2f}",
                f"{simulated / times[0] * factor:.0f} to {simulated / min(times[1:]) * factor:.0f}",
                f"{replay.score.score:.2f}" + ("" if replay.complete else " INCOMPLETE"),
            )
    return table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bricks", type=int, nargs="+", default=[5, 43, 200], help="to place (default 5 43 200)"
    )
    parser.add_argument("--rows", type=int, default=ROWS, help=f"of results (default {ROWS})")
    parser.add_argument("--bag", type=Path, metavar="FOLDER", help="a bag to replay besides those made up")
    parser.add_argument(
        "--scenes",
        type=int,
        nargs="*",
        default=[16, 80, 411],
        help="bricks of the scene in bags (default 16 80 411)",
    )
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
    console.print(replay_table(options.scenes, options.bag))


if __name__ == "__main__":
    main()
