"""Parts known only by their file: shape, connectors and mass found from the geometry."""

from __future__ import annotations

import re

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_bricks.geometry import LDU_M, STUD_PITCH_M, Connectors, Mesh, PartGeometry
from jarvis_bricks.ldraw.document import MAIN_COLOUR, Section
from jarvis_bricks.ldraw.frame import points_from_ldraw
from jarvis_bricks.parametric import ABS_DENSITY
from jarvis_bricks.part_mesh import FlatPart
from jarvis_bricks.symmetry import YAW_TURNS, Quaternion, yaw_symmetries

#: Mean wall thickness assumed for parts known only by their surface; both sides of a wall are in that surface.
_WALL_M = 0.0012

#: A box-like body covers at least this share of the top and of each side of its bounding box. Technic bricks have
#: holes and grilles gaps; a slope or a round body covers next to nothing of one side.
_BOX_FILL = 0.5

#: A tube may end this far above the plane of the underside (4 LDU).
_RECESS_M = 0.0017

_ORDINARY = re.compile(r"[=_~]?(Technic Brick|Brick|Plate|Tile|Baseplate)\b")


def library_geometry(name: str, section: Section, flat: FlatPart, low_poly: Mesh) -> PartGeometry:
    """Everything about a part that only a file describes.

    Raises:
        BadInputError: the file holds no geometry.
    """
    if len(flat.triangles) == 0 and len(flat.edges) == 0:
        raise BadInputError(f"{name} holds no geometry", where=section.source)
    points = flat.body_points()
    bounds = np.stack([points.min(axis=0), points.max(axis=0)])
    centre = bounds.mean(axis=0)
    mesh = flat.mesh()
    studs, antistuds = flat.upright_studs(), _antistuds(flat, section, bounds)
    reason = _not_physical_reason(section, flat, bounds, studs, antistuds)
    volume = _volume(flat, bounds)
    size = bounds[1] - bounds[0]
    return PartGeometry(
        part=name,
        description=section.title,
        source="library",
        mesh=mesh,
        low_poly=low_poly,
        bounds=bounds,
        boxes=(Box(Pose(centre), (float(size[0]), float(size[1]), float(size[2]))),),
        studs=studs,
        antistuds=antistuds,
        symmetries=_symmetries(mesh, centre),
        symmetry_centre=(float(centre[0]), float(centre[1]), float(centre[2])),
        volume_m3=volume,
        mass_kg=volume * ABS_DENSITY,
        physical=not reason,
        not_physical_reason=reason,
    )


def _symmetries(mesh: Mesh, centre: FloatArray) -> tuple[Quaternion, ...]:
    """From all corners and their colours, so that a print breaks a symmetry."""
    if len(mesh.vertices) == 0:
        return YAW_TURNS[:1]
    middles = mesh.vertices[mesh.triangles].mean(axis=1).astype(np.float64)
    plain = mesh.colours == MAIN_COLOUR
    corners = mesh.vertices[np.unique(mesh.triangles[plain])].astype(np.float64)
    labels = np.concatenate([np.zeros(len(corners)), 1.0 + mesh.colours[~plain].astype(np.float64)])
    return yaw_symmetries(np.vstack([corners, middles[~plain]]), labels, centre)


def _areas(triangles: FloatArray) -> FloatArray:
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas: FloatArray = 0.5 * np.linalg.norm(normals, axis=1)
    return areas


def _volume(flat: FlatPart, bounds: FloatArray) -> float:
    """Thin shell: half the surface (walls have two sides) times a mean wall; at most the bounding box.

    Flat pieces (stickers, lone primitives) are taken to be one wall thick.
    """
    shell = float(_areas(flat.triangles * LDU_M).sum()) / 2 * _WALL_M
    return min(shell, float(np.prod(np.maximum(bounds[1] - bounds[0], _WALL_M))))


