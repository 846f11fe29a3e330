"""The constants of a score; read from config/score.yaml."""

from __future__ import annotations

from typing import Literal

from jarvis_core.config import Config
from jarvis_core.errors import ConfigError

_SUM_TOLERANCE = 1e-9


class PoseWeights(Config, frozen=True):
    """Weights of the four terms of a brick's pose score; they add up to one."""

    position: float
    z: float
    theta: float
    anchor: float

    def __post_init__(self) -> None:
        values = (self.position, self.z, self.theta, self.anchor)
        if min(values) < 0 or abs(sum(values) - 1.0) > _SUM_TOLERANCE:
            raise ValueError(f"weights must be >= 0 and add up to 1, got {values}")


class ProtocolConfig(Config, frozen=True):
    """How one protocol differs from another.

    Attributes:
        position: what the position term is relative to: the brick's intended ``support``, wherever that is,
            or the ``world``.
        gated: the z and theta terms count only near the place where the brick should be.
    """

    position: Literal["support", "world"]
    gated: bool
    weights: PoseWeights


class ScoreConfig(Config, frozen=True):
    """Everything a score depends on besides the record.

    Attributes:
        protocol: name of the protocol to report.
        protocols: by name.
        sigma_position_m, sigma_z_m, sigma_theta_deg, sigma_anchor_m: widths of the terms, see brick_score.
        gate_m: largest position error at which a gated protocol counts z and theta.
        moved_m: a brick displaced by no more is not moved.
        complete_m: largest position error (world) of a completed brick.
        exact_m, exact_deg: largest errors (world) of an exactly placed brick.
        weight_pose, weight_complete: of S_pose and S_comp in the score; they add up to one.
        max_time_penalty: fraction of the score lost at twice the budget and beyond.
        max_state_gap_s: a recording whose clock skips more between two states is incomplete.
    """

    protocol: str
    protocols: dict[str, ProtocolConfig]
    sigma_position_m: float
    sigma_z_m: float
    sigma_theta_deg: float
    sigma_anchor_m: float
    gate_m: float
    moved_m: float
    complete_m: float
    exact_m: float
    exact_deg: float
    weight_pose: float
    weight_complete: float
    max_time_penalty: float
    max_state_gap_s: float

    def __post_init__(self) -> None:
        if self.protocol not in self.protocols:
            raise ValueError(f"protocol {self.protocol!r} is not among {sorted(self.protocols)}")
        for name in ("sigma_position_m", "sigma_z_m", "sigma_theta_deg", "sigma_anchor_m"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be > 0")
        for name in ("gate_m", "moved_m", "complete_m", "exact_m", "exact_deg"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} must be >= 0")
        weights = (self.weight_pose, self.weight_complete)
        if min(weights) < 0 or abs(sum(weights) - 1.0) > _SUM_TOLERANCE:
            raise ValueError("weight_pose and weight_complete must be >= 0 and add up to 1")
        if not 0.0 <= self.max_time_penalty <= 1.0:
            raise ValueError("max_time_penalty must lie between 0 and 1")
        if not self.max_state_gap_s > 0:
            raise ValueError("max_state_gap_s must be > 0")

    def named(self, protocol: str) -> ProtocolConfig:
        """One protocol; raises ConfigError for a name that is not configured."""
        if protocol not in self.protocols:
            raise ConfigError(
                f"no protocol named {protocol!r}",
                where="score.yaml",
                fix=f"use one of {', '.join(sorted(self.protocols))}",
            )
        return self.protocols[protocol]
