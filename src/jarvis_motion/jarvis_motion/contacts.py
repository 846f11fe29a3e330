"""Which link touches what: a second collision check that names names, for messages and as a cross-check.

Planners only answer yes or no. This one asks every pair of shapes that come near each other, through coal.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import coal
import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from jarvis_robot.urdf import Shape

#: How a held object is called in messages.
HELD = "the held object"
#: A hull that is larger than its mesh by no more than this share takes its place.
_HULL_EXCESS = 0.02


@dataclass(frozen=True, slots=True)
class Contact:
    """Two things that overlap; ``obstacle`` says that ``second`` is an obstacle's id (else it is a link)."""

    first: str
    second: str
    obstacle: bool

    def __str__(self) -> str:
        return f"{self.first} would touch {self.second}"


class ContactFinder:
    """Finds contacts of one robot."""

    def __init__(self, robot: RobotModel) -> None:
        self._robot = robot
        loader = coal.MeshLoader()
        self._shapes = [
            (name, shape.pose.matrix, geometry(robot, shape, loader))
            for name, link in robot.links.items()
            for shape in link.collisions
        ]
        self.self_pairs = self._pairs_that_can_touch()

    def find(
        self,
        joints: FloatArray,
        gripper_width_m: float,
        obstacles: Mapping[str, Sequence[Box]],
        held: Sequence[Box],
    ) -> list[Contact]:
        """All contacts at (n,) joint positions. Obstacles in ``world``, held boxes in the tool frame."""
        links = self._robot.link_matrices(joints, gripper_width_m)
        tool = Pose.from_matrix(links[self._robot.config.tool_link])
        robot = [_Part(name, links[name] @ local, shape) for name, local, shape in self._shapes]
        carried = [_Part(HELD, (tool @ box.pose).matrix, _cuboid(box.size_m)) for box in held]
        things = [
            _Part(name, box.pose.matrix, _cuboid(box.size_m))
            for name, boxes in obstacles.items()
            for box in boxes
        ]
        # The base stands on the table: what it touches is no motion's fault.
        moving = [part for part in robot if part.name != self._robot.config.base_link]
        arm = [part for part in robot if part.name not in self.near_the_tool()]
        own = [(a, b) for a, b in _near(robot, robot) if (a.name, b.name) in self.self_pairs]
        found = [
            Contact(a.name, b.name, True) for a, b in _near([*moving, *carried], things) if _overlap(a, b)
        ]
        found += [Contact(a.name, b.name, False) for a, b in [*own, *_near(carried, arm)] if _overlap(a, b)]
        return list(dict.fromkeys(found))

    def near_the_tool(self) -> frozenset[str]:
        """Links that a held object can't be kept away from: hand, fingers and the last arm link."""
        robot = self._robot
        fingers = {joint.child for joint in robot.finger_joints}
        return frozenset({robot.config.hand_link, robot.arm_joints[-1].child, *fingers})

    def _pairs_that_can_touch(self) -> set[tuple[str, str]]:
        never = {
            frozenset((e.attrib["link1"], e.attrib["link2"]))
            for e in ET.fromstring(self._robot.srdf).findall("disable_collisions")
        }
        names = list(dict.fromkeys(name for name, _, _ in self._shapes))
        return {(a, b) for a, b in combinations(names, 2) if frozenset((a, b)) not in never}


def geometry(robot: RobotModel, shape: Shape, loader: Any) -> Any:
    """coal's geometry of a link's shape.

    A mesh that is all but convex becomes its hull, which is faster and solid: a small box within it touches it.
    """
    if shape.size_m is not None:
        return _cuboid(shape.size_m)
    mesh = loader.load(str(robot.mesh_path(shape)), np.array(shape.scale))
    volume = mesh.computeVolume()
    mesh.buildConvexHull(True, "Qt")
    simple = volume > 0 and mesh.convex.computeVolume() <= volume * (1 + _HULL_EXCESS)
    form = mesh.convex if simple else mesh
    form.computeLocalAABB()
    return form


def _cuboid(size_m: Sequence[float]) -> Any:
    form = coal.Box(*size_m)
    form.computeLocalAABB()
    return form


@dataclass(frozen=True, slots=True)
class _Part:
    """A shape at its place: (4, 4) ``matrix`` in ``world``."""

    name: str
    matrix: FloatArray
    shape: Any

    def sphere(self) -> tuple[float, float, float, float]:
        """Centre in ``world`` and radius of a sphere around the shape."""
        x, y, z = self.matrix[:3, :3] @ self.shape.aabb_center + self.matrix[:3, 3]
        return float(x), float(y), float(z), float(self.shape.aabb_radius)


def _near(first: Sequence[_Part], second: Sequence[_Part]) -> list[tuple[_Part, _Part]]:
    """Pairs whose spheres overlap."""
    if not first or not second:
        return []
    a, b = (np.array([part.sphere() for part in parts]) for parts in (first, second))
    gaps = np.linalg.norm(a[:, None, :3] - b[None, :, :3], axis=2) - a[:, None, 3] - b[None, :, 3]
    return [(first[i], second[j]) for i, j in zip(*np.nonzero(gaps <= 0.0), strict=True)]


def _overlap(a: _Part, b: _Part) -> bool:
    places = [coal.Transform3s(part.matrix[:3, :3], part.matrix[:3, 3]) for part in (a, b)]
    result = coal.CollisionResult()
    coal.collide(a.shape, places[0], b.shape, places[1], coal.CollisionRequest(), result)
    return bool(result.isCollision())
