"""What a depth camera makes of true depth: noise that grows with distance, and holes beside steps."""

from __future__ import annotations

import cv2
import numpy as np
import numpy.typing as npt

from jarvis_sim.config import CameraLooks

#: A step between neighbouring pixels beyond this share of the distance is an edge.
_STEP_SHARE = 0.005
_BESIDE = np.ones((3, 3), np.uint8)


def noisy(
    depth_m: npt.NDArray[np.float32], looks: CameraLooks, rng: np.random.Generator
) -> npt.NDArray[np.float32]:
    """Depth as a camera would measure it; 0 still means that nothing was measured.

    The standard deviation grows with the square of the distance: that of disparity is constant (Khoshelham and
    Elberink, "Accuracy and resolution of Kinect depth data", Sensors 2012).

    Args:
        depth_m: (height, width) true metres, 0 where nothing is.
    """
    seen = depth_m > 0.0
    noise = rng.standard_normal(depth_m.shape, dtype=np.float32) * (looks.depth_noise_m * depth_m**2)
    measured = np.where(seen, np.maximum(depth_m + noise, 1e-4), 0.0).astype(np.float32)
    if looks.depth_edge_loss > 0.0:
        high, low = cv2.dilate(depth_m, _BESIDE), cv2.erode(depth_m, _BESIDE)
        edge = np.asarray(high - low) > _STEP_SHARE * depth_m
        measured[edge & (rng.random(depth_m.shape) < looks.depth_edge_loss)] = 0.0
    return measured
