"""The loop that owns the world: steps it, runs what others ask for, feeds the streams.

Everything that touches the world runs in one thread (the node's main thread, which also owns the GL context).
Callbacks hand over closures with ``submit`` and await the future.
"""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from typing import Any

from jarvis_core.ros.main import Stop
from rclpy.executors import Executor
from rclpy.task import Future

#: Simulated time between two looks at requests, outcomes and streams.
CHUNK_S = 0.01
#: Wall-clock time between two heartbeats of a world that stands still.
IDLE_S = 0.01


class WorldLoop:
    """Runs in the thread that calls ``run``.

    Args:
        executor: of the node whose callbacks await the futures.
        step: lets CHUNK_S of simulated time pass.
        heartbeat: called after every chunk, and every IDLE_S while time stands still (then with True).
        busy: whether a motion is under way.
        on_demand: time passes only while something is under way, or asked for.
        real_time_factor: simulated per wall-clock second at most; 0: as fast as the machine can.
    """

    def __init__(
        self,
        executor: Executor,
        *,
        step: Callable[[], None],
        heartbeat: Callable[[bool], None],
        busy: Callable[[], bool],
        on_demand: bool,
        real_time_factor: float,
    ) -> None:
        self._executor = executor
        self._step = step
        self._heartbeat = heartbeat
        self._busy = busy
        self._on_demand = on_demand
        self._wall_per_chunk = CHUNK_S / real_time_factor if real_time_factor > 0 else 0.0
        self._requests: queue.Queue[tuple[Callable[[], Any], Future]] = queue.Queue()
        self.paused = False

    def submit(self, request: Callable[[], Any]) -> Future:
        """Have something done in the world's thread; from any other thread."""
        future = Future(executor=self._executor)
        self._requests.put((request, future))
        return future

    def run(self, stop: Stop) -> None:
        """Until the stop is set."""
        while not stop.is_set():
            began = time.monotonic()
            moving = not self.paused and (self._busy() or not self._on_demand)
            self._serve(0.0 if moving else IDLE_S)
            if moving:
                self._step()
            self._heartbeat(not moving)
            spare = self._wall_per_chunk - (time.monotonic() - began)
            if moving and spare > 0:
                stop.wait(spare)

    def _serve(self, patience_s: float) -> None:
        """Do what was asked for; wait a little for a first request if there is nothing else to do."""
        try:
            request, future = (
                self._requests.get(timeout=patience_s) if patience_s else self._requests.get_nowait()
            )
            while True:
                try:
                    future.set_result(request())
                except Exception as error:  # noqa: BLE001 - raised again where the future is awaited
                    future.set_exception(error)
                request, future = self._requests.get_nowait()
        except queue.Empty:
            return
