"""The calls at a prompt, for people; a script of the same lines does as well."""

from __future__ import annotations

import code
from typing import Any, TextIO

from jarvis_core.errors import BadInputError
from jarvis_core.ports import Tools
from jarvis_episode.tools import EpisodeOverError

from jarvis_agent.api.common import AgentFinished
from jarvis_agent.cage.inside import wire
from jarvis_agent.cage.inside.client import Record, api_namespace
from jarvis_agent.config import AgentConfig
from jarvis_agent.session import Door, Session
from jarvis_agent.toolbox import Layer, Toolbox

BANNER = """The robot is yours. Calls: {calls}.
help(CALL) says what one does, save(IMAGE, FILE) keeps a picture; finish() or Ctrl-D ends the episode."""


class ReplPolicy(Door):
    """A person at a prompt. What is typed is Python in the harness's own process, so it is never caged.

    Args:
        lines: the keyboard, or a script; a loop ends with an empty line, as at any prompt.
    """

    kind = "repl"

    def __init__(self, name: str, layer: Layer, lines: TextIO, config: AgentConfig | None = None) -> None:
        super().__init__(name, layer, config=config)
        self._lines = lines

    def run(self, tools: Tools) -> None:
        with self.session(tools) as session:
            session.toolbox.begin_round()
            channel = LocalChannel(session.toolbox)
            functions = [call.as_function() for call in session.toolbox.calls.values()]
            names = api_namespace(channel, functions) | {"save": save}
            try:
                _Console(names, self._lines).interact(
                    BANNER.format(calls=", ".join(session.toolbox.calls)), exitmsg=""
                )
            except _LeaveError as leave:
                _end(session, leave.why)


class LocalChannel:
    """Stands where a program's pipe would be: the same checks and the same plain data, without a process."""

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self._answer: Any = None

    def send(self, value: Any) -> None:
        message = _as_sent(value, dict)
        try:
            answer = self._toolbox.call(message["call"], message["arguments"])
        except BadInputError as error:
            self._answer = {"bad_call": error.line()}
        except (AgentFinished, EpisodeOverError) as end:
            raise _LeaveError(end) from None
        else:
            self._answer = {"answer": _as_sent(answer, Record)}

    def receive(self) -> Any:
        return self._answer


class _LeaveError(SystemExit):
    """Leaves the prompt, which swallows everything else."""

    def __init__(self, why: BaseException) -> None:
        self.why = why
        super().__init__(0)


class _Console(code.InteractiveConsole):
    def __init__(self, names: dict[str, Any], lines: TextIO) -> None:
        super().__init__(names, "<prompt>")
        self._given = lines
        self._typed = lines.isatty()

    def raw_input(self, prompt: str = "") -> str:
        if self._typed:
            return input(prompt)
        line = self._given.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")


def save(image: Any, path: str) -> str:
    """Write a picture (height, width, 3) to a file named by its ending; returns the path."""
    from PIL import Image

    Image.fromarray(image).save(path)
    return path


def _end(session: Session, why: BaseException) -> None:
    if isinstance(why, EpisodeOverError):
        raise why
    session.message = str(why)


def _as_sent(value: Any, make_dict: Any) -> Any:
    """A value as it comes out of a pipe."""
    frame = wire.encode(value)
    text_length, _ = wire.HEADER.unpack_from(frame)
    text = frame[wire.HEADER.size : wire.HEADER.size + text_length]
    return wire.decode(text, frame[wire.HEADER.size + text_length :], make_dict)
