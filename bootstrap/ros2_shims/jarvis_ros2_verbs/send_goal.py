"""Sending one action goal from the command line: goal, feedback, result; cancelled when interrupted."""

import signal
import sys
import time
from types import FrameType
from typing import Any, NoReturn

import rclpy
import yaml
from action_msgs.msg import GoalStatus
from rclpy.action import ActionClient, get_action_names_and_types
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rosidl_runtime_py import message_to_yaml, set_message_fields
from rosidl_runtime_py.utilities import get_action

from jarvis_ros2_verbs.usage import BadInputError, known

STATUS_NAMES = {
    GoalStatus.STATUS_SUCCEEDED: "SUCCEEDED",
    GoalStatus.STATUS_ABORTED: "ABORTED",
    GoalStatus.STATUS_CANCELED: "CANCELED",
}
SECONDS_FOR_CANCEL = 10.0


class InterruptedBySignalError(Exception):
    """SIGINT or SIGTERM arrived; carries its number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


def send_goal(action: str, type_name: str, goal_yaml: str, show_feedback: bool, timeout: float) -> int:
    """Send the goal and print what comes back; exit status 0 only for a goal that succeeded.

    :raises BadInputError: for an unknown type, a goal that does not fit it, or an action that nobody serves.
    """
    action_type = find_type(type_name)
    goal = make_goal(action_type, goal_yaml)
    # Our own handlers: those of rclpy would close the context, and then the goal could not be cancelled.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _raise_interrupted)
    node = rclpy.create_node(f"ros2_send_goal_{time.monotonic_ns()}")
    client = ActionClient(node, action_type, action)
    try:
        print("Waiting for an action server to become available...", flush=True)
        if not client.wait_for_server(timeout_sec=timeout):
            there = known({name for name, _ in get_action_names_and_types(node)} - {action})
            raise BadInputError(f"nobody serves {action!r} after {timeout:g} s; there are: {there}")
        return _run_goal(node, client, goal, show_feedback)
    except InterruptedBySignalError as error:
        return 128 + error.number
    finally:
        client.destroy()
        node.destroy_node()
        rclpy.try_shutdown()


def _raise_interrupted(number: int, _frame: FrameType | None) -> NoReturn:
    raise InterruptedBySignalError(number)


def find_type(type_name: str) -> Any:
    """The Python class of an action type. :raises BadInputError: when there is none."""
    try:
        return get_action(type_name)
    except (ValueError, ModuleNotFoundError, AttributeError, IndexError) as error:
        raise BadInputError(
            f"no action type {type_name!r}; ros2 interface list --only-actions shows all"
        ) from error


def make_goal(action_type: Any, text: str) -> Any:
    """The goal message that `text` (YAML) describes. :raises BadInputError: when it does not fit the type."""
    try:
        values = yaml.safe_load(text) or {}
        goal = action_type.Goal()
        set_message_fields(goal, values)
    except (yaml.YAMLError, AttributeError, TypeError, ValueError, AssertionError) as error:
        fields = known(action_type.Goal.get_fields_and_field_types())
        raise BadInputError(f"the goal {text!r} does not fit ({error}); its fields are: {fields}") from error
    return goal


def _run_goal(node: Node, client: ActionClient, goal: Any, show_feedback: bool) -> int:
    _print_message("Sending goal:", goal)
    on_feedback = (lambda said: _print_message("Feedback:", said.feedback)) if show_feedback else None
    handle = _wait(node, client.send_goal_async(goal, feedback_callback=on_feedback))
    if not handle.accepted:
        print("Goal was rejected.", flush=True)
        return 1
    print(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n", flush=True)
    outcome = handle.get_result_async()
    try:
        response = _wait(node, outcome)
    except InterruptedBySignalError:
        _cancel(node, handle, outcome)
        raise
    _print_message("Result:", response.result)
    print(f"Goal finished with status: {STATUS_NAMES.get(response.status, response.status)}", flush=True)
    return 0 if response.status == GoalStatus.STATUS_SUCCEEDED else 1


def _cancel(node: Node, handle: Any, outcome: Future) -> None:
    """Cancel the goal, and wait until the server says that it has ended."""
    print("Canceling goal...", flush=True)
    _wait(node, handle.cancel_goal_async(), SECONDS_FOR_CANCEL)
    response = _wait(node, outcome, SECONDS_FOR_CANCEL)
    if response is None:
        print(f"the server did not end the goal within {SECONDS_FOR_CANCEL:g} s", file=sys.stderr)
        return
    _print_message("Result:", response.result)
    print(f"Goal finished with status: {STATUS_NAMES.get(response.status, response.status)}", flush=True)


def _wait(node: Node, future: Future, limit: float = float("inf")) -> Any:
    """The future's result; None where it takes longer than `limit` seconds."""
    deadline = time.monotonic() + limit
    while not future.done() and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
    return future.result() if future.done() else None


def _print_message(title: str, message: Any) -> None:
    text = message_to_yaml(message).rstrip()
    print(title, *(f"    {line}" for line in text.splitlines()), "", sep="\n", flush=True)
