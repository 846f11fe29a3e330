"""From LDraw's frame and unit to ours and back.

LDraw is x right, y down, z to the back, in LDU; ours is z up, in metres::

    (x, y, z) LDU  ->  (x, z, -y) * 0.0004 m

A pose changes frame on both sides: the matrix of a type 1 line maps the part's LDraw frame into the model's
LDraw frame; here it maps the part frame into the assembly's frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jarvis_core.pose import FloatArray, Pose
from scipy.spatial.transform import Rotation

from jarvis_bricks.geometry import LDU_M

#: Rotation from LDraw's axes to ours.
FROM_LDRAW: FloatArray = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])

#: Singular values of a placement may differ from 1 by this much before it counts as scaled. Hand-written files
#: give rotations with three digits.
_SCALE_TOLERANCE = 2e-3


def points_from_ldraw(points: FloatArray) -> FloatArray:
    """Points (…, 3) in LDU to metres, z up."""
    # x, z, -y: three copies take a tenth of the time of a product for each triangle.
    moved: FloatArray = np.empty(points.shape)
    np.multiply(points[..., 0], LDU_M, out=moved[..., 0])
    np.multiply(points[..., 2], LDU_M, out=moved[..., 1])
    np.multiply(points[..., 1], -LDU_M, out=moved[..., 2])
    return moved


def points_to_ldraw(points: FloatArray) -> FloatArray:
    """Points (…, 3) to LDraw's axes, still in metres."""
    moved: FloatArray = points @ FROM_LDRAW
    return moved


def directions_from_ldraw(directions: FloatArray) -> FloatArray:
    """Directions (…, 3) to z up; lengths stay."""
    turned: FloatArray = directions @ FROM_LDRAW.T
    return turned


def poses_from_ldraw(matrices: FloatArray) -> list[tuple[Pose, FloatArray | None] | None]:
    """Poses of (n, 4, 4) LDraw placements, and what each does to the part beyond them.

    Returns:
        For each placement its pose and None, or the (3, 3) ``stretch`` in the part frame (metres, z up) that a
        mirrored or scaled part undergoes before the pose: rotation @ stretch is the placement's own linear part.
        None for a singular or infinite placement.

    A scaled matrix becomes its closest rotation (polar decomposition). All rotations are equally far from a
    reflection; the part is then flipped along its own x axis, which most parts do not show.
    """
    if len(matrices) == 0:
        return []
    linear = FROM_LDRAW @ matrices[:, :3, :3] @ FROM_LDRAW.T
    usable = np.isfinite(matrices).all(axis=(1, 2))
    safe = np.where(usable[:, None, None], linear, np.eye(3))
    determinant = np.linalg.det(safe)
    usable &= np.abs(determinant) >= 1e-6
    safe = np.where(usable[:, None, None], safe, np.eye(3))
    mirrored = usable & (determinant < 0.0)
    flipped = np.where(mirrored[:, None, None], safe * np.array([-1.0, 1.0, 1.0]), safe)
    left, scale, right = np.linalg.svd(flipped)
    turns = left @ right
    scaled = np.abs(scale - 1.0).max(axis=1) > _SCALE_TOLERANCE
    stretches = np.swapaxes(turns, 1, 2) @ safe
    positions = points_from_ldraw(np.where(np.isfinite(matrices[:, :3, 3]), matrices[:, :3, 3], 0.0))
    quaternions = Rotation.from_matrix(turns).as_quat(canonical=True)
    return [
        (Pose(position, quaternion), stretch if odd else None) if good else None
        for position, quaternion, stretch, odd, good in zip(
            positions, quaternions, stretches, mirrored | scaled, usable, strict=True
        )
    ]


def pose_from_ldraw(matrix: FloatArray) -> tuple[Pose, bool]:
    """The pose of a (4, 4) LDraw placement, and whether the matrix was mirrored or scaled; see poses_from_ldraw.

    Raises:
        ValueError: the matrix is singular or not finite.
    """
    (found,) = poses_from_ldraw(matrix[None])
    if found is None:
        raise ValueError("a placement with a singular matrix")
    return found[0], found[1] is not None


def pose_to_ldraw(pose: Pose, stretch: Sequence[float] | None = None) -> FloatArray:
    """The (4, 4) LDraw placement of a pose; ``stretch``: nine numbers of ``Brick.stretch``, row by row."""
    linear = pose.rotation
    if stretch is not None:
        linear = linear @ np.reshape(stretch, (3, 3))
    matrix = np.eye(4)
    matrix[:3, :3] = FROM_LDRAW.T @ linear @ FROM_LDRAW
    matrix[:3, 3] = pose.position @ FROM_LDRAW / LDU_M
    return matrix
