"""``jarvis bricks``: what a model is made of and what is wrong with it; a whole collection at once."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from jarvis_bricks.build_check import BuildProblem
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.config import BricksConfig
from jarvis_bricks.grip import FingerClearance
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.summary import Summary, summarise
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, JarvisError
from jarvis_core.files import write_bytes
from jarvis_render.config import ManualConfig
from jarvis_render.pages import render_pages
from jarvis_robot.config import load_robot_config
from jarvis_skills.config import SkillsConfig
from jarvis_tasks.manual import model_on_plate
from rich.console import Console
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.progress import Activity, track
from jarvis_cli.sources import Model, add_library_option, read_model

SUFFIXES = (".ldr", ".mpd", ".dat", ".txt")
#: The order of building of larger models is looked at only where asked for: it takes a minute.
_QUICK_BRICKS = 600
_SHOWN = 12

EXAMPLES = """
jarvis bricks show house
jarvis bricks show model.mpd --fingers slim --out model.png
jarvis bricks check ~/ldraw/models"""
SHOW_EXAMPLES = """
jarvis bricks show house
jarvis bricks show model.mpd --fingers slim --out model.png
jarvis bricks show structure.txt --no-picture"""
CHECK_EXAMPLES = """
jarvis bricks check ~/ldraw/models
jarvis bricks check models --ldraw-library ~/ldraw"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "bricks", "look at models: parts, connections, problems", EXAMPLES)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    show = add_command(actions, "show", "a picture and a table of one model", SHOW_EXAMPLES)
    show.add_argument("model", help="a .ldr, .mpd, .dat or .txt file, or the name of a shipped model")
    show.add_argument("--out", type=Path, metavar="PNG", help="the picture (default NAME.png)")
    show.add_argument("--no-picture", action="store_true", help="print the table only")
    show.add_argument(
        "--fingers", metavar="SET", help="fingertips that place the bricks: stock (default), slim or none"
    )
    add_library_option(show)
    show.set_defaults(run=run_show)
    check = add_command(actions, "check", "go through all models of a folder", CHECK_EXAMPLES)
    check.add_argument("folder", type=Path, help="folder with models, its subfolders included")
    add_library_option(check)
    check.set_defaults(run=run_check)


def run_show(options: argparse.Namespace) -> int:
    model = read_model(options.model, options.ldraw_library)
    large = len(model.assembly.bricks) > _QUICK_BRICKS
    fingers = options.fingers or ("none" if large else "stock")
    with Activity("looking at the model").running():
        summary = summarise(model.assembly, model.catalogue, finger_set(fingers))
    print_summary(summary, fingers)
    if fingers == "none" and options.fingers is None:
        print("order     not looked at: a large model (--fingers stock does)")
    if not options.no_picture:
        out = options.out or Path(f"{model.assembly.name}.png")
        write_bytes(out, picture(model))
        print(f"picture   {out}")
    return 0


def finger_set(name: str) -> FingerClearance | None:
    """The configured robot's gripper with a set of fingertips; None for ``none``."""
    if name == "none":
        return None
    robot = load_robot_config(load_default("cell", CellConfig).robot).gripper
    own = robot.clearance(load_default("skills", SkillsConfig).finger_slack_m)
    return load_default("bricks", BricksConfig).fingers(name, own)


def picture(model: Model) -> bytes:
    """A PNG of the whole model in the view of the manual."""
    plate = load_default("cell", CellConfig).plate
    placed, plate = model_on_plate(model.assembly, model.catalogue, plate)
    config = load_default("manual", ManualConfig).changed("manual", width=1024, height=1024)
    (page,) = render_pages(
        [list(placed.bricks)], plate, model.catalogue, model.catalogue.colours, config, numbers=[0]
    )
    return page.png


def print_summary(summary: Summary, fingers: str) -> None:
    assembly = summary.assembly
    wide, deep = summary.size_studs
    x, y, z = (1e3 * length for length in summary.size_m)
    print(f"{assembly.name}: {assembly.title}")
    if assembly.author:
        print(f"author    {assembly.author} ({assembly.licence or 'no licence named'})")
    kinds = len({line.part for line in summary.parts})
    colours = len({line.colour for line in summary.parts})
    steps = f"{assembly.n_steps} steps" if assembly.has_steps else "no steps"
    print(f"bricks    {len(assembly.bricks)} of {kinds} parts in {colours} colours, {steps}")
    print(
        f"size      {wide:.1f} x {deep:.1f} studs, {x:.0f} x {y:.0f} x {z:.0f} mm, {1e3 * summary.mass_kg:.0f} g"
    )
    print_parts(summary)
    studs = sum(joint.studs for joint in summary.joints)
    print(f"joints    {len(summary.joints)} by {studs} studs; largest of {len(summary.groups)} groups: "
          f"{len(summary.groups[0])} bricks")  # fmt: skip
    print_subassemblies(summary)
    for line in problems(summary, fingers):
        print(line)


