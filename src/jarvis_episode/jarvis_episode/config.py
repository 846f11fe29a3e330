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
        bag_split_bytes, bag_split_s: size and simulated seconds at which a bag goes on in a further file.
        record_queue: messages that may wait for the disk.
        record_patience_s: wall-clock seconds after which a disk that takes nothing ends the recording.
        record_reserve_bytes: room that is kept for the record of an episode whose disk is full.
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
    bag_split_bytes: int
    bag_split_s: float
    record_queue: int
    record_patience_s: float
    record_reserve_bytes: int

    def __post_init__(self) -> None:
        if self.bag_split_bytes < 1 or self.bag_split_s <= 0:
            raise ValueError("bag_split_bytes and bag_split_s must be > 0")
        if self.record_queue < 1 or self.record_patience_s <= 0 or self.record_reserve_bytes < 1:
            raise ValueError("record_queue, record_patience_s and record_reserve_bytes must be > 0")

    def budget_s(self, n_required: int) -> float:
        """Soft budget B in simulated seconds."""
        return self.budget_base_s + self.budget_brick_s * n_required
