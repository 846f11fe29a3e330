"""Loose bricks: every segment explained by one part, or by several that touch."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seen import ColourGuess, SeenBrick, SideUp
from scipy.spatial.transform import Rotation

from jarvis_perception.colours import Palette, white_balanced
from jarvis_perception.config import PerceptionConfig
from jarvis_perception.fit import Fit
from jarvis_perception.identify import Identified, Identifier, covariance_of
from jarvis_perception.patch import Patch, core, cut
from jarvis_perception.peel import peel
from jarvis_perception.split import divisions, two_colours
from jarvis_perception.templates import Templates
from jarvis_perception.view import Mask, View

_PITCH_M, _PLATE_M = 0.008, 0.0032
#: Pieces of a thing are taken apart again, so many times.
_DEEPEST = 3
#: Fewer pixels tell no lean.
_LEAST_FOR_TILT = 30
#: Heights of a pixel and its neighbours differ by less than this on flat places.
_FLAT_M = 0.0003


@dataclass(frozen=True, slots=True)
class Look:
    """What all bricks of one picture are judged with.

    Attributes:
        light: (3,) gain of the colour channels.
        table: pixels of the empty tabletop.
        raised: pixels of anything else.
    """

    view: View
    table: Mask
    raised: Mask
    light: FloatArray
    palette: Palette
    identifier: Identifier
    templates: Templates
    config: PerceptionConfig

    def colour(self, mask: Mask) -> ColourGuess:
        """LDraw colour of what a mask shows, by the highest of its pixels: its top is lit like the table."""
        config = self.config
        rgb = white_balanced(self.view, mask, self.table, self.light, config.reference, config.colour)
        return self.palette.guess(rgb, config.colour.sigma)

    def patch(self, mask: Mask) -> Patch:
        return cut(self.view, mask, self.raised, self.config.segment.window_px)


@dataclass(frozen=True, slots=True)
class Found:
    """A thing before it has an id. ``identified`` is None where no part explains it."""

    mask: Mask
    patch: Patch
    colour: ColourGuess
    identified: Identified | None


def explain(look: Look, mask: Mask, depth: int = 0) -> list[Found]:
    """One brick, or several where that explains a thing better."""
    whole, good = one_thing(look, mask), look.config.fit.good_m
    explained = whole.identified is not None and whole.identified.fit.miss_m < good
    if depth == _DEEPEST or (explained and not two_colours(look.view, mask)):
        return [whole]
    best, badness = [whole], max(_badness(look, [whole]), good if explained else 0.0)
    for division in _divisions(look, mask):
        things = [found for piece in division for found in explain(look, piece, depth + 1)]
        if (left := _badness(look, things)) < badness:
            best, badness = things, left
        if badness < look.config.fit.good_m:
            break
    return best


def _divisions(look: Look, mask: Mask) -> Iterator[list[Mask]]:
    yield from divisions(look.view, mask)
    pieces = peel(look.view, mask, look.raised, look.templates, look.identifier.parts)
    if pieces:
        yield pieces


def one_thing(look: Look, mask: Mask) -> Found:
    """A mask taken for a single brick."""
    patch, colour = look.patch(mask), look.colour(mask)
    return Found(mask, patch, colour, look.identifier.identify(patch, colour.code))


def _badness(look: Look, things: Sequence[Found]) -> float:
    """Mean difference left, weighted by pixels; unexplained things count as the worst allowed, more things as worse."""
    worst = look.config.fit.accept_m
    pixels = np.array([float(t.mask.sum()) for t in things])
    left = np.array([t.identified.fit.miss_m if t.identified else worst for t in things])
    return float((pixels * left).sum() / pixels.sum()) + look.config.fit.more_m * (len(things) - 1)


def seen_brick(look: Look, found: Found, brick_id: str) -> SeenBrick:
    """A thing in the words of the port."""
    if found.identified is None:
        return _unknown(look, found, brick_id)
    best = found.identified.fit
    config, template = look.config.fit, best.template
    pose, tilt = _settled(look, found.patch, best)
    geometry = look.templates.geometry(template.part)
    x, y, z = template.body_m
    points = int(found.patch.mask.sum())
    covariance = covariance_of(found.identified, config, look.view.pixel_m, look.view.noise_m, points)
    return SeenBrick(
        id=brick_id,
        colour=found.colour,
        size_studs=(round(max(x, y) / _PITCH_M, 2), round(min(x, y) / _PITCH_M, 2)),
        height_plates=round(z / _PLATE_M, 2),
        candidates=found.identified.guesses,
        pose=pose,
        covariance=tuple(covariance.ravel().tolist()),
        side_up=template.side,
        studs=template.studs,
        boxes=geometry.boxes,
        graspable=True,
        reason="" if not tilt else f"it leans by {np.degrees(tilt):.0f} deg",
        fit_m=best.miss_m,
    )


def _settled(look: Look, patch: Patch, best: Fit) -> tuple[Pose, float]:
    """Pose and lean (rad), by what is left between measured and predicted height inside the top.

    A thing that lies on the table lies flat at its height: only what is beyond noise changes that.
    """
    config = look.config.fit
    predicted = best.predicted
    around = np.ones((3, 3), np.uint8)
    flat = cv2.dilate(predicted, around) - cv2.erode(predicted, around) < _FLAT_M
    inside = flat & (predicted > 0.0) & patch.usable & patch.mask
    left = (patch.z - best.rest_m - predicted)[inside].astype(np.float64)
    near = np.abs(left - np.median(left)) < config.rest_m if len(left) else np.zeros(0, bool)
    if int(near.sum()) < _LEAST_FOR_TILT:
        return best.pose(), 0.0
    by_x, by_y, offset = _plane(patch, inside, left, near, (best.x, best.y))
    lean = math.atan(math.hypot(by_x, by_y))
    pose = best.pose()
    if abs(offset) > config.rest_m:
        pose = pose.translated((0.0, 0.0, float(offset)))
    # Noise leans a short brick more than a long one.
    if lean < math.radians(config.tilt_deg) + 2 * look.view.noise_m / patch.rectangle[3]:
        return pose, 0.0
    turn, _ = Rotation.align_vectors([[-by_x, -by_y, 1.0]], [[0.0, 0.0, 1.0]])
    foot = Pose((best.x, best.y, best.rest_m))
    leaning: Pose = foot @ Pose(quaternion=turn.as_quat()) @ foot.inverse() @ pose
    return leaning, lean


def _plane(
    patch: Patch, chosen: Mask, heights: FloatArray, near: Mask, middle: tuple[float, float]
) -> tuple[float, float, float]:
    """Rise along x and y, and height at ``middle``, of the plane through the chosen pixels' heights."""
    x = (patch.base_x + patch.slope_x * patch.z)[chosen][near] - middle[0]
    y = (patch.base_y + patch.slope_y * patch.z)[chosen][near] - middle[1]
    rows = np.column_stack([x, y, np.ones(len(x))]).astype(np.float64)
    (by_x, by_y, offset), *_ = np.linalg.lstsq(rows, heights[near], rcond=None)
    return float(by_x), float(by_y), float(offset)


