"""Randomness comes from one explicit seed; each use draws from a stream of its own.

A stream is named, so adding a random choice to one place never changes the numbers another place gets.
"""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: str) -> np.random.Generator:
    """A numpy Generator for (seed, names): the same on every machine and in every process."""
    digest = hashlib.sha256("\x1f".join((str(seed), *names)).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "little")))
