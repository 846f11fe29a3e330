"""``jarvis tasks stats``: what a pool of tasks looks like, beside the published task sets."""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import msgspec
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.files import encode, write_text
from jarvis_tasks.config import TasksConfig
from jarvis_tasks.dataset.layout import SPLITS
from jarvis_tasks.statistics import (
    PoolStatistics,
    Published,
    comparison,
    load_published,
    pool_statistics,
    to_csv,
)
from rich.console import Console
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.pools import ALL, read_pool
from jarvis_cli.sources import add_library_option

EXAMPLES = """
jarvis tasks stats datasets/mine
jarvis tasks stats datasets/mine --split validation --plot validation.png
jarvis tasks stats suites/mine --format csv --out mine.csv
"""
_WIDTH = 100


def add_stats(actions: Commands) -> None:
    stats = add_command(
        actions, "stats", "figures of a dataset or a suite, beside the published ones", EXAMPLES
    )
    stats.add_argument("pool", metavar="DATASET|SUITE", help="folder, or name of a shipped suite")
    stats.add_argument(
        "--split", choices=(*SPLITS, ALL), default=ALL, help="of a dataset (default all of it)"
    )
    stats.add_argument("--format", choices=("table", "csv", "json"), default="table")
    stats.add_argument("--out", type=Path, metavar="FILE", help="write the figures there (default: print)")
    stats.add_argument("--plot", type=Path, metavar="PNG", help="draw histograms and shares as well")
    add_library_option(stats)
    stats.set_defaults(run=run_stats)


def run_stats(options: argparse.Namespace) -> int:
    rows = read_pool(options.pool, options.split, LDrawLibrary.find(options.ldraw_library))
    found = pool_statistics(rows, load_default("tasks", TasksConfig).bins)
    published = load_published()
    if options.format == "table" and options.out is None:
        _print(Console(width=_WIDTH), found, published, options.pool)
    else:
        text = _text(found, published, options)
        if options.out is None:
            print(text, end="")
        else:
            write_text(options.out, text)
            print(options.out)
    if options.plot is not None:
        # Importing matplotlib takes longer than most commands.
        from jarvis_bench.pool_plots import draw_pool

        draw_pool(rows, found, published, Path(options.pool).name, options.plot)
        print(options.plot)
    return 0


def _text(found: PoolStatistics, published: Published, options: argparse.Namespace) -> str:
    if options.format == "json":
        both = {"pool": options.pool, "ours": found, "published": msgspec.to_builtins(published)}
        return encode(both).decode()
    if options.format == "csv":
        return to_csv(comparison(found, published), published)
    with (console := Console(width=_WIDTH)).capture() as capture:
        _print(console, found, published, options.pool)
    return capture.get()


def _print(console: Console, found: PoolStatistics, published: Published, name: str) -> None:
    """The figures beside the published ones, and how both numbers of bricks go together."""
    heads = [Path(name).name, *(f"published {entry.name}" for entry in published.sets)]
    table = Table("", *heads, title=f"{found.tasks:,} tasks of {found.models:,} models")
    for column in table.columns[1:]:
        column.justify = "right"
    for section, rows in itertools.groupby(comparison(found, published), key=lambda row: row.section):
        table.add_section()
        table.add_row(section, style="bold")
        for row in rows:
            table.add_row(f"  {row.figure}", row.ours, *row.published)
    console.print(table)
    console.print(f"Published: {published.source}; {published.note}.", highlight=False)
    console.print(_joint(found))


def _joint(found: PoolStatistics) -> Table:
    table = Table(title="Tasks by scene bricks (down) and action bricks (across)")
    table.add_column("")
    for entry in found.act.bins:
        table.add_column(entry.label, justify="right")
    for entry, line in zip(found.scene.bins, found.joint, strict=True):
        table.add_row(entry.label, *(str(count) if count else "·" for count in line))
    return table
