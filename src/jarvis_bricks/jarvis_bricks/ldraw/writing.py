"""Assemblies to model files."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from jarvis_core.files import write_text

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.ldraw.frame import pose_to_ldraw


def write_assembly(path: Path, assembly: Assembly) -> None:
    """Write a build as one flat .ldr file, whole or not at all.

    Reading it again gives the same parts, colours, steps and (to 1e-8 m) poses. Parts that lie inside the original
    file are only referenced; a mirrored brick is written as it stands in the assembly, turned.
    """
    lines = [
        f"0 {assembly.title}",
        f"0 Name: {path.name}",
        f"0 Author: {assembly.author}",
        f"0 !LICENSE {assembly.licence}",
        "",
    ]
    for _, bricks in groupby(assembly.bricks, key=lambda brick: brick.step):
        lines.extend(_line(brick) for brick in bricks)
        if assembly.has_steps:
            lines.append("0 STEP")
    write_text(path, "\n".join(lines) + "\n")


def _line(brick: Brick) -> str:
    matrix = pose_to_ldraw(brick.pose)
    numbers = [*matrix[:3, 3], *matrix[:3, :3].reshape(-1)]
    return f"1 {brick.colour} {' '.join(_number(float(n)) for n in numbers)} {brick.part}.dat"


def _number(value: float) -> str:
    # A rounded -0.0 would print a sign.
    return f"{round(value, 10) + 0.0:.12g}"
