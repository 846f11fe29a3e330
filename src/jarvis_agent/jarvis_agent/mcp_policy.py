"""An agent that is a client of the Model Context Protocol: Claude Code, Codex, or anything else that speaks it."""

from __future__ import annotations

import asyncio
import hmac
import queue
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any

import uvicorn
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import read_bytes
from jarvis_core.manual import TaskBrief
from jarvis_core.ports import Tools
from jarvis_episode.tools import EpisodeOverError
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from jarvis_agent.api.common import AgentFinished
from jarvis_agent.api.docs import documentation
from jarvis_agent.api.layer import calls_of
from jarvis_agent.config import AgentConfig
from jarvis_agent.mcp_server import Bridge, make_server
from jarvis_agent.session import Door, Session
from jarvis_agent.toolbox import LAYERS, Layer

#: Time in which last answers reach a client over HTTP.
_GOODBYE_S = 3
_STREAMS_S = 15
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MIN_TOKEN = 16

#: Serves until the client has gone or the returned function is called.
Serve = Callable[[Server[Any], Callable[[], None]], Callable[[], None]]


class McpPolicy(Door):
    """Serves the calls of one episode. The client runs wherever it likes: it is uncaged, and every record says so.

    Opened before the cell is built, it answers a client at once, and calls wait for the episode; else it opens with the
    episode. To be closed after the episode: the answer to ``finish`` waits until then, since clients end a server as
    soon as they have what they want, and the record takes a moment to be written.
    """

    kind = "mcp"

    def __init__(self, name: str, layer: Layer, serve: Serve, config: AgentConfig | None = None) -> None:
        super().__init__(name, layer, config=config)
        self._serve = serve
        self._stop: Callable[[], None] = lambda: None
        self._bridge: Bridge | None = None
        self._finishing: Future[dict[str, Any]] | None = None

    def __enter__(self) -> McpPolicy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close("" if error is None else f"there is no episode: {error}")

    def open(self, brief: TaskBrief) -> None:
        """Serve from now on."""
        words = documentation(
            LAYERS[self.layer], max_calls=self.config.max_calls, imports=self.config.imports
        )
        bridge = Bridge(calls_of(LAYERS[self.layer]), brief, words)
        self._bridge = bridge
        self._stop = self._serve(make_server(bridge), lambda: bridge.requests.put(None))

    def close(self, why: str = "") -> None:
        """Answer ``finish``, and serve no more; calls that still wait are told why."""
        if self._finishing is not None:
            reason = "the episode is over and recorded"
            self._finishing.set_result({"ok": True, "status": "SUCCEEDED", "reason": reason})
            self._finishing = None
        if self._bridge is not None:
            self._bridge.end(why or "the episode is over")
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
                bridge.end("the episode is over")

    def _serve_one(self, bridge: Bridge, session: Session) -> bool:
        """Make the next call; False when the agent is done."""
        try:
            request = bridge.requests.get(timeout=self.config.mcp.idle_s)
        except queue.Empty:
            raise EpisodeOverError(f"the client made no call for {self.config.mcp.idle_s:.0f} s") from None
        if request is None:
            session.message = "the client has gone"
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
            bridge.over = str(error)
            answer.set_exception(BadInputError(str(error)))
            raise
        return True


def serve_stdio() -> Serve:
    """Over this process's standard streams; the client that started it ends it by closing them."""

    def serve(server: Server[Any], gone: Callable[[], None]) -> Callable[[], None]:
        async def run() -> None:
            async with stdio_server() as (read, write):
                await server.run(read, write, server.create_initialization_options())

        thread = _in_thread(lambda: asyncio.run(run()), gone)
        # A client closes the streams when it has its last answer; one that keeps them open is not waited for long.
        return lambda: thread.join(_STREAMS_S)

    return serve


def serve_http(
    host: str, port: int, token_file: Path | None = None, ready: Callable[[str, str], None] | None = None
) -> Serve:
    """Over streamable HTTP at /mcp, for clients that send the token.

    Args:
        port: 0 for any that is free.
        token_file: holds the token; None: a new one.
        ready: told address and token when it serves; default: says them on the error stream.

    Raises:
        BadInputError: the token is too short to be one.
    """
    token = read_bytes(token_file).decode().strip() if token_file else secrets.token_urlsafe(32)
    if len(token) < _MIN_TOKEN:
        raise BadInputError(f"a token needs {_MIN_TOKEN} characters", where=str(token_file))

    def serve(server: Server[Any], gone: Callable[[], None]) -> Callable[[], None]:
        app = _Authorised(server.streamable_http_app(host=host), token)
        http = uvicorn.Server(
            uvicorn.Config(
                app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=_GOODBYE_S
            )
        )
        thread = _in_thread(http.run, gone)
        _wait_until_started(http, thread, host, port)
        number = http.servers[0].sockets[0].getsockname()[1]
        (ready or _tell)(f"http://{host}:{number}/mcp", token)

        def stop() -> None:
            http.should_exit = True
            thread.join(2 * _GOODBYE_S)

        return stop

    return serve


class _Authorised:
    """Lets requests with the token through to an ASGI application."""

    def __init__(self, app: Any, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(
        self, scope: dict[str, Any], receive: Any, send: Callable[[Any], Awaitable[None]]
    ) -> None:
        if scope["type"] == "http":
            given = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(given, self._wanted):
                headers = [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": b""})
                return
        await self._app(scope, receive, send)


def _wait_until_started(http: uvicorn.Server, thread: threading.Thread, host: str, port: int) -> None:
    while not http.started:
        thread.join(0.02)
        if not thread.is_alive():
            raise RefusedError(f"can't listen on {host}:{port}", fix="give another --port")


def _tell(address: str, token: str) -> None:
    """How to connect, on the error stream."""
    lines = [f"serving MCP at {address}", f"token: {token}"]
    if not any(f"//{host}:" in address for host in _LOOPBACK):
        lines.append("it can be reached from other machines, and HTTP is not encrypted")
    print("\n".join(lines), file=sys.stderr, flush=True)


def _in_thread(run: Callable[[], None], gone: Callable[[], None]) -> threading.Thread:
    def attempt() -> None:
        try:
            run()
        finally:
            gone()

    thread = threading.Thread(target=attempt, name="mcp", daemon=True)
    thread.start()
    return thread
