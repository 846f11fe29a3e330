"""An executor for clients: it spins in a thread of its own, and outlives what it waits for."""

from __future__ import annotations

import logging
import threading
from types import TracebackType
from typing import Any, Self

from rclpy.context import Context
from rclpy.exceptions import InvalidHandle
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future

logger = logging.getLogger(__name__)


class BackgroundExecutor(SingleThreadedExecutor):
    """Spins the nodes it is given, in the background, from construction to :meth:`close`.

    A node, client or subscription may be destroyed in any thread at any time. The plain executor dies of that
    once in a long while: it lists what it will wait for, and meets ``InvalidHandle`` when one of these is gone by
    the time it looks again (rclpy issues 1284 and 1355). Here it makes a new list.
    """

    def __init__(self, *nodes: Node, context: Context | None = None, name: str = "executor") -> None:
        super().__init__(context=context)
        for node in nodes:
            self.add_node(node)
        self._end: Future = Future()
        self._spinner = threading.Thread(target=self._spin_to_the_end, name=name, daemon=True)
        self._spinner.start()

    def _spin_to_the_end(self) -> None:
        """Not ``spin``: ``shutdown`` takes its guard away while it may still be looking at it."""
        try:
            self.spin_until_future_complete(self._end)
        except ExternalShutdownException:
            logger.debug("the context was shut down first")

    def wait_for_ready_callbacks(self, *args: Any, **kwargs: Any) -> Any:
        while True:
            try:
                return super().wait_for_ready_callbacks(*args, **kwargs)
            except InvalidHandle:
                logger.debug("something was destroyed while it was waited for")
                self._cb_iter = None

    def close(self, timeout_s: float = 10.0) -> None:
        """End the spinning; the nodes can be destroyed after it.

        Raises:
            TimeoutError: a callback is still running.
        """
        self._end.set_result(None)
        self._spinner.join(timeout_s)
        if self._spinner.is_alive():
            raise TimeoutError(f"a callback of {self._spinner.name} does not end")
        self.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