def _lean(patch: Patch) -> float:
    """Angle (rad) of a thing's top against the table, whatever it is: of the plane through its upper half."""
    inside = core(patch.mask)
    z = patch.z[inside].astype(np.float64)
    by_x, by_y, _ = _plane(patch, inside, z, z > np.median(z) / 2, patch.rectangle[:2])
    return math.atan(math.hypot(by_x, by_y))


def _unknown(look: Look, found: Found, brick_id: str) -> SeenBrick:
    """Size, colour and place of a thing that none of the parts explains."""
    x, y, long, short, angle = found.patch.rectangle
    high = found.patch.high_m
    floor, lean = look.config.fit.accept_m, math.degrees(_lean(found.patch))
    leans = f", and it leans by about {lean:.0f} deg" if lean > look.config.fit.tilt_deg else ""
    return SeenBrick(
        id=brick_id,
        colour=found.colour,
        size_studs=(round(long / _PITCH_M, 2), round(short / _PITCH_M, 2)),
        height_plates=round(high / _PLATE_M, 2),
        candidates=(),
        pose=Pose.from_yaw((x, y, high), angle),
        covariance=tuple((np.eye(6) * floor**2 * np.array([1, 1, 1, 400, 400, 400])).ravel().tolist()),
        side_up=SideUp.STUDS,
        studs=0,
        boxes=(Box(Pose((0.0, 0.0, -high / 2)), (long, short, high)),),
        graspable=True,
        reason=f"no part of the list explains it{leans}",
        fit_m=floor,
    )


def listed_colours(kinds: Mapping[str, frozenset[int]]) -> tuple[int, ...]:
    """All colours of a parts list."""
    return tuple(sorted({code for colours in kinds.values() for code in colours}))