def print_parts(summary: Summary) -> None:
    table = Table()
    for column in ("count", "part", "description", "colour", "simulated"):
        table.add_column(column, justify="right" if column == "count" else "left")
    for line in summary.parts:
        physical = "yes" if line.physical else "no"
        table.add_row(
            str(line.count), line.part, line.description, f"{line.colour} {line.colour_name}", physical
        )
    Console().print(table)


def print_subassemblies(summary: Summary) -> None:
    counts = Counter((s.name, s.bricks, s.pieces) for s in summary.subassemblies)
    for (name, bricks, pieces), count in sorted(counts.items())[:_SHOWN]:
        times = f" ({count} times)" if count > 1 else ""
        held = "holds together" if pieces == 1 else f"{pieces} groups by studs"
        print(f"submodel  {name}{times}: {bricks} bricks, {held}")
    if len(counts) > _SHOWN:
        print(f"submodel  … and {len(counts) - _SHOWN} more")


def problems(summary: Summary, fingers: str) -> Iterator[str]:
    """One line a problem, long lists cut short."""
    where = {brick.id: f"{brick.id} ({brick.part}, {brick.where})" for brick in summary.assembly.bricks}
    if summary.loose:
        yield (f"loose     {len(summary.loose)} bricks joined by no stud to the rest (clips, pins and axles are not "
               f"looked at): {_first([where[name] for name in summary.loose])}")  # fmt: skip
    for overlap in summary.overlaps[:_SHOWN]:
        yield (f"overlap   {where[overlap.first_id]} and {where[overlap.second_id]} share "
               f"{1e3 * overlap.depth_m:.1f} mm")  # fmt: skip
    mirrored = [where[brick.id] for brick in summary.assembly.bricks if brick.mirrored]
    if mirrored:
        yield f"mirrored  {len(mirrored)} bricks by a mirrored or scaled matrix: {_first(mirrored)}"
    for note in summary.assembly.notes[:_SHOWN]:
        yield f"note      {note}"
    if summary.checks is not None:
        good = sum(check.ok for check in summary.checks)
        yield f"order     {good} of {len(summary.checks)} bricks can be placed in turn with {fingers} fingertips"
        for problem in BuildProblem:
            found = [where[check.brick_id] for check in summary.checks if problem in check.problems]
            if found:
                yield f"          {len(found)} {problem.value}: {_first(found)}"


def _first(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (" …" if len(names) > 3 else "")


def run_check(options: argparse.Namespace) -> int:
    """Every model by itself: a bad one does not keep the others from being looked at."""
    library = LDrawLibrary.find(options.ldraw_library)
    began = time.monotonic()
    bad: list[str] = []
    table = Table()
    for column in ("model", "bricks", "steps", "parts", "joints", "groups", "overlaps", "notes"):
        table.add_column(column, justify="left" if column == "model" else "right", overflow="fold")
    paths = model_files(options.folder)
    for path in track(paths, "checking models"):
        try:
            table.add_row(str(path.relative_to(options.folder)), *_row(path, library))
        except JarvisError as error:
            bad.append(error.line())
    Console().print(table)
    for line in bad:
        print(f"bad       {line}")
    print(f"{len(paths) - len(bad)} of {len(paths)} models are read ({time.monotonic() - began:.1f} s)")
    return 1 if bad else 0


def _row(path: Path, library: LDrawLibrary | None) -> list[str]:
    assembly = read_assembly(path, library=library)
    found = summarise(assembly, PartCatalogue.for_model(path, library))
    numbers = (
        len(assembly.bricks),
        assembly.n_steps,
        len({line.part for line in found.parts}),
        len(found.joints),
        len(found.groups),
        len(found.overlaps),
        len(assembly.notes),
    )
    return [str(number) for number in numbers]


def model_files(folder: Path) -> list[Path]:
    """All model files under a folder, sorted.

    Raises:
        BadInputError: no folder, one that can't be read, or nothing in it.
    """
    if not folder.is_dir():
        raise BadInputError("is no folder", where=str(folder), fix="name a folder with .ldr or .mpd files")
    unreadable: list[OSError] = []
    found = [
        Path(place) / name
        for place, _, names in os.walk(folder, onerror=unreadable.append)
        for name in names
        if Path(name).suffix.lower() in SUFFIXES
    ]
    if unreadable:
        raise BadInputError(
            f"can't be read ({unreadable[0].strerror})",
            where=str(unreadable[0].filename),
            fix="check its rights",
        )
    if not found:
        raise BadInputError(f"no {', '.join(SUFFIXES)} files", where=str(folder))
    return sorted(found)
