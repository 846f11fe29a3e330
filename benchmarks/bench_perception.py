"""How well perception sees, over pictures by two renderers: found bricks, parts, colours, poses, time.

    LDRAWDIR=... LDRAW_MODELS=... python benchmarks/bench_perception.py --scenes 40 --out results/perception

Half of the pictures are the simulator's camera's, half come from benchmarks/second_renderer.py. Bricks are drawn from
the parts and colours of real LDraw models (LDRAW_MODELS); without them, from the built-in parts. Truth is the poses the
pictures were drawn from. Each picture's result is stored: a run that was stopped goes on, and looks anew at what an
earlier version of perception saw.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import msgspec
import numpy as np
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.errors import PerceptionRefusedError
from jarvis_core.files import atomic_path, write_json
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenScene
from jarvis_perception.annotate import annotated
from jarvis_perception.perceiver import BrickPerception
from perception_page import plot, write_page
from perception_store import HEAD, Looked, Store, Tally, score
from rendered_scenes import Picture, Scenes, real_kinds
from rich.console import Console
from rich.table import Table
from scipy.spatial.transform import Rotation

#: (metres along x, y, z; degrees about x, y, z; share of the focal length) the camera is wrong by.
WRONG = {
    "as calibrated": ((0, 0, 0), (0, 0, 0), 0.0),
    "5 mm": ((0.005, -0.005, 0.005), (0, 0, 0), 0.0),
    "0.5 deg": ((0, 0, 0), (0.5, -0.5, 0.5), 0.0),
    "focal length 1 %": ((0, 0, 0), (0, 0, 0), 0.01),
    "all three": ((0.005, -0.005, 0.005), (0.5, -0.5, 0.5), -0.01),
    "twice all three": ((-0.01, 0.01, 0.01), (-1.0, 1.0, 1.0), 0.02),
}
#: Bricks of a picture whose look is timed; a usual core's time for the loop that machines are compared by.
CROWD, USUAL_LOOP_MS, LOOP = 20, 60.0, 10**6
#: The time one look may take on a usual core.
GOAL_MS = 250.0


def look(eyes: BrickPerception, picture: Picture, frame: CameraFrame) -> SeenScene:
    """One look, by itself."""
    eyes.forget()
    return eyes.perceive(frame, parts=picture.parts)


def examine(
    eyes: BrickPerception, picture: Picture, catalogue: PartCatalogue, store: Store, miscalibrated: bool
) -> Looked:
    """All that is measured of one picture; it is kept with what was seen where something went wrong."""
    try:
        seen = look(eyes, picture, picture.frame)
    except PerceptionRefusedError as error:
        tally, wrong = Tally(true=len(picture.loose), refused=1), [f"refused: {error.what}"]
    else:
        tally, wrong = score(picture.loose, seen, catalogue)
        if wrong:
            _keep(picture, seen, store.file(picture.number, ".jpg"))
    timed = len(picture.loose) == CROWD
    loop_ms = _milliseconds(_loop) if timed else None
    ms = _milliseconds(lambda: look(eyes, picture, picture.frame)) if timed else None
    return Looked(
        store.version,
        picture.number,
        picture.model,
        picture.renderer,
        picture.layout,
        picture.noise_m * 1e3,
        len(picture.loose),
        picture.standing,
        tally,
        tuple(wrong),
        ms,
        loop_ms,
        {name: _as_if(eyes, picture, by, catalogue) for name, by in WRONG.items()} if miscalibrated else {},
    )


def _milliseconds(action: Callable[[], object]) -> float:
    """Of the processor."""
    began = time.process_time()
    action()
    return (time.process_time() - began) * 1e3


def _loop() -> int:
    """What machines are compared by."""
    total = 0
    for number in range(LOOP):
        total += number
    return total


def _as_if(
    eyes: BrickPerception,
    picture: Picture,
    by: tuple[Sequence[float], Sequence[float], float],
    catalogue: PartCatalogue,
) -> Tally:
    """The picture as if from a camera whose calibration is wrong."""
    shift, turn, focal = by
    frame = picture.frame
    rotation = frame.pose.rotation @ Rotation.from_euler("xyz", turn, degrees=True).as_matrix()
    pose = Pose.from_rotation(frame.pose.position + np.array(shift), rotation)
    k = frame.intrinsics
    other = msgspec.structs.replace(k, fx=k.fx * (1 + focal), fy=k.fy * (1 + focal))
    try:
        seen = look(eyes, picture, replace(frame, pose=pose, intrinsics=other))
    except PerceptionRefusedError:
        return Tally(true=len(picture.loose), refused=1)
    return score(picture.loose, seen, catalogue)[0]


def _keep(picture: Picture, seen: SeenScene, path: Path) -> None:
    """The half of the picture where loose bricks lie, with what was seen drawn over it."""
    drawn = annotated(picture.frame, seen)
    u = [_column(picture.frame, brick.pose) for brick in picture.loose]
    left = int(np.clip(np.mean(u) * 2 - 360, 0, drawn.shape[1] - 720))
    done, data = cv2.imencode(
        ".jpg", cv2.cvtColor(drawn[:, left : left + 720], cv2.COLOR_RGB2BGR), [cv2.IMWRITE_JPEG_QUALITY, 75]
    )
    if not done:
        raise RuntimeError(f"{path}: the picture could not be encoded")
    with atomic_path(path) as temporary:
        temporary.write_bytes(data.tobytes())


def _column(frame: CameraFrame, pose: Pose) -> float:
    x, _, z = (frame.pose.inverse() @ pose.position[None])[0]
    return float(frame.intrinsics.fx * x / z + frame.intrinsics.cx)


def grouped(results: Sequence[Looked]) -> dict[str, Tally]:
    """Sums over all pictures and over those of a kind."""
    tallies: dict[str, Tally] = defaultdict(Tally)
    for looked in results:
        for name in _kinds_of(looked):
            tallies[name].add(looked.tally)
    first = [name for name in ("all", "simulator", "second") if name in tallies]
    return {name: tallies[name] for name in [*first, *sorted(set(tallies) - set(first))]}


def _kinds_of(looked: Looked) -> Iterator[str]:
    yield "all"
    yield looked.renderer
    yield f"layout {looked.layout}"
    yield f"noise {looked.noise_mm:.1f} mm"
    yield "over 100 scene bricks" if looked.standing > 100 else "up to 100 scene bricks"


def tables(results: Sequence[Looked]) -> list[tuple[str, tuple[str, ...], list[list[str]]]]:
    """Title, head and rows of everything worth telling."""
    seen = [[name, *tally.row()] for name, tally in grouped(results).items()]
    sums: dict[str, Tally] = defaultdict(Tally)
    for looked in results:
        for name, tally in looked.miscalibrated.items():
            sums[name].add(tally)
    wrong = [[name, str(tally.refused), *tally.row()] for name, tally in sums.items()]
    timed = [(one.ms, one.ms * USUAL_LOOP_MS / one.loop_ms) for one in results if one.ms and one.loop_ms]
    ms = [
        [what, *(f"{function(values):.0f}" for values in zip(*timed, strict=True)), f"{GOAL_MS:.0f}"]
        for what, function in (("median", np.median), ("95 %", lambda v: np.percentile(v, 95)))
        if timed
    ]
    return [
        (f"What is seen in {len(results)} pictures", ("pictures", *HEAD), seen),
        ("With a calibration that is wrong by", ("wrong by", "refused", *HEAD), wrong),
        (f"One look at {CROWD} loose bricks ({len(timed)})", ("ms", "here", "usual core", "goal"), ms),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--scenes", type=int, default=40)
    parser.add_argument("--first-model", type=int, default=10, help="so many LDraw models are left out")
    parser.add_argument("--models", type=int, default=10, help="LDraw models to draw parts from")
    parser.add_argument("--wrong-every", type=int, default=10, help="a wrong calibration is tried so often")
    parser.add_argument("--out", type=Path, default=Path("results/perception"))
    parser.add_argument("--report", action="store_true", help="of what is stored; looks at nothing")
    given = parser.parse_args()
    store = Store(given.out / "scenes")
    results = [found for number in range(given.scenes) if (found := store.get(number)) is not None]
    missing = sorted(set(range(given.scenes)) - {one.number for one in results})
    if missing and not given.report:
        catalogue = PartCatalogue(LDrawLibrary.find())
        scenes = Scenes(catalogue, real_kinds(catalogue, given.first_model, given.models))
        eyes = BrickPerception(scenes.cell, scenes.config, catalogue)
        for number in missing:
            picture = scenes.picture(number)
            looked = examine(eyes, picture, catalogue, store, number // 2 % given.wrong_every == 0)
            store.put(looked)
            results.append(looked)
            words = f"{looked.model} {looked.renderer} {looked.layout} {looked.loose}+{looked.standing}"
            print(f"{number} {words}: {', '.join(looked.wrong) or 'all right'}", flush=True)
    console = Console(width=130)
    made = tables(results)
    for title, head, rows in made:
        table = Table(*head, title=title)
        for row in rows:
            table.add_row(*row)
        console.print(table)
    plot(grouped(results), given.out / "errors.png")
    write_page(given.out / "perception.html", made, results, store, given.out / "errors.png")
    write_json(given.out / "perception.json", [{"title": t, "head": h, "rows": r} for t, h, r in made])


if __name__ == "__main__":
    main()
