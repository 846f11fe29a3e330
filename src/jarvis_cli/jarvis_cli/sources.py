"""Models, libraries and tasks as a person names them on the command line."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import BadInputError
from jarvis_core.manual import Manual
from jarvis_tasks.layers import in_layers
from jarvis_tasks.store import TASK_FILE, load_manual, load_task
from jarvis_tasks.task import Task


def shipped_models() -> dict[str, Path]:
    """The models that come with the project, by name."""
    folder = Path(str(resources.files("jarvis_bricks"))) / "models"
    return {path.stem: path for path in sorted(folder.glob("*.mpd"))}


def add_library_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--ldraw-library",
        type=Path,
        metavar="FOLDER",
        help="LDraw parts library (default: $LDRAWDIR, then the usual system folders, else built-in parts only)",
    )


@dataclass(frozen=True, slots=True)
class Model:
    """A build with a catalogue that knows its parts."""

    path: Path
    assembly: Assembly
    catalogue: PartCatalogue


def read_model(name: str, library_folder: Path | None) -> Model:
    """A model file, or a shipped model by name. Raises BadInputError for anything else."""
    path = shipped_models().get(name, Path(name))
    if not path.is_file():
        known = ", ".join(shipped_models())
        raise BadInputError("no such model", where=name, fix=f"give a .ldr or .mpd file, or one of {known}")
    library = LDrawLibrary.find(library_folder)
    assembly = read_assembly(path, library=library)
    return Model(path, assembly, PartCatalogue.for_model(path, library))


def read_layers(name: str, library_folder: Path | None) -> Model:
    """As read_model; a model without steps has its layers for steps (see jarvis_tasks.layers)."""
    model = read_model(name, library_folder)
    return replace(model, assembly=in_layers(model.assembly, model.catalogue))


def read_task(path: Path) -> tuple[Task, Manual]:
    """A task folder with its manual."""
    if not (path / TASK_FILE).is_file() and not path.is_file():
        raise BadInputError("is no task folder", where=str(path), fix="make one with `jarvis tasks cut`")
    return load_task(path), load_manual(path)


def parse_range(text: str, what: str) -> tuple[int, int]:
    """``3-5`` or ``4`` as (first, last)."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    if match is None:
        raise BadInputError(f"{text!r} is no range", where=what, fix="write it like 3-5 or 4")
    first = int(match.group(1))
    last = int(match.group(2) or first)
    if first < 1 or last < first:
        raise BadInputError(f"{text!r} runs backwards or begins at 0", where=what, fix="write it like 3-5")
    return first, last


def parse_seeds(text: str, what: str) -> tuple[int, ...]:
    """``0-4`` or ``7`` as all of them."""
    match = re.fullmatch(r"(\d+)(?:-(\d+))?", text.strip())
    if match is None or int(match.group(2) or match.group(1)) < int(match.group(1)):
        raise BadInputError(f"{text!r} are no seeds", where=what, fix="write them like 0-4 or 7")
    return tuple(range(int(match.group(1)), int(match.group(2) or match.group(1)) + 1))
