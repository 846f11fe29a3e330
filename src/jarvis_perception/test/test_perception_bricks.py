from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenScene, SideUp
from jarvis_sim.config import CameraLooks
from jarvis_sim.depth_noise import noisy
from jarvis_sim.robot import SimCamera
from jarvis_sim.world import SimWorld
from perception_bench import LOOSE, brick_id, errors, height, make_world, nearest, part_list, perception
from scipy.spatial.transform import Rotation


def loose(world: SimWorld) -> list:
    return [o for o in world.objects() if o.id in {brick_id(k) for k in range(len(LOOSE))}]


def test_every_brick_is_found_once_with_part_colour_and_pose(seen: SeenScene, seen_world: SimWorld) -> None:
    truth = loose(seen_world)
    assert len(seen.bricks) == len(truth) == len(LOOSE)
    assert len({b.id for b in seen.bricks}) == len(LOOSE)
    for true in truth:
        brick = nearest(seen, true)
        assert brick.part == true.kind
        assert brick.colour.code == true.colour
        assert brick.side_up is SideUp.STUDS
        away, angle = errors(brick, true)
        assert away < 0.0008, true
        assert np.degrees(angle) < 3.0, true


def test_covariance_is_symmetric_positive_and_holds_the_errors(seen: SeenScene, seen_world: SimWorld) -> None:
    for true in loose(seen_world):
        brick = nearest(seen, true)
        covariance = np.array(brick.covariance).reshape(6, 6)
        assert np.allclose(covariance, covariance.T)
        assert np.linalg.eigvalsh(covariance).min() > 0.0
        away, angle = errors(brick, true)
        assert away < 4.0 * np.sqrt(covariance[0, 0] + covariance[1, 1])
        assert angle < 4.0 * np.sqrt(covariance[5, 5]) + 1e-3


def test_sizes_and_studs_are_those_of_the_part(seen: SeenScene, seen_world: SimWorld) -> None:
    brick = nearest(seen, next(o for o in loose(seen_world) if o.kind == "3001"))
    assert brick.size_studs == (4.0, 2.0)
    assert brick.height_plates == 3.0
    assert brick.studs == 8
    assert brick.candidates[0].score > 0.9


def test_without_a_list_the_whole_catalogue_is_asked() -> None:
    bricks = LOOSE[1:3]
    world = make_world(bricks, ())
    seen = perception().perceive(SimCamera(world).capture())
    world.close()
    assert {brick.part for brick in seen.bricks} == {part for part, *_ in bricks}


def test_what_no_listed_part_explains_has_size_colour_and_place(
    frame: CameraFrame, seen_world: SimWorld
) -> None:
    seen = perception().perceive(frame, parts=part_list(LOOSE[:1]))
    unknown = [brick for brick in seen.bricks if not brick.candidates]
    assert len(unknown) >= len(LOOSE) - 2
    tree = nearest(seen, next(o for o in loose(seen_world) if o.kind == "3020"))
    assert tree in unknown
    assert tree.size_studs == pytest.approx((4.0, 2.0), abs=0.2)
    assert tree.colour.code == 2
    assert any(tree.id in warning for warning in seen.warnings)


def test_depth_noise_and_lost_edges_cost_little(frame: CameraFrame, seen_world: SimWorld) -> None:
    looks = CameraLooks(shadows=False, supersample=2, people=False, depth_noise_m=0.0007, depth_edge_loss=0.3)
    rough = replace(frame, depth_m=noisy(frame.depth_m, looks, np.random.default_rng(3)))
    seen = perception().perceive(rough, parts=part_list())
    found = [nearest(seen, true) for true in loose(seen_world)]
    good = [
        b.part == t.kind and errors(b, t)[0] < 0.0015 for b, t in zip(found, loose(seen_world), strict=True)
    ]
    assert sum(good) >= len(LOOSE) - 2


@pytest.mark.parametrize("gain", [(0.5, 0.5, 0.5), (1.0, 0.85, 0.7)])
def test_colours_stay_under_other_light(
    frame: CameraFrame, seen_world: SimWorld, gain: tuple[float, float, float]
) -> None:
    lit = replace(frame, rgb=np.clip(frame.rgb * np.array(gain), 0, 255).astype(np.uint8))
    seen = perception().perceive(lit, parts=part_list())
    assert all(nearest(seen, true).colour.code == true.colour for true in loose(seen_world))


@pytest.mark.parametrize(
    ("shift_m", "turn_deg", "focal"),
    [((0.005, -0.003, 0.004), 0.0, 1.0), ((0.0, 0.0, 0.0), 0.5, 1.0), ((0.0, 0.0, 0.0), 0.0, 1.01)],
)
def test_the_plate_corrects_a_camera_that_is_a_little_off(
    frame: CameraFrame,
    seen_world: SimWorld,
    shift_m: tuple[float, float, float],
    turn_deg: float,
    focal: float,
) -> None:
    turn = Rotation.from_euler("xyz", [turn_deg] * 3, degrees=True).as_matrix()
    off = Pose.from_rotation(frame.pose.position + np.array(shift_m), frame.pose.rotation @ turn)
    k = frame.intrinsics
    wrong = replace(frame, pose=off, intrinsics=msgspec.structs.replace(k, fx=k.fx * focal, fy=k.fy * focal))
    seen = perception().perceive(wrong, parts=part_list())
    assert seen.warnings
    for true in loose(seen_world):
        brick = nearest(seen, true)
        assert brick.part == true.kind
        assert errors(brick, true)[0] < 0.0015


def test_a_brick_on_its_head_and_one_on_its_side_are_told() -> None:
    bricks = (
        ("3001", 4, 0.45, -0.10, 0.0),
        ("3003", 1, 0.50, -0.20, 0.0),
        ("3040b", 2, 0.55, -0.10, 0.0),
        ("3032", 0, 0.58, -0.20, 0.0),
    )
    world = make_world(bricks, ())
    world.move("b00", Pose((0.45, -0.10, 0.0), (1.0, 0.0, 0.0, 0.0)))
    world.move("b03", Pose((0.58, -0.20, 0.0), (1.0, 0.0, 0.0, 0.0)))
    world.move("b01", Pose((0.50, -0.20, 0.008), (float(np.sqrt(0.5)), 0.0, 0.0, float(np.sqrt(0.5)))))
    seen = perception().perceive(SimCamera(world).capture(), parts=part_list(bricks))
    world.close()
    found = {brick.part: brick for brick in seen.bricks}
    assert found["3001"].side_up is SideUp.UNDERSIDE
    assert found["3032"].side_up is SideUp.UNDERSIDE
    assert found["3003"].side_up not in (SideUp.STUDS, SideUp.UNDERSIDE)
    assert found["3040b"].side_up is SideUp.STUDS
    assert found["3003"].pose.position[2] == pytest.approx(0.008, abs=0.001)


def test_a_leaning_brick_is_seen_to_lean() -> None:
    bricks = (("3001", 4, 0.45, -0.10, 0.0), ("3020", 1, 0.55, -0.20, 0.0))
    world = make_world(bricks, ())
    lean = Rotation.from_euler("y", -8, degrees=True).as_quat()
    world.move("b00", Pose((0.45, -0.10, height("3001") + 0.0022), lean))
    seen = perception().perceive(SimCamera(world).capture(), parts=part_list(bricks))
    world.close()
    brick = next(b for b in seen.bricks if b.colour.code == 4)
    assert "leans" in brick.reason
