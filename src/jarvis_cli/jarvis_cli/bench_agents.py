"""The agents of a suite's run: policies by name, and programs that are kept with the run."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from jarvis_agent.cage.isolation import find_isolation
from jarvis_agent.config import AgentConfig
from jarvis_agent.program import Program, ProgramPolicy, check, read_programs
from jarvis_agent.registry import make_policy, policy_names
from jarvis_agent.session import Door
from jarvis_agent.toolbox import Layer
from jarvis_bench.suite_run.plan import PROGRAMS_FOLDER, RunPlan
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.files import write_text
from jarvis_core.ports import Policy

_PROGRAM = ".py"


def parse_agents(text: str, layer: str) -> tuple[tuple[str, ...], list[Program]]:
    """Names of all agents, and the programs among them; what ends in ``.py`` is a program's file.

    Raises:
        BadInputError: an agent that is not there, a faulty program, two of one name, a policy of another layer.
    """
    names: list[str] = []
    programs: list[Program] = []
    for word in filter(None, text.split(",")):
        if not word.endswith(_PROGRAM):
            _check_layer(make_policy(word), layer)
            names.append(word)
            continue
        (program,) = read_programs(word)
        if program.name in policy_names():
            raise BadInputError(
                f"is named like the agent {program.name!r}", where=word, fix="rename the file"
            )
        check(program, Layer(layer), load_default("agent", AgentConfig))
        names.append(program.name)
        programs.append(program)
    if not names:
        raise BadInputError("names no agent", where="--agent", fix=f"choose of {', '.join(policy_names())}")
    if len(set(names)) < len(names):
        raise BadInputError("names an agent twice", where="--agent")
    return tuple(names), programs


def hashes(programs: Sequence[Program]) -> dict[str, str]:
    """SHA-256 of each program's text, by its name."""
    return {p.name: hashlib.sha256(p.source.encode()).hexdigest() for p in programs}


def keep_programs(run: Path, programs: Sequence[Program]) -> None:
    """Write them into the run's folder, from where its episodes take them."""
    for program in programs:
        (run / PROGRAMS_FOLDER).mkdir(exist_ok=True)
        write_text(run / PROGRAMS_FOLDER / f"{program.name}{_PROGRAM}", program.source)


def agent_of(run: Path, plan: RunPlan, name: str) -> Policy:
    """The policy that plays an agent of a run.

    Raises:
        BadInputError: its program is not there, or not the one the run began with.
        MissingCapabilityError: a program, and no cage on this machine.
    """
    if name not in plan.programs:
        return make_policy(name)
    path = run / PROGRAMS_FOLDER / f"{name}{_PROGRAM}"
    programs = read_programs(str(path))
    if hashes(programs) != {name: plan.programs[name]}:
        raise BadInputError("is not the program that this run began with", where=str(path))
    return ProgramPolicy(programs[0], Layer(plan.layer), find_isolation())


def _check_layer(policy: Policy, layer: str) -> None:
    """A policy that uses the calls of one layer plays no other's table."""
    if isinstance(policy, Door) and policy.layer != layer:
        raise BadInputError(f"{policy.name} uses the calls of the layer {policy.layer}", where="--layer")
