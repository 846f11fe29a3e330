"""How well perception sees, over pictures by two renderers: found bricks, parts, colours, poses, time.

    LDRAWDIR=... LDRAW_MODELS=... python benchmarks/bench_perception.py --scenes 40 --out results/perception

Half of the pictures are the simulator's camera's, half come from benchmarks/second_renderer.py. Loose bricks are drawn
from the parts and colours of real LDraw models (LDRAW_MODELS); without them, from the built-in parts. Truth is the
poses the pictures were drawn from.
"""

from __future__ import annotations

import argparse
import os
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import cv2
import matplotlib as mpl
import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.parametric import PARTS
from jarvis_cli.sources import read_model
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.errors import RefusedError
from jarvis_core.files import atomic_path, write_json
from jarvis_core.manual import PartCount
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenBrick, SeenScene
from jarvis_perception.annotate import annotated
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.perceiver import BrickPerception
from jarvis_robot.model import RobotModel
from jarvis_sim.config import CameraLooks, SimConfig
from jarvis_sim.depth_noise import noisy
from jarvis_sim.layout import LooseItem, lay_out
from jarvis_sim.robot import SimCamera
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from rich.console import Console
from rich.table import Table
from scipy.optimize import linear_sum_assignment
from scipy.spatial.transform import Rotation
from second_renderer import SecondRenderer, Weather

LAYOUTS = ("random", "sorted", "cluttered", "hard")
COUNTS = (1, 4, 8, 12, 20, 20, 35, 57)
NOISE_M = (0.0, 0.0, 0.0005, 0.001)
MATCH_M = 0.008
#: A part with so many symmetries is round: it has no direction to be wrong about.
ROUND = 8
#: (metres along x, y, z; degrees about x, y, z; share of the focal length) the camera is wrong by.
WRONG = {
    "as calibrated": ((0, 0, 0), (0, 0, 0), 0.0),
    "5 mm": ((0.005, -0.005, 0.005), (0, 0, 0), 0.0),
    "0.5 deg": ((0, 0, 0), (0.5, -0.5, 0.5), 0.0),
    "focal 1 %": ((0, 0, 0), (0, 0, 0), 0.01),
    "all of them": ((0.005, -0.005, 0.005), (0.5, -0.5, 0.5), -0.01),
}
BUILT_IN_COLOURS = (0, 1, 2, 4, 14, 15, 19, 25, 27, 70, 71, 72)


@dataclass(frozen=True)
class Picture:
    """One picture with its truth."""

    name: str
    renderer: str
    layout: str
    noise_m: float
    frame: CameraFrame
    loose: tuple[PlacedBrick, ...]


@dataclass
class Tally:
    """What was found of what there is."""

    true: int = 0
    found: int = 0
    seen: int = 0
    part: int = 0
    colour: int = 0
    mm: list[float] = field(default_factory=list)
    deg: list[float] = field(default_factory=list)
    ms: list[float] = field(default_factory=list)

    def row(self) -> list[str]:
        """Recall, precision, part, colour (shares), position and angle (median / 95th percentile), time (median)."""
        shares = [
            self.found / max(self.true, 1),
            self.found / max(self.seen, 1),
            self.part / max(self.found, 1),
            self.colour / max(self.found, 1),
        ]
        spread = [
            f"{np.median(v):.2f} / {np.percentile(v, 95):.2f}" if v else "-" for v in (self.mm, self.deg)
        ]
        return [str(self.true), *(f"{share:.3f}" for share in shares), *spread, f"{np.median(self.ms):.0f}"]


HEAD = ("bricks", "recall", "precision", "part", "colour", "mm 50/95 %", "deg 50/95 %", "ms")


