"""Assemblies to model files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from jarvis_core.files import write_text
from jarvis_core.pose import FloatArray

from jarvis_bricks.assembly import Assembly, Brick, StepView
from jarvis_bricks.ldraw.document import MAIN_COLOUR
from jarvis_bricks.ldraw.frame import pose_to_ldraw


def write_assembly(path: Path, assembly: Assembly) -> None:
    """Write a build as a model file, whole or not at all: flat as .ldr, with its submodels as .mpd.

    Reading it again gives the same parts, colours, steps, views, mirrored and scaled matrices and (to 1e-8 m) poses;
    a build in submodels also the same order. Parts inside the original file are written too, as sections.
    """
    header = [
        f"0 {assembly.title}",
        f"0 Name: {path.name}",
        f"0 Author: {assembly.author}",
        f"0 !LICENSE {assembly.licence}",
        *assembly.colours,
        "",
    ]
    writer = _Writer(assembly, nested=path.suffix.lower() == ".mpd")
    lines = header + writer.main()
    if writer.sections or assembly.inline_parts or path.suffix.lower() == ".mpd":
        lines.insert(0, f"0 FILE {_main_name(path, assembly)}")
    for name, section in writer.sections.items():
        lines += ["", f"0 FILE {name}", *section]
    for part in assembly.inline_parts:
        lines += ["", part.text]
    write_text(path, "\n".join(lines) + "\n")


def _main_name(path: Path, assembly: Assembly) -> str:
    """A name for the main section that no other section has."""
    taken = {use.name for use in assembly.submodels} | {part.name for part in assembly.inline_parts}
    name = f"{path.stem}.ldr"
    return f"main {name}" if name.lower() in taken else name


class _Writer:
    """Turns the tree of submodels into sections; equal ones are written once."""

    def __init__(self, assembly: Assembly, *, nested: bool) -> None:
        self.sections: dict[str, list[str]] = {}
        self._assembly = assembly
        self._views = {view.step: view for view in assembly.views}
        self._inline = {part.name for part in assembly.inline_parts}
        self._children: dict[int, list[int]] = {}
        for index, use in enumerate(assembly.submodels if nested else ()):
            if use.count:
                self._children.setdefault(use.parent, []).append(index)

    def main(self) -> list[str]:
        return self._section(-1, 0, len(self._assembly.bricks), np.eye(4))

    def _section(self, use: int, first: int, count: int, placement: FloatArray) -> list[str]:
        """The lines of the main model or of one use of a submodel, its own frame placed at ``placement``."""
        inverse = np.linalg.inv(placement)
        children = {self._assembly.submodels[child].first: child for child in self._children.get(use, ())}
        steps = _Steps(self._views, written=self._assembly.has_steps)
        index = first
        while index < first + count:
            child = children.get(index)
            brick = self._assembly.bricks[index]
            if child is None:
                steps.brick(brick, self._line(brick, inverse))
                index += 1
                continue
            # What is built before the submodel must not be in the step that refers to it.
            steps.end()
            inner = self._assembly.submodels[child]
            steps.lines.append(self._reference(child, inverse))
            index += inner.count
        steps.end()
        return steps.lines

    def _line(self, brick: Brick, inverse: FloatArray) -> str:
        # A part inside the file may have any name.
        name = brick.part if brick.part in self._inline else f"{brick.part}.dat"
        return _type_1(brick.colour, inverse @ pose_to_ldraw(brick.pose, brick.stretch), name)

    def _reference(self, child: int, inverse: FloatArray) -> str:
        inner = self._assembly.submodels[child]
        placement = np.eye(4)
        placement[:3, 3] = inner.placement[:3]
        placement[:3, :3] = np.reshape(inner.placement[3:], (3, 3))
        lines = [f"0 {inner.title}", *self._section(child, inner.first, inner.count, placement)]
        name, number = inner.name, 1
        while self.sections.get(name, lines) != lines:
            number += 1
            name = f"{number} {inner.name}"
        self.sections[name] = lines
        return _type_1(MAIN_COLOUR, inverse @ placement, name)


class _Steps:
    """The lines of one section, with its steps ended as they come."""

    def __init__(self, views: dict[int, StepView], *, written: bool) -> None:
        self.lines: list[str] = []
        self._views = views
        self._written = written
        self._open: int | None = None
        self._turned: tuple[tuple[float, float, float], str] | None = None

    def brick(self, brick: Brick, line: str) -> None:
        if self._open not in (None, brick.step):
            self.end()
        self._open = brick.step
        self.lines.append(line)

    def end(self) -> None:
        """End the step of the bricks written last, if any."""
        if self._open is not None and self._written:
            view = self._views.get(self._open)
            turn = (view.angles_deg, view.kind) if view is not None else None
            if turn == self._turned:
                self.lines.append("0 STEP")
            elif turn is None:
                self.lines.append("0 ROTSTEP END")
            else:
                self.lines.append(f"0 ROTSTEP {' '.join(_number(a) for a in turn[0])} {turn[1]}")
            self._turned = turn
        self._open = None


def _type_1(colour: int, matrix: FloatArray, name: str) -> str:
    return f"1 {colour} {' '.join(_numbers([*matrix[:3, 3], *matrix[:3, :3].reshape(-1)]))} {name}"


def _numbers(values: Sequence[float]) -> Iterator[str]:
    return (_number(float(value)) for value in values)


def _number(value: float) -> str:
    # A rounded -0.0 would print a sign.
    return f"{round(value, 10) + 0.0:.12g}"
