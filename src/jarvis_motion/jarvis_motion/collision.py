"""Collision checks of many joint positions at once, fast enough for scenes of hundreds of boxes.

A motion is cut into short pieces. The middle of each is looked at with every shape enlarged by as much as it moves
within the piece: numpy rejects nearly all pairs that way, and only the pieces with pairs left are looked at point by
point. Cuboids are compared by the separating axis theorem, meshes by coal. Nothing is approximated: a pair is
dropped only where it can't touch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import coal
import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from jarvis_robot.urdf import Shape

from jarvis_motion.boxes import BoolArray, BoxArray, IntArray, extents, separated
from jarvis_motion.contacts import ContactFinder, geometry

#: Points in one piece of a motion.
_PIECE = 8


@dataclass(frozen=True, slots=True)
class _Part:
    """A shape that moves with a link.

    Attributes:
        place, half: (4, 4) in the link's frame and (3,) half edges of its bounding cuboid.
        shape: coal's geometry, its origin at ``-centre`` in the cuboid's frame.
        exact: the shape is the cuboid.
    """

    link: str
    place: FloatArray
    half: FloatArray
    centre: FloatArray
    shape: Any
    exact: bool


@dataclass(frozen=True, slots=True)
class _Pairs:
    """P pairs of parts and others: ``at`` says which joint positions, ``part`` and ``other`` which shapes."""

    at: IntArray
    part: IntArray
    other: IntArray

    def only(self, keep: BoolArray) -> _Pairs:
        return _Pairs(self.at[keep], self.part[keep], self.other[keep])


class CollisionChecker:
    """Robot, what it holds and obstacles. The world is given with each question: there is nothing to keep in step."""

    def __init__(self, robot: RobotModel, contacts: ContactFinder) -> None:
        self.robot = robot
        loader = coal.MeshLoader()
        self.parts = [
            _robot_part(robot, name, shape, loader)
            for name, link in robot.links.items()
            for shape in link.collisions
        ]
        self.moving = np.array([p.link != robot.config.base_link for p in self.parts])
        self.arm = [i for i, p in enumerate(self.parts) if p.link not in contacts.near_the_tool()]
        self.own_pairs = np.array(
            [
                (a, b)
                for a, first in enumerate(self.parts)
                for b, second in enumerate(self.parts)
                if (first.link, second.link) in contacts.self_pairs
            ],
            dtype=int,
        ).reshape(-1, 2)
        self.levers = _levers(robot, self.parts)
        self.request = coal.CollisionRequest()

    def first_collision(
        self, positions: FloatArray, gripper_width_m: float, obstacles: BoxArray, held: Sequence[Box] = ()
    ) -> int | None:
        """Index of the first of (m, n) joint positions at which something touches what it should not."""
        points = np.arange(len(positions))
        if len(positions) > _PIECE:
            piece = points // _PIECE
            starts = points[::_PIECE]
            middles = np.minimum(starts + _PIECE // 2, points[-1])
            away = np.abs(positions - positions[middles[piece]])
            spread = np.maximum.reduceat(away, starts)
            pieces = _Stage(self, positions[middles], gripper_width_m, held, spread)
            points = points[pieces.touching(obstacles)[piece]]
        if not len(points):
            return None
        found = points[self.touching(positions[points], gripper_width_m, obstacles, held)]
        return int(found[0]) if len(found) else None

    def collides(
        self, joints: FloatArray, gripper_width_m: float, obstacles: BoxArray, held: Sequence[Box] = ()
    ) -> bool:
        """As ``touching``, of (n,) joint positions."""
        return bool(self.touching(joints[None, :], gripper_width_m, obstacles, held)[0])

    def near(
        self, positions: FloatArray, gripper_width_m: float, obstacles: BoxArray, held: Sequence[Box] = ()
    ) -> IntArray:
        """Indices of boxes whose surrounding box meets that of a moving shape at any of (m, n) joint positions."""
        stage = _Stage(self, positions, gripper_width_m, held, None)
        found: IntArray = np.unique(stage.near(obstacles).other)
        return found

    def touching(
        self, positions: FloatArray, gripper_width_m: float, obstacles: BoxArray, held: Sequence[Box] = ()
    ) -> BoolArray:
        """(m,) whether something touches what it should not at each of (m, n) joint positions."""
        return _Stage(self, positions, gripper_width_m, held, None).touching(obstacles)


class _Stage:
    """The robot at m joint positions, each shape enlarged by how far it moves around them."""

    def __init__(
        self,
        checker: CollisionChecker,
        positions: FloatArray,
        width_m: float,
        held: Sequence[Box],
        spread: FloatArray | None,
    ) -> None:
        self._checker = checker
        robot = checker.robot
        links = robot.link_matrices(positions, width_m)
        tool = robot.config.tool_link
        carried = [_box_part(tool, box.pose.matrix, box.size_m) for box in held]
        self.parts = [*checker.parts, *carried]
        count = len(positions)
        frames = np.empty((count, len(self.parts), 4, 4))
        for i, part in enumerate(self.parts):
            frames[:, i] = links[part.link]
        self.places = frames @ np.array([part.place for part in self.parts])
        self.half = np.array([p.half for p in self.parts])
        self.loose = np.zeros((count, len(self.parts)))
        if spread is not None:
            self.loose = spread @ np.vstack([checker.levers, _levers(robot, carried)]).T
        self.count = count

    def touching(self, obstacles: BoxArray) -> BoolArray:
        """(m,) whether anything may touch (with enlarged shapes) or does touch."""
        hit: BoolArray = np.zeros(self.count, dtype=bool)
        own = self._own_pairs()
        if len(own.at):
            places, half = self.places[own.at, own.other], self.half[own.other]
            free = self._apart(own, places, half + self.loose[own.at, own.other][:, None])
            self._settle(own.only(~free), None, hit)
        near = self.near(obstacles)
        if len(near.at):
            places = np.tile(np.eye(4), (len(near.at), 1, 1))
            places[:, :3, :3] = obstacles.rotation[near.other]
            places[:, :3, 3] = obstacles.centre[near.other]
            free = self._apart(near, places, obstacles.half[near.other])
            self._settle(near.only(~free), obstacles, hit)
        return hit

    def _apart(self, pairs: _Pairs, places: FloatArray, half: FloatArray) -> BoolArray:
        """(P,) whether the bounding cuboids of parts are apart from cuboids at (P, 4, 4) places."""
        mine = self.half[pairs.part] + self.loose[pairs.at, pairs.part][:, None]
        return separated(self.places[pairs.at, pairs.part], mine, places, half)

    def _own_pairs(self) -> _Pairs:
        own = self._checker.own_pairs
        first = len(self._checker.parts)
        held = [(h, a) for h in range(first, len(self.parts)) for a in self._checker.arm]
        pairs = np.vstack([own, np.array(held, dtype=int).reshape(-1, 2)])
        at = np.repeat(np.arange(self.count), len(pairs))
        part, other = (np.tile(pairs[:, k], self.count) for k in (0, 1))
        gap = np.linalg.norm(self.places[at, part, :3, 3] - self.places[at, other, :3, 3], axis=1)
        size = np.linalg.norm(self.half, axis=1)
        near = gap <= size[part] + size[other] + self.loose[at, part] + self.loose[at, other]
        return _Pairs(at[near], part[near], other[near])

    def near(self, obstacles: BoxArray) -> _Pairs:
        """Pairs of parts and obstacles whose boxes along the world's axes overlap."""
        reach = extents(self.places[..., :3, :3], self.half) + self.loose[..., None]
        low, high = self.places[..., :3, 3] - reach, self.places[..., :3, 3] + reach
        least, most = low.min(axis=0)[:, None], high.max(axis=0)[:, None]
        candidates = ((obstacles.low <= most) & (obstacles.high >= least)).all(axis=2)
        # The base stands on the table: what it touches is no motion's fault.
        candidates[: len(self._checker.moving)] &= self._checker.moving[:, None]
        found = []
        for i in np.flatnonzero(candidates.any(axis=1)):
            boxes = np.flatnonzero(candidates[i])
            meet = low[:, i, None] <= obstacles.high[boxes]
            meet &= high[:, i, None] >= obstacles.low[boxes]
            at, which = np.nonzero(meet.all(axis=2))
            found.append((at, np.full(len(at), i), boxes[which]))
        if not found:
            none = np.zeros(0, dtype=int)
            return _Pairs(none, none, none)
        return _Pairs(*(np.concatenate(column) for column in zip(*found, strict=True)))

    def _settle(self, pairs: _Pairs, obstacles: BoxArray | None, hit: BoolArray) -> None:
        """Mark the positions of pairs that touch; pairs with a mesh are put to coal."""
        exact = np.array([p.exact for p in self.parts])
        sure = exact[pairs.part] if obstacles is not None else exact[pairs.part] & exact[pairs.other]
        hit[pairs.at[sure]] = True
        request = self._checker.request
        unsure = pairs.only(~sure)
        for at, part, other in zip(
            unsure.at.tolist(), unsure.part.tolist(), unsure.other.tolist(), strict=True
        ):
            if hit[at]:
                continue
            loose = float(self.loose[at, part])
            first = self._coal(at, part)
            if obstacles is None:
                second, loose = self._coal(at, other), loose + float(self.loose[at, other])
            else:
                place = coal.Transform3s(obstacles.rotation[other], obstacles.centre[other])
                second = (coal.Box(*(2 * obstacles.half[other])), place)
            request.security_margin = loose
            result = coal.CollisionResult()
            coal.collide(*first, *second, request, result)
            hit[at] = result.isCollision()

    def _coal(self, at: int, part: int) -> tuple[Any, Any]:
        """A part's geometry and where it is."""
        turn = self.places[at, part, :3, :3]
        origin = self.places[at, part, :3, 3] - turn @ self.parts[part].centre
        return self.parts[part].shape, coal.Transform3s(turn, origin)


