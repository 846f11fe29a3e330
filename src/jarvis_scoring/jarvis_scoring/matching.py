"""Which brick fills which place, and how far off it is.

Bricks of equal kind and colour are interchangeable: they are assigned to the places (required bricks) so that
the episode's quality is largest. A place's support may itself be such a brick, so the errors depend on the
assignment; we start from the errors in ``world`` and repeat with the supports just found until none changes.

In the arrays below axis 0 counts the n places j (and bricks i) in the order of ``ScoreInput.targets``, axis 1 the c
candidates of a place: the bricks of its kind and colour; axis m counts the symmetries of its
shape. Who has no double is its place's only candidate, so that a build of different bricks takes n errors and not n^2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jarvis_core.objects import GROUND, ObjectState, RigidObject, TargetObject
from jarvis_core.pose import FloatArray, Pose
from scipy.optimize import linear_sum_assignment

from jarvis_scoring.config import ProtocolConfig, ScoreConfig
from jarvis_scoring.inputs import ScoreInput
from jarvis_scoring.rotations import apply, inverse, lengths, multiply, nearest, nearest_index, normalised

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.intp]

#: The assignment settles after two rounds unless supports of equal kind were swapped; then one or two more.
_MAX_ROUNDS = 6
#: Weight of a square metre: decides between assignments of equal quality, never against quality. Squared, because
#: along a line many assignments have equal sums of distances. Capped, so that it stays small for a brick flung away.
_TIE_BREAK = 1e-7
_TIE_LIMIT_M = 10.0
_FORBIDDEN = 1e3
_IDENTITY = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Bricks:
    """The bricks at the end of the episode; rows of missing ones hold their initial poses.

    Attributes:
        position: (n, 3) metres, ``world``.
        quaternion: (n, 4) x, y, z, w.
        displacement_m: (n,) distance from the initial position.
        present, held, moved: (n,).
    """

    position: FloatArray
    quaternion: FloatArray
    displacement_m: FloatArray
    present: BoolArray
    held: BoolArray
    moved: BoolArray


@dataclass(frozen=True, slots=True)
class Places:
    """The places to fill, with all poses that look the same, and who may fill them.

    Attributes:
        position: (n, m, 3) metres, ``world``; ``rotation``: (n, m, 4) quaternions.
        candidates: (n, c) index of bricks of the kind and colour of place j; ``allowed``: (n, c) False where a
            place has fewer, and its first is there again.
        rank: (n,) where in its places' candidates a brick stands.
        support: (n,) index of the place that place j rests on; -1 where it rests on something that is not
            to be placed.
        base_rotation, base_offset, base_known: (n, 4), (n, 3), (n,) how what it rests on was displaced from
            where it should be, where ``support`` is -1.
    """

    position: FloatArray
    rotation: FloatArray
    candidates: IntArray
    allowed: BoolArray
    rank: IntArray
    support: IntArray
    base_rotation: FloatArray
    base_offset: FloatArray
    base_known: BoolArray


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors and terms of every candidate at every place; all arrays (n, c), ``offset`` (n, c, 3).

    Attributes:
        support, world: position error in metres: relative to the support (inf if missing), in world.
        s_pos, s_z, s_theta, s_anchor: terms, 0 for a brick that is missing or not moved.
        pose, pose_ungated: weighted sums.
        complete: counted in S_comp.
    """

    support: FloatArray
    world: FloatArray
    offset: FloatArray
    z: FloatArray
    theta: FloatArray
    s_pos: FloatArray
    s_z: FloatArray
    s_theta: FloatArray
    s_anchor: FloatArray
    pose: FloatArray
    pose_ungated: FloatArray
    complete: BoolArray


@dataclass(frozen=True, slots=True)
class Match:
    """``brick[j]`` is the brick taken to fill place j, ``slot[j]`` where it stands among the candidates."""

    brick: IntArray
    slot: IntArray
    bricks: Bricks
    errors: Errors


def match(given: ScoreInput, config: ScoreConfig, protocol: ProtocolConfig) -> Match:
    """The assignment of bricks to places with the largest quality, and the errors that go with it."""
    bricks = _bricks(given, config)
    places = _places(given)
    in_world = _WorldErrors(bricks, places, config)
    brick = np.arange(len(given.targets))
    if places.candidates.shape[1] == 1:
        # No two bricks are alike: there is nothing to choose.
        return Match(brick, places.rank, bricks, _errors(in_world, brick, bricks, places, config, protocol))
    brick = _assign(_errors(in_world, None, bricks, places, config, protocol), places, config)
    best: Match | None = None
    best_quality = -np.inf
    rows = np.arange(len(brick))
    for _ in range(_MAX_ROUNDS):
        errors = _errors(in_world, brick, bricks, places, config, protocol)
        slot = places.rank[brick]
        quality = float(_quality(errors, config)[rows, slot].sum())
        if quality > best_quality + 1e-12:
            best, best_quality = Match(brick, slot, bricks, errors), quality
        improved = _assign(errors, places, config)
        if (improved == brick).all():
            break
        brick = improved
    assert best is not None
    return best


