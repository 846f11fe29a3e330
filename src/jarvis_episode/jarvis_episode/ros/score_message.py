"""Scores as messages."""

from __future__ import annotations

from jarvis_core.ros.conversions import header
from jarvis_scoring.protocol import EpisodeScore

from jarvis_interfaces.msg import BrickScore as BrickScoreMsg
from jarvis_interfaces.msg import EpisodeScore as EpisodeScoreMsg

#: Stands for a distance of a brick that is not there.
ABSENT = float("inf")


def bricks_to_ros(score: EpisodeScore) -> list[BrickScoreMsg]:
    return [
        BrickScoreMsg(
            id=b.id,
            error_position_m=ABSENT if b.e_pos_m is None else b.e_pos_m,
            error_z_m=ABSENT if b.e_z_m is None else b.e_z_m,
            error_angle_rad=ABSENT if b.e_theta_rad is None else b.e_theta_rad,
            pose_score=b.pose_score,
            complete=b.complete,
            exact=b.exact,
        )
        for b in score.bricks
    ]


def score_to_ros(score: EpisodeScore, time_s: float) -> EpisodeScoreMsg:
    return EpisodeScoreMsg(
        header=header(time_s),
        protocol=score.protocol,
        score=score.score,
        s_pose=score.s_pose,
        s_comp=score.s_comp,
        s_valid=score.s_valid,
        s_exact=score.s_exact,
        time_penalty=score.time_penalty,
        bricks=bricks_to_ros(score),
    )