def _box_part(link: str, place: FloatArray, size_m: Sequence[float]) -> _Part:
    return _Part(link, place, np.array(size_m) / 2, np.zeros(3), coal.Box(*size_m), True)


def _robot_part(robot: RobotModel, link: str, shape: Shape, loader: Any) -> _Part:
    if shape.size_m is not None:
        return _box_part(link, shape.pose.matrix, shape.size_m)
    form = geometry(robot, shape, loader)
    low, high = np.array(form.aabb_local.min_), np.array(form.aabb_local.max_)
    centre = (low + high) / 2
    return _Part(link, shape.pose.matrix @ Pose(centre).matrix, (high - low) / 2, centre, form, False)


def _levers(robot: RobotModel, parts: Sequence[_Part]) -> FloatArray:
    """(parts, n) metres that a point of a part moves at most while an arm joint turns by a radian.

    That is its distance from the joint, which the lengths on the way to it, stretched out, bound.
    """
    by_child = {joint.child: joint for joint in robot.joints}
    index = {name: i for i, name in enumerate(robot.config.arm_joints)}
    levers = np.zeros((len(parts), len(index)))
    for row, part in zip(levers, parts, strict=True):
        length = float(np.linalg.norm(part.place[:3, 3]) + np.linalg.norm(part.half))
        link = part.link
        while link in by_child:
            joint = by_child[link]
            if joint.name in index:
                row[index[joint.name]] = 1.0 if joint.kind == "prismatic" else length
            stroke = max(abs(joint.lower), abs(joint.upper)) if joint.kind == "prismatic" else 0.0
            length += float(np.linalg.norm(joint.origin.position)) + stroke
            link = joint.parent
    return levers
