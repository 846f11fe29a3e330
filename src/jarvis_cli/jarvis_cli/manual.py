"""``jarvis manual``: building manuals of models and tasks as pictures, PDF books and contact sheets."""

from __future__ import annotations

import argparse
import io
import multiprocessing
import os
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.cell import CellConfig, PlateConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, MissingCapabilityError
from jarvis_core.files import write_bytes, write_text
from jarvis_core.manual import ManualPage, PartCount
from jarvis_render.book import colour_chart, contact_sheet, cover, parts_pages, write_pdf
from jarvis_render.config import MAX_PAGE_PX, MIN_PAGE_PX, ManualConfig
from jarvis_render.layout import PageLayout, axes_text, count_parts
from jarvis_render.pages import PageHints, encode_png, plan_manual, render_pages, render_part
from jarvis_render.scene import Drawable
from jarvis_tasks.manual import manual_steps, model_hints, model_on_plate, model_steps
from jarvis_tasks.store import TASK_FILE, load_task
from PIL import Image

from jarvis_cli.manual_match import add_match
from jarvis_cli.progress import progress
from jarvis_cli.sources import add_library_option, read_model

FORMATS = ("png", "pdf", "sheet")
#: Below so many pages a second process costs more than it saves.
_WORTH_SHARING = 24
_MARK = "axes.txt"

STYLES_HELP = "classic (default), line_art, photo, faded, scan, or another one of config/manual.yaml"

