"""A picture with what was seen drawn over it."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt
from jarvis_core.observation import CameraFrame
from jarvis_core.pose import FloatArray
from jarvis_core.seen import SeenBrick, SeenScene

_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_SURE, _UNSURE, _HIDDEN = (20, 200, 60), (235, 60, 40), (120, 120, 120)
_SCALE = 2


def annotated(frame: CameraFrame, seen: SeenScene) -> npt.NDArray[np.uint8]:
    """(2 height, 2 width, 3): outlines of all bricks, an arrow along each one's x axis, part and colour.

    Green: explained by a part; red: by none; grey: not visible in this picture.
    """
    size = (frame.intrinsics.width * _SCALE, frame.intrinsics.height * _SCALE)
    drawn = np.asarray(cv2.resize(frame.rgb, size, interpolation=cv2.INTER_NEAREST), np.uint8)
    for brick in seen.bricks:
        colour = _HIDDEN if not brick.visible else _SURE if brick.candidates else _UNSURE
        for box in brick.boxes:
            pose = brick.pose @ box.pose
            hull = cv2.convexHull(_pixels(frame, pose @ (_CORNERS * np.array(box.size_m))))
            cv2.polylines(drawn, [hull], True, colour, 1, cv2.LINE_AA)
        _name(drawn, frame, brick, colour)
    return drawn


def _name(
    drawn: npt.NDArray[np.uint8], frame: CameraFrame, brick: SeenBrick, colour: tuple[int, int, int]
) -> None:
    ends = _pixels(frame, brick.pose @ np.array([[0.0, 0.0, 0.0], [0.006, 0.0, 0.0]]))
    cv2.arrowedLine(drawn, ends[0].tolist(), ends[1].tolist(), colour, 1, cv2.LINE_AA, tipLength=0.4)
    at = (int(ends[0][0]) + 14, int(ends[0][1]) - 12)
    words = f"{brick.part} {brick.colour.name}"
    cv2.putText(drawn, words, at, cv2.FONT_HERSHEY_SIMPLEX, 0.34, (30, 30, 30), 1, cv2.LINE_AA)


def _pixels(frame: CameraFrame, points: FloatArray) -> npt.NDArray[np.int32]:
    """(n, 2) in the enlarged picture."""
    x, y, z = (frame.pose.inverse() @ points).T
    k = frame.intrinsics
    pixels = np.stack([k.fx * x / z + k.cx, k.fy * y / z + k.cy], axis=1)
    return np.round((pixels + 0.5) * _SCALE - 0.5).astype(np.int32)
