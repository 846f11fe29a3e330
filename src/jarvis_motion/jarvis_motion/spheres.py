"""An arm as spheres, the shape in which NVIDIA's planners know robots."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import coal
import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.model import RobotModel
from jarvis_robot.urdf import Shape

#: Thinner boxes get spheres of this diameter, which stick out, for else there would be hundreds.
_THINNEST_M = 0.01
#: Centre (metres, in the link's frame) and radius.
Sphere = tuple[FloatArray, float]
#: Spheres of a mesh, from (v, 3) vertices in metres and (t, 3) indices.
MeshCover = Callable[[FloatArray, FloatArray], list[Sphere]]


def link_spheres(robot: RobotModel, cover_mesh: MeshCover) -> dict[str, list[Sphere]]:
    """Spheres of every link but the base, which stands on the table.

    Args:
        cover_mesh: how meshes are covered; boxes are filled with spheres that touch their sides.
    """
    spheres = {
        name: [s for shape in link.collisions for s in _of_shape(robot, shape, cover_mesh)]
        for name, link in robot.links.items()
        if name != robot.config.base_link
    }
    return {name: kept for name, kept in spheres.items() if kept}


def box_spheres(boxes: Iterable[Box]) -> list[Sphere]:
    """Spheres within boxes, as wide as each box's shortest edge (but see ``_THINNEST_M``).

    They leave the corners out: (sqrt(3) - 1) / 2 of that edge at most.
    """
    return [sphere for box in boxes for sphere in _in_box(box.pose, np.array(box.size_m))]


def _of_shape(robot: RobotModel, shape: Shape, cover_mesh: MeshCover) -> list[Sphere]:
    if shape.size_m is not None:
        return _in_box(shape.pose, np.array(shape.size_m))
    mesh = coal.MeshLoader().load(str(robot.mesh_path(shape)), np.array(shape.scale))
    vertices = shape.pose @ np.array(mesh.vertices())
    triangles = np.array([[mesh.tri_indices(i)[k] for k in range(3)] for i in range(mesh.num_tris)])
    return cover_mesh(vertices, triangles)


def _in_box(pose: Pose, size: FloatArray) -> list[Sphere]:
    radius = max(float(size.min()), _THINNEST_M) / 2
    room = np.maximum(size / 2 - radius, 0.0)
    axes = [np.linspace(-r, r, 1 + int(np.ceil(2 * r / radius - 1e-9))) for r in room]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    return [(point, radius) for point in pose @ grid]
