"""Doors behind a server: somebody outside makes the calls, one after the other, when it likes."""

from __future__ import annotations

import queue
import threading
from abc import abstractmethod
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from jarvis_core.errors import BadInputError
from jarvis_core.manual import TaskBrief
from jarvis_core.ports import Tools
from jarvis_episode.tools import EpisodeOverError

from jarvis_agent.api.common import AgentFinished
from jarvis_agent.api.docs import documentation
from jarvis_agent.api.layer import Call, calls_of
from jarvis_agent.config import AgentConfig
from jarvis_agent.session import Door, Session
from jarvis_agent.toolbox import LAYERS, Layer

OVER = "the episode is over"


@dataclass
class Bridge:
    """Between a server's threads and the episode's, which makes the calls.

    Attributes:
        calls: what can be called.
        documentation: of them.
        requests: (name, arguments, where the answer goes); None when the client has gone.
        over: why nothing can be called any more; empty until the episode has ended.
    """

    calls: dict[str, Call]
    brief: TaskBrief
    documentation: str
    requests: queue.Queue[tuple[str, dict[str, Any], Future[dict[str, Any]]] | None] = field(
        default_factory=queue.Queue
    )
    over: str = ""
    _ending: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, name: str, arguments: dict[str, Any]) -> Future[dict[str, Any]]:
        """The answer's plain data, as soon as there is an episode, or BadInputError.

        Raises:
            BadInputError: nothing can be called any more.
        """
        answer: Future[dict[str, Any]] = Future()
        with self._ending:
            if self.over:
                raise BadInputError(self.over)
            self.requests.put((name, arguments, answer))
        return answer

    def end(self, why: str) -> None:
        """Nothing can be called any more; calls that came too late are told so, instead of waiting for ever."""
        with self._ending:
            self.over = self.over or why
            while not self.requests.empty():
                request = self.requests.get()
                if request is not None:
                    request[2].set_exception(BadInputError(self.over))
            # For an episode that waits for a call.
            self.requests.put(None)


class ServedDoor(Door):
    """Base of the doors behind a server. Whoever calls runs wherever it likes: uncaged, and every record says so.

    Opened before the cell is built, it answers at once, and calls wait for the episode; else it opens with the episode.
    To be closed after the episode: the answer to ``finish`` waits until then, since clients end a server as soon as
    they have what they want, and the record takes a moment to be written.

    Args:
        idle_s: without a call for so long, the episode ends.
    """

    def __init__(self, name: str, layer: Layer, config: AgentConfig | None, idle_s: float) -> None:
        super().__init__(name, layer, config=config)
        self._idle_s = idle_s
        self._stop: Callable[[], None] = lambda: None
        self._bridge: Bridge | None = None
        self._finishing: Future[dict[str, Any]] | None = None

    @abstractmethod
    def _start(self, bridge: Bridge) -> Callable[[], None]:
        """Serve the bridge from now on; returns what stops that."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("" if error is None else f"there is no episode: {error}")

    def open(self, brief: TaskBrief) -> None:
        """Serve from now on."""
        layer = LAYERS[self.layer]
        words = documentation(layer, max_calls=self.config.max_calls, imports=self.config.imports)
        self._bridge = Bridge(calls_of(layer), brief, words)
        self._stop = self._start(self._bridge)

    def close(self, why: str = "") -> None:
        """Answer ``finish``, and serve no more; calls that still wait are told why."""
        if self._finishing is not None:
            reason = "the episode is over and recorded"
            self._finishing.set_result({"ok": True, "status": "SUCCEEDED", "reason": reason})
            self._finishing = None
        if self._bridge is not None:
            self._bridge.end(why or OVER)
        self._stop()

    def run(self, tools: Tools) -> None:
        if self._bridge is None:
            self.open(tools.brief())
        bridge = self._bridge
        assert bridge is not None
        with self.session(tools) as session:
            try:
                session.toolbox.begin_round()
                while self._serve_one(bridge, session):
                    pass
            finally:
                bridge.end(OVER)

    def _serve_one(self, bridge: Bridge, session: Session) -> bool:
        """Make the next call; False when the agent is done."""
        try:
            request = bridge.requests.get(timeout=self._idle_s)
        except queue.Empty:
            raise EpisodeOverError(f"no call for {self._idle_s:.0f} s") from None
        if request is None:
            session.message = bridge.over or "the client has gone"
            return False
        name, arguments, answer = request
        try:
            answer.set_result(session.toolbox.call(name, arguments))
        except BadInputError as error:
            answer.set_exception(error)
        except AgentFinished as finished:
            session.message = str(finished)
            self._finishing = answer
            return False
        except BaseException as error:
            bridge.end(str(error))
            answer.set_exception(BadInputError(str(error)))
            raise
        return True
