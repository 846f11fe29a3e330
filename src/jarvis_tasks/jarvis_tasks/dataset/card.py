"""The card of a dataset: README.md with the header that the library ``datasets`` and the hub read."""

from __future__ import annotations

from collections.abc import Mapping

import yaml

from jarvis_tasks.dataset.layout import DATASET_SCHEMA, MODELS, SPLITS, Counts, index_path

_TEXT = """
# Assembly tasks cut from brick models

{n_tasks} tasks cut from {models} source models ({tasks}). In each a robot is given a structure that stands on a
build plate, a pile of loose bricks and a manual, and builds on. Written with schema version {schema}.

## Files

| file | holds |
| --- | --- |
| `index/train.parquet`, `validation`, `test` | one row per task: what is needed to choose tasks, no ground truth |
| `models.parquet` | one row per source model: sizes, what was refused and why, licence, family, split |
| `truth/MODEL.zip` | **ground truth, never given to an agent**: `truth.json` (bricks and joints), `model.json` |
| `manuals/MODEL.zip` | only with pictures: what an agent may see: per task pages, `axes.txt`, `parts.json` |
| `dataset.json` | schema version, settings, counts, models that failed, sha256 of every file |

```python
from datasets import load_dataset
tasks = load_dataset("FOLDER", split="{split}")          # one row per task
models = load_dataset("FOLDER", "models", split="models")  # one row per source model
```

Columns of the index: `id`, `model`, `title`, `author`, `licence`, `split`, `first` and `last` (global build
steps), `n_scene` (bricks that stand), `n_act` (bricks to place), `n_pages` (of the manual), `left_out` (bricks of
the model that the cell can't build with), `hash` (sha256 of the whole task as JSON).

## From truth to task

`truth.json` lists `bricks` in build order, each with `id`, `part` (LDraw number), `colour` (LDraw code), `pose`
(x, y, z in metres and quaternion x, y, z, w of the part frame in frame `plate`: origin in the middle of the
plate's top, z up; the part frame is LDraw's own with z up), `step` and `where` (line of the source file); and
`joints`, each `[upper, lower, studs]`: so many studs of `lower` (a brick, or `plate`) sit in openings of `upper`.
The task of steps `first` to `last`:

1. **Scene**: all bricks with `step < first`, in this order. They stand when the task starts.
2. **Targets**: all bricks with `first <= step <= last`, in this order. They lie loose on the table and have to be
   placed.
3. The task's own steps are numbered 1, 2, 3 ..., leaving out build steps without bricks; a page of the manual
   each, after a page with the scene.
4. A brick's **connections** are all bricks of scene and targets (and `plate`) that it shares a joint with. Its
   **support** is, of those it is the `upper` of, the one with the most studs (of equals the alphabetically first);
   without one the alphabetically first of its connections.

## Splits

Splits go by families of source models, by a hash of the family's name and a salt: models whose names differ only
in colour words or version numbers at the end, or that have the same parts at the same places, are one family.

## Counts

| | |
| ---: | --- |
{counts}

## Licences

Titles, authors and licences of the source models travel in every row. By number of models: {licences}. LDraw is a
trademark of the LDraw community. LEGO is a trademark of the LEGO Group, which does not sponsor, authorise or
endorse this dataset.
"""


def card_text(counts: Counts, licences: Mapping[str, int], settings: Mapping[str, object]) -> str:
    """The whole README.md."""
    present = [split for split in SPLITS if counts.tasks[split]]
    header = yaml.safe_dump(_header(counts, present), sort_keys=False)
    named = sorted(licences.items(), key=lambda item: (-item[1], item[0]))
    text = _TEXT.format(
        n_tasks=f"{counts.n_tasks:,}",
        models=f"{counts.models:,}",
        tasks=", ".join(f"{split} {counts.tasks[split]:,}" for split in SPLITS),
        schema=DATASET_SCHEMA,
        split=present[0] if present else "train",
        counts="\n".join(f"| {number:,} | {what} |" for what, number in count_lines(counts)),
        licences=", ".join(f"{name} ({count:,})" for name, count in named) or "none",
    )
    drawn = "drawn" if settings["manual"] is not None else "not drawn: make them with `jarvis tasks export`"
    return f"---\n{header}---\n{text}\nManuals are {drawn}.\n"


def _header(counts: Counts, present: list[str]) -> dict[str, object]:
    index = {
        "config_name": "default",
        "data_files": [{"split": split, "path": index_path(split)} for split in present],
    }
    models = {"config_name": "models", "data_files": [{"split": "models", "path": MODELS}]}
    return {
        "license": "other",
        "license_name": "of-each-source-model",
        "task_categories": ["robotics"],
        "tags": ["robotics", "assembly", "manipulation", "lego", "ldraw"],
        "size_categories": [_size(counts.n_tasks)],
        "configs": [index, models] if present else [models],
    }


def _size(tasks: int) -> str:
    """As the hub names sizes."""
    for limit, name in ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K")):
        if tasks < limit:
            return name
    return "100K<n<1M"


def count_lines(counts: Counts) -> list[tuple[str, int]]:
    """Everything that was counted, from files to tasks, in words. Nothing is dropped without a line here."""
    return [
        ("models read and judged", counts.models),
        ("files that failed (a line each in dataset.json)", counts.failed),
        ("files that are the same as another one", counts.copies),
        ("texts in folders that hold no bricks", counts.other_texts),
        ("models without STEP: their layers from low to high are the steps", counts.in_layers),
        ("models that give no task", counts.models - counts.with_tasks),
        ("bricks in all models", counts.bricks),
        ("bricks left out, the cell can't build with them", counts.left_out),
        ("baseplates that the build plate stands in for", counts.stand_ins),
        ("steps left without bricks", counts.empty_steps),
        ("runs of steps not looked at: too many bricks", counts.too_long),
        ("runs of steps not looked at: too few bricks", counts.too_short),
        ("runs of steps looked at", counts.considered),
        *((f"refused: {reason}", number) for reason, number in counts.refused.items()),
        ("possible tasks", counts.accepted),
        ("possible tasks left aside by the limit per model", counts.not_chosen),
        ("tasks", counts.n_tasks),
    ]
