"""Who is joined to whom: studs that sit in the openings of other bricks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_core.objects import GROUND
from jarvis_core.pose import Pose
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from jarvis_bricks.assembly import Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.geometry import STUD_PITCH_M, Connectors
from jarvis_bricks.oriented_boxes import IndexArray, OrientedBoxes, penetration, sweep_pairs


@dataclass(frozen=True, slots=True)
class Connection:
    """``studs`` studs of ``lower_id`` (a brick or GROUND) sit in openings of ``upper_id``.

    Upper and lower name the sides of the joint: for bricks that stand upright they are what they say.
    """

    upper_id: str
    lower_id: str
    studs: int


@dataclass(frozen=True, slots=True)
class StudGrid:
    """A studded ground: ``counts`` studs along x and y of ``pose``, whose origin is the middle of the top surface."""

    pose: Pose
    counts: tuple[int, int]

    def connectors(self) -> Connectors:
        """In the frame that ``pose`` is given in."""
        x, y = ((np.arange(n) - (n - 1) / 2) * STUD_PITCH_M for n in self.counts)
        flat = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
        feet = np.hstack([flat, np.zeros((len(flat), 1))])
        return Connectors(self.pose @ feet, np.tile(self.pose.rotation[:, 2], (len(feet), 1)))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two bricks whose bodies share space, ``depth_m`` deep."""

    first_id: str
    second_id: str
    depth_m: float


def connections(
    bricks: Sequence[Brick],
    catalogue: PartCatalogue,
    *,
    ground: StudGrid | None = None,
    position_m: float = 0.0008,
    angle_rad: float = 0.05,
    bores: bool = False,
) -> list[Connection]:
    """All joints of a build, ordered by the bricks' order, upper first.

    Args:
        bricks: poses in one frame; any orientation.
        ground: a studded plate in the same frame; its id is GROUND.
        position_m, angle_rad: how far a stud may be from the opening it sits in.
        bores: count studs in the bores of tubes too. Real ones hold there; simulated clutches know openings only.
    """
    owners = [brick.id for brick in bricks] + [GROUND]
    studs, stud_owner = _gather(bricks, [catalogue.geometry(b.part).studs for b in bricks])
    openings, opening_owner = _gather(bricks, [catalogue.geometry(b.part).antistuds for b in bricks])
    if bores:
        more, more_owner = _gather(bricks, [catalogue.geometry(b.part).bores for b in bricks])
        openings = Connectors(
            np.vstack([openings.positions, more.positions]), np.vstack([openings.axes, more.axes])
        )
        opening_owner = np.concatenate([opening_owner, more_owner])
    if ground is not None:
        plate = ground.connectors()
        studs = Connectors(np.vstack([studs.positions, plate.positions]), np.vstack([studs.axes, plate.axes]))
        stud_owner = np.concatenate([stud_owner, np.full(len(plate), len(bricks))])
    if len(studs) == 0 or len(openings) == 0:
        return []
    near = cKDTree(openings.positions).sparse_distance_matrix(
        cKDTree(studs.positions), position_m, output_type="ndarray"
    )
    opening, stud = near["i"], near["j"]
    upper, lower = opening_owner[opening], stud_owner[stud]
    cosine = np.einsum("ij,ij->i", openings.axes[opening], studs.axes[stud])
    joined = (upper != lower) & (cosine >= np.cos(angle_rad))
    pairs, counts = np.unique(np.column_stack([upper, lower])[joined], axis=0, return_counts=True)
    return [
        Connection(owners[int(pair[0])], owners[int(pair[1])], int(count))
        for pair, count in zip(pairs, counts, strict=True)
    ]


def _gather(bricks: Sequence[Brick], local: Sequence[Connectors]) -> tuple[Connectors, IndexArray]:
    """All connectors in the build's frame, and the index of the brick each belongs to."""
    empty = Connectors(np.zeros((0, 3)), np.zeros((0, 3)))
    placed = [
        Connectors(brick.pose @ c.positions, c.axes @ brick.pose.rotation.T) if len(c) else empty
        for brick, c in zip(bricks, local, strict=True)
    ]
    owners = np.repeat(np.arange(len(bricks), dtype=np.intp), [len(c) for c in local])
    if not placed:
        return empty, owners
    return Connectors(np.vstack([c.positions for c in placed]), np.vstack([c.axes for c in placed])), owners


def supports(joints: Iterable[Connection]) -> Mapping[str, tuple[str, ...]]:
    """For every brick that sits on something: what it sits on, most studs first."""
    found: dict[str, list[Connection]] = {}
    for joint in joints:
        found.setdefault(joint.upper_id, []).append(joint)
    return {
        upper: tuple(j.lower_id for j in sorted(under, key=lambda j: (-j.studs, j.lower_id)))
        for upper, under in found.items()
    }


def neighbours(joints: Iterable[Connection]) -> Mapping[str, tuple[str, ...]]:
    """For every brick (and GROUND): all it is joined to, sorted."""
    found: dict[str, set[str]] = {}
    for joint in joints:
        found.setdefault(joint.upper_id, set()).add(joint.lower_id)
        found.setdefault(joint.lower_id, set()).add(joint.upper_id)
    return {name: tuple(sorted(others)) for name, others in found.items()}


