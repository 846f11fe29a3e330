"""``jarvis tasks select`` and ``jarvis tasks suite``: evaluation sets chosen, frozen, shown and written out."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes
from jarvis_render.config import ManualConfig
from jarvis_tasks.config import SelectionConfig, TasksConfig
from jarvis_tasks.dataset.layout import SPLITS, truth_path
from jarvis_tasks.dataset.sources import collect
from jarvis_tasks.freezing import freeze_suite
from jarvis_tasks.rows import TaskRow
from jarvis_tasks.selection import Selection, select
from jarvis_tasks.shaping import draw_like
from jarvis_tasks.statistics import PublishedSet, load_published
from jarvis_tasks.store import save_task
from jarvis_tasks.suite import Suite, SuiteIndex, composition, load_suite, shipped_suites
from rich.console import Console
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.pools import ALL, draw_manual, read_split
from jarvis_cli.progress import track
from jarvis_cli.sources import add_library_option, shipped_models

SELECT_EXAMPLES = """
jarvis tasks select datasets/mine --out suites/mine-50 --name mine-50
jarvis tasks select datasets/mine --split all --counts 8,6,6 --out suites/mine-20 --name mine-20
jarvis tasks select datasets/mine --like validation --out suites/mine-50 --name mine-50
                                                from a pool with horizons as in the published set
jarvis tasks select datasets/mine --models models/ --out suites/mine-50 --name mine-50
                                                keep the model files instead of the dataset's archives
"""
SUITE_EXAMPLES = """
jarvis tasks suite                              the suites that come with the project
jarvis tasks suite suites/mine-50               check every hash, print what it is made of
jarvis tasks suite suites/mine-50 --list        its tasks, a line each
jarvis tasks suite suites/mine-50 --export tasks/ --style photo
                                                task folders with manuals, for `jarvis run`
