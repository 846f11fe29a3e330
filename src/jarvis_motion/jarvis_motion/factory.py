"""The motion backends there are, by name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from jarvis_core.errors import ConfigError, MissingCapabilityError
from jarvis_robot.model import RobotModel

from jarvis_motion.backend import MotionBackend
from jarvis_motion.config import MotionConfig
from jarvis_motion.isolated import IsolatedBackend
from jarvis_motion.prebundled import is_importable


@dataclass(frozen=True, slots=True)
class BackendEntry:
    """Where a backend is found, loaded only when asked for: libraries of megabytes of C++.

    Attributes:
        module, kind: of its class.
        library: the module that it needs from elsewhere.
        fix: how that comes to a machine.
    """

    module: str
    kind: str
    library: str
    fix: str

    @property
    def installed(self) -> bool:
        """Whether its library is on this machine; it may need more, such as a GPU or a running node."""
        return is_importable(self.library)


_NVIDIA = "pip install --no-deps isaacsim-robot-motion (under NVIDIA's licence)"
BACKENDS: dict[str, BackendEntry] = {
    "cumotion": BackendEntry("cumotion_backend", "CumotionBackend", "cumotion", _NVIDIA),
    "isaac_ros_cumotion": BackendEntry(
        "ros.isaac_ros_cumotion_backend",
        "IsaacRosCumotionBackend",
        "moveit_msgs",
        "sudo apt-get install ros-jazzy-moveit-msgs, and Isaac ROS's planner running",
    ),
    "moveit": BackendEntry(
        "ros.moveit_backend",
        "MoveItBackend",
        "moveit",
        "sudo apt-get install ros-jazzy-moveit ros-jazzy-moveit-py",
    ),
    "ompl": BackendEntry("ompl_backend", "OmplBackend", "ompl", "pip install ompl pin"),
    "rmpflow": BackendEntry("rmpflow_backend", "RmpflowBackend", "lula", _NVIDIA),
    "roboplan": BackendEntry("roboplan_backend", "RoboplanBackend", "roboplan", "pip install roboplan"),
}


def make_backend(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    """The backend that ``config.backend`` names, in a process of its own if ``config.isolate`` says so.

    Raises:
        ConfigError: there is none of that name.
        MissingCapabilityError: its library, or what that needs, is not on this machine.
    """
    if config.backend not in BACKENDS:
        known = ", ".join(sorted(BACKENDS))
        raise ConfigError(
            f"no motion backend named {config.backend!r}", where="motion.yaml", fix=f"one of {known}"
        )
    return IsolatedBackend(robot, config) if config.isolate else make_plain(robot, config)


def make_plain(robot: RobotModel, config: MotionConfig) -> MotionBackend:
    """The backend that ``config.backend`` names, in this process."""
    entry = BACKENDS[config.backend]
    try:
        loaded = import_module(f"jarvis_motion.{entry.module}")
    except ImportError as error:
        raise MissingCapabilityError(
            f"motion backend {config.backend} can't be loaded ({error})", fix=entry.fix
        ) from error
    backend: MotionBackend = getattr(loaded, entry.kind)(robot, config)
    return backend
