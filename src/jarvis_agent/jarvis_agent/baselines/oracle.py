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
        brick, goal = target.object.id, target.object.pose
        for _ in range(self.attempts):
            before = tools.true_scene().find(brick)
            result = tools.pick_and_place(brick, goal)
            if result.ok:
                return
            if not result.facts.get("held"):
                continue
            # Picked but not placed: trying the place again needs no second grasp.
            again = tools.place(goal)
            if again.ok:
                return
            # A brick that stays in the hand would be the end of all work on the others.
            if again.facts.get("held") and before is not None:
                tools.place(before.pose)
