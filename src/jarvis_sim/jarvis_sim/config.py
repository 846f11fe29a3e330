"""What config/sim.yaml holds: every number of the simulated physics and looks."""

from __future__ import annotations

from typing import Literal

from jarvis_core.config import Config


class EngineConfig(Config, frozen=True):
    """Numerics of the engine.

    Attributes:
        timestep_s: length of one step.
        impratio: frictional to normal constraint impedance; above 1 less slip in grasps.
        iterations: most iterations of the solver per step.
        tolerance: relative improvement at which the solver stops.
        sleep_tolerance: bodies slower than this (m/s, rad/s) for ten steps sleep; 0: none ever does.
    """

    timestep_s: float
    impratio: float
    iterations: int
    tolerance: float
    sleep_tolerance: float


class ContactConfig(Config, frozen=True):
    """A contact surface: sliding friction, contact dimension and MuJoCo's solver parameters."""

    friction: float
    condim: int
    solref: tuple[float, float]
    solimp: tuple[float, float, float]


class BrickConfig(Config, frozen=True):
    """Bodies of loose bricks.

    Attributes:
        contact: surface of bricks, plate and table.
        side_gap_m: collision boxes are smaller by this much on each side (neighbours on the grid don't rub).
        baked: how the structure stands at the start: ``always`` fixed to the world; ``never``: free bodies that the
            clutch holds; ``auto``: fixed, until a perturbation or the gripper takes hold of a brick, which is freed
            with all that rests on it.
        mass_floor_kg, inertia_floor_kg_m2: lighter parts are made this heavy, for the solver's sake.
    """

    contact: ContactConfig
    baked: Literal["auto", "always", "never"]
    side_gap_m: float
    mass_floor_kg: float
    inertia_floor_kg_m2: float


class ClutchConfig(Config, frozen=True):
    """The stud clutch (see clutch.py).

    Attributes:
        enabled: off gives plain contact.
        xy_m, yaw_deg, z_m: largest misalignment that engages.
        press_n_per_stud: pressing force that engages, pull_n_per_stud: pulling force that releases.
        shear_n_per_stud: force across the studs that releases.
        peel: whether shear and moments release at all (see loads.py); else a pull along the studs alone does.
        samples: how many samples in a row the force must last; sample_s: their distance.
        ramp_s: time in which an engaged brick is drawn to its snapped pose.
        welds_per_brick: connections the model has room for.
        solref, solimp: stiffness of an engaged connection.
    """

    enabled: bool
    xy_m: float
    yaw_deg: float
    z_m: float
    press_n_per_stud: float
    pull_n_per_stud: float
    shear_n_per_stud: float
    peel: bool
    samples: int
    sample_s: float
    ramp_s: float
    welds_per_brick: int
    solref: tuple[float, float]
    solimp: tuple[float, float, float]


class ArmConfig(Config, frozen=True):
    """Drive of the arm's joints.

    Attributes:
        control_s: time between two looks at the joints, which set torques and the fingers' way anew: a whole number
            of time steps.
        bandwidth_rad_s: natural frequency of each joint's position control; stiffness is inertia times its
            square.
        damping_ratio: 1 is critical.
        armature: reflected rotor inertia, kg m^2.
        start_tolerance_rad: largest distance of a trajectory's start from where the arm stands.
        path_tolerance_rad: largest deviation on the way; beyond it something blocks the arm.
        settle_tolerance_rad, settle_speed_rad_s: within both the motion has ended; settle_timeout_s: later than
            this after the trajectory's end it has failed.
        stop_s: shortest time in which a cancelled motion comes to a stop.
        wrench_filter_s: time constant of the low-pass on the external torques from which the wrench is estimated.
    """

    control_s: float
    bandwidth_rad_s: float
    damping_ratio: float
    armature: float
    start_tolerance_rad: float
    path_tolerance_rad: float
    settle_tolerance_rad: float
    settle_speed_rad_s: float
    settle_timeout_s: float
    stop_s: float
    wrench_filter_s: float


