from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from jarvis_core.cell import CellConfig
from jarvis_core.errors import JarvisError, MissingCapabilityError
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import FloatArray, Pose
from jarvis_sim.config import SimConfig, VaryConfig
from jarvis_sim.robot import SimCamera
from jarvis_sim.world import SimWorld
from jarvis_tasks.task import PlacedBrick

from jarvis_sim import gl, textures

Place = Callable[..., PlacedBrick]
MakeWorld = Callable[..., SimWorld]


@pytest.fixture(scope="module")
def world(make_world: MakeWorld, place: Place) -> Iterator[SimWorld]:
    try:
        gl.probe_gl()
    except MissingCapabilityError as error:
        pytest.skip(error.line())
    world = make_world([place("a", "3001")], [place("s", "3001", 4, -3)])
    yield world
    world.close()


def project(frame: CameraFrame, point: FloatArray) -> tuple[FloatArray, float]:
    """Pixel (u, v) and depth of a point in ``world``."""
    x, y, z = frame.pose.inverse() @ point
    u, v, w = frame.intrinsics.matrix() @ np.array([x, y, z])
    return np.array([u / w, v / w]), z


def reddish(frame: CameraFrame) -> np.ndarray:
    red, green, blue = (frame.rgb[..., i].astype(int) for i in range(3))
    return (red > 90) & (red > 2 * green) & (red > 2 * blue)


def test_brick_corners_are_where_the_calibration_says(world: SimWorld) -> None:
    frame = SimCamera(world).capture()
    mask = reddish(frame)
    for brick in ("a", "s"):
        pose = next(o.pose for o in world.state().objects if o.id == brick)
        corners = [pose @ np.array([sx * 0.016, sy * 0.008, 0.0]) for sx in (-1, 1) for sy in (-1, 1)]
        pixels = np.array([project(frame, corner)[0] for corner in corners])
        middle = pixels.mean(axis=0)
        for pixel in pixels:
            outward = (pixel - middle) / np.linalg.norm(pixel - middle)
            inside, outside = (
                np.round(pixel - 1.5 * outward).astype(int),
                np.round(pixel + 3.0 * outward).astype(int),
            )
            assert mask[inside[1], inside[0]], f"{brick}: no brick at {inside}"
            assert not mask[outside[1], outside[0]], f"{brick}: a brick at {outside}"


def test_depth_is_right_on_table_plate_and_brick(world: SimWorld, cell: CellConfig) -> None:
    frame = SimCamera(world).capture()
    loose = next(o.pose for o in world.state().objects if o.id == "a")
    plate = cell.plate.pose @ np.array([-0.1, -0.1, 0.0])
    points = {
        "table": np.array([0.62, -0.02, 0.0]),
        "plate": plate + [0.004, 0.004, 0.0],  # between studs
        "brick": loose @ np.array([0.0, 0.0, 0.0]),  # between studs
    }
    for name, point in points.items():
        (u, v), depth = project(frame, point)
        assert frame.depth_m[round(v), round(u)] == pytest.approx(depth, abs=0.001), name


def test_a_frame_carries_its_shape_clock_and_pose(world: SimWorld, cell: CellConfig) -> None:
    frame = SimCamera(world).capture()
    assert frame.rgb.shape == (480, 640, 3)
    assert frame.rgb.dtype == np.uint8
    assert frame.depth_m.shape == (480, 640)
    assert frame.depth_m.dtype == np.float32
    assert frame.time_s == world.time_s
    assert frame.pose.position == pytest.approx(cell.top_camera.eye)
    assert frame.pose.rotation[:, 2] == pytest.approx([0, 0, -1])  # looks down
    assert frame.pose.rotation[:, 1] == pytest.approx([-1, 0, 0])  # up in the picture is forward
    assert frame.intrinsics == cell.top_camera.intrinsics()


def test_the_arm_at_home_is_out_of_the_top_picture(world: SimWorld) -> None:
    frame = SimCamera(world).capture()
    assert frame.depth_m[frame.depth_m > 0].min() > 0.90


def test_a_picture_follows_the_state(world: SimWorld) -> None:
    saved = world.snapshot()
    before = SimCamera(world).capture()
    world.move("a", Pose((0.45, -0.30, 0.0096)))
    after = SimCamera(world).capture()
    (u, v), _ = project(after, np.array([0.45, -0.30, 0.0096]))
    assert reddish(after)[round(v), round(u)]
    assert not reddish(before)[round(v), round(u)]
    world.restore(saved)
    assert np.array_equal(SimCamera(world).capture().rgb, before.rgb)


