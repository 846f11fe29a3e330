"""A cheap trick that must not pay: move every brick a little."""

from __future__ import annotations

from jarvis_core.errors import RefusedError
from jarvis_core.ports import PrivilegedTools, Tools

#: How far each brick is pushed: more than the 5 mm that count as moved.
NUDGE_M = 0.010
_DIRECTIONS = ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0))


class Nudge:
    """Pushes every loose brick a centimetre. Privileged only to find the bricks."""

    name = "nudge"
    privileged = True

    def run(self, tools: Tools) -> None:
        if not isinstance(tools, PrivilegedTools):
            raise RefusedError("nudge needs privileged tools", fix="run it with --agent nudge")
        for thing in tools.true_scene().objects:
            if thing.fixed:
                continue
            for x, y in _DIRECTIONS:
                if tools.push(thing.id, (x * NUDGE_M, y * NUDGE_M)).ok:
                    break
        tools.home()