def _bricks(given: ScoreInput, config: ScoreConfig) -> Bricks:
    initial = {s.id: s for s in given.initial.objects}
    final = {s.id: s for s in given.final.objects}
    starts = [initial[t.object.id] for t in given.targets]
    ends = [final.get(start.id) for start in starts]
    placed = [end if end is not None else start for start, end in zip(starts, ends, strict=True)]
    position, quaternion = _positions(placed), _quaternions(s.pose for s in placed)
    displacement = lengths(position - _positions(starts))
    present = np.array([end is not None for end in ends])
    return Bricks(
        position=position,
        quaternion=quaternion,
        displacement_m=displacement,
        present=present,
        held=np.array([end is not None and end.held for end in ends]),
        moved=present & (displacement > config.moved_m),
    )


def _positions(states: Sequence[ObjectState | RigidObject]) -> FloatArray:
    return np.concatenate([s.pose.position for s in states]).reshape(-1, 3)


def _quaternions(poses: Iterable[Pose]) -> FloatArray:
    return np.concatenate([pose.quaternion for pose in poses]).reshape(-1, 4)


def _places(given: ScoreInput) -> Places:
    targets = given.targets
    rotation = _quaternions(t.object.pose for t in targets)[:, None, :]
    # Symmetries come from outside: this also refuses what is no rotation.
    symmetry = normalised(_symmetries(targets))
    centre = np.array([t.symmetry_centre for t in targets])[:, None, :]
    # A symmetry S turns about the centre c: x -> S (x - c) + c. Its frame's origin therefore lies at c - S c.
    origin = centre - apply(symmetry, centre)
    position = _positions([t.object for t in targets])[:, None, :] + apply(rotation, origin)
    kinds = [(t.object.kind, t.object.colour) for t in targets]
    numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
    candidates, allowed, rank = _candidates([numbers[kind] for kind in kinds])
    index = {t.object.id: j for j, t in enumerate(targets)}
    base_rotation, base_offset, base_known = _bases(given)
    return Places(
        position=position,
        rotation=multiply(rotation, symmetry),
        candidates=candidates,
        allowed=allowed,
        rank=rank,
        support=np.array([index.get(t.support, -1) for t in targets], dtype=np.intp),
        base_rotation=base_rotation,
        base_offset=base_offset,
        base_known=base_known,
    )


def _candidates(groups: Sequence[int]) -> tuple[IntArray, BoolArray, IntArray]:
    """(n, c), (n, c), (n,): see Places; ``groups`` numbers who is alike."""
    members: dict[int, list[int]] = {}
    rank = np.empty(len(groups), dtype=np.intp)
    for i, group in enumerate(groups):
        alike = members.setdefault(group, [])
        rank[i] = len(alike)
        alike.append(i)
    sizes = np.array([len(members[group]) for group in groups])
    most = int(sizes.max())
    rows = [[*alike, *(alike[:1] * (most - len(alike)))] for alike in (members[group] for group in groups)]
    return np.array(rows, dtype=np.intp), np.arange(most)[None, :] < sizes[:, None], rank


def _symmetries(targets: Sequence[TargetObject]) -> FloatArray:
    """(n, m, 4); shorter lists are filled up with the identity. Most parts share one of a few lists."""
    numbers = {symmetries: k for k, symmetries in enumerate(dict.fromkeys(t.symmetries for t in targets))}
    most = max(1, *map(len, numbers))
    lists = np.array([(*given, *([_IDENTITY] * (most - len(given)))) for given in numbers])
    return lists[[numbers[t.symmetries] for t in targets]]


def _bases(given: ScoreInput) -> tuple[FloatArray, FloatArray, BoolArray]:
    """How the thing under each place was displaced, where that is the ground or a brick that stood before."""
    initial = {s.id: s for s in given.initial.objects}
    final = {s.id: s for s in given.final.objects}
    required = {t.object.id for t in given.targets}
    quaternion = np.zeros((len(given.targets), 4))
    quaternion[:, 3] = 1.0
    offset = np.zeros((len(given.targets), 3))
    known = np.ones(len(given.targets), dtype=bool)
    for j, target in enumerate(given.targets):
        if target.support == GROUND or target.support in required:
            continue
        if target.support not in final:
            known[j] = False
            continue
        was, now = initial[target.support].pose, final[target.support].pose
        if was != now:
            displaced = now @ was.inverse()
            quaternion[j], offset[j] = displaced.quaternion, displaced.position
    return quaternion, offset, known


