"""``jarvis agent``: programs, people and clients of the Model Context Protocol play episodes."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TextIO

from jarvis_agent.api.docs import documentation
from jarvis_agent.cage.isolation import Isolation, find_isolation
from jarvis_agent.config import AgentConfig
from jarvis_agent.program import Program, ProgramPolicy, check, read_programs
from jarvis_agent.repl import ReplPolicy
from jarvis_agent.session import Door
from jarvis_agent.steps import Candidates, LineDirector, StepPolicy
from jarvis_agent.template import write_template
from jarvis_agent.toolbox import LAYERS, Layer
from jarvis_bench.page import write_episode_page
from jarvis_bricks.catalogue import PartCatalogue
from jarvis_bricks.library import LDrawLibrary
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError
from jarvis_core.manual import TaskBrief
from jarvis_episode.config import EpisodeConfig
from jarvis_episode.runner import SCENE_SOURCES, EpisodeResult
from jarvis_scoring.text import table
from jarvis_tasks.manual import task_brief
from rich.console import Console
from rich.table import Table

from jarvis_cli.parser import Commands, add_command
from jarvis_cli.run import play_policy
from jarvis_cli.sources import add_library_option, read_task

EXAMPLES = """
jarvis agent docs --layer primitives            what an agent is told of its calls
jarvis agent check program.py                   what is wrong with a program, without running it
jarvis agent run tasks/house-s01-s01 --program program.py
jarvis agent run tasks/house-s01-s01 --program candidates/ --steps
jarvis agent play tasks/house-s01-s01           the calls at a prompt
jarvis agent mcp tasks/house-s01-s01 --http     for Claude Code, Codex or any MCP client
jarvis agent new my_agent                       a template for a policy of your own
"""

RUN_EXAMPLES = """
jarvis agent run tasks/house-s01-s01 --program program.py
jarvis agent run tasks/house-s01-s01 --program candidates/ --layer generic   an episode each
jarvis agent run tasks/house-s01-s01 --program candidates/ --steps           one takes over from another
jarvis agent run tasks/house-s01-s01 --program - --steps                     decisions by lines of JSON
"""
DOCS_EXAMPLES = """
jarvis agent docs
jarvis agent docs --layer generic
"""
CHECK_EXAMPLES = """
jarvis agent check program.py
jarvis agent check candidates/ --layer generic
"""
PLAY_EXAMPLES = """
jarvis agent play tasks/house-s01-s01
jarvis agent play tasks/house-s01-s01 --page          in a browser: camera, manual and buttons
jarvis agent play tasks/house-s01-s01 --script lines.txt --sees true
"""
MCP_EXAMPLES = """
jarvis agent mcp tasks/house-s01-s01                       a client starts this and talks over its streams
jarvis agent mcp tasks/house-s01-s01 --http --port 8931
"""
NEW_EXAMPLES = """
jarvis agent new my_agent
jarvis agent new my_agent --out agents/
"""


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "agent", "play episodes as a program, a person or an MCP client", EXAMPLES)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _add_run(actions)
    _add_docs(actions)
    _add_check(actions)
    _add_play(actions)
    _add_mcp(actions)
    _add_new(actions)


def _add_run(actions: Commands) -> None:
    parser = add_command(actions, "run", "run an agent's program in the cage", RUN_EXAMPLES)
    parser.add_argument(
        "--program",
        required=True,
        help="a file, a folder of candidates (an episode each; with --steps one takes over from another), - for stdin",
    )
    parser.add_argument(
        "--steps",
        action="store_true",
        help="after each placement: look and decide (candidates by themselves; with - by lines of JSON)",
    )
    parser.add_argument(
        "--uncaged", action="store_true", help="without isolation by the operating system; records say so"
    )
    _add_episode_options(parser)
    parser.set_defaults(run=run)


def _add_docs(actions: Commands) -> None:
    parser = add_command(actions, "docs", "print what an agent is told of its calls", DOCS_EXAMPLES)
    _add_layer(parser)
    parser.set_defaults(run=docs)


def _add_check(actions: Commands) -> None:
    parser = add_command(
        actions, "check", "say what is wrong with a program, without running it", CHECK_EXAMPLES
    )
    parser.add_argument("program", help="a file, a folder of programs, or - for stdin")
    _add_layer(parser)
    parser.set_defaults(run=check_programs)


def _add_play(actions: Commands) -> None:
    parser = add_command(actions, "play", "the calls at a prompt or in a browser, for people", PLAY_EXAMPLES)
    doors = parser.add_mutually_exclusive_group()
    doors.add_argument("--script", type=Path, help="lines to read instead of the keyboard's")
    doors.add_argument(
        "--page", action="store_true", help="a page for a browser on this machine; its address is told"
    )
    _add_episode_options(parser)
    parser.set_defaults(run=play)


def _add_mcp(actions: Commands) -> None:
    parser = add_command(
        actions, "mcp", "serve an episode to a client of the Model Context Protocol", MCP_EXAMPLES
    )
    parser.add_argument("--http", action="store_true", help="over streamable HTTP instead of stdio")
    parser.add_argument("--host", help="to listen on (default: loopback, see config/agent.yaml)")
    parser.add_argument("--port", type=int, help="to listen on (default: see config/agent.yaml)")
    parser.add_argument(
        "--token-file", type=Path, help="holds the token clients must send (default: a new one)"
    )
    _add_episode_options(parser)
    parser.set_defaults(run=mcp)


def _add_new(actions: Commands) -> None:
    parser = add_command(actions, "new", "write a template for a policy of your own", NEW_EXAMPLES)
    parser.add_argument("name", help="of the policy: letters, digits and _")
    parser.add_argument("--out", type=Path, default=Path(), help="where its folder goes (default: here)")
    parser.set_defaults(run=new)


def _add_layer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--layer", choices=[str(layer) for layer in Layer], default="primitives", help="which calls there are"
    )


def _add_episode_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("task", type=Path, help="task folder")
    _add_layer(parser)
    parser.add_argument(
        "--sees",
        choices=SCENE_SOURCES,
        default="perceived",
        help="where bricks' places come from: the camera (default); nothing: pictures only; true: the simulator's own "
        "state, a privileged stand-in that every record names",
    )
    parser.add_argument("--name", help="of the agent in records (default: the program's)")
    parser.add_argument("--seed", type=int, default=0, help="decides the initial state (default 0)")
    parser.add_argument(
        "--out", type=Path, default=Path("results"), help="folder for records (default results/)"
    )
    add_library_option(parser)


def run(options: argparse.Namespace) -> int:
    layer, config = Layer(options.layer), load_default("agent", AgentConfig)
    isolation = Isolation.NONE if options.uncaged else find_isolation()
    if options.steps:
        return _run_steps(options, layer, isolation, config)
    programs, refused = _checked(read_programs(options.program), layer, config)
    results = []
    for program in programs:
        named = Program(options.name or program.name, program.source)
        results.append(_episode(options, ProgramPolicy(named, layer, isolation, config)))
    _print_results(results)
    for line in refused:
        print(f"refused: {line}", file=sys.stderr)
    if refused and not results:
        return 2
    return _status(results)


def _run_steps(options: argparse.Namespace, layer: Layer, isolation: Isolation, config: AgentConfig) -> int:
    if options.program == "-":
        name, director = options.name or "stdin", LineDirector(sys.stdin, sys.stdout)
        result = _episode(options, StepPolicy(name, director, layer, isolation, config))
    else:
        programs = read_programs(options.program)
        name = options.name or Path(options.program).stem
        result = _episode(options, StepPolicy(name, Candidates(programs), layer, isolation, config))
    _print_results([result], sys.stderr if options.program == "-" else None)
    return _status([result])


def docs(options: argparse.Namespace) -> int:
    config = load_default("agent", AgentConfig)
    layer = LAYERS[Layer(options.layer)]
    print(documentation(layer, max_calls=config.max_calls, imports=config.imports), end="")
    return 0


def check_programs(options: argparse.Namespace) -> int:
    programs = read_programs(options.program)
    good, refused = _checked(programs, Layer(options.layer), load_default("agent", AgentConfig))
    for line in refused:
        print(f"error: {line}", file=sys.stderr)
    print(f"{len(good)} of {len(programs)} programs have no fault that can be seen beforehand")
    return 2 if refused else 0


def play(options: argparse.Namespace) -> int:
    if options.page:
        return _play_page(options)
    with options.script.open() if options.script else nullcontext(sys.stdin) as lines:
        policy = ReplPolicy(options.name or "person", Layer(options.layer), lines)
        result = _episode(options, policy, quiet=True)
    _print_results([result])
    return _status([result])


def _play_page(options: argparse.Namespace) -> int:
    # A server and its page: only where they are asked for.
    from jarvis_agent.page.policy import PagePolicy

    brief = _brief(options.task)
    with PagePolicy(options.name or "person", Layer(options.layer)) as policy:
        policy.open(brief)
        result = _episode(options, policy, quiet=True)
    _print_results([result])
    return _status([result])


def mcp(options: argparse.Namespace) -> int:
    # The SDK takes a second to import: only where it is asked for.
    from jarvis_agent.mcp_policy import McpPolicy, serve_http, serve_stdio

    config = load_default("agent", AgentConfig)
    if options.http:
        serve = serve_http(
            options.host or config.mcp.host,
            config.mcp.port if options.port is None else options.port,
            options.token_file,
        )
    else:
        leave_session()
        serve = serve_stdio()
    brief = _brief(options.task)
    with McpPolicy(options.name or "mcp", Layer(options.layer), serve, config) as policy:
        policy.open(brief)
        result = _episode(options, policy, quiet=True)
    _print_results([result], sys.stderr)
    return _status([result])


def leave_session() -> None:
    """Go on in a process of another session; this one waits for it and ends with its status.

    Clients that start a server end it by closing its input, and soon after by signals to its session: the record of an
    episode that was cut short is written in spite of them.
    """
    child = os.fork()
    if child == 0:
        os.setsid()
        return
    signal.signal(signal.SIGINT, lambda *_: os.kill(child, signal.SIGINT))
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) & 0xFF)


def new(options: argparse.Namespace) -> int:
    folder = write_template(options.name, options.out)
    print(f"{folder}: see its README.md; then: jarvis run TASK --agent {options.name}")
    return 0


def _checked(programs: list[Program], layer: Layer, config: AgentConfig) -> tuple[list[Program], list[str]]:
    """Programs without a visible fault, and the faults of the others."""
    good, refused = [], []
    for program in programs:
        try:
            check(program, layer, config)
        except BadInputError as error:
            refused.append(error.line())
        else:
            good.append(program)
    return good, refused


def _episode(options: argparse.Namespace, policy: Door, *, quiet: bool = False) -> EpisodeResult:
    catalogue = PartCatalogue(LDrawLibrary.find(options.ldraw_library))
    result = play_policy(
        options.task, policy, options.seed, options.out, catalogue, sees=options.sees, quiet=quiet
    )
    write_episode_page(result.folder)
    return result


def _brief(folder: Path) -> TaskBrief:
    """What an agent is told before there is a cell."""
    task, manual = read_task(folder)
    return task_brief(task, manual, load_default("episode", EpisodeConfig).budget_s(task.n_required))


def _print_results(results: list[EpisodeResult], file: TextIO | None = None) -> None:
    console = Console(file=file)
    if len(results) == 1:
        print(table(results[0].score), file=file)
    rows = Table()
    for column in ("agent", "caged", "sees", "score", "exact", "failed", "calls", "outcome"):
        rows.add_column(column)
    for result in results:
        record, score = result.record, result.score
        rows.add_row(
            record.policy.name,
            "yes" if record.policy.caged else "NO",
            record.policy.sees,
            f"{score.score:.1f}",
            f"{score.s_exact:.0%}",
            str(score.failed_calls),
            str(score.calls),
            f"{record.outcome}: {record.outcome_message}",
        )
    console.print(rows)
    for result in results:
        console.print(f"record: {result.folder}", highlight=False, soft_wrap=True)


def _status(results: list[EpisodeResult]) -> int:
    """An agent's failure is a score; only a cell's is an error."""
    return 1 if any(result.record.outcome == "cell_error" for result in results) else 0
