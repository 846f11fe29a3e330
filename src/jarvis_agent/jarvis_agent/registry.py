"""Policies by name: the baselines, and whatever is installed under the entry points ``jarvis.policies``."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

from jarvis_core.errors import BadInputError
from jarvis_core.ports import Policy

from jarvis_agent.baselines.noop import Noop
from jarvis_agent.baselines.nudge import Nudge
from jarvis_agent.baselines.oracle import Oracle
from jarvis_agent.template import GROUP


def _manual_reader() -> Policy:
    # Drawing and perception take a second to import: only where they are asked for.
    from jarvis_agent.manual_reader.policy import ManualReaderPolicy

    return ManualReaderPolicy()


POLICIES: dict[str, Callable[[], Policy]] = {
    "oracle": Oracle,
    "noop": Noop,
    "nudge": Nudge,
    "manual_reader": _manual_reader,
}


def policy_names() -> list[str]:
    """All policies there are, sorted."""
    return sorted({*POLICIES, *_installed()})


def make_policy(name: str) -> Policy:
    """A fresh policy.

    Raises:
        BadInputError: there is none of that name, or what is installed under it can't be used.
    """
    if name in POLICIES:
        return POLICIES[name]()
    found = _installed().get(name)
    if found is None:
        raise BadInputError(f"unknown agent {name!r}", fix=f"choose one of {', '.join(policy_names())}")
    return _load(found)


def _installed() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _load(point: EntryPoint) -> Policy:
    where = f"entry point {point.name} = {point.value}"
    try:
        policy: Policy = point.load()()
    except Exception as error:
        raise BadInputError(f"can't be made ({type(error).__name__}: {error})", where=where) from error
    lacking = [part for part in ("name", "privileged", "run") if not hasattr(policy, part)]
    if lacking:
        raise BadInputError(
            f"is no policy: it lacks {', '.join(lacking)}", where=where, fix="see `jarvis agent new`"
        )
    return policy
