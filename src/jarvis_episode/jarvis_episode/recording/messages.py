"""The messages of a bag, made without ROS: each method gives one, by the name of its type."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jarvis_core.episode import CallRecord, ToolCall
from jarvis_core.files import encode_line
from jarvis_core.objects import ConnectionEvent, WorldState
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillGoal, SkillResult

from jarvis_episode.recording.message_types import PACKAGE, typestore

_NANOSECONDS = 1_000_000_000
CLOCK_TYPE = "rosgraph_msgs/msg/Clock"
JOINT_STATE_TYPE = "sensor_msgs/msg/JointState"
IMAGE_TYPE = "sensor_msgs/msg/CompressedImage"
STRING_TYPE = "std_msgs/msg/String"
OBJECT_STATES_TYPE = f"{PACKAGE}/msg/ObjectStates"
EVENT_TYPE = f"{PACKAGE}/msg/ConnectionEvent"
GOAL_TYPE = f"{PACKAGE}/msg/SkillGoal"
FEEDBACK_TYPE = f"{PACKAGE}/msg/SkillFeedback"
CALL_TYPE = f"{PACKAGE}/msg/SkillCall"
AGENT_CALL_TYPE = f"{PACKAGE}/msg/AgentCall"


def nanoseconds(time_s: float) -> int:
    return round(time_s * _NANOSECONDS)


class Messages:
    """Makes messages.

    Args:
        interfaces: folder with msg/ of jarvis_interfaces; found by itself where None.
    """

    def __init__(self, interfaces: Path | None = None) -> None:
        self.types = typestore(interfaces)

    def serialized(self, kind: str, message: Any) -> memoryview:
        """CDR."""
        return self.types.serialize_cdr(message, kind)

    def clock(self, time_s: float) -> Any:
        return self._make(CLOCK_TYPE, clock=self._time(time_s))

    def joint_state(
        self, time_s: float, names: Sequence[str], positions: Sequence[float], velocities: Sequence[float]
    ) -> Any:
        return self._make(
            JOINT_STATE_TYPE,
            header=self._header(time_s, ""),
            name=list(names),
            position=np.asarray(positions, dtype=np.float64),
            velocity=np.asarray(velocities, dtype=np.float64),
            effort=np.zeros(0),
        )

    def object_states(self, sequence: int, state: WorldState) -> Any:
        """The message has room for one held object: of several (pads may touch two) the first."""
        held = [thing.id for thing in state.objects if thing.held]
        pair = f"{PACKAGE}/msg/Connection"
        return self._make(
            OBJECT_STATES_TYPE,
            header=self._header(state.time_s, "world"),
            sequence=sequence,
            ids=[thing.id for thing in state.objects],
            poses=[self._pose(thing.pose) for thing in state.objects],
            held=held[0] if held else "",
            connections=[self._make(pair, upper=upper, lower=lower) for upper, lower in state.connections],
        )

    def event(self, sequence: int, event: ConnectionEvent) -> Any:
        return self._make(
            EVENT_TYPE,
            header=self._header(event.time_s, "world"),
            sequence=sequence,
            kind=event.kind,
            upper=event.upper,
            lower=event.lower,
            error_xy_m=event.error_xy_m,
            error_z_m=event.error_z_m,
            error_yaw_rad=event.error_yaw_rad,
            force_n=event.force_n,
            studs=event.studs,
        )

    def jpeg(self, time_s: float, jpeg: bytes, frame_id: str) -> Any:
        data = np.frombuffer(jpeg, dtype=np.uint8)
        return self._make(IMAGE_TYPE, header=self._header(time_s, frame_id), format="jpeg", data=data)

    def string(self, text: str) -> Any:
        return self._make(STRING_TYPE, data=text)

    def goal(self, sequence: int, time_s: float, goal: SkillGoal) -> Any:
        header = self._header(time_s, "")
        return self._make(GOAL_TYPE, header=header, sequence=sequence, goal=encode_line(goal))

    def feedback(self, sequence: int, time_s: float, call: int, phase: str) -> Any:
        header = self._header(time_s, "")
        return self._make(FEEDBACK_TYPE, header=header, sequence=sequence, call=call, phase=phase)

    def call(self, sequence: int, call: CallRecord) -> Any:
        """``call.index`` is the number of its goal."""
        return self._make(
            CALL_TYPE,
            header=self._header(call.end_s, ""),
            sequence=sequence,
            call=call.index,
            goal=encode_line(call.goal),
            result=self._result(call.result),
            start_s=call.start_s,
            end_s=call.end_s,
            wall_s=call.wall_s,
        )

    def agent_call(self, call: ToolCall) -> Any:
        return self._make(
            AGENT_CALL_TYPE,
            header=self._header(call.end_s, ""),
            sequence=call.index,
            tool=call.tool,
            arguments=call.arguments,
            answer=call.answer,
            refused=call.refused,
            start_s=call.start_s,
            end_s=call.end_s,
            wall_s=call.wall_s,
        )

    def _result(self, result: SkillResult) -> Any:
        kind = f"{PACKAGE}/msg/SkillStatus"
        status = self._make(kind, value=int(result.status))
        facts = encode_line(result.facts)
        return self._make(f"{PACKAGE}/msg/SkillResult", status=status, message=result.message, facts=facts)

    def _make(self, type_name: str, /, **fields: Any) -> Any:
        return self.types.types[type_name](**fields)

    def _time(self, time_s: float) -> Any:
        seconds, rest = divmod(nanoseconds(time_s), _NANOSECONDS)
        return self._make("builtin_interfaces/msg/Time", sec=seconds, nanosec=rest)

    def _header(self, time_s: float, frame_id: str) -> Any:
        return self._make("std_msgs/msg/Header", stamp=self._time(time_s), frame_id=frame_id)

    def _pose(self, pose: Pose) -> Any:
        x, y, z, qx, qy, qz, qw = pose.to_list()
        return self._make(
            "geometry_msgs/msg/Pose",
            position=self._make("geometry_msgs/msg/Point", x=x, y=y, z=z),
            orientation=self._make("geometry_msgs/msg/Quaternion", x=qx, y=qy, z=qz, w=qw),
        )
