"""Policies by name."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_core.errors import BadInputError
from jarvis_core.ports import Policy

from jarvis_agent.baselines.noop import Noop
from jarvis_agent.baselines.nudge import Nudge
from jarvis_agent.baselines.oracle import Oracle

POLICIES: dict[str, Callable[[], Policy]] = {"oracle": Oracle, "noop": Noop, "nudge": Nudge}


def make_policy(name: str) -> Policy:
    """A fresh policy; raises BadInputError listing the names there are."""
    if name not in POLICIES:
        raise BadInputError(f"unknown agent {name!r}", fix=f"choose one of {', '.join(sorted(POLICIES))}")
    return POLICIES[name]()
