"""The upper end: is told every true pose and target. Declared privileged."""

from __future__ import annotations

from jarvis_core.errors import RefusedError
from jarvis_core.objects import TargetObject
from jarvis_core.ports import PrivilegedTools, Tools


class Oracle:
    """Places every required brick at its target, in build order; tries each once more if it failed."""

    name = "oracle"
    privileged = True
    attempts = 2

    def run(self, tools: Tools) -> None:
        if not isinstance(tools, PrivilegedTools):
            raise RefusedError("the oracle needs privileged tools", fix="run it with --agent oracle")
        for target in tools.targets():
            self._build(tools, target)
        tools.home()

    def _build(self, tools: PrivilegedTools, target: TargetObject) -> None:
        for _ in range(self.attempts):
            result = tools.pick_and_place(target.object.id, target.object.pose)
            if result.ok:
                return
            # Picked but not placed: trying the place again needs no second grasp.
            if result.facts.get("held") and tools.place(target.object.pose).ok:
                return
