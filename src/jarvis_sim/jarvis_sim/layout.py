"""Where loose bricks lie at the start: at random with room for fingers, in rows, in a heap's footprint, or toppled.

(task, seed) alone decides: the caller passes a generator seeded with both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np
from jarvis_core.cell import Region, SupplyConfig
from jarvis_core.errors import RefusedError
from jarvis_core.pose import FloatArray, Pose

from jarvis_sim.config import LayoutConfig

#: Positions are rounded to a hundredth of a millimetre: numbers that people can read and write down.
_DECIMALS = 5
_SLACK_M = 1e-4
#: Equal circles can't fill more of a plane than this.
_DENSEST = 0.9069
#: Circles that are pushed apart fill this much of a plane easily.
_HEAP_SHARE = 0.55
#: Axis and angle of a quarter turn onto each side, and of the half turn onto the studs.
_QUARTER = np.pi / 2
_FALLS = (
    ((1.0, 0.0, 0.0), _QUARTER), ((1.0, 0.0, 0.0), -_QUARTER), ((0.0, 1.0, 0.0), _QUARTER),
    ((0.0, 1.0, 0.0), -_QUARTER), ((1.0, 0.0, 0.0), np.pi),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LooseItem:
    """One thing to lay out.

    Attributes:
        bounds: (2, 3) of its body in its own frame, turned.
        turn: how it lies; the identity is upright, z up.
        colour: equal ones lie side by side when sorted.
    """

    id: str
    bounds: FloatArray
    turn: Pose = Pose()  # noqa: RUF009 - poses are immutable
    colour: int = 0

    @property
    def centre(self) -> FloatArray:
        """(2,) middle of the footprint in its own frame, turned."""
        middle: FloatArray = self.bounds[:, :2].mean(axis=0)
        return middle

    @property
    def radius(self) -> float:
        """Of the bounding circle about the middle."""
        return float(np.linalg.norm(self.half))

    @property
    def half(self) -> FloatArray:
        """(2,) half the edges of the footprint."""
        half: FloatArray = (self.bounds[1, :2] - self.bounds[0, :2]) / 2
        return half

    def middle(self, pose: Pose) -> FloatArray:
        """(2,) middle of the footprint of the thing lying at ``pose``, ``world``."""
        upright = pose @ self.turn.inverse()
        middle: FloatArray = (upright @ np.array([*self.centre, 0.0]))[:2]
        return middle


def lay_out(
    items: Sequence[LooseItem],
    targets: FloatArray,
    supply: SupplyConfig,
    config: LayoutConfig,
    rng: np.random.Generator,
) -> dict[str, Pose]:
    """Poses in ``world`` by id.

    Circles around the bodies stay inside the supply region and ``clearance_m`` apart; origins stay
    ``target_distance_m`` away from every target.

    Args:
        targets: (m, 2) origins of all target poses, ``world``.

    Raises:
        RefusedError: no free places were found; names the numbers.
    """
    if not items:
        return {}
    if config.kind == "cluttered":
        supply = msgspec.structs.replace(supply, clearance_m=config.clutter_clearance_m)
    elif config.kind == "hard":
        items = [_toppled(item, rng) if rng.random() < config.hard_share else item for item in items]
    _refuse_impossible(items, supply, config)
    if config.kind == "sorted":
        return _in_rows(items, targets, supply, config)
    if config.kind == "cluttered":
        supply = _heap(items, targets, supply)
    for _ in range(config.attempts):
        centres = _relaxed(items, targets, supply, config, rng)
        yaws = np.round(rng.uniform(-np.pi, np.pi, len(items)), 4)
        poses = {
            item.id: _pose(item, centre, float(yaw))
            for item, centre, yaw in zip(items, centres, yaws, strict=True)
        }
        if _is_free(items, poses, targets, supply, config):
            return poses
    raise _refusal(items, supply, f"no free places found in {config.attempts} attempts")


def _pose(item: LooseItem, centre: FloatArray, yaw: float) -> Pose:
    turned = Pose.from_yaw((0.0, 0.0, 0.0), yaw)
    x, y = np.round(centre - (turned @ np.array([*item.centre, 0.0]))[:2], _DECIMALS).tolist()
    pose: Pose = Pose((x, y, -float(item.bounds[0, 2])), turned.quaternion) @ item.turn
    return pose


def _toppled(item: LooseItem, rng: np.random.Generator) -> LooseItem:
    """On one of four sides, or upside down."""
    axis, angle = _FALLS[int(rng.integers(len(_FALLS)))]
    half = angle / 2
    turn = Pose(quaternion=(*(np.sin(half) * np.array(axis)).tolist(), np.cos(half)))
    corners = turn @ np.array(np.meshgrid(*item.bounds.T)).reshape(3, -1).T
    bounds = np.round(np.array([corners.min(axis=0), corners.max(axis=0)]), 9)
    return replace(item, bounds=bounds, turn=turn)


def _in_rows(
    items: Sequence[LooseItem], targets: FloatArray, supply: SupplyConfig, config: LayoutConfig
) -> dict[str, Pose]:
    """Largest first, equal colours side by side, row after row along y from the region's near edge."""
    region, gap = supply.region, supply.clearance_m
    order = sorted(items, key=lambda item: (-round(item.radius, 5), item.colour, item.id))
    y_first, x_low = region.y[0] + config.edge_m, region.x[0] + config.edge_m
    y, deepest, poses = y_first, 0.0, {}
    for item in order:
        width, depth = 2 * item.half[1], 2 * item.half[0]
        if y + width > region.y[1] - config.edge_m:
            y, x_low, deepest = y_first, x_low + deepest + gap, 0.0
        centre = np.array([x_low + depth / 2, y + width / 2])
        poses[item.id] = _pose(item, centre, 0.0)
        y, deepest = y + width + gap, max(deepest, depth)
        near = len(targets) and np.linalg.norm(poses[item.id].position[:2] - targets, axis=1).min()
        if x_low + deepest > region.x[1] - config.edge_m or (
            len(targets) and near < supply.target_distance_m
        ):
            raise _refusal(items, supply, "they can't lie in rows")
    return poses


