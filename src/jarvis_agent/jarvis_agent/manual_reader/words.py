"""The page cameras as the manual's words on the plate's axes tell them, to check and to stand in for estimates."""

from __future__ import annotations

import math
import re

import numpy as np
from jarvis_bricks.geometry import BRICK_HEIGHT_M, STUD_PITCH_M
from jarvis_core.pose import FloatArray
from jarvis_render.view import OrthoView, view_axes

from jarvis_agent.manual_reader.page_camera import PageCamera

_NUMBER = r"([+-]?\d+(?:\.\d+)?)"
_SIZE = re.compile(r"Every page is (\d+) x (\d+) pixels")
_VIEW = re.compile(
    rf"(?:Pages? (?P<pages>[\d, -]+) \([^)]*\): )?The plate's origin [^=]*= {_NUMBER}, v = {_NUMBER}.*?"
    rf"\+x moves \({_NUMBER}, {_NUMBER}\).*?\+y moves \({_NUMBER}, {_NUMBER}\).*?"
    rf"1 brick height up moves \({_NUMBER}, {_NUMBER}\)",
    re.DOTALL,
)


def cameras_in_words(axes: str, n_pages: int) -> tuple[PageCamera | None, ...]:
    """One camera per page; None where the words say nothing of it (another program's book) or speak of perspective."""
    found: list[PageCamera | None] = [None] * n_pages
    size = _SIZE.search(axes)
    if size is None:
        return tuple(found)
    for match in _VIEW.finditer(axes):
        numbers = [float(text) for text in match.groups()[1:]]
        camera = PageCamera(_view((int(size[1]), int(size[2])), np.array(numbers)), 1.0)
        for page in _pages(match["pages"], n_pages):
            found[page] = camera
    return tuple(found)


def _pages(text: str | None, n_pages: int) -> list[int]:
    if text is None:
        return list(range(n_pages))
    numbers: list[int] = []
    for run in text.split(","):
        first, _, last = run.strip().partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return [n for n in numbers if n < n_pages]


def _view(size: tuple[int, int], numbers: FloatArray) -> OrthoView:
    """From origin and the steps of a stud along x, along y and of a brick's height up, in pixels."""
    steps = numbers[2:].reshape(3, 2) / np.array([[STUD_PITCH_M], [STUD_PITCH_M], [BRICK_HEIGHT_M]])
    # Rows right and up of the camera, times the scale; rounding has left them nearly square to each other.
    rows = np.array([steps[:, 0], -steps[:, 1]])
    u, stretch, v = np.linalg.svd(rows, full_matrices=False)
    right, up = u @ v
    axes = np.array([right, up, np.cross(right, up)])
    latitude = math.degrees(math.asin(float(np.clip(axes[2, 2], -1.0, 1.0))))
    longitude = math.degrees(math.atan2(float(axes[2, 0]), -float(axes[2, 1])))
    straight = view_axes(latitude, longitude)
    turn = None if np.abs(straight - axes).max() < 2e-3 else tuple((straight.T @ axes).reshape(-1).tolist())
    origin = (float(numbers[0]), float(numbers[1]))
    return OrthoView(*size, latitude, longitude, float(stretch.mean()), (0.0, 0.0, 0.0), origin, turn)
