"""Random choices of a model: named draws from one generator."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Dice:
    """What a family decides by chance."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def pick[T](self, choices: Sequence[T]) -> T:
        """One of some things."""
        return choices[int(self._random.integers(len(choices)))]

    def some[T](self, choices: Sequence[T], count: int) -> list[T]:
        """Different ones of some things, in random order."""
        order = self._random.permutation(len(choices))
        return [choices[int(i)] for i in order[:count]]

    def between(self, low: int, high: int) -> int:
        """A whole number from ``low`` to ``high``, both included."""
        return int(self._random.integers(low, high + 1))

    def chance(self, share: float) -> bool:
        """True in so many cases, 0 to 1."""
        return bool(self._random.random() < share)

    def jitter(self) -> float:
        """0 to 1: breaks ties."""
        return float(self._random.random())
