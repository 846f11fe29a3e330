"""Limits of an episode, the same for every agent; read from config/episode.yaml."""

from __future__ import annotations

from jarvis_core.config import Config


class EpisodeConfig(Config, frozen=True):
    """Limits.

    Attributes:
        budget_base_s, budget_brick_s: soft budget B = base + brick * N, simulated seconds (jarvis_scoring
            reduces the score beyond it).
        hard_stop_factor: the episode ends at this many budgets.
        max_calls: of skills.
        max_wall_s: of the wall clock, for a policy that only looks and thinks.
        state_rate_hz: rate of the recorded true states.
        video_fps, video_speed: pictures a second of the video, and how much faster than life it runs.
        camera_rate_hz: rate of the recorded camera pictures.
    """

    budget_base_s: float
    budget_brick_s: float
    hard_stop_factor: float
    max_calls: int
    max_wall_s: float
    state_rate_hz: float
    video_fps: int
    video_speed: float
    camera_rate_hz: float

    def budget_s(self, n_required: int) -> float:
        """Soft budget B in simulated seconds."""
        return self.budget_base_s + self.budget_brick_s * n_required
