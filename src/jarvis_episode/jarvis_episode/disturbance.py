"""A build begun by an oracle and spoilt, for experiments on recovery: what a policy then finds, and makes of it.

The same (task, seed, kind, prefix) gives the same disturbance to every policy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from jarvis_core.config import Config
from jarvis_core.episode import Disturbance
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.objects import TargetObject
from jarvis_core.seeds import generator
from jarvis_core.skills import HomeGoal, PickAndPlaceGoal, SkillGoal, SkillResult
from jarvis_sim.perturb import Perturbations

from jarvis_episode.cell import EmbeddedCell

KINDS = ("knock_off", "shift", "remove", "swap")
#: Places tried for a brick that is to be shifted.
_SHIFTS = 8
type _Change = tuple[tuple[str, ...], dict[str, float], Callable[[Perturbations], None]]


class RecoveryConfig(Config, frozen=True):
    """Read from config/recovery.yaml.

    Attributes:
        attempts: to place each brick of the prefix.
        settle_s: simulated seconds after the disturbance.
        knock_off_m_s: sideways speed of a brick that is knocked off.
        shift_m: least and greatest distance to one side; shift_yaw_deg: greatest turn either way;
            shift_rise_m: height from which a shifted brick is let go.
    """

    attempts: int
    settle_s: float
    knock_off_m_s: float
    shift_m: tuple[float, float]
    shift_yaw_deg: float
    shift_rise_m: float

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.settle_s <= 0 or self.knock_off_m_s <= 0:
            raise ValueError("attempts, settle_s and knock_off_m_s must be > 0")
        if not 0 < self.shift_m[0] <= self.shift_m[1]:
            raise ValueError(f"shift_m must be two growing distances > 0, not {self.shift_m}")


@dataclass(frozen=True, slots=True)
class Spoiler:
    """Places the first bricks of a task, then disturbs one of them.

    Raises:
        BadInputError: an unknown kind, or nothing placed that could be disturbed.
    """

    kind: str
    prefix: int
    config: RecoveryConfig

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BadInputError(f"{self.kind!r} is no disturbance", fix=f"choose one of {', '.join(KINDS)}")
        fewest = 2 if self.kind == "swap" else 1
        if self.prefix < fewest:
            raise BadInputError(
                f"{self.kind} needs {fewest} placed bricks, not {self.prefix}", fix="give a longer prefix"
            )

    @property
    def name(self) -> str:
        """Goes into the episode's id."""
        return f"{self.kind}{self.prefix}"

    def spoil(
        self,
        cell: EmbeddedCell,
        targets: Sequence[TargetObject],
        seed: int,
        run: Callable[[SkillGoal], SkillResult],
    ) -> Disturbance:
        """Build the prefix, disturb, wait for rest.

        Args:
            targets: of the task, in build order.
            run: performs a skill.

        Raises:
            BadInputError: the task has fewer bricks than the prefix.
            RefusedError: the prefix can't be built, or nothing of it can be disturbed this way.
        """
        if self.prefix > len(targets):
            raise BadInputError(
                f"has {len(targets)} bricks to place, fewer than a prefix of {self.prefix}", where="task"
            )
        placed = targets[: self.prefix]
        for target in placed:
            self._place(target, run)
        run(HomeGoal())
        world = cell.world
        saved = world.snapshot()
        reasons = []
        for bricks, values, change in self._changes(placed, _covered(cell), seed):
            try:
                change(world.perturb)
            except RefusedError as error:
                reasons.append(error.what)
                world.restore(saved)
                continue
            world.advance(self.config.settle_s)
            return Disturbance(
                kind=self.kind, bricks=bricks, prefix=self.prefix, values=values, after=world.state()
            )
        why = reasons[-1] if reasons else "no brick of the prefix suits"
        raise RefusedError(
            f"nothing can be disturbed by {self.kind} ({why})", fix="choose another kind or prefix"
        )

    def _place(self, target: TargetObject, run: Callable[[SkillGoal], SkillResult]) -> None:
        for _ in range(self.config.attempts):
            result = run(PickAndPlaceGoal(target.object.id, target.object.pose))
            if result.ok:
                return
        raise RefusedError(
            f"the prefix can't be built: {target.object.id}: {result.message}", fix="give a shorter prefix"
        )

    def _changes(self, placed: Sequence[TargetObject], covered: set[str], seed: int) -> Iterator[_Change]:
        """What could be done, in random order; bricks with nothing on them come first."""
        random = generator(seed, "disturbance", self.name)
        shuffled = [placed[i] for i in random.permutation(len(placed))]
        chosen = sorted(shuffled, key=lambda target: target.object.id in covered)
        if self.kind == "swap":
            yield from self._swaps(chosen)
            return
        for target in chosen:
            brick = target.object.id
            if self.kind == "remove":
                yield (brick,), {}, partial(Perturbations.remove, brick=brick)
            elif self.kind == "knock_off":
                yield self._knock(brick, random)
            else:
                for _ in range(_SHIFTS):
                    yield self._shift(brick, random)

    def _swaps(self, chosen: Sequence[TargetObject]) -> Iterator[_Change]:
        for one, other in combinations([target.object for target in chosen], 2):
            # Two equal bricks that change places change nothing.
            if (one.kind, one.colour) != (other.kind, other.colour):
                pair = (one.id, other.id)
                yield pair, {}, partial(Perturbations.swap, one=pair[0], other=pair[1])

    def _knock(self, brick: str, random: np.random.Generator) -> _Change:
        heading, speed = float(random.uniform(-math.pi, math.pi)), self.config.knock_off_m_s
        values = {"heading_rad": heading, "speed_m_s": speed}
        return (
            (brick,),
            values,
            partial(Perturbations.knock_off, brick=brick, heading_rad=heading, speed_m_s=speed),
        )

    def _shift(self, brick: str, random: np.random.Generator) -> _Change:
        heading, way = float(random.uniform(-math.pi, math.pi)), float(random.uniform(*self.config.shift_m))
        yaw = math.radians(float(random.uniform(-1.0, 1.0)) * self.config.shift_yaw_deg)
        offset = (way * math.cos(heading), way * math.sin(heading), self.config.shift_rise_m)
        values = {"x_m": offset[0], "y_m": offset[1], "z_m": offset[2], "yaw_rad": yaw}
        return (brick,), values, partial(Perturbations.shift, brick=brick, offset_m=offset, yaw_rad=yaw)


def _covered(cell: EmbeddedCell) -> set[str]:
    """Bricks with another one on them."""
    return {lower for _, lower in cell.world.state().connections}
