"""From finished units to a dataset: splits, index, models, card, and the file that says it is complete."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec
from jarvis_core.files import atomic_path, file_hash, write_json, write_text

from jarvis_tasks.config import DatasetConfig
from jarvis_tasks.dataset import splits
from jarvis_tasks.dataset.card import card_text
from jarvis_tasks.dataset.index import RowWriter
from jarvis_tasks.dataset.layout import (
    CARD,
    DATASET_SCHEMA,
    INFO,
    MODELS,
    SPLITS,
    Counts,
    DatasetInfo,
    FailedModel,
    ModelRow,
    Unit,
    index_path,
    manuals_path,
    truth_path,
)
from jarvis_tasks.dataset.sources import Collection
from jarvis_tasks.dataset.truth import read_unit
from jarvis_tasks.dataset.units import UnitSettings
from jarvis_tasks.rows import TaskRow


def finish(
    out: Path,
    names: Sequence[str],
    settings: UnitSettings,
    collection: Collection,
    failed: Sequence[FailedModel],
) -> DatasetInfo:
    """Write everything but the archives; units are read one at a time.

    Args:
        names: of all models with a finished unit, sorted.
    """
    config = settings.config.dataset
    shapes = [(name, read_unit(out / truth_path(name)).shape) for name in names]
    family = splits.families(shapes, config.variant_words)
    tally = _Tally()
    files: dict[str, str] = {}
    with ExitStack() as stack:
        index = {s: stack.enter_context(_writer(out / index_path(s), TaskRow, config, stack)) for s in SPLITS}
        models = stack.enter_context(_writer(out / MODELS, ModelRow, config, stack))
        for name in names:
            unit = read_unit(out / truth_path(name))
            split = splits.split_of(family[name], config)
            for row in unit.rows(split):
                index[split].write(row)
            models.write(_model_row(unit, family[name], split))
            tally.add(unit, split)
            files[truth_path(name)] = file_hash(out / truth_path(name))
            if unit.pictures_sha256:
                files[manuals_path(name)] = unit.pictures_sha256
    counts = tally.counts(collection, len(failed))
    described = settings.described() | {"dataset": msgspec.to_builtins(config)}
    write_text(out / CARD, card_text(counts, tally.licences, described))
    for path in (CARD, MODELS, *(index_path(split) for split in SPLITS)):
        files[path] = file_hash(out / path)
    info = DatasetInfo(
        DATASET_SCHEMA,
        described,
        counts,
        tuple(sorted(failed, key=lambda f: f.source)),
        tuple(collection.copies),
        dict(sorted(files.items())),
    )
    write_json(out / INFO, info)
    return info


def _writer(path: Path, kind: type[msgspec.Struct], config: DatasetConfig, stack: ExitStack) -> RowWriter:
    """Writes beside ``path``; the stack puts it in place at its end."""
    return RowWriter(stack.enter_context(atomic_path(path)), kind, config.rows_per_group)


def _model_row(unit: Unit, family: str, split: str) -> ModelRow:
    return ModelRow(
        model=unit.name,
        source=unit.source,
        title=unit.title,
        author=unit.author,
        licence=unit.licence,
        family=family,
        split=split,
        bricks=unit.n_bricks,
        steps=unit.n_steps,
        layers=unit.layers,
        placed=unit.n_placed,
        left_out=unit.n_left_out,
        stand_ins=unit.n_stand_ins,
        empty_steps=unit.empty_steps,
        considered=unit.considered,
        too_long=unit.too_long,
        too_short=unit.too_short,
        accepted=len(unit.tasks) + unit.not_chosen,
        tasks=len(unit.tasks),
        refused=msgspec.json.encode(unit.refused).decode(),
        notes=msgspec.json.encode(unit.notes).decode(),
    )


class _Tally:
    """Counts over all units."""

    def __init__(self) -> None:
        self.licences: Counter[str] = Counter()
        self._sums: Counter[str] = Counter()
        self._tasks: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()

    def add(self, unit: Unit, split: str) -> None:
        self.licences[unit.licence or "none named"] += 1
        self._tasks[split] += len(unit.tasks)
        for refused in unit.refused:
            self._refused[refused.reason] += refused.segments
        self._sums.update(
            models=1,
            with_tasks=int(bool(unit.tasks)),
            in_layers=int(unit.layers),
            bricks=unit.n_bricks,
            left_out=unit.n_left_out,
            stand_ins=unit.n_stand_ins,
            empty_steps=unit.empty_steps,
            considered=unit.considered,
            too_long=unit.too_long,
            too_short=unit.too_short,
            accepted=len(unit.tasks) + unit.not_chosen,
            not_chosen=unit.not_chosen,
        )

    def counts(self, collection: Collection, failed: int) -> Counts:
        sums = self._sums
        refused = sorted(self._refused.items(), key=lambda item: (-item[1], item[0]))
        return Counts(
            models=sums["models"],
            with_tasks=sums["with_tasks"],
            in_layers=sums["in_layers"],
            failed=failed,
            copies=len(collection.copies),
            other_texts=len(collection.other_texts),
            bricks=sums["bricks"],
            left_out=sums["left_out"],
            stand_ins=sums["stand_ins"],
            empty_steps=sums["empty_steps"],
            considered=sums["considered"],
            too_long=sums["too_long"],
            too_short=sums["too_short"],
            accepted=sums["accepted"],
            not_chosen=sums["not_chosen"],
            tasks={split: self._tasks[split] for split in SPLITS},
            refused=dict(refused),
        )
