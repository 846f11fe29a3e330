"""Coloured triangle meshes of links, for simulators and renderers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import collada  # type: ignore[import-untyped]
import fast_simplification
import numpy as np
import numpy.typing as npt
from jarvis_core.errors import BadInputError
from jarvis_core.pose import FloatArray

#: A mesh is not simplified below this.
_FEWEST_TRIANGLES = 200
#: The colour of what has none.
_GREY = (0.8, 0.8, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class ColouredMesh:
    """Triangles of one colour, in the mesh file's frame.

    Attributes:
        vertices: (n, 3) float32, metres; those at one place are one where the surface is smooth.
        triangles: (m, 3) int32 indices, counter-clockwise seen from outside.
        rgba: red, green, blue, opacity in [0, 1].
    """

    vertices: npt.NDArray[np.float32]
    triangles: npt.NDArray[np.int32]
    rgba: tuple[float, float, float, float]


def simplified(mesh: ColouredMesh, share: float) -> ColouredMesh:
    """The mesh with about ``share`` of its triangles (quadric edge collapse); small meshes stay as they are."""
    if share >= 1.0 or len(mesh.triangles) * share < _FEWEST_TRIANGLES:
        return mesh
    vertices, triangles = fast_simplification.simplify(
        mesh.vertices, mesh.triangles, target_reduction=1.0 - share
    )
    return ColouredMesh(vertices.astype(np.float32), triangles.astype(np.int32), mesh.rgba)


def box_mesh(size_m: tuple[float, float, float]) -> ColouredMesh:
    """A grey cuboid with full edges ``size_m`` around the origin; every face has vertices of its own."""
    corners: list[FloatArray] = []
    triangles: list[tuple[int, int, int]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            u, v, n = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3], side * np.eye(3)[axis]
            first = len(corners)
            # Counter-clockwise seen from outside: with u x v along the axis, the order turns with the side.
            corners += [n + a * u + side * b * v for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
            triangles += [(first, first + 1, first + 2), (first, first + 2, first + 3)]
    vertices = np.array(corners) * np.array(size_m) / 2
    return ColouredMesh(vertices.astype(np.float32), np.array(triangles, np.int32), _GREY)


@lru_cache(maxsize=64)
def read_collada(path: Path) -> tuple[ColouredMesh, ...]:
    """One mesh per colour of a COLLADA (.dae) file, z up.

    Raises:
        BadInputError: the file is no COLLADA, has another up axis or holds no triangles.
    """
    with warnings.catch_warnings():
        # pycollada 0.9.3 sets array shapes in place, which numpy 2.5 deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        return _read_collada(path)


def _read_collada(path: Path) -> tuple[ColouredMesh, ...]:
    try:
        document = collada.Collada(str(path), ignore=[collada.common.DaeUnsupportedError])
    except (OSError, collada.common.DaeError) as error:
        raise BadInputError(f"is no COLLADA mesh ({error})", where=str(path)) from error
    if str(document.assetInfo.upaxis) != "Z_UP":
        raise BadInputError(f"has up axis {document.assetInfo.upaxis}, not Z_UP", where=str(path))
    soup: dict[tuple[float, float, float, float], list[npt.NDArray[np.float32]]] = {}
    for geometry in document.scene.objects("geometry"):
        for primitive in geometry.primitives():
            if isinstance(primitive, collada.triangleset.BoundTriangleSet) and len(primitive):
                corners = np.asarray(primitive.vertex, np.float32)[primitive.vertex_index.reshape(-1)]
                soup.setdefault(_colour(primitive.material), []).append(corners)
    if not soup:
        raise BadInputError("holds no triangles", where=str(path))
    unit = float(document.assetInfo.unitmeter or 1.0)
    return tuple(_merged(np.concatenate(parts) * unit, colour) for colour, parts in soup.items())


def _colour(material: collada.material.Material | None) -> tuple[float, float, float, float]:
    diffuse = material.effect.diffuse if material is not None else None
    if not isinstance(diffuse, tuple):  # a texture, or nothing
        return _GREY
    red, green, blue = (round(float(v), 4) for v in diffuse[:3])
    return (red, green, blue, 1.0)


def _merged(corners: npt.NDArray[np.float32], rgba: tuple[float, float, float, float]) -> ColouredMesh:
    """Merge equal corners (a shared vertex gives smooth shading) and drop triangles without area."""
    vertices, index = np.unique(corners, axis=0, return_inverse=True)
    triangles = index.reshape(-1, 3).astype(np.int32)
    a, b, c = triangles.T
    whole = (a != b) & (b != c) & (c != a)
    return ColouredMesh(vertices, np.ascontiguousarray(triangles[whole]), rgba)
