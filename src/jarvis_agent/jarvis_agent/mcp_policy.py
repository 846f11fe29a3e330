"""An agent that is a client of the Model Context Protocol: Claude Code, Codex, or anything else that speaks it."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import uvicorn
from jarvis_core.config import load_default
from jarvis_core.errors import BadInputError, RefusedError
from jarvis_core.files import read_bytes
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from jarvis_agent.config import AgentConfig
from jarvis_agent.mcp_server import make_server
from jarvis_agent.served import Bridge, ServedDoor
from jarvis_agent.toolbox import Layer

#: Time in which last answers reach a client over HTTP.
_GOODBYE_S = 3
_STREAMS_S = 15
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MIN_TOKEN = 16

#: Serves until the client has gone or the returned function is called.
Serve = Callable[[Server[Any], Callable[[], None]], Callable[[], None]]


class McpPolicy(ServedDoor):
    """Serves the calls of one episode to a client of the protocol.

    Args:
        serve: how the client is reached.
    """

    kind = "mcp"

    def __init__(self, name: str, layer: Layer, serve: Serve, config: AgentConfig | None = None) -> None:
        whole = config or load_default("agent", AgentConfig)
        super().__init__(name, layer, whole, whole.mcp.idle_s)
        self._serve = serve

    def _start(self, bridge: Bridge) -> Callable[[], None]:
        return self._serve(make_server(bridge), lambda: bridge.requests.put(None))


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
