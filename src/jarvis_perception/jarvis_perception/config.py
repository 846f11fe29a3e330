"""What config/perception.yaml holds."""

from __future__ import annotations

import msgspec
from jarvis_core.config import Config


class ReferenceConfig(Config, frozen=True):
    """Colours (0 to 1) of tabletop and build plate under white light of strength 1: what the light is told by."""

    table_rgb: tuple[float, float, float]
    plate_rgb: tuple[float, float, float]


class InputConfig(Config, frozen=True):
    """When a picture is refused.

    Attributes:
        max_age_s: a picture older than this by the cell's clock is stale.
        min_valid_share: of pixels with a depth.
        dark_level: the brightest hundredth of the pixels has to reach this (0 to 255).
        pose_tolerance_m, pose_tolerance_deg: the frame's camera pose against the cell's calibration.
        focal_tolerance: share by which the frame's focal lengths may differ from the calibration's.
        table_tolerance_m, table_tilt_deg: the tabletop in the depth picture against the calibration.
        min_table_px: of visible tabletop.
    """

    max_age_s: float
    min_valid_share: float
    dark_level: int
    pose_tolerance_m: float
    pose_tolerance_deg: float
    focal_tolerance: float
    table_tolerance_m: float
    table_tilt_deg: float
    min_table_px: int


class SegmentConfig(Config, frozen=True):
    """What is a thing on the table.

    Attributes:
        height_m: above the table; with depth noise at least ``noise_sigmas`` of it.
        min_area_px: smaller specks are left out, and counted in a warning.
        window_px: border around a thing that its fit looks at.
        filter_noise_m: depth noisier than this is smoothed, keeping steps.
        robot_height_m: whatever reaches higher, with all that hangs together with it, is the robot.
        robot_margin_m: around the robot's links.
        plate_margin_m: things that begin farther than this outside the plate are loose.
    """

    height_m: float
    noise_sigmas: float
    min_area_px: int
    window_px: int
    filter_noise_m: float
    robot_height_m: float
    robot_margin_m: float
    plate_margin_m: float


class TemplateConfig(Config, frozen=True):
    """Height fields of parts: edge of a cell, empty border."""

    cell_m: float
    margin_m: float


class FitConfig(Config, frozen=True):
    """How parts are laid over what is seen.

    Attributes:
        size_tolerance_m, height_tolerance_m: a part is tried if its footprint and height are this near.
        ramps_m: widths of the soft edge, one for each round of the fit, coarse to fine.
        refine_ramps_m: the same for the rounds that the best part's place is refined by.
        capture_m: a fit that moves farther than this has lost its brick.
        cap_m: height differences count up to this.
        good_m, accept_m: mean capped difference below which a part explains a thing at once, or at all.
        score_m: difference that makes a candidate less likely by a factor e.
        turn_score_m: the same for directions of one part.
        noise_px: standard deviation of an edge between two pixels, for the covariance.
        floor_m, floor_deg: calibration's share of the standard deviations.
        rest_m: a thing whose underside is this near to the table lies on it.
        tilt_deg: a lean below this is noise.
        more_m: mean difference that one more thing has to explain.
        good_per_noise, more_per_noise: what the depth's noise (its standard deviation) adds to both.
    """

    size_tolerance_m: float
    height_tolerance_m: float
    ramps_m: tuple[float, ...]
    refine_ramps_m: tuple[float, ...]
    capture_m: float
    cap_m: float
    good_m: float
    accept_m: float
    score_m: float
    turn_score_m: float
    noise_px: float
    floor_m: float
    floor_deg: float
    rest_m: float
    tilt_deg: float
    more_m: float
    good_per_noise: float
    more_per_noise: float


class ColourConfig(Config, frozen=True):
    """Colours: standard deviation in CIELAB, ring of table around a brick that tells the light, fewest pixels of it."""

    sigma: float
    ring_px: int
    min_px: int


class StructureConfig(Config, frozen=True):
    """Cells of the plate: least share of a cell's pixels to be seen; a stud's height and its share of the cell."""

    min_share: float
    stud_m: float
    stud_share: float


class TrackConfig(Config, frozen=True):
    """Who is who from picture to picture.

    Attributes:
        match_m, match_deg: a brick of the same part and colour this near is the same one.
        moved_m, moved_deg: beyond this it moved.
        keep_s: how long a hidden brick is remembered.
        place_m: a brick let go over the structure is looked for this near to the hand.
    """

    match_m: float
    match_deg: float
    moved_m: float
    moved_deg: float
    keep_s: float
    place_m: float


class GraspConfig(Config, frozen=True):
    """Grasps: free space around the fingers, step along a face, least face under a pad, most grasps returned."""

    clearance_m: float
    step_m: float
    min_face_m: float
    most: int


class PerceptionConfig(Config, frozen=True):
    """All of it."""

    reference: ReferenceConfig
    input: InputConfig
    segment: SegmentConfig
    template: TemplateConfig
    fit: FitConfig
    colour: ColourConfig
    structure: StructureConfig
    track: TrackConfig
    grasp: GraspConfig


def under_noise(config: PerceptionConfig, noise_m: float) -> PerceptionConfig:
    """What a fit has to reach where depth has noise: else bricks would be cut up to explain it."""
    fit = config.fit
    good, more = fit.good_m + fit.good_per_noise * noise_m, fit.more_m + fit.more_per_noise * noise_m
    return msgspec.structs.replace(
        config,
        fit=msgspec.structs.replace(
            fit, good_m=good, accept_m=max(fit.accept_m, good), more_m=more, score_m=fit.score_m + more / 2
        ),
    )
