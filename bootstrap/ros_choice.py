"""Which ROS 2 this start uses: a sourced or installed Jazzy, the runtime that comes by pip, or none."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from bootstrap import ros_pip
from bootstrap.eula import VARIABLE, Answer
from bootstrap.paths import Layout

INSTALLED_SETUP = Path("/opt/ros/jazzy/setup.bash")


class RosWay(Enum):
    """Where ROS 2 Jazzy comes from."""

    SOURCED = "sourced"
    INSTALLED = "installed"
    PIP = "pip"
    NONE = "none"


@dataclass(frozen=True)
class RosChoice:
    """The way taken, and in one sentence why."""

    way: RosWay
    reason: str

    @property
    def has_ros(self) -> bool:
        return self.way is not RosWay.NONE

    @property
    def setup_scripts(self) -> list[Path]:
        """What bash must source before the workspace's own local_setup.bash."""
        return [INSTALLED_SETUP] if self.way is RosWay.INSTALLED else []


def choose(
    layout: Layout,
    env: Mapping[str, str],
    *,
    no_ros: bool,
    licence: Callable[[], Answer],
    installed_setup: Path = INSTALLED_SETUP,
) -> RosChoice:
    """Choose, in this order: what the person forced, a real Jazzy, the pip way if its licence was accepted.

    `licence` is called only when the answer matters, because it may ask a person.
    """
    if no_ros:
        return RosChoice(RosWay.NONE, "--no-ros was given")
    if jazzy_is_sourced(env):
        return RosChoice(RosWay.SOURCED, "a ROS 2 Jazzy is sourced in this shell")
    if installed_setup.exists():
        return RosChoice(RosWay.INSTALLED, f"{installed_setup} is there")
    if ros_pip.stands(layout):
        return RosChoice(RosWay.PIP, "the runtime from pip stands in .jarvis/ros")
    if (obstacle := ros_pip.why_not_here()) is not None:
        return RosChoice(RosWay.NONE, f"{obstacle}; install ROS 2 Jazzy (Ubuntu 24.04) or use docker/")
    if licence() is Answer.ACCEPTED:
        return RosChoice(RosWay.PIP, "the licence of its wheel was accepted")
    return RosChoice(
        RosWay.NONE,
        "no ROS 2 Jazzy is installed, and the NVIDIA Omniverse licence of the wheel that brings one was not "
        f"accepted: ./jarvis setup --accept-eula, or {VARIABLE}=YES",
    )


def jazzy_is_sourced(env: Mapping[str, str]) -> bool:
    """Whether this shell has a Jazzy with rclpy in it."""
    prefixes = env.get("AMENT_PREFIX_PATH", "").split(os.pathsep)
    return env.get("ROS_DISTRO") == "jazzy" and any(
        prefix and (Path(prefix) / "share" / "rclpy").is_dir() for prefix in prefixes
    )
