"""From a design on the grid to a model: in building order, in steps, as an assembly and as a file's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.ldraw.frame import poses_from_ldraw

from jarvis_tasks.generator.config import GeneratorConfig
from jarvis_tasks.generator.grid import Grid, GridError, Part
from jarvis_tasks.generator.sequence import building_order, building_steps
from jarvis_tasks.generator.shapes import PLATE_LDU, STUD_LDU


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """A model that the cell can build.

    Attributes:
        assembly: as reading ``text`` gives it.
        text: of the model file, with the stages as comments.
    """

    assembly: Assembly
    text: str


def finish(
    grid: Grid, name: str, title: str, catalogue: PartCatalogue, config: GeneratorConfig, note: str = ""
) -> BuiltModel:
    """Order a design, cut it into steps and write it down.

    Args:
        name: file stem. note: a comment in the file's head.

    Raises:
        GridError: a part on nothing, a design larger than the plate, or one that can't be built from above.
    """
    parts = _centred(grid.parts, config)
    bricks = _bricks(parts)
    order = building_order(parts, bricks, catalogue, config.fingers)
    steps = building_steps(order, parts, config.step_bricks)
    lines = _head(name, title, note, config)
    built: list[Brick] = []
    stage = ""
    for number, step in enumerate(steps, start=1):
        named = grid.stages[parts[step[0]].stage] if grid.stages else ""
        if named and named != stage:
            lines.append(f"0 // {named}")
            stage = named
        for index in step:
            lines.append(_line(parts[index]))
            built.append(
                msgspec.structs.replace(
                    bricks[index], id=f"b{len(built) + 1:03d}", step=number, where=f"{name}.mpd:{len(lines)}"
                )
            )
        lines.append("0 STEP")
    lines.append("0 NOFILE")
    assembly = Assembly(name, title, config.author, config.licence, True, tuple(built))
    return BuiltModel(assembly, "\n".join(lines) + "\n")


def _head(name: str, title: str, note: str, config: GeneratorConfig) -> list[str]:
    return [
        f"0 FILE {name}.ldr",
        f"0 {title}",
        f"0 Name: {name}.ldr",
        f"0 Author: {config.author}",
        "0 !LDRAW_ORG Unofficial_Model",
        f"0 !LICENSE {config.licence}",
        *([f"0 // {note}"] if note else []),
        "",
    ]


def _centred(parts: Sequence[Part], config: GeneratorConfig) -> list[Part]:
    """The same design with its middle at x = y = 0; raises GridError if it is too large."""
    if not parts:
        raise GridError("a design without parts")
    cells = [cell for part in parts for cell in part.cells]
    lows = [min(cell[axis] for cell in cells) for axis in range(3)]
    highs = [max(cell[axis] for cell in cells) + 1 for axis in range(3)]
    limits = (config.plate_studs, config.plate_studs, config.height_plates)
    if lows[2] < 0 or any(high - low > most for low, high, most in zip(lows, highs, limits, strict=True)):
        size = [high - low for low, high in zip(lows, highs, strict=True)]
        raise GridError(f"a design of {size[0]} x {size[1]} studs, {size[2]} plates high, is too large")
    dx, dy = ((low + high) // 2 for low, high in zip(lows[:2], highs[:2], strict=True))
    return [Part(p.part, p.colour, p.turn, (p.at[0] - dx, p.at[1] - dy, p.at[2]), p.stage) for p in parts]


#: cosine and sine of quarter turns
_QUARTERS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def _placement(part: Part) -> list[int]:
    """x y z and the rows of the matrix, as in a type 1 line. LDraw's y is our -z, its z our y."""
    x, y, z = part.at
    dx, dy, dz = part.shape.origin
    c, s = _QUARTERS[part.turn]
    place = [x * STUD_LDU + dx, -(z * PLATE_LDU + dz), y * STUD_LDU + dy]
    return [*place, c, 0, -s, 0, 1, 0, s, 0, c]


def _bricks(parts: Sequence[Part]) -> list[Brick]:
    """With the poses that a reader of the file finds, to the last bit."""
    matrices = np.tile(np.eye(4), (len(parts), 1, 1))
    numbers = np.array([_placement(part) for part in parts], dtype=np.float64)
    matrices[:, :3, 3], matrices[:, :3, :3] = numbers[:, :3], numbers[:, 3:].reshape(-1, 3, 3)
    poses = [found[0] for found in poses_from_ldraw(matrices) if found is not None]
    return [
        Brick(f"b{number:03d}", part.part, part.colour, pose, 1)
        for number, (part, pose) in enumerate(zip(parts, poses, strict=True), start=1)
    ]


def _line(part: Part) -> str:
    return f"1 {part.colour} {' '.join(map(str, _placement(part)))} {part.part}.dat"
