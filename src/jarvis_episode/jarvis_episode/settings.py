"""All configuration of one episode, read once and printed in its record."""

from __future__ import annotations

from typing import Any

import msgspec
from jarvis_core.cell import CellConfig
from jarvis_core.config import load_default
from jarvis_core.files import encode_hook
from jarvis_motion.config import MotionConfig
from jarvis_perception.config import PerceptionConfig
from jarvis_robot.config import RobotConfig, load_robot_config
from jarvis_scoring.config import ScoreConfig
from jarvis_sim.config import SimConfig
from jarvis_skills.config import SkillsConfig

from jarvis_episode.config import EpisodeConfig


class Settings(msgspec.Struct, frozen=True):
    """One frozen object for each file of config/."""

    cell: CellConfig
    robot: RobotConfig
    sim: SimConfig
    motion: MotionConfig
    perception: PerceptionConfig
    skills: SkillsConfig
    episode: EpisodeConfig
    score: ScoreConfig

    @classmethod
    def load(cls) -> Settings:
        """Read everything from the configuration folder; raises ConfigError."""
        cell = load_default("cell", CellConfig)
        return cls(
            cell=cell,
            robot=load_robot_config(cell.robot),
            sim=load_default("sim", SimConfig),
            motion=load_default("motion", MotionConfig),
            perception=load_default("perception", PerceptionConfig),
            skills=load_default("skills", SkillsConfig),
            episode=load_default("episode", EpisodeConfig),
            score=load_default("score", ScoreConfig),
        )

    def as_dict(self) -> dict[str, Any]:
        """Every configured value, by file, as plain data for the record."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self, enc_hook=encode_hook))
        return plain
