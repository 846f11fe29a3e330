"""A recorded episode's video as a GIF that plays in a README.

./jarvis shell -c 'jarvis run TASK --out results/film'
./jarvis shell -c 'python docs/gallery/film.py results/film/EPISODE/video.mp4 docs/gallery/build.gif'
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from jarvis_core.files import atomic_path
from PIL import Image

#: Frames that the palette is made from.
PALETTE_FRAMES = 8


def frames(path: Path) -> Iterator[Image.Image]:
    video = cv2.VideoCapture(str(path))
    while True:
        ok, bgr = video.read()
        if not ok:
            return
        yield Image.fromarray(cv2.cvtColor(bgr, cv2.COLOR_BGR2RGB))


def common_palette(pictures: list[Image.Image], colours: int) -> Image.Image:
    """An image with the palette that suits them all: frames then differ only where something moves."""
    chosen = pictures[:: max(1, len(pictures) // PALETTE_FRAMES)]
    sheet = Image.fromarray(np.concatenate([np.asarray(picture) for picture in chosen]))
    # The bricks are a few pixels: a palette by numbers of pixels would leave their colours out.
    return sheet.quantize(colours, method=Image.Quantize.MAXCOVERAGE)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("video", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=30.0, help="how long it lasts")
    parser.add_argument("--frames", type=int, default=150)
    parser.add_argument("--colours", type=int, default=128)
    parser.add_argument(
        "--crop", type=float, nargs=4, default=(0.14, 0.12, 0.96, 0.86), help="left top right bottom, shares"
    )
    options = parser.parse_args()
    whole = list(frames(options.video))
    if not whole:
        raise SystemExit(f"{options.video}: no video that can be read")
    size = np.array([whole[0].width, whole[0].height] * 2)
    window = tuple((size * options.crop).astype(int).tolist())
    taken = [picture.crop(window) for picture in whole]
    picks = np.linspace(0, len(taken) - 1, min(options.frames, len(taken))).round().astype(int)
    height = round(options.width * taken[0].height / taken[0].width)
    pictures = [taken[i].resize((options.width, height), Image.Resampling.LANCZOS) for i in picks.tolist()]
    palette = common_palette(pictures, options.colours)
    drawn = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    lasts = [round(1000 * options.seconds / len(drawn))] * (len(drawn) - 1) + [2000]
    with atomic_path(options.out) as path:
        drawn[0].save(
            path, format="GIF", save_all=True, append_images=drawn[1:], duration=lasts, loop=0, optimize=False
        )
    print(f"{options.out}: {len(drawn)} frames, {options.out.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
