"""Waiting without blocking an executor: threads wait for futures, callbacks await threads.

Nothing here spins: some executor, in some other thread, does.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from rclpy.executors import Executor
from rclpy.task import Future

from jarvis_core.errors import MissingCapabilityError, RefusedError

T = TypeVar("T")


def wait_for(future: Future, timeout_s: float, what: str) -> Any:
    """Block this (non-executor) thread until a future is done; wall-clock limit.

    Raises:
        TimeoutError: not done in time; the message says what was waited for.
    """
    done = threading.Event()
    future.add_done_callback(lambda _: done.set())
    if not done.wait(timeout_s):
        raise TimeoutError(f"no answer from {what} within {timeout_s:.0f} s")
    return future.result()


def require_server(client: Any, name: str, timeout_s: float = 60.0) -> None:
    """Block until a service or action server is there.

    Raises:
        MissingCapabilityError: it did not come up in time.
    """
    wait = getattr(client, "wait_for_server", None) or client.wait_for_service
    if not wait(timeout_sec=timeout_s):
        raise MissingCapabilityError(
            f"nobody serves {name}", fix="is its node running? see `ros2 node list` and the launch's output"
        )


def call(client: Any, request: Any, timeout_s: float) -> Any:
    """Call a service whose answer has ``success`` and ``message``, from a thread that may block.

    Raises:
        MissingCapabilityError: nobody serves it.
        RefusedError: the service said no; the error carries its words.
        TimeoutError: no answer in time.
    """
    require_server(client, client.srv_name)
    answer = wait_for(client.call_async(request), timeout_s, client.srv_name)
    if not answer.success:
        raise RefusedError(answer.message, where=client.srv_name)
    return answer


def in_thread[T](executor: Executor, work: Callable[[], T], name: str) -> Future:
    """Run ``work`` in a thread of its own; the future can be awaited in an ``async`` callback of ``executor``."""
    future = Future(executor=executor)

    def run() -> None:
        try:
            future.set_result(work())
        except BaseException as error:  # noqa: BLE001 - raised again where the future is awaited
            future.set_exception(error)

    threading.Thread(target=run, name=name, daemon=True).start()
    return future
