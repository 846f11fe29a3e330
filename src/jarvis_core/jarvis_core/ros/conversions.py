"""Shared types to messages and back, in pairs ``x_to_ros`` / ``x_from_ros``.

Poses are in frame ``world`` unless a header says otherwise; a message that names an unknown frame is refused.
"""

from __future__ import annotations

import json

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseStamped, Quaternion, Vector3
from geometry_msgs.msg import Pose as PoseMsg
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory as JointTrajectoryMsg
from trajectory_msgs.msg import JointTrajectoryPoint

from jarvis_core.episode import CallRecord, ToolCall
from jarvis_core.errors import BadInputError
from jarvis_core.files import decode, encode_line
from jarvis_core.motion import JointTrajectory
from jarvis_core.objects import (
    Box,
    ConnectionEvent,
    ObjectState,
    RigidObject,
    Scene,
    TargetObject,
    WorldState,
)
from jarvis_core.pose import Pose
from jarvis_core.skills import SkillGoal, SkillResult
from jarvis_core.status import Status
from jarvis_interfaces.msg import AgentCall as AgentCallMsg
from jarvis_interfaces.msg import Box as BoxMsg
from jarvis_interfaces.msg import Connection as ConnectionMsg
from jarvis_interfaces.msg import ConnectionEvent as ConnectionEventMsg
from jarvis_interfaces.msg import ObjectStates as ObjectStatesMsg
from jarvis_interfaces.msg import Scene as SceneMsg
from jarvis_interfaces.msg import SceneObject as SceneObjectMsg
from jarvis_interfaces.msg import SkillCall as SkillCallMsg
from jarvis_interfaces.msg import SkillResult as SkillResultMsg
from jarvis_interfaces.msg import SkillStatus as SkillStatusMsg
from jarvis_interfaces.msg import TargetObject as TargetObjectMsg
from jarvis_interfaces.msg import Targets as TargetsMsg

WORLD_FRAME = "world"


