"""How fast manuals and hypotheses are drawn. Prints a table; machines differ and are noisy, so compare runs of one
session. Rounds of everything that is compared are interleaved.

./jarvis shell -c 'python benchmarks/bench_render.py'
./jarvis shell -c 'python benchmarks/bench_render.py --leocad'   (needs the programs leocad and xvfb-run, and LDRAWDIR)
./jarvis shell -c 'python benchmarks/bench_render.py --model castle.mpd --bricks 30 400'
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import numpy as np
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_bricks.ldraw.writing import write_assembly
from jarvis_bricks.library import LDrawLibrary
from jarvis_cli.sources import read_model
from jarvis_core.cell import CameraConfig, CellConfig
from jarvis_core.config import load_default
from jarvis_core.pose import Pose
from jarvis_render.config import ManualConfig
from jarvis_render.gl import shared_context
from jarvis_render.hypotheses import HypothesisRenderer
from jarvis_render.pages import plan_manual, render_pages
from jarvis_tasks.manual import model_on_plate
from rich.console import Console
from rich.table import Table

PAGES = 10
PER_STEP = 2
#: Part, studs along x and y.
SHAPES = (("3001", 4, 2), ("3003", 2, 2), ("3004", 2, 1), ("3020", 4, 2), ("3010", 4, 1))


def town(count: int) -> Assembly:
    """Towers of random bricks, two to a step."""
    generator = np.random.default_rng(count)
    side = max(2, int(np.ceil(np.sqrt(count / 5))))
    heights = np.zeros((side, side))
    bricks = []
    for index in range(count):
        x, y = (int(v) for v in generator.integers(0, side, 2))
        part, nx, ny = SHAPES[int(generator.integers(len(SHAPES)))]
        heights[x, y] += 1
        corner = np.array([x * 4 + nx / 2, y * 2 + ny / 2]) * STUD_PITCH_M
        pose = Pose((corner[0], corner[1], heights[x, y] * BRICK_HEIGHT_M))
        colour = int(generator.choice([0, 1, 2, 4, 14, 15, 19, 47, 71, 72]))
        bricks.append(Brick(f"b{index:03d}", part, colour, pose, index // PER_STEP + 1))
    return Assembly(f"town{count}", f"Town of {count}", "", "", True, tuple(bricks))


class Manual:
    """The last pages of a build, when about so many bricks stand."""

    def __init__(
        self, assembly: Assembly, count: int, catalogue: PartCatalogue, size: int, style: str
    ) -> None:
        plate = load_default("cell", CellConfig).plate
        placed, self.plate = model_on_plate(assembly, catalogue, plate)
        self.catalogue = catalogue
        self.config = (
            load_default("manual", ManualConfig).styled(style).changed("size", width=size, height=size)
        )
        bricks = sorted(placed.bricks, key=lambda b: b.step)[:count]
        start = max(0, len(bricks) - PAGES * PER_STEP)
        last = [bricks[i : i + PER_STEP] for i in range(start, len(bricks), PER_STEP)]
        self.steps: list[Sequence[Brick]] = [bricks[:start], *last]

    def whole(self) -> float:
        """Seconds per page of the whole manual, the choice of views included."""
        began = time.perf_counter()
        colours = self.catalogue.colours
        layout = plan_manual(self.steps, self.plate, self.catalogue, colours, self.config)
        render_pages(self.steps, self.plate, self.catalogue, colours, self.config, None, layout)
        return (time.perf_counter() - began) / len(self.steps)

    def steady(self) -> float:
        """Seconds per page once parts are known and the ground is drawn: from page to page."""
        ends: list[float] = []
        render_pages(
            self.steps,
            self.plate,
            self.catalogue,
            self.catalogue.colours,
            self.config,
            on_page=lambda _: ends.append(time.perf_counter()),
        )
        return float(np.median(np.diff(ends)))


def leocad(path: Path, first: int, last: int, size: int, folder: Path) -> float:
    """Seconds per page of one LeoCAD process that writes some pages."""
    command = ["xvfb-run", "-a", "leocad", "-l", os.environ["LDRAWDIR"], "-i", str(folder / "page.png")]
    command += ["-w", str(size), "-h", str(size), "--camera-angles", "30", "45", "--orthographic"]
    command += [
        "--aa-samples",
        "4",
        "--highlight",
        "--fade-steps",
        "-f",
        str(first),
        "-t",
        str(last),
        str(path),
    ]
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, timeout=600)
    return (time.perf_counter() - began) / (last - first + 1)


def hypotheses(catalogue: PartCatalogue, bricks: Sequence[Brick], size: int) -> float:
    """Seconds per small picture of bricks, each from another place."""
    lens = CameraConfig(
        width=size,
        height=size,
        fov_y_deg=30.0,
        eye=(0.05, -0.5, 0.5),
        target=(0.05, 0.02, 0.02),
        up=(0, 0, 1),
    )
    with HypothesisRenderer(catalogue, catalogue.colours, lens.intrinsics()) as renderer:
        poses = [msgspec.structs.replace(lens, eye=(0.01 * i, -0.5, 0.5)).pose() for i in range(50)]
        renderer.draw(bricks, poses[0])
        began = time.perf_counter()
        for pose in poses:
            renderer.draw(bricks, pose)
        return (time.perf_counter() - began) / len(poses)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="a model file instead of generated towers")
    parser.add_argument("--bricks", type=int, nargs="+", default=[30, 400])
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--style", default="classic")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--leocad", action="store_true", help="compare with LeoCAD")
    options = parser.parse_args()
    if options.leocad and not (
        shutil.which("leocad") and shutil.which("xvfb-run") and "LDRAWDIR" in os.environ
    ):
        sys.exit("--leocad needs the programs leocad and xvfb-run, and LDRAWDIR")
    rows: list[tuple[str, list[float]]] = []
    with tempfile.TemporaryDirectory() as name:
        for count in options.bricks:
            rows += measure(options, count, Path(name))
    console = Console()
    table = Table(title=f"{options.size} px, {options.style}, {shared_context().renderer}")
    for column in ("what", "median", "best", "worst"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for what, times in rows:
        values = (statistics.median(times), min(times), max(times))
        table.add_row(what, *(f"{1e3 * value:.1f} ms" for value in values))
    console.print(table, width=100)
    medians = {what: statistics.median(times) for what, times in rows}
    for what, median in medians.items():
        ours = f"{what.partition(':')[0]}: whole manual, per page"
        if "LeoCAD" in what:
            console.print(f"{what}: {median / medians[ours]:.1f} times our time for the whole manual")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    console.print(f"peak memory of this process {peak:.0f} MB")


def measure(options: argparse.Namespace, count: int, folder: Path) -> list[tuple[str, list[float]]]:
    """Rows of one size of build."""
    path = Path(options.model) if options.model else folder / f"town{count}.ldr"
    if options.model is None:
        write_assembly(assembly=town(count), path=path)
    library = LDrawLibrary.find(None)
    assembly = read_model(str(path), None).assembly
    manual = Manual(assembly, count, PartCatalogue.for_model(path, library), options.size, options.style)
    last = max(brick.step for brick in manual.steps[-1])
    first = max(1, last - len(manual.steps) + 1)
    bricks = [brick for step in manual.steps for brick in step]
    actions: list[tuple[str, Callable[[], float]]] = [
        (f"{count} bricks: page after page", manual.steady),
        (f"{count} bricks: whole manual, per page", manual.whole),
    ]
    if options.leocad:
        size = options.size
        actions += [
            (
                f"{count} bricks: LeoCAD, all pages in one process",
                lambda: leocad(path, first, last, size, folder),
            ),
            (f"{count} bricks: LeoCAD, a process per page", lambda: leocad(path, last, last, size, folder)),
        ]
    actions.append((f"{count} bricks: hypothesis 256x256", lambda: hypotheses(manual.catalogue, bricks, 256)))
    manual.steady()
    times: dict[str, list[float]] = {what: [] for what, _ in actions}
    for _ in range(options.rounds):
        for what, action in actions:
            times[what].append(action())
    return list(times.items())


if __name__ == "__main__":
    main()
