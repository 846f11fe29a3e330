"""Ten pictures of the embedded simulator on one sheet.

./jarvis shell -c 'python docs/gallery/scenes.py docs/gallery/scenes.jpg'
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import cv2
import msgspec
import numpy as np
import numpy.typing as npt
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_core.files import atomic_path
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from jarvis_episode.settings import Settings
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import TASK_SCHEMA, PlacedBrick, Task
from PIL import Image, ImageDraw

Rgb = npt.NDArray[np.uint8]
PARTS, COLOURS = ("3001", "3003", "3004", "3010", "3020", "3022", "3039"), (4, 1, 14, 2, 15)
WIDTH, HEIGHT, TITLE, COLUMNS = 400, 300, 22, 5
LOOSE = 10
#: What the gripper's camera sees nearer than this is the hand itself.
HAND_M = 0.25


def house(layers: int, *, solid: bool = False) -> tuple[PlacedBrick, ...]:
    """Rows of 2x4 bricks: a wall around a yard, or a solid block."""
    bricks = []
    for i in range(128 * layers):
        layer, rest = divmod(i, 128)
        row, column = divmod(rest, 8)
        if not solid and (row not in (4, 11) or not 2 <= column <= 5):
            continue
        x, y = (4 * column - 14) * STUD_PITCH_M, (2 * row - 15) * STUD_PITCH_M
        pose = Pose((x, y, (layer + 1) * BRICK_HEIGHT_M))
        bricks.append(PlacedBrick(f"s{i}", "3001", COLOURS[(i * 7 // 3) % 5], pose, 0, GROUND, ()))
    return tuple(bricks)


def tower(catalogue: PartCatalogue, count: int) -> tuple[PlacedBrick, ...]:
    """Loose bricks whose places are one above the other on the plate's left."""
    bricks, height = [], 0.0
    for i in range(count):
        low, high = catalogue.geometry(PARTS[i % len(PARTS)]).bounds
        pose = Pose((0.012 * (i % 2) - 0.08, -0.08, height - float(low[2])))
        bricks.append(PlacedBrick(f"t{i}", PARTS[i % len(PARTS)], COLOURS[i % 5], pose, 1, GROUND, ()))
        height += float(high[2] - low[2])
    return tuple(bricks)


class Studio:
    """Makes worlds and takes their pictures."""

    def __init__(self) -> None:
        self.settings, self.catalogue = Settings.load(), PartCatalogue()
        self.loose = tower(self.catalogue, LOOSE)

    def world(
        self,
        scene: tuple[PlacedBrick, ...],
        layout: dict[str, object],
        vary: dict[str, object] | None = None,
        seed: int = 3,
    ) -> SimWorld:
        task = Task(TASK_SCHEMA, "scenes", "scenes", "", "", "", (1, 1), scene, self.loose)
        sim, replace = self.settings.sim, msgspec.structs.replace
        looks = replace(sim.looks, vary=replace(sim.looks.vary, **vary or {}))
        sim = replace(sim, layout=replace(sim.layout, **layout), looks=looks)
        world = SimWorld(task, self.settings.cell, sim, self.catalogue, seed)
        world.advance(0.5)
        return world

    def shot(self, camera: str, layout: dict[str, object], vary: dict[str, object] | None = None) -> Rgb:
        world = self.world(house(2), layout, vary)
        picture = world.cameras.picture(camera)
        world.close()
        return picture

    def large(self) -> Rgb:
        world = self.world(house(4, solid=True)[:400], {"kind": "random"})
        picture = world.cameras.picture("overview")
        world.close()
        return picture

    def from_the_hand(self, *, depth: bool) -> Rgb:
        """Over the loose bricks, 25 cm above the table."""
        world = self.world(house(2), {"kind": "random"})
        world.arm.place(np.array(world.arm.robot.config.ready_rad), 0.06)
        for i, brick in enumerate(self.loose[:5]):
            tool = world.arm.tool().position
            world.move(
                brick.id, Pose.from_yaw((tool[0] + 0.03 * (i - 2), tool[1] + 0.02 * (-1) ** i, 0.02), i)
            )
        world.advance(0.3)
        frame = world.cameras.capture("gripper")
        world.close()
        return as_colours(frame.depth_m) if depth else frame.rgb

    def toppled(self) -> Rgb:
        """Ten bricks stacked without being pressed on, and one thrown at them."""
        world = self.world((), {"kind": "random"}, seed=5)
        height = 0.0
        for i, brick in enumerate(self.loose[:-1]):
            low, high = self.catalogue.geometry(brick.part).bounds
            middle = 0.5 * (low + high)
            place = (0.45 - middle[0] + 0.002 * (i % 3), -0.15 - middle[1], height - float(low[2]))
            world.move(brick.id, Pose(place))
            height += float(high[2] - low[2])
        world.move(self.loose[-1].id, Pose((0.45, -0.30, 0.05)))
        world.throw(self.loose[-1].id, (0.0, 1.6, 0.6))
        world.advance(2.0)
        picture = world.cameras.picture("overview")
        world.close()
        return picture


def as_colours(depth_m: npt.NDArray[np.float32]) -> Rgb:
    """Near is yellow (all of the hand is), far is blue; black where nothing is measured."""
    seen = depth_m > 0
    low, high = np.quantile(depth_m[depth_m > HAND_M], (0.01, 0.95))
    near = np.clip((high - depth_m) / max(high - low, 1e-6), 0.0, 1.0)
    coloured = cv2.applyColorMap(np.asarray(255 * near, np.uint8), cv2.COLORMAP_VIRIDIS)
    coloured[~seen] = 0
    return np.asarray(cv2.cvtColor(coloured, cv2.COLOR_BGR2RGB), np.uint8)


def scenes(studio: Studio) -> dict[str, Callable[[], Rgb]]:
    varied: dict[str, object] = {"light_deg": 20.0, "light_share": 0.3, "colour": 0.12, "texture": 0.5}
    return {
        "layout: random": lambda: studio.shot("top", {"kind": "random"}),
        "layout: sorted": lambda: studio.shot("top", {"kind": "sorted"}),
        "layout: cluttered": lambda: studio.shot("top", {"kind": "cluttered"}),
        "layout: hard": lambda: studio.shot("top", {"kind": "hard"}),
        "distractors: 6": lambda: studio.shot("top", {"kind": "random", "distractors": 6}),
        "lights, colours, texture by seed": lambda: studio.shot("overview", {"kind": "random"}, varied),
        "400 bricks": studio.large,
        "gripper camera": lambda: studio.from_the_hand(depth=False),
        "gripper camera: depth": lambda: studio.from_the_hand(depth=True),
        "a pile, toppled": studio.toppled,
    }


def sheet(pictures: dict[str, Rgb]) -> Image.Image:
    rows = -(-len(pictures) // COLUMNS)
    page = Image.new("RGB", (COLUMNS * WIDTH, rows * (HEIGHT + TITLE)), "white")
    draw = ImageDraw.Draw(page)
    for i, (title, pixels) in enumerate(pictures.items()):
        x, y = i % COLUMNS * WIDTH, i // COLUMNS * (HEIGHT + TITLE)
        page.paste(Image.fromarray(pixels).resize((WIDTH - 4, HEIGHT)), (x + 2, y + TITLE))
        draw.text((x + 6, y + 4), title, fill="black", font_size=14)
    return page


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    options = parser.parse_args()
    pictures = {}
    for title, make in scenes(Studio()).items():
        pictures[title] = make()
        print(title, flush=True)
    with atomic_path(options.out) as path:
        sheet(pictures).save(path, "JPEG", quality=82)


if __name__ == "__main__":
    main()
