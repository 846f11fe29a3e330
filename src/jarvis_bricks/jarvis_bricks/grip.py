"""Where a parallel gripper can take a brick from above, and what is in its way.

One place for a question that is asked three times: can a brick be placed when its turn comes (build check), can
it be picked where it lies, and which grip serves both (grasp planning). Everything is in one frame with z up, the
boxes' frame. The gripper comes straight down, so whatever stands above its volume is in its way too::

          hand  |=================|      seen along the faces
                  | slack         |
         _________v_             _|_________      all the way up
        | thickness||           ||          |
        |  finger  ||  _______  ||  finger  |
        |__________||_|       |_||__________| --- tip, depth below the top
                      | brick |
                      |_______|

    seen from above     width
        +---------+    <------>     +---------+
        | finger  |  |          |   |         |   ^ finger width (across)
        +---------+  |__________|   +---------+   v at an offset along the face
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_PITCH_M, STUD_RADIUS_M, PartGeometry
from jarvis_bricks.oriented_boxes import OrientedBoxes, penetration

#: Boxes that share less than this touch: neighbouring bricks are flush in the models.
TOUCH_M = 0.00015
#: A pad that laps over the end of a gripped face would scrape along a neighbour flush with it: for neighbours, the
#: fingers are this much thicker on the inside.
FLUSH_M = 0.0003
#: The fingertips stay this far above whatever is below the gripped box.
TIP_GAP_M = 0.0003
#: How far above the tip the gripper is looked at: it comes from and leaves to above all builds.
SWEEP_M = 0.5
#: Grips lie this far apart along a face.
STEP_M = 0.004
#: A pad touches at least this much of a face (or all of a shorter one).
MIN_CONTACT_M = 0.006
#: Boxes smaller than this share of the largest one are not gripped (stairs of a slope).
_MIN_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class FingerClearance:
    """The space a parallel gripper needs. Names as in the gripper's own configuration.

    Attributes:
        max_width_m: largest opening between the pads.
        thickness_m: of a finger along the closing direction, from the pad outwards.
        width_m: of a finger across the closing direction.
        length_m: from the hand's underside to the fingertips.
        pad_below_tcp_m: the fingertips below the tool centre point.
        hand_size_m: (across, along the closing direction) of the hand above the fingers.
        upper_thickness_m, upper_above_tip_m: many fingers are thicker further up: how thick, and from what height
            above the fingertips on; 0 for a finger of one thickness.
        slack_m: opening on each side before closing and after letting go.
        min_depth_m: least overlap of pad and face in height.
    """

    max_width_m: float
    thickness_m: float
    width_m: float
    length_m: float
    pad_below_tcp_m: float
    hand_size_m: tuple[float, float]
    slack_m: float = 0.002
    min_depth_m: float = 0.0012
    upper_thickness_m: float = 0.0
    upper_above_tip_m: float = 0.0


class GripRefusal(Enum):
    """Why a grip is impossible."""

    TOO_WIDE = "too wide for the gripper"
    FLOOR = "the fingertips would touch the ground"
    OWN_SHAPE = "the brick's own shape is in the way of a finger"
    FINGER_BLOCKED = "a finger has no room"
    HAND_BLOCKED = "the hand has no room"


class GripKey(NamedTuple):
    """Names a grip in the brick's own terms: equal keys at two places are the same grip of the same brick.

    Attributes:
        box: index among the brick's boxes.
        axis: closing direction: 0, 1, 2 for the box's x, y, z axis.
        up: the box's axis that points up, 1-based, negative if it points down.
        offset_m: along the face, in the direction of the box's remaining axis.
        depth_m: of the fingertips below the box's top.
    """

    box: int
    axis: int
    up: int
    offset_m: float
    depth_m: float


@dataclass(frozen=True, slots=True)
class GripOption:
    """One grip, possible or refused.

    Attributes:
        position: (3,) tool centre point.
        axis_yaw_rad: yaw of the closing direction (the tool's y axis).
        width_m: distance of the faces.
        cost: metres; the lower the better: offset from the middle, plus height the pads don't cover (twice),
            plus a fifth of the width.
        refusal: None if the grip is possible.
        blockers: ids of what is in the way, sorted.
    """

    key: GripKey
    position: tuple[float, float, float]
    axis_yaw_rad: float
    width_m: float
    cost: float
    refusal: GripRefusal | None = None
    blockers: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        return self.refusal is None

    @property
    def offset_m(self) -> float:
        return self.key.offset_m

    @property
    def depth_m(self) -> float:
        return self.key.depth_m

    def tool_pose(self) -> Pose:
        """Of the tool frame: z down, y the closing direction."""
        sine, cosine = math.sin(self.axis_yaw_rad), math.cos(self.axis_yaw_rad)
        rotation = np.array([[-sine, cosine, 0.0], [cosine, sine, 0.0], [0.0, 0.0, -1.0]])
        return Pose.from_rotation(self.position, rotation)


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Boxes that fingers must not touch, with the ids of their owners."""

    ids: tuple[str, ...]
    boxes: OrientedBoxes

    @classmethod
    def of(cls, owned: Iterable[tuple[str, Box]]) -> Obstacles:
        pairs = list(owned)
        return cls(tuple(name for name, _ in pairs), OrientedBoxes.of(box for _, box in pairs))

    def select(self, chosen: npt.NDArray[np.bool_]) -> Obstacles:
        return Obstacles(tuple(self.ids[i] for i in np.flatnonzero(chosen)), self.boxes[chosen])


def boxes_with_studs(geometry: PartGeometry) -> tuple[Box, ...]:
    """A part's boxes, and on each that carries studs a flat box around them: what a finger has to avoid.

    In the part frame.
    """
    studs = geometry.studs.positions[geometry.studs.axes[:, 2] > 0.99]
    found = list(geometry.boxes)
    for box in geometry.boxes:
        # Boxes of parts are not turned in the part frame.
        half = np.array(box.size_m) / 2
        local = studs - box.pose.position
        on_top = (np.abs(local[:, :2]) <= half[:2]).all(axis=1) & (np.abs(local[:, 2] - half[2]) < 1e-4)
        if on_top.any():
            low, high = studs[on_top].min(axis=0), studs[on_top].max(axis=0)
            middle = (low + high) / 2 + [0.0, 0.0, STUD_HEIGHT_M / 2]
            size = high - low + 2 * STUD_RADIUS_M
            found.append(Box(Pose(middle), (float(size[0]), float(size[1]), STUD_HEIGHT_M)))
    return tuple(found)


def grip_options(
    boxes: Sequence[Box],
    obstacles: Obstacles | Sequence[tuple[str, Box]],
    fingers: FingerClearance,
    *,
    floor_z_m: float | None = None,
) -> list[GripOption]:
    """All grips from above on pairs of opposite upright faces, the possible ones first, then by cost.

    Args:
        boxes: of the brick, largest first, placed in the common frame (``RigidObject.world_boxes``). One of each
            box's axes has to be upright (within 3 degrees); boxes that lie otherwise give no grips.
        obstacles: everything else near, without the brick itself, studs included (``boxes_with_studs``).
        floor_z_m: height that the fingertips stay above: the tabletop, or the tops of the plate's studs.

    Returns:
        Options with refusals as data. The same brick gives the same keys everywhere.
    """
    others = obstacles if isinstance(obstacles, Obstacles) else Obstacles.of(obstacles)
    placed = OrientedBoxes.of(boxes)
    volumes = [box.size_m[0] * box.size_m[1] * box.size_m[2] for box in boxes]
    tried: list[_Candidate] = []
    for index, volume in enumerate(volumes):
        if volume >= _MIN_SHARE * max(volumes):
            tried.extend(_candidates(index, placed, fingers))
    if not tried:
        return []
    options = _judge(tried, placed, others, fingers, floor_z_m)
    return sorted(options, key=lambda option: (not option.ok, option.cost, option.key))


def common_grips(
    pick: Sequence[GripOption], place: Sequence[GripOption]
) -> list[tuple[GripOption, GripOption]]:
    """Grips that are possible at both places, as (there, here) pairs, best first."""
    here = {option.key: option for option in place if option.ok}
    pairs = [(option, here[option.key]) for option in pick if option.ok and option.key in here]
    return sorted(pairs, key=lambda pair: (pair[0].cost + pair[1].cost, pair[0].key))


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A grip before it is judged. ``close`` and ``along`` are unit directions; ``middle`` lies at the tips' height."""

    key: GripKey
    middle: FloatArray
    close: FloatArray
    along: FloatArray
    width: float
    cost: float


def _candidates(index: int, placed: OrientedBoxes, fingers: FingerClearance) -> Iterator[_Candidate]:
    axes, half, centre = placed.axes[index], placed.halves[index], placed.centres[index]
    up = int(np.argmax(np.abs(axes[2])))
    if abs(axes[2, up]) < 0.9986:
        return
    sign = 1 if axes[2, up] > 0 else -1
    height = 2 * float(half[up])
    top = centre + axes[:, up] * sign * half[up]
    depths = [(depth, np.array([0.0, 0.0, depth])) for depth in _depths(height, fingers)]
    for axis in (a for a in range(3) if a != up):
        other = 3 - axis - up
        length, width = 2 * float(half[other]), 2 * float(half[axis])
        for offset in _offsets(length, fingers.width_m):
            at = top + axes[:, other] * offset
            for depth, down in depths:
                key = GripKey(index, axis, sign * (up + 1), offset, depth)
                middle = at - down
                cost = abs(offset) + 2 * (height - depth) + width / 5
                yield _Candidate(key, middle, axes[:, axis], axes[:, other], width, cost)


def _offsets(length: float, pad: float) -> list[float]:
    """Positions of the pad's middle along a face: 0, both ways in steps, and as far as the pad touches enough of it.

    Beyond the ends of a face only for short ones: there a neighbour flush with the face leaves no other way.
    """
    reach = min(length / 2 + pad / 2 - min(length, MIN_CONTACT_M, pad), max(length / 2, STUD_PITCH_M))
    steps = int(reach / STEP_M + 1e-6)
    return sorted(
        {round(i * STEP_M, 6) for i in range(-steps, steps + 1)} | {round(reach, 6), round(-reach, 6)}
    )


def _depths(height: float, fingers: FingerClearance) -> list[float]:
    """Whole height, clear of studs below, and two shallower ones; less the gap under the tips."""
    wanted = {height - TIP_GAP_M, height - STUD_HEIGHT_M - TIP_GAP_M, 0.6 * height, 0.003}
    deepest = min(height - TIP_GAP_M, fingers.length_m - STUD_HEIGHT_M - TIP_GAP_M)
    levels = {round(min(depth, deepest), 6) for depth in wanted}
    return sorted(depth for depth in levels if depth >= fingers.min_depth_m)


def _judge(
    tried: Sequence[_Candidate],
    own: OrientedBoxes,
    others: Obstacles,
    fingers: FingerClearance,
    floor_z_m: float | None,
) -> list[GripOption]:
    columns = _Columns.of(tried)
    tips, hands = _finger_volumes(columns, fingers, FLUSH_M), _hand_volumes(columns, fingers)
    near = others.select(_near(tips, hands, others.boxes))
    # A box can't block the grip on itself: a brick of one box is never in its own way.
    single = len(own) == 1
    own_hits = (
        [set[int]()] * len(tried) if single else _hits(_finger_volumes(columns, fingers, 0.0), own, per=2)
    )
    finger_hits, hand_hits = _hits(tips, near.boxes, per=2), _hits(hands, near.boxes, per=1)
    if fingers.upper_thickness_m > 0.0:
        upper_hits = _hits(_upper_finger_volumes(columns, fingers), near.boxes, per=2)
        finger_hits = [below | above for below, above in zip(finger_hits, upper_hits, strict=True)]
    options = []
    for i, candidate in enumerate(tried):
        blockers: tuple[str, ...] = ()
        refusal: GripRefusal | None = None
        if candidate.width + 2 * fingers.slack_m > fingers.max_width_m:
            refusal = GripRefusal.TOO_WIDE
        elif floor_z_m is not None and candidate.middle[2] < floor_z_m + TIP_GAP_M - 1e-9:
            refusal = GripRefusal.FLOOR
        elif any(j != candidate.key.box for j in own_hits[i]):
            refusal = GripRefusal.OWN_SHAPE
        elif finger_hits[i] or hand_hits[i]:
            refusal = GripRefusal.FINGER_BLOCKED if finger_hits[i] else GripRefusal.HAND_BLOCKED
            blockers = tuple(sorted({near.ids[j] for j in finger_hits[i] or hand_hits[i]}))
        options.append(_option(candidate, fingers, refusal, blockers))
    return options


def _option(
    candidate: _Candidate, fingers: FingerClearance, refusal: GripRefusal | None, blockers: tuple[str, ...]
) -> GripOption:
    x, y, z = candidate.middle.tolist()
    return GripOption(
        key=candidate.key,
        position=(x, y, z + fingers.pad_below_tcp_m),
        axis_yaw_rad=math.atan2(candidate.close[1], candidate.close[0]),
        width_m=candidate.width,
        cost=candidate.cost,
        refusal=refusal,
        blockers=blockers,
    )


class _Columns(NamedTuple):
    """Of n candidates, what their volumes are made from: (n, 3) middles, closing directions, (n,) widths, (n, 3, 3)
    axes (closing direction and direction along the face, both level, and up)."""

    middles: FloatArray
    close: FloatArray
    widths: FloatArray
    axes: FloatArray

    @classmethod
    def of(cls, tried: Sequence[_Candidate]) -> _Columns:
        close = np.array([c.close for c in tried])
        up = np.broadcast_to([0.0, 0.0, 1.0], close.shape)
        level = [_level(close), _level(np.array([c.along for c in tried])), up]
        widths = np.array([c.width for c in tried])
        return cls(np.array([c.middle for c in tried]), close, widths, np.stack(level, axis=2))

    def fingers(self, depth: float, width: float, inside_m: float, start: float) -> OrientedBoxes:
        """(2 n) boxes, two a candidate: ``depth`` along the closing direction, from ``inside_m`` beyond touching."""
        away = self.close * ((self.widths + depth) / 2 - inside_m)[:, None]
        at = np.stack([self.middles + away, self.middles - away], axis=1).reshape(-1, 3)
        return _columns(at, np.repeat(self.axes, 2, axis=0), (depth, width), start)


def _finger_volumes(tried: _Columns, fingers: FingerClearance, inside_m: float) -> OrientedBoxes:
    """Two for each candidate: what a finger sweeps from ``inside_m`` beyond touching to open, and above."""
    depth = inside_m + fingers.slack_m + fingers.thickness_m
    return tried.fingers(depth, fingers.width_m, inside_m, 0.0)


def _upper_finger_volumes(tried: _Columns, fingers: FingerClearance) -> OrientedBoxes:
    """Two for each candidate: the thick part of a finger, from touching to open, and above."""
    depth = fingers.slack_m + fingers.upper_thickness_m
    return tried.fingers(depth, fingers.width_m, 0.0, fingers.upper_above_tip_m)


def _hand_volumes(tried: _Columns, fingers: FingerClearance) -> OrientedBoxes:
    across, along = fingers.hand_size_m
    return _columns(tried.middles, tried.axes, (along, across), fingers.length_m)


def _columns(at: FloatArray, axes: FloatArray, size: tuple[float, float], start: float) -> OrientedBoxes:
    """Upright boxes from ``start`` above the tips up to SWEEP_M; sizes along (closing, along the face)."""
    height = SWEEP_M - start
    halves = np.array([size[0] / 2, size[1] / 2, height / 2])
    return OrientedBoxes(at + [0.0, 0.0, start + height / 2], axes, np.tile(halves, (len(at), 1)))


def _level(directions: FloatArray) -> FloatArray:
    """(n, 3) directions, laid level and of length 1."""
    flat = directions * [1.0, 1.0, 0.0]
    level: FloatArray = flat / np.linalg.norm(flat, axis=1, keepdims=True)
    return level


def _near(tips: OrientedBoxes, hands: OrientedBoxes, others: OrientedBoxes) -> npt.NDArray[np.bool_]:
    """Which obstacles come near any of the volumes."""
    around = np.concatenate([tips.extents(), hands.extents()])
    low, high = around[:, 0].min(axis=0), around[:, 1].max(axis=0)
    extents = others.extents()
    close: npt.NDArray[np.bool_] = ((extents[:, 0] <= high) & (extents[:, 1] >= low)).all(axis=1)
    return close


def _hits(volumes: OrientedBoxes, others: OrientedBoxes, *, per: int) -> list[set[int]]:
    """For every group of ``per`` volumes: indices of the boxes it overlaps."""
    found: list[set[int]] = [set() for _ in range(len(volumes) // per)]
    first, second = volumes.extents(), others.extents()
    touching = (first[:, None, 0] < second[None, :, 1]) & (second[None, :, 0] < first[:, None, 1])
    i, j = np.nonzero(touching.all(axis=2))
    if len(i) == 0:
        return found
    deep = penetration(volumes[i], others[j]) > TOUCH_M
    for a, b in zip(i[deep], j[deep], strict=True):
        found[int(a) // per].add(int(b))
    return found