class _WorldErrors:
    """Errors and terms that don't depend on the assignment."""

    def __init__(self, bricks: Bricks, places: Places, config: ScoreConfig) -> None:
        who = places.candidates
        #: (n, c) the symmetry that brings place j nearest to a candidate's orientation.
        self.symmetry: IntArray
        self.theta: FloatArray
        self.symmetry, self.theta = nearest(places.rotation, bricks.quaternion[who])
        rows = np.arange(len(self.theta))[:, None]
        self.offset: FloatArray = bricks.position[who] - places.position[rows, self.symmetry]
        self.distance: FloatArray = lengths(self.offset)
        self.z: FloatArray = np.abs(self.offset[:, :, 2])
        scored = bricks.moved[who]
        self.s_z: FloatArray = scored * _bell(self.z, config.sigma_z_m)
        self.s_theta: FloatArray = scored * _bell(self.theta, np.radians(config.sigma_theta_deg))
        self.s_anchor: FloatArray = scored * _bell(self.distance, config.sigma_anchor_m)
        self.complete: BoolArray = scored & (self.distance <= config.complete_m) & ~bricks.held[who]


def _support_distances(in_world: _WorldErrors, brick: IntArray, bricks: Bricks, places: Places) -> FloatArray:
    """(n, c) distance to where a candidate should be on its support, wherever that one is; inf without support.

    The support, placed perfectly, would be at T_target (or at a pose that looks the same: the one nearest to
    its actual orientation). It is at T_actual, so everything that rests on it is displaced by
    D = T_actual T_target^-1 and belongs at D T_j.
    """
    loose = places.support >= 0
    k = np.where(loose, places.support, 0)
    i = brick[k]
    chosen = in_world.symmetry[k, places.rank[i]]
    turned = multiply(bricks.quaternion[i], inverse(places.rotation[k, chosen]))
    shifted = bricks.position[i] - apply(turned, places.position[k, chosen])
    displaced = np.where(loose[:, None], turned, places.base_rotation)[:, None, :]
    offset = np.where(loose[:, None], shifted, places.base_offset)
    known = np.where(loose, bricks.present[i], places.base_known)

    expected = apply(displaced, places.position) + offset[:, None, :]
    symmetry = nearest_index(multiply(displaced, places.rotation), bricks.quaternion[places.candidates])
    rows = np.arange(len(brick))[:, None]
    distance = lengths(bricks.position[places.candidates] - expected[rows, symmetry])
    return np.where(known[:, None], distance, np.inf)


def _errors(
    in_world: _WorldErrors,
    brick: IntArray | None,
    bricks: Bricks,
    places: Places,
    config: ScoreConfig,
    protocol: ProtocolConfig,
) -> Errors:
    """Errors and terms; before the first assignment (``brick`` None) supports count as well placed."""
    distance = in_world.distance
    support = distance if brick is None else _support_distances(in_world, brick, bricks, places)
    relative = support if protocol.position == "support" else distance
    s_pos = bricks.moved[places.candidates] * _bell(relative, config.sigma_position_m)
    # Both: a brick beside its support, both still in the supply, is near the one but not near its place.
    near = np.maximum(support, distance) <= config.gate_m
    weights = protocol.weights
    placed = weights.position * s_pos + weights.anchor * in_world.s_anchor
    shaped = weights.z * in_world.s_z + weights.theta * in_world.s_theta
    return Errors(
        support=support,
        world=distance,
        offset=in_world.offset,
        z=in_world.z,
        theta=in_world.theta,
        s_pos=s_pos,
        s_z=in_world.s_z,
        s_theta=in_world.s_theta,
        s_anchor=in_world.s_anchor,
        pose=placed + (shaped * near if protocol.gated else shaped),
        pose_ungated=placed + shaped,
        complete=in_world.complete,
    )


def _bell(error: FloatArray, sigma: float) -> FloatArray:
    bell: FloatArray = np.exp(-0.5 * (error / sigma) ** 2)
    return bell


def _quality(errors: Errors, config: ScoreConfig) -> FloatArray:
    """(n, c) what each pairing adds to n Q."""
    quality: FloatArray = config.weight_pose * errors.pose + config.weight_complete * errors.complete
    return quality


def _assign(errors: Errors, places: Places, config: ScoreConfig) -> IntArray:
    tie_break = _TIE_BREAK * np.minimum(errors.world, _TIE_LIMIT_M) ** 2
    count = len(places.candidates)
    cost = np.full((count, count), _FORBIDDEN)
    rows, slots = np.nonzero(places.allowed)
    cost[rows, places.candidates[rows, slots]] = (tie_break - _quality(errors, config))[rows, slots]
    columns: IntArray = linear_sum_assignment(cost)[1]
    return columns
