"""What was seen, for people: markers for RViz and a picture with outlines."""

from __future__ import annotations

import numpy as np
from geometry_msgs.msg import Vector3
from jarvis_bricks.colours import ColourTable
from jarvis_core.observation import CameraFrame
from jarvis_core.ros.conversions import header, pose_to_ros
from jarvis_core.seen import SeenScene
from sensor_msgs.msg import Image
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from jarvis_perception.annotate import annotated


def markers(seen: SeenScene, colours: ColourTable) -> MarkerArray:
    """Every brick as its boxes and its name; doubtful ones are see-through."""
    found = [Marker(action=Marker.DELETEALL)]
    for brick in seen.bricks:
        red, green, blue = (channel / 255 for channel in colours.get(brick.colour.code).rgb)
        sure = brick.visible and bool(brick.candidates)
        for box in brick.boxes:
            found.append(
                Marker(
                    header=header(seen.time_s),
                    ns="seen",
                    id=len(found),
                    type=Marker.CUBE,
                    pose=pose_to_ros(brick.pose @ box.pose),
                    scale=Vector3(x=box.size_m[0], y=box.size_m[1], z=box.size_m[2]),
                    color=ColorRGBA(r=red, g=green, b=blue, a=1.0 if sure else 0.5),
                )
            )
        found.append(
            Marker(
                header=header(seen.time_s),
                ns="names",
                id=len(found),
                type=Marker.TEXT_VIEW_FACING,
                pose=pose_to_ros(brick.pose.translated((0.0, 0.0, 0.02))),
                scale=Vector3(z=0.008),
                color=ColorRGBA(r=0.1, g=0.1, b=0.1, a=1.0),
                text=f"{brick.id} {brick.part}",
            )
        )
    return MarkerArray(markers=found)


def picture(frame: CameraFrame, seen: SeenScene, frame_id: str) -> Image:
    """The camera's picture with outlines and names, rgb8."""
    drawn = np.ascontiguousarray(annotated(frame, seen))
    height, width = drawn.shape[:2]
    message = Image(header=header(frame.time_s, frame_id), height=height, width=width, encoding="rgb8")
    message.step = 3 * width
    message.data = drawn.tobytes()
    return message