def _heap(items: Sequence[LooseItem], targets: FloatArray, supply: SupplyConfig) -> SupplyConfig:
    """The part of the region that the bricks just find room in, at its end away from the targets."""
    x, y = supply.region.x, supply.region.y
    largest = 2 * max(item.radius for item in items) + 2 * _SLACK_M
    edge = max(float(np.sqrt(_needed_area(items, supply) / _HEAP_SHARE)), largest)
    width, depth = min(edge, x[1] - x[0]), min(edge, y[1] - y[0])
    middle = (x[0] + x[1]) / 2
    below = not len(targets) or float(targets[:, 1].mean()) > (y[0] + y[1]) / 2
    y_low = y[0] if below else y[1] - depth
    region = Region(x=(middle - width / 2, middle + width / 2), y=(y_low, y_low + depth))
    return msgspec.structs.replace(supply, region=region)


def _relaxed(
    items: Sequence[LooseItem],
    targets: FloatArray,
    supply: SupplyConfig,
    config: LayoutConfig,
    rng: np.random.Generator,
) -> FloatArray:
    """(n, 2) middles: random ones, pushed apart until nothing overlaps (or the iterations are used up)."""
    radii = np.array([item.radius for item in items])
    low, high = _limits(radii, supply, config)
    middles = rng.uniform(low, high)
    needed = radii[:, None] + radii[None, :] + supply.clearance_m + 2 * _SLACK_M
    np.fill_diagonal(needed, 0.0)
    keep_off = (
        supply.target_distance_m + np.array([np.linalg.norm(item.centre) for item in items]) + 2 * _SLACK_M
    )
    for _ in range(config.iterations):
        push = _push(middles, middles, needed) / 2
        if len(targets):
            push = push + _push(middles, targets, np.repeat(keep_off[:, None], len(targets), axis=1))
        moved = np.clip(middles + push, low, high)
        if not (moved != middles).any():
            break
        middles = moved
    return middles


