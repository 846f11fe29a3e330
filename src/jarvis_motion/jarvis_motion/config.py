"""What config/motion.yaml says."""

from __future__ import annotations

from collections.abc import Iterator

from jarvis_core.config import Config


class RrtConfig(Config, frozen=True):
    """RRT-Connect and shortcutting.

    Attributes:
        step_rad: distance of collision checks along an edge.
        max_nodes: of one search.
        connect_rad: longest edge.
        attempts: searches with different seeds before giving up.
        shortcut_iterations: of the path shortcutter.
    """

    step_rad: float
    max_nodes: int
    connect_rad: float
    attempts: int
    shortcut_iterations: int


class LineConfig(Config, frozen=True):
    """Straight lines of the tool.

    Attributes:
        speed_m_s, turn_rad_s: of the tool at speed 1.
        acceleration_m_s2, turn_acceleration_rad_s2: of the tool, at any speed.
        step_m, turn_step_rad: distance of the poses that joint positions are solved for at first.
        telling_step_m, telling_turn_step_rad: at this distance and below, a pose that isn't reached ends the line.
        finest_step_m, finest_turn_step_rad: smallest distance that is tried.
        max_joint_step_rad: a larger step of a joint between two poses is refused as a jump.
        tolerance_m, tolerance_rad: how far the tool may leave the line at any moment.
    """

    speed_m_s: float
    turn_rad_s: float
    acceleration_m_s2: float
    turn_acceleration_rad_s2: float
    step_m: float
    turn_step_rad: float
    telling_step_m: float
    telling_turn_step_rad: float
    finest_step_m: float
    finest_turn_step_rad: float
    max_joint_step_rad: float
    tolerance_m: float
    tolerance_rad: float

    def __post_init__(self) -> None:
        for name in ("step_m", "turn_step_rad"):
            wide, telling, finest = (getattr(self, part + name) for part in ("", "telling_", "finest_"))
            if not 0.0 < finest <= telling <= wide:
                raise ValueError(
                    f"line: 0 < finest_{name} <= telling_{name} <= {name} must hold, "
                    f"they are {finest:g}, {telling:g} and {wide:g}"
                )

    def steps(self) -> Iterator[tuple[float, float, bool]]:
        """Distances (m, rad) to try one after the other, and whether each is a telling one.

        The first is ``step_m, turn_step_rad``; both are halved down to the finest.
        """
        step_m, step_rad = self.step_m, self.turn_step_rad
        while True:
            yield step_m, step_rad, step_m <= self.telling_step_m and step_rad <= self.telling_turn_step_rad
            if step_m <= self.finest_step_m and step_rad <= self.finest_turn_step_rad:
                return
            step_m = max(step_m / 2, self.finest_step_m)
            step_rad = max(step_rad / 2, self.finest_turn_step_rad)


class MotionConfig(Config, frozen=True):
    """Planning for one arm.

    Attributes:
        backend: name of the motion backend.
        isolate: run the backend in a process of its own, which may crash or hang without harm.
        answer_within_s: a process that takes longer is ended.
        seed: of every random choice; each plan starts from it anew.
        velocity_scale, acceleration_scale, jerk_scale: shares of the published limits used at speed 1.
        padding_m: distance free motions keep from obstacles, unless they start or end closer.
        held_shrink_m: by how much held boxes are smaller on every side.
        check_step_rad: joint step of the final collision check.
        sample_s: time between points of a trajectory.
        ik_candidates: number of joint positions considered for one tool pose.
        limit_margin_rad, limit_penalty_s: a position closer to a joint limit counts as that much longer.
        rebuild_above: changed boxes from which on the collision world is built anew.
    """

    backend: str
    isolate: bool
    answer_within_s: float
    seed: int
    velocity_scale: float
    acceleration_scale: float
    jerk_scale: float
    padding_m: float
    held_shrink_m: float
    check_step_rad: float
    sample_s: float
    ik_candidates: int
    limit_margin_rad: float
    limit_penalty_s: float
    rrt: RrtConfig
    line: LineConfig
    rebuild_above: int


class RmpflowConfig(Config, frozen=True):
    """What config/rmpflow.yaml says: the policy of the backend ``rmpflow`` and how it is rolled out.

    Attributes:
        step_s, steps: of the integration, and how many before a roll-out is given up.
        arrived_rad: every joint this close to the goal ends a roll-out.
        near_m, lift_m: later attempts pass points this much, and this much times the attempt, above start and goal.
        overshoot_m: how far the spheres of a mesh may stick out of it.
        joint_limit_buffer_rad: distance the policy keeps from joint limits.
        rmp_params, canonical_resolve: of the library, by its own names.
    """

    step_s: float
    steps: int
    arrived_rad: float
    near_m: float
    lift_m: float
    overshoot_m: float
    joint_limit_buffer_rad: float
    rmp_params: dict[str, dict[str, float | bool]]
    canonical_resolve: dict[str, float | bool]
