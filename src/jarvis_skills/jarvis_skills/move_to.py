"""Plain motions: to a tool pose, and home."""

from __future__ import annotations

import numpy as np
from jarvis_core.skills import Fact, HomeGoal, MoveToGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.holding import check_hand
from jarvis_skills.moves import check_workspace, go_straight, go_to_joints, go_to_pose, open_fingers

#: Slower motions would take minutes; they serve nobody.
MIN_SPEED = 0.01


def move_to(ctx: SkillContext, goal: MoveToGoal) -> dict[str, Fact]:
    """Bring the tool to a pose, avoiding everything in the scene."""
    check_workspace(ctx, goal.pose, "the tool pose")
    if not MIN_SPEED <= goal.speed <= 1.0:
        raise StepFailed(
            Status.PRECONDITION_FAILED, f"speed must be between {MIN_SPEED} and 1, got {goal.speed}"
        )
    ctx.phase("move")
    scene = ctx.look()
    check_hand(ctx, scene)
    ctx.update_world(scene)
    if goal.straight:
        go_straight(ctx, goal.pose, "move", speed=goal.speed)
    else:
        go_to_pose(ctx, goal.pose, "move", speed=goal.speed)
    reached = ctx.robot.state().tool
    return {
        "error_m": reached.distance_to(goal.pose),
        "error_rad": reached.angle_to(goal.pose),
        "tool": reached.to_list(),
    }


def home(ctx: SkillContext, goal: HomeGoal) -> dict[str, Fact]:
    """Bring the arm out of the top camera's view; opens an empty hand."""
    ctx.phase("home")
    scene = ctx.look()
    check_hand(ctx, scene)
    clear_off(ctx, scene)
    ctx.update_world(scene)
    go_to_joints(ctx, np.array(ctx.robot_config.home_rad), "home")
    if ctx.held is None:
        open_fingers(ctx, ctx.robot_config.gripper.max_width_m, "open")
    return {"held": ctx.held is not None, "tool": ctx.robot.state().tool.to_list()}
