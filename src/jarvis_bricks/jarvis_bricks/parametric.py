"""Built-in parts: ordinary bricks, plates, tiles and slopes, defined by a few numbers. No library needed.

Origins, orientation and size are LDraw's: the origin in the middle of the top plane (of the studded row of a
slope, of the corner's stud of a corner brick), the longer side along x. Lengths here are LDU, z up::

    slope, seen along x           corner, seen from above
        origin                       +---+
      ____+____  z = 0               | o |
     |    |    \\                     |   +---+
     |         \\                    | +   o |   + origin
     |__________\\_ z = -24          +-------+
     y=10   -10   -30              x: -10 10 30
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray, Pose

from jarvis_bricks.geometry import LDU_M, STUD_HEIGHT_M, STUD_RADIUS_M, Connectors, Mesh, PartGeometry
from jarvis_bricks.mesh_builder import Cylinder, MeshBuilder, Prism, rectangle
from jarvis_bricks.symmetry import symmetries

#: kg/m^3.
ABS_DENSITY = 1050.0

_PITCH, _BRICK, _PLATE, _LIP, _WALL = 20.0, 24.0, 8.0, 4.0, 4.0
_STUD_RADIUS, _STUD_HEIGHT = STUD_RADIUS_M / LDU_M, STUD_HEIGHT_M / LDU_M
_TUBE_OUTER, _TUBE_INNER, _PIN = 8.0, 6.0, 4.0

#: Mean thickness of a real part's walls, 1.2 mm. With it the masses of 3001, 3003, 3005 and 3020 come out
#: within a tenth of the weighed 2.32, 1.16, 0.43 and 1.30 g (the least certain one within a sixth).
_REAL_WALL = 3.0

#: Stair boxes of a slope are no longer than this along the slope.
_STAIR = 7.0

Point = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class ParametricPart:
    """One part in LDU, z up.

    Attributes:
        solids: the body without studs.
        studs, antistuds: as in ``Connectors``.
        boxes: (low corner, high corner) of each collision box.
        hollow: (low x, high x, low y, high y, low z, high z) of a rectangular cavity open at the bottom, for looks.
        tubes, pins: (x, y) of hollow tubes and solid pins in the cavity.
        side_studs: foot and axis of studs that do not point up.
    """

    part: str
    description: str
    solids: tuple[Prism | Cylinder, ...]
    studs: tuple[Point, ...]
    antistuds: tuple[Point, ...]
    boxes: tuple[tuple[Point, Point], ...]
    hollow: tuple[float, ...] | None = None
    tubes: tuple[tuple[float, float], ...] = ()
    pins: tuple[tuple[float, float], ...] = ()
    side_studs: tuple[tuple[Point, Point], ...] = ()

    @property
    def corners(self) -> FloatArray:
        """(n, 3) corners of the body."""
        return np.vstack([solid.corners for solid in self.solids])


def _grid(columns: int, rows: int) -> tuple[tuple[float, float], ...]:
    """Centres of a grid of cells around the origin, ``columns`` along x."""
    return tuple(
        ((i - (columns - 1) / 2) * _PITCH, (j - (rows - 1) / 2) * _PITCH)
        for j in range(rows)
        for i in range(columns)
    )


def _at(level: float, places: tuple[tuple[float, float], ...]) -> tuple[Point, ...]:
    return tuple((x, y, level) for x, y in places)


def _block(
    part: str, kind: str, width: int, length: int, height: float, *, studs: bool = True
) -> ParametricPart:
    """A cuboid: brick, plate or tile, ``length`` studs along x and ``width`` along y."""
    x, y = length * _PITCH / 2, width * _PITCH / 2
    cells = _grid(length, width)
    between = _grid(length - 1, width - 1) if width > 1 else _grid(length - 1, 1)
    layers = height / _BRICK
    suffix = "" if kind != "Brick" or layers == 1 else f" x {layers:2.0f}"
    return ParametricPart(
        part,
        f"{kind} {width:2d} x {length:2d}{suffix}",
        (Prism(rectangle(-x, x, -y, y), "z", -height, 0.0),),
        _at(0.0, cells) if studs else (),
        _at(-height, cells),
        (((-x, -y, -height), (x, y, 0.0)),),
        hollow=(-x + _WALL, x - _WALL, -y + _WALL, y - _WALL, -height, -_WALL),
        tubes=between if width > 1 else (),
        pins=between if width == 1 else (),
    )


def _corner(part: str, kind: str, height: float) -> ParametricPart:
    """An L of three cells; the origin is over the inner cell."""
    ring = ((10.0, 10.0), (10.0, 30.0), (-10.0, 30.0), (-10.0, -10.0), (30.0, -10.0), (30.0, 10.0))
    cells = ((0.0, 0.0), (20.0, 0.0), (0.0, 20.0))
    return ParametricPart(
        part,
        f"{kind}  2 x  2 Corner",
        (Prism(ring, "z", -height, 0.0),),
        _at(0.0, cells),
        _at(-height, cells),
        (((-10.0, -10.0, -height), (30.0, 10.0, 0.0)), ((-10.0, 10.0, -height), (10.0, 30.0, 0.0))),
    )


def _profile(
    part: str,
    description: str,
    width: int,
    profile: tuple[tuple[float, float], ...],
    stud_rows: tuple[float, ...],
    antistud_rows: tuple[float, ...],
) -> ParametricPart:
    """A convex profile (y, z), counter-clockwise seen from +x, swept over ``width`` studs along x."""
    x = width * _PITCH / 2
    columns = tuple(column for column, _ in _grid(width, 1))
    return ParametricPart(
        part,
        description,
        (Prism(profile, "x", -x, x),),
        tuple((c, row, 0.0) for row in stud_rows for c in columns),
        tuple((c, row, min(z for _, z in profile)) for row in antistud_rows for c in columns),
        tuple(((-x, y0, z0), (x, y1, z1)) for y0, y1, z0, z1 in _stairs(profile)),
    )


def _stairs(profile: tuple[tuple[float, float], ...]) -> Iterator[tuple[float, float, float, float]]:
    """Cuts a convex profile into upright slabs (y0, y1, z0, z1) that lie inside it, at most _STAIR long unless flat."""
    levels = sorted({y for y, _ in profile})
    for start, end in pairwise(levels):
        flat = _span(profile, start, 1) == _span(profile, end, -1)
        cuts = np.linspace(start, end, 2 if flat else math.ceil((end - start) / _STAIR) + 1)
        for y0, y1 in pairwise(cuts):
            low0, high0 = _span(profile, float(y0), 1)
            low1, high1 = _span(profile, float(y1), -1)
            low, high = max(low0, low1), min(high0, high1)
            if high - low > 0.5:
                yield float(y0), float(y1), low, high


def _span(profile: tuple[tuple[float, float], ...], y: float, side: int) -> tuple[float, float]:
    """Lowest and highest z of a convex profile just beside ``y`` (side +1: above it, -1: below it)."""
    probe = y + side * 1e-6
    crossings = []
    for (y0, z0), (y1, z1) in zip(profile, profile[1:] + profile[:1], strict=True):
        if (y0 - probe) * (y1 - probe) < 0:
            crossings.append(z0 + (probe - y0) / (y1 - y0) * (z1 - z0))
    return round(min(crossings), 4), round(max(crossings), 4)


def _slope(part: str, angle: int, length: int, width: int, layers: int = 1) -> ParametricPart:
    """Falls towards -y from the studded row at the origin."""
    foot, low = 10.0 - length * _PITCH, -_BRICK * layers
    profile = ((10.0, low), (10.0, 0.0), (-10.0, 0.0), (foot, low + _LIP), (foot, low))
    rows = tuple(-_PITCH * i for i in range(length))
    suffix = f" x {layers:2d}" if layers > 1 else ""
    return _profile(part, f"Slope Brick {angle}  {length} x  {width}{suffix}", width, profile, (0.0,), rows)


def _cheese(part: str, width: int) -> ParametricPart:
    """Two thirds of a brick high, without studs; its origin is in the middle of its underside."""
    profile = ((10.0, 0.0), (10.0, 15.6), (-10.0, _LIP), (-10.0, 0.0))
    return _profile(part, f"Slope Brick 31  1 x  {width} x  0.667", width, profile, (), (0.0,))


def _inverted_slope(part: str, angle: int, length: int, width: int) -> ParametricPart:
    """Its underside rises towards -y from the row at the origin."""
    edge = 10.0 - length * _PITCH
    profile = ((10.0, -_BRICK), (10.0, 0.0), (edge, 0.0), (edge, -_LIP), (-10.0, -_BRICK))
    rows = tuple(-_PITCH * i for i in range(length))
    return _profile(part, f"Slope Brick {angle}  {length} x  {width} Inverted", width, profile, rows, (0.0,))


def _double_slope(part: str, width: int) -> ParametricPart:
    """A ridge along x, without studs."""
    low = _LIP - _BRICK
    profile = ((20.0, -_BRICK), (20.0, low), (0.0, 0.0), (-20.0, low), (-20.0, -_BRICK))
    return _profile(part, f"Slope Brick 45  2 x  {width} Double", width, profile, (), (10.0, -10.0))


def _round(part: str, description: str, height: float) -> ParametricPart:
    """A cylinder of one stud. Its collision box is the square around it: it stands and is gripped like one."""
    return ParametricPart(
        part,
        description,
        (Cylinder((0.0, 0.0), 10.0, -height, 0.0),),
        ((0.0, 0.0, 0.0),),
        ((0.0, 0.0, -height),),
        (((-10.0, -10.0, -height), (10.0, 10.0, 0.0)),),
    )


def _wide_round(part: str, description: str, height: float, *, studs: bool = True) -> ParametricPart:
    """A cylinder of two by two studs. Its collision boxes make up an eight-sided one around it, but for its corners."""
    radius, face = 20.0, 20.0 * math.tan(math.pi / 8)
    square = radius / math.sqrt(2)
    sides = ((radius, face), (face, radius), (square, square))
    return ParametricPart(
        part,
        description,
        (Cylinder((0.0, 0.0), radius, -height, 0.0),),
        _at(0.0, _grid(2, 2)) if studs else (),
        _at(-height, _grid(2, 2)),
        tuple(((-x, -y, -height), (x, y, 0.0)) for x, y in sides),
    )


def _with_side_studs(block: ParametricPart, description: str, *studs: tuple[Point, Point]) -> ParametricPart:
    """A block with studs on its sides, each with a collision box of its own."""
    boxes = []
    for foot, axis in studs:
        ends = np.array([foot, np.array(foot) + np.array(axis) * _STUD_HEIGHT])
        reach = _STUD_RADIUS * (1.0 - np.abs(axis))
        boxes.append((_point(ends.min(axis=0) - reach), _point(ends.max(axis=0) + reach)))
    return replace(block, description=description, boxes=(*block.boxes, *boxes), side_studs=studs)


def _point(values: FloatArray) -> Point:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _front(y: float, z: float, *columns: float) -> tuple[tuple[Point, Point], ...]:
    return tuple(((x, y, z), (0.0, -1.0, 0.0)) for x in columns)


def _headlight(part: str) -> ParametricPart:
    """A 1 x 1 brick whose front lies 4 LDU back, above a lip."""
    body, lip = (-10.0, -6.0, -_BRICK), (10.0, -6.0, -20.0)
    block = ParametricPart(
        part,
        "",
        (
            Prism(rectangle(-10.0, 10.0, -6.0, 10.0), "z", -_BRICK, 0.0),
            Prism(rectangle(-10.0, 10.0, -10.0, -6.0), "z", -_BRICK, -20.0),
        ),
        ((0.0, 0.0, 0.0),),
        ((0.0, 0.0, -_BRICK),),
        ((body, (10.0, 10.0, 0.0)), ((-10.0, -10.0, -_BRICK), lip)),
    )
    return _with_side_studs(block, "Brick  1 x  1 with Headlight", *_front(-6.0, -10.0, 0.0))


def _raised_plate(part: str) -> ParametricPart:
    """Two plates high under its first row, one under its second, with two studs on the front."""
    step = ParametricPart(
        part,
        "",
        (
            Prism(rectangle(-20.0, 20.0, -10.0, 10.0), "z", -16.0, 0.0),
            Prism(rectangle(-20.0, 20.0, 10.0, 30.0), "z", -16.0, -_PLATE),
        ),
        (*_at(0.0, ((10.0, 0.0), (-10.0, 0.0))), *_at(-_PLATE, ((10.0, 20.0), (-10.0, 20.0)))),
        _at(-16.0, ((10.0, 0.0), (-10.0, 0.0), (10.0, 20.0), (-10.0, 20.0))),
        (((-20.0, -10.0, -16.0), (20.0, 10.0, 0.0)), ((-20.0, 10.0, -16.0), (20.0, 30.0, -_PLATE))),
    )
    title = "Plate  2 x  2 x  0.667 with Two Studs On Side and Two Raised"
    return _with_side_studs(step, title, *_front(-10.0, -6.0, 10.0, -10.0))


def _all_around(z: float) -> tuple[tuple[Point, Point], ...]:
    sides = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))
    return tuple(((10.0 * x, 10.0 * y, z), (x, y, 0.0)) for x, y in sides)


def _bricks_with_side_studs() -> Iterator[ParametricPart]:
    one, two = _block("", "Brick", 1, 1, _BRICK), _block("", "Brick", 1, 2, _BRICK)
    four = _block("", "Brick", 1, 4, _BRICK)
    for part, block, title, studs in (
        ("87087", one, "Brick  1 x  1 with Stud on 1 Side", _front(-10.0, -10.0, 0.0)),
        ("4733", one, "Brick  1 x  1 with Studs on Four Sides", _all_around(-10.0)),
        ("11211", two, "Brick  1 x  2 with Two Studs on One Side", _front(-10.0, -10.0, -10.0, 10.0)),
        ("30414", four, "Brick  1 x  4 with Studs on Side", _front(-10.0, -10.0, -30.0, -10.0, 10.0, 30.0)),
    ):
        yield _with_side_studs(replace(block, part=part), title, *studs)
    yield _headlight("4070")
    yield _raised_plate("99206")


_BRICKS = {
    "3005": (1, 1), "3004": (1, 2), "3622": (1, 3), "3010": (1, 4), "3009": (1, 6), "3008": (1, 8),
    "6111": (1, 10), "6112": (1, 12), "2465": (1, 16), "3003": (2, 2), "3002": (2, 3), "3001": (2, 4),
    "2456": (2, 6), "3007": (2, 8), "3006": (2, 10),
}  # fmt: skip
_TALL_BRICKS = {"14716": (1, 1, 3), "22886": (1, 2, 3), "30145": (2, 2, 3), "30144": (2, 4, 3)}
_PLATES = {
    "3024": (1, 1), "3023": (1, 2), "3623": (1, 3), "3710": (1, 4), "3666": (1, 6), "3460": (1, 8),
    "4477": (1, 10), "60479": (1, 12), "3022": (2, 2), "3021": (2, 3), "3020": (2, 4), "3795": (2, 6),
    "3034": (2, 8), "3832": (2, 10), "2445": (2, 12), "11212": (3, 3), "3031": (4, 4), "3032": (4, 6),
    "3035": (4, 8), "3030": (4, 10), "3029": (4, 12), "3958": (6, 6), "3036": (6, 8), "3033": (6, 10),
    "3028": (6, 12), "41539": (8, 8),
}  # fmt: skip
_TILES = {
    "3070b": (1, 1), "3069b": (1, 2), "63864": (1, 3), "2431": (1, 4), "6636": (1, 6), "4162": (1, 8),
    "3068b": (2, 2), "26603": (2, 3), "87079": (2, 4), "69729": (2, 6),
}  # fmt: skip
_SLOPES = {
    "3040b": (45, 2, 1), "3039": (45, 2, 2), "3038": (45, 2, 3), "3037": (45, 2, 4),
    "4286": (33, 3, 1), "3298": (33, 3, 2), "3297": (33, 3, 4),
}  # fmt: skip
_TALL_SLOPES = {"60481": (65, 2, 1, 2), "4460a": (75, 2, 1, 3), "3684a": (75, 2, 2, 3)}
_INVERTED = {"3665a": (45, 2, 1), "3660a": (45, 2, 2)}

#: Numbers that files use for parts defined here under another one (renamed, or moulds that differ only inside).
ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "3040": "3040b", "3068": "3068b", "3069": "3069b", "3070": "3070b", "3062": "3062b", "3665": "3665a",
        "3665b": "3665a", "3660": "3660a", "3660b": "3660a", "4073": "6141", "30039": "3070b",
        "3684": "3684a", "4460": "4460a", "4032": "4032a", "4032b": "4032a", "3941a": "3941", "3941b": "3941",
    }
)  # fmt: skip


def _all_parts() -> Iterator[ParametricPart]:
    for part, (width, length) in _BRICKS.items():
        yield _block(part, "Brick", width, length, _BRICK)
    for part, (width, length, layers) in _TALL_BRICKS.items():
        yield _block(part, "Brick", width, length, _BRICK * layers)
    for part, (width, length) in _PLATES.items():
        yield _block(part, "Plate", width, length, _PLATE)
    for part, (width, length) in _TILES.items():
        yield _block(part, "Tile", width, length, _PLATE, studs=False)
    for part, (angle, length, width) in _SLOPES.items():
        yield _slope(part, angle, length, width)
    for part, (angle, length, width, layers) in _TALL_SLOPES.items():
        yield _slope(part, angle, length, width, layers)
    for part, width in (("54200", 1), ("85984", 2)):
        yield _cheese(part, width)
    yield _wide_round("3941", "Brick  2 x  2 Round without Reinforcement", _BRICK)
    yield _wide_round("4032a", "Plate  2 x  2 Round with Axlehole", _PLATE)
    yield _wide_round("4150", "Tile  2 x  2 Round with Cross Underside Stud", _PLATE, studs=False)
    yield from _bricks_with_side_studs()
    for part, (angle, length, width) in _INVERTED.items():
        yield _inverted_slope(part, angle, length, width)
    yield _double_slope("3043", 2)
    yield _corner("2357", "Brick", _BRICK)
    yield _corner("2420", "Plate", _PLATE)
    yield _round("3062b", "Brick  1 x  1 Round", _BRICK)
    yield _round("6141", "Plate  1 x  1 Round", _PLATE)
    yield _round("85861", "Plate  1 x  1 Round with Open Stud", _PLATE)


#: All built-in parts by number.
PARTS: Mapping[str, ParametricPart] = MappingProxyType({part.part: part for part in _all_parts()})


def parametric_part(part: str) -> ParametricPart | None:
    """The built-in definition of a part number or an alias of one."""
    return PARTS.get(ALIASES.get(part, part))


def brick_of_size(width: int, length: int) -> str | None:
    """The ordinary brick of so many studs (width <= length), one brick high."""
    return next((part for part, size in _BRICKS.items() if size == (width, length)), None)


@cache
def parametric_geometry(part: str) -> PartGeometry:
    """Everything about a built-in part.

    Raises:
        KeyError: not built in.
    """
    shape = PARTS[ALIASES.get(part, part)]
    corners = shape.corners * LDU_M
    bounds = np.stack([corners.min(axis=0), corners.max(axis=0)])
    centre = bounds.mean(axis=0)
    studs, antistuds = _all_studs(shape), _connectors(shape.antistuds)
    points = np.vstack([corners, studs.positions, antistuds.positions])
    labels = np.repeat([0.0, 1.0, 2.0], [len(corners), len(studs), len(antistuds)])
    volume = _material_volume(shape) * LDU_M**3
    return PartGeometry(
        part=shape.part,
        description=shape.description,
        source="parametric",
        mesh=_mesh(shape, segments=16, inside=True),
        low_poly=_mesh(shape, segments=8, inside=False),
        bounds=bounds,
        boxes=_boxes(shape),
        studs=studs,
        antistuds=antistuds,
        bores=_connectors(_at(float(shape.corners[:, 2].min()), shape.tubes)),
        symmetries=symmetries(points, labels, centre),
        symmetry_centre=(float(centre[0]), float(centre[1]), float(centre[2])),
        volume_m3=volume,
        mass_kg=volume * ABS_DENSITY,
        physical=True,
    )


def _connectors(points: tuple[Point, ...]) -> Connectors:
    positions = np.array(points, dtype=np.float64).reshape(-1, 3) * LDU_M
    return Connectors(positions, np.tile([0.0, 0.0, 1.0], (len(positions), 1)))


def _all_studs(shape: ParametricPart) -> Connectors:
    up = _connectors(shape.studs)
    feet = np.array([foot for foot, _ in shape.side_studs]).reshape(-1, 3) * LDU_M
    axes = np.array([axis for _, axis in shape.side_studs]).reshape(-1, 3)
    return Connectors(np.vstack([up.positions, feet]), np.vstack([up.axes, axes]))


def _boxes(shape: ParametricPart) -> tuple[Box, ...]:
    boxes = []
    for low, high in shape.boxes:
        a, b = np.array(low) * LDU_M, np.array(high) * LDU_M
        size = b - a
        boxes.append(Box(Pose((a + b) / 2), (float(size[0]), float(size[1]), float(size[2]))))
    return tuple(sorted(boxes, key=lambda box: -math.prod(box.size_m)))


def _material_volume(shape: ParametricPart) -> float:
    """LDU^3: walls of mean thickness over all faces but the underside, plus studs and tubes; at most solid."""
    solid = sum(body.volume for body in shape.solids)
    walls = sum(_open_area(body) for body in shape.solids) * _REAL_WALL
    height = float(np.ptp(shape.corners[:, 2])) - _REAL_WALL
    tubes = len(shape.tubes) * math.pi * (_TUBE_OUTER**2 - _TUBE_INNER**2) * height
    pins = len(shape.pins) * math.pi * (_PIN**2 - (_PIN / 2) ** 2) * height
    studs = (len(shape.studs) + len(shape.side_studs)) * math.pi * _STUD_RADIUS**2 * _STUD_HEIGHT
    return min(solid, walls + tubes + pins) + studs


def _open_area(body: Prism | Cylinder) -> float:
    """Surface without the lowest face, LDU^2."""
    if isinstance(body, Cylinder):
        return math.pi * body.radius**2 + 2 * math.pi * body.radius * (body.high - body.low)
    ring = np.array(body.outline)
    sides = np.linalg.norm(np.roll(ring, -1, axis=0) - ring, axis=1)
    cap = body.volume / (body.high - body.low)
    if body.axis == "z":
        return cap + float(sides.sum()) * (body.high - body.low)
    lowest = ring[:, 1].min()
    under = (ring[:, 1] == lowest) & (np.roll(ring[:, 1], -1) == lowest)
    return 2 * cap + float(sides[~under].sum()) * (body.high - body.low)


def _mesh(shape: ParametricPart, *, segments: int, inside: bool) -> Mesh:
    builder = MeshBuilder()
    hollow = shape.hollow if inside else None
    for body in shape.solids:
        if isinstance(body, Cylinder):
            builder.cylinder(body, 2 * segments, low_cap=True)
        else:
            builder.prism(body, low_cap=hollow is None)
    for x, y, z in shape.studs:
        builder.cylinder(Cylinder((x, y), _STUD_RADIUS, z, z + _STUD_HEIGHT), segments)
    for foot, axis in shape.side_studs:
        stud = MeshBuilder()
        stud.cylinder(Cylinder((0.0, 0.0), _STUD_RADIUS, 0.0, _STUD_HEIGHT), segments)
        builder.add(stud, _pointing(axis), np.array(foot))
    if hollow is not None:
        _add_cavity(builder, shape, hollow, segments)
    return builder.build()


def _pointing(axis: Point) -> FloatArray:
    """(3, 3) rotation of z to a level axis."""
    z = np.array(axis)
    x = np.array([-z[1], z[0], 0.0])
    return np.column_stack([x, np.cross(z, x), z])


def _add_cavity(
    builder: MeshBuilder, shape: ParametricPart, hollow: tuple[float, ...], segments: int
) -> None:
    x0, x1, y0, y1, low, high = hollow
    cavity = Prism(rectangle(x0, x1, y0, y1), "z", low, high)
    mouth, roof = cavity.ring(low), cavity.ring(high)
    builder.wall(mouth, roof, flip=True)
    builder.polygon(roof, flip=True)
    builder.lines(mouth, np.roll(mouth, -1, axis=0))
    outer = shape.solids[0]
    if isinstance(outer, Prism):
        builder.washer(outer.ring(low), mouth)
    for x, y in shape.tubes:
        tube, bore = Cylinder((x, y), _TUBE_OUTER, low, high), Cylinder((x, y), _TUBE_INNER, low, high)
        builder.cylinder(tube, segments, high_cap=False)
        builder.cylinder(bore, segments, high_cap=False, inside=True)
        builder.washer(tube.ring(low, segments), bore.ring(low, segments))
    for x, y in shape.pins:
        builder.cylinder(Cylinder((x, y), _PIN, low, high), segments, low_cap=True, high_cap=False)
