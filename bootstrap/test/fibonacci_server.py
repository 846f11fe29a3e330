"""An action server for test_ros2_verbs.py: /fib counts slowly, aborts a negative order, and may be cancelled."""

import time
from typing import Any

import rclpy
from example_interfaces.action import Fibonacci
from rclpy.action import ActionServer, CancelResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import ExternalShutdownException, MultiThreadedExecutor


def execute(handle: Any) -> Any:
    sequence = [0, 1]
    if handle.request.order < 0:
        handle.abort()
        return Fibonacci.Result()
    for _ in range(handle.request.order):
        if handle.is_cancel_requested:
            handle.canceled()
            return Fibonacci.Result(sequence=sequence)
        sequence.append(len(sequence))
        handle.publish_feedback(Fibonacci.Feedback(sequence=sequence))
        time.sleep(0.1)
    handle.succeed()
    return Fibonacci.Result(sequence=sequence)


def main() -> None:
    rclpy.init()
    node = rclpy.create_node("fibonacci_server")
    server = ActionServer(
        node,
        Fibonacci,
        "fib",
        execute,
        cancel_callback=lambda _: CancelResponse.ACCEPT,
        callback_group=ReentrantCallbackGroup(),
    )
    executor = MultiThreadedExecutor(3)
    executor.add_node(node)
    print("ready", flush=True)
    try:
        executor.spin()
    except (KeyboardInterrupt, ExternalShutdownException):
        server.destroy()


if __name__ == "__main__":
    main()
