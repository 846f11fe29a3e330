"""``jarvis tasks generate``: models made by chance, to cut tasks from."""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_bytes, write_text
from jarvis_render.book import contact_sheet
from jarvis_render.config import ManualConfig
from jarvis_render.pages import encode_png, render_pages
from jarvis_render.pictures import fitted_text
from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.generator.pool import ModelPool
from jarvis_tasks.generator.registry import FAMILIES, SIZES, GeneratedModel
from jarvis_tasks.manual import model_on_plate
from jarvis_tasks.select import find_segments
from PIL import Image, ImageDraw
from rich.console import Console
from rich.table import Table

from jarvis_cli.limits import cell_limits, task_rules
from jarvis_cli.parser import Commands, add_command, positive
from jarvis_cli.progress import progress

EXAMPLES = """
jarvis tasks generate --count 200 --seed 1 --out models/
jarvis tasks generate --count 24 --families house,bridge --sizes small,medium --sheet sheet.png
                                                then `jarvis tasks build models/` for a dataset of all tasks
"""
#: Pixels of a picture in the sheet, and of the title above it.
_PICTURE, _CAPTION = 300, 34
_INK = (30, 34, 40)


def add_generate(actions: Commands) -> None:
    made = add_command(actions, "generate", "make models by chance: houses, bridges, animals, …", EXAMPLES)
    made.add_argument("--count", type=positive, default=39, help="models (default 39: three of each family)")
    made.add_argument("--seed", type=int, default=1, help="of all choices (default 1)")
    made.add_argument("--out", type=Path, default=Path("models"), help="folder (default models/)")
    made.add_argument("--families", metavar="A,B", help=f"of {', '.join(FAMILIES)} (default all)")
    made.add_argument("--sizes", metavar="A,B", help=f"of {', '.join(SIZES)} (default all)")
    made.add_argument("--bricks", metavar="A-B", help="bricks to place, for the count of tasks")
    made.add_argument("--no-check", action="store_true", help="don't count the tasks, a third of the time")
    made.add_argument("--sheet", type=Path, metavar="PNG", help="a picture of each model on one sheet")
    made.set_defaults(run=run_generate)


@dataclass
class Tally:
    """What came of one family. ``tasks``, ``segments``: segments that can be tasks, and that were looked at."""

    bricks: list[int] = field(default_factory=list)
    drawn: int = 0
    tasks: int = 0
    segments: int = 0


def run_generate(options: argparse.Namespace) -> int:
    catalogue = PartCatalogue(None)
    families, sizes = (
        _chosen(options.families, tuple(FAMILIES), "--families"),
        _chosen(options.sizes, SIZES, "--sizes"),
    )
    config = load_default("generator", GeneratorConfig)
    pool = ModelPool(options.seed, families, sizes, catalogue, config)
    tallies = {family: Tally() for family in families}
    pictures: list[bytes] = []
    kept, started = 0, time.monotonic()
    with progress(options.count, "generating models") as advance:
        for model in pool.models(options.count):
            kept += not _write(options.out / f"{model.name}.mpd", model.text)
            _count(tallies[model.family], model, catalogue, options)
            if options.sheet is not None:
                pictures.append(picture(model.assembly, catalogue))
            advance(1)
    _print(tallies, pool, checked=not options.no_check)
    print(
        f"{options.count} models in {options.out}, {kept} of them were there; {time.monotonic() - started:.0f} s"
    )
    if options.sheet is not None:
        write_bytes(options.sheet, encode_png(contact_sheet(pictures, _PICTURE)))
        print(options.sheet)
    return 0


def _chosen(text: str | None, known: Sequence[str], option: str) -> tuple[str, ...]:
    if text is None:
        return tuple(known)
    words = tuple(dict.fromkeys(word.strip() for word in text.split(",")))
    unknown = [word for word in words if word not in known]
    if unknown:
        raise BadInputError(f"{unknown[0]!r} is not known", where=option, fix=f"of {', '.join(known)}")
    return words


def _write(path: Path, text: str) -> bool:
    """Whether the file is new. Raises BadInputError: another model has its name."""
    if not path.exists():
        write_text(path, text)
        return True
    if path.read_bytes() != text.encode():
        raise BadInputError(
            "holds another model than this version makes",
            where=str(path),
            fix="give another --out, or delete it",
        )
    return False


def _count(
    tally: Tally, model: GeneratedModel, catalogue: PartCatalogue, options: argparse.Namespace
) -> None:
    tally.bricks.append(len(model.assembly.bricks))
    tally.drawn += model.drawn
    if not options.no_check:
        cell, limits = cell_limits()
        rules = task_rules(options.bricks, leave_out=False)
        found = find_segments(model.assembly, catalogue, limits, rules, cell.plate.studs)
        tally.tasks += len(found.accepted)
        tally.segments += found.considered


def picture(assembly: Assembly, catalogue: PartCatalogue) -> bytes:
    """A PNG of the finished model with its title; needs OpenGL."""
    cell, _ = cell_limits()
    placed, plate = model_on_plate(assembly, catalogue, cell.plate)
    config = load_default("manual", ManualConfig).changed(
        "manual", width=_PICTURE, height=_PICTURE, fade=0.0, accent_px=0.0, closer=True, margin_studs=1
    )
    (page,) = render_pages([list(placed.bricks)], plate, catalogue, catalogue.colours, config)
    image = Image.open(io.BytesIO(page.png)).convert("RGB")
    draw = ImageDraw.Draw(image)
    # In place of the page's own header.
    draw.rectangle((0, 0, _PICTURE, _CAPTION), fill=config.background_rgb)
    fitted_text(draw, (8, 8), assembly.title, 15, _PICTURE - 16, _INK)
    return encode_png(image)


def _print(tallies: dict[str, Tally], pool: ModelPool, *, checked: bool) -> None:
    table = Table(box=None, pad_edge=False)
    for column in (
        "family",
        "models",
        "bricks",
        "mean",
        "redrawn",
        "repeats",
        "tasks",
        "of segments",
        "share",
    ):
        table.add_column(column, justify="left" if column == "family" else "right")
    for family, tally in tallies.items():
        if tally.bricks:
            table.add_row(family, *_cells(tally, pool.repeats.get(family, 0), checked=checked))
    whole = Tally(
        [n for tally in tallies.values() for n in tally.bricks],
        *(sum(getattr(t, name) for t in tallies.values()) for name in ("drawn", "tasks", "segments")),
    )
    table.add_row("all", *_cells(whole, sum(pool.repeats.values()), checked=checked))
    Console(width=110).print(table)


def _cells(tally: Tally, repeats: int, *, checked: bool) -> Iterator[str]:
    count = len(tally.bricks)
    yield str(count)
    yield f"{min(tally.bricks)}-{max(tally.bricks)}"
    yield f"{sum(tally.bricks) / count:.0f}"
    yield str(tally.drawn - count)
    yield str(repeats)
    if checked:
        yield from (
            str(tally.tasks),
            str(tally.segments),
            f"{100 * tally.tasks / max(tally.segments, 1):.1f} %",
        )
