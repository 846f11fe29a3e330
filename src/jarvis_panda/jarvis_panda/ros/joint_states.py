"""Joint states of arm and gripper, which a real robot publishes apart, as one message."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from jarvis_core.pose import FloatArray
from jarvis_robot.config import RobotConfig
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.task import Future
from sensor_msgs.msg import JointState


class MergedStates:
    """Publishes /joint_states whenever the arm's state comes, at a rate of ``rate_hz`` by the clock at most.

    Nothing is repeated: where the arm falls silent, so does /joint_states, and whoever waits for it notices.
    """

    def __init__(self, node: Node, topics: Sequence[str], config: RobotConfig, rate_hz: float) -> None:
        self._config = config
        self._names = (*config.arm_joints, *config.finger_joints)
        self._period_s = 1.0 / rate_hz
        self._position: dict[str, float] = {}
        self._velocity: dict[str, float] = {}
        self._last_s = -np.inf
        self._gripper_news: list[Future] = []
        self._make_future: Callable[[], Future] = lambda: Future(executor=node.executor)
        # Franka's gripper publishes best effort, which only a best-effort subscription hears.
        listening = QoSProfile(depth=5, reliability=ReliabilityPolicy.BEST_EFFORT)
        for topic in topics:
            node.create_subscription(JointState, topic, self._on_state, listening)
        self._publisher = node.create_publisher(JointState, "/joint_states", 10)

    @property
    def complete(self) -> bool:
        """Every joint has been heard of."""
        return all(name in self._position for name in self._names)

    @property
    def arm(self) -> FloatArray:
        """(n,) arm positions."""
        return np.array([self._position[name] for name in self._config.arm_joints])

    @property
    def width_m(self) -> float:
        """Distance between the pads."""
        return sum(self._position[name] for name in self._config.finger_joints)

    async def next_width(self) -> float:
        """The distance between the pads in the next message of the gripper."""
        news = self._make_future()
        self._gripper_news.append(news)
        await news
        return self.width_m

    def _on_state(self, message: JointState) -> None:
        self._position.update(zip(message.name, message.position, strict=True))
        if message.velocity:
            self._velocity.update(zip(message.name, message.velocity, strict=True))
        if self._config.finger_joints[0] in message.name:
            waiting, self._gripper_news = self._gripper_news, []
            for news in waiting:
                news.set_result(None)
        if self._config.arm_joints[0] in message.name:
            self._pass_on(message)

    def _pass_on(self, arm: JointState) -> None:
        now_s = time.monotonic()
        if not self.complete or now_s - self._last_s < 0.99 * self._period_s:
            return
        self._last_s = now_s
        self._publisher.publish(
            JointState(
                header=arm.header,
                name=list(self._names),
                position=[self._position[name] for name in self._names],
                velocity=[self._velocity.get(name, 0.0) for name in self._names],
            )
        )
