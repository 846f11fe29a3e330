"""Runs one program: starts its process, serves its calls, and ends it from outside whatever it does."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import msgspec
from jarvis_core.errors import MissingCapabilityError

from jarvis_agent.cage.isolation import Isolation, bootstrap, command, environment
from jarvis_agent.cage.pipes import Output, PipeClosedError, Pipes, ProtocolError
from jarvis_agent.config import ProgramLimits

_MB, _KB = 1 << 20, 1 << 10
#: How long a process that was told to end, or has ended, may take to be gone.
_END_S = 10.0
#: … and one that has closed its pipe.
_DYING_S = 2.0
#: One look at the pipe lasts at most this long, so that what is printed is counted meanwhile.
_POLL_S = 1.0

#: Serves one call: its name and arguments; returns plain data (see ``inside.wire``).
Serve = Callable[[str, dict[str, Any]], Any]


class FinishedByAgent(Exception):  # noqa: N818 - no error: how a served call says that the agent is done
    """The agent called ``finish``; its message."""


class BadCall(Exception):  # noqa: N818 - for the program to see: the call can't be made
    """How a served call says that it is unknown or has wrong arguments; the program is told, and goes on."""


class ProgramEnd(msgspec.Struct, frozen=True):
    """How a program ended.

    Attributes:
        reason: ``finished``, ``crashed``, or what it was ended for: ``own time``, ``silence``, ``output``,
            ``memory``, ``protocol``, ``died``, ``start``.
        message: one sentence.
        traceback: of a crash.
        output: what it printed, shortened.
        calls: that it made.
        isolation: how it was kept apart.
        facts: what its process found to hold about itself when it started.
    """

    reason: str
    message: str
    traceback: str
    output: str
    calls: int
    isolation: str
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Ended(Exception):  # noqa: N818
    reason: str
    message: str
    traceback: str = ""


class Cage:
    """One process for one program.

    Args:
        isolation: how it is kept apart; NONE only where the user asked for it.
        functions: of the API, as ``inside.client.api_namespace`` takes them.
        serve: performs a call; may raise BadCall and FinishedByAgent.
    """

    def __init__(
        self, isolation: Isolation, limits: ProgramLimits, functions: list[dict[str, Any]], serve: Serve
    ) -> None:
        self._isolation = isolation
        self._limits = limits
        self._functions = functions
        self._serve = serve
        self._calls = 0
        self._output = ""
        self._facts: dict[str, Any] = {}

    def run(self, program: str) -> ProgramEnd:
        """Run a program to its end.

        Raises:
            MissingCapabilityError: the isolation that was asked for does not hold.
        """
        request_fd, program_out = os.pipe()
        program_in, answer_fd = os.pipe()
        # A picture in one piece. Users may be allowed less, which only costs time.
        with suppress(PermissionError):
            fcntl.fcntl(answer_fd, fcntl.F_SETPIPE_SZ, _MB)
        try:
            process = self._start(program_out, program_in)
        finally:
            os.close(program_out)
            os.close(program_in)
        assert process.stdout is not None
        output = Output(process.stdout.fileno(), self._limits.kept_output_kb * _KB)
        pipes = Pipes(request_fd, answer_fd, (output,), self._limits.message_kb * _KB)
        try:
            ending = self._attend(pipes, process, program)
        finally:
            _kill(process)
            pipes.rest(_END_S)
            pipes.close()
            process.stdout.close()
            self._output = output.text
        return self.ended(ending.reason, ending.message, ending.traceback)

    def ended(self, reason: str, message: str, traceback: str = "") -> ProgramEnd:
        """The last program's end; for one who stopped ``run`` by an exception, too."""
        return ProgramEnd(
            reason, message, traceback, self._output, self._calls, str(self._isolation), self._facts
        )

    def _start(self, request_fd: int, answer_fd: int) -> subprocess.Popen[bytes]:
        arguments = bootstrap(self._isolation, request_fd, answer_fd)
        words = command(self._isolation, arguments, scratch_bytes=self._limits.scratch_mb * _MB)
        return subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment(),
            pass_fds=(request_fd, answer_fd),
            start_new_session=True,
            cwd="/",
        )

    def _attend(self, pipes: Pipes, process: subprocess.Popen[bytes], program: str) -> _Ended:
        try:
            self._begin(pipes, program)
            self._converse(pipes)
        except _Ended as ended:
            return ended
        except ProtocolError as error:
            return _Ended("protocol", f"it sent {error} through the pipe; ended")
        except PipeClosedError:
            return self._died(process)
        raise AssertionError("a conversation ends")

    def _begin(self, pipes: Pipes, program: str) -> None:
        limits = self._limits
        caged = self._isolation is not Isolation.NONE
        hello = {
            "caged": caged,
            "functions": self._functions,
            "program": program,
            "limits": {
                "memory": limits.memory_mb * _MB,
                "cpu_s": limits.cpu_s,
                "files": limits.open_files,
                "file_bytes": limits.scratch_mb * _MB,
            },
        }
        self._tell(pipes, hello, limits.start_s)
        message = self._next(pipes, time.monotonic() + limits.start_s, "start", "its process did not start")
        self._facts = dict(message.get("ready") or {})
        if caged and not (self._facts.get("no_new_privs") and self._facts.get("seccomp")):
            raise MissingCapabilityError(
                f"the cage does not hold: {self._facts}", fix="report it; --uncaged runs without"
            )
        self._tell(pipes, {"go": True}, limits.start_s)

    def _converse(self, pipes: Pipes) -> None:
        own_left_s = self._limits.own_s
        while True:
            began = time.monotonic()
            silence = self._limits.silence_s < own_left_s
            allowed = min(self._limits.silence_s, own_left_s)
            reason = (
                ("silence", f"no call for {allowed:.0f} s")
                if silence
                else ("own time", "its time is used up")
            )
            message = self._next(pipes, began + allowed, *reason)
            own_left_s -= time.monotonic() - began
            if "end" in message:
                raise _Ended(
                    _known(message["end"]), str(message.get("message", "")), str(message.get("traceback", ""))
                )
            self._tell(pipes, self._answer(message), max(1.0, min(self._limits.silence_s, own_left_s)))

    def _answer(self, message: dict[str, Any]) -> dict[str, Any]:
        name, arguments = message.get("call"), message.get("arguments")
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise ProtocolError("a message that is no call")
        self._calls += 1
        try:
            return {"answer": self._serve(name, arguments)}
        except BadCall as error:
            return {"bad_call": str(error)}
        except FinishedByAgent as finished:
            raise _Ended("finished", str(finished) or "the agent called finish()") from None

    def _next(self, pipes: Pipes, deadline: float, reason: str, why: str) -> dict[str, Any]:
        """The next message; ends the program at ``deadline`` or when it prints too much."""
        while True:
            message = pipes.receive(min(_POLL_S, deadline - time.monotonic()))
            if message is not None:
                return message
            if pipes.printed > self._limits.output_kb * _KB:
                raise _Ended("output", f"it printed more than {self._limits.output_kb} KB; ended")
            if time.monotonic() >= deadline:
                raise _Ended(reason, f"{why}; ended")

    def _tell(self, pipes: Pipes, value: Any, seconds: float) -> None:
        try:
            pipes.send(value, seconds)
        except TimeoutError:
            raise _Ended("silence", f"it did not read an answer for {seconds:.0f} s; ended") from None

    def _died(self, process: subprocess.Popen[bytes]) -> _Ended:
        try:
            status = process.wait(_DYING_S)
        except subprocess.TimeoutExpired:
            return _Ended("protocol", "it closed its pipe; ended")
        number = status - 128 if status > 128 else -status
        if number in (signal.SIGXCPU, signal.SIGKILL):
            return _Ended(
                "own time", f"its {self._limits.cpu_s} s of the processor are used up, or it was killed"
            )
        return _Ended("died", f"its process ended with status {status} and without a word")


def _known(reason: Any) -> str:
    """What a program's process says about its own end; the harness's words are not for it to use."""
    return reason if reason in ("finished", "memory") else "crashed"


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started; in the cage they are its group's, and die with it."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        process.poll()
    process.wait(_END_S)
