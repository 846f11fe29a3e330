"""One agent's calls in one episode: by name, checked, counted, limited and written down, whatever the door."""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Any

from jarvis_core.cell import CellConfig
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.ports import Tools
from jarvis_core.status import Status
from jarvis_episode.tools import EpisodeOverError

from jarvis_agent.api.answers import Answer, as_data
from jarvis_agent.api.common import AgentFinished, Common
from jarvis_agent.api.generic import Generic
from jarvis_agent.api.layer import Call, calls_of
from jarvis_agent.api.primitives import Primitives
from jarvis_agent.api.transcript import Transcript
from jarvis_agent.api.usage import Usage
from jarvis_agent.config import AgentConfig


class Layer(StrEnum):
    """Which calls an agent is given."""

    PRIMITIVES = "primitives"
    GENERIC = "generic"


#: The class behind each layer.
LAYERS: dict[Layer, type[Common]] = {Layer.PRIMITIVES: Primitives, Layer.GENERIC: Generic}


class Toolbox:
    """The calls of one layer on the tools of one episode.

    Args:
        transcript: where calls are written down; None for nowhere.

    Attributes:
        calls: all that can be called, by name.
        usage: what is used so far.
    """

    def __init__(
        self,
        tools: Tools,
        layer: Layer,
        cell: CellConfig,
        config: AgentConfig,
        transcript: Transcript | None = None,
    ) -> None:
        self.calls: dict[str, Call] = calls_of(LAYERS[layer])
        self.usage = Usage(config.max_calls, config.max_rounds)
        self.transcript = transcript
        self._tools = tools
        self._layer = LAYERS[layer](tools, cell, self.usage)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Make a call; its answer as plain data, pictures as arrays.

        Raises:
            BadInputError: there is no such call, or an argument is unknown, missing or of the wrong kind.
            AgentFinished: the agent called ``finish``.
            EpisodeOverError: a limit is reached, or the cell failed.
        """
        if self.usage.calls >= self.usage.max_calls:
            raise EpisodeOverError(f"the limit of {self.usage.max_calls} calls of the tools is reached")
        self.usage.count(name if name in self.calls else "?")
        start_s, began = self._tools.time_s(), time.monotonic()
        answer: Any = None
        try:
            answer = as_data(self._answer(name, arguments))
        except BadInputError as error:
            self.usage.bad += 1
            answer = {"refused": error.line()}
            raise
        except (AgentFinished, EpisodeOverError) as end:
            answer = {"ended": str(end)}
            raise
        finally:
            wall_s = time.monotonic() - began
            self.usage.worked(wall_s)
            if self.transcript is not None:
                self.transcript.call(name, arguments, answer, start_s=start_s, wall_s=wall_s)
        if not answer["ok"]:
            self.usage.failed += 1
        return dict(answer)

    def begin_round(self) -> None:
        """A further program or decision; raises EpisodeOverError beyond the limit."""
        if self.usage.rounds >= self.usage.max_rounds:
            raise EpisodeOverError(f"the limit of {self.usage.max_rounds} rounds is reached")
        self.usage.rounds += 1

    def _answer(self, name: str, arguments: dict[str, Any]) -> Answer:
        call = self.calls.get(name)
        if call is None:
            raise BadInputError(f"there is no call {name!r}", fix=f"there are {', '.join(self.calls)}")
        values = call.convert(arguments)
        try:
            answer: Answer = getattr(self._layer, name)(**values)
        except RefusedError as error:
            return call.returns(status=Status.PRECONDITION_FAILED.name, reason=error.line())
        return answer
