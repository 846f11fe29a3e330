"""What nothing can be told from is refused, with its reason."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import numpy as np
import pytest
from jarvis_core.errors import PerceptionRefusedError, RefusedError
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import Pose
from jarvis_sim.robot import SimCamera
from perception_bench import make_world, part_list, perception


def refused(frame: CameraFrame, reason: str, now_s: float | None = None) -> None:
    with pytest.raises(PerceptionRefusedError, match=reason) as caught:
        perception().perceive(frame, parts=part_list(), now_s=now_s)
    assert caught.value.fix
    assert isinstance(caught.value, RefusedError)


def test_a_black_picture(frame: CameraFrame) -> None:
    refused(replace(frame, rgb=np.zeros_like(frame.rgb)), "black")


def test_a_picture_without_depth(frame: CameraFrame) -> None:
    for value in (0.0, np.nan, np.inf):
        refused(replace(frame, depth_m=np.full_like(frame.depth_m, value)), "have a depth")


def test_single_pixels_without_depth_do_no_harm(frame: CameraFrame) -> None:
    depth = frame.depth_m.copy()
    depth[np.random.default_rng(0).random(depth.shape) < 0.02] = np.nan
    seen = perception().perceive(replace(frame, depth_m=depth), parts=part_list())
    assert len(seen.bricks) >= 7


def test_a_stale_picture_and_one_from_the_future(frame: CameraFrame) -> None:
    refused(frame, "s old", now_s=frame.time_s + 1.5)
    refused(frame, "future", now_s=frame.time_s - 1.5)
    perception().perceive(frame, parts=part_list(), now_s=frame.time_s + 0.5)


def test_camera_info_of_another_size(frame: CameraFrame) -> None:
    refused(
        replace(frame, intrinsics=msgspec.structs.replace(frame.intrinsics, width=320)), "camera_info says"
    )
    refused(replace(frame, depth_m=frame.depth_m[::2, ::2]), "depth picture is")


def test_camera_info_of_another_camera(frame: CameraFrame) -> None:
    k = frame.intrinsics
    refused(
        replace(frame, intrinsics=msgspec.structs.replace(k, fx=k.fx * 1.2, fy=k.fy * 1.2)), "focal length"
    )


def test_a_pose_in_another_frame(frame: CameraFrame) -> None:
    """Most often the camera body's frame instead of the optical one, or the base instead of the world."""
    flipped = Pose.from_rotation(frame.pose.position, frame.pose.rotation @ np.diag([1.0, -1.0, -1.0]))
    refused(replace(frame, pose=flipped), "optical frame")
    refused(replace(frame, pose=frame.pose.translated((0.3, 0.0, 0.0))), "calibration")


def test_a_table_that_is_not_where_it_should_be(frame: CameraFrame) -> None:
    refused(replace(frame, depth_m=(frame.depth_m - 0.025).astype(np.float32)), "tabletop")
    refused(replace(frame, depth_m=np.full_like(frame.depth_m, 0.4)), "tabletop")


def test_an_empty_table_holds_no_bricks() -> None:
    world = make_world((), ())
    seen = perception().perceive(SimCamera(world).capture())
    world.close()
    assert seen.bricks == ()
    assert seen.structure.free_studs == ()
    assert max(map(max, seen.structure.heights_plates)) == 0
