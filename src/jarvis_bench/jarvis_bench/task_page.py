"""A page that shows one task: one HTML file that needs nothing else. It shows the ground truth: for people only."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.colours import ColourTable
from jarvis_core.cell import PlateConfig
from jarvis_core.files import write_text
from jarvis_core.manual import Manual
from jarvis_core.objects import GROUND
from jarvis_render.config import ManualConfig
from jarvis_render.layout import plan_pages
from jarvis_render.pages import encode_png, render_pages
from jarvis_tasks.difficulty import DifficultyScale
from jarvis_tasks.selection import Stratum
from jarvis_tasks.task import PlacedBrick, Task
from PIL import Image

from jarvis_bench.page import environment, manual_pages


@dataclass(frozen=True, slots=True)
class Standing:
    """How hard a task is within the suite it belongs to."""

    suite: str
    stratum: str
    difficulty: float
    scale: DifficultyScale
    strata: tuple[Stratum, ...]


@dataclass(frozen=True, slots=True)
class Pictures:
    """PNGs of the construction, from one side and at one scale."""

    start: bytes
    target: bytes


@dataclass(frozen=True, slots=True)
class PlacedRow:
    """One line of the table of bricks; millimetres in frame ``plate`` and degrees, as text."""

    step: int
    id: str
    part: str
    description: str
    colour_name: str
    swatch: str
    x: str
    y: str
    z: str
    yaw: str
    support: str
    joined: str


@dataclass(frozen=True, slots=True)
class _Gauge:
    """A number of bricks within the pool's range; ``share`` from 0 to 1."""

    name: str
    count: int
    low: int
    high: int
    share: float
    weight: float


def draw_pictures(task: Task, plate: PlateConfig, catalogue: PartCatalogue, config: ManualConfig) -> Pictures:
    """Start and finished construction from the usual side, no brick marked; errors as
    jarvis_render.pages.render_manual."""
    plain = config.changed("a task's pictures", fade=0.0, accent_px=0.0)
    colours = catalogue.colours
    done = [[*task.scene, *task.targets]]
    layout = plan_pages(done, plate.studs, plate.thickness_m, catalogue, plain)
    start, target = (
        render_pages(steps, plate, catalogue, colours, plain, None, layout)[0].png
        for steps in ([list(task.scene)], done)
    )
    # Above the construction there is the word "Start" in the room for a list of parts.
    title_px = layout.grids[0].cell_px
    return Pictures(_without_top(start, title_px), _without_top(target, title_px))


def _without_top(png: bytes, rows: int) -> bytes:
    with Image.open(io.BytesIO(png)) as image:
        return encode_png(image.crop((0, rows, image.width, image.height)))


def millimetres(metres: float) -> str:
    """With one digit, never -0.0."""
    return f"{round(1000 * metres, 1) + 0.0:.1f}"


def degrees(radians: float) -> str:
    """A whole number from -179 to 180, never -0."""
    whole = round(math.degrees(radians))
    return "180" if whole == -180 else str(whole)


def placed_rows(task: Task, manual: Manual, colours: ColourTable) -> list[PlacedRow]:
    """The bricks to place, in build order."""
    known = {(p.part, p.colour): p for p in manual.parts}
    rows = []
    for brick in task.targets:
        part = known.get((brick.part, brick.colour))
        rows.append(_row(brick, part.description if part else "", part.colour_name if part else "", colours))
    return rows


def _row(brick: PlacedBrick, description: str, colour_name: str, colours: ColourTable) -> PlacedRow:
    x, y, z = (millimetres(v) for v in brick.pose.position)
    colour = colours.get(brick.colour) if brick.colour in colours else None
    others = [name for name in brick.connections if name != brick.support]
    return PlacedRow(
        step=brick.step,
        id=brick.id,
        part=brick.part,
        # The library pads its numbers with blanks: "Brick  2 x  4".
        description=" ".join(description.split()) or f"part {brick.part}",
        colour_name=colour_name.replace("_", " ") or f"colour {brick.colour}",
        swatch="#{:02x}{:02x}{:02x}{:02x}".format(*colour.rgb, colour.alpha) if colour is not None else "",
        x=x,
        y=y,
        z=z,
        yaw=degrees(brick.pose.yaw),
        support=_name(brick.support),
        joined=", ".join(_name(name) for name in others) or "–",
    )


def _name(brick: str) -> str:
    return "the plate" if brick == GROUND else brick


def write_task_page(
    path: Path,
    task: Task,
    manual: Manual,
    pictures: Pictures,
    colours: ColourTable,
    standing: Standing | None = None,
) -> None:
    """Write the page, whole or not at all.

    Args:
        colours: that know the task's colours.
        standing: where the task belongs to a suite: without a pool there is no difficulty.
    """
    page = environment().get_template("task.html.j2")
    text = page.render(
        task=task,
        title=task.title or task.model,
        axes=manual.axes,
        start=_data_uri(pictures.start),
        target=_data_uri(pictures.target),
        pages=manual_pages(manual),
        parts=manual.parts,
        rows=placed_rows(task, manual, colours),
        standing=standing,
        gauges=_gauges(task, standing) if standing is not None else [],
    )
    write_text(path, text)


def _gauges(task: Task, standing: Standing) -> Sequence[_Gauge]:
    scale = standing.scale
    return [
        _gauge("Action bricks", len(task.targets), scale.act, 1 - scale.alpha),
        _gauge("Scene bricks", len(task.scene), scale.scene, scale.alpha),
    ]


def _gauge(name: str, count: int, limits: tuple[int, int], weight: float) -> _Gauge:
    low, high = limits
    return _Gauge(name, count, low, high, (count - low) / (high - low) if high > low else 0.0, weight)


def _data_uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