def _antistuds(flat: FlatPart, section: Section, bounds: FloatArray) -> Connectors:
    """Openings around the tubes (four each) and pins (two each) of the underside, inside the body's outline.

    A tube stands between four openings, a pin between two. Ordinary parts one stud wide and at most two long have
    neither and one opening for each stud of length.
    """
    tubes, names = flat.tubes()
    half, low = STUD_PITCH_M / 2, float(bounds[0, 2])
    around = np.array([(half, 0.0), (-half, 0.0), (0.0, half), (0.0, -half)])
    corners = np.array([(half, half), (half, -half), (-half, half), (-half, -half)])
    places = [np.zeros((0, 3))]
    for position, axis, primitive in zip(tubes.positions, tubes.axes, names, strict=True):
        if axis[2] < 0.999:
            continue
        flat_places = position[:2] + (around if primitive.startswith("stud3") else corners)
        level = low if position[2] - low < _RECESS_M else float(position[2])
        places.append(np.column_stack([flat_places, np.full(4, level)]))
    # An opening has half a pitch around it inside the outline, less the slack between real parts.
    margin = half - 2e-4
    candidates = np.vstack(places)
    inside = (candidates[:, :2] >= bounds[0, :2] + margin) & (candidates[:, :2] <= bounds[1, :2] - margin)
    found = np.unique(np.round(candidates[inside.all(axis=1)], 6), axis=0)
    if len(found) == 0 and _ORDINARY.match(section.title):
        found = _small_footprint(bounds)
    return Connectors(found, np.tile([0.0, 0.0, 1.0], (len(found), 1)))


def _small_footprint(bounds: FloatArray) -> FloatArray:
    """(n, 3) openings of a footprint of 1 x 1 or 1 x 2 studs; (0, 3) for any other."""
    columns, rows = _cells(bounds)
    if (columns, rows) not in ((1, 1), (2, 1), (1, 2)):
        return np.zeros((0, 3))
    centre = bounds.mean(axis=0)
    x = (np.arange(columns) - (columns - 1) / 2) * STUD_PITCH_M + centre[0]
    y = (np.arange(rows) - (rows - 1) / 2) * STUD_PITCH_M + centre[1]
    return np.array([(a, b, bounds[0, 2]) for a in x for b in y])


def _cells(bounds: FloatArray) -> tuple[int, int]:
    """The footprint in studs along x and y; 0 for a side that is no whole number of studs (to 0.4 mm)."""
    sides = (bounds[1] - bounds[0])[:2] / STUD_PITCH_M
    columns, rows = (
        int(n) if abs(side - n) < 0.05 else 0 for side, n in zip(sides, np.round(sides), strict=True)
    )
    return columns, rows


def _not_physical_reason(
    section: Section, flat: FlatPart, bounds: FloatArray, studs: Connectors, antistuds: Connectors
) -> str:
    """Why a part can't be simulated and gripped as an ordinary stud-up box; empty if it can."""
    columns, rows = _cells(bounds)
    if _ORDINARY.match(section.title) is None:
        return f"not an ordinary brick, plate or tile: {section.title}"
    if columns * rows == 0:
        return "its footprint is no whole number of studs"
    if len(antistuds) == 0:
        return "no openings for studs are known on its underside"
    if np.abs(antistuds.positions[:, 2] - bounds[0, 2]).max() > 1e-4:
        return "its openings do not lie in the plane of its underside"
    if len(studs) and (studs.axes[:, 2] < 0.999).any():
        return "it has studs that do not point up"
    if len(studs) and np.abs(studs.positions[:, 2] - bounds[1, 2]).max() > 1e-4:
        return "it has studs below its top plane"
    if not _is_box(flat, bounds):
        return "its body is not box-like"
    if columns * rows != len(antistuds):
        return "some openings on its underside are not known"
    return ""


def _is_box(flat: FlatPart, bounds: FloatArray) -> bool:
    """The body's surface covers enough of the sides and the top of its bounding box."""
    triangles = points_from_ldraw(flat.triangles[~flat.stud_triangles])
    areas, size = _areas(triangles), bounds[1] - bounds[0]
    for axis, side in ((0, 0), (0, 1), (1, 0), (1, 1), (2, 1)):
        face = float(np.prod(np.delete(size, axis)))
        on_side = (np.abs(triangles[..., axis] - bounds[side, axis]) < 1e-5).all(axis=1)
        if float(areas[on_side].sum()) < face * _BOX_FILL:
            return False
    return True
