"""Roofs. Sloped ones lie along x; parts beside each other can't be held, so slopes come singly or with a gap."""

from __future__ import annotations

from jarvis_tasks.generator.grid import BRICK, Grid, GridError
from jarvis_tasks.generator.masonry import Box
from jarvis_tasks.generator.runs import lay

#: Widths of slopes, left to right; 0 is a gap of three studs, filled by a wall that rises above the roof.
_GABLES = {
    2: (2,), 3: (3,), 4: (4,), 7: (2, 0, 2), 9: (3, 0, 3), 11: (4, 0, 4), 16: (3, 0, 4, 0, 3), 18: (4, 0, 4, 0, 4),
}  # fmt: skip
_GAP = 3

#: Widths that a gabled roof can have.
GABLE_WIDTHS = tuple(_GABLES)


def gable(grid: Grid, box: Box, z: int, roof: int, wall: int) -> int:
    """Slopes to the front and the back up to a ridge, with gables; an even depth. Returns the height of the ridge."""
    if box.width not in _GABLES or box.depth % 2:
        raise GridError(f"no gabled roof of {box.width} x {box.depth} studs")
    layers = box.depth // 2 - 1
    for layer in range(layers):
        _gable_layer(grid, box, z, layer, roof, wall)
        z += BRICK
    middle = box.y + box.depth // 2 - 1
    spans = _spans(box)
    for x, width, solid in spans:
        if solid:
            grid.plate(width, 2, x, middle, z, wall)
        else:
            grid.plate(width, 2, x, middle, z, roof)
    return z + 1


def _spans(box: Box) -> list[tuple[int, int, bool]]:
    """(x, width, is a wall) from left to right."""
    found, x = [], box.x
    for width in _GABLES[box.width]:
        found.append((x, width or _GAP, width == 0))
        x += width or _GAP
    return found


def _gable_layer(grid: Grid, box: Box, z: int, layer: int, roof: int, wall: int) -> None:
    front, back = box.y + layer, box.back - layer
    inside = back - front - 3
    if inside > 0:
        for x in (box.x, box.right):
            lay(grid, "y", x, front + 2, z, [wall] * inside)
    for x, width, solid in _spans(box):
        if solid:
            lay(grid, "x", x, front, z, [wall] * width, depth=back - front + 1)
            continue
        grid.slope("front", width, x, front, z, roof)
        grid.slope("back", width, x, back - 1, z, roof)


def stepped(
    grid: Grid,
    box: Box,
    z: int,
    colour: int,
    *,
    hip: bool,
    kind: str = "plate",
    high: int = 1,
    until: int = 2,
) -> int:
    """Layers that step in on two sides (``hip``: on four) up to a ridge; depth 8, 6, 4 or 2. Returns its height."""
    while box.depth >= until and box.width >= 2:
        lay(grid, "x", box.x, box.y, z, [colour] * box.width, depth=box.depth, kind=kind)
        z += high
        inset = 1 if hip else 0
        box = Box(box.x + inset, box.y + 1, box.width - 2 * inset, box.depth - 2)
    return z


def flat(grid: Grid, box: Box, z: int, colour: int, edge: int) -> int:
    """A plate over the box and a low wall around it; a depth of 6 or 8. Returns the height of the plate's top."""
    lay(grid, "x", box.x, box.y, z, [colour] * box.width, depth=box.depth, kind="plate")
    for y in (box.y, box.back):
        lay(grid, "x", box.x, y, z + 1, [edge] * box.width, kind="brick")
    for x in (box.x, box.right):
        lay(grid, "y", x, box.y + 1, z + 1, [edge] * (box.depth - 2), kind="brick")
    return z + 1


def spire(grid: Grid, x: int, y: int, z: int, colour: int, tip: int) -> int:
    """A pointed roof over six by six studs: steep slopes to four sides of a core, and a tip. Returns its height."""
    lay(grid, "x", x, y, z, [colour] * 6, depth=6, kind="plate")
    z += 1
    for level in range(3):
        grid.brick(2, 2, x + 2, y + 2, z + BRICK * level, colour)
    for towards, i, j in (("front", 2, 0), ("back", 2, 4), ("left", 0, 2), ("right", 4, 2)):
        grid.slope(towards, 2, x + i, y + j, z, colour, kind="spire")
    z += 3 * BRICK
    grid.brick(2, 2, x + 2, y + 2, z, colour)
    grid.round(x + 2, y + 2, z + BRICK, tip, wide=2)
    grid.cap(x + 2, y + 2, z + BRICK + 1, tip)
    return z + BRICK + 2
