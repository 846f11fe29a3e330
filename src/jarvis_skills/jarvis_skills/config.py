"""Settings of the skills, read from config/skills.yaml."""

from __future__ import annotations

from jarvis_core.config import Config


class SkillsConfig(Config, frozen=True):
    """Distances in metres, speeds as fractions of the joint velocity limits.

    Attributes:
        approach_height_m: height above a grasp or a place from which the tool goes straight down.
        lift_height_m: how far an object is lifted after a grasp, and the hand after a release.
        travel_speed, approach_speed, contact_speed: for free motion, straight approach, and the last
            ``contact_distance_m`` before something is touched.
        seat_gap_m: height above its final place to which an object is lowered freely.
        engage_n_per_stud: the least force that engages a stud; press_n_per_stud: with which an object is pressed on,
            for each stud below it.
        press_limit_n: with which the hand presses on what it holds at the most, however many studs there are: the
            friction of its pads; top_press_limit_n: with closed fingertips from above.
        press_speed: at which the way down to that force is gone.
        guarded_depth_m: how far fingertips press down on a standing object at the most.
        blocked_m: a force limit reached this far above the place means that something is in the way.
        pull_limit_n, pull_way_m: how hard an object is pulled off straight, and over what way; tilt_rad: how far it is
            tilted where that does not take it off.
        press_depth_m: way of the press of a held object at the most, and on a robot that tells no wrench always;
            where it exceeds the gap it presses the studs together.
        press_tolerance_rad: how far from that push's goal the joints may be stopped by what they press on.
        finger_slack_m: opening beyond the object's width on each side, before gripping and after releasing.
        width_tolerance_m: a grasp counts if the pads stop within this of the object's width; fingers count as
            opened or closed within this.
        lost_m: an object seen this far from where the hand holds it has been lost.
        max_tilt_rad: how far from straight down the hand may lean to put down what slipped in it.
        place_position_m, place_angle_rad: a placement counts if the object ends this near to its goal.
        overlap_m: a place pose may overlap perceived objects by this much at the most.
        support_gap_m: something must lie at most this far below a place pose.
        settle_s: time to come to rest before looking.
        push_clearance_m: distance of the closed fingers from the object before a push.
        push_height_m: height of the fingertips above what the object lies on while pushing; at the most half
            the object's height.
        spots: free spots of the table that are tried to put something down; spot_step_m: how far these are apart.
        flip_leans_rad: how far the hand leans to take what it turns by a quarter; it is put down leaning the rest.
        flip_gap_m: the leaning fingertips stay this far above the table; flip_contact_m2: a pad must lie on at least
            so much of the object.
        max_plans: grasp candidates that are planned for, best first, before giving up.
    """

    approach_height_m: float
    lift_height_m: float
    travel_speed: float
    approach_speed: float
    contact_speed: float
    contact_distance_m: float
    seat_gap_m: float
    engage_n_per_stud: float
    press_n_per_stud: float
    press_limit_n: float
    top_press_limit_n: float
    press_speed: float
    guarded_depth_m: float
    blocked_m: float
    pull_limit_n: float
    pull_way_m: float
    tilt_rad: float
    press_depth_m: float
    press_tolerance_rad: float
    finger_slack_m: float
    width_tolerance_m: float
    lost_m: float
    max_tilt_rad: float
    place_position_m: float
    place_angle_rad: float
    overlap_m: float
    support_gap_m: float
    settle_s: float
    push_clearance_m: float
    push_height_m: float
    spots: int
    spot_step_m: float
    flip_leans_rad: tuple[float, ...]
    flip_gap_m: float
    flip_contact_m2: float
    max_plans: int
