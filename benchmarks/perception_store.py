"""What perception made of single pictures, kept one file a picture, so that a killed run goes on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_core.config import config_folder
from jarvis_core.files import read_json, write_json
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenBrick, SeenScene
from jarvis_tasks.task import PlacedBrick
from scipy.optimize import linear_sum_assignment

import jarvis_perception

MATCH_M = 0.008
#: A part with so many symmetries is round: it has no direction to be wrong about.
ROUND = 8


class Tally(msgspec.Struct):
    """What was found of what there is.

    Attributes:
        true, seen, found: bricks there, bricks reported, bricks reported where one is.
        part, colour: of those found, with the right part or colour.
        mm, deg: errors of those with the right part; degrees up to symmetry, without round parts.
        refused: pictures that were refused.
    """

    true: int = 0
    found: int = 0
    seen: int = 0
    part: int = 0
    colour: int = 0
    refused: int = 0
    mm: list[float] = []
    deg: list[float] = []

    def add(self, other: Tally) -> None:
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def row(self) -> list[str]:
        """Bricks, recall, precision, part, colour (shares), position and angle (median / 95th percentile)."""
        shares = [
            self.found / max(self.true, 1),
            self.found / max(self.seen, 1),
            self.part / max(self.found, 1),
            self.colour / max(self.found, 1),
        ]
        spread = [
            f"{np.median(v):.2f} / {np.percentile(v, 95):.2f}" if v else "-" for v in (self.mm, self.deg)
        ]
        return [str(self.true), *(f"{share:.3f}" for share in shares), *spread]


HEAD = ("bricks", "recall", "precision", "part", "colour", "mm 50/95 %", "deg 50/95 %")


class Looked(msgspec.Struct, frozen=True):
    """One picture's result.

    Attributes:
        version: hash of perception's source and configuration.
        ms, loop_ms: processor time of one more look, and of a loop of pure Python just before; None: not timed.
        wrong: what went wrong, in words.
        miscalibrated: the same picture as if from a camera whose calibration is wrong.
    """

    version: str
    number: int
    model: str
    renderer: str
    layout: str
    noise_mm: float
    loose: int
    standing: int
    tally: Tally
    wrong: tuple[str, ...]
    ms: float | None
    loop_ms: float | None
    miscalibrated: dict[str, Tally]


class Store:
    """Results by number of the picture; those of another version count as absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.version = version()
        folder.mkdir(parents=True, exist_ok=True)

    def get(self, number: int) -> Looked | None:
        path = self.file(number, ".json")
        if not path.is_file():
            return None
        looked = read_json(path, Looked)
        return looked if looked.version == self.version else None

    def put(self, looked: Looked) -> None:
        write_json(self.file(looked.number, ".json"), looked)

    def file(self, number: int, suffix: str) -> Path:
        return self.folder / f"{number:04d}{suffix}"


def version() -> str:
    """Of what decides a result: perception's modules and its configuration."""
    digest = hashlib.sha256()
    for path in [
        *sorted(Path(jarvis_perception.__path__[0]).glob("*.py")),
        config_folder() / "perception.yaml",
    ]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def score(loose: Sequence[PlacedBrick], seen: SeenScene, catalogue: PartCatalogue) -> tuple[Tally, list[str]]:
    """Counts of one picture, and what went wrong, in words."""
    tally = Tally(true=len(loose), seen=len(seen.bricks))
    if not seen.bricks:
        return tally, [f"nothing seen of {len(loose)}"] if loose else []
    middles = np.array([_middle(catalogue, brick.part, brick.pose) for brick in seen.bricks])
    truth = np.array([_middle(catalogue, brick.part, brick.pose) for brick in loose])
    distance = np.linalg.norm(truth[:, None, :2] - middles[None, :, :2], axis=2)
    matched: set[int] = set()
    wrong: list[str] = []
    for row, column in zip(*linear_sum_assignment(distance), strict=True):
        if distance[row, column] > MATCH_M:
            continue
        matched.add(int(row))
        wrong += _compared(tally, catalogue, loose[row], seen.bricks[column])
    wrong += [f"{brick.part} missed" for k, brick in enumerate(loose) if k not in matched]
    return tally, wrong


def _compared(tally: Tally, catalogue: PartCatalogue, true: PlacedBrick, brick: SeenBrick) -> list[str]:
    """Count a found brick in."""
    wrong = []
    tally.found += 1
    tally.colour += brick.colour.code == true.colour
    if brick.colour.code != true.colour:
        wrong.append(f"{true.part}: colour {true.colour} seen as {brick.colour.code} {brick.colour.name}")
    if brick.part != true.part:
        return [*wrong, f"{true.part} seen as {brick.part}"]
    tally.part += 1
    geometry = catalogue.geometry(true.part)
    away = np.linalg.norm(
        _middle(catalogue, true.part, brick.pose) - _middle(catalogue, true.part, true.pose)
    )
    tally.mm.append(float(away) * 1e3)
    if len(geometry.symmetries) < ROUND:
        angle = min((true.pose @ Pose(quaternion=q)).angle_to(brick.pose) for q in geometry.symmetries)
        tally.deg.append(float(np.degrees(angle)))
        if tally.deg[-1] > 10.0:
            wrong.append(f"{true.part} turned by {tally.deg[-1]:.0f} deg")
    return wrong


def _middle(catalogue: PartCatalogue, part: str, pose: Pose) -> np.ndarray:
    return pose @ (np.array(catalogue.geometry(part).symmetry_centre) if part != "unknown" else np.zeros(3))
