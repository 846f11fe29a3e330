"""Many different models: families and sizes in turn."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import RefusedError
from jarvis_core.files import content_hash

from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.generator.registry import GeneratedModel, generate

#: Seeds of models lie so far apart for each seed of a pool.
_SEEDS = 10_000


@dataclass
class ModelPool:
    """Models without repeats; the same seed gives the same ones in the same order.

    Attributes:
        repeats: by family, how often a design came out that was there before, and the next seed was taken.
    """

    seed: int
    families: Sequence[str]
    sizes: Sequence[str]
    catalogue: PartCatalogue
    config: GeneratorConfig
    repeats: dict[str, int] = field(default_factory=dict)
    _known: set[str] = field(default_factory=set)

    def models(self, count: int) -> Iterator[GeneratedModel]:
        """The first ``count`` models: every family in turn, first in the first size, then in the next.

        Raises:
            BadInputError: an unknown family or size.
            RefusedError: a family has no further designs of a size.
        """
        kinds = [(family, size) for size in self.sizes for family in self.families]
        seeds = {kind: itertools.count(self.seed * _SEEDS) for kind in kinds}
        for family, size in itertools.islice(itertools.cycle(kinds), count):
            yield self._next(family, size, seeds[(family, size)])

    def _next(self, family: str, size: str, seeds: Iterator[int]) -> GeneratedModel:
        for _ in range(self.config.repeats):
            model = generate(family, size, next(seeds), self.catalogue, self.config)
            design = content_hash(_design(model.assembly))
            if design not in self._known:
                self._known.add(design)
                return model
            self.repeats[family] = self.repeats.get(family, 0) + 1
        raise RefusedError(
            f"no further designs: {self.config.repeats} in turn were there before",
            where=f"family {family}, size {size}",
            fix="ask for fewer models, or for more families and sizes",
        )


def _design(assembly: Assembly) -> list[tuple[str, int, list[float]]]:
    """What tells a design from another: parts, colours and places, in the order of building."""
    return [(brick.part, brick.colour, brick.pose.to_list()) for brick in assembly.bricks]
