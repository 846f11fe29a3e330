"""Pick and place in one: the grasp is chosen so that the object can also be put down."""

from __future__ import annotations

from jarvis_core.skills import Fact, PickAndPlaceGoal, PickGoal, PlaceGoal

from jarvis_skills.cell_context import SkillContext
from jarvis_skills.moves import check_workspace
from jarvis_skills.pick import pick
from jarvis_skills.place import check_place, place
from jarvis_skills.take import check_pick


def pick_and_place(ctx: SkillContext, goal: PickAndPlaceGoal) -> dict[str, Fact]:
    """Check the place first: nothing is picked that can't be put down."""
    check_workspace(ctx, goal.pose, "the place pose")
    scene = ctx.look()
    check_place(ctx, scene, check_pick(ctx, scene, goal.object_id), goal.pose)
    picked = pick(ctx, PickGoal(goal.object_id, goal.pose))
    return {**picked, **place(ctx, PlaceGoal(goal.pose))}
