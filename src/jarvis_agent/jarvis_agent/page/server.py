"""HTTP for the page: the page itself, the manual's pages, and one address at which calls are made.

Every request needs the token; it is part of the address that is told to whoever started the episode. Nothing is served
that an agent is not given.
"""

from __future__ import annotations

import base64
import hmac
import json
import secrets
import sys
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from typing import Any
from urllib.parse import parse_qs, urlsplit

import cv2
import numpy as np
from jarvis_bricks.colours import ColourTable
from jarvis_core.errors import BadInputError

from jarvis_agent.api.layer import Call
from jarvis_agent.served import Bridge

#: Of one call's arguments.
MAX_BODY = 65536
#: A connection on which nothing comes is closed: browsers open some in advance.
SILENCE_S = 5
_QUALITY = 90
_JSON, _HTML = "application/json", "text/html; charset=utf-8"
#: The page needs nothing but itself and this server.
_POLICY = "; ".join(
    (
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "script-src 'unsafe-inline'",
        "img-src 'self' data:",
        "connect-src 'self'",
    )
)


class PageServer(ThreadingHTTPServer):
    """Serves one episode.

    Args:
        port: 0 for any that is free.

    Attributes:
        address: of the page, with its token.
    """

    daemon_threads = False  # answers on their way are waited for

    def __init__(self, host: str, port: int, bridge: Bridge) -> None:
        token = secrets.token_urlsafe(24)
        super().__init__((host, port), partial(_Handler, bridge, token))
        self.address = f"http://{host}:{self.server_port}/?token={token}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that left before its answer came is no error."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    timeout = SILENCE_S

    def __init__(self, bridge: Bridge, token: str, *arguments: Any) -> None:
        self._bridge = bridge
        self._token = token
        super().__init__(*arguments)

    def do_GET(self) -> None:
        path = self._path()
        pages = {f"/manual/{page.step}": page.png for page in self._bridge.brief.manual.pages}
        if path == "/":
            self._send(HTTPStatus.OK, page_of(self._bridge).encode(), _HTML)
        elif path in pages:
            self._send(HTTPStatus.OK, pages[path], "image/png")
        elif path is not None:
            self._send(HTTPStatus.NOT_FOUND, b"there is nothing here\n", "text/plain")

    def do_POST(self) -> None:
        path = self._path()
        if path == "/call":
            self._call()
        elif path is not None:
            self._send(HTTPStatus.NOT_FOUND, b"there is nothing here\n", "text/plain")

    def _path(self) -> str | None:
        """What is asked for; None where the token was missing or wrong, which is answered."""
        asked = urlsplit(self.path)
        given = parse_qs(asked.query).get("token", [""])[0]
        if hmac.compare_digest(given.encode(), self._token.encode()):
            return asked.path
        self._send(HTTPStatus.FORBIDDEN, b"open the address with the token that was told\n", "text/plain")
        return None

    def _call(self) -> None:
        try:
            name, arguments = self._asked()
            answer = self._bridge.ask(name, arguments).result()
        except BadInputError as error:
            self._json({"error": error.line(), "over": self._bridge.over})
        else:
            self._json({"answer": shown(answer), "over": self._bridge.over})

    def _asked(self) -> tuple[str, dict[str, Any]]:
        """Name and arguments of a call; raises BadInputError."""
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MAX_BODY:
            raise BadInputError(f"a call is at most {MAX_BODY} bytes long", where="/call")
        try:
            asked = json.loads(self.rfile.read(int(length)))
            name, arguments = asked["call"], asked["arguments"]
        except (ValueError, KeyError, TypeError) as error:
            raise BadInputError('is not {"call": ..., "arguments": {...}}', where="/call") from error
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise BadInputError('is not {"call": ..., "arguments": {...}}', where="/call")
        return name, arguments

    def _json(self, value: dict[str, Any]) -> None:
        self._send(HTTPStatus.OK, json.dumps(value).encode(), _JSON)

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")
        self.send_header("Content-Security-Policy", _POLICY)
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are calls, which the transcript has; addresses hold the token."""


def page_of(bridge: Bridge) -> str:
    """The page, with what it has to know of the episode."""
    brief, colours = bridge.brief, ColourTable.load(None).colours
    told = {
        "task": brief.task_id,
        "bricks": brief.n_required,
        "steps": len(brief.manual.pages) - 1,
        "budget_s": brief.budget_s,
        "colours": {code: "#{:02x}{:02x}{:02x}".format(*colour.rgb) for code, colour in colours.items()},
        "calls": [_form(call) for call in bridge.calls.values()],
    }
    page = resources.files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    # What a model's author wrote must not end the script.
    return page.replace("/*EPISODE*/null", json.dumps(told).replace("<", "\\u003c"))


def shown(value: Any) -> Any:
    """An answer as JSON: pictures as data addresses, other arrays by their shape."""
    if isinstance(value, np.ndarray):
        if value.dtype != np.uint8 or value.ndim != 3:
            return {"array": list(value.shape)}
        bgr = cv2.cvtColor(value, cv2.COLOR_RGB2BGR)
        done, jpeg = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, _QUALITY])
        assert done
        return {"image": f"data:image/jpeg;base64,{base64.b64encode(jpeg.tobytes()).decode()}"}
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(item) for item in value]
    return value


def _form(call: Call) -> dict[str, Any]:
    """What a form for a call has to know."""
    schema = call.schema
    fields = [
        {"name": name, "schema": schema["properties"][name], "required": name in schema.get("required", ())}
        for name in call.signature.parameters
    ]
    return {"name": call.name, "summary": call.summary, "doc": call.doc, "fields": fields}
