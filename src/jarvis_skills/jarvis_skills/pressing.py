"""Pressing down as hard as the studs below need, and not harder: more would lever neighbours off."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jarvis_bricks.geometry import STUD_PITCH_M
from jarvis_core.motion import ForceLimit
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray
from jarvis_core.skills import Fact
from jarvis_core.status import Status
from jarvis_motion.backend import Obstacle

from jarvis_skills.cell_context import TABLE, SkillContext, StepFailed
from jarvis_skills.moves import joints, planned, run_plan

logger = logging.getLogger(__name__)

#: The surroundings push up when the hand presses down.
_UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Pressed:
    """What came of a press.

    Attributes:
        limited: its force was limited; on a robot that tells no wrench the way alone was.
        force_n: what the hand pressed with in the end; 0 where that is not known.
        reached: the force it was limited to was felt on the way; what engages gives way, and is felt less after that.
        from_above: with closed fingertips on the object's top, not by the pads on its sides.
    """

    limited: bool
    force_n: float
    reached: bool = False
    from_above: bool = False

    def facts(self) -> dict[str, Fact]:
        return {
            "force_limited": self.limited,
            "press_force_n": self.force_n,
            "pressed_from_above": self.from_above,
        }

    def felt(self, force_n: float) -> bool:
        """Whether it pressed with that much; taken for granted where no wrench tells."""
        return not self.limited or self.reached or self.force_n >= force_n


def cells_below(boxes: Sequence[Box], others: Sequence[Obstacle], gap_m: float) -> FloatArray:
    """(n, 3) middles (``world``) of the cells in which studs may engage when a body is pressed onto what it stands on.

    One for every cell of the stud grid, laid over the underside of its ``boxes`` (``world``) from its middle, with a
    body within ``gap_m`` below.
    """
    bodies = [o.box for o in others if o.id != TABLE]
    below = np.concatenate([_cells(box) for box in boxes]) - [0.0, 0.0, gap_m / 2]
    carried = np.zeros(len(below), dtype=bool)
    for body in bodies:
        local = body.pose.inverse() @ below
        carried |= (np.abs(local) <= np.array(body.size_m) / 2 + [0.0, 0.0, gap_m / 2]).all(axis=1)
    # The cells of an upper box lie inside the lower one, or in the air.
    cells: FloatArray = below[carried]
    return cells


def studs_below(boxes: Sequence[Box], others: Sequence[Obstacle], gap_m: float) -> int:
    """How many studs may engage (``cells_below``)."""
    return len(cells_below(boxes, others, gap_m))


def _cells(box: Box) -> FloatArray:
    """(n, 3) in ``world``: the middle of every stud's cell in the underside of an upright box."""
    x, y, z = box.size_m
    along = [
        (np.arange(n) - (n - 1) / 2) * STUD_PITCH_M for n in (max(1, round(s / STUD_PITCH_M)) for s in (x, y))
    ]
    grid = np.array([[u, v, -z / 2] for u in along[0] for v in along[1]])
    cells: FloatArray = box.pose @ grid
    return cells


def force_limit_n(ctx: SkillContext, studs: int, most_n: float) -> float:
    """The force that engages so many studs, of one at the least, cut off at ``most_n``."""
    return min(max(1, studs) * ctx.config.press_n_per_stud, most_n)


def check_force(ctx: SkillContext, object_id: str, studs: int) -> None:
    """Refuse what no press of this arm can join: a clutch engages all studs at once, or none."""
    config = ctx.config
    least, most = studs * config.engage_n_per_stud, config.top_press_limit_n
    if least > most and ctx.robot.wrench() is not None:
        raise StepFailed(
            Status.PRECONDITION_FAILED,
            f"{object_id} can't be pressed on at this pose: its {studs} studs need {least:.0f} N, the arm may press "
            f"with {most:.0f} N; choose a place with at most {int(most / config.engage_n_per_stud)} studs below it",
        )


def press(
    ctx: SkillContext,
    what: str,
    allow_contact: Sequence[str],
    *,
    limit_n: float,
    depth_m: float,
    seated_z_m: float,
) -> Pressed:
    """Straight down, slowly, to the force limit or the depth, whichever comes first.

    Args:
        limit_n: of the force; depth_m: of the way, from where the tool stands.
        seated_z_m: height of the tool (``world``) when what it presses on sits in its place.

    Raises:
        StepFailed: the way was blocked before that height.
    """
    if ctx.robot.wrench() is None:
        return _press_by_depth(ctx, what, allow_contact)
    config, limit = ctx.config, ForceLimit(_UP, limit_n)
    reached = _stroke(ctx, what, allow_contact, limit, depth_m)
    ctx.robot.wait(config.settle_s)
    wrench = ctx.robot.wrench()
    pressed = Pressed(True, limit.along(wrench) if wrench is not None else 0.0, reached)
    above = float(ctx.robot.state().tool.position[2]) - seated_z_m
    if reached and above > config.blocked_m:
        raise StepFailed(
            Status.EXECUTION_FAILED,
            f"{what}: something blocks the arm: {limit_n:.0f} N were reached {above * 1e3:.1f} mm above the place",
            pressed.facts(),
        )
    return pressed


def _stroke(
    ctx: SkillContext, what: str, allow_contact: Sequence[str], limit: ForceLimit, way_m: float
) -> bool:
    """Slowly down; whether the force limit ended it."""
    tool = ctx.robot.state().tool.translated((0.0, 0.0, -way_m))
    # An arm under load gives way sideways too, and what it presses on creeps along: a strong press takes no longer.
    speed = ctx.config.press_speed * max(1.0, limit.newton / ctx.config.press_limit_n)
    plan = ctx.backend.plan_line(joints(ctx), tool, speed=speed, allow_contact=allow_contact)
    trajectory = planned(plan, what)
    ctx.stop_if_canceled(what)
    outcome = ctx.robot.follow(
        trajectory, ctx.cancel, goal_tolerance_rad=ctx.config.press_tolerance_rad, force_limit=limit
    )
    if not outcome.status.ok:
        raise StepFailed(outcome.status, f"{what}: {outcome.message}")
    return outcome.guarded


def _press_by_depth(ctx: SkillContext, what: str, allow_contact: Sequence[str]) -> Pressed:
    """A little beyond the place. Something is meant to be in the way: stopping short is no failure."""
    logger.warning("%s: the robot tells no wrench; the depth alone limits the press", what)
    tool = ctx.robot.state().tool.translated((0.0, 0.0, -ctx.config.press_depth_m))
    speed = ctx.config.contact_speed
    plan = ctx.backend.plan_line(joints(ctx), tool, speed=speed, allow_contact=allow_contact)
    run_plan(ctx, planned(plan, what), what, ctx.config.press_tolerance_rad)
    ctx.robot.wait(ctx.config.settle_s)
    return Pressed(False, 0.0)
