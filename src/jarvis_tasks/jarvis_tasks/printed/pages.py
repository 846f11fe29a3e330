"""A folder of page images, and the map that says which page shows which build step.

The map is a CSV file that people can write and correct by hand::

    file,step,left,top,right,bottom
    page-07.png,1,,,,
    page-08.png,2,20,40,600,500     only this rectangle (pixels) shows the step
    page-08.png,3,20,520,600,980    the same page shows the next step as well
    page-09.png,,,,,                a cover, a parts list: no step

Only ``file`` and ``step`` have to be there. ``step`` is the global build step that the picture shows finished.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes, write_text
from PIL import Image, UnidentifiedImageError

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".bmp", ".tif", ".tiff")
#: Left, top, right, bottom in pixels.
Rectangle = tuple[int, int, int, int]
_COLUMNS = ("file", "step", "left", "top", "right", "bottom")
_FIX = "see docs/manuals.md for how a map is written"


@dataclass(frozen=True, slots=True)
class MappedPage:
    """A page, and the build step it shows finished; ``step`` is None for covers and the like.

    Attributes:
        area: the part of the page that shows it, None for all of it.
    """

    file: str
    step: int | None
    area: Rectangle | None = None


def page_files(folder: Path) -> list[Path]:
    """The images of a folder, ``page-2`` before ``page-10``.

    Raises:
        BadInputError: no folder, or no image in it.
    """
    if not folder.is_dir():
        raise BadInputError(
            "no such folder", where=str(folder), fix="name the folder that holds the page images"
        )
    files = [p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file()]
    if not files:
        raise BadInputError(
            "holds no page images", where=str(folder), fix=f"save the pages as {', '.join(IMAGE_SUFFIXES)}"
        )
    return sorted(files, key=_natural)


def _natural(path: Path) -> list[tuple[int, str]]:
    return [(int(piece), "") if piece.isdigit() else (-1, piece) for piece in re.split(r"(\d+)", path.name)]


def open_page(path: Path, area: Rectangle | None = None) -> Image.Image:
    """A page, or a rectangle of it, as RGB; what is transparent becomes white.

    Raises:
        BadInputError: no image, a damaged one, or a rectangle that is not on it.
    """
    data = read_bytes(path)
    try:
        with Image.open(io.BytesIO(data)) as opened:
            pixels = opened.convert("RGBA")
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise BadInputError(f"can't be read as an image ({error})", where=str(path)) from error
    page = Image.new("RGB", pixels.size, (255, 255, 255))
    page.paste(pixels, mask=pixels.getchannel("A"))
    if area is None:
        return page
    left, top, right, bottom = area
    if not (0 <= left < right <= page.width and 0 <= top < bottom <= page.height):
        raise BadInputError(
            f"the rectangle {area} is not on the page of {page.width} x {page.height} pixels",
            where=str(path),
            fix=_FIX,
        )
    return page.crop(area)


def write_map(path: Path, pages: Iterable[MappedPage]) -> None:
    """Write a map; ``read_map`` gives the same pages back."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(_COLUMNS)
    for page in pages:
        table.writerow([page.file, "" if page.step is None else page.step, *(page.area or ("",) * 4)])
    write_text(path, text.getvalue())


def read_map(path: Path, folder: Path, n_steps: int) -> tuple[MappedPage, ...]:
    """The map of a folder's pages to the steps of a build with ``n_steps``.

    Raises:
        BadInputError: naming the line: an unknown column or page, a step that is no number, not in the build, or
            shown twice.
    """
    text = read_bytes(path).decode("utf-8-sig", errors="replace")
    table = csv.DictReader(io.StringIO(text))
    columns = [name.strip() for name in table.fieldnames or ()]
    if not {"file", "step"} <= set(columns) or not set(columns) <= set(_COLUMNS):
        raise BadInputError(
            f"the first line must name the columns file, step (and left, top, right, bottom), not {columns}",
            where=f"{path}:1",
            fix=_FIX,
        )
    table.fieldnames = columns
    pages: list[MappedPage] = []
    seen: dict[int, int] = {}
    for row in table:
        where = f"{path}:{table.line_num}"
        page = _mapped_page(row, where, folder)
        if page.step is not None:
            if not 1 <= page.step <= n_steps:
                raise BadInputError(f"step {page.step} is not in the build, which has {n_steps}", where=where)
            if page.step in seen:
                raise BadInputError(
                    f"step {page.step} is shown by line {seen[page.step]} already",
                    where=where,
                    fix="leave the step of one of the two empty",
                )
            seen[page.step] = table.line_num
        pages.append(page)
    return tuple(pages)


def _mapped_page(row: dict[str, str | None], where: str, folder: Path) -> MappedPage:
    values = {name: (value or "").strip() for name, value in row.items() if isinstance(name, str)}
    file = values["file"]
    # A map may come from somebody else: its pages lie in the folder, nowhere else.
    if not file or Path(file).name != file or not (folder / file).is_file():
        raise BadInputError(f"no page {file!r} in {folder}", where=where, fix=_FIX)
    step = _numbers([values["step"]], where) if values["step"] else None
    corners = [values.get(name, "") for name in _COLUMNS[2:]]
    if not any(corners):
        return MappedPage(file, step[0] if step else None)
    left, top, right, bottom = _numbers(corners, where)
    return MappedPage(file, step[0] if step else None, (left, top, right, bottom))


def _numbers(texts: Sequence[str], where: str) -> list[int]:
    try:
        return [int(text) for text in texts]
    except ValueError as error:
        raise BadInputError(
            f"whole numbers are expected, got {list(texts)}", where=where, fix=_FIX
        ) from error
