"""What is known of one part: its looks, its shape for physics, its studs and their counterparts.

Everything is in the part's own frame: LDraw's origin of the part, turned to z up, in metres::

    LDraw (x right, y down, z back)  ->  part frame (x, y, z) = (x, z, -y) * 0.0004 m

so the origin of an ordinary brick lies in the middle of its top plane, the body below it (z < 0), the studs
above it (z > 0).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray

#: One LDraw unit in metres.
LDU_M = 0.0004
#: Distance of neighbouring studs (20 LDU).
STUD_PITCH_M = 0.008
#: Height of a plate (8 LDU) and of a brick (24 LDU).
PLATE_HEIGHT_M = 0.0032
BRICK_HEIGHT_M = 0.0096
#: Radius and height of a stud (6 and 4 LDU).
STUD_RADIUS_M = 0.0024
STUD_HEIGHT_M = 0.0016


@dataclass(frozen=True, slots=True)
class Mesh:
    """Triangles and lines for drawing.

    Attributes:
        vertices: (n, 3) float32, metres, part frame.
        triangles: (m, 3) int32 indices, counter-clockwise seen from outside.
        colours: (m,) int32 LDraw colour codes; 16 means the brick's own colour.
        edges: (e, 2, 3) float32 line segments always drawn (LDraw type 2).
        edge_colours: (e,) int32; 24 means the edge colour of the brick's colour.
        conditional: (c, 4, 3) float32: segment ends, then the two control points; drawn when both control
            points project on the same side of the segment (LDraw type 5).
    """

    vertices: npt.NDArray[np.float32]
    triangles: npt.NDArray[np.int32]
    colours: npt.NDArray[np.int32]
    edges: npt.NDArray[np.float32]
    edge_colours: npt.NDArray[np.int32]
    conditional: npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Connectors:
    """Studs or anti-studs of a part.

    Attributes:
        positions: (n, 3) metres. A stud: the middle of its foot (on the surface it stands on). An anti-stud:
            the middle of the opening, on the underside, that a stud's foot coincides with when engaged.
        axes: (n, 3) unit vectors, the direction the stud points (for an anti-stud: the direction a stud enters).
    """

    positions: FloatArray
    axes: FloatArray

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, slots=True)
class PartGeometry:
    """One part.

    Attributes:
        part: file name without folder and ``.dat``, lower case, e.g. ``3001``.
        description: e.g. ``Brick  2 x  4``.
        source: ``library`` or ``parametric``: where the meshes come from.
        mesh: exact mesh.
        low_poly: mesh for simulated cameras: 8-sided studs, no hidden detail.
        bounds: (2, 3) smallest and largest corner of the body, studs left out.
        boxes: collision shape without studs, the largest box first.
        studs, antistuds: connectors.
        symmetries: unit quaternions (x, y, z, w) mapping the part onto itself; identity first. Their rotation
            is about ``symmetry_centre``.
        symmetry_centre: (3,) a fixed point of all symmetries, e.g. the middle of the body.
        volume_m3: of the material; exact where the file's surface is closed, else from surface and walls.
        mass_kg: volume times the density of ABS (1,050 kg/m^3).
        physical: an ordinary stud-up part whose boxes and connectors are known well enough to be simulated
            and gripped; ``not_physical_reason`` says why if not.
        bores: tubes between openings whose bore takes a stud too (a brick half a stud off along x and y).
    """

    part: str
    description: str
    source: str
    mesh: Mesh
    low_poly: Mesh
    bounds: FloatArray
    boxes: tuple[Box, ...]
    studs: Connectors
    antistuds: Connectors
    symmetries: tuple[tuple[float, float, float, float], ...]
    symmetry_centre: tuple[float, float, float]
    volume_m3: float
    mass_kg: float
    physical: bool
    not_physical_reason: str = ""
    bores: Connectors = field(default_factory=lambda: Connectors(np.zeros((0, 3)), np.zeros((0, 3))))

    @property
    def body_boxes(self) -> tuple[Box, ...]:
        """The collision boxes without those of single studs on the sides."""
        level = np.abs(self.studs.axes[:, 2]) < 0.5
        middles = (self.studs.positions + self.studs.axes * (STUD_HEIGHT_M / 2))[level]
        return tuple(
            box for box in self.boxes if not (np.abs(middles - box.pose.position).max(axis=1) < 1e-6).any()
        )
