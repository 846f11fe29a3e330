"""A small episode, made by hand, that tests change in one place at a time.

Top view, plate frame, one character is 4 mm (half a stud)::

    y ^   b1 blue 2x4 on the plate          b2, b3: yellow 2x2 (interchangeable)
      |   s1 red  2x4 on the plate (scene)  b4: green plate 2x4 across b2 and b3
      +--> x
    side view, seen along x:   [ b4       ]
                               [ b2 ][ b3 ]
                               [ s1 ][ b1 ]
                               ===plate====
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from jarvis_core.cell import Region
from jarvis_core.episode import CallRecord, EpisodeRecord, PolicyInfo
from jarvis_core.objects import (
    GROUND,
    Box,
    ConnectionEvent,
    ObjectState,
    RigidObject,
    TargetObject,
    WorldState,
)
from jarvis_core.pose import Pose
from jarvis_core.skills import PickAndPlaceGoal, SkillResult
from jarvis_core.status import Status

TABLE = Region(x=(-0.30, 1.00), y=(-0.60, 0.60))
PLATE = Pose((0.496, 0.144, 0.0032))
HALF_TURN = math.sqrt(0.5)
TWO_FOLD = ((0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 0.0))
FOUR_FOLD = (*TWO_FOLD, (0.0, 0.0, HALF_TURN, HALF_TURN), (0.0, 0.0, -HALF_TURN, HALF_TURN))

#: part: (length, width, height in metres, symmetries)
PARTS: dict[str, tuple[float, float, float, tuple[tuple[float, float, float, float], ...]]] = {
    "3001": (0.032, 0.016, 0.0096, TWO_FOLD),
    "3003": (0.016, 0.016, 0.0096, FOUR_FOLD),
    "3020": (0.032, 0.016, 0.0032, TWO_FOLD),
}

#: id: (part, colour, target in the plate frame, start in world, support, connections, step)
BRICKS: dict[str, tuple[str, int, Pose, Pose, str, tuple[str, ...], int]] = {
    "b1": (
        "3001",
        1,
        Pose((0.0, 0.016, 0.0096)),
        Pose.from_yaw((0.40, -0.10, 0.0096), 0.3),
        GROUND,
        (GROUND, "b3"),
        1,
    ),
    "b2": (
        "3003",
        14,
        Pose((-0.008, 0.0, 0.0192)),
        Pose.from_yaw((0.48, -0.12, 0.0096), 1.1),
        "s1",
        ("s1", "b4"),
        2,
    ),
    "b3": (
        "3003",
        14,
        Pose((-0.008, 0.016, 0.0192)),
        Pose.from_yaw((0.54, -0.20, 0.0096), -0.4),
        "b1",
        ("b1", "b4"),
        2,
    ),
    "b4": (
        "3020",
        2,
        Pose.from_yaw((-0.008, 0.008, 0.0224), math.pi / 2),
        Pose.from_yaw((0.44, -0.22, 0.0032), 0.7),
        "b2",
        ("b2", "b3"),
        3,
    ),
}
SCENE = RigidObject(
    "s1",
    "3001",
    4,
    PLATE @ Pose((0.0, 0.0, 0.0096)),
    (Box(Pose((0, 0, -0.0048)), (0.032, 0.016, 0.0096)),),
)
CONNECTIONS = (
    ("s1", GROUND),
    ("b1", GROUND),
    ("b2", "s1"),
    ("b3", "b1"),
    ("b4", "b2"),
    ("b4", "b3"),
)


def target_pose(brick: str) -> Pose:
    """Target of a brick in world."""
    pose: Pose = PLATE @ BRICKS[brick][2]
    return pose


def start_pose(brick: str) -> Pose:
    return BRICKS[brick][3]


def _object(brick: str, pose: Pose) -> RigidObject:
    part, colour = BRICKS[brick][:2]
    length, width, height, _ = PARTS[part]
    return RigidObject(brick, part, colour, pose, (Box(Pose((0, 0, -height / 2)), (length, width, height)),))


def make_targets() -> tuple[TargetObject, ...]:
    return tuple(
        TargetObject(_object(i, target_pose(i)), support, connections, PARTS[part][3], step)
        for i, (part, _, _, _, support, connections, step) in BRICKS.items()
    )


def make_record(
    final: Mapping[str, Pose | None] | None = None,
    *,
    held: str = "",
    connections: tuple[tuple[str, str], ...] = CONNECTIONS,
    scene_pose: Pose = SCENE.pose,
    **changes: Any,
) -> EpisodeRecord:
    """An episode that ended perfectly but for what is given.

    Args:
        final: final poses (world) that differ from the targets; None for a brick that vanished.
        held: the brick in the gripper at the end.
        connections: at the end.
        scene_pose: of the brick that stood before, at the end.
        changes: of the record's other fields.
    """
    moved: dict[str, Pose | None] = {i: target_pose(i) for i in BRICKS} | dict(final or {})
    initial = (ObjectState("s1", SCENE.pose), *(ObjectState(i, start_pose(i)) for i in BRICKS))
    ended = (
        ObjectState("s1", scene_pose),
        *(ObjectState(i, pose, i == held) for i, pose in moved.items() if pose is not None),
    )
    fields: dict[str, Any] = {
        "episode_id": "two-towers-0007",
        "task_id": "two-towers-s01-s03",
        "task_hash": "5f0c7be1a7d94c55",
        "seed": 7,
        "policy": PolicyInfo("oracle", privileged=True, caged=False),
        "transport": "in-process",
        "scene_source": "true",
        "outcome": "finished",
        "outcome_message": "the policy ended",
        "started_at": "2026-11-30T20:05:00+00:00",
        "wall_s": 12.4,
        "time_s": 86.2,
        "budget_s": 240.0,
        "initial": WorldState(0.0, initial, (("s1", GROUND),)),
        "final": WorldState(86.2, ended, connections),
        "objects": (SCENE, *(_object(i, start_pose(i)) for i in BRICKS)),
        "targets": make_targets(),
        "calls": _calls(),
        "events": _events(),
        "config": {"cell": {"table": {"x": list(TABLE.x), "y": list(TABLE.y)}, "robot": "panda"}},
        "versions": {"python": "3.12.3", "mujoco": "3.12.0"},
    }
    return EpisodeRecord(**(fields | changes))


def _calls() -> tuple[CallRecord, ...]:
    calls = []
    for index, brick in enumerate(("b1", "b2", "b3", "b3", "b4")):
        failed = index == 2
        result = (
            SkillResult(Status.PLANNING_FAILED, "no grasp without a collision", {"grasps_tried": 12})
            if failed
            else SkillResult(Status.SUCCEEDED, f"{brick} placed", {"error_m": 0.0003, "held": False})
        )
        start = 1.0 + 17.0 * index
        end = start + (2.5 if failed else 15.0)
        calls.append(CallRecord(index, PickAndPlaceGoal(brick, target_pose(brick)), result, start, end, 0.6))
    return tuple(calls)


def _events() -> tuple[ConnectionEvent, ...]:
    times = {"b1": 14.0, "b2": 31.0, "b3": 64.0, "b4": 83.0}
    return tuple(
        ConnectionEvent(times[upper], "engaged", upper, lower, 0.0002 + 0.0001 * n, 0.0001, 0.004, 12.0, 4)
        for n, (upper, lower) in enumerate(CONNECTIONS)
        if upper in times
    )
