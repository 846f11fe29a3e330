"""Answers what could be done, by the same steps that the skills begin with; moves nothing."""

from __future__ import annotations

from jarvis_core.planning import GraspPlan, PlannedGrasp, ReachAnswer
from jarvis_core.pose import Pose
from jarvis_core.status import Status

from jarvis_skills.cell_context import SkillContext, StepFailed
from jarvis_skills.grasp import find_grasps
from jarvis_skills.moves import check_workspace, joints
from jarvis_skills.take import check_pick


class SkillPlanning:
    """``jarvis_core.planning.Planning`` of one arm; used between skills, by the thread that runs them."""

    def __init__(self, context: SkillContext) -> None:
        self._context = context

    def grasps(self, object_id: str, place_pose: Pose | None = None) -> GraspPlan:
        """As ``pick`` would choose them: the hand must be empty and the object free to be taken."""
        ctx = self._context
        try:
            scene = ctx.look()
            thing = check_pick(ctx, scene, object_id)
            if place_pose is not None:
                check_workspace(ctx, place_pose, "the place pose")
            found = find_grasps(ctx, scene, thing, place_pose)
        except StepFailed as failure:
            return GraspPlan(failure.status, failure.message)
        planned = tuple(PlannedGrasp(grasp.tool, grasp.width_m) for grasp in found)
        return GraspPlan(Status.SUCCEEDED, f"{len(planned)} grasps of {object_id}", planned)

    def reach(self, pose: Pose) -> ReachAnswer:
        """By a planned motion from where the arm stands, among everything that is seen."""
        ctx = self._context
        try:
            check_workspace(ctx, pose, "the tool pose")
        except StepFailed as failure:
            return ReachAnswer(failure.status, failure.message)
        ctx.update_world(ctx.look())
        plan = ctx.backend.plan_to_pose(joints(ctx), pose, speed=ctx.config.travel_speed)
        if plan.trajectory is None:
            return ReachAnswer(plan.status, plan.message)
        return ReachAnswer(
            Status.SUCCEEDED, "the pose can be reached", tuple(plan.trajectory.positions[-1].tolist())
        )
