"""Which split a source model is in.

Splits go by family, so that no variant of a training model is tested on. Two models are of one family if

- their names are the same without the words at the end that only tell variants apart (colours, ``copy``, ``v2``;
  config/tasks.yaml), or
- they have the same parts at the same places, whatever their colours, order of building and names.

A family is named after the first of its models' shortened names, and a hash of that name decides the split: other
models in the dataset move a family only if they join it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable

from jarvis_bricks.assembly import Assembly

from jarvis_tasks.config import DatasetConfig
from jarvis_tasks.dataset.layout import SPLITS

_VERSION = re.compile(r"v\d+")


def short_name(model: str, variant_words: Collection[str]) -> str:
    """Lower case, words joined by one dash, without the words at the end that tell variants apart.

    >>> short_name("Little_House (dark red) v2", {"dark", "red"})
    'little-house'
    """
    words = [word for word in re.split(r"[\W_]+", model.lower()) if word]
    while len(words) > 1 and (words[-1] in variant_words or _VERSION.fullmatch(words[-1])):
        words.pop()
    return "-".join(words) or model.lower()


def shape_of(assembly: Assembly) -> str:
    """Hash of a build's parts and their places (to 0.1 mm and 0.01 of a rotation matrix's entry), wherever the build
    as a whole lies, whatever its colours and order."""
    corner = [min(b.pose.position[axis] for b in assembly.bricks) for axis in range(3)]
    lines = []
    for brick in assembly.bricks:
        place = [round((p - c) * 1e4) for p, c in zip(brick.pose.position, corner, strict=True)]
        turn = [round(value * 100) for value in brick.pose.rotation.reshape(-1).tolist()]
        lines.append(f"{brick.part} {place} {turn}")
    return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()


def families(models: Iterable[tuple[str, str]], variant_words: Collection[str]) -> dict[str, str]:
    """By model: its family, from (name, shape) pairs."""
    parent: dict[str, str] = {}

    def root(key: str) -> str:
        while parent.setdefault(key, key) != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    known = {model: (short_name(model, variant_words), shape) for model, shape in models}
    for name, shape in known.values():
        # The alphabetically first name is the root; shapes, marked by a leading "~", never are.
        roots = (root(name), root(f"~{shape}"))
        first, second = sorted(roots, key=lambda key: (key.startswith("~"), key))
        parent[second] = first
    return {model: root(name) for model, (name, _) in known.items()}


def split_of(family: str, config: DatasetConfig) -> str:
    """``train``, ``validation`` or ``test``, by a hash of the salt and the family's name."""
    digest = hashlib.sha256(f"{config.salt}\x1f{family}".encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    shares = (config.shares.train, config.shares.validation, config.shares.test)
    reached = 0.0
    for split, share in zip(SPLITS, shares, strict=True):
        reached += share
        if place < reached:
            return split
    return next(s for s, share in zip(reversed(SPLITS), reversed(shares), strict=True) if share > 0)
