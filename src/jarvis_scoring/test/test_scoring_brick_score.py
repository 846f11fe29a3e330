"""Scores worked out by hand."""

from __future__ import annotations

import math
from pathlib import Path

import msgspec
import pytest
from episode_factory import (
    BRICKS,
    CONNECTIONS,
    PLATE,
    SCENE,
    TABLE,
    make_record,
    make_targets,
    start_pose,
    target_pose,
)
from jarvis_core.cell import Region
from jarvis_core.config import load_config, parse_config
from jarvis_core.errors import BadInputError, ConfigError
from jarvis_core.files import encode
from jarvis_core.objects import GROUND, ObjectState, WorldState
from jarvis_core.pose import Pose
from jarvis_scoring.brick_score import BrickScoreProtocol, score
from jarvis_scoring.config import ScoreConfig
from jarvis_scoring.inputs import ScoreInput, read_record
from jarvis_scoring.protocol import BrickScore, EpisodeScore

CONFIG_FILE = Path(__file__).parents[3] / "config" / "score.yaml"
CONFIG = load_config(CONFIG_FILE, ScoreConfig)
#: exp(-1/2): the term of an error of one sigma (a stud is 8 mm, sigma_position 8 mm).
ONE_SIGMA = math.exp(-0.5)


def brick(result: EpisodeScore, brick_id: str) -> BrickScore:
    return next(b for b in result.bricks if b.id == brick_id)


