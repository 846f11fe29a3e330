"""The first thing that runs in the cage: closes the last doors, then runs the program and reports its end."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
import sys
import traceback
from typing import Any

from . import seccomp
from .client import Channel, api_namespace

#: Name under which tracebacks show the program.
PROGRAM = "program.py"
_PR_SET_DUMPABLE, _PR_GET_NO_NEW_PRIVS, _PR_GET_SECCOMP = 4, 39, 21
_TRACEBACK_CHARACTERS = 4000


def main(request_fd: int, answer_fd: int) -> None:
    """Talk on the two ends of the pipe: what is wanted is written to one, what is answered read from the other."""
    channel = Channel(request_fd, answer_fd)
    told = channel.receive()
    limit(told["limits"])
    if told["caged"]:
        shut()
    channel.send({"ready": facts()})
    names = api_namespace(channel, told["functions"])
    names["__name__"] = "__main__"
    channel.receive()  # go
    try:
        run(told["program"], names)
        ending = {"end": "finished", "message": "the program ended"}
    except SystemExit:
        ending = {"end": "finished", "message": "the program left by exit()"}
    except MemoryError:
        names.clear()
        gc.collect()
        ending = {"end": "memory", "message": "the program used up its memory"}
    except BaseException as error:  # noqa: BLE001 - whatever a program raises is reported
        ending = {"end": "crashed", "message": described(error), "traceback": program_traceback(error)}
    sys.stdout.flush()
    channel.send(ending)


def limit(limits: dict[str, int]) -> None:
    """Limits of this process; hard ones, which only root could loosen."""
    memory, cpu_s, files, file_bytes = (
        limits["memory"],
        limits["cpu_s"],
        limits["files"],
        limits["file_bytes"],
    )
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
    resource.setrlimit(resource.RLIMIT_FSIZE, (file_bytes, file_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def shut() -> None:
    """The system call filter, and no look into this process. Can't be undone."""
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    seccomp.install()


def facts() -> dict[str, Any]:
    """What holds here, measured from inside; the harness refuses to go on where it is not enough."""
    libc = ctypes.CDLL(None)
    return {
        "no_new_privs": libc.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1,
        "seccomp": libc.prctl(_PR_GET_SECCOMP, 0, 0, 0, 0) == 2,
        "pid": os.getpid(),
    }


def run(source: str, names: dict[str, Any]) -> None:
    exec(compile(source, PROGRAM, "exec"), names)


def described(error: BaseException) -> str:
    """One line: what happened and at which line of the program."""
    line = next(
        (f.lineno for f in reversed(traceback.extract_tb(error.__traceback__)) if f.filename == PROGRAM), None
    )
    if isinstance(error, SyntaxError) and error.filename == PROGRAM:
        line = error.lineno
    where = f"line {line}: " if line else ""
    try:
        words = str(error)
    except Exception:  # noqa: BLE001 - it is the program's own code
        words = "(it can't be shown)"
    return f"{where}{type(error).__name__}: {words}"[:_TRACEBACK_CHARACTERS]


def program_traceback(error: BaseException) -> str:
    """The traceback from the program's own frame on."""
    try:
        text = "".join(traceback.format_exception(error))
    except Exception:  # noqa: BLE001 - it may be the program's own code
        text = type(error).__name__
    return text[-_TRACEBACK_CHARACTERS:]
