"""What an agent has used of what every agent is given."""

from __future__ import annotations

import time

import msgspec


class UsageRecord(msgspec.Struct, frozen=True):
    """Counts of one episode.

    Attributes:
        calls: of the tool layers, refused ones included.
        failed: answers other than SUCCEEDED.
        bad: calls that could not be made (unknown, wrong arguments).
        by_name: calls of each name.
        rounds: programs or decisions.
        tool_s, agent_s: wall clock while tools worked, and while the agent did.
    """

    calls: int
    failed: int
    bad: int
    by_name: dict[str, int]
    rounds: int
    tool_s: float
    agent_s: float


class Usage:
    """Counts as they grow."""

    def __init__(self, max_calls: int, max_rounds: int) -> None:
        self.max_calls = max_calls
        self.max_rounds = max_rounds
        self.calls = self.failed = self.bad = self.rounds = 0
        self.by_name: dict[str, int] = {}
        self._tool_s = 0.0
        self._began = time.monotonic()

    def count(self, name: str) -> None:
        self.calls += 1
        self.by_name[name] = self.by_name.get(name, 0) + 1

    def worked(self, seconds: float) -> None:
        """Tools worked for so long."""
        self._tool_s += seconds

    def record(self) -> UsageRecord:
        agent_s = time.monotonic() - self._began - self._tool_s
        return UsageRecord(
            self.calls, self.failed, self.bad, dict(self.by_name), self.rounds, self._tool_s, agent_s
        )