class GripperDriveConfig(Config, frozen=True):
    """Drive of the fingers and their rubber pads.

    Attributes:
        kp, kv: gains of the opening's drive, N/m and N s/m.
        armature_kg: inertia of each finger's drive; light fingers hammer a brick away.
        pad: surface of the finger pads; it wins over a brick's.
        reach_tolerance_m: a width within this of the commanded one is reached.
        stall_speed_m_s: fingers slower than this for stall_s before the width is reached have stalled.
        timeout_s: a command not ended by then has failed.
    """

    kp: float
    kv: float
    armature_kg: float
    pad: ContactConfig
    reach_tolerance_m: float
    stall_speed_m_s: float
    stall_s: float
    timeout_s: float


class LayoutConfig(Config, frozen=True):
    """How loose bricks lie at the start, and the search for a free place of each.

    Attributes:
        kind: ``random``: upright, anywhere, turned at random. ``sorted``: in rows, by size and colour, none turned.
            ``cluttered``: as random, but close together. ``hard``: as random, but some on a side or upside down.
        clutter_clearance_m: between bounding circles when cluttered; less than fingers need.
        hard_share: of the bricks that do not lie upright when hard.
        distractors: number of further bricks that the task has no use for, of its own parts and colours.
        attempts: independent random starts.
        iterations: relaxation steps of one start.
        edge_m: free margin inside the supply region's border.
    """

    kind: Literal["random", "sorted", "cluttered", "hard"]
    clutter_clearance_m: float
    hard_share: float
    distractors: int
    attempts: int
    iterations: int
    edge_m: float


class CameraLooks(Config, frozen=True):
    """How one simulated camera renders.

    Attributes:
        shadows: cast shadows.
        supersample: rendered this many times larger and averaged down (colour only).
        people: also draws the room around the table, for pictures people look at.
        depth_noise_m: standard deviation of depth at 1 m; it grows with the square of the distance, as in stereo and
            structured-light cameras.
        depth_edge_loss: share of the pixels beside a step in depth that have none.
    """

    shadows: bool
    supersample: int
    people: bool
    depth_noise_m: float
    depth_edge_loss: float


class VaryConfig(Config, frozen=True):
    """Largest change that a seed makes, drawn evenly from plus and minus this; 0 changes nothing.

    Attributes:
        light_deg: direction of each light, about two axes.
        light_share: strength of each light, as a share of it.
        colour: of table, plate and floor, added to each of red, green and blue.
        texture: share of the table's brightness that the dark places of a pattern lack (wood grain, speckle or
            checks, as the seed chooses), between half and all of this; 0: the table has no pattern.
    """

    light_deg: float
    light_share: float
    colour: float
    texture: float


class LooksConfig(Config, frozen=True):
    """Colours (red, green, blue in [0, 1]) and rendering.

    Attributes:
        robot_detail: share of the triangles of the robot's visual meshes that are drawn.
        vary: how much the seed changes of it.
    """

    table_rgb: tuple[float, float, float]
    plate_rgb: tuple[float, float, float]
    floor_rgb: tuple[float, float, float]
    sky_rgb: tuple[float, float, float]
    robot_detail: float
    vary: VaryConfig
    top_camera: CameraLooks
    overview_camera: CameraLooks
    gripper_camera: CameraLooks


class RatesConfig(Config, frozen=True):
    """How often the node publishes, per simulated second.

    Attributes:
        robot_hz: /clock and /joint_states.
        tf_hz: /tf.
        truth_hz: /sim/object_states.
        markers_hz: /viz/markers, while anybody listens.
        still_hz: /clock and /joint_states per wall-clock second while time stands still.
    """

    robot_hz: float
    tf_hz: float
    truth_hz: float
    markers_hz: float
    still_hz: float


class SimConfig(Config, frozen=True):
    """config/sim.yaml."""

    engine: EngineConfig
    bricks: BrickConfig
    clutch: ClutchConfig
    arm: ArmConfig
    gripper: GripperDriveConfig
    layout: LayoutConfig
    looks: LooksConfig
    rates: RatesConfig