def components(ids: Sequence[str], joints: Iterable[Connection]) -> list[tuple[str, ...]]:
    """Groups of bricks that hang together, the largest first; joints to things not in ``ids`` don't count.

    To join bricks through the ground, put GROUND among the ids.
    """
    index = {name: i for i, name in enumerate(ids)}
    pairs = [
        (index[j.upper_id], index[j.lower_id]) for j in joints if j.upper_id in index and j.lower_id in index
    ]
    rows, columns = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    graph = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(ids), len(ids)))
    count, label = connected_components(graph, directed=False)
    groups = [tuple(ids[int(i)] for i in np.flatnonzero(label == group)) for group in range(count)]
    return sorted(groups, key=len, reverse=True)


def floating(bricks: Sequence[Brick], joints: Iterable[Connection]) -> tuple[str, ...]:
    """Bricks not joined, directly or through others, to the ground.

    Without a joint to GROUND, the ground is what the brick with the lowest origin hangs together with.
    """
    known = list(joints)
    ids = [brick.id for brick in bricks]
    if any(GROUND in (j.upper_id, j.lower_id) for j in known):
        root, names = GROUND, [*ids, GROUND]
    elif bricks:
        root, names = min(bricks, key=lambda b: float(b.pose.position[2])).id, ids
    else:
        return ()
    standing = next(set(group) for group in components(names, known) if root in group)
    return tuple(name for name in ids if name not in standing)


def overlaps(
    bricks: Sequence[Brick], catalogue: PartCatalogue, *, tolerance_m: float = 0.0004
) -> list[Overlap]:
    """Pairs of bricks whose collision boxes share space deeper than ``tolerance_m``.

    Studs are not in the boxes, so a stud in a tube is none. Only physical parts are looked at: the boxes of others
    say little about their shape.
    """
    physical = [brick for brick in bricks if catalogue.geometry(brick.part).physical]
    placed = [(b, box) for b in physical for box in catalogue.geometry(b.part).body_boxes]
    owner = [brick.id for brick, _ in placed]
    boxes = OrientedBoxes.of(type(box)(brick.pose @ box.pose, box.size_m) for brick, box in placed)
    order = {brick.id: i for i, brick in enumerate(bricks)}
    deepest: dict[tuple[str, str], float] = {}
    pairs = list(sweep_pairs(boxes))
    if not pairs:
        return []
    first, second = (np.concatenate(side) for side in zip(*pairs, strict=True))
    for i, j, depth in zip(first, second, penetration(boxes[first], boxes[second]), strict=True):
        if depth > tolerance_m and owner[i] != owner[j]:
            a, b = sorted((owner[i], owner[j]), key=order.__getitem__)
            deepest[a, b] = max(deepest.get((a, b), 0.0), float(depth))
    found = sorted(deepest.items(), key=lambda item: (order[item[0][0]], order[item[0][1]]))
    return [Overlap(a, b, depth) for (a, b), depth in found]


def resting(
    bricks: Sequence[Brick], catalogue: PartCatalogue, *, gap_m: float = 0.0003, least_m: float = 0.0005
) -> list[tuple[str, str]]:
    """Pairs (upper, lower) of bricks whose collision boxes lie on each other, joined by studs or not.

    Only upright physical parts are looked at: of others the boxes say little.

    Args:
        gap_m: the upper box's underside is no farther from the lower one's top.
        least_m: they share at least this much along x and y.
    """
    standing = [
        brick
        for brick in bricks
        if catalogue.geometry(brick.part).physical and abs(brick.pose.rotation[2, 2]) > 0.999
    ]
    placed = [(brick, box) for brick in standing for box in catalogue.geometry(brick.part).body_boxes]
    if not placed:
        return []
    owner = [brick.id for brick, _ in placed]
    boxes = OrientedBoxes.of(type(box)(brick.pose @ box.pose, box.size_m) for brick, box in placed)
    extents = boxes.extents()
    # Taller by the gap, boxes that lie on each other meet.
    grown = OrientedBoxes(boxes.centres, boxes.axes, boxes.halves + gap_m)
    found: set[tuple[int, int]] = set()
    for first, second in sweep_pairs(grown):
        for upper, lower in ((first, second), (second, first)):
            level = np.abs(extents[upper, 0, 2] - extents[lower, 1, 2]) <= gap_m
            # Seen from above, turned boxes share less than their extents: the flat boxes decide.
            shared = penetration(_flattened(boxes[upper]), _flattened(boxes[lower])) >= least_m
            chosen = level & shared
            found |= set(zip(upper[chosen].tolist(), lower[chosen].tolist(), strict=True))
    order = {brick.id: i for i, brick in enumerate(bricks)}
    pairs = {(owner[i], owner[j]) for i, j in found if owner[i] != owner[j]}
    return sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]]))


def _flattened(boxes: OrientedBoxes) -> OrientedBoxes:
    """All at one height and so tall that only their outlines seen from above decide how deep they meet."""
    centres, halves = boxes.centres.copy(), boxes.halves.copy()
    centres[:, 2] = 0.0
    up = np.abs(boxes.axes[:, 2, :]).argmax(axis=1)
    halves[np.arange(len(halves)), up] = 1.0
    return OrientedBoxes(centres, boxes.axes, halves)
