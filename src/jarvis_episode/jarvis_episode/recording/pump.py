"""Writing on a thread of its own, so that whoever records never waits long for a disk.

A disk that is full, or slower than what is to be written for longer than a patience, ends the recording: what comes
after is counted and left out, and ``stopped`` says why. Any other failure is a bug and raised at the next call.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Action = Callable[[], None]


class Pump:
    """Carries out writes in order.

    Args:
        queued: writes that may wait.
        patience_s: wall-clock seconds to wait for room in the queue, and for any write at the end.

    Attributes:
        stopped: why nothing is written any more; empty while all is well.
        lost: writes that were left out since.
    """

    def __init__(self, queued: int, patience_s: float) -> None:
        self._actions: queue.Queue[Action | None] = queue.Queue(queued)
        self._patience_s = patience_s
        self._bug: Exception | None = None
        self.stopped = ""
        self.lost = 0
        self._done = 0
        self._thread = threading.Thread(target=self._carry_out, name="recorder", daemon=True)
        self._thread.start()

    @property
    def hangs(self) -> bool:
        """Whether, after ``close``, a write still goes on."""
        return self._thread.is_alive()

    def put(self, action: Action) -> None:
        """Have something written, soon; raises what an earlier write failed with, if that was no matter of the disk."""
        self._raise_bug()
        if self.stopped:
            self.lost += 1
            return
        try:
            self._actions.put(action, timeout=self._patience_s)
        except queue.Full:
            self.lost += 1
            self._stop(f"the disk took nothing for {self._patience_s:g} s")

    def close(self) -> None:
        """Wait for everything to be written, but not for ever; raises as ``put``. May be called again."""
        if self._thread.is_alive():
            try:
                self._actions.put(None, timeout=self._patience_s)
            except queue.Full:
                self._stop(f"the disk took nothing for {self._patience_s:g} s")
            self._await_rest()
        self._raise_bug()

    def _await_rest(self) -> None:
        """However much is still to be written: as long as the disk takes some of it, it is not hanging."""
        before = -1
        while self._thread.is_alive() and self._done > before:
            before = self._done
            self._thread.join(self._patience_s)
        if self._thread.is_alive():
            self._stop(f"a write did not end within {self._patience_s:g} s")

    def _carry_out(self) -> None:
        while (action := self._actions.get()) is not None:
            if self.stopped or self._bug is not None:
                self.lost += 1
                continue
            try:
                action()
                self._done += 1
            except OSError as error:
                self.lost += 1
                self._stop(error.strerror or str(error))
            except Exception as error:  # noqa: BLE001 - put and close raise it in the caller's thread
                self._bug = error

    def _stop(self, why: str) -> None:
        # The first reason is the cause of the others.
        self.stopped = self.stopped or why

    def _raise_bug(self) -> None:
        if self._bug is not None:
            raise self._bug
