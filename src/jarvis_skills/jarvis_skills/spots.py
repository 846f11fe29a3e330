"""Free spots of the table: where something can be put down with room for the fingers around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jarvis_bricks.oriented_boxes import OrientedBoxes
from jarvis_core.objects import RigidObject, Scene
from jarvis_core.pose import FloatArray, Pose

from jarvis_skills.cell_context import TABLE, SkillContext
from jarvis_skills.grasp import bottom_z, boxes_at


def free_spots(ctx: SkillContext, scene: Scene, thing: RigidObject, lying: Pose) -> Iterator[Pose]:
    """Poses (``world``) of an object on the table, ``config.spots`` at the most, in the middle first.

    Args:
        lying: its rotation when it lies there, up to quarter turns about the vertical.
    """
    poses = [Pose.from_yaw((0.0, 0.0, 0.0), quarter * np.pi / 2) @ lying for quarter in range(4)]
    low = bottom_z(boxes_at(thing, lying)) - float(lying.position[2])
    middles = free_middles(ctx, scene, thing, reach_m(thing, lying))
    # All turns of the nearest spots: what one is out of reach for, another may be in.
    for x, y in middles[: ctx.config.spots]:
        for pose in poses:
            yield Pose((float(x), float(y), -low), pose.quaternion)


def free_middles(ctx: SkillContext, scene: Scene, thing: RigidObject, reach: float) -> FloatArray:
    """(n, 2) points of a grid on the table with nothing within ``reach`` and the fingers' room around them."""
    gripper, table, step = ctx.robot_config.gripper, ctx.cell.table, ctx.config.spot_step_m
    room = reach + gripper.finger_thickness_m + 2 * ctx.config.finger_slack_m
    xs, ys = (np.arange(low + room, high - room, step) for low, high in (table.x, table.y))
    points = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
    bodies = OrientedBoxes.of(o.box for o in ctx.obstacles(scene, (thing.id,)) if o.id != TABLE).extents()
    beyond = np.maximum(bodies[None, :, 0, :2] - points[:, None], points[:, None] - bodies[None, :, 1, :2])
    away = np.linalg.norm(np.maximum(beyond, 0.0), axis=2).min(axis=1, initial=np.inf)
    free = points[away > room]
    middle = ctx.backend.forward(ctx.ready).position[:2]
    nearest: FloatArray = free[np.argsort(np.linalg.norm(free - middle, axis=1), kind="stable")]
    return nearest


def reach_m(thing: RigidObject, lying: Pose) -> float:
    """How far an object reaches sideways from its origin, metres."""
    corners = OrientedBoxes.of(boxes_at(thing, lying)).corners().reshape(-1, 3) - lying.position
    return float(np.linalg.norm(corners[:, :2], axis=1).max())
