"""What config/robots/NAME.yaml says about a robot beyond its URDF."""

from __future__ import annotations

from jarvis_core.config import Config, config_folder, load_config
from jarvis_core.errors import ConfigError

from jarvis_robot.gripper import GripperConfig


class RobotConfig(Config, frozen=True):
    """One arm with a parallel gripper. Position, velocity and effort limits stand in the URDF.

    Attributes:
        name: of the robot.
        urdf: xacro or URDF file: a name in the project's urdf/ folder, or an absolute path.
        srdf: SRDF with the link pairs that can't collide: ``package://NAME/...``, a name in urdf/ or a path.
        arm_joints: n joints of the arm, from the base on.
        finger_joints: the two prismatic joints; each opens by half the width.
        base_link: its frame is ``world``.
        hand_link: the link that carries the fingers.
        tool_link: its frame is the tool frame of ``GripperConfig``: between the pads, z out of the hand, y
            the closing direction.
        home_rad: (n,) joint positions that leave the top camera's view free.
        ready_rad: (n,) joint positions with the tool pointing down in the middle of the work area.
        max_acceleration_rad_s2, max_jerk_rad_s3: (n,) published limits.
        gripper: geometry and limits of the gripper.
    """

    name: str
    urdf: str
    srdf: str
    arm_joints: tuple[str, ...]
    finger_joints: tuple[str, str]
    base_link: str
    hand_link: str
    tool_link: str
    home_rad: tuple[float, ...]
    ready_rad: tuple[float, ...]
    max_acceleration_rad_s2: tuple[float, ...]
    max_jerk_rad_s3: tuple[float, ...]
    gripper: GripperConfig

    def __post_init__(self) -> None:
        for name in ("home_rad", "ready_rad", "max_acceleration_rad_s2", "max_jerk_rad_s3"):
            count = len(getattr(self, name))
            if count != len(self.arm_joints):
                raise ValueError(f"{name} has {count} numbers for {len(self.arm_joints)} arm joints")


def load_robot_config(name: str) -> RobotConfig:
    """Read config/robots/NAME.yaml.

    Raises:
        ConfigError: there is no such robot (the message lists those there are), or its file is wrong.
    """
    folder = config_folder() / "robots"
    path = folder / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(p.stem for p in folder.glob("*.yaml"))) or "none"
        raise ConfigError(f"no robot named {name!r}", where=str(folder), fix=f"robots there: {known}")
    return load_config(path, RobotConfig)
