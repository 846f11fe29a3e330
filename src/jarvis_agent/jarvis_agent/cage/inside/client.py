"""The program's side of the pipe: one function a call of the API, which asks the harness and returns its answer."""

from __future__ import annotations

import inspect
import os
from typing import Any, NoReturn, Protocol

from . import wire


class ApiError(Exception):
    """A call that can't be made: an unknown argument, a value of the wrong kind. Failed actions never raise."""


class Record(dict[str, Any]):
    """An answer: its fields are attributes and keys alike."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the answer has no field {name!r}; it has {', '.join(self)}") from None

    def __repr__(self) -> str:
        return f"({', '.join(f'{name}={short(value)}' for name, value in self.items())})"


def short(value: Any) -> str:
    """How a value is shown in an answer's text."""
    shape = getattr(value, "shape", None)
    return f"<array {'x'.join(map(str, shape))}>" if shape else repr(value)


class Talk(Protocol):
    """Whatever asks and gets answers."""

    def send(self, value: Any) -> None: ...
    def receive(self) -> Any: ...


class Channel:
    """Whole frames over two file descriptors."""

    def __init__(self, request_fd: int, answer_fd: int) -> None:
        self._out = request_fd
        self._in = answer_fd

    def send(self, value: Any) -> None:
        rest = memoryview(wire.encode(value))
        while rest:
            rest = rest[os.write(self._out, rest) :]

    def receive(self) -> Any:
        text_length, body_length = wire.HEADER.unpack(self._read(wire.HEADER.size))
        return wire.decode(self._read(text_length), self._read(body_length), Record)

    def _read(self, count: int) -> bytes:
        parts: list[bytes] = []
        while count:
            part = os.read(self._in, min(count, 1 << 20))
            if not part:
                raise SystemExit("the harness has gone")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)


def api_namespace(channel: Talk, functions: list[Any]) -> dict[str, Any]:
    """The names a program finds: the functions of the API, and the error they raise for a call that can't be made."""
    names: dict[str, Any] = {function["name"]: _function(channel, function) for function in functions}
    return names | {"ApiError": ApiError}


def _function(channel: Talk, told: Any) -> Any:
    parameters = [
        inspect.Parameter(p["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD)
        if p["required"]
        else inspect.Parameter(p["name"], inspect.Parameter.POSITIONAL_OR_KEYWORD, default=p["default"])
        for p in told["parameters"]
    ]
    signature = inspect.Signature(parameters)

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            arguments = dict(signature.bind(*args, **kwargs).arguments)
        except TypeError as error:
            _refuse(f"{told['name']}{signature}: {error}")
        try:
            channel.send({"call": told["name"], "arguments": arguments})
        except wire.WireError as error:
            _refuse(f"{told['name']}: {error}")
        answer = channel.receive()
        if "bad_call" in answer:
            _refuse(answer["bad_call"])
        return answer["answer"]

    call.__name__ = call.__qualname__ = told["name"]
    call.__doc__ = told["doc"]
    call.__signature__ = signature  # type: ignore[attr-defined]
    return call


def _refuse(message: str) -> NoReturn:
    raise ApiError(message) from None
