"""``jarvis manual match``: which page of a book shows which step of a model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import write_bytes
from jarvis_render.pages import encode_png
from jarvis_tasks.printed.checking import comparison
from jarvis_tasks.printed.figures import figures_of_page
from jarvis_tasks.printed.matching import Match, find_map, n_drawings
from jarvis_tasks.printed.pages import MappedPage, open_page, page_files, write_map
from rich.table import Table

from jarvis_cli.progress import console, progress
from jarvis_cli.sources import add_library_option, read_model

EXAMPLES = """examples:
  jarvis manual match castle.mpd scans/                    writes scans/map.csv and scans/map.png to check it by
  jarvis manual match castle.mpd scans/ --out castle.csv"""


def add_match(actions: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    match = actions.add_parser(
        "match",
        help="find which page of a real book shows which step of a model",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    match.add_argument("model", help="a .ldr or .mpd file with STEPs, or the name of a shipped model")
    match.add_argument("pages", type=Path, help="folder with one image per page, in the order of their names")
    match.add_argument("--out", type=Path, help="the map to write (default map.csv in the folder of pages)")
    match.add_argument("--force", action="store_true", help="write over a map that is there")
    add_library_option(match)
    match.set_defaults(run=run_match)


def run_match(options: argparse.Namespace) -> int:
    out: Path = options.out or options.pages / "map.csv"
    if out.exists() and not options.force:
        raise RefusedError("there is a map already", where=str(out), fix="--force writes over it")
    model = read_model(options.model, options.ldraw_library)
    if not model.assembly.has_steps:
        raise BadInputError("the model has no STEPs to match pages to", where=str(model.path))
    # The picture to check a map by lies beside it and is no page.
    files = [file for file in page_files(options.pages) if file != check_picture(out)]
    with progress(len(files), "reading pages") as advance:
        figures = []
        for file in files:
            figures.append(figures_of_page(np.asarray(open_page(file))))
            advance(1)
    with progress(n_drawings(model.assembly), "drawing steps") as advance:
        matches = find_map(model.assembly, model.catalogue, figures, lambda: advance(1))
    write_map(out, [MappedPage(file.name, match.step) for file, match in zip(files, matches, strict=True)])
    picture = comparison(files, matches, model.assembly, model.catalogue)
    write_bytes(check_picture(out), encode_png(picture))
    print_matches(files, matches)
    print(f"map:   {out}\ncheck: {check_picture(out)}")
    return 0


def check_picture(out: Path) -> Path:
    """Where the pages are shown beside what they are taken for."""
    return out.with_suffix(".png")


def print_matches(files: Sequence[Path], matches: Sequence[Match]) -> None:
    table = Table("page", "step", "difference", "")
    for file, match in zip(files, matches, strict=True):
        step = "-" if match.step is None else str(match.step)
        table.add_row(file.name, step, f"{match.cost:.2f}", "" if match.sure else "please check")
    console.print(table)
    unsure = sum(not match.sure for match in matches)
    found = sum(match.step is not None for match in matches)
    print(f"{found} of {len(files)} pages show a step; {unsure} to check by eye")
