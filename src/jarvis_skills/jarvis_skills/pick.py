"""Grasp one loose object and lift it."""

from __future__ import annotations

from jarvis_core.skills import Fact, PickGoal

from jarvis_skills.cell_context import SkillContext
from jarvis_skills.grasp import find_grasps
from jarvis_skills.take import check_pick, take


def pick(ctx: SkillContext, goal: PickGoal) -> dict[str, Fact]:
    """Approach from above, close, verify by width, lift vertically, verify again; once more where that fails."""
    scene = ctx.look()
    thing = check_pick(ctx, scene, goal.object_id)
    return take(ctx, scene, thing, lambda seen, it: find_grasps(ctx, seen, it, goal.place_pose))
