"""What a score is, whoever computes it."""

from __future__ import annotations

from typing import Protocol

import msgspec
from jarvis_core.episode import EpisodeRecord

#: Version of the layout of score.json.
SCORE_SCHEMA = 1

#: Printed wherever a score is.
NOT_COMPARABLE = "not comparable with published results: other tasks, other constants"


class BrickScore(msgspec.Struct, frozen=True, kw_only=True):
    """One required brick.

    A required brick is a place in the target state; ``matched_id`` is the physical brick that was taken to
    fill it (bricks of equal kind and colour are interchangeable). Errors are None when that brick is missing
    from the final state; ``e_pos_m`` is also None when its intended support is.

    Attributes:
        id: of the required brick (TargetObject.object.id).
        step: manual step it belongs to.
        support_id: the physical brick it should sit on, after matching, or GROUND.
        displacement_m: distance of the final from the initial position.
        e_pos_m: position error relative to the intended support.
        e_pos_world_m: position error in ``world``.
        offset_m: (x, y, z) final minus target position in ``world``.
        e_z_m: absolute vertical error in ``world``.
        e_theta_rad: angle to the nearest symmetry-equivalent target orientation, ``world``.
        s_pos, s_z, s_theta, s_anchor: the four terms in [0, 1], before gate and weights; 0 for a brick that
            is missing or not moved.
        pose_score, pose_score_ungated: weighted sum with and without the gate.
        held: in the gripper at the end.
        moved, inside, complete, exact: displaced enough; bounding box on the tabletop; counted in S_comp;
            counted in S_exact.
        connections_ok: connected to what it should be and to nothing else.
        missing_connections, extra_connections: physical ids (or GROUND), after matching.
    """

    id: str
    kind: str
    colour: int
    step: int
    matched_id: str
    support_id: str
    missing: bool
    held: bool
    displacement_m: float | None
    e_pos_m: float | None
    e_pos_world_m: float | None
    offset_m: tuple[float, float, float] | None
    e_z_m: float | None
    e_theta_rad: float | None
    s_pos: float
    s_z: float
    s_theta: float
    s_anchor: float
    pose_score: float
    pose_score_ungated: float
    moved: bool
    inside: bool
    complete: bool
    exact: bool
    connections_ok: bool
    missing_connections: tuple[str, ...]
    extra_connections: tuple[str, ...]


class EpisodeScore(msgspec.Struct, frozen=True, kw_only=True):
    """One episode. All fractions lie in [0, 1]; ``score`` in [0, 100].

    Attributes:
        protocol: name of the protocol, e.g. ``brick-score-1``.
        constants: fingerprint of every constant used; scores with different ones must not be compared.
        score: the final score: 100 * q * (1 - time_penalty).
        q: quality before the time penalty.
        s_pose, s_comp: mean pose score and fraction of completed bricks: what q is made of.
        s_pose_ungated: s_pose without the gate.
        s_valid, s_exact: reported beside the score, not in it.
        time_penalty: fraction of q lost for the time beyond the budget.
        calls, failed_calls: skill calls, and those that returned failure.
    """

    schema: int = SCORE_SCHEMA
    protocol: str
    constants: str
    score: float
    q: float
    s_pose: float
    s_pose_ungated: float
    s_comp: float
    s_valid: float
    s_exact: float
    time_penalty: float
    time_s: float
    budget_s: float
    n_required: int
    calls: int
    failed_calls: int
    bricks: tuple[BrickScore, ...]
    note: str = NOT_COMPARABLE


class ScoreProtocol(Protocol):
    """A way to score: a pure function of the record."""

    @property
    def name(self) -> str: ...

    def score(self, record: EpisodeRecord) -> EpisodeScore:
        """Raises BadInputError for a record that can't be scored."""
