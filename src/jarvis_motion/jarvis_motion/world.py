"""What stands around the arm and what it holds, and questions about it in the planner's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray
from jarvis_robot.model import RobotModel

from jarvis_motion.backend import Obstacle
from jarvis_motion.boxes import BoolArray, BoxArray
from jarvis_motion.collision import CollisionChecker
from jarvis_motion.config import MotionConfig
from jarvis_motion.contacts import Contact, ContactFinder

Boxes = Mapping[str, tuple[Box, ...]]


class MotionWorld:
    """Obstacles, held boxes and the gripper's width.

    Attributes:
        obstacles: boxes by id, in ``world``.
        held: boxes in the tool frame, a little smaller than given: bricks touch their neighbours.
        width_m: distance between the pads.
    """

    def __init__(self, robot: RobotModel, config: MotionConfig) -> None:
        self.contacts = ContactFinder(robot)
        self.checker = CollisionChecker(robot, self.contacts)
        self._config = config
        self.obstacles: dict[str, tuple[Box, ...]] = {}
        self.held: tuple[Box, ...] = ()
        self.width_m = 0.0
        self._exact = BoxArray.of({})
        self._padded = self._exact

    def set_obstacles(self, obstacles: Sequence[Obstacle]) -> None:
        """Replace all obstacles; those of the same id form one."""
        merged: dict[str, tuple[Box, ...]] = {}
        for obstacle in obstacles:
            merged[obstacle.id] = (*merged.get(obstacle.id, ()), obstacle.box)
        if merged != self.obstacles:
            self.obstacles = merged
            self._exact = BoxArray.of(merged)
            self._padded = self._exact.grown(self._config.padding_m)

    def attach(self, object_id: str, boxes: Sequence[Box]) -> None:
        """Carry boxes, given in the tool frame; the obstacle of that id vanishes."""
        self.held = grown(tuple(boxes), -self._config.held_shrink_m)
        self.obstacles = {name: kept for name, kept in self.obstacles.items() if name != object_id}
        self._exact = self._exact.without((object_id,))
        self._padded = self._padded.without((object_id,))

    def detach(self) -> None:
        """Carry nothing."""
        self.held = ()

    def padded(self, close: frozenset[str]) -> BoxArray:
        """Obstacles larger by the padding, but those of ``close`` as they are."""
        return self._exact.grown(self._config.padding_m, close) if close else self._padded

    def first_contact(self, positions: FloatArray, allowed: Sequence[str] = ()) -> int | None:
        """Index of the first of (m, n) joint positions at which something touches."""
        boxes = self._exact.without(allowed)
        return self.checker.first_collision(positions, self.width_m, boxes, self.held)

    def way_is_free(
        self, start: FloatArray, goal: FloatArray, close: frozenset[str], step_rad: float
    ) -> bool:
        """Whether the straight way in joint space keeps the padding."""
        between = straight_way(start, goal, step_rad)
        boxes = self.padded(close)
        return self.checker.first_collision(between, self.width_m, boxes, self.held) is None

    def contact(self, positions: FloatArray) -> BoolArray:
        """(m,) whether something touches at each of (m, n) joint positions."""
        return self.checker.touching(positions, self.width_m, self._exact, self.held)

    def close_to(self, *positions: FloatArray) -> frozenset[str]:
        """Obstacles closer than the padding at any of some (n,) joint positions."""
        near = self.checker.touching(np.array(positions), self.width_m, self._padded, self.held)
        found = [
            self._touching(q, self._padded) for q, is_near in zip(positions, near, strict=True) if is_near
        ]
        return frozenset(c.second for contacts in found for c in contacts if c.obstacle)

    def what_touches(self, joints: FloatArray, allowed: Sequence[str] = ()) -> str:
        """Up to four contacts at (n,) joint positions, in words."""
        contacts = self._touching(joints, self._exact.without(allowed))
        return ", ".join(str(c) for c in contacts[:4]) or "the arm would touch something"

    def what_blocks(self, start: FloatArray, goal: FloatArray) -> str:
        """What is in the way on the straight way in joint space, in words."""
        between = straight_way(start, goal, self._config.rrt.step_rad)
        bad = self.checker.first_collision(between, self.width_m, self._padded, self.held)
        if bad is None:
            return "the direct way is free"
        contacts = self._touching(between[bad], self._padded)
        return "on the direct way " + (", ".join(str(c) for c in contacts[:4]) or "the arm is blocked")

    def near_way(self, start: FloatArray, goal: FloatArray, reach_m: float) -> frozenset[str]:
        """Obstacles that something comes close to on the straight way in joint space."""
        way = straight_way(start, goal, self._config.rrt.step_rad)
        near = self.checker.near(way, self.width_m, self._exact.grown(reach_m), self.held)
        return frozenset(self._exact.names[i] for i in near)

    def blocking(self, corners: FloatArray, close: frozenset[str]) -> frozenset[str]:
        """Padded obstacles (those of ``close`` as they are) that a way with (k, n) corners runs into."""
        way = np.vstack([straight_way(a, b, self._config.rrt.step_rad) for a, b in pairwise(corners)])
        boxes = self.padded(close)
        found: set[str] = set()
        while True:
            left = boxes.without(found)
            bad = self.checker.first_collision(way, self.width_m, left, self.held)
            if bad is None:
                return frozenset(found)
            more = {c.second for c in self._touching(way[bad], left) if c.obstacle}
            if not more:  # the arm itself: no obstacle's fault
                return frozenset(found)
            found |= more

    def _touching(self, joints: FloatArray, boxes: BoxArray) -> list[Contact]:
        near = self.checker.near(joints[None, :], self.width_m, boxes, self.held)
        return self.contacts.find(joints, self.width_m, boxes.pick(near).boxes(), self.held)


def straight_way(start: FloatArray, goal: FloatArray, step_rad: float) -> FloatArray:
    """(m, n) joint positions from start to goal, the fastest joint moving ``step_rad`` at most."""
    steps = int(np.ceil(np.abs(goal - start).max() / step_rad)) + 1
    way: FloatArray = np.linspace(start, goal, max(steps, 2))
    return way


def grown(boxes: tuple[Box, ...], margin_m: float) -> tuple[Box, ...]:
    """Boxes larger by a margin on every side; smaller if negative, but never thinner than 0.1 mm."""
    return tuple(
        Box(box.pose, (max(x + 2 * margin_m, 1e-4), max(y + 2 * margin_m, 1e-4), max(z + 2 * margin_m, 1e-4)))
        for box in boxes
        for x, y, z in (box.size_m,)
    )
