from __future__ import annotations

import json

import numpy as np
import pytest
from jarvis_core.observation import CameraFrame
from jarvis_core.seen import SeenScene
from jarvis_perception.describe import describe_brick, describe_scene, tokens
from jarvis_perception.grasps import plan_grasps
from jarvis_perception.view import look_from
from jarvis_robot.model import RobotModel
from perception_bench import cell, config


def test_a_brick_in_words(seen: SeenScene) -> None:
    said = describe_brick(next(b for b in seen.bricks if b.part == "3001"))
    assert (said["colour"], said["code"], said["studs"], said["plates"]) == ("Red", 4, [4, 2], 3)
    assert said["at_mm"] == pytest.approx([400, -100, 9.6], abs=1.0)
    assert "up" not in said


@pytest.mark.parametrize("budget", [250, 600, 5000])
def test_a_scene_keeps_to_its_budget_and_says_what_is_left_out(seen: SeenScene, budget: int) -> None:
    text = describe_scene(seen, budget)
    said = json.loads(text)
    assert tokens(text) <= budget
    left = said.get("left_out", {})
    assert len(said["bricks"]) + left.get("bricks", 0) == len(seen.bricks)
    assert budget < 5000 or not left


def test_neighbours_are_told(seen: SeenScene) -> None:
    ids = {b.part: b.id for b in seen.bricks}
    said = json.loads(describe_scene(seen, 5000))["relations"]
    pair = {ids["3004"], ids["3005"]}
    words = {words for a, words, b in said if {a, b} == pair}
    assert words & {"ahead of", "behind", "left of", "right of"}
    assert "flush with" in words


def test_grasps_keep_clear_of_what_the_camera_measured(frame: CameraFrame, seen: SeenScene) -> None:
    view = look_from(frame, frame.pose, frame.intrinsics)
    nothing = np.zeros(view.z.shape, bool)
    fingers = RobotModel.load(cell().robot).config.gripper.clearance()
    alone = next(b for b in seen.bricks if b.part == "3003")
    grasps = plan_grasps(view, nothing, alone, fingers, config().grasp)
    assert grasps[0].score > 0.3
    assert not grasps[0].reason
    assert grasps[0].width_m == pytest.approx(0.016, abs=0.0005)
    assert np.linalg.norm((grasps[0].tool.position - alone.pose.position)[:2]) < 0.004
    assert [g.score for g in grasps] == sorted((g.score for g in grasps), reverse=True)
    # The 1 x 1 touches the 1 x 2: no finger fits between them.
    touching = next(b for b in seen.bricks if b.part == "3005")
    for grasp in plan_grasps(view, nothing, touching, fingers, config().grasp):
        close = grasp.tool.rotation[:, 1]
        between = touching.pose.position - next(b for b in seen.bricks if b.part == "3004").pose.position
        between = between / np.linalg.norm(between)
        if not grasp.reason:
            assert abs(float(close @ between)) < 0.1
