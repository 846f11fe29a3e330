"""Arrays of unit quaternions (x, y, z, w in the last axis); leading axes broadcast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])


def inverse(q: FloatArray) -> FloatArray:
    conjugate: FloatArray = q * _CONJUGATE
    return conjugate


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """The rotation that first does ``b``, then ``a``."""
    product = np.empty(np.broadcast_shapes(a.shape, b.shape))
    ax, ay, az, aw = (a[..., k] for k in range(4))
    bx, by, bz, bw = (b[..., k] for k in range(4))
    product[..., 0] = aw * bx + ax * bw + ay * bz - az * by
    product[..., 1] = aw * by - ax * bz + ay * bw + az * bx
    product[..., 2] = aw * bz + ax * by - ay * bx + az * bw
    product[..., 3] = aw * bw - ax * bx - ay * by - az * bz
    return product


def apply(q: FloatArray, points: FloatArray) -> FloatArray:
    """Points (..., 3) turned."""
    x, y, z, w = (q[..., k] for k in range(4))
    px, py, pz = (points[..., k] for k in range(3))
    # t = 2 v x p;  p' = p + w t + v x t
    tx, ty, tz = 2 * (y * pz - z * py), 2 * (z * px - x * pz), 2 * (x * py - y * px)
    turned = np.empty((*tx.shape, 3))
    turned[..., 0] = px + w * tx + y * tz - z * ty
    turned[..., 1] = py + w * ty + z * tx - x * tz
    turned[..., 2] = pz + w * tz + x * ty - y * tx
    return turned


def lengths(vectors: FloatArray) -> FloatArray:
    """Of vectors in the last axis."""
    found: FloatArray = np.sqrt(np.einsum("...k,...k->...", vectors, vectors))
    return found


def nearest(places: FloatArray, bricks: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Which of m rotations of each place is nearest to each brick's, and the angle between them.

    Args:
        places: (n, m, 4) unit quaternions; ``bricks``: (n, 4).

    Returns:
        (n, n) index of the rotation, (n, n) angle in radians; axis 0 is the place.

    Between unit quaternions of rotations an angle a apart lies a chord of 2 sin(a / 4), to the nearer of q and -q;
    unlike the arc cosine of their product it keeps its digits near zero.
    """
    index, products = _products(places, bricks)
    rows = np.arange(len(places))[:, None]
    sign = np.where(products[rows, index, np.arange(len(bricks))[None, :]] < 0.0, -1.0, 1.0)
    chord = lengths(places[rows, index] - sign[:, :, None] * bricks[None, :, :])
    return index, 4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))


def nearest_index(places: FloatArray, bricks: FloatArray) -> npt.NDArray[np.intp]:
    """As ``nearest``, without the angles."""
    return _products(places, bricks)[0]


def _products(places: FloatArray, bricks: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """(n, n) index of the nearest rotation, (n, m, n) products of all."""
    products: FloatArray = places @ bricks.T
    return np.abs(products).argmax(axis=1), products
