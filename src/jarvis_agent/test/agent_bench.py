"""What tests of agents share: limits that end soon, and a cage around a handful of calls."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from jarvis_agent.cage.cage import Cage, ProgramEnd, Serve
from jarvis_agent.cage.isolation import Isolation, find_isolation, why_not
from jarvis_agent.config import AgentConfig, ProgramLimits
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, MissingCapabilityError

#: One call that answers with what it was told.
ECHO = {"name": "echo", "doc": "", "parameters": [{"name": "value", "required": False, "default": None}]}


def config() -> AgentConfig:
    return load_default("agent", AgentConfig)


def limits(**changed: Any) -> ProgramLimits:
    """The configured ones, with changes."""
    return msgspec.structs.replace(config().program, **changed)


def best_isolation() -> Isolation:
    """Skips where this machine has none: the doctor says so, too."""
    try:
        return find_isolation()
    except MissingCapabilityError as error:
        pytest.skip(error.line())


def require(isolation: Isolation) -> None:
    reason = why_not(isolation)
    if reason:
        pytest.skip(f"{isolation}: {reason}")


class Echo:
    """Serves ``echo`` and remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []

    def __call__(self, name: str, arguments: dict[str, Any]) -> Any:
        self.asked.append((name, arguments))
        if name != "echo":
            raise BadInputError(f"there is no call {name!r}")
        return {"ok": True, "value": arguments.get("value")}


def run_caged(
    program: str, isolation: Isolation | None = None, serve: Serve | None = None, **changed: Any
) -> ProgramEnd:
    """Run a program with ``echo``, under changed limits."""
    kind = best_isolation() if isolation is None else isolation
    return Cage(kind, limits(**changed), [ECHO], serve or Echo()).run(program)