def _push(middles: FloatArray, others: FloatArray, needed: FloatArray) -> FloatArray:
    """(n, 2) how far each middle has to move to be ``needed`` (n, m) away from the others."""
    apart = middles[:, None, :] - others[None, :, :]
    distance = np.sqrt((apart**2).sum(axis=2))
    missing = np.maximum(needed - distance, 0.0)
    direction = apart / np.maximum(distance, 1e-9)[:, :, None]
    push: FloatArray = (direction * missing[:, :, None]).sum(axis=1)
    return push


def _limits(radii: FloatArray, supply: SupplyConfig, config: LayoutConfig) -> tuple[FloatArray, FloatArray]:
    """(n, 2) lowest and highest middles that keep each circle inside the region."""
    margin = (radii + config.edge_m + _SLACK_M)[:, None]
    region = np.array([supply.region.x, supply.region.y])
    return region[:, 0] + margin, region[:, 1] - margin


def _is_free(
    items: Sequence[LooseItem],
    poses: dict[str, Pose],
    targets: FloatArray,
    supply: SupplyConfig,
    config: LayoutConfig,
) -> bool:
    middles = np.array([item.middle(poses[item.id]) for item in items])
    origins = np.array([poses[item.id].position[:2] for item in items])
    radii = np.array([item.radius for item in items])
    distance = np.linalg.norm(middles[:, None] - middles[None], axis=2)
    needed = radii[:, None] + radii[None] + supply.clearance_m
    apart = (distance >= needed) | np.eye(len(items), dtype=bool)
    inside = all(
        supply.region.contains(x, y, radius + config.edge_m)
        for (x, y), radius in zip(middles.tolist(), radii.tolist(), strict=True)
    )
    off = (
        np.linalg.norm(origins[:, None] - targets[None], axis=2) if len(targets) else np.zeros((0,)) + np.inf
    )
    return bool(apart.all()) and inside and bool((off >= supply.target_distance_m).all())


def _refuse_impossible(items: Sequence[LooseItem], supply: SupplyConfig, config: LayoutConfig) -> None:
    region = supply.region
    width = min(region.x[1] - region.x[0], region.y[1] - region.y[0]) - 2 * config.edge_m
    largest = max(items, key=lambda item: item.radius)
    if 2 * largest.radius + 2 * _SLACK_M > width:
        raise _refusal(items, supply, f"{largest.id} alone is {2 * largest.radius:.3f} m across")
    if _needed_area(items, supply) > _DENSEST * _offered_area(supply):
        raise _refusal(items, supply, "they can't fit")


def _needed_area(items: Sequence[LooseItem], supply: SupplyConfig) -> float:
    return float(sum(np.pi * (item.radius + supply.clearance_m / 2) ** 2 for item in items))


def _offered_area(supply: SupplyConfig) -> float:
    """Clearance may reach over the region's border."""
    x, y = supply.region.x, supply.region.y
    return (x[1] - x[0] + supply.clearance_m) * (y[1] - y[0] + supply.clearance_m)


def _refusal(items: Sequence[LooseItem], supply: SupplyConfig, reason: str) -> RefusedError:
    return RefusedError(
        f"no room for {len(items)} loose bricks: with {supply.clearance_m * 1000:.0f} mm clearance they need "
        f"{_needed_area(items, supply):.3f} m2 of the {_offered_area(supply):.3f} m2 supply area; {reason}",
        where="cell.supply",
        fix="choose a shorter task, a larger supply.region or a smaller supply.clearance_m in config/cell.yaml",
    )
