"""Targets against what stands there, as markers for RViz."""

from __future__ import annotations

from collections.abc import Sequence

from geometry_msgs.msg import Point, Vector3
from jarvis_core.objects import TargetObject
from jarvis_core.ros.conversions import header, pose_to_ros
from jarvis_scoring.protocol import BrickScore, EpisodeScore
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

#: Places shine through what stands in them.
_ALPHA = 0.35
_EXACT, _NEAR, _OPEN = (0.15, 0.75, 0.25), (0.95, 0.75, 0.1), (0.85, 0.2, 0.15)
_LINE_M = 0.0015
#: Boxes are drawn a little larger than the brick in them, or both surfaces would flicker.
_GROWTH_M = 0.0006


def score_markers(targets: Sequence[TargetObject], score: EpisodeScore, time_s: float) -> MarkerArray:
    """Every place as boxes, green (exact), yellow (complete) or red, and a line from it to its brick."""
    by_id = {brick.id: brick for brick in score.bricks}
    markers = [Marker(action=Marker.DELETEALL)]
    for target in targets:
        brick = by_id[target.object.id]
        colour = _colour(brick, _ALPHA)
        for box in target.object.world_boxes():
            x, y, z = (length + _GROWTH_M for length in box.size_m)
            markers.append(
                Marker(
                    header=header(time_s),
                    ns="places",
                    id=len(markers),
                    type=Marker.CUBE,
                    pose=pose_to_ros(box.pose),
                    scale=Vector3(x=x, y=y, z=z),
                    color=colour,
                )
            )
        if brick.offset_m is not None and not brick.exact:
            markers.append(_line(target, brick, brick.offset_m, len(markers), time_s))
    return MarkerArray(markers=markers)


def _line(
    target: TargetObject, brick: BrickScore, offset: tuple[float, float, float], number: int, time_s: float
) -> Marker:
    start = target.object.pose.position.tolist()
    end = [a + b for a, b in zip(start, offset, strict=True)]
    return Marker(
        header=header(time_s),
        ns="ways",
        id=number,
        type=Marker.LINE_STRIP,
        scale=Vector3(x=_LINE_M),
        color=_colour(brick, 1.0),
        points=[Point(x=p[0], y=p[1], z=p[2]) for p in (start, end)],
    )


def _colour(brick: BrickScore, alpha: float) -> ColorRGBA:
    red, green, blue = _EXACT if brick.exact else _NEAR if brick.complete else _OPEN
    return ColorRGBA(r=red, g=green, b=blue, a=alpha)
