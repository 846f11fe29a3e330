"""Everything known of parts, by number: built-in definitions and an LDraw library together."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from jarvis_bricks.colours import ColourTable
from jarvis_bricks.geometry import STUD_PITCH_M, Connectors, Mesh, PartGeometry
from jarvis_bricks.ldraw.document import Section, normalise, read_document
from jarvis_bricks.library import LDrawLibrary
from jarvis_bricks.parametric import ABS_DENSITY, parametric_geometry, parametric_part
from jarvis_bricks.part_mesh import FlatPart, PartFlattener
from jarvis_bricks.symmetry import YAW_TURNS, yaw_symmetries
from jarvis_core.errors import BadInputError
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

#: Mean wall thickness assumed for parts known only by their surface; both sides of a wall are counted in it.
_WALL_M = 0.0012

#: How far a body may be from filling its bounding box and still be called a box (share of volume).
_BOX_FILL = 0.985

_ORDINARY = re.compile(r"[=_~]?(Brick|Plate|Tile|Baseplate)\b")


class PartCatalogue:
    """Geometry of parts, computed once each.

    Where a part is both built in and in the library, the library gives the meshes, the built-in definition gives
    connectors, boxes, symmetries and mass.

    Args:
        library: None: only built-in parts are known.
        inline: parts that a model file holds itself, by section name (see ``for_model``).
    """

    def __init__(self, library: LDrawLibrary | None = None, *, inline: Mapping[str, Section] | None = None) -> None:
        self.library = library
        self.colours = ColourTable.load(library)
        self._inline = dict(inline or {})
        self._geometry: dict[str, PartGeometry] = {}
        self._exact = PartFlattener(self._section, self.colours)
        low = library.low_resolution if library is not None else None
        self._simple = PartFlattener(self._section, self.colours, simple=True, low_resolution=low)

    @classmethod
    def for_model(cls, path: Path, library: LDrawLibrary | None = None) -> PartCatalogue:
        """A catalogue that also knows the parts inside a model file."""
        return cls(library, inline=read_document(path).sections)

    def knows(self, part: str) -> bool:
        """Whether ``geometry`` has an answer. Takes the part number with or without ``.dat``."""
        name = part_name(part)
        return parametric_part(name) is not None or self._section(f"{name}.dat") is not None

    def geometry(self, part: str) -> PartGeometry:
        """Raises BadInputError: unknown part, or a library file that lacks something it refers to."""
        name = part_name(part)
        if name not in self._geometry:
            self._geometry[name] = self._make(name)
        return self._geometry[name]

    def _make(self, name: str) -> PartGeometry:
        section = self._section(f"{name}.dat")
        known = parametric_part(name)
        if section is None and known is None:
            raise BadInputError(
                f"unknown part {name}", fix="give an LDraw library that holds it (--ldraw-library or LDRAWDIR)"
            )
        if section is None:
            assert known is not None
            return parametric_geometry(known.part)
        known = known or parametric_part(part_name(section.name))
        mesh = self._exact.flatten(section).mesh()
        if known is not None:
            built_in = parametric_geometry(known.part)
            return replace(built_in, description=section.title, source="library", mesh=mesh)
        return _from_library(name, section, self._exact.flatten(section), self._simple.flatten(section).mesh())

    def _section(self, name: str) -> Section | None:
        key = normalise(name)
        inline = self._inline.get(key) or self._inline.get(key.removesuffix(".dat"))
        if inline is not None or self.library is None:
            return inline
        return self.library.resolve(key)


def part_name(reference: str) -> str:
    """The part number of a referenced file name: lower case, without ``.dat``."""
    return normalise(reference).removesuffix(".dat")


def _from_library(name: str, section: Section, flat: FlatPart, low_poly: Mesh) -> PartGeometry:
    """A part known only by its file."""
    if len(flat.triangles) == 0 and len(flat.edges) == 0:
        raise BadInputError(f"{name} holds no geometry", where=section.source)
    points = flat.body_points()
    bounds = np.stack([points.min(axis=0), points.max(axis=0)])
    centre = bounds.mean(axis=0)
    studs, antistuds = flat.upright_studs(), _antistuds(flat, bounds)
    reason = _not_physical_reason(section, flat, bounds, studs, antistuds)
    volume = _volume(flat, bounds)
    return PartGeometry(
        part=name,
        description=section.title,
        source="library",
        mesh=flat.mesh(),
        low_poly=low_poly,
        bounds=bounds,
        boxes=(_bounding_box(bounds),),
        studs=studs,
        antistuds=antistuds,
        symmetries=_library_symmetries(flat, centre),
        symmetry_centre=(float(centre[0]), float(centre[1]), float(centre[2])),
        volume_m3=volume,
        mass_kg=volume * ABS_DENSITY,
        physical=not reason,
        not_physical_reason=reason,
    )


def _bounding_box(bounds: FloatArray) -> Box:
    size = bounds[1] - bounds[0]
    return Box(Pose(bounds.mean(axis=0)), (float(size[0]), float(size[1]), float(size[2])))


def _library_symmetries(flat: FlatPart, centre: FloatArray) -> tuple[tuple[float, float, float, float], ...]:
    """From all corners and their colours, so that a print breaks a symmetry."""
    points = flat.mesh()
    if len(points.vertices) == 0:
        return YAW_TURNS[:1]
    middles = points.vertices[points.triangles].mean(axis=1).astype(np.float64)
    plain = points.colours == 16
    corners = points.vertices[np.unique(points.triangles[plain])].astype(np.float64)
    placed = np.vstack([corners, middles[~plain]])
    labels = np.concatenate([np.zeros(len(corners)), 1.0 + points.colours[~plain].astype(np.float64)])
    return yaw_symmetries(placed, labels, centre)


def _volume(flat: FlatPart, bounds: FloatArray) -> float:
    """Thin shell: half the surface (walls have two sides) times a mean wall, at most the bounding box."""
    corners = flat.triangles * 0.0004
    area = np.linalg.norm(
        np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
    ).sum()
    return float(min(area / 2 * _WALL_M, np.prod(bounds[1] - bounds[0]))) or 1e-10


def _antistuds(flat: FlatPart, bounds: FloatArray) -> Connectors:
    """Openings around the tubes (four each) and pins (two each) of an underside, inside the body's outline.

    A tube stands between four openings, a pin between two. A single-stud part has one opening under its middle.
    """
    tubes, names = flat.tubes()
    pitch = STUD_PITCH_M / 2
    places: list[FloatArray] = []
    for position, axis, primitive in zip(tubes.positions, tubes.axes, names, strict=True):
        if axis[2] < 0.999:
            continue
        pin = primitive.startswith("stud3")
        around = [(pitch, 0.0), (-pitch, 0.0), (0.0, pitch), (0.0, -pitch)]
        corners = [(pitch, pitch), (pitch, -pitch), (-pitch, pitch), (-pitch, -pitch)]
        places.extend(position + [dx, dy, 0.0] for dx, dy in (around if pin else corners))
    size = bounds[1] - bounds[0]
    if not places and np.allclose(size[:2], STUD_PITCH_M, atol=4e-4):
        places.append(np.array([*bounds.mean(axis=0)[:2], bounds[0, 2]]))
    # A stud needs its whole radius and a wall inside the outline: half a pitch, less the slack of a real part.
    margin = pitch - 2e-4
    inside = [
        p
        for p in places
        if (p[:2] >= bounds[0, :2] + margin).all() and (p[:2] <= bounds[1, :2] - margin).all()
    ]
    if not inside:
        return Connectors(np.zeros((0, 3)), np.zeros((0, 3)))
    unique = np.unique(np.round(np.array(inside), 5), axis=0)
    return Connectors(unique, np.tile([0.0, 0.0, 1.0], (len(unique), 1)))


def _not_physical_reason(
    section: Section, flat: FlatPart, bounds: FloatArray, studs: Connectors, antistuds: Connectors
) -> str:
    """Why a part can't be simulated and gripped as an ordinary stud-up box; empty if it can."""
    if _ORDINARY.match(section.title) is None:
        return f"not an ordinary brick, plate or tile: {section.title}"
    if len(antistuds) == 0:
        return "no openings for studs are known on its underside"
    if np.ptp(antistuds.positions[:, 2]) > 1e-4 or abs(antistuds.positions[0, 2] - bounds[0, 2]) > 1e-4:
        return "its openings do not lie in the plane of its underside"
    if len(studs) and (studs.axes[:, 2] < 0.999).any():
        return "it has studs that do not point up"
    if len(studs) and np.abs(studs.positions[:, 2] - bounds[1, 2]).max() > 1e-4:
        return "it has studs below its top plane"
    if _fill(flat, bounds) < _BOX_FILL:
        return "its body is not box-like"
    cells = math.prod(round(float(side) / STUD_PITCH_M) for side in (bounds[1] - bounds[0])[:2])
    if cells != len(antistuds):
        return "some openings on its underside are not known"
    return ""


def _fill(flat: FlatPart, bounds: FloatArray) -> float:
    """Smallest share of the six sides of the bounding box that the body's surface covers."""
    corners = flat.triangles[~flat.stud_triangles]
    points = np.stack([corners[..., 0], corners[..., 2], -corners[..., 1]], axis=-1) * 0.0004
    size = bounds[1] - bounds[0]
    area = 0.5 * np.linalg.norm(np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0]), axis=1)
    shares = []
    for axis in range(3):
        face = float(np.prod(np.delete(size, axis)))
        for side in (0, 1):
            if axis == 2 and side == 0:
                continue
            on_side = (np.abs(points[..., axis] - bounds[side, axis]) < 1e-5).all(axis=1)
            shares.append(float(area[on_side].sum()) / max(face, 1e-12))
    return min(shares)
