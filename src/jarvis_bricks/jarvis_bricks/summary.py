"""Everything about a build on one page: what it is made of, how it holds together, what is wrong with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_core.errors import BadInputError
from jarvis_core.objects import GROUND
from jarvis_core.pose import FloatArray

from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.build_check import BrickCheck, check_build, ground_under
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import Connection, Overlap, StudGrid, components, connections, overlaps
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_bricks.grip import FingerClearance


@dataclass(frozen=True, slots=True)
class PartLine:
    """One kind of brick in a build."""

    part: str
    description: str
    colour: int
    colour_name: str
    count: int
    physical: bool


@dataclass(frozen=True, slots=True)
class SubAssembly:
    """A submodel at one place, looked at by itself.

    Attributes:
        pieces: it falls into so many groups of bricks that no studs join.
    """

    name: str
    title: str
    bricks: int
    pieces: int


@dataclass(frozen=True, slots=True)
class Summary:
    """What ``jarvis bricks show`` prints.

    Attributes:
        size_m: (3,) of the box around all bricks, studs left out, along the build's axes.
        joints: all joints by studs, bores of tubes included, GROUND among them.
        groups: bricks that hang together, the largest first, the ground left out.
        loose: bricks joined by studs neither to the ground nor to the largest group: they are held by clips, pins,
            axles and the like, of which nothing is known here, or float.
        checks: the build order, brick by brick; None if it was not looked at.
    """

    assembly: Assembly
    parts: tuple[PartLine, ...]
    size_m: tuple[float, float, float]
    mass_kg: float
    joints: tuple[Connection, ...]
    groups: tuple[tuple[str, ...], ...]
    loose: tuple[str, ...]
    overlaps: tuple[Overlap, ...]
    subassemblies: tuple[SubAssembly, ...]
    checks: tuple[BrickCheck, ...] | None

    @property
    def size_studs(self) -> tuple[float, float]:
        """Along x and y."""
        return self.size_m[0] / STUD_PITCH_M, self.size_m[1] / STUD_PITCH_M


def summarise(
    assembly: Assembly, catalogue: PartCatalogue, fingers: FingerClearance | None = None
) -> Summary:
    """Look at everything; at the order of building only if ``fingers`` are given.

    Raises:
        BadInputError: an unknown part or colour.
    """
    bricks = assembly.bricks
    ground = _ground(bricks, catalogue)
    joints = connections(bricks, catalogue, ground=ground, bores=True)
    ids = [brick.id for brick in bricks]
    groups = components(ids, joints)
    points = np.vstack([_corners(brick, catalogue) for brick in bricks])
    size = np.ptp(points, axis=0)
    checks = None
    if fingers is not None and ground is not None:
        checks = tuple(check_build(bricks, catalogue, fingers, ground=ground))
    return Summary(
        assembly=assembly,
        parts=_parts(bricks, catalogue),
        size_m=(float(size[0]), float(size[1]), float(size[2])),
        mass_kg=sum(catalogue.geometry(brick.part).mass_kg for brick in bricks),
        joints=tuple(joints),
        groups=tuple(groups),
        loose=_loose(ids, joints, groups[0]),
        overlaps=tuple(overlaps(bricks, catalogue)),
        subassemblies=_subassemblies(assembly, joints),
        checks=checks,
    )


def _ground(bricks: Sequence[Brick], catalogue: PartCatalogue) -> StudGrid | None:
    """The plate it would stand on; None for a build without an upright brick that has openings."""
    try:
        return ground_under(bricks, catalogue)
    except BadInputError:
        return None


def _corners(brick: Brick, catalogue: PartCatalogue) -> FloatArray:
    low, high = catalogue.geometry(brick.part).bounds
    corners = np.array(
        [[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]
    )
    if brick.stretch is not None:
        corners = corners @ np.reshape(brick.stretch, (3, 3)).T
    placed: FloatArray = brick.pose @ corners
    return placed


def _parts(bricks: Sequence[Brick], catalogue: PartCatalogue) -> tuple[PartLine, ...]:
    counts = Counter((brick.part, brick.colour) for brick in bricks)
    lines = []
    for (part, colour), count in counts.items():
        geometry = catalogue.geometry(part)
        words = catalogue.colours.get(colour).words
        lines.append(PartLine(part, geometry.description, colour, words, count, geometry.physical))
    return tuple(sorted(lines, key=lambda line: (-line.count, line.part, line.colour)))


def _loose(ids: Sequence[str], joints: Sequence[Connection], largest: tuple[str, ...]) -> tuple[str, ...]:
    standing = next(set(group) for group in components([*ids, GROUND], joints) if GROUND in group)
    standing |= set(largest)
    return tuple(name for name in ids if name not in standing)


def _subassemblies(assembly: Assembly, joints: Sequence[Connection]) -> tuple[SubAssembly, ...]:
    found = []
    for use in assembly.submodels:
        ids = [brick.id for brick in assembly.bricks[use.first : use.first + use.count]]
        inside = set(ids)
        own = [j for j in joints if j.upper_id in inside and j.lower_id in inside]
        if ids:
            found.append(SubAssembly(use.name, use.title, len(ids), len(components(ids, own))))
    return tuple(found)
