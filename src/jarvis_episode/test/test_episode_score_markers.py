"""Markers and messages of a score."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("visualization_msgs.msg", reason="no ROS 2 here (see ./jarvis doctor)")

from episode_factory import make_record, start_pose, target_pose
from jarvis_core.config import load_config
from jarvis_episode.ros.score_markers import score_markers
from jarvis_episode.ros.score_message import bricks_to_ros
from jarvis_scoring.brick_score import score
from jarvis_scoring.config import ScoreConfig
from visualization_msgs.msg import Marker

CONFIG = load_config(Path(__file__).parents[3] / "config" / "score.yaml", ScoreConfig)


def test_places_are_coloured_by_what_stands_there() -> None:
    record = make_record({"b1": start_pose("b1"), "b4": target_pose("b4").translated((0.004, 0.0, 0.0))})
    result = score(record, CONFIG)
    markers = score_markers(record.targets, result, 3.0).markers
    assert markers[0].action == Marker.DELETEALL
    places = [m for m in markers if m.ns == "places"]
    assert len(places) == len(record.targets)
    assert places[0].color.r > 0.8 > 0.3 > places[0].color.g  # not built
    assert places[3].color.r > 0.8 < places[3].color.g + 0.1  # near
    ways = {m.points[0].x: m for m in markers if m.ns == "ways"}
    way = ways[float(target_pose("b1").position[0])]
    assert way.points[1].x == pytest.approx(start_pose("b1").position[0])
    assert all(m.header.frame_id == "world" for m in markers[1:])
    assert len({(m.ns, m.id) for m in markers[1:]}) == len(markers) - 1
    assert [m.id for m in bricks_to_ros(result)] == ["b1", "b2", "b3", "b4"]
