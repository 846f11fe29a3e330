"""Studs under a fixed brick are not drawn: nobody can see them, and they are most of a structure's triangles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from jarvis_bricks.geometry import STUD_HEIGHT_M, STUD_RADIUS_M, Connectors, Mesh
from jarvis_core.objects import Box
from jarvis_core.pose import FloatArray

_SLACK_M = 1e-4


def covered(feet: FloatArray, axes: FloatArray, boxes: Sequence[Box]) -> npt.NDArray[np.bool_]:
    """(n,) whether a box hides a stud.

    Args:
        feet, axes: (n, 3) middle of each stud's foot and the direction it points, frame of the boxes.
    """
    hidden = np.zeros(len(feet), bool)
    middles = feet + axes * (STUD_HEIGHT_M / 2)
    for box in boxes:
        radius = float(np.linalg.norm(box.size_m)) / 2
        near = np.flatnonzero(~hidden & (np.abs(middles - box.pose.position).max(axis=1) < radius))
        if len(near):
            local = np.abs(box.pose.inverse() @ middles[near])
            hidden[near] = (local <= np.array(box.size_m) / 2).all(axis=1)
    return hidden


def without_studs(mesh: Mesh, studs: Connectors, hidden: npt.NDArray[np.bool_]) -> Mesh:
    """The mesh less the triangles of some of the part's studs."""
    corners = mesh.vertices[mesh.triangles].astype(np.float64)
    gone = np.zeros(len(mesh.triangles), bool)
    for foot, axis in zip(studs.positions[hidden], studs.axes[hidden], strict=True):
        off = corners - foot
        along = off @ axis
        across = np.linalg.norm(off - along[..., None] * axis, axis=2)
        on_stud = (across <= STUD_RADIUS_M + _SLACK_M) & (along >= -_SLACK_M)
        gone |= (on_stud & (along <= STUD_HEIGHT_M + _SLACK_M)).all(axis=1)
    return replace(mesh, triangles=mesh.triangles[~gone], colours=mesh.colours[~gone])
