"""A quarter turn of an object in a hand that leans one way to take it and the other way to put it down.

Seen along the closing direction, the axis of the turn; the fingertips stay clear of the table at both ends::

        \\\\ hand            hand //
         \\\\                    //
       ___\\\\                  //
      |    \\|              ___|/_____
      |     |             |         |
      |     |    -->      |         |
    --+-----+--------   --+---------+---
       lean                 90 deg - lean
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.grip import GripKey
from jarvis_bricks.oriented_boxes import OrientedBoxes
from jarvis_core.objects import RigidObject
from jarvis_core.pose import FloatArray, Pose
from jarvis_robot.gripper import GripperConfig
from scipy.spatial.transform import Rotation

from jarvis_skills.cell_context import SkillContext
from jarvis_skills.grasp import Grasp
from jarvis_skills.moves import levelled, top_down

#: An axis is level if its height over a length of 1 is less than this.
_LEVEL = 0.05
#: A narrower foot for its height, and an object falls over when it is let go.
_LEAST_FOOT = 0.35
#: Distance of the points of a pad at which its contact is counted.
_PAD_STEP_M = 0.0005


@dataclass(frozen=True, slots=True)
class QuarterTurn:
    """One way to turn an object by 90 degrees.

    Attributes:
        grasp: where it lies.
        lean_rad: of the hand from straight down when it takes the object.
        after: rotation of the object after the turn (the position is that of the object before).
    """

    grasp: Grasp
    lean_rad: float
    after: Pose


def up_of(pose: Pose) -> float:
    """Cosine between an object's z axis, out of its top, and the vertical."""
    return float(pose.rotation[2, 2])


def quarter_turns(ctx: SkillContext, thing: RigidObject, reasons: list[str]) -> Iterator[QuarterTurn]:
    """Quarter turns that bring an object's top further up, by the longest closing direction first.

    Args:
        reasons: told why other ways are none.
    """
    box, rotation = thing.world_boxes()[0], thing.pose.rotation
    axes = [k for k in (0, 1) if abs(rotation[2, k]) < _LEVEL]
    for axis in sorted(axes, key=lambda k: -box.size_m[k]):
        if box.size_m[axis] > ctx.robot_config.gripper.max_width_m - 2 * ctx.config.finger_slack_m:
            reasons.append(f"{box.size_m[axis] * 1e3:.0f} mm are too wide for the gripper")
            continue
        for turn in (rotation[:, axis], -rotation[:, axis]):
            after = levelled(Pose.from_rotation(thing.pose.position, _about(turn, np.pi / 2) @ rotation))
            if up_of(after) > up_of(thing.pose) + 0.5:
                yield from _leans(ctx, thing, axis, turn, after, reasons)


def _leans(
    ctx: SkillContext, thing: RigidObject, axis: int, turn: FloatArray, after: Pose, reasons: list[str]
) -> Iterator[QuarterTurn]:
    corners = OrientedBoxes.of(thing.world_boxes()).corners().reshape(-1, 3)
    aside = np.cross(turn, (0.0, 0.0, 1.0))
    foot, height = float(np.ptp(corners[:, 2])), float(np.ptp(corners @ aside))
    if foot < _LEAST_FOOT * height:
        reasons.append(f"on {foot * 1e3:.1f} mm it would not stand {height * 1e3:.1f} mm high")
        return
    for lean in ctx.config.flip_leans_rad:
        tool = leaning_tool(ctx, thing, turn, lean)
        contact = contact_m2(ctx.robot_config.gripper, thing, tool)
        if contact < ctx.config.flip_contact_m2:
            reasons.append(f"too small: leaning pads would hold {contact * 1e6:.0f} mm2 of it")
            continue
        box = thing.boxes[0]
        up = int(np.argmax(np.abs(thing.world_boxes()[0].pose.rotation[2])))
        side = int(np.sign(thing.world_boxes()[0].pose.rotation[2, up]))
        depth = float(corners[:, 2].max() - tool.position[2])
        key = GripKey(0, axis, side * (up + 1), 0.0, round(depth, 6))
        yield QuarterTurn(Grasp(tool, box.size_m[axis], key), lean, after)


def leaning_tool(ctx: SkillContext, thing: RigidObject, turn: FloatArray, lean_rad: float) -> Pose:
    """Tool pose (``world``) that takes an object as low as the fingertips can go, before and after the turn."""
    corners = OrientedBoxes.of(thing.world_boxes()).corners().reshape(-1, 3)
    aside = np.cross(turn, (0.0, 0.0, 1.0))
    gripper, gap = ctx.robot_config.gripper, ctx.config.flip_gap_m
    low, high = (_tip_depth(gripper, angle) + gap for angle in (lean_rad, np.pi / 2 - lean_rad))
    # The turn lays what is farthest along ``aside`` to the ground.
    across, along = float((corners @ aside).max()) - high, float(corners[:, 2].min()) + low
    middle = float(thing.world_boxes()[0].pose.position @ turn)
    position = across * aside + middle * turn + along * np.array([0.0, 0.0, 1.0])
    straight = top_down(position, float(np.arctan2(turn[1], turn[0])))
    return Pose.from_rotation(position, _about(turn, -lean_rad) @ straight.rotation)


def contact_m2(gripper: GripperConfig, thing: RigidObject, tool: Pose) -> float:
    """How much of a pad lies on the object's largest box, square metres."""
    half = gripper.finger_width_m / 2
    xs = np.arange(-half, half, _PAD_STEP_M)
    zs = np.arange(gripper.pad_below_tcp_m - gripper.finger_width_m, gripper.pad_below_tcp_m, _PAD_STEP_M)
    points = np.stack(np.meshgrid(xs, [0.0], zs), axis=-1).reshape(-1, 3)
    box = thing.world_boxes()[0]
    inside = np.abs((box.pose.inverse() @ tool) @ points) <= np.array(box.size_m) / 2
    return float(inside.all(axis=1).sum()) * _PAD_STEP_M**2


def _tip_depth(gripper: GripperConfig, lean_rad: float) -> float:
    """How far a fingertip reaches below the tool centre point when the hand leans."""
    return float(gripper.pad_below_tcp_m * np.cos(lean_rad) + gripper.finger_width_m / 2 * np.sin(lean_rad))


def _about(axis: FloatArray, angle_rad: float) -> FloatArray:
    """(3, 3) rotation about a unit axis."""
    matrix: FloatArray = Rotation.from_rotvec(axis / np.linalg.norm(axis) * angle_rad).as_matrix()
    return matrix