def test_the_overview_shows_robot_table_and_room(world: SimWorld) -> None:
    frame = SimCamera(world, "overview").capture()
    assert frame.rgb.shape == (480, 640, 3)
    white = (frame.rgb.min(axis=2) > 150).mean()
    assert white > 0.05
    assert frame.rgb.std() > 20
    assert np.array_equal(world.cameras.picture("overview"), frame.rgb)


def test_pixels_beyond_everything_have_no_depth(
    make_world: MakeWorld, place: Place, cell: CellConfig
) -> None:
    up = msgspec.structs.replace(
        cell.top_camera, eye=(0.4, 0.0, 1.5), target=(2.0, 0.0, 1.6), up=(0.0, 0.0, 1.0)
    )
    world = make_world([place("a", "3001")], cell=msgspec.structs.replace(cell, top_camera=up))
    assert (SimCamera(world).capture().depth_m[:200] == 0.0).all()
    world.close()


def test_a_second_thread_is_told_off(world: SimWorld) -> None:
    SimCamera(world).capture()
    caught: list[Exception] = []

    def capture() -> None:
        try:
            SimCamera(world).capture()
        except JarvisError as error:
            caught.append(error)

    thread = threading.Thread(target=capture)
    thread.start()
    thread.join(timeout=30)
    assert len(caught) == 1
    assert "two threads" in str(caught[0])


def test_without_opengl_the_error_names_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "Traceback\nImportError: no libEGL")

    monkeypatch.setattr(subprocess, "run", broken)
    with pytest.raises(MissingCapabilityError, match=r"egl: ImportError: no libEGL.*libegl1 .*libosmesa6"):
        gl.probe_gl.__wrapped__()


def test_what_stands_still_is_drawn_once_and_looks_the_same(
    make_world: MakeWorld, place: Place, sim: SimConfig
) -> None:
    """Anything one can see through has everything drawn at once: a clear brick out of the way shows the difference."""
    targets, scene = [place("a", "3001"), place("b", "3023")], [place("s", "3001", 4, -3)]
    clear = msgspec.structs.replace(place("g", "3005", -15.5, 15.5), colour=47)
    layered, whole = make_world(targets, scene), make_world(targets, [*scene, clear])
    for _ in range(2):
        one, other = (SimCamera(w).capture() for w in (layered, whole))
        (u, v), _ = project(one, scene_pose(whole, "g").position)
        beside = np.ones(one.depth_m.shape, bool)
        beside[round(v) - 12 : round(v) + 12, round(u) - 12 : round(u) + 12] = False
        # A sample exactly on an edge may fall on either side.
        assert (np.abs(one.rgb.astype(int) - other.rgb).max(axis=2)[beside] > 2).sum() <= 5
        assert (np.abs(one.depth_m - other.depth_m)[beside] > 1e-5).sum() <= 5
        for w in (layered, whole):
            w.move("a", Pose((0.45, 0.10, 0.05)))  # over the plate, and over a brick of the structure
            w.move("b", scene_pose(w, "s").translated((0.004, 0.004, 0.0034)))
    layered.close()
    whole.close()


def scene_pose(world: SimWorld, brick: str) -> Pose:
    return next(o.pose for o in world.state().objects if o.id == brick)


def test_the_gripper_camera_moves_with_the_hand_and_sees_the_tool_point(
    world: SimWorld, cell: CellConfig
) -> None:
    saved = world.snapshot()
    hand = world.engine.body(world.arm.robot.config.hand_link)
    for joints in (world.arm.robot.config.home_rad, world.arm.robot.config.ready_rad):
        world.arm.place(np.array(joints), 0.06)
        frame = SimCamera(world, "gripper").capture()
        assert frame.pose.is_close(world.engine.pose(hand) @ cell.gripper_camera.pose(), 1e-9, 1e-9)
        (u, v), depth = project(frame, world.arm.tool().position)
        assert abs(u - 319.5) < 1.0
        assert 240 < v < 400
        assert 0.05 < depth < 0.2
    assert frame.depth_m.shape == (480, 640)
    # Straight below the ready pose lies the table, or the brick on it, as far away as the depth says.
    rows, columns = np.nonzero(frame.depth_m > 0.3)
    k = frame.intrinsics
    rays = np.stack([(columns - k.cx) / k.fx, (rows - k.cy) / k.fy, np.ones(len(rows))], axis=1)
    heights = (frame.pose @ (rays * frame.depth_m[rows, columns][:, None]))[:, 2]
    assert np.quantile(heights, [0.05, 0.95]) == pytest.approx([0.0, 0.0], abs=0.012)
    world.restore(saved)


