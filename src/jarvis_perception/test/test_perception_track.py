from __future__ import annotations

import msgspec
import numpy as np
from jarvis_core.observation import CameraFrame, RobotState
from jarvis_core.pose import Pose
from jarvis_core.seen import SeenBrick, SeenScene
from jarvis_perception.scene import difference, to_scene
from jarvis_perception.track import Tracker
from jarvis_sim.robot import SimCamera
from perception_bench import LOOSE, cell, config, height, make_world, part_list, perception


def moved(brick: SeenBrick, x: float, y: float) -> SeenBrick:
    return msgspec.structs.replace(brick, pose=brick.pose.translated((x, y, 0.0)))


def never(brick: SeenBrick) -> bool:
    return False


def always(brick: SeenBrick) -> bool:
    return True


def test_ids_stay_with_bricks_whatever_their_order(seen: SeenScene) -> None:
    tracker = Tracker(config().track)
    first = tracker.update(seen.bricks, 0.0, never, None)
    jittered = [moved(brick, 0.0004, -0.0003) for brick in reversed(seen.bricks)]
    second = tracker.update(jittered, 1.0, never, None)
    where = {brick.id: brick.pose.position for brick in first}
    assert {b.id for b in second} == set(where)
    assert all(np.linalg.norm(b.pose.position - where[b.id]) < 0.001 for b in second)


def test_a_brick_that_was_pushed_far_keeps_its_id(seen: SeenScene) -> None:
    tracker = Tracker(config().track)
    first = tracker.update(seen.bricks, 0.0, never, None)
    far = [moved(seen.bricks[0], 0.06, 0.0), *seen.bricks[1:]]
    second = {b.id: b for b in tracker.update(far, 1.0, never, None)}
    assert second.keys() == {b.id for b in first}
    assert second[first[0].id].pose.position[0] == far[0].pose.position[0]


def test_what_is_hidden_is_remembered_and_what_is_gone_is_forgotten(seen: SeenScene) -> None:
    tracker = Tracker(config().track)
    first = tracker.update(seen.bricks, 0.0, never, None)
    hidden = tracker.update(seen.bricks[1:], 1.0, always, None)
    assert len(hidden) == len(first)
    assert [b.id for b in hidden if not b.visible] == [first[0].id]
    assert len(tracker.update(seen.bricks[1:], 2.0, never, None)) == len(first) - 1
    # A new one gets a new id: none is used twice.
    assert first[0].id not in {b.id for b in tracker.update(seen.bricks, 3.0, never, None)}


def test_a_brick_in_the_hand_moves_with_it_and_is_no_obstacle(seen: SeenScene) -> None:
    tracker = Tracker(config().track)
    first = tracker.update(seen.bricks, 0.0, never, None)
    brick = next(b for b in first if b.part == "3003")
    rest = [b for b in first if b.id != brick.id]
    down = Pose(quaternion=(1.0, 0.0, 0.0, 0.0))
    tool = Pose(brick.pose.position) @ down
    robot = RobotState(1.0, (0.0,) * 7, 0.016, tool)
    held = next(b for b in tracker.update(rest, 1.0, always, robot) if b.id == brick.id)
    assert held.held
    lifted = msgspec.structs.replace(robot, tool=tool.translated((0.1, 0.05, 0.1)))
    carried = {b.id: b for b in tracker.update(rest, 2.0, always, lifted)}
    assert np.allclose(carried[brick.id].pose.position - brick.pose.position, (0.1, 0.05, 0.1))
    scene = msgspec.structs.replace(seen, bricks=tuple(carried.values()))
    assert brick.id not in to_scene(scene, cell()).ids()
    opened = msgspec.structs.replace(lifted, gripper_width_m=0.02)
    released = {b.id: b for b in tracker.update(rest, 3.0, always, opened)}
    assert not released[brick.id].held


