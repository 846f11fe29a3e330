"""The background executor outlives what is destroyed while it waits, and ends when told."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
import rclpy
from jarvis_core.ros.spinning import BackgroundExecutor
from jarvis_core.ros.waiting import wait_for
from rclpy.exceptions import InvalidHandle
from rclpy.waitable import NumberOfEntities, Waitable
from std_srvs.srv import Trigger

TIMEOUT_S = 30.0


@pytest.fixture
def node() -> Iterator[Any]:
    rclpy.init()
    node = rclpy.create_node("survivor")
    yield node
    node.destroy_node()
    rclpy.shutdown()


def answers(node: Any) -> bool:
    """Whether a service of this node is still served."""
    node.create_service(Trigger, "alive", lambda _, answer: Trigger.Response(success=True))
    client = node.create_client(Trigger, "alive")
    assert client.wait_for_service(timeout_sec=TIMEOUT_S)
    return bool(wait_for(client.call_async(Trigger.Request()), TIMEOUT_S, "alive").success)


class Vanishing(Waitable):
    """Is gone exactly between being listed and being waited for."""

    def __init__(self, group: Any) -> None:
        super().__init__(group)
        self.vanished = threading.Event()

    def get_num_entities(self) -> NumberOfEntities:
        return NumberOfEntities()

    def add_to_wait_set(self, wait_set: Any) -> None:
        if not self.vanished.is_set():
            self.vanished.set()
            raise InvalidHandle("cannot use Destroyable because destruction was requested")

    def is_ready(self, wait_set: Any) -> bool:
        return False


def test_an_executor_outlives_what_vanishes_while_it_is_listed(node: Any) -> None:
    vanishing = Vanishing(node.default_callback_group)
    node.add_waitable(vanishing)
    with BackgroundExecutor(node):
        assert vanishing.vanished.wait(TIMEOUT_S)
        assert answers(node)


def test_nodes_come_and_go_while_it_spins(node: Any) -> None:
    with BackgroundExecutor(node) as executor:
        for each in range(30):
            passing = rclpy.create_node(f"passing_{each}")
            executor.add_node(passing)
            passing.create_client(Trigger, "nobody")
            passing.destroy_node()
        assert answers(node)


def test_a_callback_that_does_not_end_is_named(node: Any) -> None:
    going_on = threading.Event()
    begun = threading.Event()

    def hang() -> None:
        begun.set()
        going_on.wait(TIMEOUT_S)

    node.create_timer(0.001, hang)
    executor = BackgroundExecutor(node, name="the patient one")
    assert begun.wait(TIMEOUT_S)
    with pytest.raises(TimeoutError, match="the patient one"):
        executor.close(timeout_s=0.05)
    going_on.set()
    executor.close()
