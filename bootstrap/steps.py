"""How set-up works: one line a step with its time, commands that log to a file, one set-up at a time."""

import contextlib
import fcntl
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bootstrap.errors import SetupError
from bootstrap.paths import Layout

PREFIX = "[jarvis]"
LINES_SHOWN_ON_FAILURE = 15


def say(text: str) -> None:
    """One line for the person; on stderr, so that a command's own output stays clean."""
    print(f"{PREFIX} {text}", file=sys.stderr, flush=True)


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Print `title` and the seconds it took; on a terminal, count them while it runs."""
    start = time.monotonic()
    done = threading.Event()
    ticker = threading.Thread(target=_count_seconds, args=(title, start, done), daemon=True)
    if sys.stderr.isatty():
        ticker.start()
    outcome = "failed after"
    try:
        yield
        outcome = "ok"
    finally:
        done.set()
        if ticker.ident is not None:
            ticker.join()
        say(f"{title}: {outcome} {time.monotonic() - start:.1f} s")


def _count_seconds(title: str, start: float, done: threading.Event) -> None:
    while not done.wait(0.2):
        print(f"\r{PREFIX} {title} … {time.monotonic() - start:.0f} s", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr, flush=True)


def run_logged(
    command: Sequence[str | Path],
    log: Path,
    *,
    what: str,
    fix: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run `command` with its output in the file `log`.

    :raises SetupError: when it fails, saying `what` and how to `fix` it, below the last lines of the log.
    """
    run_logged_together({log: command}, what=what, fix=fix, env=env, cwd=cwd)


def run_logged_together(
    commands: Mapping[Path, Sequence[str | Path]],
    *,
    what: str,
    fix: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> None:
    """Run commands side by side, each with its output in the file that names it, and wait for all.

    :raises SetupError: for the first that failed, as run_logged does.
    """
    processes: dict[Path, subprocess.Popen[bytes]] = {}
    try:
        for log, command in commands.items():
            processes[log] = _start(command, log, env, cwd)
        statuses = {log: process.wait() for log, process in processes.items()}
    finally:
        for process in processes.values():
            _end(process)
    for log, status in statuses.items():
        if status != 0:
            _show_end_of(log)
            raise SetupError(f"{what} (exit status {status}; whole log: {log})", fix)


def _start(
    command: Sequence[str | Path], log: Path, env: Mapping[str, str] | None, cwd: Path | None
) -> subprocess.Popen[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as output:
        print("$", *command, file=output, flush=True)
        return subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=env,
            cwd=cwd,
            pass_fds=tuple(_held_locks),
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave no child behind when we are interrupted."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _show_end_of(log: Path) -> None:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    print(
        *(f"    | {line}" for line in lines[-LINES_SHOWN_ON_FAILURE:]), sep="\n", file=sys.stderr, flush=True
    )


_held_locks: list[int] = []


@contextlib.contextmanager
def one_set_up_at_a_time(layout: Layout) -> Iterator[None]:
    """Wait until no other start is setting up this clone, then keep others waiting.

    The children of run_logged inherit the lock: where set-up itself is killed, an installer that it left
    behind still keeps the next start waiting until it has ended.
    """
    layout.state.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(layout.lock, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another start is setting up this folder; waiting for it")
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        _held_locks.append(descriptor)
        yield
    finally:
        if descriptor in _held_locks:
            _held_locks.remove(descriptor)
        os.close(descriptor)
