"""Arrays of unit quaternions (x, y, z, w in the last axis); leading axes broadcast."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from jarvis_core.pose import FloatArray

_CONJUGATE = np.array([-1.0, -1.0, -1.0, 1.0])
_IDENTITY = np.eye(3).ravel()


def _product_terms() -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Which component of a, with which sign, meets component k of b in component i of the product a b."""
    index = np.array([[3, 2, 1, 0], [2, 3, 0, 1], [1, 0, 3, 2], [0, 1, 2, 3]], dtype=np.intp)
    sign = np.array([[1.0, -1, 1, 1], [1, 1, -1, 1], [-1, 1, 1, 1], [-1, -1, -1, 1]])
    return index, sign


def _matrix_terms() -> FloatArray:
    """(16, 9) what each product of two components adds to the rotation matrix minus the identity."""
    x, y, z, w = range(4)
    terms = np.zeros((4, 4, 3, 3))
    for a, b, c in ((x, y, z), (y, z, x), (z, x, y)):
        terms[b, b, a, a] = terms[c, c, a, a] = -2.0
        terms[a, b, a, b] = terms[a, b, b, a] = 2.0
        terms[c, w, a, b], terms[c, w, b, a] = -2.0, 2.0
    return terms.reshape(16, 9)


_INDEX, _SIGN = _product_terms()
_TERMS = _matrix_terms()


def inverse(q: FloatArray) -> FloatArray:
    conjugate: FloatArray = q * _CONJUGATE
    return conjugate


def normalised(q: FloatArray) -> FloatArray:
    """Unit quaternions; raises ValueError for one without length."""
    norm = lengths(q)
    if not (norm > 0.0).all():
        raise ValueError("a quaternion without length")
    unit: FloatArray = q / norm[..., None]
    return unit


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """The rotation that first does ``b``, then ``a``."""
    product: FloatArray = np.einsum("...ik,...k->...i", a[..., _INDEX] * _SIGN, b)
    return product


def matrices(q: FloatArray) -> FloatArray:
    """(..., 3, 3): their columns are the turned axes."""
    pairs = (q[..., :, None] * q[..., None, :]).reshape(*q.shape[:-1], 16)
    found: FloatArray = (pairs @ _TERMS + _IDENTITY).reshape(*q.shape[:-1], 3, 3)
    return found


def apply(q: FloatArray, points: FloatArray) -> FloatArray:
    """Points (..., 3) turned."""
    turned: FloatArray = np.einsum("...ij,...j->...i", matrices(q), points)
    return turned


def lengths(vectors: FloatArray) -> FloatArray:
    """Of vectors in the last axis."""
    found: FloatArray = np.sqrt(np.einsum("...k,...k->...", vectors, vectors))
    return found


def nearest(places: FloatArray, bricks: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Which of m rotations of each place is nearest to that of each of its c bricks, and the angle between them.

    Args:
        places: (n, m, 4) unit quaternions; ``bricks``: (n, c, 4).

    Returns:
        (n, c) index of the rotation, (n, c) angle in radians.

    Between unit quaternions of rotations an angle a apart lies a chord of 2 sin(a / 4), to the nearer of q and -q;
    unlike the arc cosine of their product it keeps its digits near zero.
    """
    index, best = _nearest(places, bricks)
    rows = np.arange(len(places))[:, None]
    sign = np.where(best < 0.0, -1.0, 1.0)
    chord = lengths(places[rows, index] - sign[:, :, None] * bricks)
    return index, 4.0 * np.arcsin(np.minimum(chord / 2.0, 1.0))


def nearest_index(places: FloatArray, bricks: FloatArray) -> npt.NDArray[np.intp]:
    """As ``nearest``, without the angles."""
    return _nearest(places, bricks)[0]


def _nearest(places: FloatArray, bricks: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """(n, c) index of the nearest rotation, and its product with the brick's."""
    index = np.zeros(bricks.shape[:2], dtype=np.intp)
    products: FloatArray = places @ bricks.transpose(0, 2, 1)
    best = products[:, 0]
    for k in range(1, places.shape[1]):
        nearer = np.abs(products[:, k]) > np.abs(best)
        index[nearer] = k
        best = np.where(nearer, products[:, k], best)
    return index, best
