"""Fingertips that a build can be checked for: read from config/bricks.yaml."""

from __future__ import annotations

from dataclasses import replace

from jarvis_core.config import Config
from jarvis_core.errors import BadInputError

from jarvis_bricks.grip import FingerClearance


class Fingertips(Config, frozen=True):
    """What a set of fingertips changes of the robot's own; None: as the robot has it. Metres, as in FingerClearance."""

    thickness_m: float | None = None
    width_m: float | None = None
    upper_thickness_m: float | None = None
    upper_above_tip_m: float | None = None


class BricksConfig(Config, frozen=True):
    """Attributes: fingertips by name; ``stock`` are the robot's own."""

    fingertips: dict[str, Fingertips]

    def fingers(self, name: str, robot: FingerClearance) -> FingerClearance:
        """The robot's gripper with another set of fingertips. Raises BadInputError: an unknown name."""
        tips = self.fingertips.get(name)
        if tips is None:
            known = ", ".join(sorted(self.fingertips))
            raise BadInputError(
                f"no fingertips {name!r}", where="config/bricks.yaml", fix=f"use one of {known}"
            )
        names = ("thickness_m", "width_m", "upper_thickness_m", "upper_above_tip_m")
        return replace(robot, **{n: v for n in names if (v := getattr(tips, n)) is not None})