def test_segmentation_tells_bricks_apart(world: SimWorld) -> None:
    seen = world.segmentation("top")
    frame = SimCamera(world).capture()
    assert seen.index.shape == (480, 640)
    for brick in ("a", "s"):
        (u, v), _ = project(frame, next(o.pose for o in world.state().objects if o.id == brick).position)
        assert seen.mask(brick)[round(v), round(u)]
        # Both are red and nothing else is: what is red but for the edges is one of them.
        assert reddish(frame)[seen.mask(brick)].mean() > 0.8
    assert 0.5 < reddish(frame).sum() / (seen.index >= 0).sum() < 1.2
    assert seen.index[5, 5] == -1


def test_depth_noise_is_as_large_as_configured_and_decided_by_seed_and_time(
    make_world: MakeWorld, place: Place, sim: SimConfig, world: SimWorld
) -> None:
    top = msgspec.structs.replace(sim.looks.top_camera, depth_noise_m=0.002, depth_edge_loss=0.5)
    noisy = msgspec.structs.replace(sim, looks=msgspec.structs.replace(sim.looks, top_camera=top))
    other = make_world([place("a", "3001")], [place("s", "3001", 4, -3)], config=noisy)
    true, first, again = (SimCamera(w).capture().depth_m for w in (world, other, other))
    assert np.array_equal(first, again)
    kept = first > 0
    error = (first - true)[kept] / true[kept] ** 2
    assert error.std() == pytest.approx(0.002, rel=0.05)
    assert abs(error.mean()) < 1e-4
    assert 0.001 < (~kept & (true > 0)).mean() < 0.3
    other.step()
    assert not np.array_equal(SimCamera(other).capture().depth_m, first)
    other.close()


def test_the_seed_changes_lights_and_colours_within_their_range(
    make_world: MakeWorld, place: Place, sim: SimConfig
) -> None:
    vary = VaryConfig(light_deg=20.0, light_share=0.3, colour=0.1, texture=0.0)
    varied = msgspec.structs.replace(sim, looks=msgspec.structs.replace(sim.looks, vary=vary))
    world = make_world([place("a", "3001")], config=varied, seed=1)
    saved, seen = world.snapshot(), []
    for seed in (1, 2, 1):
        world.reset(seed)
        model = world.engine.model
        table = model.mat_rgba[model.material("table").id][:3].copy()
        assert np.abs(table - sim.looks.table_rgb).max() <= 0.1 + 1e-6
        seen.append((table.tolist(), model.light_dir.tolist()))
    assert seen[0] == seen[2] != seen[1]
    world.reset(2)
    world.restore(saved)
    assert world.engine.model.light_dir.tolist() == seen[0][1]


def test_the_seed_chooses_a_pattern_for_the_table_that_snapshots_know(
    make_world: MakeWorld, place: Place, sim: SimConfig
) -> None:
    vary = msgspec.structs.replace(sim.looks.vary, texture=0.5)
    varied = msgspec.structs.replace(sim, looks=msgspec.structs.replace(sim.looks, vary=vary))
    world, plain = make_world([place("a", "3001")], config=varied, seed=1), make_world([place("a", "3001")])
    saved, seen = world.snapshot(), []
    for seed in (1, 2, 3, 4, 1):
        world.reset(seed)
        seen.append(world.cameras.picture("top")[:60].astype(float))
    without = plain.cameras.picture("top")[:60].astype(float)
    assert np.array_equal(seen[0], seen[4])
    assert all(not np.array_equal(seen[0], other) for other in seen[1:4])
    for picture in seen:  # darker by no more than half, give or take a grey level
        assert (picture.std(axis=(0, 1)) > without.std(axis=(0, 1)) + 1).all()
        assert (picture >= 0.5 * without.min(axis=(0, 1)) - 2).all()
        assert (picture <= without.max(axis=(0, 1)) + 2).all()
    world.reset(2)
    world.restore(saved)
    assert world.snapshot() == saved
    assert np.array_equal(world.cameras.picture("top")[:60], seen[0])
    assert plain.engine.model.ntex == world.engine.model.ntex - 1
    world.close()
    plain.close()


@pytest.mark.parametrize("kind", ["checks", "speckle", "wood"])
def test_a_texture_keeps_to_its_depth(kind: str) -> None:
    made = textures.pixels(textures.Texture(kind, 5, 0.4, (1.0, 0.8, 0.6)))
    assert made.shape == (textures.SIZE, textures.SIZE, 3)
    assert np.array_equal(made, textures.pixels(textures.Texture(kind, 5, 0.4, (1.0, 0.8, 0.6))))
    low = made.reshape(-1, 3).min(axis=0)
    assert (low >= np.floor(255 * (1 - 0.4 * np.array([1.0, 0.8, 0.6])))).all()
    assert low[0] < low[1] < low[2] < 240