def time_to_ros(seconds: float) -> Time:
    whole = int(seconds // 1)
    # round() may give 1e9 for the last half nanosecond of a second
    nanoseconds = round((seconds - whole) * 1e9)
    return Time(sec=whole + nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)


def time_from_ros(stamp: Time) -> float:
    return float(stamp.sec) + float(stamp.nanosec) * 1e-9


def header(time_s: float, frame: str = WORLD_FRAME) -> Header:
    return Header(stamp=time_to_ros(time_s), frame_id=frame)


def pose_to_ros(pose: Pose) -> PoseMsg:
    x, y, z, qx, qy, qz, qw = pose.to_list()
    return PoseMsg(position=Point(x=x, y=y, z=z), orientation=Quaternion(x=qx, y=qy, z=qz, w=qw))


def pose_from_ros(message: PoseMsg) -> Pose:
    p, q = message.position, message.orientation
    return Pose((p.x, p.y, p.z), (q.x, q.y, q.z, q.w))


def world_pose_to_ros(pose: Pose) -> PoseStamped:
    return PoseStamped(header=Header(frame_id=WORLD_FRAME), pose=pose_to_ros(pose))


def world_pose_from_ros(message: PoseStamped, where: str) -> Pose:
    """Raises BadInputError when the frame is not ``world`` or the numbers are no pose."""
    if message.header.frame_id != WORLD_FRAME:
        raise BadInputError(
            f"pose in frame {message.header.frame_id!r}", where=where, fix=f"give it in frame {WORLD_FRAME!r}"
        )
    try:
        return pose_from_ros(message.pose)
    except ValueError as error:
        raise BadInputError(str(error), where=where) from error


def box_to_ros(box: Box) -> BoxMsg:
    x, y, z = box.size_m
    return BoxMsg(pose=pose_to_ros(box.pose), size=Vector3(x=x, y=y, z=z))


def box_from_ros(message: BoxMsg) -> Box:
    return Box(pose_from_ros(message.pose), (message.size.x, message.size.y, message.size.z))


def object_to_ros(thing: RigidObject) -> SceneObjectMsg:
    return SceneObjectMsg(
        id=thing.id,
        kind=thing.kind,
        colour=thing.colour,
        pose=pose_to_ros(thing.pose),
        boxes=[box_to_ros(box) for box in thing.boxes],
        held=thing.held,
        fixed=thing.fixed,
    )


def object_from_ros(message: SceneObjectMsg) -> RigidObject:
    return RigidObject(
        message.id,
        message.kind,
        message.colour,
        pose_from_ros(message.pose),
        tuple(box_from_ros(box) for box in message.boxes),
        message.held,
        message.fixed,
    )


def scene_to_ros(scene: Scene) -> SceneMsg:
    return SceneMsg(
        header=header(scene.time_s), source=scene.source, objects=[object_to_ros(o) for o in scene.objects]
    )


def scene_from_ros(message: SceneMsg) -> Scene:
    if message.header.frame_id != WORLD_FRAME:
        raise BadInputError(f"scene in frame {message.header.frame_id!r}", fix=f"give it in {WORLD_FRAME!r}")
    objects = tuple(object_from_ros(o) for o in message.objects)
    return Scene(time_from_ros(message.header.stamp), message.source, objects)


def connections_to_ros(connections: tuple[tuple[str, str], ...]) -> list[ConnectionMsg]:
    return [ConnectionMsg(upper=upper, lower=lower) for upper, lower in connections]


def state_to_ros(state: WorldState, sequence: int) -> ObjectStatesMsg:
    return state_message(
        state, sequence, [pose_to_ros(o.pose) for o in state.objects], connections_to_ros(state.connections)
    )


def state_message(
    state: WorldState, sequence: int, poses: list[PoseMsg], connections: list[ConnectionMsg]
) -> ObjectStatesMsg:
    """As ``state_to_ros``, of parts that are messages already: making them is most of the work."""
    return ObjectStatesMsg(
        header=header(state.time_s),
        sequence=sequence,
        ids=[o.id for o in state.objects],
        poses=poses,
        held=next((o.id for o in state.objects if o.held), ""),
        connections=connections,
    )


def state_from_ros(message: ObjectStatesMsg) -> WorldState:
    objects = tuple(
        ObjectState(object_id, pose_from_ros(pose), object_id == message.held)
        for object_id, pose in zip(message.ids, message.poses, strict=True)
    )
    connections = tuple((c.upper, c.lower) for c in message.connections)
    return WorldState(time_from_ros(message.header.stamp), objects, connections)


def event_to_ros(event: ConnectionEvent, sequence: int) -> ConnectionEventMsg:
    fields = {name: getattr(event, name) for name in event.__struct_fields__ if name != "time_s"}
    return ConnectionEventMsg(header=header(event.time_s), sequence=sequence, **fields)


def event_from_ros(message: ConnectionEventMsg) -> ConnectionEvent:
    names = [name for name in ConnectionEvent.__struct_fields__ if name != "time_s"]
    return ConnectionEvent(
        time_from_ros(message.header.stamp), **{name: getattr(message, name) for name in names}
    )


def targets_to_ros(targets: tuple[TargetObject, ...]) -> TargetsMsg:
    return TargetsMsg(
        header=Header(frame_id=WORLD_FRAME),
        targets=[
            TargetObjectMsg(
                object=object_to_ros(t.object),
                support=t.support,
                connections=list(t.connections),
                symmetries=[Quaternion(x=x, y=y, z=z, w=w) for x, y, z, w in t.symmetries],
                step=t.step,
                symmetry_centre=Point(**dict(zip("xyz", t.symmetry_centre, strict=True))),
            )
            for t in targets
        ],
    )


def targets_from_ros(message: TargetsMsg) -> tuple[TargetObject, ...]:
    return tuple(
        TargetObject(
            object_from_ros(t.object),
            t.support,
            tuple(t.connections),
            tuple((q.x, q.y, q.z, q.w) for q in t.symmetries),
            t.step,
            (t.symmetry_centre.x, t.symmetry_centre.y, t.symmetry_centre.z),
        )
        for t in message.targets
    )


def result_to_ros(result: SkillResult) -> SkillResultMsg:
    facts = encode_line(result.facts)
    status = SkillStatusMsg(value=int(result.status))
    return SkillResultMsg(status=status, message=result.message, facts=facts)


def result_from_ros(message: SkillResultMsg) -> SkillResult:
    return SkillResult(Status(message.status.value), message.message, json.loads(message.facts or "{}"))


def call_to_ros(call: CallRecord, number: int) -> SkillCallMsg:
    """``number``: of the SkillGoal that it began with."""
    return SkillCallMsg(
        header=header(call.end_s),
        sequence=call.index,
        call=number,
        goal=encode_line(call.goal),
        result=result_to_ros(call.result),
        start_s=call.start_s,
        end_s=call.end_s,
        wall_s=call.wall_s,
    )


def call_from_ros(message: SkillCallMsg) -> CallRecord:
    goal: SkillGoal = decode(message.goal.encode(), SkillGoal, where="/skills/calls")  # type: ignore[arg-type]
    result = result_from_ros(message.result)
    return CallRecord(message.sequence, goal, result, message.start_s, message.end_s, message.wall_s)


def tool_call_to_ros(call: ToolCall) -> AgentCallMsg:
    return AgentCallMsg(
        header=header(call.end_s),
        sequence=call.index,
        tool=call.tool,
        arguments=call.arguments,
        answer=call.answer,
        refused=call.refused,
        start_s=call.start_s,
        end_s=call.end_s,
        wall_s=call.wall_s,
    )


def trajectory_to_ros(trajectory: JointTrajectory) -> JointTrajectoryMsg:
    points = []
    for i, seconds in enumerate(trajectory.times_s):
        point = JointTrajectoryPoint(
            positions=trajectory.positions[i].tolist(),
            velocities=trajectory.velocities[i].tolist(),
            accelerations=trajectory.accelerations[i].tolist(),
        )
        stamp = time_to_ros(float(seconds))
        point.time_from_start.sec, point.time_from_start.nanosec = stamp.sec, stamp.nanosec
        points.append(point)
    return JointTrajectoryMsg(joint_names=list(trajectory.joint_names), points=points)


def trajectory_from_ros(message: JointTrajectoryMsg) -> JointTrajectory:
    """Raises ValueError when the message is no valid trajectory. Missing velocities or accelerations mean 0."""
    names = tuple(message.joint_names)
    if not message.points:
        raise ValueError("a trajectory needs at least one point")

    def column(field: str) -> np.ndarray:
        rows = [list(getattr(p, field)) or [0.0] * len(names) for p in message.points]
        if any(len(row) != len(names) for row in rows):
            raise ValueError(f"a point has not one {field[:-1]} for each of {len(names)} joints")
        return np.array(rows, dtype=np.float64)

    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec * 1e-9 for p in message.points])
    return JointTrajectory(names, times, column("positions"), column("velocities"), column("accelerations"))
