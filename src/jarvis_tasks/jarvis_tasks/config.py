"""Which segments become tasks: read from config/tasks.yaml."""

from __future__ import annotations

import math
from typing import Annotated

from jarvis_core.config import Config
from msgspec import Meta

Count = Annotated[int, Meta(ge=1)]


class StratumConfig(Config, frozen=True):
    """A part of a pool, by rank of difficulty: which share of the pool, and how many tasks to choose from it."""

    name: str
    share: Annotated[float, Meta(gt=0, le=1)]
    count: Annotated[int, Meta(ge=0)]


class SelectionConfig(Config, frozen=True):
    """How an evaluation set is chosen from a pool (see jarvis_tasks.selection).

    Attributes:
        alpha: weight of the scene in the difficulty (see jarvis_tasks.difficulty).
        strata: the easiest first; their shares add up to 1.
        model_cap: at most so many tasks of one model in all, as far as the pool allows it.
        seed: decides between tasks that are equally good.
    """

    alpha: Annotated[float, Meta(ge=0, le=1)]
    strata: Annotated[tuple[StratumConfig, ...], Meta(min_length=1)]
    model_cap: Count
    seed: int

    def __post_init__(self) -> None:
        total = math.fsum(stratum.share for stratum in self.strata)
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            raise ValueError(f"the shares of the strata add up to {total:g}, not to 1")


class BinsConfig(Config, frozen=True):
    """First values of the bins that statistics count tasks in; the last bin has no end.

    Attributes:
        act: of the number of action bricks.
        scene: of the number of scene bricks.
    """

    act: tuple[int, ...]
    scene: tuple[int, ...]

    def __post_init__(self) -> None:
        for name, starts in (("act", self.act), ("scene", self.scene)):
            if not starts or list(starts) != sorted(set(starts)):
                raise ValueError(f"the bins of {name} are not in ascending order")


class SharesConfig(Config, frozen=True):
    """Shares of the source models' families by split; they add up to 1."""

    train: Annotated[float, Meta(ge=0, le=1)]
    validation: Annotated[float, Meta(ge=0, le=1)]
    test: Annotated[float, Meta(ge=0, le=1)]

    def __post_init__(self) -> None:
        total = math.fsum((self.train, self.validation, self.test))
        if not math.isclose(total, 1.0, abs_tol=1e-9):
            raise ValueError(f"the shares of the splits add up to {total:g}, not to 1")


class DatasetConfig(Config, frozen=True):
    """How a dataset is split and stored (see jarvis_tasks.dataset).

    Attributes:
        salt: another one gives other splits.
        shares: of the splits.
        variant_words: words at the end of a model's name that only tell variants of one source apart.
        rows_per_group: of an index file; a reader holds one group in memory.
        parts_in_memory: a worker forgets what it knows of parts when it has met so many.
    """

    salt: str
    shares: SharesConfig
    variant_words: tuple[str, ...]
    rows_per_group: Count
    parts_in_memory: Count


class TasksConfig(Config, frozen=True):
    """Limits of a task, whatever the robot.

    Attributes:
        min_bricks, max_bricks: to place in one task.
        supply_packing: share of the supply area that loose bricks with their clearance may take.
        upright_deg: how far a brick may lean or be turned away from the plate's axes.
        overlap_m: deepest allowed overlap of two bricks' bodies.
        overhang_studs: how far a brick may reach over the plate's edge.
        leave_out: take bricks that the cell can't build with (wheels, hinges, tilted ones) away from a model, and
            what then stands on nothing, instead of refusing every segment that holds one.
        selection: how an evaluation set is chosen.
        bins: of statistics.
        dataset: how a dataset is split and stored.
    """

    min_bricks: Count
    max_bricks: Count
    supply_packing: Annotated[float, Meta(gt=0, le=1)]
    upright_deg: Annotated[float, Meta(gt=0, lt=45)]
    overlap_m: Annotated[float, Meta(ge=0)]
    overhang_studs: Annotated[int, Meta(ge=0)]
    leave_out: bool
    selection: SelectionConfig
    bins: BinsConfig
    dataset: DatasetConfig
