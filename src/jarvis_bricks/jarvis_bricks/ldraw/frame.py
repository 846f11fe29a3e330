"""From LDraw's frame and unit to ours and back.

LDraw is x right, y down, z to the back, in LDU; ours is z up, in metres::

    (x, y, z) LDU  ->  (x, z, -y) * 0.0004 m

A pose changes frame on both sides: the matrix of a type 1 line maps the part's LDraw frame into the model's
LDraw frame; here it maps the part frame into the assembly's frame.
"""

from __future__ import annotations

import numpy as np
from jarvis_core.pose import FloatArray, Pose

from jarvis_bricks.geometry import LDU_M

#: Rotation from LDraw's axes to ours.
FROM_LDRAW: FloatArray = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])

#: Singular values of a placement may differ from 1 by this much before it counts as scaled. Hand-written files
#: give rotations with three digits.
_SCALE_TOLERANCE = 2e-3


def points_from_ldraw(points: FloatArray) -> FloatArray:
    """Points (…, 3) in LDU to metres, z up."""
    moved: FloatArray = points @ FROM_LDRAW.T * LDU_M
    return moved


def directions_from_ldraw(directions: FloatArray) -> FloatArray:
    """Directions (…, 3) to z up; lengths stay."""
    turned: FloatArray = directions @ FROM_LDRAW.T
    return turned


def pose_from_ldraw(matrix: FloatArray) -> tuple[Pose, bool]:
    """The pose of a (4, 4) LDraw placement, and whether the matrix was mirrored or scaled.

    A scaled matrix becomes its closest rotation (polar decomposition). All rotations are equally far from a
    reflection; the part is then flipped along its own x axis, which most parts do not show.

    Raises:
        ValueError: the matrix is singular or not finite.
    """
    linear = FROM_LDRAW @ matrix[:3, :3] @ FROM_LDRAW.T
    if not np.isfinite(matrix).all() or abs(np.linalg.det(linear)) < 1e-6:
        raise ValueError("a placement with a singular matrix")
    mirrored = bool(np.linalg.det(linear) < 0.0)
    if mirrored:
        linear = linear @ np.diag([-1.0, 1.0, 1.0])
    left, scale, right = np.linalg.svd(linear)
    scaled = bool(np.abs(scale - 1.0).max() > _SCALE_TOLERANCE)
    return Pose.from_rotation(points_from_ldraw(matrix[:3, 3]), left @ right), mirrored or scaled


def pose_to_ldraw(pose: Pose) -> FloatArray:
    """The (4, 4) LDraw placement of a pose."""
    matrix = np.eye(4)
    matrix[:3, :3] = FROM_LDRAW.T @ pose.rotation @ FROM_LDRAW
    matrix[:3, 3] = pose.position @ FROM_LDRAW / LDU_M
    return matrix
