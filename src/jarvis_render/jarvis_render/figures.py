"""Triangles and lines of parts as the GPU takes them, without what no one can see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import Mesh, PartGeometry
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray

from jarvis_render.paint import Palette

Float32 = npt.NDArray[np.float32]
Rows = npt.NDArray[Any]

#: LDraw codes that mean "the brick's colour" and "its edge colour".
OWN_COLOUR, OWN_EDGE = 16, 24

#: One corner of a triangle: position and normal (model frame, metres), rgb and 255 where the model's own colour
#: is meant.
TRIANGLE_ROW = np.dtype([("position", "<f4", 3), ("normal", "<f4", 3), ("paint", "u1", 4)])
#: One line: both ends, rgb and 255 where the model's own edge colour is meant.
LINE_ROW = np.dtype([("a", "<f4", 3), ("b", "<f4", 3), ("paint", "u1", 4)])

#: What lies deeper than this under a body's surface is inside it.
_SKIN_M = 5e-5


@dataclass(frozen=True, slots=True)
class Figure:
    """Triangles and lines ready for the GPU, in the model's frame (metres).

    Attributes:
        triangles: (3 m,) of TRIANGLE_ROW.
        lines: (k,) of LINE_ROW.
    """

    triangles: Rows
    lines: Rows


def triangle_rows(corners: npt.ArrayLike, paint: npt.ArrayLike) -> Rows:
    """(3 m,) TRIANGLE_ROWs with flat normals.

    Args:
        corners: (m, 3, 3) metres.
        paint: (m, 4) or (4,), 0 to 1.
    """
    points = np.asarray(corners, dtype=np.float32).reshape(-1, 3, 3)
    normals = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    rows = np.empty((len(points), 3), dtype=TRIANGLE_ROW)
    rows["position"] = points
    rows["normal"] = (normals / np.where(length > 0, length, 1.0))[:, None]
    rows["paint"] = _bytes(paint, len(points))[:, None]
    return rows.reshape(-1)


def line_rows(segments: npt.ArrayLike, paint: npt.ArrayLike) -> Rows:
    """(k,) LINE_ROWs of (k, 2, 3) segments; ``paint`` (k, 4) or (4,), 0 to 1."""
    ends = np.asarray(segments, dtype=np.float32).reshape(-1, 2, 3)
    rows = np.empty(len(ends), dtype=LINE_ROW)
    rows["a"], rows["b"] = ends[:, 0], ends[:, 1]
    rows["paint"] = _bytes(paint, len(ends))
    return rows


def part_triangles(geometry: PartGeometry, mesh: Mesh, palette: Palette, *, above: bool) -> Rows:
    """TRIANGLE_ROWs of a part; seen from ``above`` its inside is left out."""
    corners = mesh.vertices[mesh.triangles]
    shown = ~inside_body(corners, geometry) if above else np.ones(len(corners), dtype=bool)
    paints = _paints(mesh.colours[shown], OWN_COLOUR, palette, edge=False)
    return triangle_rows(corners[shown], paints)


def part_lines(geometry: PartGeometry, palette: Palette, towards: FloatArray) -> Rows:
    """LINE_ROWs of a part: all edges, and the conditional lines that show from a direction.

    Args:
        towards: (3,) direction to the camera in the part frame.
    """
    mesh = geometry.mesh
    conditional = mesh.conditional[conditional_shown(mesh.conditional, towards)]
    segments = np.concatenate([mesh.edges.reshape(-1, 2, 3), conditional[:, :2]])
    codes = np.concatenate([mesh.edge_colours, np.full(len(conditional), OWN_EDGE, dtype=np.int32)])
    rows = line_rows(segments, _paints(codes, OWN_EDGE, palette, edge=True))
    return rows[~inside_body(segments, geometry)] if towards[2] > 0 else rows


def inside_body(shapes: Float32, geometry: PartGeometry) -> npt.NDArray[np.bool_]:
    """(n,) which triangles or lines no one sees from above, because they lie inside the body (tubes, inner walls).

    Only a box of a physical part whose eight corners are corners of the part is taken to be filled by it: not the
    box around a cylinder.

    Args:
        shapes: (n, k, 3) corners in the part frame.
    """
    hidden = np.zeros(len(shapes), dtype=bool)
    if not geometry.physical:
        return hidden
    for box in geometry.boxes:
        if not _fills(geometry.mesh, box):
            continue
        low = box.pose.position - np.array(box.size_m) / 2
        high = box.pose.position + np.array(box.size_m) / 2
        # The underside belongs to it: from above no one sees that either.
        low = low + [_SKIN_M, _SKIN_M, -_SKIN_M]
        hidden |= ((shapes > low) & (shapes < high - _SKIN_M)).all(axis=(1, 2))
    return hidden


def _fills(mesh: Mesh, box: Box) -> bool:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    corners = box.pose.position + signs * np.array(box.size_m) / 2
    gaps = np.abs(mesh.vertices[None] - corners[:, None]).max(axis=2).min(axis=1)
    return bool((gaps < _SKIN_M).all())


def conditional_shown(conditional: Float32, towards: FloatArray) -> npt.NDArray[np.bool_]:
    """(c,) which LDraw type-5 lines show: both control points project onto the same side of the line.

    Args:
        conditional: (c, 4, 3) segment ends and control points.
        towards: (3,) direction to the camera, any length.
    """
    a, b, c, d = np.moveaxis(conditional.astype(np.float64), 1, 0)
    # In an orthographic view the side of a point is the sign of the triple product with the view direction.
    across = np.cross(b - a, np.asarray(towards))
    side_c, side_d = np.sum(across * (c - a), axis=1), np.sum(across * (d - a), axis=1)
    shown: npt.NDArray[np.bool_] = side_c * side_d > 0
    return shown


def _paints(codes: npt.NDArray[np.int32], own: int, palette: Palette, *, edge: bool) -> Float32:
    """(n, 4) rgb and 1 where the code means the brick's own colour."""
    table: dict[int, tuple[float, ...]] = {own: (0.0, 0.0, 0.0, 1.0)}
    unique, inverse = np.unique(codes, return_inverse=True)
    for code in unique.tolist():
        if code not in table:
            paint = palette.paint(code)
            table[code] = (*(paint.edge if edge else paint.face), 0.0)
    rows = np.array([table[code] for code in unique.tolist()], dtype=np.float32).reshape(-1, 4)
    return rows[inverse.reshape(-1)]


def _bytes(paint: npt.ArrayLike, count: int) -> npt.NDArray[np.uint8]:
    levels = np.clip(np.round(np.asarray(paint, dtype=np.float64) * 255), 0, 255).astype(np.uint8)
    return np.broadcast_to(levels, (count, 4))
