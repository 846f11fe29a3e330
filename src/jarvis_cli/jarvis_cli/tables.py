"""``jarvis tables``: the tables of a run from any set of results, with plots and case strips."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_config, load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_text
from jarvis_scoring.estimates import TablesConfig
from jarvis_scoring.result_tables import all_tables
from jarvis_scoring.rows import ResultRow, with_expected, write_rows
from jarvis_scoring.tables import FORMATS, render

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.score_rows import collect, planned
from jarvis_cli.sources import add_library_option, parse_seeds

EXAMPLES = """
jarvis tables results/
jarvis tables results/ --suite suites/mine --agents oracle,noop --seeds 0-2 --out tables/
jarvis tables rows.jsonl --format latex --config my-tables.yaml"""
_ENDINGS = {"text": "txt", "csv": "csv", "json": "json", "latex": "tex"}


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "tables", "tables and plots of a run, from any set of results", EXAMPLES)
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="RESULTS", help="folders, episodes, bags, .jsonl files"
    )
    parser.add_argument("--format", choices=FORMATS, default="text")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write tables, rows and plots there")
    parser.add_argument("--suite", help="every task of it is expected; tells strata")
    parser.add_argument("--agents", default="", help="expected of the suite, with commas between")
    parser.add_argument("--seeds", default="0", help="expected of the suite, like 0-4 (default 0)")
    parser.add_argument("--expected", type=Path, metavar="FILE", help="episode ids, one a line; or rows")
    parser.add_argument("--config", type=Path, metavar="YAML", help="instead of config/tables.yaml")
    parser.add_argument("--no-bags", action="store_true", help="don't compare records with their bags")
    parser.add_argument(
        "--strips", action="store_true", help="draw a case strip of every episode (with --out)"
    )
    add_library_option(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    config = (
        load_default("tables", TablesConfig)
        if options.config is None
        else load_config(options.config, TablesConfig)
    )
    rows, unusable = collect(options.results, with_bags=not options.no_bags)
    rows, missing = with_expected(rows, _planned(options, rows))
    for item in unusable:
        print(f"error: {item.error.line()}", file=sys.stderr)
    if missing:
        print(f"{missing} expected episodes left no result: they count 0", file=sys.stderr)
    if not rows:
        raise BadInputError("no result can be used", where=", ".join(map(str, options.results)))
    tables = all_tables(rows, config)
    text = render(tables, options.format)
    if options.out is None:
        print(text, end="")
    else:
        file = options.out / f"tables.{_ENDINGS[options.format]}"
        write_text(file, text)
        write_rows(options.out / "rows.jsonl", rows)
        print(file)
        _draw(options, rows, config)
    return 2 if unusable else 0


def _planned(options: argparse.Namespace, rows: list[ResultRow]) -> list[ResultRow]:
    """What should be there; of a suite for the agents that are named, else for those that occur."""
    agents = [name for name in options.agents.split(",") if name] or sorted({row.agent for row in rows})
    seeds = parse_seeds(options.seeds, "--seeds")
    library = LDrawLibrary.find(options.ldraw_library) if options.suite is not None else None
    return planned(options.suite, agents, seeds, options.expected, library)


def _draw(options: argparse.Namespace, rows: list[ResultRow], config: TablesConfig) -> None:
    # Importing matplotlib takes longer than most commands.
    from jarvis_cli.score_plots import draw_results

    print(draw_results(rows, config, options.out / "results.png"))
    if options.strips:
        from jarvis_cli.score_strip import draw_strips

        for path in draw_strips(options.results, options.out / "strips"):
            print(path)
