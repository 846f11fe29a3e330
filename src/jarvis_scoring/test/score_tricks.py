"""What cheap tricks score on a build of four bricks; run as a script it prints the table of docs/scoring.md."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from episode_factory import BRICKS, CONNECTIONS, PLATE, make_record, start_pose, target_pose
from jarvis_core.config import load_config
from jarvis_core.episode import EpisodeRecord
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig

CONFIG = load_config(Path(__file__).parents[3] / "config" / "score.yaml", ScoreConfig)
STUD_M, PLATE_M = 0.008, 0.0032
#: What stands when nothing was built.
LOOSE = (("s1", GROUND),)
HEADS = (
    "what was done",
    "brick-score-1",
    "brick-score-1-world",
    "S_pose",
    "S_comp",
    "S_valid",
    "S_exact",
)


def every(change: Callable[[str], Pose], connections: tuple[tuple[str, str], ...] = LOOSE) -> EpisodeRecord:
    return make_record({brick: change(brick) for brick in BRICKS}, connections=connections)


def nudged(brick: str) -> Pose:
    """A centimetre along the table."""
    return start_pose(brick).translated((0.01, 0.0, 0.0))


def piled(brick: str) -> Pose:
    """Tipped over in a heap about the middle of the build, as if poured out."""
    number = list(BRICKS).index(brick)
    x, y = (
        PLATE.position[0] + 0.018 * math.cos(1.7 * number),
        PLATE.position[1] + 0.018 * math.sin(1.7 * number),
    )
    tipped = Pose((0.0, 0.0, 0.0), (math.sin(math.pi / 4), 0.0, 0.0, math.cos(math.pi / 4)))
    return Pose.from_yaw((x, y, PLATE.position[2] + 0.012), 0.9 * number) @ tipped


def laid_down(brick: str) -> Pose:
    """Side by side on the plate near the build, upright, in a row."""
    number = list(BRICKS).index(brick)
    return PLATE @ Pose((-0.036 + 0.024 * number, 0.040, 0.0096))


def shifted(x: float = 0.0, z: float = 0.0) -> Callable[[str], Pose]:
    return lambda brick: target_pose(brick).translated((x, 0.0, z))


def mirrored(brick: str) -> Pose:
    """Built the other way round: x of the plate turned over, yaw with it."""
    pose = PLATE.inverse() @ target_pose(brick)
    x, y, z = pose.position
    return PLATE @ Pose.from_yaw((-x, y, z), -pose.yaw)


def exchanged() -> Mapping[str, Pose]:
    """Both yellow bricks in each other's place."""
    return {"b2": target_pose("b3"), "b3": target_pose("b2")}


def tricks() -> dict[str, EpisodeRecord]:
    without_last = tuple(c for c in CONNECTIONS if "b4" not in c)
    swapped = tuple(
        tuple({"b2": "b3", "b3": "b2"}.get(i, i) for i in pair)  # type: ignore[misc]
        for pair in CONNECTIONS
    )
    return {
        "nothing": every(start_pose, LOOSE),
        "every brick nudged by a centimetre": every(nudged),
        "every brick poured onto the place": every(piled),
        "every brick laid in a row beside the place": every(laid_down),
        "only the first brick placed": make_record(
            {b: start_pose(b) for b in ("b2", "b3", "b4")}, connections=(("s1", GROUND), ("b1", GROUND))
        ),
        "built, but 5 studs off": every(shifted(x=5 * STUD_M)),
        "built, but one stud off": every(shifted(x=STUD_M)),
        "built, but one plate too high": every(shifted(z=PLATE_M)),
        "built in mirror image": every(mirrored),
        "built, the last brick held in its place": make_record(held="b4", connections=without_last),
        "built, with equal bricks exchanged": make_record(exchanged(), connections=swapped),
        "built, at twice the budget": make_record(time_s=480.0),
        "built": make_record(),
    }


def rows() -> list[tuple[str, ...]]:
    found = []
    for name, record in tricks().items():
        gated = score(record, CONFIG)
        world = score(record, CONFIG, protocol="brick-score-1-world")
        parts = (gated.s_pose, gated.s_comp, gated.s_valid, gated.s_exact)
        found.append((name, f"{gated.score:.1f}", f"{world.score:.1f}", *(f"{part:.2f}" for part in parts)))
    return found


def markdown() -> str:
    lines = [HEADS, ("---", *["---:"] * (len(HEADS) - 1)), *rows()]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    print(markdown(), end="")
