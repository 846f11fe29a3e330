"""Look: the arm out of the camera's view, and what is seen then."""

from __future__ import annotations

import numpy as np
from jarvis_core.skills import Fact, LookGoal
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.clearing import clear_off
from jarvis_skills.holding import check_hand
from jarvis_skills.moves import go_to_joints


def look(ctx: SkillContext, goal: LookGoal) -> dict[str, Fact]:
    """Bring the arm home, with whatever it holds, and tell what lies on the table."""
    ctx.phase("move")
    scene = ctx.look()
    check_hand(ctx, scene)
    clear_off(ctx, scene)
    ctx.update_world(scene)
    go_to_joints(ctx, np.array(ctx.robot_config.home_rad), "move")
    ctx.robot.wait(ctx.config.settle_s)
    ctx.phase("look")
    scene = ctx.look()
    check_hand(ctx, scene)
    movable = [thing for thing in scene.objects if not thing.fixed]
    names = ", ".join(thing.id for thing in movable)
    facts: dict[str, Fact] = {
        "source": scene.source,
        "objects": len(scene.objects),
        "movable_ids": names,
        "held": ctx.held is not None,
    }
    if goal.object_id:
        seen = scene.find(goal.object_id)
        if seen is None:
            raise StepFailed(
                Status.VERIFICATION_FAILED,
                f"{goal.object_id} is not seen; movable objects: {names or 'none'}",
                facts,
            )
        facts["pose"] = seen.pose.to_list()
    return facts
