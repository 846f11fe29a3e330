"""./jarvis doctor: what can run on this machine, what cannot, and the one thing to do about each."""

import os
import sys
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

from bootstrap import eula, probes, python, system_libs, workspace
from bootstrap.environment import runtime_environment
from bootstrap.paths import Layout
from bootstrap.prepare import Options, choose_ros, stands
from bootstrap.probes import Finding, State
from bootstrap.python import BasePython
from bootstrap.ros_choice import RosChoice, RosWay

SET_UP = "./jarvis setup"
COLOURS = {State.OK: "32", State.MISSING: "33", State.REQUIRED: "31"}


def report(layout: Layout, env: Mapping[str, str], options: Options) -> int:
    """Print the table; exit status 1 where something is missing without which nothing runs.

    Sets nothing up and asks nothing, so that it tells how things stand before the first start as well.
    """
    base = python.base_python()
    choice = choose_ros(layout, env, options, eula.do_not_ask)
    findings = look_around(layout, base, choice, env)
    print_table(findings, colour=sys.stdout.isatty())
    return int(any(finding.state is State.REQUIRED for finding in findings))


def look_around(layout: Layout, base: BasePython, choice: RosChoice, env: Mapping[str, str]) -> list[Finding]:
    """Every finding, in the order of the table; what takes long is looked at in parallel."""
    run_env = _environment(layout, base, choice, env)
    in_venv = probes.Venv(layout.venv_python if python.stands(layout, base) else None, run_env)
    slow: list[Callable[[], list[Finding]]] = [
        lambda: probes.rendering(in_venv),
        lambda: probes.motion(in_venv),
        lambda: [probes.video(in_venv)],
        lambda: [probes.graphics_card()],
        lambda: [probes.isaac_sim(in_venv, env)],
        lambda: [probes.cage()],
    ]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        looked_up = [finding for found in pool.map(lambda probe: probe(), slow) for finding in found]
    return [
        *_python_findings(layout, base, choice),
        *_ros_findings(layout, base, choice, run_env),
        *looked_up,
        *probes.ldraw(env),
    ]


def _environment(
    layout: Layout, base: BasePython, choice: RosChoice, env: Mapping[str, str]
) -> Mapping[str, str]:
    """What things would run in, or the shell's own environment before the first set-up."""
    if not stands(layout, base, choice):
        return env
    return runtime_environment(layout, choice, base, workspace.python_source_folders(layout), env)


def _python_findings(layout: Layout, base: BasePython, choice: RosChoice) -> list[Finding]:
    findings = [Finding("Python", State.OK, f"{sys.version.split()[0]} at {base.executable}")]
    if python.stands(layout, base):
        findings.append(Finding("packages", State.OK, str(layout.venv)))
    else:
        findings.append(Finding("packages", State.MISSING, "not set up, or out of date", SET_UP))
    for need in system_libs.missing(system_libs.needs(base, builds_messages=choice.has_ros)):
        state = State.REQUIRED if need.required else State.MISSING
        findings.append(Finding(need.name, state, f"for {need.purpose}", system_libs.apt_command([need])))
    return findings


def _ros_findings(
    layout: Layout, base: BasePython, choice: RosChoice, run_env: Mapping[str, str]
) -> list[Finding]:
    if choice.way is RosWay.NONE:
        return [Finding("ROS 2", State.MISSING, choice.reason, "see the reason; everything in-process works")]
    findings = [Finding("ROS 2 Jazzy", State.OK, f"{choice.way.value}: {choice.reason}")]
    if not stands(layout, base, choice):
        return [*findings, Finding("workspace", State.MISSING, "not built, or out of date", SET_UP)]
    findings.append(Finding("workspace", State.OK, f"{len(workspace.packages(layout))} packages built"))
    findings.append(probes.middleware(run_env))
    return findings


def print_table(findings: list[Finding], colour: bool) -> None:
    """One line a finding, and a second one for what to do about it."""
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        state = f"{finding.state.value:15}"
        if colour:
            state = f"\033[{COLOURS[finding.state]}m{state}\033[0m"
        print(f"{finding.name:{width}}  {state}  {finding.detail}")
        if finding.fix and finding.state is not State.OK:
            print(f"{'':{width}}  {'':15}  -> {finding.fix}")