class Scenes:
    """Makes pictures."""

    def __init__(
        self, catalogue: PartCatalogue, kinds: Sequence[tuple[str, Sequence[tuple[str, int]]]]
    ) -> None:
        self.cell = load_default("cell", CellConfig)
        self.config = load_default("perception", PerceptionConfig)
        self._sim = load_default("sim", SimConfig)
        self._catalogue = catalogue
        self._kinds = kinds
        self._robot = RobotModel.load(self.cell.robot)
        self._second = SecondRenderer(self.cell, self.config.reference, catalogue)

    def pictures(self, number: int) -> Iterator[Picture]:
        for k in range(number):
            yield self._picture(k)

    def _picture(self, k: int) -> Picture:
        rng = np.random.default_rng(1000 + k)
        layout = LAYOUTS[(k // 2) % len(LAYOUTS)]
        model, kinds = self._kinds[k % len(self._kinds)]
        count = COUNTS[(k // 2) % len(COUNTS)]
        loose, layout = self._loose(rng, layout, kinds, count)
        standing = self._standing(rng, kinds) if k % 4 > 0 else ()
        noise = NOISE_M[(k // 2 + k // 8) % len(NOISE_M)]
        second = k % 2 == 1
        if second:
            frame = self._second.frame((*loose, *standing), Weather.by_chance(rng), rng)
        else:
            frame = self._simulated(loose, standing)
        if noise > 0.0:
            looks = CameraLooks(
                shadows=False, supersample=1, people=False, depth_noise_m=noise, depth_edge_loss=0.3
            )
            frame = replace(frame, depth_m=noisy(frame.depth_m, looks, rng))
        return Picture(f"{k:03d}-{model}", "second" if second else "simulator", layout, noise, frame, loose)

    def _loose(
        self, rng: np.random.Generator, layout: str, kinds: Sequence[tuple[str, int]], count: int
    ) -> tuple[tuple[PlacedBrick, ...], str]:
        """Bricks on the table, as many as find room."""
        while True:
            chosen = [kinds[int(i)] for i in rng.integers(len(kinds), size=count)]
            items = [
                LooseItem(f"b{i:03d}", self._catalogue.geometry(part).bounds, colour=colour)
                for i, (part, colour) in enumerate(chosen)
            ]
            config = msgspec.structs.replace(self._sim.layout, kind=layout)
            try:
                poses = lay_out(items, np.zeros((0, 2)), self.cell.supply, config, rng)
            except RefusedError:
                # No room: closer together first, then fewer.
                layout, count = ("cluttered", count) if layout != "cluttered" else (layout, count * 3 // 4)
                continue
            placed = [
                PlacedBrick(item.id, part, colour, poses[item.id], 1, "plate", ())
                for item, (part, colour) in zip(items, chosen, strict=True)
            ]
            return tuple(placed), layout

    def _standing(
        self, rng: np.random.Generator, kinds: Sequence[tuple[str, int]]
    ) -> tuple[PlacedBrick, ...]:
        """Towers on the plate, poses in ``world``."""
        found = []
        for tower in range(int(rng.integers(1, 7))):
            i, j = rng.integers(-10, 10, 2)
            z = 0.0
            for floor in range(int(rng.integers(1, 5))):
                part, colour = kinds[int(rng.integers(len(kinds)))]
                bounds = self._catalogue.geometry(part).bounds
                half = (bounds[1] - bounds[0])[:2] / 0.016
                corner = np.array([i, j]) * 0.008 + half * 0.008 - (bounds[0] + bounds[1])[:2] / 2
                pose = self.cell.plate.pose @ Pose((*corner, z - bounds[0, 2]))
                found.append(PlacedBrick(f"s{tower}{floor}", part, colour, pose, 0, "plate", ("plate",)))
                z += float(bounds[1, 2] - bounds[0, 2])
        return tuple(found)

    def _simulated(self, loose: Sequence[PlacedBrick], standing: Sequence[PlacedBrick]) -> CameraFrame:
        to_plate = self.cell.plate.pose.inverse()
        scene = tuple(msgspec.structs.replace(b, pose=to_plate @ b.pose) for b in standing)
        # The simulator lays bricks out itself; they are put where they belong afterwards.
        some = tuple(msgspec.structs.replace(b, pose=Pose((0.1, 0.1, 0.05))) for b in loose)
        task = Task(TASK_SCHEMA, "bench", "bench", "", "", "", (1, 1), scene, some)
        config = msgspec.structs.replace(
            self._sim, layout=msgspec.structs.replace(self._sim.layout, kind="cluttered")
        )
        world = SimWorld(task, self.cell, config, self._catalogue, 0, robot=self._robot)
        for brick in loose:
            world.move(brick.id, brick.pose)
        frame = SimCamera(world).capture()
        world.close()
        return frame


def score(tally: Tally, picture: Picture, seen: SeenScene, catalogue: PartCatalogue) -> list[str]:
    """Count one picture in; returns what went wrong, in words."""
    tally.true += len(picture.loose)
    tally.seen += len(seen.bricks)
    wrong: list[str] = []
    if not seen.bricks:
        return [f"nothing seen of {len(picture.loose)}"] if picture.loose else []
    middles = np.array([_middle(catalogue, brick.part, brick.pose) for brick in seen.bricks])
    truth = np.array([_middle(catalogue, brick.part, brick.pose) for brick in picture.loose])
    distance = np.linalg.norm(truth[:, None, :2] - middles[None, :, :2], axis=2)
    matched = set()
    for row, column in zip(*linear_sum_assignment(distance), strict=True):
        true, brick = picture.loose[row], seen.bricks[column]
        if distance[row, column] > MATCH_M:
            continue
        matched.add(int(row))
        tally.found += 1
        tally.colour += brick.colour.code == true.colour
        if brick.colour.code != true.colour:
            wrong.append(f"{true.part}: colour {true.colour} seen as {brick.colour.code} {brick.colour.name}")
        if brick.part != true.part:
            wrong.append(f"{true.part} seen as {brick.part}")
            continue
        tally.part += 1
        away, angle = _errors(catalogue, brick, true)
        tally.mm.append(away * 1e3)
        if len(catalogue.geometry(true.part).symmetries) < ROUND:
            tally.deg.append(float(np.degrees(angle)))
    wrong += [f"{b.part} missed" for k, b in enumerate(picture.loose) if k not in matched]
    return wrong


def _middle(catalogue: PartCatalogue, part: str, pose: Pose) -> np.ndarray:
    return pose @ (np.array(catalogue.geometry(part).symmetry_centre) if part != "unknown" else np.zeros(3))


def _errors(catalogue: PartCatalogue, brick: SeenBrick, true: PlacedBrick) -> tuple[float, float]:
    geometry = catalogue.geometry(true.part)
    away = float(
        np.linalg.norm(_middle(catalogue, true.part, brick.pose) - _middle(catalogue, true.part, true.pose))
    )
    return away, min((true.pose @ Pose(quaternion=q)).angle_to(brick.pose) for q in geometry.symmetries)


def look(eyes: BrickPerception, frame: CameraFrame, parts: Sequence[PartCount], tally: Tally) -> SeenScene:
    """One look, by itself; time is the processor's."""
    eyes.forget()
    began = time.process_time()
    seen = eyes.perceive(frame, parts=parts)
    tally.ms.append((time.process_time() - began) * 1e3)
    return seen


def listed(picture: Picture) -> tuple[PartCount, ...]:
    kinds = sorted({(brick.part, brick.colour) for brick in picture.loose})
    return tuple(PartCount(part, "", colour, "", 1) for part, colour in kinds)


def wrongly(frame: CameraFrame, by: tuple[Sequence[float], Sequence[float], float]) -> CameraFrame:
    """The frame as from a camera whose calibration is wrong."""
    shift, turn, focal = by
    rotation = frame.pose.rotation @ Rotation.from_euler("xyz", turn, degrees=True).as_matrix()
    pose = Pose.from_rotation(frame.pose.position + np.array(shift), rotation)
    k = frame.intrinsics
    better = msgspec.structs.replace(k, fx=k.fx * (1 + focal), fy=k.fy * (1 + focal))
    return replace(frame, pose=pose, intrinsics=better)


def real_kinds(catalogue: PartCatalogue, limit: int) -> list[tuple[str, list[tuple[str, int]]]]:
    """Model names with the (part, colour) pairs that the cell can handle, each as often as the model has it."""
    folder = os.environ.get("LDRAW_MODELS")
    found = []
    for path in sorted(Path(folder).glob("*.mpd"))[:limit] if folder else ():
        bricks = read_model(str(path), None).assembly.bricks
        usable = [(b.part, b.colour) for b in bricks if _usable(catalogue, b.part, b.colour)]
        if len(set(usable)) >= 3:
            found.append((path.stem[:16], usable))
    if not found:
        plain = [part for part in PARTS if catalogue.geometry(part).physical]
        found = [("built-in", [(part, colour) for part in plain for colour in BUILT_IN_COLOURS])]
    return found


def _usable(catalogue: PartCatalogue, part: str, colour: int) -> bool:
    if (
        not catalogue.knows(part)
        or colour not in catalogue.colours
        or catalogue.colours.get(colour).alpha < 255
    ):
        return False
    geometry = catalogue.geometry(part)
    return geometry.physical and float(np.ptp(geometry.bounds[:, :2], axis=0).max()) < 0.1


def table_of(title: str, tallies: dict[str, Tally]) -> Table:
    table = Table("pictures", *HEAD, title=title)
    for name, tally in tallies.items():
        table.add_row(name, *tally.row())
    return table


def plot(tallies: dict[str, Tally], path: Path) -> None:
    """Cumulative shares of position and angle errors."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), constrained_layout=True)
    for axis, unit, goals in ((axes[0], "mm", (0.5, 1.0)), (axes[1], "deg", (1.0, 2.0))):
        for name in ("simulator", "second"):
            values = np.sort(getattr(tallies[name], unit)) if name in tallies else np.zeros(0)
            if len(values):
                axis.plot(
                    values, np.arange(1, len(values) + 1) / len(values), label=f"{name} ({len(values)})"
                )
        for goal, share in zip(goals, (0.5, 0.95), strict=True):
            axis.plot([goal], [share], "k+", markersize=10)
        axis.set(xlabel=f"error, {unit}", ylabel="share of bricks", xlim=(0, goals[1] * 2), ylim=(0, 1.01))
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)


def gallery(failures: Sequence[tuple[Picture, SeenScene, list[str]]], path: Path) -> None:
    """The pictures in which most went wrong, with what was seen drawn over them."""
    worst = sorted(failures, key=lambda item: -len(item[2]))[:4]
    tiles = []
    for picture, seen, wrong in worst:
        tile = annotated(picture.frame, seen)[240:960, 560:1280].copy()
        for line, text in enumerate([picture.name, *wrong[:6]]):
            cv2.putText(
                tile, text, (8, 18 + 16 * line), cv2.FONT_HERSHEY_SIMPLEX, 0.45, (200, 0, 0), 1, cv2.LINE_AA
            )
        tiles.append(tile)
    if not tiles:
        return
    tiles += [np.full_like(tiles[0], 255)] * (-len(tiles) % 2)
    sheet = np.vstack([np.hstack(tiles[k : k + 2]) for k in range(0, len(tiles), 2)])
    done, data = cv2.imencode(".jpg", cv2.cvtColor(sheet, cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 85])
    if not done:
        raise RuntimeError("the gallery could not be encoded")
    with atomic_path(path) as temporary:
        temporary.write_bytes(data.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--models", type=int, default=20, help="LDraw models to draw parts from")
    parser.add_argument(
        "--wrong", type=int, default=6, help="pictures looked at with a wrong calibration too"
    )
    parser.add_argument("--out", type=Path, default=Path("results/perception"))
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    catalogue = PartCatalogue(LDrawLibrary.find())
    scenes = Scenes(catalogue, real_kinds(catalogue, given.models))
    eyes = BrickPerception(scenes.cell, scenes.config, catalogue)
    tallies: dict[str, Tally] = defaultdict(Tally)
    wrong_by: dict[str, Tally] = defaultdict(Tally)
    failures = []
    for number, picture in enumerate(scenes.pictures(given.scenes)):
        parts = listed(picture)
        look(eyes, picture.frame, parts, Tally())  # templates are made at the first look
        seen, wrong = None, []
        groups = ("all", picture.renderer, picture.layout, f"noise {picture.noise_m * 1e3:.1f} mm")
        crowd = ("20 bricks",) if len(picture.loose) == 20 else ()
        for group in (*groups, *crowd):
            seen = seen or look(eyes, picture.frame, parts, tallies[group])
            tallies[group].ms.extend(tallies["all"].ms[-1:] if group != "all" else [])
            wrong = score(tallies[group], picture, seen, catalogue)
        print(
            f"{picture.name} {picture.renderer} {picture.layout} {len(picture.loose)}: {wrong or 'all right'}",
            flush=True,
        )
        if wrong and seen is not None:
            failures.append((picture, seen, wrong))
        if number < given.wrong:
            for name, by in WRONG.items():
                again = look(eyes, wrongly(picture.frame, by), parts, wrong_by[name])
                score(wrong_by[name], picture, again, catalogue)
    console = Console(width=130)
    console.print(table_of("What is seen", tallies))
    console.print(table_of("With a calibration that is wrong by", wrong_by))
    plot(tallies, given.out / "errors.png")
    gallery(failures, given.out / "failures.jpg")
    rows = {name: tally.row() for name, tally in (*tallies.items(), *wrong_by.items())}
    write_json(given.out / "perception.json", {"head": HEAD, "rows": rows})


if __name__ == "__main__":
    main()
