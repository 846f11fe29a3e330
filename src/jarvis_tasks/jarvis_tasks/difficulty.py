"""How hard a task is, relative to the others of a pool.

D = alpha * S_scene + (1 - alpha) * S_act, where S_scene and S_act are the numbers of scene and action bricks, each
min-max normalised over the pool (the published definition; alpha 0.3). D lies in [0, 1] and only ranks tasks of one
pool: it says nothing across pools.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

from jarvis_tasks.rows import TaskRow


class DifficultyScale(msgspec.Struct, frozen=True):
    """What D is measured with: the weight, and the pool's ranges.

    Where all tasks of a pool have the same number of bricks, that number tells nothing apart: its term is 0.

    Attributes:
        alpha: weight of the scene, 0 to 1.
        scene: smallest and largest number of scene bricks in the pool.
        act: smallest and largest number of action bricks in the pool.
    """

    alpha: float
    scene: tuple[int, int]
    act: tuple[int, int]

    @classmethod
    def of(cls, rows: Sequence[TaskRow], alpha: float) -> DifficultyScale:
        """The scale of a pool.

        Raises:
            BadInputError: the pool is empty, or alpha is not from 0 to 1.
        """
        if not rows:
            raise BadInputError("the pool holds no tasks, so difficulty means nothing")
        if not 0.0 <= alpha <= 1.0:
            raise BadInputError(f"alpha is {alpha}, not a number from 0 to 1", where="tasks.selection.alpha")
        scene = [row.n_scene for row in rows]
        act = [row.n_act for row in rows]
        return cls(alpha, (min(scene), max(scene)), (min(act), max(act)))

    def values(self, rows: Sequence[TaskRow]) -> FloatArray:
        """(n,) D of each task; within [0, 1] for tasks of the pool the scale was made from."""
        scene = _normalised([row.n_scene for row in rows], self.scene)
        act = _normalised([row.n_act for row in rows], self.act)
        found: FloatArray = self.alpha * scene + (1.0 - self.alpha) * act
        return found


def _normalised(counts: Sequence[int], limits: tuple[int, int]) -> FloatArray:
    low, high = limits
    numbers = np.asarray(counts, dtype=np.float64)
    return (numbers - low) / (high - low) if high > low else np.zeros_like(numbers)
