"""The main of every node: arguments, executor, one-line errors, clean end on SIGINT and SIGTERM."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

import rclpy
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.executors import Executor
from rclpy.experimental import EventsExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from jarvis_core.errors import JarvisError

logger = logging.getLogger(__name__)


class Stop:
    """Set by SIGINT or SIGTERM, or by the node itself; main loops watch it."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self, *_: Any) -> None:
        self._event.set()

    def is_set(self) -> bool:
        return self._event.is_set()

    def wait(self, timeout_s: float | None = None) -> bool:
        return self._event.wait(timeout_s)


def _spin(executor: Executor, stop: Stop, crashes: list[Exception]) -> None:
    """Spin until shut down. A callback that raises ends the node: half a node would leave its peers waiting."""
    try:
        executor.spin()
    except Exception as error:
        logger.exception("a callback failed; the node ends")
        crashes.append(error)
        stop.set()


def run_node(make: Callable[[Executor], Node], work: Callable[[Any, Stop], int | None] | None = None) -> int:
    """Make a node, spin it in a background thread, do ``work`` in this one, end cleanly.

    Args:
        make: makes the node; it is given the executor that will spin it.
        work: runs in the main thread (owner of a GL context, say) until it returns or the stop is set; without
            it the main thread waits for the stop. Its result is the exit status.

    Returns:
        0, or what ``work`` returned, 1 after a callback failed, 2 after a JarvisError, printed as one line.
    """
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    stop = Stop()

    def on_signal(number: int, frame: FrameType | None) -> None:
        stop.set()

    signal.signal(signal.SIGINT, on_signal)
    signal.signal(signal.SIGTERM, on_signal)
    executor = EventsExecutor()
    try:
        node = make(executor)
        executor.add_node(node)
        crashes: list[Exception] = []
        spinner = threading.Thread(target=_spin, args=(executor, stop, crashes), name="executor", daemon=True)
        spinner.start()
        try:
            status = work(node, stop) if work is not None else None
            if work is None:
                stop.wait()
            return 1 if crashes else status or 0
        finally:
            close = getattr(node, "close", None)
            if close is not None:
                close()
            executor.shutdown()
            spinner.join(timeout=5.0)
            node.destroy_node()
    except JarvisError as error:
        print(f"error: {error.line()}", file=sys.stderr, flush=True)
        return 2
    except TimeoutError as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 1
    except InvalidParameterTypeException as error:
        print(f"error: {error}", file=sys.stderr, flush=True)
        return 2
    finally:
        rclpy.try_shutdown()
