"""The lower end: does nothing."""

from __future__ import annotations

from jarvis_core.ports import Tools


class Noop:
    """Ends at once; scores 0 by definition."""

    name = "noop"
    privileged = False

    def run(self, tools: Tools) -> None:
        tools.brief()
