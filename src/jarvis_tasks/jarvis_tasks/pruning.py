"""Taking out of a build what the cell can't build with, so that the rest can still be tasks.

A car without its wheels stands on the plate by its lowest bricks; of a building with tilted wings its upright
walls remain. The order of building stays as it is; steps may be left without bricks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import msgspec
from jarvis_bricks.assembly import Assembly, Brick
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.connectivity import components
from jarvis_core.objects import GROUND

from jarvis_tasks.config import TasksConfig
from jarvis_tasks.filters import CellLimits, Fault, Reason, own_faults
from jarvis_tasks.placement import PlacedModel, place_on_plate

#: Faults of a place on the plate rather than of the brick: they change when the build is put down elsewhere.
_PLACE_REASONS = frozenset({Reason.OUTSIDE_PLATE, Reason.TOO_HIGH})


def place_without_unbuildable(
    assembly: Assembly,
    catalogue: PartCatalogue,
    limits: CellLimits,
    config: TasksConfig,
    plate_studs: tuple[int, int],
    quarter_turns: int = 0,
) -> PlacedModel:
    """Put onto the plate what is left of a build without the bricks that are at fault by themselves.

    Kept is what, when its turn comes, sits on the plate or on a brick that was kept before it. If the largest
    coherent rest of the build is not kept (it stood on wheels), that rest is put onto the plate by itself, if more
    bricks can be kept that way.
    """
    placed = place_on_plate(assembly, catalogue, plate_studs, quarter_turns)
    faults = own_faults(placed, catalogue, limits, config)
    kept = _without_faulty(placed, faults)
    rest = _largest_rest(placed, faults)
    if len(rest) > len(kept.bricks):
        ids = {b.id for b in rest}
        alone = msgspec.structs.replace(assembly, bricks=tuple(b for b in assembly.bricks if b.id in ids))
        again = place_on_plate(alone, catalogue, plate_studs, quarter_turns)
        other = _without_faulty(again, own_faults(again, catalogue, limits, config))
        kept = max(kept, other, key=lambda model: len(model.bricks))
    present = {b.id for b in (*kept.bricks, *kept.stand_ins)}
    left_out = tuple(b for b in assembly.bricks if b.id not in present)
    return dataclasses.replace(kept, source=assembly, left_out=left_out)


def _without_faulty(model: PlacedModel, faults: Mapping[str, Sequence[Fault]]) -> PlacedModel:
    seats: dict[str, list[str]] = {}
    for joint in model.joints:
        seats.setdefault(joint.upper_id, []).append(joint.lower_id)
    present = {GROUND}
    kept = []
    for brick in model.bricks:
        if brick.id not in faults and present.intersection(seats.get(brick.id, ())):
            present.add(brick.id)
            kept.append(brick)
    joints = tuple(j for j in model.joints if j.upper_id in present and j.lower_id in present)
    return dataclasses.replace(model, bricks=tuple(kept), joints=joints)


def _largest_rest(model: PlacedModel, faults: Mapping[str, Sequence[Fault]]) -> Sequence[Brick]:
    """The largest group of sound bricks that are joined to one another."""
    sound = [b for b in model.bricks if all(fault.reason in _PLACE_REASONS for fault in faults.get(b.id, ()))]
    groups = components([b.id for b in sound], model.joints)
    largest = set(groups[0]) if groups else set()
    return [b for b in sound if b.id in largest]
