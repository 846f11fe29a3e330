"""What an episode's record is made of, as it comes from the topics of the cell."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import numpy as np
from jarvis_core.episode import CallRecord
from jarvis_core.errors import JarvisError
from jarvis_core.objects import StateSource, WorldState
from jarvis_core.ros.conversions import call_from_ros, event_from_ros, state_from_ros, time_from_ros
from jarvis_skills.ros.ros_camera import color_from_ros
from rclpy.node import Node
from rclpy.serialization import serialize_message
from sensor_msgs.msg import Image, JointState

from jarvis_episode.recording import bag
from jarvis_episode.recording.folder import EpisodeFolder
from jarvis_episode.recording.messages import AGENT_CALL_TYPE, CALL_TYPE, FEEDBACK_TYPE, GOAL_TYPE
from jarvis_episode.recording.recorder import EpisodeRecorder
from jarvis_interfaces.msg import (
    AgentCall,
    ConnectionEvent,
    ObjectStates,
    SkillCall,
    SkillFeedback,
    SkillGoal,
)

#: Nothing that a score needs may be lost: deep queues, and gaps are errors.
DEEP = 2000
NEEDED = (*bag.STATE_TOPICS.values(), bag.CONNECTION_EVENTS, bag.SKILL_CALLS)

_SAME_TIME_S = 1e-6
#: So far a state on the topic may be ahead of one that was asked for.
_OVERTAKEN_S = 1.0

logger = logging.getLogger(__name__)


class Running:
    """An episode between start and end: everything the subscriptions deliver goes here, in one thread at a time."""

    def __init__(
        self,
        folder: EpisodeFolder,
        recorder: EpisodeRecorder,
        source: StateSource,
        initial: WorldState,
        first_event: int,
    ) -> None:
        self.folder = folder
        self.recorder = recorder
        self.source = source
        self.initial = initial
        self.first_event = first_event
        self.latest = initial
        self.calls: list[CallRecord] = []
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")
        self.wall_start = time.monotonic()
        self.gaps: list[str] = []
        self._lock = threading.RLock()
        self._over = False
        self._until_s = math.inf
        #: Messages of a topic that came.
        self.received: Counter[str] = Counter()
        self._sequences: dict[str, int] = {}

    def count(self, topic: str, sequence: int) -> None:
        """Note a gap in a topic's sequence numbers: what a score needs fails the record, the rest is told."""
        self.received[topic] += 1
        expected = self._sequences.get(topic)
        if expected is not None and sequence != expected:
            text = f"{topic}: {sequence - expected} messages lost before number {sequence}"
            if topic in NEEDED:
                self.gaps.append(text)
            else:
                logger.warning("%s, which costs the score nothing", text)
        self._sequences[topic] = sequence + 1

    def follow(self, state: WorldState) -> None:
        """Take and record a state that follows on the last one, unless the record has its last already."""
        with self._lock:
            if state.time_s <= self._until_s and self._fits(state, _SAME_TIME_S):
                self.latest = state
                self.record(lambda: self.recorder.state(state))

    def conclude(self, now: WorldState) -> tuple[WorldState, bool]:
        """The last state of the record, and whether that is how the world stands ``now``, which was asked for.

        Where time goes on by itself the topic may have overtaken the answer: then it is what came there last.
        """
        with self._lock:
            sound = self._fits(now, _OVERTAKEN_S)
            last = now if sound and now.time_s >= self.latest.time_s else self.latest
            self._until_s = last.time_s
        return last, sound

    def _fits(self, state: WorldState, back_s: float) -> bool:
        """Whether a state is of the same world, and not older than the last one by more than that; noted if not."""
        now, then = ([thing.id for thing in world.objects] for world in (state, self.initial))
        # Of perceived objects one may be missing for a while.
        same = set(now) <= set(then) if self.source == "perceived" else now == then
        if same and state.time_s >= self.latest.time_s - back_s:
            return True
        fault = "the world was reset or replaced while the episode ran"
        if fault not in self.gaps:
            self.gaps.append(fault)
        return False

    def record(self, action: Callable[[], None]) -> None:
        """Write something down, unless the record is finished: messages may still be under way then."""
        with self._lock:
            if not self._over:
                action()

    def finish(self) -> None:
        """Nothing is recorded from now on."""
        with self._lock:
            self._over = True


class Listener:
    """Subscribes to the topics of a cell and gives what comes to the episode that runs, if one does.

    Args:
        source: of the states. Where they are perceived nobody knows of connections made and broken.
    """

    def __init__(self, node: Node, source: StateSource) -> None:
        self.running: Running | None = None
        self._states = bag.STATE_TOPICS[source]
        if source == "true":
            node.create_subscription(ConnectionEvent, bag.CONNECTION_EVENTS, self._on_event, DEEP)
        for kind, topic, heard, depth in (
            (ObjectStates, self._states, self._on_states, DEEP),
            (SkillCall, bag.SKILL_CALLS, self._on_call, DEEP),
            (JointState, bag.JOINT_STATES, self._on_joints, DEEP),
            (Image, "/camera/overview/color/image_raw", self._on_overview, 50),
            (Image, "/camera/color/image_raw", self._on_camera, 10),
        ):
            node.create_subscription(kind, topic, heard, depth)
        for kind, topic, name in (
            (SkillGoal, bag.SKILL_GOALS, GOAL_TYPE),
            (SkillFeedback, bag.SKILL_FEEDBACK, FEEDBACK_TYPE),
            (AgentCall, bag.AGENT_CALLS, AGENT_CALL_TYPE),
        ):
            node.create_subscription(kind, topic, self._copies(topic, name), DEEP)

    def _copies(self, topic: str, kind: str) -> Callable[[Any], None]:
        """What is recorded as it came; ``kind`` is the name of the type."""

        def copy(message: Any) -> None:
            running = self.running
            if running is not None:
                running.count(topic, message.sequence)
                time_s = time_from_ros(message.header.stamp)
                running.record(lambda: running.recorder.raw(topic, kind, time_s, serialize_message(message)))

        return copy

    def _on_states(self, message: ObjectStates) -> None:
        running = self.running
        if running is None:
            return
        running.count(self._states, message.sequence)
        running.follow(state_from_ros(message))

    def _on_event(self, message: ConnectionEvent) -> None:
        running = self.running
        if running is not None:
            running.count(bag.CONNECTION_EVENTS, message.sequence)
            running.record(lambda: running.recorder.event(event_from_ros(message)))

    def _on_call(self, message: SkillCall) -> None:
        self._copies(bag.SKILL_CALLS, CALL_TYPE)(message)
        running = self.running
        if running is not None:
            try:
                running.calls.append(call_from_ros(message))
            except (JarvisError, ValueError) as error:
                running.gaps.append(f"{bag.SKILL_CALLS}: a message that can't be read ({error})")

    def _on_joints(self, message: JointState) -> None:
        running = self.running
        if running is not None:
            time_s = time_from_ros(message.header.stamp)
            running.record(
                lambda: running.recorder.joints(time_s, list(message.name), list(message.position))
            )

    def _on_overview(self, message: Image) -> None:
        running = self.running
        if running is not None:
            frame = np.array(color_from_ros(message))
            running.record(lambda: running.recorder.video_frame(frame))

    def _on_camera(self, message: Image) -> None:
        running = self.running
        if running is not None:
            time_s, frame = time_from_ros(message.header.stamp), color_from_ros(message)
            running.record(lambda: running.recorder.camera(time_s, frame))
