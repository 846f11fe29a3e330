"""Sending one action goal from the command line: goal, feedback, result; cancelled when interrupted."""

import signal
import time
from types import FrameType
from typing import Any

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
SECONDS_FOR_ANSWER = 10.0


class Interrupts:
    """SIGINT and SIGTERM, noted and not raised: an exception could arise anywhere, and leave a goal uncancelled."""

    def __init__(self) -> None:
        self.number: int | None = None
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._note)

    def _note(self, number: int, _frame: FrameType | None) -> None:
        self.number = number

    @property
    def arrived(self) -> bool:
        return self.number is not None


def send_goal(action: str, type_name: str, goal_yaml: str, show_feedback: bool, timeout: float) -> int:
    """Send the goal and print what comes back; exit status 0 only for a goal that succeeded.

    :raises BadInputError: for an unknown type, a goal that does not fit it, or an action that nobody serves.
    """
    action_type = find_type(type_name)
    goal = make_goal(action_type, goal_yaml)
    # Our own handlers: those of rclpy would close the context, and then the goal could not be cancelled.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    interrupts = Interrupts()
    node = rclpy.create_node(f"ros2_send_goal_{time.monotonic_ns()}")
    client = ActionClient(node, action_type, action)
    try:
        _wait_for_server(node, client, action, timeout, interrupts)
        status = 0 if interrupts.arrived else _run_goal(node, client, goal, show_feedback, interrupts)
    finally:
        client.destroy()
        node.destroy_node()
        rclpy.try_shutdown()
    return status if interrupts.number is None else 128 + interrupts.number


def _wait_for_server(
    node: Node, client: ActionClient, action: str, timeout: float, interrupts: Interrupts
) -> None:
    print("Waiting for an action server to become available...", flush=True)
    deadline = time.monotonic() + timeout
    while not client.wait_for_server(timeout_sec=0.1) and not interrupts.arrived:
        if time.monotonic() > deadline:
            there = known({name for name, _ in get_action_names_and_types(node)} - {action})
            raise BadInputError(f"nobody serves {action!r} after {timeout:g} s; there are: {there}")


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


def _run_goal(
    node: Node, client: ActionClient, goal: Any, show_feedback: bool, interrupts: Interrupts
) -> int:
    _print_message("Sending goal:", goal)
    on_feedback = (lambda said: _print_message("Feedback:", said.feedback)) if show_feedback else None
    sent = client.send_goal_async(goal, feedback_callback=on_feedback)
    _spin(node, sent)
    handle = sent.result()
    if not handle.accepted:
        print("Goal was rejected.", flush=True)
        return 1
    print(f"Goal accepted with ID: {bytes(handle.goal_id.uuid).hex()}\n", flush=True)
    outcome = handle.get_result_async()
    while not outcome.done() and not interrupts.arrived:
        rclpy.spin_once(node, timeout_sec=0.1)
    if not outcome.done():
        print("Canceling goal...", flush=True)
        handle.cancel_goal_async()
        _spin(node, outcome)
    _print_message("Result:", outcome.result().result)
    print(f"Goal finished with status: {STATUS_NAMES.get(outcome.result().status, 'UNKNOWN')}", flush=True)
    return 0 if outcome.result().status == GoalStatus.STATUS_SUCCEEDED else 1


def _spin(node: Node, future: Future) -> None:
    """Spin until the server has answered. :raises RuntimeError: when it does not in good time."""
    deadline = time.monotonic() + SECONDS_FOR_ANSWER
    while not future.done():
        if time.monotonic() > deadline:
            raise RuntimeError(f"the action server did not answer within {SECONDS_FOR_ANSWER:g} s")
        rclpy.spin_once(node, timeout_sec=0.1)


def _print_message(title: str, message: Any) -> None:
    text = message_to_yaml(message).rstrip()
    print(title, *(f"    {line}" for line in text.splitlines()), "", sep="\n", flush=True)
