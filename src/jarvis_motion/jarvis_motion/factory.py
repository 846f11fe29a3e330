"""The motion backends there are, by name."""

from __future__ import annotations

from collections.abc import Callable

from jarvis_core.errors import ConfigError, MissingCapabilityError
from jarvis_robot.model import RobotModel

from jarvis_motion.backend import MotionBackend
from jarvis_motion.config import MotionConfig


def _roboplan(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    try:
        from jarvis_motion.roboplan_backend import (
            RoboplanBackend,
        )  # loads megabytes of C++: only when asked for
    except ImportError as error:
        raise MissingCapabilityError(
            f"roboplan can't be loaded ({error})", fix="pip install roboplan"
        ) from error
    return RoboplanBackend(robot, config)


#: Makes a backend for a robot.
BACKENDS: dict[str, Callable[[RobotModel, MotionConfig], MotionBackend]] = {"roboplan": _roboplan}


def make_backend(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    """The backend that ``config.backend`` names.

    Raises:
        ConfigError: there is none of that name.
        MissingCapabilityError: its library is not installed.
    """
    if config.backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        raise ConfigError(
            f"no motion backend named {config.backend!r}", where="motion.yaml", fix=f"one of {known}"
        )
    return BACKENDS[config.backend](robot, config)