def shifted(brick_id: str, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Pose:
    return target_pose(brick_id).translated((x, y, z))


def test_perfect_build_scores_exactly_100() -> None:
    result = score(make_record(), CONFIG)
    assert result.score == 100.0
    assert (result.s_pose, result.s_comp, result.s_valid, result.s_exact) == (1.0, 1.0, 1.0, 1.0)
    assert (result.calls, result.failed_calls) == (5, 1)
    assert result.protocol == "brick-score-1"
    assert "not comparable" in result.note


def test_nothing_moved_scores_0() -> None:
    start = {i: start_pose(i) for i in BRICKS}
    result = score(make_record(start, connections=(("s1", GROUND),)), CONFIG)
    assert (result.score, result.s_valid, result.s_exact) == (0.0, 0.0, 0.0)


def test_one_stud_off() -> None:
    # b4 (on b2) is 8 mm off along x, everything else right.
    # e_pos = e_world = 8 mm = 1 sigma; z and theta perfect:
    # pose(b4) = 0.40 * 0.60653 + 0.25 + 0.25 + 0.10 * 0.60653 = 0.803265
    # S_pose = (3 + 0.803265) / 4 = 0.950816, S_comp = 1, Q = 0.975408; S_exact = 3 / 4.
    result = score(make_record({"b4": shifted("b4", x=0.008)}), CONFIG)
    b4 = brick(result, "b4")
    assert b4.pose_score == pytest.approx(0.803265, abs=1e-6)
    assert b4.offset_m == pytest.approx((0.008, 0.0, 0.0), abs=1e-12)
    assert (b4.complete, b4.exact) == (True, False)
    assert result.score == pytest.approx(97.5408, abs=1e-4)
    assert result.s_exact == 0.75


def test_one_layer_off() -> None:
    # b4 is one plate (3.2 mm) too high. e_pos = 3.2 mm: s_pos = s_anchor = exp(-0.5 * (3.2 / 8)^2) = 0.923116
    # s_z = exp(-0.5 * (3.2 / 4)^2) = exp(-0.32) = 0.726149
    # pose = 0.5 * 0.923116 + 0.25 * 0.726149 + 0.25 = 0.893095
    result = score(make_record({"b4": shifted("b4", z=0.0032)}), CONFIG)
    assert brick(result, "b4").e_z_m == pytest.approx(0.0032)
    assert brick(result, "b4").pose_score == pytest.approx(0.893095, abs=1e-6)


def test_turned_brick() -> None:
    # b4 turned by 15 deg = 1 sigma about its middle: pose = 0.75 + 0.25 * 0.60653 = 0.901633
    turned = target_pose("b4") @ Pose.from_yaw((0, 0, 0), math.radians(15.0))
    b4 = brick(score(make_record({"b4": turned}), CONFIG), "b4")
    assert b4.e_theta_rad == pytest.approx(math.radians(15.0))
    assert b4.pose_score == pytest.approx(0.75 + 0.25 * ONE_SIGMA)


def test_brick_on_a_misplaced_support_is_judged_by_the_support() -> None:
    # b1 stands one stud off along x and b3 sits on it as it should, so b3 is 8 mm off too.
    # b1: on the ground, e_pos = 8 mm: 0.803265 (as above).
    # b3: e_pos = 0 on its support, 8 mm in world: 0.40 + 0.25 + 0.25 + 0.10 * 0.60653 = 0.960653
    result = score(make_record({"b1": shifted("b1", x=0.008), "b3": shifted("b3", x=0.008)}), CONFIG)
    assert brick(result, "b1").pose_score == pytest.approx(0.803265, abs=1e-6)
    assert brick(result, "b3").e_pos_m == pytest.approx(0.0, abs=1e-12)
    assert brick(result, "b3").e_pos_world_m == pytest.approx(0.008)
    assert brick(result, "b3").pose_score == pytest.approx(0.960653, abs=1e-6)
    # The world variant: 0.50 * 0.60653 + 0.5 = 0.803265 for both.
    in_world = score(
        make_record({"b1": shifted("b1", x=0.008), "b3": shifted("b3", x=0.008)}),
        CONFIG,
        protocol="brick-score-1-world",
    )
    assert brick(in_world, "b3").pose_score == pytest.approx(0.803265, abs=1e-6)


def test_brick_in_its_place_over_a_misplaced_support() -> None:
    # b1 is one stud off, b3 stands at its place in world: e_pos = 8 mm relative to b1, anchor perfect:
    # 0.40 * 0.60653 + 0.25 + 0.25 + 0.10 = 0.842612
    result = score(make_record({"b1": shifted("b1", x=0.008)}), CONFIG)
    assert brick(result, "b3").pose_score == pytest.approx(0.842612, abs=1e-6)


def test_displaced_scene_brick_is_a_support_too() -> None:
    # s1 was pushed 4 mm along y and b2 sits on it as it should.
    pushed = SCENE.pose.translated((0, 0.004, 0))
    result = score(make_record({"b2": shifted("b2", y=0.004)}, scene_pose=pushed), CONFIG)
    assert brick(result, "b2").e_pos_m == pytest.approx(0.0, abs=1e-12)
    assert brick(result, "b2").e_pos_world_m == pytest.approx(0.004)


def test_turned_support_carries_the_place_around_with_it() -> None:
    # b1 is turned by 90 deg about its middle. b3 should sit at (-8, 0) mm of b1's frame, so at (0, -8) mm now.
    turned = target_pose("b1") @ Pose.from_yaw((0, 0, 0), math.pi / 2)
    expected = turned.position + (0.0, -0.008, 0.0096)
    result = score(make_record({"b1": turned, "b3": Pose(expected)}), CONFIG)
    # A quarter turn is as far from either way round of a 2x4; so the place may also be at (0, +8).
    other = score(make_record({"b1": turned, "b3": Pose(turned.position + (0, 0.008, 0.0096))}), CONFIG)
    errors = sorted((brick(result, "b3").e_pos_m or 0.0, brick(other, "b3").e_pos_m or 0.0))
    assert errors == pytest.approx([0.0, 0.016], abs=1e-9)


def test_half_turn_of_a_symmetric_support_changes_nothing() -> None:
    half = target_pose("b1") @ Pose.from_yaw((0, 0, 0), math.pi)
    assert score(make_record({"b1": half}), CONFIG).score == pytest.approx(100.0, abs=1e-9)


def test_symmetry_turns_about_its_centre() -> None:
    # b4's frame now lies at a corner of its body, 12 mm and 4 mm from the middle: after half a turn about the
    # middle the origin is 24 mm and 8 mm away, and the brick still looks the same.
    centre = (0.012, 0.004, -0.0016)
    targets = tuple(
        msgspec.structs.replace(t, symmetry_centre=centre) if t.object.id == "b4" else t
        for t in make_targets()
    )
    about = Pose(centre) @ Pose((0, 0, 0), (0, 0, 1, 0)) @ Pose(tuple(-c for c in centre))
    record = make_record({"b4": target_pose("b4") @ about}, targets=targets)
    assert record.final.objects[-1].pose.distance_to(target_pose("b4")) == pytest.approx(0.02530, abs=1e-5)
    assert score(record, CONFIG).score == pytest.approx(100.0, abs=1e-9)


def test_missing_brick() -> None:
    # b3 vanished: it scores 0; b4 rests on b2 and stays perfect.  S_pose = S_comp = 3/4.
    result = score(
        make_record({"b3": None}, connections=(("s1", GROUND), ("b1", GROUND), ("b2", "s1"), ("b4", "b2"))),
        CONFIG,
    )
    assert result.score == pytest.approx(75.0)
    assert brick(result, "b3").missing
    assert brick(result, "b3").e_pos_m is None
    # Exact: only b2. b1 and b4 lack their connection to b3.
    assert [b.id for b in result.bricks if b.exact] == ["b2"]
    assert brick(result, "b4").missing_connections == ("b3",)


def test_brick_on_a_missing_support_keeps_only_the_anchor() -> None:
    # b2 and b3 are of one kind, so b1 (unique) is the support that vanishes: b3 = 0.10 * 1.
    result = score(make_record({"b1": None}), CONFIG)
    b3 = brick(result, "b3")
    assert b3.e_pos_m is None
    assert b3.pose_score == pytest.approx(0.10)
    assert b3.pose_score_ungated == pytest.approx(0.60)


def test_held_brick_is_not_complete() -> None:
    # Holding the last brick at its place: its pose counts, completion does not. 100 * (0.5 + 0.5 * 3/4) = 87.5
    without = tuple(pair for pair in CONNECTIONS if "b4" not in pair)
    result = score(make_record(held="b4", connections=without), CONFIG)
    assert result.score == pytest.approx(87.5)
    assert result.s_valid == 0.75
    # b2 and b3 lack b4 above them.
    assert result.s_exact == 0.25


def test_displacement_of_exactly_the_limit_is_not_moved() -> None:
    target = start_pose("b1").translated((0.005 - 1e-9, 0, 0))
    beyond = start_pose("b1").translated((0.005 + 1e-9, 0, 0))
    assert not brick(score(make_record({"b1": target}), CONFIG), "b1").moved
    assert brick(score(make_record({"b1": beyond}), CONFIG), "b1").moved


def test_gate_takes_z_and_theta_away_beyond_50_mm() -> None:
    inside, outside = (
        brick(score(make_record({"b1": shifted("b1", x=x)}), CONFIG), "b1") for x in (0.0499, 0.0501)
    )
    assert inside.pose_score == pytest.approx(0.5, abs=1e-8)
    assert outside.pose_score == pytest.approx(0.0, abs=1e-8)
    assert outside.pose_score_ungated == pytest.approx(0.5, abs=1e-8)
    assert (inside.complete, outside.complete) == (True, False)


@pytest.mark.parametrize(
    ("time_s", "penalty"),
    # budget 240 s: no loss until it is used up, then 0.2 * (t - B) / B, 0.2 from 2 B on.
    [(0.0, 0.0), (240.0, 0.0), (300.0, 0.05), (360.0, 0.1), (480.0, 0.2), (720.0, 0.2)],
)
def test_time_beyond_the_budget_costs(time_s: float, penalty: float) -> None:
    result = score(make_record(time_s=time_s), CONFIG)
    assert result.time_penalty == pytest.approx(penalty)
    assert result.score == pytest.approx(100.0 * (1.0 - penalty))


def test_footprint_must_lie_on_the_table() -> None:
    # b1 (32 x 16 mm) at the table's edge x = 1.00: it reaches 16 mm along x, 8 mm after a quarter turn.
    def valid(x: float, yaw: float) -> bool:
        return brick(score(make_record({"b1": Pose.from_yaw((x, 0.0, 0.0096), yaw)}), CONFIG), "b1").inside

    assert valid(0.9839, 0.0)
    assert not valid(0.9841, 0.0)
    assert valid(0.9919, math.pi / 2)
    assert not valid(0.9921, math.pi / 2)


def test_swapped_identical_bricks_score_the_same() -> None:
    swap = {"b2": "b3", "b3": "b2"}
    swapped = tuple((swap.get(a, a), swap.get(b, b)) for a, b in CONNECTIONS)
    result = score(
        make_record({"b2": target_pose("b3"), "b3": target_pose("b2")}, connections=swapped), CONFIG
    )
    assert (result.score, result.s_exact) == (100.0, 1.0)
    assert brick(result, "b2").matched_id == "b3"
    # b4 should sit on whatever stands at b2's place.
    assert brick(result, "b4").support_id == "b3"


def test_swapped_bricks_of_different_kinds_are_wrong() -> None:
    result = score(make_record({"b1": target_pose("b4"), "b4": target_pose("b1")}), CONFIG)
    assert result.s_exact <= 0.5
    assert brick(result, "b1").matched_id == "b1"


def test_right_pose_with_a_wrong_connection_is_not_exact() -> None:
    extra = score(make_record(connections=(*CONNECTIONS, ("b2", "b1"))), CONFIG)
    assert [b.id for b in extra.bricks if b.exact] == ["b3", "b4"]
    assert brick(extra, "b2").extra_connections == ("b1",)
    assert extra.score == 100.0
    loose = score(make_record(connections=CONNECTIONS[:-2]), CONFIG)
    assert brick(loose, "b4").missing_connections == ("b2", "b3")
    assert not brick(loose, "b4").exact


def test_exact_tolerances() -> None:
    def exact(pose: Pose) -> bool:
        return brick(score(make_record({"b4": pose}), CONFIG), "b4").exact

    assert exact(shifted("b4", x=0.00099))
    assert not exact(shifted("b4", x=0.00101))
    assert exact(target_pose("b4") @ Pose.from_yaw((0, 0, 0), math.radians(2.99)))
    assert not exact(target_pose("b4") @ Pose.from_yaw((0, 0, 0), math.radians(3.01)))


def test_the_state_at_hand_can_be_scored_without_a_record() -> None:
    record = make_record()
    given = ScoreInput.from_record(record)
    assert score(given, CONFIG) == score(record, CONFIG)


def test_the_protocol_object_scores_like_the_function() -> None:
    protocol = BrickScoreProtocol(CONFIG, "brick-score-1-world")
    assert protocol.name == "brick-score-1-world"
    assert protocol.score(make_record()) == score(make_record(), CONFIG, protocol="brick-score-1-world")
    with pytest.raises(ConfigError, match="no protocol named"):
        BrickScoreProtocol(CONFIG, "official")


def test_other_constants_have_another_fingerprint() -> None:
    other = msgspec.structs.replace(CONFIG, sigma_z_m=0.005)
    assert score(make_record(), CONFIG).constants != score(make_record(), other).constants


# --- cheap tricks: what each earns, with the build of this file ------------------------------------------------


def nudged(brick_id: str) -> Pose:
    return start_pose(brick_id).translated((0.010, 0.0, 0.0))


def mirrored(brick_id: str) -> Pose:
    """The target, mirrored at the plate's plane y = 8 mm (between s1 and b1), one stud further out."""
    x, y, z = BRICKS[brick_id][2].position
    pose: Pose = PLATE @ Pose((-x + 0.032, 0.016 - y, z), BRICKS[brick_id][2].quaternion)
    return pose


TRICKS = {
    # every loose brick pushed 1 cm
    "nudge": ({i: nudged(i) for i in BRICKS}, "", 0.0, 2.0),
    # the whole build one stud off: Q = 0.5 * S_pose + 0.5; b1 and b2 (on s1) 0.803, b3 and b4 0.961 -> 0.882
    "one stud off": ({i: shifted(i, x=0.008) for i in BRICKS}, "", 90.0, 95.0),
    # one brick (9.6 mm) too high: s_z = exp(-2.88) = 0.056, s_pos = exp(-0.72) = 0.487 where the support is not
    # moved along, else 1 -> S_pose = mean of 0.507, 0.507, 0.763, 0.763
    "one layer off": ({i: shifted(i, z=0.0096) for i in BRICKS}, "", 80.0, 83.0),
    "mirrored": ({i: mirrored(i) for i in BRICKS}, "", 50.0, 95.0),
    "holding the last brick": ({}, "b4", 87.5, 87.5),
    # the first brick thrown into the middle of the build's footprint, the rest left lying
    "one brick near": (
        {i: start_pose(i) for i in BRICKS} | {"b1": shifted("b1", x=0.04)},
        "",
        0.0,
        20.0,
    ),
}


@pytest.mark.parametrize("trick", TRICKS)
def test_cheap_tricks(trick: str) -> None:
    final, held, low, high = TRICKS[trick]
    result = score(make_record(final, held=held, connections=(("s1", GROUND),)), CONFIG)
    assert low <= result.score <= high
    assert result.s_exact == 0.0


def test_nudging_bricks_that_lie_beside_their_support_earns_nothing() -> None:
    # The smallest gap the supply allows: without the gate on both errors, b3 would earn its angle for lying 35 mm
    # from the place it would have on b1, which lies in the supply as well.
    beside = {
        "b1": Pose((0.410, -0.10, 0.0096)),
        "b3": Pose((0.410, -0.065, 0.0096)),
        "b2": nudged("b2"),
        "b4": nudged("b4"),
    }
    result = score(make_record(beside, connections=(("s1", GROUND),)), CONFIG)
    assert (brick(result, "b3").e_pos_m or 0.0) < CONFIG.gate_m
    assert brick(result, "b3").pose_score_ungated > 0.2
    assert result.score < 2.0


# --- bad input -------------------------------------------------------------------------------------------------


def test_bad_records_are_refused_with_one_line() -> None:
    good = make_record()
    stranger = ObjectState("b9", Pose())
    bad = {
        "layout": make_record(schema=99),
        "unknown objects: b9": make_record(
            final=None, initial=WorldState(0.0, (*good.initial.objects, stranger), ())
        ),
        "holds 'b9' twice": make_record(final=None, objects=(*good.objects, *[_renamed(good)] * 2)),
        "time_s": make_record(time_s=math.nan),
        "budget_s": make_record(budget_s=0.0),
        "no required brick": make_record(targets=()),
        "final.connections": make_record(connections=(("b1", "b77"),)),
        "unknown objects: s9": make_record(
            targets=tuple(msgspec.structs.replace(t, support="s9") for t in make_targets())
        ),
        "its own support": make_record(
            targets=tuple(msgspec.structs.replace(t, support=t.object.id) for t in make_targets())
        ),
        "no rotation": make_record(
            targets=tuple(
                msgspec.structs.replace(t, symmetries=((0.0, 0.0, 0.0, 0.0),)) for t in make_targets()
            )
        ),
        "config.cell.table is absent": make_record(config={}),
        "config.cell.table: ": make_record(config={"cell": {"table": {"x": [0, 1]}}}),
    }
    for words, record in bad.items():
        with pytest.raises(BadInputError, match=words) as caught:
            score(record, CONFIG)
        assert "\n" not in caught.value.line()


def _renamed(record: object) -> object:
    return msgspec.structs.replace(SCENE, id="b9")


def test_the_table_may_be_given() -> None:
    record = make_record(config={})
    assert score(record, CONFIG, table=TABLE).s_valid == 1.0
    assert score(record, CONFIG, table=Region(x=(0, 0.1), y=(0, 0.1))).s_valid == 0.0


def test_records_survive_a_file_and_bad_files_are_refused(tmp_path: Path) -> None:
    record = make_record({"b4": shifted("b4", x=0.0123456789)})
    path = tmp_path / "record.json"
    path.write_bytes(encode(record))
    assert read_record(path) == record
    assert score(read_record(path), CONFIG) == score(record, CONFIG)

    text = path.read_text()
    position = str(target_pose("b1").position[0])
    for broken in (
        text[:500],
        text.replace(position, "null"),
        text.replace('"schema": 1', '"schema": 2'),
        "[]",
    ):
        assert broken != text
        path.write_text(broken)
        with pytest.raises(BadInputError) as caught:
            read_record(path)
        assert str(path) in caught.value.line()
        assert "\n" not in caught.value.line()
    with pytest.raises(BadInputError, match="no such file"):
        read_record(tmp_path / "absent.json")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("protocol: brick-score-1 ", "protocol: official "),
        ("anchor: 0.10", "anchor: 0.20"),
        ("sigma_z_m: 0.004", "sigma_z_m: 0"),
        ("weight_pose: 0.5", "weight_pose: 0.6"),
        ("max_time_penalty: 0.2", "max_time_penalty: 1.2"),
        ("gate_m: 0.050", "gate_m: 0.050\ngates: 1"),
        ("position: support", "position: elsewhere"),
        ("exact_m: 0.001", "exact_m: -0.001"),
    ],
)
def test_wrong_constants_are_refused(old: str, new: str) -> None:
    text = CONFIG_FILE.read_text()
    assert old in text
    with pytest.raises(ConfigError):
        parse_config(text.replace(old, new), ScoreConfig, where="score.yaml")
