"""Agents that are one program, written before the episode and run to its end."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jarvis_core.errors import BadInputError
from jarvis_core.files import read_bytes
from jarvis_core.ports import Tools
from jarvis_episode.tools import EpisodeOverError

from jarvis_agent.api.common import AgentFinished
from jarvis_agent.api.layer import calls_of
from jarvis_agent.cage.cage import BadCall, Cage, FinishedByAgent, ProgramEnd
from jarvis_agent.cage.isolation import Isolation
from jarvis_agent.check import check_program
from jarvis_agent.config import AgentConfig
from jarvis_agent.session import Door, Session
from jarvis_agent.toolbox import LAYERS, Layer

#: Ends that are the program's own fault; all others but ``finished`` are limits.
_CRASHES = ("crashed", "died", "protocol", "start")


class ProgramCrashedError(Exception):
    """The program ended with an error; the message says which and where."""


@dataclass(frozen=True, slots=True)
class Program:
    """Source text, and where it came from."""

    name: str
    source: str


def read_programs(path: str) -> list[Program]:
    """The program of a file, all ``*.py`` of a folder in the order of their names, or what stdin holds (``-``).

    Raises:
        BadInputError: nothing is there, or it is no text.
    """
    if path == "-":
        return [Program("stdin", sys.stdin.read())]
    place = Path(path)
    files = sorted(place.glob("*.py")) if place.is_dir() else [place]
    if not files:
        raise BadInputError("the folder holds no programs", where=path, fix="its programs are named *.py")
    return [Program(file.stem, _text(file)) for file in files]


def _text(file: Path) -> str:
    try:
        return read_bytes(file).decode()
    except UnicodeDecodeError as error:
        raise BadInputError("not UTF-8 text", where=str(file)) from error


class ProgramPolicy(Door):
    """Runs one program in the cage.

    Args:
        program: is checked before anything runs; raises BadInputError with its faults.
        checked: False skips the check, to show that the cage needs none.
    """

    kind = "program"

    def __init__(
        self,
        program: Program,
        layer: Layer,
        isolation: Isolation,
        config: AgentConfig | None = None,
        *,
        checked: bool = True,
    ) -> None:
        super().__init__(program.name, layer, isolation, config)
        self.program = program
        if checked:
            check(program, layer, self.config)

    def run(self, tools: Tools) -> None:
        with self.session(tools) as session:
            session.toolbox.begin_round()
            raise_unless_finished(run_program(self, session, self.program))


def check(program: Program, layer: Layer, config: AgentConfig) -> None:
    """Raises BadInputError with all that is wrong with a program."""
    check_program(program.source, calls_of(LAYERS[layer]), config.imports, where=program.name)


def run_program(
    door: Door, session: Session, program: Program, after: Callable[[str, dict[str, Any]], None] | None = None
) -> ProgramEnd:
    """Run a program on the session's calls; how it ended is kept for the report.

    Args:
        after: told each call's name and answer, before the program is; may raise to end it.
    """
    toolbox = session.toolbox
    functions = [call.as_function() for call in toolbox.calls.values()]

    def call(name: str, arguments: dict[str, Any]) -> Any:
        try:
            answer = toolbox.call(name, arguments)
        except BadInputError as error:
            raise BadCall(error.line()) from None
        except AgentFinished as finished:
            session.message = str(finished)
            raise FinishedByAgent(str(finished)) from None
        if after is not None:
            after(name, answer)
        return answer

    session.note("program", name=program.name, source=program.source, isolation=str(door.isolation))
    cage = Cage(door.isolation, door.config.program, functions, call)
    try:
        end = cage.run(program.source)
    except BaseException as why:
        keep_end(session, program, cage.ended("stopped", str(why)))
        raise
    keep_end(session, program, end)
    return end


def keep_end(session: Session, program: Program, end: ProgramEnd) -> None:
    """For report and transcript."""
    session.programs.append(end)
    session.note("end", name=program.name, reason=end.reason, message=end.message, output=end.output)


def raise_unless_finished(end: ProgramEnd) -> None:
    """The way a policy tells its end: by returning, as a crash, or as stopped at a limit."""
    if end.reason in _CRASHES:
        raise ProgramCrashedError(end.message)
    if end.reason != "finished":
        raise EpisodeOverError(f"the program was ended: {end.message}")
