"""Steps for models that have none.

A model file without STEP says nothing of the order of building. From low to high, layer by layer, is the order in
which bricks that are put on from above can be built.
"""

from __future__ import annotations

import msgspec
from jarvis_bricks.assembly import Assembly
from jarvis_bricks.catalogue import PartCatalogue

from jarvis_tasks.placement import LEVEL_M, underside


def in_layers(assembly: Assembly, catalogue: PartCatalogue) -> Assembly:
    """The build with its layers for steps if its file has none; else as it is.

    A layer are the bricks whose undersides lie on one level. Within a layer the file's order stays. The result says
    so in its notes; submodels and turned views, which go by the file's order, are dropped.
    """
    if assembly.has_steps or not assembly.bricks:
        return assembly
    heights = {b.id: underside(b, catalogue) for b in assembly.bricks}
    ordered = sorted(assembly.bricks, key=lambda b: heights[b.id])
    step, level = 0, -float("inf")
    steps: dict[str, int] = {}
    for brick in ordered:
        if heights[brick.id] > level + LEVEL_M:
            step, level = step + 1, heights[brick.id]
        steps[brick.id] = step
    bricks = [msgspec.structs.replace(b, step=steps[b.id]) for b in assembly.bricks]
    bricks.sort(key=lambda b: b.step)
    note = f"{assembly.name}: no STEP in the file; its {step} layers from low to high are its steps"
    return msgspec.structs.replace(
        assembly, bricks=tuple(bricks), views=(), submodels=(), notes=(*assembly.notes, note)
    )