def test_a_brick_that_pads_are_still_closing_round_lies_where_it_lay(seen: SeenScene) -> None:
    """Looks come at any time: while pads close they may be as far apart as another of the brick's edges is long."""
    tracker = Tracker(config().track)
    first = tracker.update(seen.bricks, 0.0, never, None)
    brick = next(b for b in first if b.part == "3003")
    rest = [b for b in first if b.id != brick.id]
    down = Pose(quaternion=(1.0, 0.0, 0.0, 0.0))
    above = Pose(brick.pose.position + np.array([0.0, 0.0, 0.02])) @ down
    closing = RobotState(1.0, (0.0,) * 7, 0.018, above)
    tracker.update(rest, 1.0, always, closing)
    gripped = msgspec.structs.replace(closing, gripper_width_m=0.0158, tool=Pose(brick.pose.position) @ down)
    (at_hand,) = [b for b in tracker.update(rest, 2.0, always, gripped) if b.id == brick.id]
    assert at_hand.held
    assert np.allclose(at_hand.pose.position, brick.pose.position)
    # A round one that slips between the pads on the way is still in the hand.
    slipped = msgspec.structs.replace(
        gripped, gripper_width_m=0.015, tool=gripped.tool.translated((0.1, 0.0, 0.0))
    )
    (carried,) = [b for b in tracker.update(rest, 2.5, always, slipped) if b.id == brick.id]
    assert np.allclose(carried.pose.position, brick.pose.position + [0.1, 0.0, 0.0])
    opened = msgspec.structs.replace(slipped, gripper_width_m=0.0175)
    (released,) = [b for b in tracker.update(rest, 3.0, always, opened) if b.id == brick.id]
    assert not released.held


def test_a_brick_put_on_the_plate_is_found_there_under_its_id() -> None:
    """What the arm does between two looks is told by its state; the camera does the rest."""
    loose = (LOOSE[1], LOOSE[3])
    world = make_world(loose, (("3001", 4, 0.0, 0.0, 0),))
    eye, camera = perception(), SimCamera(world)
    frame = camera.capture()
    brick = next(b for b in eye.perceive(frame, parts=part_list(loose)).bricks if b.part == "3003")
    world.move("b00", Pose((0.0, 0.0, -1.0)))  # in the hand, and the hand in front of its old place
    tool = Pose(brick.pose.position) @ Pose(quaternion=(1.0, 0.0, 0.0, 0.0))
    robot = RobotState(0.0, (0.0,) * 7, 0.016, tool)
    eye.perceive(covered(camera.capture(), brick), parts=part_list(loose), robot=robot)
    target = cell().plate.pose @ Pose((0.0, 0.0, 0.0096 + height("3003")))
    lifted = target.translated((0.0, 0.0, 0.08)) @ (brick.pose.inverse() @ tool)
    world.move("b00", target)
    over = RobotState(0.0, (0.0,) * 7, 0.016, lifted)
    eye.perceive(covered(camera.capture(), brick), parts=part_list(loose), robot=over)
    away = msgspec.structs.replace(over, gripper_width_m=0.02)
    found = eye.perceive(camera.capture(), parts=part_list(loose), robot=away).find(brick.id)
    assert found is not None
    assert found.visible
    assert not found.held
    assert found.pose.distance_to(target) < 0.001

    # Covered by another it stays where it was found, however often one looks.
    world.move("b01", target.translated((0.0, 0.0, height("3003"))))
    for _ in range(3):
        covered_ = eye.perceive(camera.capture(), parts=part_list(loose), robot=away).find(brick.id)
        assert covered_ is not None
        assert not covered_.visible
        assert covered_.pose.distance_to(target) < 0.001
    # Taken away it is gone.
    world.move("b00", Pose((0.0, 0.0, -1.0)))
    world.move("b01", Pose((0.0, 0.0, -1.0)))
    eye.perceive(camera.capture(), parts=part_list(loose), robot=away)
    gone = eye.perceive(camera.capture(), parts=part_list(loose), robot=away)
    world.close()
    assert gone.find(brick.id) is None


def covered(frame: CameraFrame, brick: SeenBrick) -> CameraFrame:
    """The picture with something as high as a hand over a brick's old place."""
    x, y, z = frame.pose.inverse() @ brick.pose.position
    u = round(frame.intrinsics.fx * x / z + frame.intrinsics.cx)
    v = round(frame.intrinsics.fy * y / z + frame.intrinsics.cy)
    depth = frame.depth_m.copy()
    depth[v - 30 : v + 30, u - 30 : u + 30] = 0.75
    return CameraFrame(frame.time_s, frame.rgb, depth, frame.intrinsics, frame.pose)


def test_differences_between_two_looks(seen: SeenScene) -> None:
    after = msgspec.structs.replace(seen, bricks=(moved(seen.bricks[0], 0.01, 0.0), *seen.bricks[2:]))
    change = difference(seen, after, config().track)
    assert change.vanished == (seen.bricks[1].id,)
    assert change.appeared == ()
    assert [name for name, *_ in change.moved] == [seen.bricks[0].id]
    assert change.cells == ()