"""


def add_select(actions: Commands) -> None:
    choose = add_command(
        actions, "select", "choose an evaluation set from a dataset and freeze it", SELECT_EXAMPLES
    )
    choose.add_argument("dataset", type=Path, help="a dataset's folder")
    choose.add_argument(
        "--out", type=Path, required=True, metavar="SUITE", help="a folder that is not there yet"
    )
    choose.add_argument("--name", required=True, help="what the suite is called")
    choose.add_argument("--description", default="", help="a sentence about it")
    choose.add_argument("--split", choices=(*SPLITS, ALL), default="test", help="the pool (default test)")
    choose.add_argument(
        "--counts", metavar="N,N,N", help="tasks by stratum, the easiest first (default 20,15,15)"
    )
    choose.add_argument("--seed", type=int, help="decides between equals (default: config/tasks.yaml)")
    choose.add_argument(
        "--models",
        nargs="+",
        metavar="MODEL",
        help="what the dataset was built from: keep these files instead of its archives",
    )
    choose.add_argument(
        "--like",
        metavar="SET",
        help="first draw a pool whose horizons are distributed as in a published set: training or validation",
    )
    add_library_option(choose)
    choose.set_defaults(run=run_select)


def add_suite(actions: Commands) -> None:
    suite = add_command(actions, "suite", "check a suite, show it, write out its tasks", SUITE_EXAMPLES)
    suite.add_argument("suite", nargs="?", help="folder, or name of a shipped suite (default: list those)")
    suite.add_argument("--list", action="store_true", help="print its tasks")
    suite.add_argument("--export", type=Path, metavar="FOLDER", help="write task folders with manuals")
    suite.add_argument("--style", default="classic", help="of the manuals (default classic)")
    suite.add_argument("--task", nargs="+", metavar="ID", help="export only these")
    add_library_option(suite)
    suite.set_defaults(run=run_suite)


def run_select(options: argparse.Namespace) -> int:
    rules = load_default("tasks", TasksConfig)
    library = LDrawLibrary.find(options.ldraw_library)
    rows = read_split(options.dataset, options.split)
    changed = _changed(rules.selection, options.counts, options.seed)
    pool = f"{len(rows):,} tasks of {_n_models(rows)} models (split {options.split})"
    if options.like is not None:
        shares = _published(options.like).act.shares
        rows = draw_like(rows, shares, rules.bins.act, changed.seed)
        drawn = f"{len(rows):,} tasks of {_n_models(rows)} models"
        pool = f"{drawn}, with the horizons of the published {options.like} set, drawn from {pool}"
    found = select(rows, changed)
    index = freeze_suite(
        options.out,
        name=options.name,
        description=options.description,
        pool=pool,
        selection=found,
        models=_models(options.dataset, options.models, found),
        plate_studs=load_default("cell", CellConfig).plate.studs,
        library=library,
    )
    print_composition(index)
    print(options.out)
    return 0


def _n_models(rows: Sequence[TaskRow]) -> int:
    return len({row.model for row in rows})


def _published(name: str) -> PublishedSet:
    known = {entry.name: entry for entry in load_published().sets}
    if name not in known:
        raise BadInputError(f"no published set {name!r}", where="--like", fix=f"one of {', '.join(known)}")
    return known[name]


def _changed(config: SelectionConfig, counts: str | None, seed: int | None) -> SelectionConfig:
    changes: dict[str, object] = {} if seed is None else {"seed": seed}
    if counts is not None:
        numbers = [int(text) if text.strip().isdigit() else -1 for text in counts.split(",")]
        if len(numbers) != len(config.strata) or min(numbers) < 0:
            names = ", ".join(stratum.name for stratum in config.strata)
            raise BadInputError(
                f"{counts!r} is not a number for each of {names}",
                where="--counts",
                fix="write it like 20,15,15",
            )
        changes["strata"] = tuple(
            msgspec.structs.replace(stratum, count=n)
            for stratum, n in zip(config.strata, numbers, strict=True)
        )
    return msgspec.structs.replace(config, **changes)


def _models(dataset: Path, given: Sequence[str] | None, found: Selection) -> Mapping[str, tuple[str, bytes]]:
    """File name and bytes of the models that were chosen from, by name."""
    names = {chosen.row.model for chosen in found.chosen}
    if given is None:
        files = {name: dataset / truth_path(name) for name in names}
    else:
        shipped = shipped_models()
        sources = collect([shipped.get(name, Path(name)) for name in given]).sources
        files = {source.name: source.path for source in sources if source.name in names}
    return {name: (f"{name}{file.suffix.lower()}", read_bytes(file)) for name, file in files.items()}


def run_suite(options: argparse.Namespace) -> int:
    if options.suite is None:
        for name in shipped_suites():
            index = load_suite(name).index
            print(
                f"{name:10} {len(index.tasks):3} tasks of {len(index.models):3} models  {index.description}"
            )
        return 0
    library = LDrawLibrary.find(options.ldraw_library)
    suite = load_suite(options.suite, library, only=options.task)
    if options.export is not None:
        export(suite, options.export, options.style, list(suite.tasks), library)
    elif options.list:
        print_tasks(suite.index)
    else:
        print_composition(suite.index)
    return 0


def print_composition(index: SuiteIndex) -> None:
    """By stratum and in all."""
    table = Table(title=f"{index.name}: {index.description}" if index.description else index.name)
    heads = ("stratum", "tasks", "models", "of pool", "difficulty", "action bricks", "scene bricks")
    for head in heads:
        table.add_column(head, justify="left" if head == "stratum" else "right")
    rows = composition(index)
    for row in rows:
        table.add_row(
            row.name,
            str(row.tasks),
            str(row.models),
            f"{row.pool:,}",
            f"{row.low:.3f}-{row.high:.3f}",
            *("{:.1f} / {:g} / {}".format(*figures) for figures in (row.act, row.scene)),
            end_section=row is rows[-2],
        )
    console = Console(width=100)
    console.print(table)
    console.print(
        f"bricks: mean / median / most; difficulty {index.scale.alpha:g} x scene + "
        f"{1 - index.scale.alpha:g} x action over the pool of {index.pool}",
        highlight=False,
    )
    for line in index.relaxations:
        console.print(f"not kept to: {line}", highlight=False)


def print_tasks(index: SuiteIndex) -> None:
    """A line each."""
    width = max(len(task.id) for task in index.tasks)
    for task in index.tasks:
        print(
            f"{task.id:{width}}  {task.stratum:8} {task.difficulty:.3f}  "
            f"{task.n_act:3} to place on {task.n_scene:3}"
        )


def export(suite: Suite, out: Path, style: str, names: Sequence[str], library: LDrawLibrary | None) -> None:
    """Write task folders with manuals in a style."""
    load_default("manual", ManualConfig).styled(style)  # an unknown style is told before any drawing
    tasks = [suite.task(name) for name in names]
    for task in track(tasks, "drawing manuals"):
        manual = draw_manual(task, suite.catalogue(task.id, library), style)
        save_task(out / task.id, task, manual)
        print(out / task.id)
