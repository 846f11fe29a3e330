"""Parts known only by their file: shape, connectors and mass found from the geometry."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_bricks.geometry import (
    LDU_M,
    STUD_HEIGHT_M,
    STUD_PITCH_M,
    STUD_RADIUS_M,
    Connectors,
    Mesh,
    PartGeometry,
)
from jarvis_bricks.ldraw.document import MAIN_COLOUR, Section
from jarvis_bricks.ldraw.frame import points_from_ldraw, points_to_ldraw
from jarvis_bricks.openings import Opening, find_openings
from jarvis_bricks.parametric import ABS_DENSITY
from jarvis_bricks.part_mesh import FlatPart, StudKind
from jarvis_bricks.symmetry import IDENTITY, Quaternion, symmetries

#: Mean wall thickness assumed for parts known only by their surface; both sides of a wall are in that surface.
_WALL_M = 0.0012

#: A box-like body covers at least this share of the top and of each side of its bounding box. Technic bricks have
#: holes and grilles gaps; a slope or a round body covers next to nothing of one side.
_BOX_FILL = 0.5

#: A surface whose area vectors add up to more than this share of its area is not closed.
_OPEN_SHARE = 1e-3

#: A tube may end this far above the plane of the underside, LDU.
_RECESS = 4.25

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
    studs = flat.upright_studs()
    antistuds, bores = _openings(flat, bounds)
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
        bores=bores,
    )


def _symmetries(mesh: Mesh, centre: FloatArray) -> tuple[Quaternion, ...]:
    """From all corners and their colours, so that a print breaks a symmetry."""
    if len(mesh.vertices) == 0:
        return (IDENTITY,)
    middles = mesh.vertices[mesh.triangles].mean(axis=1).astype(np.float64)
    plain = mesh.colours == MAIN_COLOUR
    corners = mesh.vertices[np.unique(mesh.triangles[plain])].astype(np.float64)
    labels = np.concatenate([np.zeros(len(corners)), 1.0 + mesh.colours[~plain].astype(np.float64)])
    return symmetries(np.vstack([corners, middles[~plain]]), labels, centre)


def _areas(triangles: FloatArray) -> FloatArray:
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    areas: FloatArray = 0.5 * np.linalg.norm(normals, axis=1)
    return areas


def _volume(flat: FlatPart, bounds: FloatArray) -> float:
    """Of the material in m^3: under the surface if that is closed, else of a thin shell; at most the bounding box.

    The signed volume under a closed surface is the sum of tetrahedra to any point. A surface can't be closed if its
    area vectors don't add up to nothing. Studs are open where they stand and are added as cylinders. A thin shell is
    half the surface (walls have two sides) times a mean wall; flat pieces (stickers, lone primitives) are one wall
    thick.
    """
    triangles = flat.triangles * LDU_M
    body = triangles[~flat.stud_triangles]
    box = float(np.prod(np.maximum(bounds[1] - bounds[0], _WALL_M)))
    shell = min(float(_areas(triangles).sum()) / 2 * _WALL_M, box)
    if len(body) == 0 or flat.two_sided.any():
        return shell
    normals = np.cross(body[:, 1] - body[:, 0], body[:, 2] - body[:, 0]) / 2
    if np.linalg.norm(normals.sum(axis=0)) > _OPEN_SHARE * np.linalg.norm(normals, axis=1).sum():
        return shell
    middle = points_to_ldraw(bounds.mean(axis=0))
    closed = float(np.einsum("ij,ij->", body.mean(axis=1) - middle, normals)) / 3
    studs = sum(1 for stud in flat.studs if stud.kind is StudKind.STUD)
    solid = closed + studs * np.pi * STUD_RADIUS_M**2 * STUD_HEIGHT_M
    return solid if 0.02 * box < closed <= box else shell


def _openings(flat: FlatPart, bounds: FloatArray) -> tuple[Connectors, Connectors]:
    """Openings for studs and bores of tubes: in the underside, and in every other plane that tubes end in."""
    body = flat.triangles[~flat.stud_triangles]
    places: list[tuple[FloatArray, FloatArray, bool]] = []
    for plane in _planes(flat, bounds):
        turned = points_from_ldraw(body) @ plane.turn.T / LDU_M
        outline = np.stack([turned.min(axis=(0, 1)), turned.max(axis=(0, 1))])[:, :2]
        found = find_openings(turned, plane.level, outline)
        if plane.near is not None:
            found = [o for o in found if _reaches(o, plane.near)]
        lone = all(opening.ring for opening in found)
        for opening in found:
            local = np.array([opening.x, opening.y, plane.level]) * LDU_M
            places.append((local @ plane.turn, plane.turn[2], opening.ring and not lone))
    return _as_connectors(places, bore=False), _as_connectors(places, bore=True)


def _reaches(opening: Opening, tubes: FloatArray) -> bool:
    """Whether an opening touches one of the tubes at (n, 2) or lies in it."""
    return bool((np.hypot(tubes[:, 0] - opening.x, tubes[:, 1] - opening.y) < 15.0).any())


def _as_connectors(places: list[tuple[FloatArray, FloatArray, bool]], *, bore: bool) -> Connectors:
    chosen = [(position, axis) for position, axis, is_bore in places if is_bore == bore]
    positions = np.array([position for position, _ in chosen]).reshape(-1, 3)
    # Exact zeros: the same part gives the same numbers whichever way it was turned.
    return Connectors(
        np.round(positions, 9) + 0.0, np.round(np.array([a for _, a in chosen]).reshape(-1, 3), 9) + 0.0
    )


@dataclass(frozen=True, slots=True)
class _Plane:
    """A plane that studs enter from.

    Attributes:
        turn: (3, 3) rotation of the part that turns the direction studs enter in to z.
        level: height of the plane then, LDU.
        near: (n, 2) tubes that end in it then, LDU; None: the whole underside.
    """

    turn: FloatArray
    level: float
    near: FloatArray | None


def _planes(flat: FlatPart, bounds: FloatArray) -> list[_Plane]:
    low = float(bounds[0, 2]) / LDU_M
    planes = [_Plane(np.eye(3), low, None)]
    tubes, _ = flat.tubes()
    groups: dict[tuple[float, ...], list[FloatArray]] = {}
    for position, axis in zip(tubes.positions / LDU_M, tubes.axes, strict=True):
        level = float(position @ axis)
        if axis[2] > 0.999 and level - low < _RECESS:
            continue
        groups.setdefault((*np.round(axis, 3).tolist(), round(level, 1)), []).append(position)
    for key, ends in groups.items():
        turn = _upright_turn(np.array(key[:3]))
        planes.append(_Plane(turn, key[3], (np.array(ends) @ turn.T)[:, :2]))
    return planes


def _upright_turn(axis: FloatArray) -> FloatArray:
    """(3, 3) rotation that turns ``axis`` to z and, where it can, another coordinate axis to x."""
    z = axis / np.linalg.norm(axis)
    x = np.eye(3)[int(np.argmin(np.abs(z)))]
    x = x - (x @ z) * z
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(z, x), z])


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
