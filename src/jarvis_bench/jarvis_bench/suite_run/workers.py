"""Episodes in processes of their own: what breaks one, or never ends, costs the others nothing."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from jarvis_episode.recording.folder import read_score

from jarvis_bench.suite_run.attempts import Attempt
from jarvis_bench.suite_run.plan import EPISODES_FOLDER, LOGS_FOLDER, PlannedEpisode, is_done

#: A process that was asked to end and does not is killed after this.
GRACE_S = 10.0
#: Tells an episode's process who started it.
PARENT_VARIABLE = "JARVIS_RUN_PID"
_PR_SET_PDEATHSIG = 1
#: Lines of a failed process's output that its attempt quotes.
_QUOTED = 2


class Workers:
    """Plays episodes, so many at a time.

    Args:
        run: the run's folder.
        command: the command line that plays an episode.
        jobs: processes at a time.
        limit_s: wall-clock time an episode may take.
    """

    def __init__(
        self, run: Path, command: Callable[[PlannedEpisode], Sequence[str]], jobs: int, limit_s: float
    ) -> None:
        self._run = run
        self._command = command
        self._jobs = jobs
        self._limit_s = limit_s
        self._closed = threading.Event()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def play(self, episodes: Sequence[PlannedEpisode]) -> Iterator[Attempt]:
        """Play all; yields each as it ends, in the order of their ends. Leaving the loop stops what runs."""
        (self._run / LOGS_FOLDER).mkdir(exist_ok=True)
        pool = ThreadPoolExecutor(self._jobs, thread_name_prefix="episode")
        try:
            futures: list[Future[Attempt | None]] = [pool.submit(self._attempt, e) for e in episodes]
            for future in as_completed(futures):
                attempt = future.result()
                if attempt is not None:
                    yield attempt
        finally:
            self._close()
            pool.shutdown(cancel_futures=True)

    def _attempt(self, episode: PlannedEpisode) -> Attempt | None:
        """None if the run was stopped meanwhile: that says nothing of the episode."""
        began = time.monotonic()
        log = self._run / LOGS_FOLDER / f"{episode.id}.log"
        with log.open("wb") as output:
            process = self._start(episode, output)
        if process is None:
            return None
        reason = self._wait(process)
        if self._closed.is_set() and not is_done(self._run, episode):
            return None
        wall_s, now = round(time.monotonic() - began, 1), datetime.now(UTC).isoformat(timespec="seconds")
        if not is_done(self._run, episode):
            return Attempt(episode.id, False, wall_s, now, reason=reason or f"no record: {_tail(log)}")
        score = read_score(self._run / EPISODES_FOLDER / episode.id)
        return Attempt(episode.id, True, wall_s, now, score.score, score.s_exact)

    def _start(self, episode: PlannedEpisode, output: IO[bytes]) -> subprocess.Popen[bytes] | None:
        """The process of an episode, leader of a group of its own; None when the run is being stopped."""
        with self._lock:
            if self._closed.is_set():
                return None
            process = subprocess.Popen(
                self._command(episode),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                # Several at a time: each keeps to one core.
                env={
                    **os.environ,
                    "OMP_NUM_THREADS": "1",
                    "OPENBLAS_NUM_THREADS": "1",
                    PARENT_VARIABLE: str(os.getpid()),
                },
            )
            self._processes.add(process)
            return process

    def _wait(self, process: subprocess.Popen[bytes]) -> str:
        """Why it was ended, "" if by itself."""
        try:
            process.wait(self._limit_s)
        except subprocess.TimeoutExpired:
            end_group(process)
            return f"took longer than {self._limit_s / 60:.0f} min"
        finally:
            with self._lock:
                self._processes.discard(process)
        return ""

    def _close(self) -> None:
        self._closed.set()
        with self._lock:
            running = list(self._processes)
        for process in running:
            end_group(process)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Interrupt a process and all it started; kill what does not end."""
    for number, patience_s in ((signal.SIGINT, GRACE_S), (signal.SIGKILL, GRACE_S)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            return
        try:
            process.wait(patience_s)
            return
        except subprocess.TimeoutExpired:
            continue


def end_with_parent() -> None:
    """In an episode's process: end when the run is killed, which leaves it no time to stop its processes.

    Does nothing in a process that no run started. See prctl(2), PR_SET_PDEATHSIG.
    """
    parent = os.environ.get(PARENT_VARIABLE)
    if parent is None:
        return
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(parent):
        # It was killed before we could ask.
        raise SystemExit(1)


def _tail(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(errors="replace").splitlines() if line.strip()]
    return " / ".join(lines[-_QUOTED:])[:300] or "its process printed nothing"
