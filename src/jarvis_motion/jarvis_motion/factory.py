"""The motion backends there are, by name."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from jarvis_core.errors import ConfigError, MissingCapabilityError
from jarvis_robot.model import RobotModel

from jarvis_motion.backend import MotionBackend
from jarvis_motion.config import MotionConfig
from jarvis_motion.isolated import IsolatedBackend


def _from(module: str, kind: str, fix: str) -> Callable[[RobotModel, MotionConfig], MotionBackend]:
    """A maker that loads its library, megabytes of C++, only when asked for."""

    def make(robot: RobotModel, config: MotionConfig) -> MotionBackend:
        try:
            loaded = import_module(f"jarvis_motion.{module}")
        except ImportError as error:
            name = module.removesuffix("_backend")
            raise MissingCapabilityError(
                f"motion backend {name} can't be loaded ({error})", fix=fix
            ) from error
        backend: MotionBackend = getattr(loaded, kind)(robot, config)
        return backend

    return make


#: Makes a backend for a robot.
BACKENDS: dict[str, Callable[[RobotModel, MotionConfig], MotionBackend]] = {
    "ompl": _from("ompl_backend", "OmplBackend", "pip install ompl pin"),
    "roboplan": _from("roboplan_backend", "RoboplanBackend", "pip install roboplan"),
}


def make_backend(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    """The backend that ``config.backend`` names, in a process of its own if ``config.isolate`` says so.

    Raises:
        ConfigError: there is none of that name.
        MissingCapabilityError: its library is not installed.
    """
    if config.backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        raise ConfigError(
            f"no motion backend named {config.backend!r}", where="motion.yaml", fix=f"one of {known}"
        )
    return IsolatedBackend(robot, config) if config.isolate else make_plain(robot, config)


def make_plain(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    """The backend that ``config.backend`` names, in this process."""
    return BACKENDS[config.backend](robot, config)
