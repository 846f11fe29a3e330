"""Protocols ``brick-score-1`` and ``brick-score-1-world``: how well the required bricks were built.

For each required brick, with errors e_k and s_k = exp(-e_k^2 / (2 sigma_k^2))::

    position   relative to the pose it should have on its intended support, wherever that one really is
    z, theta   vertical and angular error in world (angle to the nearest orientation that looks the same)
    anchor     position error in world, with a low weight
    pose score = w_pos s_pos + w_z s_z + w_theta s_theta + w_anchor s_anchor

    S_pose = mean pose score             0 for a brick that is missing or not moved (<= 5 mm)
    S_comp = fraction moved, within 50 mm of its place in world, not held
    Q      = 0.5 S_pose + 0.5 S_comp,    0 if no required brick moved
    score  = 100 Q (1 - p_max clip((t - B) / B, 0, 1))

Decisions where the definition leaves room:

- The gate (z and theta count only within 50 mm) asks for both position errors, relative to the support and in
  world: two loose bricks lying side by side in the supply are near each other, but neither is near its place.
- z and theta are errors in world. Only the position term follows the support.
- S_valid's "manipulated bricks" are the required bricks: counting only those that moved would make its
  condition on displacement empty.
- ``brick-score-1-world`` gives the anchor's weight to the position: in world both say the same.
- A support with symmetries counts as standing the way round that is nearest to its actual orientation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jarvis_core.cell import Region
from jarvis_core.episode import EpisodeRecord
from jarvis_core.errors import BadInputError
from jarvis_core.files import content_hash
from jarvis_core.objects import GROUND, RigidObject, TargetObject

from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import ScoreInput
from jarvis_scoring.matching import BoolArray, Bricks, Match, match
from jarvis_scoring.protocol import BrickScore, EpisodeScore
from jarvis_scoring.rotations import matrices


class BrickScoreProtocol:
    """A ScoreProtocol: one of the configured protocols with all its constants."""

    def __init__(self, config: ScoreConfig, name: str | None = None) -> None:
        self._config = config
        self._name = name if name is not None else config.protocol
        config.named(self._name)

    @property
    def name(self) -> str:
        return self._name

    def score(self, record: EpisodeRecord) -> EpisodeScore:
        return score(record, self._config, protocol=self._name)


def score(
    what: EpisodeRecord | ScoreInput,
    config: ScoreConfig,
    *,
    protocol: str | None = None,
    table: Region | None = None,
) -> EpisodeScore:
    """Score a record, or the state at hand.

    Args:
        what: a record, or what of it a score needs.
        config: every constant.
        protocol: name of a configured protocol; by default the one that ``config`` reports.
        table: the tabletop, where ``what`` is a record whose configuration lacks it.

    Raises:
        BadInputError: unknown or doubled ids, numbers out of range, another layout of the record.
        ConfigError: an unknown protocol.
    """
    given = ScoreInput.from_record(what, table) if isinstance(what, EpisodeRecord) else what
    given.check()
    name = protocol if protocol is not None else config.protocol
    chosen = config.named(name)
    try:
        matched = match(given, config, chosen)
    except ValueError as error:
        # Poses are finite by construction; what is left are symmetries from outside.
        raise BadInputError(f"a symmetry is no rotation ({error})", where="targets") from error
    bricks = _brick_scores(given, matched, config)
    return _episode_score(given, bricks, config, name)


def _episode_score(
    given: ScoreInput, bricks: tuple[BrickScore, ...], config: ScoreConfig, name: str
) -> EpisodeScore:
    n = len(bricks)
    s_pose = sum(b.pose_score for b in bricks) / n
    s_comp = sum(b.complete for b in bricks) / n
    any_moved = any(b.moved for b in bricks)
    q = config.weight_pose * s_pose + config.weight_complete * s_comp if any_moved else 0.0
    late = (given.time_s - given.budget_s) / given.budget_s
    penalty = config.max_time_penalty * min(max(late, 0.0), 1.0)
    return EpisodeScore(
        protocol=name if given.states == "true" else f"{name} ({given.states})",
        constants=content_hash(config)[:12],
        score=100.0 * q * (1.0 - penalty),
        q=q,
        s_pose=s_pose,
        s_pose_ungated=sum(b.pose_score_ungated for b in bricks) / n,
        s_comp=s_comp,
        s_valid=sum(b.moved and b.inside and not b.held for b in bricks) / n,
        s_exact=sum(b.exact for b in bricks) / n,
        time_penalty=penalty,
        time_s=given.time_s,
        budget_s=given.budget_s,
        n_required=n,
        calls=given.calls,
        failed_calls=given.failed_calls,
        bricks=bricks,
    )


class _Found(NamedTuple):
    """What was found of one place and the brick that fills it, as plain numbers."""

    support_m: float
    world_m: float
    z_m: float
    theta_rad: float
    s_pos: float
    s_z: float
    s_theta: float
    s_anchor: float
    pose: float
    pose_ungated: float
    offset_m: tuple[float, float, float]
    displacement_m: float
    present: bool
    held: bool
    moved: bool
    complete: bool
    inside: bool


def _found(given: ScoreInput, matched: Match) -> list[_Found]:
    """By place. Arrays are picked apart once: one number at a time would take longer than all the arithmetic."""
    errors, bricks, i, slot = matched.errors, matched.bricks, matched.brick, matched.slot
    j = np.arange(len(i))
    numbers = (errors.support, errors.world, errors.z, errors.theta, errors.s_pos, errors.s_z, errors.s_theta)
    more = (errors.s_anchor, errors.pose, errors.pose_ungated)
    flags = (bricks.present[i], bricks.held[i], bricks.moved[i], errors.complete[j, slot])
    inside = _inside_table(given, bricks)[i]
    return [
        _Found(*row)
        for row in zip(
            *(array[j, slot].tolist() for array in (*numbers, *more)),
            map(tuple, errors.offset[j, slot].tolist()),
            bricks.displacement_m[i].tolist(),
            *(flag.tolist() for flag in flags),
            inside.tolist(),
            strict=True,
        )
    ]


def _brick_scores(given: ScoreInput, matched: Match, config: ScoreConfig) -> tuple[BrickScore, ...]:
    ids = [t.object.id for t in given.targets]
    physical = {place: ids[i] for place, i in zip(ids, matched.brick.tolist(), strict=True)}
    joined = _neighbours(given.final.connections)
    scores = []
    for target, found in zip(given.targets, _found(given, matched), strict=True):
        brick = physical[target.object.id]
        wanted = {physical.get(c, c) for c in target.connections}
        joints = joined.get(brick, set())
        support = physical.get(target.support, target.support)
        missing: tuple[str, ...] = ()
        extra: tuple[str, ...] = ()
        if wanted != joints:
            missing, extra = tuple(sorted(wanted - joints)), tuple(sorted(joints - wanted))
        scores.append(_brick_score(target, brick, support, found, missing, extra, config))
    return tuple(scores)


def _brick_score(
    target: TargetObject,
    brick: str,
    support: str,
    found: _Found,
    missing: tuple[str, ...],
    extra: tuple[str, ...],
    config: ScoreConfig,
) -> BrickScore:
    present = found.present
    joined_right = present and not missing and not extra
    at_place = found.world_m <= config.exact_m and found.theta_rad <= math.radians(config.exact_deg)
    return BrickScore(
        id=target.object.id,
        kind=target.object.kind,
        colour=target.object.colour,
        step=target.step,
        matched_id=brick,
        support_id=support,
        missing=not present,
        held=found.held,
        displacement_m=found.displacement_m if present else None,
        e_pos_m=found.support_m if present and math.isfinite(found.support_m) else None,
        e_pos_world_m=found.world_m if present else None,
        offset_m=found.offset_m if present else None,
        e_z_m=found.z_m if present else None,
        e_theta_rad=found.theta_rad if present else None,
        s_pos=found.s_pos,
        s_z=found.s_z,
        s_theta=found.s_theta,
        s_anchor=found.s_anchor,
        pose_score=found.pose,
        pose_score_ungated=found.pose_ungated,
        moved=found.moved,
        inside=found.inside,
        complete=found.complete,
        exact=joined_right and at_place,
        connections_ok=joined_right,
        missing_connections=missing,
        extra_connections=extra,
    )


def _neighbours(connections: tuple[tuple[str, str], ...]) -> dict[str, set[str]]:
    joined: dict[str, set[str]] = {GROUND: set()}
    for upper, lower in connections:
        joined.setdefault(upper, set()).add(lower)
        joined.setdefault(lower, set()).add(upper)
    return joined


def _inside_table(given: ScoreInput, bricks: Bricks) -> BoolArray:
    """(n,) whether each brick's bounding-box footprint lies on the tabletop; False for a missing one."""
    shapes: dict[str, RigidObject] = {o.id: o for o in given.objects}
    inside = bricks.present.copy()
    table = given.table
    low = np.array([table.x[0], table.y[0]])
    high = np.array([table.x[1], table.y[1]])
    boxes = [(i, box) for i, t in enumerate(given.targets) for box in shapes[t.object.id].boxes]
    owner = np.array([i for i, _ in boxes])
    rotation = matrices(bricks.quaternion[owner])
    centre = np.array([box.pose.position for _, box in boxes])
    half = np.array([box.size_m for _, box in boxes]) / 2
    middle = bricks.position[owner] + np.einsum("bij,bj->bi", rotation, centre)
    # How far a turned cuboid reaches along an axis of the world: its half edges' shares of that axis, summed.
    turned = rotation @ matrices(np.array([box.pose.quaternion for _, box in boxes]))
    extent = np.einsum("bij,bj->bi", np.abs(turned), half)
    fits = (middle - extent)[:, :2] >= low
    fits &= (middle + extent)[:, :2] <= high
    np.logical_and.at(inside, owner, fits.all(axis=1))
    return inside
