"""LDraw files, part geometry, colours, connectivity, grips and build checks.

The public surface is listed here; modules below may be imported directly too.
"""

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.colours import Colour, ColourTable
from jarvis_bricks.geometry import Connectors, Mesh, PartGeometry
from jarvis_bricks.ldraw.reading import read_assembly
from jarvis_bricks.ldraw.writing import write_assembly
from jarvis_bricks.library import LDrawLibrary

__all__ = [
    "Assembly",
    "Brick",
    "Colour",
    "ColourTable",
    "Connectors",
    "LDrawLibrary",
    "Mesh",
    "PartCatalogue",
    "PartGeometry",
    "read_assembly",
    "write_assembly",
]
