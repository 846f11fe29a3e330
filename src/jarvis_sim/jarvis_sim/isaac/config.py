"""What config/isaac.yaml holds."""

from __future__ import annotations

from jarvis_core.config import Config


class PhysicsConfig(Config, frozen=True):
    """PhysX.

    Attributes:
        timestep_s: length of one step.
        device: where PhysX runs, ``cpu`` or ``cuda:0``.
        restitution: of every surface; friction is that of sim.yaml.
        contact_offset_m: contacts are made this far before surfaces touch.
        rest_offset_m: distance at which surfaces come to rest.
        max_contacts: room for contact points of all loose bricks together.
    """

    timestep_s: float
    device: str
    restitution: float
    contact_offset_m: float
    rest_offset_m: float
    max_contacts: int


class DriveConfig(Config, frozen=True):
    """Position drives of the arm's joints: (n,) stiffness in Nm/rad and damping in Nm s/rad."""

    stiffness: tuple[float, ...]
    damping: tuple[float, ...]


class AnnotatorConfig(Config, frozen=True):
    """Isaac Sim's names of what a camera measures."""

    rgb: str
    depth: str


class SceneCameraConfig(Config, frozen=True):
    """Cameras of the scene.

    Attributes:
        horizontal_aperture: in the unit of the focal length that follows from it.
        frames_per_picture: frames drawn before a picture is read.
        warm_up_frames: most frames waited for the first picture.
    """

    horizontal_aperture: float
    clipping_range_m: tuple[float, float]
    annotators: AnnotatorConfig
    frames_per_picture: int
    warm_up_frames: int


class BridgeConfig(Config, frozen=True):
    """Isaac Sim's own ROS 2 publishers (see bridge.py)."""

    enabled: bool
    namespace: str


class LightConfig(Config, frozen=True):
    """A light infinitely far away that shines along ``direction`` (``world``)."""

    name: str
    direction: tuple[float, float, float]
    intensity: float
    angle_deg: float


class SurfaceConfig(Config, frozen=True):
    """How plastic looks (UsdPreviewSurface)."""

    roughness: float
    metallic: float


class FingerLinks(Config, frozen=True):
    """Names of the links of the robot asset that touch a brick."""

    hand: str
    left_finger: str
    right_finger: str


class IsaacConfig(Config, frozen=True):
    """config/isaac.yaml.

    Attributes:
        robot_usd: the robot's asset, below Isaac Sim's assets root.
        headless: without a window.
        render_every_s: simulated time between two frames of the window.
    """

    robot_usd: str
    robot_links: FingerLinks
    headless: bool
    render_every_s: float
    physics: PhysicsConfig
    drive: DriveConfig
    camera: SceneCameraConfig
    bridge: BridgeConfig
    lights: tuple[LightConfig, ...]
    dome_intensity: float
    surface: SurfaceConfig
