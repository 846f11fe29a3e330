"""Brick structures as lines of text, as BrickGPT writes them.

One brick a line, bottom up, in the order of building: ``2x4 (x,y,z)`` is a brick that covers the cells x, x+1 and
y … y+3 of layer z, all counted from 0; a layer is as high as a brick (A. Pun et al., "Generating Physically Stable and
Buildable Brick Structures from Text", ICCV 2025). There are no colours in it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.pose import Pose

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.ldraw.document import decode_text, read_model_bytes
from jarvis_bricks.parametric import brick_of_size

#: Light bluish grey.
TEXT_COLOUR = 71

_LINE = re.compile(r"(\d{1,3})\s*x\s*(\d{1,3})\s*\(\s*(\d{1,4})\s*,\s*(\d{1,4})\s*,\s*(\d{1,4})\s*\)")


def read_brick_text(path: Path, *, colour: int = TEXT_COLOUR) -> Assembly:
    """Read a file of such lines; every brick is a step of its own. Empty lines are skipped.

    Raises:
        BadInputError: a line of another form, a size that no brick has, or no brick at all; with file:line.
    """
    bricks: list[Brick] = []
    for number, line in enumerate(decode_text(read_model_bytes(path)).splitlines(), start=1):
        if line.strip():
            bricks.append(_brick(line.strip(), len(bricks) + 1, colour, path, number))
    if not bricks:
        raise BadInputError("a model without bricks", where=str(path))
    return Assembly(path.stem, path.stem, "", "", True, tuple(bricks))


def _brick(text: str, count: int, colour: int, path: Path, number: int) -> Brick:
    match = _LINE.fullmatch(text)
    if match is None:
        raise BadInputError(
            f"{text[:40]!r} is no brick", where=f"{path}:{number}", fix="write lines like 2x4 (10,8,0)"
        )
    along_x, along_y, x, y, z = (int(word) for word in match.groups())
    part = brick_of_size(min(along_x, along_y), max(along_x, along_y))
    if part is None:
        raise BadInputError(f"there is no brick of {along_x} x {along_y} studs", where=f"{path}:{number}")
    # The longer side of a part lies along its x axis.
    yaw = np.pi / 2 if along_y > along_x else 0.0
    middle = ((x + along_x / 2) * STUD_PITCH_M, (y + along_y / 2) * STUD_PITCH_M, (z + 1) * BRICK_HEIGHT_M)
    return Brick(
        f"b{count:03d}", part, colour, Pose.from_yaw(middle, yaw), count, False, f"{path.name}:{number}"
    )
