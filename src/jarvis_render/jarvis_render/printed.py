"""Pages that look printed and scanned."""

from __future__ import annotations

import io

import numpy as np
from jarvis_core.pose import FloatArray
from PIL import Image, ImageFilter

from jarvis_render.config import ManualConfig, PrintConfig

#: The stream of random numbers that says how the whole book lies on the scanner.
_BOOK = 1_000_003


def page_turn(config: ManualConfig) -> FloatArray:
    """(3, 3) where a scanned page's pixels (u, v, 1) land; the identity for pages that aren't scanned."""
    if config.printed is None:
        return np.eye(3)
    generator = np.random.default_rng([abs(config.seed), _BOOK])
    angle = np.radians(generator.uniform(-1.0, 1.0) * config.printed.max_turn_deg)
    cosine, sine = np.cos(angle), np.sin(angle)
    middle = np.array([(config.width - 1) / 2, (config.height - 1) / 2])
    turn = np.eye(3)
    turn[:2, :2] = [[cosine, -sine], [sine, cosine]]
    turn[:2, 2] = middle - turn[:2, :2] @ middle
    return turn


def printed(page: Image.Image, config: ManualConfig, number: int) -> Image.Image:
    """The page as a scanner gives it; ``number`` and the seed decide the grain."""
    look = config.printed
    if look is None:
        return page
    generator = np.random.default_rng([abs(config.seed), number])
    image = _turned(page, page_turn(config))
    blurred = image.filter(ImageFilter.GaussianBlur(look.blur_px * config.unit))
    levels = np.asarray(blurred, dtype=np.float32) / 255
    levels = 1 - (1 - levels) * look.contrast
    levels *= np.array(look.paper_rgb, dtype=np.float32) / 255
    levels *= _vignette(config, look)[:, :, None]
    levels += _grain(config, look, generator)[:, :, None]
    scanned = Image.fromarray((np.clip(levels, 0, 1) * 255).astype(np.uint8))
    buffer = io.BytesIO()
    scanned.save(buffer, format="JPEG", quality=look.jpeg_quality)
    buffer.seek(0)
    return Image.open(buffer).convert("RGB")


def _turned(page: Image.Image, turn: FloatArray) -> Image.Image:
    # Pillow asks where each pixel comes from, with pixel centres at halves.
    back = np.linalg.inv(turn)
    shift = back[:2, 2] + 0.5 - back[:2, :2] @ [0.5, 0.5]
    data = (*back[0, :2], shift[0], *back[1, :2], shift[1])
    return page.transform(
        page.size, Image.Transform.AFFINE, data, Image.Resampling.BICUBIC, fillcolor=(255, 255, 255)
    )


def _vignette(config: ManualConfig, look: PrintConfig) -> FloatArray:
    u = (np.arange(config.width) + 0.5) / config.width * 2 - 1
    v = (np.arange(config.height) + 0.5) / config.height * 2 - 1
    radius2 = (u[None] ** 2 + v[:, None] ** 2) / 2
    shade: FloatArray = (1 - look.vignette * radius2**1.5).astype(np.float32)
    return shade


def _grain(config: ManualConfig, look: PrintConfig, generator: np.random.Generator) -> FloatArray:
    """Fine noise of the sensor and coarser fibres of the paper."""
    fine = generator.standard_normal((config.height, config.width), dtype=np.float32)
    coarse = generator.standard_normal((config.height // 4 + 1, config.width // 4 + 1), dtype=np.float32)
    fibres = np.asarray(
        Image.fromarray(coarse).resize((config.width, config.height), Image.Resampling.BICUBIC)
    )
    grain: FloatArray = look.grain * (0.8 * fine + 0.5 * fibres)
    return grain