EXAMPLES = """examples:
  jarvis manual render house
  jarvis manual render model.mpd --style photo --size 1024 --format pdf
  jarvis manual render tasks/house-s02-s04 --style scan --seed 7
  jarvis manual part 3001 --colour 4 --out brick.png
  jarvis manual colours --out colours.png
  jarvis manual match castle.mpd scans/           which page of a real book shows which step"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = commands.add_parser(
        "manual",
        help="draw building manuals, parts and colours",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    render = actions.add_parser("render", help="the manual of a model or a task", **_shown("render"))
    render.add_argument("source", help="a .ldr or .mpd file, the name of a shipped model, or a task folder")
    render.add_argument("--style", default="classic", help=STYLES_HELP)
    render.add_argument("--size", default="512", metavar="N|WxH", help="pixels of a page (default 512)")
    render.add_argument("--format", default="png,pdf,sheet", help="of png, pdf, sheet (default all three)")
    render.add_argument("--out", type=Path, default=Path("manuals"), help="folder (default manuals/)")
    render.add_argument("--seed", type=int, default=0, help="of grain and the like (default 0)")
    render.add_argument("--steps", metavar="A-B", help="only these pages")
    render.add_argument("--perspective", type=float, default=0.0, metavar="DEG", help="a pinhole camera")
    render.add_argument("--arrows", action="store_true", help="arrows onto the new bricks")
    render.add_argument("--same-scale", action="store_true", help="all pages of a model at one scale")
    render.add_argument("--jobs", type=int, default=0, help="processes (default: one per core)")
    add_library_option(render)
    render.set_defaults(run=run_render)
    part = actions.add_parser("part", help="a picture of one part", **_shown("part"))
    part.add_argument("part", help="part number, e.g. 3001")
    part.add_argument("--colour", type=int, default=4, help="LDraw code (default 4, red)")
    part.add_argument("--size", type=int, default=256, help="pixels (default 256)")
    part.add_argument("--out", type=Path, default=Path("part.png"))
    add_library_option(part)
    part.set_defaults(run=run_part)
    chart = actions.add_parser("colours", help="a chart of all colours", **_shown("colours"))
    chart.add_argument("--part", default="3003", help="part that shows them (default 3003)")
    chart.add_argument("--out", type=Path, default=Path("colours.png"))
    add_library_option(chart)
    chart.set_defaults(run=run_colours)
    add_match(actions)


def _shown(action: str) -> dict[str, Any]:
    """The examples of one action, as its help shows them."""
    head, *lines = EXAMPLES.splitlines()
    mine = [line for line in lines if line.startswith(f"  jarvis manual {action} ")]
    return {"epilog": "\n".join([head, *mine]), "formatter_class": argparse.RawDescriptionHelpFormatter}


@dataclass(frozen=True, slots=True)
class Book:
    """Everything a manual is drawn from."""

    name: str
    title: str
    author: str
    licence: str
    steps: list[list[Drawable]]
    hints: PageHints
    plate: PlateConfig
    catalogue: PartCatalogue
    config: ManualConfig


def run_render(options: argparse.Namespace) -> int:
    formats = parse_formats(options.format)
    book = open_book(options.source, options.ldraw_library, page_config(options))
    numbers = page_numbers(book, options.steps)
    layout = plan_manual(
        book.steps, book.plate, book.catalogue, book.catalogue.colours, book.config, None, book.hints
    )
    folder = options.out / f"{book.name}-{options.style}"
    refuse_foreign(folder)
    pages = draw(book, layout, numbers, options)
    write_book(folder, book, layout, pages, formats)
    print(folder)
    return 0


def page_config(options: argparse.Namespace) -> ManualConfig:
    """The configured looks with what the command line changes."""
    width, height = parse_size(options.size)
    config = load_default("manual", ManualConfig).styled(options.style)
    changes: dict[str, Any] = {"width": width, "height": height, "seed": options.seed}
    changes["arrows"] = options.arrows or config.arrows
    if not options.same_scale:
        # Just enough plate around the model to stand on: what is built is shown as large as it fits.
        changes |= {"closer": True, "margin_studs": min(1, config.margin_studs)}
    if options.perspective:
        changes["perspective_deg"] = options.perspective
    return config.changed("manual", **changes)


def open_book(source: str, library_folder: Path | None, config: ManualConfig) -> Book:
    """A model or a task, on the build plate."""
    plate = load_default("cell", CellConfig).plate
    path = Path(source)
    if (path / TASK_FILE).is_file():
        task = load_task(path)
        catalogue = PartCatalogue(LDrawLibrary.find(library_folder))
        # The pages of a task are those an agent gets: one scale, with the plate around.
        margin = load_default("manual", ManualConfig).margin_studs
        config = config.changed("manual", closer=False, margin_studs=margin)
        steps: list[list[Drawable]] = [list(step) for step in manual_steps(task)]
        return Book(
            task.id, task.title, task.author, task.licence, steps, PageHints(), plate, catalogue, config
        )
    model = read_model(source, library_folder)
    placed, plate = model_on_plate(model.assembly, model.catalogue, plate)
    whole = model.assembly
    return Book(
        whole.name,
        whole.title,
        whole.author,
        whole.licence,
        [list(step) for step in model_steps(placed)],
        model_hints(placed, config),
        plate,
        model.catalogue,
        config,
    )


def page_numbers(book: Book, steps: str | None) -> list[int]:
    """The pages to draw: all that show something, or a range of them."""
    first = 0 if book.steps[0] else 1
    numbers = list(range(first, len(book.steps)))
    if steps is None:
        return numbers
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", steps.strip())
    chosen = range(int(match[1]), int(match[2] or match[1]) + 1) if match else range(0)
    wanted = [number for number in numbers if number in chosen]
    if not wanted:
        raise BadInputError(
            f"no pages {steps!r}", where="--steps", fix=f"the manual has pages {numbers[0]}-{numbers[-1]}"
        )
    return wanted


def draw(book: Book, layout: PageLayout, numbers: list[int], options: argparse.Namespace) -> list[ManualPage]:
    """All pages, with several processes where that pays."""
    jobs = max(1, options.jobs or len(os.sched_getaffinity(0)))
    with progress(len(numbers), "drawing pages") as advance:
        if jobs == 1 or len(numbers) < _WORTH_SHARING:
            return list(_draw_here(book, layout, numbers, advance))
        return _draw_shared(layout, book.config, numbers, options, jobs, advance)


def _draw_shared(
    layout: PageLayout,
    config: ManualConfig,
    numbers: list[int],
    options: argparse.Namespace,
    jobs: int,
    advance: Callable[[int], None],
) -> list[ManualPage]:
    """Runs of pages in processes of their own: a GL context doesn't survive a fork, and each draws on one core."""
    size = max(8, -(-len(numbers) // (3 * jobs)))
    chunks = [numbers[i : i + size] for i in range(0, len(numbers), size)]
    setup = (options.source, options.ldraw_library, config, layout)
    spawn = multiprocessing.get_context("spawn")
    pages: list[ManualPage] = []
    pool = ProcessPoolExecutor(min(jobs, len(chunks)), spawn, _start_worker, setup)
    try:
        for done in pool.map(_draw_chunk, chunks):
            pages += done
            advance(len(done))
    except BrokenProcessPool as error:
        raise MissingCapabilityError(
            "a drawing process ended early, perhaps for lack of memory", where="rendering", fix="try --jobs 1"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)
    return pages


def _draw_here(
    book: Book, layout: PageLayout, numbers: list[int], advance: Callable[[int], None]
) -> tuple[ManualPage, ...]:
    catalogue = book.catalogue
    return render_pages(
        book.steps,
        book.plate,
        catalogue,
        catalogue.colours,
        book.config,
        None,
        layout,
        hints=book.hints,
        numbers=numbers,
        on_page=lambda _: advance(1),
    )


_worker: dict[str, Any] = {}


def _start_worker(source: str, library: Path | None, config: ManualConfig, layout: PageLayout) -> None:
    # Ctrl-C is for the process that shows the progress; it ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ.setdefault("LP_NUM_THREADS", "1")
    _worker["book"], _worker["layout"] = open_book(source, library, config), layout


def _draw_chunk(numbers: list[int]) -> tuple[ManualPage, ...]:
    return _draw_here(_worker["book"], _worker["layout"], numbers, lambda _: None)


def refuse_foreign(folder: Path) -> None:
    """Only folders that an earlier manual left are written over."""
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).is_file():
        raise BadInputError("holds something else than a manual", where=str(folder), fix="give another --out")


def write_book(
    folder: Path, book: Book, layout: PageLayout, pages: list[ManualPage], formats: tuple[str, ...]
) -> None:
    """Everything into a new folder, which then takes the place of the old one."""
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.tmp")
    try:
        for name, data in _contents(book, pages, formats):
            if isinstance(data, bytes):
                write_bytes(fresh / name, data)
            else:
                write_pdf(fresh / name, data, book.title, book.author)
        write_text(fresh / _MARK, axes_text(layout, book.config) + "\n")
        shutil.rmtree(folder, ignore_errors=True)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _contents(
    book: Book, pages: list[ManualPage], formats: tuple[str, ...]
) -> Iterator[tuple[str, bytes | Iterator[Image.Image]]]:
    if "png" in formats:
        yield from ((f"page-{page.step:03d}.png", page.png) for page in pages)
    if "sheet" in formats:
        yield "sheet.png", encode_png(contact_sheet([page.png for page in pages]))
    if "pdf" in formats:
        yield f"{book.name}.pdf", _pdf_pages(book, pages)


def _pdf_pages(book: Book, pages: list[ManualPage]) -> Iterator[Image.Image]:
    bricks = [brick for step in book.steps for brick in step]
    parts, colours = book.catalogue, book.catalogue.colours
    counts = [
        PartCount(part, parts.geometry(part).description, colour, colours.get(colour).words, count)
        for (part, colour), count in count_parts(bricks).items()
    ]
    words = f"{len(bricks)} bricks, {len(book.steps) - 1} steps"
    yield cover(pages[-1].png, book.title, book.author, book.licence, words, book.config)
    yield from (open_png(page.png) for page in pages)
    yield from parts_pages(counts, parts, colours, book.config)


def open_png(data: bytes) -> Image.Image:
    """Decoded when it is used: a long manual's pages don't all fit into memory as pixels."""
    return Image.open(io.BytesIO(data))


def run_part(options: argparse.Namespace) -> int:
    catalogue = PartCatalogue(LDrawLibrary.find(options.ldraw_library))
    if not 16 <= options.size <= 4096:
        raise BadInputError(
            f"{options.size} is no size for a picture", where="--size", fix="16 to 4096 pixels"
        )
    config = load_default("manual", ManualConfig)
    write_bytes(
        options.out,
        render_part(options.part, options.colour, options.size, catalogue, catalogue.colours, config),
    )
    print(options.out)
    return 0


def run_colours(options: argparse.Namespace) -> int:
    catalogue = PartCatalogue(LDrawLibrary.find(options.ldraw_library))
    config = load_default("manual", ManualConfig)
    write_bytes(options.out, colour_chart(catalogue, catalogue.colours, config, options.part))
    print(options.out)
    return 0


def parse_size(text: str) -> tuple[int, int]:
    """``512`` or ``800x600``."""
    match = re.fullmatch(r"(\d+)(?:x(\d+))?", text.strip())
    if match is None:
        raise BadInputError(f"{text!r} is no size", where="--size", fix="write it like 512 or 800x600")
    width, height = int(match[1]), int(match[2] or match[1])
    if not all(MIN_PAGE_PX <= side <= MAX_PAGE_PX for side in (width, height)):
        fix = f"{MIN_PAGE_PX} to {MAX_PAGE_PX} pixels a side"
        raise BadInputError(f"{width} x {height} pixels is no size for a page", where="--size", fix=fix)
    return width, height


def parse_formats(text: str) -> tuple[str, ...]:
    """``png,pdf``."""
    chosen = tuple(word.strip() for word in text.split(","))
    unknown = [word for word in chosen if word not in FORMATS]
    if unknown:
        raise BadInputError(
            f"unknown format {unknown[0]!r}", where="--format", fix=f"of {', '.join(FORMATS)}"
        )
    return chosen
