"""Unit quaternions (x, y, z, w) of one rotation at a time, in plain arithmetic.

A pose handles a single rotation nearly always; there SciPy's vectorised ``Rotation`` costs ten times the arithmetic.
For many rotations at once, use ``scipy.spatial.transform.Rotation``.
"""

from __future__ import annotations

from math import sqrt

Quaternion = tuple[float, float, float, float]
#: Three rows.
Matrix = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]


def canonical(q: Quaternion) -> Quaternion:
    """Of the two quaternions of a rotation, the one whose w, z, y, x (the first that is not 0) is positive."""
    x, y, z, w = q
    first = w or z or y or x
    return (-x, -y, -z, -w) if first < 0 else q


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """First ``b``, then ``a`` (Hamilton product)."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


def to_matrix(q: Quaternion) -> Matrix:
    """Rotation matrix of a unit quaternion."""
    x, y, z, w = q
    return (
        (1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)),
        (2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)),
        (2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)),
    )


def from_matrix(m: Matrix) -> Quaternion:
    """Unit quaternion of a rotation matrix (Shepperd 1978: divides by the largest component, so never by 0)."""
    (a, b, c), (d, e, f), (g, h, i) = m
    trace = a + e + i
    if trace >= max(a, e, i):
        q = (h - f, c - g, d - b, 1.0 + trace)
    elif a >= e and a >= i:
        q = (1.0 + a - e - i, b + d, c + g, h - f)
    elif e >= i:
        q = (b + d, 1.0 - a + e - i, f + h, c - g)
    else:
        q = (c + g, f + h, 1.0 - a - e + i, d - b)
    x, y, z, w = q
    length = sqrt(x * x + y * y + z * z + w * w)
    return canonical((x / length, y / length, z / length, w / length))
