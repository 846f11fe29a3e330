"""Motion backends by name."""

from __future__ import annotations

from jarvis_core.errors import BadInputError
from jarvis_robot.model import RobotModel

from jarvis_motion.backend import MotionBackend
from jarvis_motion.config import MotionConfig


def make_backend(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    """The backend that ``config.backend`` names; raises BadInputError listing those there are."""
    if config.backend == "roboplan":
        # Imported here: a machine with another backend need not have this library.
        from jarvis_motion.roboplan_backend import RoboplanBackend

        return RoboplanBackend(robot, config)
    raise BadInputError(f"unknown motion backend {config.backend!r}", where="motion.yaml", fix="use roboplan")
