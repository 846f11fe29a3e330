"""The harness's side of a program's pipes: never blocks for longer than told, never believes what it reads."""

from __future__ import annotations

import os
import select
import time
from typing import Any

from jarvis_agent.cage.inside import wire

_CHUNK = 1 << 16


class PipeClosedError(Exception):
    """The program's process has closed its end."""


class ProtocolError(Exception):
    """What came through the pipe is no message."""


class Output:
    """What a process prints: the first part is kept, all of it is counted."""

    def __init__(self, fd: int, kept_bytes: int) -> None:
        self.fd = fd
        self.count = 0
        self._kept = bytearray()
        self._kept_bytes = kept_bytes

    def drain(self) -> bool:
        """Take what is there now; False at the end."""
        try:
            data = os.read(self.fd, _CHUNK)
        except BlockingIOError:
            return True
        self.count += len(data)
        self._kept += data[: max(0, self._kept_bytes - len(self._kept))]
        return bool(data)

    @property
    def text(self) -> str:
        left = self.count - len(self._kept)
        return self._kept.decode(errors="replace") + (f"\n… {left} more bytes" if left else "")


class Pipes:
    """Requests in, answers out, and two streams of printed text.

    Args:
        request_fd, answer_fd: the harness's ends; closed by ``close``.
        max_message: bytes of one request.
    """

    def __init__(
        self, request_fd: int, answer_fd: int, outputs: tuple[Output, ...], max_message: int
    ) -> None:
        self._in, self._out, self.outputs = request_fd, answer_fd, outputs
        self._open_outputs = {output.fd: output for output in outputs}
        self._max_message = max_message
        self._received = bytearray()
        for fd in (request_fd, answer_fd, *self._open_outputs):
            os.set_blocking(fd, False)

    @property
    def printed(self) -> int:
        """Bytes printed so far."""
        return sum(output.count for output in self.outputs)

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next message, or None where none is complete after some time of at most ``seconds``.

        Raises:
            ProtocolError: what was sent is no message.
            PipeClosedError: nothing will come any more.
        """
        message = self._message()
        if message is not None:
            return message
        ready, _, _ = select.select([self._in, *self._open_outputs], [], [], max(0.0, seconds))
        for fd in ready:
            if fd in self._open_outputs and not self._open_outputs[fd].drain():
                del self._open_outputs[fd]
        if self._in in ready:
            data = os.read(self._in, _CHUNK)
            if not data:
                raise PipeClosedError
            self._received += data
        return self._message()

    def send(self, value: Any, seconds: float) -> None:
        """Send a message; printed text is taken in meanwhile.

        Raises:
            TimeoutError: the program does not read.
            PipeClosedError: it has gone.
        """
        rest = memoryview(wire.encode(value))
        deadline = time.monotonic() + seconds
        while rest:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            ready, writable, _ = select.select([*self._open_outputs], [self._out], [], left)
            for fd in ready:
                if not self._open_outputs[fd].drain():
                    del self._open_outputs[fd]
            if writable:
                try:
                    rest = rest[os.write(self._out, rest) :]
                except BrokenPipeError as error:
                    raise PipeClosedError from error
                except BlockingIOError:
                    continue

    def rest(self, seconds: float) -> None:
        """Take in what is still printed, until the end or for ``seconds``."""
        deadline = time.monotonic() + seconds
        while self._open_outputs and (left := deadline - time.monotonic()) > 0:
            for fd in select.select([*self._open_outputs], [], [], left)[0]:
                if not self._open_outputs[fd].drain():
                    del self._open_outputs[fd]

    def close(self) -> None:
        for fd in (self._in, self._out):
            os.close(fd)

    def _message(self) -> dict[str, Any] | None:
        size = wire.HEADER.size
        if len(self._received) < size:
            return None
        text_length, body_length = wire.HEADER.unpack_from(self._received)
        if text_length + body_length > self._max_message:
            raise ProtocolError(f"a message of {text_length + body_length} bytes")
        if len(self._received) < size + text_length + body_length:
            return None
        text = bytes(self._received[size : size + text_length])
        body = bytes(self._received[size + text_length : size + text_length + body_length])
        del self._received[: size + text_length + body_length]
        try:
            message = wire.decode(text, body)
        except wire.WireError as error:
            raise ProtocolError(str(error)) from error
        if not isinstance(message, dict):
            raise ProtocolError(f"a {type(message).__name__} instead of a message")
        return message
