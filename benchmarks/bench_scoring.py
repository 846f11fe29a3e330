"""How fast an episode is scored. Prints a table; machines differ and are noisy, so compare runs of one session.

./jarvis shell -c 'python benchmarks/bench_scoring.py'
./jarvis shell -c 'python benchmarks/bench_scoring.py --bricks 43 200'
"""

from __future__ import annotations

import argparse
import time

from jarvis_core.cell import Region
from jarvis_core.config import load_default
from jarvis_core.objects import GROUND, Box, ObjectState, RigidObject, TargetObject, WorldState
from jarvis_core.pose import Pose
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import ScoreInput
from rich.console import Console
from rich.table import Table

ROUNDS = 50
TARGET_MS = 2.0
#: A 2x2 brick looks the same after every quarter turn.
_HALF = 0.5**0.5
QUARTERS = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0), (0.0, 0.0, _HALF, _HALF), (0.0, 0.0, -_HALF, _HALF))


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


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--bricks", type=int, nargs="+", default=[5, 43, 200], help="to place (default 5 43 200)"
    )
    options = parser.parse_args()
    config = load_default("score", ScoreConfig)
    table = Table("bricks", "colours", "score", f"ms (target: {TARGET_MS:g} at 43)", title="brick-score-1")
    for count in options.bricks:
        for kinds in sorted({1, count}):
            given = stacks(count, kinds)
            result = score(given, config)
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                score(given, config)
                times.append(time.perf_counter() - began)
            table.add_row(str(count), str(kinds), f"{result.score:.1f}", f"{1e3 * min(times):.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
