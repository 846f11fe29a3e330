"""All kinds of models, and one model from a kind, a size and a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.errors import BadInputError
from jarvis_core.seeds import generator

from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.generator.dice import Dice
from jarvis_tasks.generator.families.animals import animal
from jarvis_tasks.generator.families.boats import boat
from jarvis_tasks.generator.families.bridges import bridge
from jarvis_tasks.generator.families.castles import castle
from jarvis_tasks.generator.families.furniture import furniture
from jarvis_tasks.generator.families.gardens import garden
from jarvis_tasks.generator.families.houses import house
from jarvis_tasks.generator.families.machines import robot, rocket
from jarvis_tasks.generator.families.towers import tower
from jarvis_tasks.generator.families.trains import train
from jarvis_tasks.generator.families.vehicles import vehicle
from jarvis_tasks.generator.families.words import word
from jarvis_tasks.generator.grid import Grid, GridError
from jarvis_tasks.generator.model import finish

#: Designs a model of a size on a grid; returns its title.
Design = Callable[[Grid, str], str]

FAMILIES: Mapping[str, Design] = MappingProxyType(
    {
        "house": house,
        "tower": tower,
        "castle": castle,
        "bridge": bridge,
        "vehicle": vehicle,
        "train": train,
        "boat": boat,
        "animal": animal,
        "word": word,
        "garden": garden,
        "furniture": furniture,
        "robot": robot,
        "rocket": rocket,
    }
)
SIZES = ("small", "medium", "large")


@dataclass(frozen=True, slots=True)
class GeneratedModel:
    """A generated model.

    Attributes:
        text: of its model file; the same for the same family, size and seed.
        drawn: how many designs it took: those before were impossible.
    """

    family: str
    size: str
    seed: int
    assembly: Assembly
    text: str
    drawn: int

    @property
    def name(self) -> str:
        return self.assembly.name


def generate(
    family: str, size: str, seed: int, catalogue: PartCatalogue, config: GeneratorConfig
) -> GeneratedModel:
    """One model.

    Raises:
        BadInputError: an unknown family or size.
        GridError: no design of this seed can be built; a fault of the family.
    """
    design = FAMILIES.get(family)
    if design is None:
        raise BadInputError(f"no family {family!r}", fix=f"use one of {', '.join(FAMILIES)}")
    if size not in SIZES:
        raise BadInputError(f"no size {size!r}", fix=f"use one of {', '.join(SIZES)}")
    name = f"{family}-{size}-{seed:04d}"
    last: GridError | None = None
    for attempt in range(config.attempts):
        grid = Grid(Dice(generator(seed, "model", family, size, str(attempt))))
        try:
            title = design(grid, size)
            built = finish(grid, name, title, catalogue, config, f"Generated: {family}, {size}, seed {seed}")
        except GridError as error:
            last = error
            continue
        return GeneratedModel(family, size, seed, built.assembly, built.text, attempt + 1)
    assert last is not None
    raise last
