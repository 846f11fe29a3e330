"""Patterns for a surface, made by numbers: wood grain, speckle and checks."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

#: Pixels along each edge.
SIZE = 512
#: Planks across, and how far the grain wanders, in planks.
_PLANKS, _WANDER = (3.0, 8.0), 0.6
#: Grains and squares along an edge, fewest and most.
_GRAINS, _SQUARES = (120, 300), (8, 40)
#: Red, green and blue take at least this share of a pattern's depth.
_LEAST_TINT = 0.6


class Texture(msgspec.Struct, frozen=True):
    """What decides a texture to the last bit.

    Attributes:
        depth: share of the brightness that the darkest places lack.
        tint: share of ``depth`` that red, green and blue take.
    """

    kind: str
    seed: int
    depth: float
    tint: tuple[float, float, float]


def choose(rng: np.random.Generator, most: float) -> Texture:
    """One of the kinds, between half and all of ``most`` deep."""
    kind = sorted(_KINDS)[int(rng.integers(len(_KINDS)))]
    seed, depth = int(rng.integers(2**31)), float(rng.uniform(most / 2, most))
    red, green, blue = rng.uniform(_LEAST_TINT, 1.0, 3).tolist()
    return Texture(kind, seed, depth, (red, green, blue))


def pixels(texture: Texture) -> npt.NDArray[np.uint8]:
    """(SIZE, SIZE, 3) by which a surface's colour is multiplied; 255 leaves it as it is."""
    pattern = np.clip(_KINDS[texture.kind](np.random.default_rng(texture.seed)), 0.0, 1.0)
    share = 1.0 - texture.depth * pattern[..., None] * np.array(texture.tint)
    return np.asarray(np.round(255.0 * share), np.uint8)


def _smooth(rng: np.random.Generator, rows: int, columns: int) -> FloatArray:
    """(SIZE, SIZE) noise in [0, 1], rough at so many places down and across, smooth between them."""
    grid = rng.random((rows, columns))
    return np.clip(cv2.resize(grid, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC), 0.0, 1.0)


def _wood(rng: np.random.Generator) -> FloatArray:
    """Rings cut lengthwise, and fibres along them."""
    across = np.linspace(0.0, rng.uniform(*_PLANKS), SIZE)[:, None]
    rings = 0.5 + 0.5 * np.sin(2 * np.pi * (across + _WANDER * _smooth(rng, 5, 3) + _smooth(rng, 2, 2)) * 3.0)
    grain: FloatArray = 0.6 * rings**2 + 0.4 * _smooth(rng, SIZE, 12)
    return grain


def _speckle(rng: np.random.Generator) -> FloatArray:
    """Grains as of stone, dark and light, over clouds."""
    n = int(rng.integers(*_GRAINS))
    grains: FloatArray = np.where(_smooth(rng, n, n) > 0.8, 0.8, 0.0) + 0.3 * _smooth(rng, 6, 6)
    return grains


def _checks(rng: np.random.Generator) -> FloatArray:
    """Squares, as of a cloth."""
    n, shift = int(rng.integers(*_SQUARES)), rng.random(2)
    at = np.arange(SIZE) * n / SIZE
    rows, columns = np.floor(at + shift[0])[:, None], np.floor(at + shift[1])[None]
    squares: FloatArray = (rows + columns) % 2
    return squares


_KINDS: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "checks": _checks,
    "speckle": _speckle,
    "wood": _wood,
}
