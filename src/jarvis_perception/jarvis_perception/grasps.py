"""Grasps from above, checked against what the camera measured.

Where opposite upright faces of a brick are parallel, ``jarvis_bricks.grip`` says how its own shape can be gripped. Here
the fingers and the hand are held against the measured points around it::

      hand  |=======|         above the hand's underside: nothing under the hand
             |     |          above the fingertips: nothing where the fingers open and close
             | [ ] |
        -----+-----+----- table
"""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
import numpy as np
from jarvis_bricks.grip import FingerClearance, GripOption, GripRefusal, grip_options
from jarvis_core.pose import FloatArray, Pose
from jarvis_core.seen import SeenBrick

from jarvis_perception.config import GraspConfig
from jarvis_perception.view import Mask, View

#: A brick's own sides may be measured this far out; a tip this near above something touches nothing.
_OWN_M, _ABOVE_M = 0.0014, 0.0008
#: Pixels beyond which something is in the way, not noise.
_LEAST_PX = 3


@dataclass(frozen=True, slots=True)
class SeenGrasp:
    """One grasp, possible or not.

    Attributes:
        tool: pose of the tool frame (``world``) when the fingers close.
        width_m: distance of the faces.
        score: 0 to 1; how well the pads cover the faces and how central they are. 0 for a grasp with a ``reason``.
        reason: what is in the way; empty if nothing.
    """

    tool: Pose
    width_m: float
    score: float
    reason: str


def plan_grasps(
    view: View, hidden: Mask, brick: SeenBrick, fingers: FingerClearance, config: GraspConfig
) -> tuple[SeenGrasp, ...]:
    """Grasps of a brick where it lies, the best first; those that something is in the way of last.

    Args:
        hidden: pixels of the robot: what is under it is not known.
    """
    boxes = [msgspec.structs.replace(box, pose=brick.pose @ box.pose) for box in brick.boxes]
    options = grip_options(boxes, (), fingers, floor_z_m=0.0)
    cloud = _cloud_near(view, hidden, brick, fingers)
    grasps = [_judged(option, cloud, fingers, config) for option in options]
    order = sorted(grasps, key=lambda grasp: -grasp.score)
    return tuple(order[: config.most])


def graspable(
    view: View, hidden: Mask, brick: SeenBrick, fingers: FingerClearance, config: GraspConfig
) -> SeenBrick:
    """The brick, with its word on whether it can be grasped."""
    if not brick.visible:
        reason = "it is in the hand" if brick.held else "it can't be seen now"
        return msgspec.structs.replace(brick, graspable=False, reason=reason)
    grasps = plan_grasps(view, hidden, brick, fingers, config)
    if grasps and not grasps[0].reason:
        return brick
    reason = grasps[0].reason if grasps else "it has no pair of upright faces to grip"
    return msgspec.structs.replace(brick, graspable=False, reason=reason)


def _cloud_near(view: View, hidden: Mask, brick: SeenBrick, fingers: FingerClearance) -> FloatArray:
    """(n, 3) measured points that a gripper at the brick could touch, ``world``."""
    reach = max(fingers.max_width_m, *fingers.hand_size_m) + max(
        (float(np.linalg.norm(box.size_m)) for box in brick.boxes), default=0.0
    )
    u, v = view.project(brick.pose.position)[0]
    border = int(reach / view.pixel_m) + 1
    rows = slice(max(0, int(v) - border), max(0, int(v) + border))
    columns = slice(max(0, int(u) - border), max(0, int(u) + border))
    chosen = view.valid[rows, columns] & ~hidden[rows, columns] & (view.z[rows, columns] > _OWN_M)
    x, y, z = (array[rows, columns][chosen] for array in (view.x, view.y, view.z))
    return np.column_stack([x, y, z]).astype(np.float64)


def _judged(
    option: GripOption, cloud: FloatArray, fingers: FingerClearance, config: GraspConfig
) -> SeenGrasp:
    tool = option.tool_pose()
    if option.refusal is not None:
        return SeenGrasp(tool, option.width_m, 0.0, option.refusal.value)
    refusal = _in_the_way(option, cloud, fingers, config)
    if refusal is not None:
        return SeenGrasp(tool, option.width_m, 0.0, refusal.value)
    # Cost is metres of offset, uncovered height and width: a brick's length of it halves the score.
    return SeenGrasp(tool, option.width_m, round(float(np.exp2(-option.cost / 0.032)), 4), "")


def _in_the_way(
    option: GripOption, cloud: FloatArray, fingers: FingerClearance, config: GraspConfig
) -> GripRefusal | None:
    """What of the cloud the gripper would touch."""
    c, s = np.cos(option.axis_yaw_rad), np.sin(option.axis_yaw_rad)
    local = cloud - np.array(option.position)
    close = np.abs(local[:, 0] * c + local[:, 1] * s)
    across = np.abs(local[:, 1] * c - local[:, 0] * s)
    above_tip = local[:, 2] + fingers.pad_below_tcp_m
    inner, outer = option.width_m / 2 + _OWN_M, option.width_m / 2 + fingers.slack_m + fingers.thickness_m
    at_finger = (close > inner) & (close < outer + config.clearance_m)
    at_finger &= (across < fingers.width_m / 2 + config.clearance_m) & (above_tip > _ABOVE_M)
    if int(at_finger.sum()) > _LEAST_PX:
        return GripRefusal.FINGER_BLOCKED
    hand = (above_tip > fingers.length_m - _ABOVE_M) & (close < fingers.hand_size_m[1] / 2)
    hand &= across < fingers.hand_size_m[0] / 2
    return GripRefusal.HAND_BLOCKED if int(hand.sum()) > _LEAST_PX else None
