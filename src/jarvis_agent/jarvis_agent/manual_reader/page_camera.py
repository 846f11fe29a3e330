"""The camera of a manual's page, estimated from the page: the plate's axes, its lines and its lattice of studs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.pose import FloatArray
from jarvis_render.view import OrthoView, view_axes

from jarvis_agent.manual_reader.config import CameraSearch

Image = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
#: A page of 512 pixels is the unit of lengths, as in the manuals' own settings.
_UNIT_PX = 512.0


@dataclass(frozen=True, slots=True)
class PageCamera:
    """How a page looks at the plate.

    Attributes:
        view: orthographic; its scale holds for all three axes.
        certain: 0 to 1: the share of the evidence that agrees.
        doubts: what was assumed rather than seen, a sentence each.
    """

    view: OrthoView
    certain: float
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Side:
    """A direction of view with the page's own turn: unit steps of x, y, z on the page (3, 2), v down."""

    latitude_deg: float
    longitude_deg: float
    roll_deg: float

    @property
    def steps(self) -> FloatArray:
        right, up, _ = rolled_axes(self.latitude_deg, self.longitude_deg, self.roll_deg)
        return np.stack([right, -up], axis=1)


def estimate_camera(page: Image, search: CameraSearch) -> PageCamera | None:
    """The camera of one page, None where the plate's axes or its studs are not to be seen.

    Args:
        page: (height, width, 3) uint8.
    """
    masks = [line_pixels(page, rgb, search) for rgb in search.axis_rgb]
    side, doubts = _side(masks, search)
    crossing = _crossing(masks, side, search)
    if crossing is None:
        return None
    side, origin, support = crossing
    stud_px = _stud_distance(page, side, search)
    if stud_px is None:
        return None
    scale, certain = _scale_by_lines(
        line_pixels(page, search.grid_rgb, search), side, origin, stud_px, search
    )
    view = OrthoView(
        page.shape[1],
        page.shape[0],
        side.latitude_deg,
        side.longitude_deg,
        scale / STUD_PITCH_M,
        (0.0, 0.0, 0.0),
        (float(origin[0]), float(origin[1])),
        _turn(side),
    )
    return PageCamera(view, min(certain, support), doubts)


def rolled_axes(latitude_deg: float, longitude_deg: float, roll_deg: float) -> FloatArray:
    """(3, 3): rows right, up, towards the camera, of a page that lies ``roll_deg`` askew (clockwise)."""
    axes = view_axes(latitude_deg, longitude_deg)
    c, s = math.cos(math.radians(roll_deg)), math.sin(math.radians(roll_deg))
    return np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ axes


def _turn(side: _Side) -> tuple[float, ...] | None:
    """The rotation of the scene that makes an upright view of it one that lies askew (see OrthoView)."""
    if side.roll_deg == 0.0:
        return None
    straight = view_axes(side.latitude_deg, side.longitude_deg)
    askew = rolled_axes(side.latitude_deg, side.longitude_deg, side.roll_deg)
    return tuple((straight.T @ askew).reshape(-1).tolist())


def line_pixels(page: Image, rgb: tuple[int, int, int], search: CameraSearch) -> Mask:
    """(height, width) thin things of one hue; large areas of it are bricks."""
    pixels = page.astype(np.float32)
    chroma = pixels - pixels.mean(axis=2, keepdims=True)
    wanted = np.array(rgb, dtype=np.float32) - np.mean(rgb)
    strength = np.linalg.norm(chroma, axis=2)
    cosine = (chroma @ wanted) / np.maximum(strength * np.linalg.norm(wanted), 1e-6)
    mask = (cosine > search.hue_cosine) & (strength > search.least_chroma)
    unit = page.shape[1] / _UNIT_PX
    size = 2 * round(2 * unit) + 1
    solid = cv2.morphologyEx(mask.astype(np.uint8), cv2.MORPH_OPEN, np.ones((size, size), np.uint8))
    thin: Mask = mask & (cv2.dilate(solid, np.ones((size, size), np.uint8)) == 0)
    return thin


def _side(masks: list[Mask], search: CameraSearch) -> tuple[_Side, tuple[str, ...]]:
    """The side the page is seen from, by the arrows of the axes in its lower left corner."""
    height, width = masks[0].shape
    size = round(search.corner_px * width / _UNIT_PX)
    points = [np.argwhere(mask[height - size :, :size])[:, ::-1] for mask in masks]
    usual = _Side(search.latitudes_deg[0], search.longitudes_deg[0], 0.0)
    if min(len(p) for p in points) < search.least_arrow_pixels:
        return usual, ("no arrows of the axes on the page: the usual side is assumed",)
    middles = np.array([p.mean(axis=0) for p in points])
    seen = (middles[:2] - middles[2]).ravel()
    best, least = usual, math.inf
    for latitude in search.latitudes_deg:
        for longitude in search.longitudes_deg:
            option = _Side(latitude, longitude, 0.0)
            expected = (option.steps[:2] - option.steps[2]).ravel()
            length = float(seen @ expected / (expected @ expected))
            left = float(np.linalg.norm(seen - length * expected)) / max(length, 1e-6)
            if 0 < left < least:
                best, least = option, left
    return best, ()


