"""The first stage at which each brick failed, by rule from the record (table 7).

A brick that is exactly built at the end failed nowhere. Of the others, the first rule that fits:

================= ======================================================================================
stage             rule
================= ======================================================================================
not attempted     no call meant the brick (and the policy ended, or was stopped)
code error        no call meant the brick, and the policy crashed
grounding         the last call that meant it succeeded, but aimed more than half a stud from its place
disturbed later   it once engaged with what it rests on, and does no longer
planning          the last call that meant it: precondition or planning failed
grasp             the last call failed and the brick lies where it lay
transport         it was carried off, but not to within the completion distance of its place
placement         it was brought to its place, but does not stand there as it should
================= ======================================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from jarvis_core.episode import CallRecord, EpisodeRecord
from jarvis_core.objects import TargetObject
from jarvis_core.pose import Pose
from jarvis_core.skills import PickAndPlaceGoal, PickGoal, PlaceGoal, PushGoal
from jarvis_core.status import Status

from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.protocol import BrickScore, EpisodeScore
from jarvis_scoring.rows import STAGES

_NEVER_STARTED = (Status.PRECONDITION_FAILED, Status.PLANNING_FAILED)


def failure_stages_by_brick(
    record: EpisodeRecord, score: EpisodeScore, config: ScoreConfig
) -> dict[str, str]:
    """The stage of every required brick that is not built, by its id."""
    targets = {t.object.id: t for t in record.targets}
    return {
        brick.id: failure_stage(record, brick, targets[brick.id], config)
        for brick in score.bricks
        if not brick.exact
    }


def counted(stages: Iterable[str]) -> dict[str, int]:
    """Number of bricks by stage, only stages that occur, in their order."""
    counts = Counter(stages)
    return {stage: counts[stage] for stage in STAGES if counts[stage]}


def failure_stage(record: EpisodeRecord, brick: BrickScore, target: TargetObject, config: ScoreConfig) -> str:
    """The stage at which one brick, which is not built, failed first."""
    calls = _calls_for(record, brick.matched_id)
    if not calls:
        return "code error" if record.outcome == "crashed" else "not attempted"
    last, aim = calls[-1]
    if last.result.ok and aim is not None and _off(target, aim) > config.sigma_position_m / 2:
        return "grounding"
    if _was_built(record, brick):
        return "disturbed later"
    if last.result.status in _NEVER_STARTED:
        return "planning"
    if not brick.moved and not last.result.ok:
        return "grasp"
    near = brick.e_pos_world_m is not None and brick.e_pos_world_m <= config.complete_m
    return "placement" if near else "transport"


def _off(target: TargetObject, aim: Pose) -> float:
    """Metres from where a brick was aimed at to the nearest pose of its place that looks the same."""
    centre, back = Pose(target.symmetry_centre), Pose([-c for c in target.symmetry_centre])
    turns = target.symmetries or ((0.0, 0.0, 0.0, 1.0),)
    same = [target.object.pose @ centre @ Pose((0.0, 0.0, 0.0), turn) @ back for turn in turns]
    distances: list[float] = [pose.distance_to(aim) for pose in same]
    return min(distances)


def _calls_for(record: EpisodeRecord, brick: str) -> list[tuple[CallRecord, Pose | None]]:
    """Calls that meant a brick, each with the pose (world) it was to be placed at; None for a pick alone.

    A place call means the brick that the last successful pick took.
    """
    found: list[tuple[CallRecord, Pose | None]] = []
    held = ""
    for call in record.calls:
        goal = call.goal
        if isinstance(goal, PickAndPlaceGoal):
            if goal.object_id == brick:
                found.append((call, goal.pose))
        elif isinstance(goal, PickGoal):
            held = goal.object_id if call.result.ok else held
            if goal.object_id == brick:
                found.append((call, None))
        elif isinstance(goal, PlaceGoal):
            if held == brick:
                found.append((call, goal.pose))
            held = "" if call.result.ok else held
        elif isinstance(goal, PushGoal) and goal.object_id == brick:
            found.append((call, None))
    return found


def _was_built(record: EpisodeRecord, brick: BrickScore) -> bool:
    """Whether what it rests on was once below it and was lost again."""
    support, own = brick.support_id, brick.matched_id
    engaged = any(e.kind == "engaged" and {e.upper, e.lower} == {own, support} for e in record.events)
    joined = any({upper, lower} == {own, support} for upper, lower in record.final.connections)
    return engaged and not joined