def _crossing(masks: list[Mask], side: _Side, search: CameraSearch) -> tuple[_Side, FloatArray, float] | None:
    """Where the lines of the x and the y axis cross, and how the page lies; None without both lines."""
    height, width = masks[0].shape
    unit = width / _UNIT_PX
    clear = np.ones((height, width), dtype=bool)
    corner = round(search.corner_px * unit)
    clear[height - corner :, :corner] = False
    clear[: round(search.header_px * unit)] = False
    points = [np.argwhere(mask & clear)[:, ::-1].astype(np.float64) for mask in masks[:2]]
    if min(len(p) for p in points) < search.least_line_px * unit:
        return None
    best: tuple[float, float, list[float]] | None = None
    for roll in np.arange(-search.max_roll_deg, search.max_roll_deg + 1e-9, 0.1):
        steps = _Side(side.latitude_deg, side.longitude_deg, float(roll)).steps
        peaks = [_peak(p, step) for p, step in zip(points, steps[:2], strict=True)]
        total = sum(count for count, _ in peaks) - 1e-3 * abs(float(roll))
        if best is None or total > best[0]:
            best = (total, float(roll), [place for _, place in peaks])
    assert best is not None
    _, roll, places = best
    return _fitted(
        points, places, _Side(side.latitude_deg, side.longitude_deg, roll), search.least_line_px * unit
    )


def _normal(step: FloatArray) -> FloatArray:
    return np.array([-step[1], step[0]]) / float(np.linalg.norm(step))


def _peak(points: FloatArray, step: FloatArray) -> tuple[float, float]:
    """How long the line along ``step`` is that most pixels lie on, and its distance from pixel (0, 0)."""
    unit = step / np.linalg.norm(step)
    across, along = points @ _normal(step), points @ unit
    start = math.floor(across.min()) - 1
    rows = np.floor((across - start) * 2).astype(int)
    # Pieces of a line count once each: a thick short stripe is none.
    columns = np.floor((along - along.min()) / 2).astype(int)
    filled = np.zeros((rows.max() + 3, columns.max() + 1), dtype=bool)
    filled[rows + 1, columns] = True
    lengths = (filled[:-2] | filled[1:-1] | filled[2:]).sum(axis=1)
    index = int(lengths.argmax())
    return float(lengths[index]), start + (index + 0.5) / 2


def _fitted(
    points: list[FloatArray], places: list[float], side: _Side, least: float
) -> tuple[_Side, FloatArray, float] | None:
    """Lines through the pixels near the peaks; where they cross."""
    steps, found, turned = side.steps, [], []
    for cloud, step, place in zip(points, steps[:2], places, strict=True):
        near = cloud[np.abs(cloud @ _normal(step) - place) < 1.5]
        along = near @ (step / np.linalg.norm(step))
        if len(near) < least or np.ptp(along) < least:
            return None
        across = near @ _normal(step)
        slope, offset = np.polyfit(along, across, 1)
        found.append((slope, offset, step / np.linalg.norm(step), _normal(step)))
        turned.append((math.degrees(math.atan(slope)), np.ptp(along)))
    rows = np.array([normal - slope * direction for slope, _, direction, normal in found])
    origin = np.linalg.solve(rows, np.array([offset for _, offset, _, _ in found]))
    # The page's turn is what both lines share.
    more = sum(angle * length for angle, length in turned) / sum(length for _, length in turned)
    roll = side.roll_deg - more
    if abs(roll) < 0.12:
        roll = 0.0
    support = min(1.0, min(len(p) for p in points) / (3 * least))
    return _Side(side.latitude_deg, side.longitude_deg, roll), origin, support


def _stud_distance(page: Image, side: _Side, search: CameraSearch) -> float | None:
    """Pixels per stud pitch (before foreshortening): the shortest distance at which the page is like itself."""
    unit = page.shape[1] / _UNIT_PX
    grey = cv2.cvtColor(page, cv2.COLOR_RGB2GRAY).astype(np.float32)
    grey[: round(search.header_px * unit)] = np.median(grey)
    detail = grey - cv2.GaussianBlur(grey, (0, 0), 6 * unit)
    height, width = detail.shape
    spectrum = np.fft.rfft2(detail, (2 * height, 2 * width))
    alike = np.fft.irfft2(np.abs(spectrum) ** 2)
    alike = np.fft.fftshift(alike / alike[0, 0]).astype(np.float32)
    scales = np.arange(search.stud_px[0] * unit, search.stud_px[1] * unit, 0.1)
    total = np.zeros(len(scales))
    for step in side.steps[:2]:
        for count in (1, 2, 3):
            # Alike at whole distances, unlike half way: no multiple and no fraction of the distance is both.
            for distance, sign in ((count, 1), (count - 0.5, -1)):
                u = (width + distance * scales * step[0]).astype(np.float32)
                v = (height + distance * scales * step[1]).astype(np.float32)
                total += sign * cv2.remap(alike, u[None], v[None], cv2.INTER_LINEAR)[0]
    best = int(total.argmax())
    return float(scales[best]) if total[best] > search.least_peak else None


def _scale_by_lines(
    grid: Mask, side: _Side, origin: FloatArray, stud_px: float, search: CameraSearch
) -> tuple[float, float]:
    """The scale made exact by the plate's lines every few studs, and the share of their pixels that fit."""
    points = np.argwhere(grid)[:, ::-1].astype(np.float64) - origin
    cells = points @ np.linalg.inv(side.steps[:2])
    scale, share = stud_px, 1.0
    for tolerance in (0.35, 0.2, 0.12):
        # Pixels of a line x = 4 n say x / n, and those of y = 4 n say y / n.
        numbers = np.round(cells / scale / search.grid_studs)
        off = np.abs(cells / scale - numbers * search.grid_studs)
        near = (off < tolerance) & (numbers != 0) & (off < 0.5 * off[:, ::-1])
        if near.sum() < search.least_line_px:
            return scale, 0.6
        reach = numbers[near] * search.grid_studs
        scale = float((cells[near] @ reach) / (reach @ reach))
        share = float((off.min(axis=1) < tolerance).mean())
    return scale, min(1.0, 0.5 + share / 2)
